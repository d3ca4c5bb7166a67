import { createHash } from 'node:crypto'
import { extendLease } from '../../../db/queries/blob.ts'
import { setArrived } from '../../../db/queries/upload-stream.ts'
import { interruptible } from '../../runtime/interruptible.ts'
import { type Block, fillBlocks } from '../../storage/blocks.ts'
import { DAY_MS } from '../../values/duration.ts'
import type { Core } from '../core.ts'
import type { BlobService } from '../tree/blob.ts'
import { ChunkDiffers, StreamHeld, TooManyBytes } from './stream-error.ts'
import { uploadNotFound } from './upload-error.ts'
import { sizeOfPart } from './upload-part.ts'
import { openPieces } from './upload-piece.ts'
import type { UploadSessionView } from './upload-session-view.ts'

/** The checksum algorithms for the bytes of one request. */
export const chunkAlgorithms = ['sha1', 'sha256', 'sha512', 'md5'] as const

export interface Chunk {
  source: AsyncIterable<Uint8Array>
  /** The checksum of these bytes, in lower-case hex. */
  checksum?: { algorithm: (typeof chunkAlgorithms)[number]; digest: string } | undefined
  /** The size of the whole file in bytes, if the client declares it with these bytes. */
  length?: number | undefined
}

interface Appending {
  session: UploadSessionView
  /** The token of this request. */
  writer: string
  /** The offset in the file at which the bytes begin. */
  from: number
  chunk: Chunk
  /** Whether the last bytes are recorded only together with the finished file. */
  holdsBack: boolean
  /** Fires when the received bytes should be stored and reading should stop. */
  stop: AbortController
  /** Called before each write to the store. */
  goesOn: () => Promise<void>
  /**
   * Creates the file if this request has all of its bytes and they fit into one part. They are not
   * stored as a part then.
   */
  createFrom?: ((bytes: Uint8Array) => Promise<void>) | undefined
  /** Increases the reservation up to this offset, for a file of unknown length. */
  grow?: ((end: number) => Promise<void>) | undefined
}

/**
 * Yields the bytes of a source until it ends, breaks or is stopped. The received bytes are stored
 * before the error is thrown.
 */
function untilBroken(source: AsyncIterable<Uint8Array>, signal: AbortSignal) {
  const outcome: { error?: unknown; isBroken: boolean } = { isBroken: false }
  async function* bytes(): AsyncGenerator<Uint8Array> {
    try {
      yield* interruptible(source, signal)
    } catch (error) {
      Object.assign(outcome, { error, isBroken: true })
    }
  }
  return { outcome, bytes: bytes() }
}

/** @throws TooManyBytes before the first excess byte */
async function* upTo(
  source: AsyncIterable<Uint8Array>,
  room: number,
  size: number,
): AsyncGenerator<Uint8Array> {
  let total = 0
  for await (const chunk of source) {
    total += chunk.length
    if (total > room) throw new TooManyBytes(size)
    yield chunk
  }
}

/**
 * Appends bytes to an upload. Whole parts go to the store; the rest becomes a piece. Recorded bytes
 * are durable. With a checksum, nothing is recorded before all bytes have arrived and match.
 * Without one, the bytes that arrived before the source broke are kept.
 * @returns the number of bytes of the file that have arrived, including the last ones if they are
 * held back
 * @throws the errors of the source, TooManyBytes, ChunkDiffers, StreamHeld, UPLOAD_NOT_FOUND
 */
export async function append(
  { db, store, blobs }: Core<'db' | 'store'> & { blobs: BlobService },
  { session, writer, from, chunk, holdsBack, stop, goesOn, createFrom, grow }: Appending,
): Promise<number> {
  const { id, partSize } = session
  const { source, checksum } = chunk
  const size = grow ? Number.POSITIVE_INFINITY : session.size
  const pieces = await openPieces({ db, store, blobs }, session)
  const { outcome, bytes } = untilBroken(upTo(source, size - from, size), stop.signal)
  const hash = checksum && createHash(checksum.algorithm)
  let arrived = from

  async function record(): Promise<void> {
    const until = Date.now() + DAY_MS
    await db.transaction(async tx => {
      if (!(await extendLease(db, id, until, tx))) throw uploadNotFound()
      await pieces.record(until, tx)
      if (!(await setArrived(db, { id, writer, arrived }, tx))) throw new StreamHeld()
    })
    pieces.settled()
  }

  async function keep(block: Block): Promise<void> {
    hash?.update(block.bytes)
    if (block.last && checksum) {
      if (outcome.isBroken) return
      if (hash?.digest('hex') !== checksum.digest) throw new ChunkDiffers(checksum.algorithm)
    }
    if (block.bytes.length === 0) return
    await goesOn()
    const number = Math.floor(arrived / partSize) + 1
    const start = (number - 1) * partSize
    const end = arrived + block.bytes.length
    const whole = sizeOfPart({ size, partSize }, number)
    await grow?.(end)
    if (createFrom && block.bytes.length === size) {
      await createFrom(block.bytes)
      arrived = end
      return
    }
    if (end === start + whole) {
      await store.stagePart(id, number, pieces.followedBy(block.bytes), {
        size: whole,
        offset: start,
      })
      pieces.clear()
    } else await pieces.add(block.bytes, start)
    arrived = end
    if (holdsBack && arrived === size) return
    if (!checksum || block.last) await record()
  }

  let storing: Promise<void> = Promise.resolve()
  try {
    const first = partSize - (from % partSize)
    for await (const block of fillBlocks(bytes, new AbortController().signal, partSize, first)) {
      await storing
      storing = keep(block).finally(block.release)
      storing.catch(error => stop.abort(error))
    }
    await storing
  } catch (error) {
    await Promise.allSettled([storing])
    await pieces.discard()
    throw error
  }
  if (outcome.isBroken) throw outcome.error
  return arrived
}

/**
 * Stores the bytes behind the last whole part as the last part, once it is known that none follow.
 * Keeps the pieces: if the file cannot be created, the client may send more.
 */
export async function storeTail(
  { db, store, blobs }: Core<'db' | 'store'> & { blobs: BlobService },
  session: UploadSessionView,
): Promise<void> {
  const { id, size, partSize, partCount } = session
  const offset = (partCount - 1) * partSize
  const tail = size - offset
  if (tail === 0 || tail === partSize) return
  const pieces = await openPieces({ db, store, blobs }, session)
  await store.stagePart(id, partCount, pieces.followedBy(new Uint8Array()), { size: tail, offset })
}
