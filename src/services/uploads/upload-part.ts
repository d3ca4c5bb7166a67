import { createHash } from 'node:crypto'
import type { Coordination } from '../../coordination/coordination.ts'
import { Busy, InvalidInput } from '../../runtime/errors.ts'
import { startCrc32 } from '../../storage/crc32.ts'
import { BytesDiffer } from '../../storage/store.ts'
import type { Upload } from '../../values/upload.ts'

/** An upload is split into parts of `partSize` bytes. The last part has the rest. */
interface Cut {
  size: number
  partSize: number
}

/** A part of an upload from the user who started the upload. */
export interface NewPart {
  /** The id of the upload. */
  id: string
  by: string
  /** The number of the part, from 1. */
  number: number
  part: Upload
  /** The MD5 of the part in base64 (RFC 1864). */
  contentMd5: string | null | undefined
  /**
   * The time that the upload then waits for the next part before it expires, in milliseconds; by
   * default one day.
   */
  lifeMs?: number
  /**
   * Reserves bytes for the part before it arrives, and releases them if the part does not arrive.
   */
  reserving?: {
    more: (bytes: number) => Promise<number>
    less: (bytes: number) => Promise<void>
  }
}

/** A received part. */
export interface ReceivedPart {
  partNumber: number
  size: number
  /** The CRC-32 of the stored bytes in lower-case hex, for the sender to compare. */
  crc32: string
}

/** The number of parts. An empty file has one empty part. */
export const partCountOf = ({ size, partSize }: Cut): number =>
  Math.max(1, Math.ceil(size / partSize))

/** The size of part `number` (from 1) in bytes. */
export const sizeOfPart = ({ size, partSize }: Cut, number: number): number =>
  Math.min(partSize, size - (number - 1) * partSize)

/**
 * Passes on the bytes of a part, which must be exactly `size`. Calls `admit` when all have arrived,
 * and yields the last bytes only after it. The store knows the size in advance and rejects a part
 * that is truncated or not admitted.
 * @throws INVALID_INPUT, and the errors of `admit`
 */
export async function* exactly(
  { source, bound }: Upload,
  number: number,
  size: number,
  admit: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  const wrong = (brought: string) =>
    new InvalidInput(
      'part',
      `Part ${number} must have exactly ${size} bytes. This request has ${brought}.`,
    )
  if (bound !== undefined && bound !== size) throw wrong(String(bound))
  let total = 0
  let last: Uint8Array | undefined
  for await (const chunk of source) {
    if (chunk.length === 0) continue
    total += chunk.length
    if (total > size) throw wrong('more')
    if (last) yield last
    last = chunk
  }
  if (total < size) throw wrong(String(total))
  await admit()
  if (last) yield last
}

/**
 * Converts a Content-MD5 to hex.
 * @throws INVALID_INPUT
 */
export function parseContentMd5(contentMd5: string | null | undefined): string | undefined {
  if (!contentMd5) return undefined
  if (!/^[A-Za-z0-9+/]{22}==$/.test(contentMd5))
    throw new InvalidInput(
      'content_md5',
      'Content-MD5 is the MD5 of the body in base64: 24 characters (RFC 1864).',
    )
  return Buffer.from(contentMd5, 'base64').toString('hex')
}

/**
 * An honest client may send a part again when its connection seems dead, while the service still
 * waits for the rest of the first request.
 */
const MAX_SENDS = 2

/**
 * Limits how many requests may send the same part at the same time. Until one is complete, it takes
 * disk space that the upload has not reserved.
 */
export const limitSends =
  ({ hold }: Coordination) =>
  async <T>(part: string, send: () => Promise<T>): Promise<T> => {
    const release = await hold(1, [[`sends of part ${part}`, MAX_SENDS]])
    if (!release)
      throw new Busy(
        'Other requests are sending this part. Wait for one of them to end, then send it again.',
      )
    try {
      return await send()
    } finally {
      release()
    }
  }

const nothing = createHash('md5').digest('hex')

/**
 * Reads the single part of an empty file, which is not stored.
 * @returns its CRC-32
 * @throws BytesDiffer, and the errors of the source
 */
export async function expectNothing(
  source: AsyncIterable<Uint8Array>,
  md5: string | undefined,
): Promise<string> {
  for await (const _ of source);
  if (md5 !== undefined && md5 !== nothing) throw new BytesDiffer()
  return startCrc32().hex()
}
