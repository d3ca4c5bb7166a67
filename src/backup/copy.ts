import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import pLimit from 'p-limit'
import { v4 as newId } from 'uuid'
import { causesOf } from '../runtime/errors.ts'
import { BlobMissing, type BlobStore } from '../storage/store.ts'
import type { Uploaded } from '../storage/upload.ts'
import { hexOfCrc32 } from '../upload-engine/crc32.ts'

/** The number of concurrent copies: most blobs are small and wait for the disk. */
const AT_ONCE = 16

/** The bytes in a backup differ from those that were written. */
export class BlobDamaged extends Error {
  constructor(id: string) {
    super(`The blob ${id} of the backup has changed since it was written.`)
    this.name = 'BlobDamaged'
  }
}

/** A blob cannot be read, although its store responds. */
export class BlobUnreadable extends Error {
  /** A system error code, such as EIO. */
  readonly code: string

  constructor(id: string, code: string, options: ErrorOptions) {
    super(`The blob ${id} cannot be read (${code}).`, options)
    this.name = 'BlobUnreadable'
    this.code = code
  }
}

/** A copied blob: its size in bytes, and its checksums in lower-case hex. */
export type Copied = Pick<Uploaded, 'size' | 'crc32'> & { sha256: string }

/** Why a single blob could not be copied. */
export type Lost = BlobMissing | BlobDamaged | BlobUnreadable

/** The outcome of copying a blob. All other errors abort a copy. */
export type Outcome = Copied | Lost

const isLost = (error: unknown): error is Lost =>
  error instanceof BlobMissing || error instanceof BlobDamaged || error instanceof BlobUnreadable

/** A blob to copy. */
export interface ToCopy {
  id: string
  size: number
  /** The required SHA-256. A blob with a different one is not stored. */
  expected?: string | undefined
}

interface CopyOptions {
  atOnce?: number
  pace?: (bytes: number) => Promise<void>
  lost?: (error: unknown, id: string) => Lost | Promise<Lost>
}

/** Blobs up to this size are read at once. */
const SMALL = 64 * 1024

/**
 * Copies blobs from one store to another.
 * @param done called with the size of each stored blob
 * @param pace awaited with the number of bytes that have been read, before they are written
 * @param lost returns why a blob is lost, by its error; if it throws, the copy is aborted
 */
export async function copyBlobs(
  from: BlobStore,
  to: BlobStore,
  blobs: ToCopy[],
  done: (size: number) => void,
  { atOnce = AT_ONCE, pace, lost = orLost }: CopyOptions = {},
): Promise<Map<string, Outcome>> {
  const outcomes = new Map<string, Outcome>()
  const isSmall = ({ size }: ToCopy) => to.putMany !== undefined && size <= SMALL
  const small = blobs.filter(isSmall)
  const read = await readSmall(from, small, atOnce, lost)
  await pace?.(small.reduce((sum, { size }) => sum + size, 0))
  const intact: { key: string; bytes: Uint8Array }[] = []
  small.forEach(({ id, expected }, i) => {
    const bytes = read[i] ?? new BlobMissing(id)
    const outcome = bytes instanceof Error ? bytes : examined(id, bytes, expected)
    outcomes.set(id, outcome)
    if (!(bytes instanceof Error || outcome instanceof Error)) intact.push({ key: id, bytes })
  })
  await to.putMany?.(intact)
  for (const { size } of small) done(size)
  const others = blobs.filter(blob => !isSmall(blob))
  await eachAtOnce(
    others,
    async ({ id, size, expected }) => {
      const outcome = await copyBlob(from, to, { id, expected, pace }).catch(error =>
        lost(error, id),
      )
      outcomes.set(id, outcome)
      done(size)
    },
    atOnce,
  )
  return outcomes
}

/**
 * Returns why a blob is lost.
 * @throws any other error
 */
