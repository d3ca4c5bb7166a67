import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { interruptibleSteps, leave } from '../runtime/interruptible.ts'
import { hexOfCrc32 } from '../upload-engine/crc32.ts'

/**
 * Sources of up to this size (bytes) are gathered: a MiB, with the form around it. Hashing more in
 * the service's own thread would delay other requests.
 */
export const gatherLimit = 1024 * 1024 + 64 * 1024

/** Smaller chunks are copied together, because each kept chunk has some overhead. */
const smallChunk = 16 * 1024
const copyBuffer = 64 * 1024

/** All bytes of a source in memory, and their checksums in lower-case hex. */
export interface Gathered {
  chunks: Uint8Array[]
  size: number
  md5: string
  crc32: string
}

/** A list of chunks that copies only small ones. */
function chunkList() {
  const chunks: Uint8Array[] = []
  let buffer: Buffer | undefined
  /** The part of the buffer that is the last chunk, or would be. */
  let [from, used] = [0, 0]
  let isLast = false
  return {
    chunks,
    add(chunk: Uint8Array): void {
      if (chunks.length === 0 || chunk.length >= smallChunk) {
        chunks.push(chunk)
        isLast = false
        return
      }
      if (!buffer || buffer.length - used < chunk.length) {
        buffer = Buffer.allocUnsafeSlow(copyBuffer)
        used = 0
        isLast = false
      }
      if (isLast) chunks.pop()
      else from = used
      buffer.set(chunk, used)
      used += chunk.length
      chunks.push(buffer.subarray(from, used))
      isLast = true
    },
  }
}

/**
 * Collects a small source, and hashes its chunks as they arrive. Keeps them without a copy, so they
 * must stay unchanged. Throws errors of the source, and the reason of `signal`, unchanged.
 * @param most the largest size in bytes that the source may have
 */
export async function gather(
  source: AsyncIterable<Uint8Array>,
  most: number,
  signal: AbortSignal,
): Promise<Gathered> {
  const list = chunkList()
  const md5 = createHash('md5')
  let [size, sum] = [0, 0]
  const steps = source[Symbol.asyncIterator]()
  const next = interruptibleSteps(steps, signal)
  try {
    for (let step = await next(); !step.done; step = await next()) {
      const chunk = step.value
      size += chunk.length
      if (size > most) throw new Error('The source is larger than announced.')
      md5.update(chunk)
      sum = crc32(chunk, sum)
      list.add(chunk)
    }
  } finally {
    leave(steps)
  }
  return { chunks: list.chunks, size, md5: md5.digest('hex'), crc32: hexOfCrc32(sum) }
}

/** Chunks as one buffer, for a request that takes no list. */
export const inOne = (chunks: readonly Uint8Array[]): Buffer => {
  const [first] = chunks
  return chunks.length === 1 && Buffer.isBuffer(first) ? first : Buffer.concat(chunks)
}
