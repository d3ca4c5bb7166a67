import type { Readable } from 'node:stream'
import { AppError, InvalidInput, Unavailable } from '../../runtime/errors.ts'
import type { Algorithm } from '../../storage/hash.ts'
import type { UploadSessionView } from './upload-session-view.ts'

/** Digests of a whole file, in lower-case hex. */
export type Digests = Partial<Record<Algorithm, string>>

const STALL_MS = 30_000

/** Fails a stalled stream of the store, which would otherwise hold the claim forever. */
export async function* flowing(
  stream: Readable,
  passed?: (count: number) => void,
): AsyncGenerator<Uint8Array> {
  const timer = setTimeout(
    () => stream.destroy(new Error('The store sent no bytes for too long.')),
    STALL_MS,
  )
  try {
    for await (const chunk of stream) {
      timer.refresh()
      passed?.(chunk.length)
      yield chunk as Uint8Array
    }
  } catch (error) {
    throw new Unavailable('blob store', error)
  } finally {
    clearTimeout(timer)
  }
}

/** The expected digests, in lower-case hex. @throws INVALID_INPUT */
export function digestsOf(completion: {
  md5?: string | null | undefined
  crc32?: string | null | undefined
  sha256?: string | null | undefined
}): Digests {
  const given: Digests = {}
  for (const [algorithm, length] of [
    ['md5', 32],
    ['crc32', 8],
    ['sha256', 64],
  ] as const) {
    const text = completion[algorithm]
    if (!text) continue
    if (text.length !== length || !/^[0-9a-f]+$/i.test(text))
      throw new InvalidInput(
        algorithm,
        `"${algorithm}" is the digest of the whole file, as ${length} hex digits.`,
      )
    given[algorithm] = text.toLowerCase()
  }
  return given
}

export const otherSize = (session: UploadSessionView, bytes: number) =>
  new AppError(
    'CHECKSUM_MISMATCH',
    `The parts have ${bytes} bytes, not ${session.size}. Send them again.`,
  )

export function mismatch(algorithm: string, read: Digests): AppError {
  return new AppError(
    'CHECKSUM_MISMATCH',
    `The stored parts do not match the given ${algorithm}. Send the parts that differ again, then complete the upload.`,
    { algorithm, received: read[algorithm as Algorithm] },
  )
}
