import { person, signInAgain } from '../../graphql/session.ts'
import { text as ofParts } from '../../parts/text.ts'
import { text } from './text.ts'

interface Made {
  name: string
  file: Blob
}

/** How often progress is said: screen readers read each. */
const EVERY_MS = 500

/**
 * Reads the export of the person's account. Undefined when the signal has fired, or the session has
 * ended.
 * @throws Error with a sentence for the person
 */
export async function readExport(
  onBytes: (count: number) => void,
  signal: AbortSignal,
): Promise<Made | undefined> {
  try {
    return await read(onBytes, signal)
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  }
}

async function read(
  onBytes: (count: number) => void,
  signal: AbortSignal,
): Promise<Made | undefined> {
  const headers: Record<string, string> = person ? { 'X-Account': person } : {}
  const answer = await fetch('/api/user/export', { headers, signal, cache: 'no-store' }).catch(
    () => {
      throw new Error(ofParts('offline'))
    },
  )
  if (answer.status === 401) {
    signInAgain()
    return undefined
  }
  if (!answer.ok || !answer.body) throw new Error(await sentenceOf(answer))
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let count = 0
  let saidAt = 0
  try {
    const reader = answer.body.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      chunks.push(value)
      count += value.length
      if (performance.now() - saidAt < EVERY_MS) continue
      saidAt = performance.now()
      onBytes(count)
    }
  } catch {
    throw new Error(text('exportBroken'))
  }
  onBytes(count)
  const name =
    /filename="([^"]+)"/.exec(answer.headers.get('content-disposition') ?? '')?.[1] ??
    'satchel.json'
  return { name, file: new Blob(chunks, { type: 'application/json' }) }
}

/** What the service says of a refusal; a proxy before it says nothing that a person could read. */
const sentenceOf = (answer: Response): Promise<string> =>
  answer.json().then(
    ({ msg }: { msg?: string }) => msg ?? text('exportBroken'),
    () => text('exportBroken'),
  )

/** Puts a file where the browser keeps what is downloaded. */
export function save({ name, file }: Made): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
