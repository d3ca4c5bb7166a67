/**
 * The cost of writers for readers on SQLite, in the whole service: the time of a metadata request
 * while nothing else runs, and while 20 callers write without a pause. `npm run bench:sqlite`.
 */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { startService } from './service.ts'
import type { Writers } from './writers.ts'

const WRITERS = 20
const SECONDS = 6
/** Milliseconds between the starts of two reads, whether or not the first has been answered. */
const EVERY = 5

const bench = await startService('sqlite', { RATE_FOLDERS: '1000000' })
const json = { 'content-type': 'application/json', cookie: bench.cookie }

const createFolder = async (path: string) => {
  const answer = await fetch(`${bench.url}/api/folders`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ path }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${answer.status}: ${text}`)
}

async function read(path: string): Promise<number> {
  const since = performance.now()
  const answer = await fetch(`${bench.url}${path}`, { headers: json })
  await answer.text()
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
  return performance.now() - since
}

async function latencies(path: string): Promise<string> {
  const times: Promise<number>[] = []
  for (const end = Date.now() + SECONDS * 1000; Date.now() < end; await sleep(EVERY))
    times.push(read(path))
  const sorted = (await Promise.all(times)).toSorted((a, b) => a - b)
  const at = (share: number) =>
    (sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN).toFixed(2)
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, highest ${at(1)} ms`
}

async function throughput(path: string, connections = 16): Promise<string> {
  let n = 0
  const end = Date.now() + 3000
  await Promise.all(
    Array.from({ length: connections }, async () => {
      for (; Date.now() < end; n++) await read(path)
    }),
  )
  return `${Math.round(n / 3)} a second`
}

for (let i = 0; i < 100; i++) await createFolder(`folder-${i}`)
const tree = '/api/files/tree?limit=100'
const usage = '/api/user/bucket?limit=1'
for (const path of [tree, usage]) console.log(`${path}: ${await throughput(path)}`)
console.log(`idle:       ${await latencies(usage)}`)
const workerData: Writers = { url: bench.url, headers: json, callers: WRITERS }
const writers = new Worker(new URL('writers.ts', import.meta.url), { workerData })
const written = once(writers, 'message')
const since = performance.now()
console.log(`${WRITERS} writers: ${await latencies(usage)}`)
writers.postMessage('stop')
const [folders] = await written
console.log(
  `written meanwhile: ${Math.round((folders / (performance.now() - since)) * 1000)} folders a second`,
)
await bench.stop()
process.exit(0)
