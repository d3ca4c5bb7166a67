import { crc32 } from 'node:zlib'
import { hexOfCrc32 } from '../upload-engine/crc32.ts'
import { type Block, blockSize, fillBlocks } from './blocks.ts'
import { gather, gatherLimit } from './gather.ts'
import { md5, type RunningHash, startHash } from './hash.ts'

export interface UploadOptions {
  /** Aborts the upload, which rejects with the reason. */
  signal?: AbortSignal
  /**
   * Upper bound of the size in bytes, if it is known and the chunks of the source stay unchanged
   * until the upload ends. A small source is then not copied.
   */
  bound?: number | undefined
  /**
   * Called and awaited before each full block is sent to the store. Throws to refuse the upload.
   * @param total bytes read so far, including this block
   * @param ended whether the source has ended with this block
   */
  admit(total: number, ended: boolean): Promise<void>
}

/** The operations of a store for an upload. Checksums are MD5 in lower-case hex. */
export interface Target {
  /** Block size in bytes; by default `blockSize`. */
  readonly block?: number
  /** Stores everything with one request. */
  whole(chunks: readonly Uint8Array[], checksum: string): Promise<void>
  /**
   * Stages a block, counted from 0, which becomes readable on `commit`. All blocks but the last
   * have the same size.
   */
  stage(index: number, bytes: Buffer, signal: AbortSignal): Promise<void>
  commit(count: number, checksum: string): Promise<void>
}

/** One block is read while the other is sent. A third block would only cost memory. */
const blocksInFlight = 2

/** The result of an upload: its size in bytes, and its checksums in lower-case hex. */
export interface Uploaded {
  size: number
  md5: string
  crc32: string
}

/** The memory that an upload needs with this block size. */
export const bufferOf = (block: number) => blocksInFlight * block
export const uploadBuffer = bufferOf(blockSize)

/**
 * Sends a source to a store and hashes it in parallel. Uses one request if the source fits into the
 * first block, and blocks otherwise. Rejects with the first error, once no request is in flight.
 */
export async function upload(
  source: AsyncIterable<Uint8Array>,
  target: Target,
  { signal, bound = Number.POSITIVE_INFINITY, admit }: UploadOptions,
): Promise<Uploaded> {
  const stop = new AbortController()
  const onAbort = () => stop.abort(signal?.reason)
  if (signal?.aborted) onAbort()
  signal?.addEventListener('abort', onAbort)
  const sending = new Set<Promise<void>>()
  let staged = 0
  let running: { md5: RunningHash; crc32: RunningHash } | undefined
  let size = 0

  const stage = async (block: Block, sums: { md5: RunningHash; crc32: RunningHash }) => {
    const work = [
      sums.md5.add(block.bytes),
      sums.crc32.add(block.bytes),
      target.stage(staged++, block.bytes, stop.signal),
    ]
    try {
      await Promise.all(work)
    } catch (error) {
      stop.abort(error)
    }
    await Promise.allSettled(work)
    block.release()
  }

  /** Sends one block; resolves to the checksums if it was the last. */
  const accept = async (block: Block): Promise<Omit<Uploaded, 'size'> | undefined> => {
    let mine = true
    try {
      size += block.bytes.length
      await admit(size, block.last)
      stop.signal.throwIfAborted()
      if (block.last && staged === 0) {
        const checksum = await md5(block.bytes)
        await target.whole([block.bytes], checksum)
        return { md5: checksum, crc32: hexOfCrc32(crc32(block.bytes)) }
      }
      running ??= { md5: startHash('md5'), crc32: startHash('crc32') }
      const task: Promise<void> = stage(block, running).finally(() => sending.delete(task))
      sending.add(task)
      mine = false
      while (sending.size >= blocksInFlight) await Promise.race(sending)
      return undefined
    } finally {
      if (mine) block.release()
    }
  }

  const sendSmall = async () => {
    const { chunks, ...sums } = await gather(source, bound, stop.signal)
    size = sums.size
    await admit(size, true)
    stop.signal.throwIfAborted()
    await target.whole(chunks, sums.md5)
    return sums
  }

  const send = async () => {
    for await (const block of fillBlocks(source, stop.signal, target.block)) {
      const sums = await accept(block)
      if (sums !== undefined) return sums
    }
    await Promise.all(sending)
    stop.signal.throwIfAborted()
    const [checksum = '', crc32 = ''] = await Promise.all([
      running?.md5.end(),
      running?.crc32.end(),
    ])
    running = undefined
    await target.commit(staged, checksum)
    return { md5: checksum, crc32 }
  }

  try {
    const sums = await (bound <= gatherLimit ? sendSmall() : send())
    stop.signal.throwIfAborted()
    return { size, ...sums }
  } catch (error) {
    stop.abort(error)
    await Promise.all(sending)
    throw error
  } finally {
    signal?.removeEventListener('abort', onAbort)
    for (const hash of Object.values(running ?? {})) hash.end().catch(() => {})
  }
}
