/**
 * Callers that create folders without a pause, in a separate thread, so that their cost is not
 * counted as the service's.
 */
import { parentPort, workerData } from 'node:worker_threads'

export interface Writers {
  url: string
  headers: Record<string, string>
  callers: number
}

const { url, headers, callers } = workerData as Writers
let written = 0
let stopped = false
parentPort?.once('message', () => {
  stopped = true
})

async function write(caller: number): Promise<void> {
  for (let i = 0; !stopped; i++, written++) {
    const body = JSON.stringify({ path: `writer-${caller}/${i}` })
    const answer = await fetch(`${url}/api/folders`, { method: 'POST', headers, body })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${answer.status}: ${text}`)
  }
}

await Promise.all(Array.from({ length: callers }, (_, caller) => write(caller)))
parentPort?.postMessage(written)
