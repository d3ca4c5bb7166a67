import type { ReadStream } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { giveBack, takeBlock } from './blocks.ts'
import { onDisk, readAt } from './files.ts'

/** Large enough for few disk reads, and small enough for many slow clients. */
export const readSize = 256 * 1024

/**
 * Bytes, chunk by chunk. A chunk is valid until the next one is requested, because its memory is
 * reused.
 */
export type Chunks = AsyncIterableIterator<Buffer>

/**
 * Reads a range of a file. Reads the first chunk at once, and each further one while the previous
 * one is in use. Closes the file, even if the reader stops early. Ends early if the file does.
 * Throws Unavailable for a failing disk.
 */
export function chunksOf(file: FileHandle, offset: number, count: number): Chunks {
  let [at, end] = [offset, offset + count]
  let [inUse, isOver]: [Buffer | null, boolean] = [null, false]

  const release = (chunk: Buffer | null) => {
    if (chunk) giveBack(chunk.buffer as unknown as SharedArrayBuffer)
  }
  const close = async () => {
    if (isOver) return
    isOver = true
    await file.close()
  }

  async function read(): Promise<Buffer | null> {
    if (at >= end) {
      await close()
      return null
    }
    const chunk = Buffer.from(takeBlock(readSize), 0, Math.min(readSize, end - at))
    try {
      const size = await onDisk(() => readAt(file, chunk, at))
      at += size
      if (size < chunk.length) end = at
      // Closes a small file as early as possible.
      if (at >= end) await close()
      return chunk.subarray(0, size)
    } catch (error) {
      release(chunk)
      await close().catch(() => {})
      throw error
    }
  }

  const readOn = () => {
    const next = read()
    // Its error is handled when the chunk is awaited.
    next.catch(() => {})
    return next
  }
  let reading: Promise<Buffer | null> | null = readOn()

  return {
    [Symbol.asyncIterator]() {
      return this
    },
    async next() {
      release(inUse)
      inUse = null
      inUse = await reading
      if (!inUse?.length) {
        release(inUse)
        inUse = null
        reading = null
        return { done: true, value: undefined }
      }
      reading = at < end ? readOn() : null
      return { done: false, value: inUse }
    },
    async return() {
      release(inUse)
      const last = reading
      inUse = null
      reading = null
      end = at
      if (last) release(await last.catch(() => null))
      await close()
      return { done: true, value: undefined }
    },
  }
}

/** A range of a file, or its rest, as a stream that closes the file. */
export function streamOf(
  file: FileHandle,
  offset: number,
  { count, signal }: { count: number | undefined; signal: AbortSignal | undefined },
): ReadStream {
  const stream = file.createReadStream({
    start: offset,
    ...(count === undefined ? {} : { end: offset + count - 1 }),
    highWaterMark: readSize,
    ...(signal ? { signal } : {}),
  })
  // A signal that fires before the caller reads would otherwise be an uncaught error; the caller
  // still sees the stream destroyed.
  stream.on('error', () => {})
  return stream
}
