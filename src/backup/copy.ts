import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import pLimit from 'p-limit'
import { v4 as newId } from 'uuid'
import { causesOf } from '../runtime/errors.ts'
import { BlobMissing, type BlobStore } from '../storage/store.ts'
import type { Uploaded } from '../storage/upload.ts'
import { hexOfCrc32 } from '../upload-engine/crc32.ts'

/** Blobs that are copied at once: most are small, and wait for the disk. */
const AT_ONCE = 16

/** The bytes of a backup are not those that were written. */
export class BlobDamaged extends Error {
  constructor(id: string) {
    super(`The blob ${id} of the backup has changed since it was written.`)
    this.name = 'BlobDamaged'
  }
}

/** The bytes of a blob cannot be read, although its store answers. */
export class BlobUnreadable extends Error {
  /** Of the system, such as EIO. */
  readonly code: string

  constructor(id: string, code: string, options: ErrorOptions) {
    super(`The blob ${id} cannot be read (${code}).`, options)
    this.name = 'BlobUnreadable'
    this.code = code
  }
}

/** What was copied: its size in bytes, and its checksums in lower-case hex. */
export type Copied = Pick<Uploaded, 'size' | 'crc32'> & { sha256: string }

/** Why a blob could not be copied, where others can. */
export type Lost = BlobMissing | BlobDamaged | BlobUnreadable

/** What became of a blob. Other errors end a copy. */
export type Outcome = Copied | Lost

const isLost = (error: unknown): error is Lost =>
  error instanceof BlobMissing || error instanceof BlobDamaged || error instanceof BlobUnreadable

/** A blob that is to be copied. */
export interface ToCopy {
  id: string
  size: number
  /** The SHA-256 that it must have; otherwise it is not stored. */
  expected?: string | undefined
}

interface CopyOptions {
  atOnce?: number
  pace?: (bytes: number) => Promise<void>
  lost?: (error: unknown, id: string) => Lost | Promise<Lost>
}

/** What is read at once. */
const SMALL = 64 * 1024

/**
 * Copies some blobs from one store to another.
 * @param done called with the size of each when it is stored
 * @param pace awaited with the number of bytes that have been read, before they are written
 * @param lost says of an error of one blob why that is lost; what it throws ends the copy
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

/** Answers why one blob is lost. @throws any other error */
export function orLost(error: unknown): Lost {
  if (isLost(error)) return error
  throw error
}

/** The bytes of small blobs; undefined for one that is missing. */
async function readSmall(
  from: BlobStore,
  blobs: ToCopy[],
  atOnce: number,
  lost: Required<CopyOptions>['lost'],
): Promise<(Uint8Array | Lost | undefined)[]> {
  try {
    if (from.readMany) return await from.readMany(blobs.map(({ id }) => id))
  } catch {
    // Each is read alone now, so that one that cannot be read does not take the others with it.
  }
  return eachAtOnce(
    blobs,
    ({ id }) => buffer(bytesOf(from, id)).catch(error => lost(error, id)),
    atOnce,
  )
}

/** What the system says of a single file, rather than of a store. */
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
    // A disk that has gone is the fault of no blob: asked for a blob that does not exist, the store
    // checks that it is there.
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
  // Clients get the type of a file with its signed URL.
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

/** @returns the CRC-32 of a blob, as the ledger has it @throws BlobMissing, BlobUnreadable */
export async function crc32OfBlob(store: BlobStore, id: string): Promise<string> {
  let sum = 0
  for await (const chunk of bytesOf(store, id)) sum = crc32(chunk, sum)
  return hexOfCrc32(sum)
}

/**
 * Works on the items of a list, several at once. When one fails, the error is thrown after the
 * others have ended.
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