export function orLost(error: unknown): Lost {
  if (isLost(error)) return error
  throw error
}

/** The bytes of small blobs; undefined for a missing one. */
async function readSmall(
  from: BlobStore,
  blobs: ToCopy[],
  atOnce: number,
  lost: Required<CopyOptions>['lost'],
): Promise<(Uint8Array | Lost | undefined)[]> {
  try {
    if (from.readMany) return await from.readMany(blobs.map(({ id }) => id))
  } catch {
    // Each blob is now read alone, so that an unreadable one does not affect the others.
  }
  return eachAtOnce(
    blobs,
    ({ id }) => buffer(bytesOf(from, id)).catch(error => lost(error, id)),
    atOnce,
  )
}

/** System errors that concern a single file, not the whole store. */
const ofOneFile = new Set([
  'EIO',
  'EACCES',
  'EPERM',
  'EISDIR',
  'ENOTDIR',
  'ELOOP',
  'EINVAL',
  'EBADMSG',
  'ENODATA',
  'EUCLEAN',
])

/** Reads a blob. @throws BlobMissing, BlobUnreadable */
async function* bytesOf(from: BlobStore, id: string): AsyncGenerator<Uint8Array> {
  try {
    yield* await from.open(id)
  } catch (error) {
    const code = [...causesOf(error)]
      .map(({ code }) => String(code))
      .find(code => ofOneFile.has(code))
    if (code === undefined) throw error
    // A missing disk is not the fault of a blob. Looking up a nonexistent blob makes the store
    // check its disk.
    await from.look(newId())
    throw new BlobUnreadable(id, code, { cause: error })
  }
}

function examined(
  id: string,
  bytes: Uint8Array,
  expected: string | undefined,
): Copied | BlobDamaged {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  if (expected !== undefined && sha256 !== expected) return new BlobDamaged(id)
  return { size: bytes.length, crc32: hexOfCrc32(crc32(bytes)), sha256 }
}

/** Copies a blob in constant memory. @throws BlobDamaged, BlobMissing, BlobUnreadable */
async function copyBlob(
  from: BlobStore,
  to: BlobStore,
  {
    id,
    expected,
    pace,
  }: {
    id: string
    expected?: string | undefined
    pace?: ((bytes: number) => Promise<void>) | undefined
  },
): Promise<Copied> {
  const hash = createHash('sha256')
  let sha256 = ''
  async function* hashed(): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytesOf(from, id)) {
      hash.update(chunk)
      await pace?.(chunk.length)
      yield chunk
    }
    sha256 = hash.digest('hex')
    if (expected !== undefined && sha256 !== expected) throw new BlobDamaged(id)
  }
  // Signed URLs set the content type of a file.
  const stored = await to.put(id, hashed(), {
    contentType: 'application/octet-stream',
    admit: async () => {},
  })
  return { ...stored, sha256 }
}

/** @returns the SHA-256 of a blob in lower-case hex @throws BlobMissing, BlobUnreadable */
export async function digestOfBlob(store: BlobStore, id: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of bytesOf(store, id)) hash.update(chunk)
  return hash.digest('hex')
}

/**
 * @returns the CRC-32 of a blob in the format of the ledger
 * @throws BlobMissing, BlobUnreadable
 */
export async function crc32OfBlob(store: BlobStore, id: string): Promise<string> {
  let sum = 0
  for await (const chunk of bytesOf(store, id)) sum = crc32(chunk, sum)
  return hexOfCrc32(sum)
}

/**
 * Processes the items of a list concurrently. If one fails, throws its error after the others have
 * ended.
 */
export async function eachAtOnce<T, R>(
  items: T[],
  work: (item: T) => Promise<R>,
  atOnce = AT_ONCE,
): Promise<R[]> {
  const limit = pLimit(atOnce)
  const outcomes = await Promise.allSettled(items.map(item => limit(() => work(item))))
  return outcomes.map(outcome => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
}
