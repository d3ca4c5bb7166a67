import { person, signInAgain } from '../../graphql/session.ts'
import { text as ofParts } from '../../parts/text.ts'
import { text } from './text.ts'

interface Made {
  name: string
  file: Blob
}

/** Minimum interval between progress messages, because screen readers read each one aloud. */
const EVERY_MS = 500

/**
 * Downloads the person's account data. Returns undefined if the signal was aborted or the session
 * has expired.
 *
 * @throws Error with a message for the person
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

/** The service's error message. Error pages of a proxy have no message for people. */
const sentenceOf = (answer: Response): Promise<string> =>
  answer.json().then(
    ({ msg }: { msg?: string }) => msg ?? text('exportBroken'),
    () => text('exportBroken'),
  )

/** Saves a file to the browser's download folder. */
export function save({ name, file }: Made): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  // By then the browser has started reading it.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
