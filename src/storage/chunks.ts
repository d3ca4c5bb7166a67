import type { ReadStream } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { giveBack, takeBlock } from './blocks.ts'
import { onDisk, readAt } from './files.ts'

/** Large enough for few disk reads, and small enough for many slow clients. */
export const readSize = 256 * 1024

/**
 * Bytes, chunk by chunk. A chunk is valid until the next one is requested or the iterator is
 * closed, because its memory is reused.
 */
export type Chunks = AsyncIterable<Uint8Array>

/** Copies all chunks into one buffer. */
export async function joined(chunks: Chunks): Promise<Buffer> {
  const copies: Buffer[] = []
  for await (const chunk of chunks) copies.push(Buffer.from(chunk))
  const [first] = copies
  return first && copies.length === 1 ? first : Buffer.concat(copies)
}

/**
 * Reads a range of a file. Reads the first chunk at once, and each further one while the previous
 * one is in use. Closes the file, even if the reader stops early. Ends early if the file does.
 * Throws Unavailable for a failing disk.
 * @param more bytes to read as well if they exist
 */
export function chunksOf(
  file: FileHandle,
  offset: number,
  count: number,
  more = 0,
): AsyncIterableIterator<Buffer> {
  const end = offset + count
  let at = offset
  let [isEnded, isClosed] = [false, false]
  /** Each buffer belongs to one of these, or to the running read, and is given back once. */
  let [inUse, ready]: [Buffer | null, Buffer | null] = [null, null]

  const release = (chunk: Buffer | null) => {
    if (chunk) giveBack(chunk.buffer as unknown as SharedArrayBuffer)
  }
  const close = () => file.close().catch(() => {})

  /** Reads the next chunk into `ready`. */
  async function read(): Promise<void> {
    const chunk = Buffer.from(takeBlock(readSize), 0, Math.min(readSize, end + more - at))
    let size = 0
    try {
      size = await onDisk(() => readAt(file, chunk, at, Math.max(1, end - at)))
    } catch (error) {
      release(chunk)
      isEnded = true
      await close()
      throw error
    }
    at += size
    if (size < chunk.length || at >= end + more) isEnded = true
    if (isClosed || size === 0) release(chunk)
    else ready = chunk.subarray(0, size)
    // Closes a small file as early as possible.
    if (isEnded || isClosed) void close()
  }

  const readOn = () => {
    const next = read()
    // Its error is handled when the chunk is awaited.
    next.catch(() => {})
    return next
  }
  let reading: Promise<void> | null = readOn()

  return {
    [Symbol.asyncIterator]() {
      return this
    },
    async next() {
      release(inUse)
      inUse = null
      await reading
      inUse = ready
      ready = null
      reading = inUse && !isEnded ? readOn() : null
      return inUse ? { done: false, value: inUse } : { done: true, value: undefined }
    },
    async return() {
      isClosed = true
      release(inUse)
      release(ready)
      inUse = null
      ready = null
      // A running read uses the file and its buffer until it ends.
      await reading?.catch(() => {})
      await close()
      return { done: true, value: undefined }
    },
  }
}

export async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

export const streamOfBytes = (bytes: Uint8Array): Readable =>
  new Readable({
    read() {
      this.push(bytes)
      this.push(null)
    },
  })

/** Reads the chunks of a stream that is still to be opened. Starts reading at once. */
export const readingAtOnce =
  <A extends unknown[]>(open: (...args: A) => Promise<Readable>) =>
  async (...args: A): Promise<Chunks> => {
    const stream = await open(...args)
    stream.read(0)
    return stream
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
