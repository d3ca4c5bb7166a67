import { crc32 } from 'node:zlib'
import { hexOfCrc32 } from '../upload-engine/crc32.ts'

/**
 * A CRC-32 that grows. It detects what damages bytes on their way, at a sixth of the cost of an
 * MD5.
 */
export interface Crc32 {
  add(bytes: Uint8Array): void
  /** Of all bytes so far, in lower-case hex. */
  hex(): string
}

export function startCrc32(): Crc32 {
  let sum = 0
  return {
    add(bytes) {
      sum = crc32(bytes, sum)
    },
    hex: () => hexOfCrc32(sum),
  }
}

/** The same chunks, which are added to a sum. */
export async function* summed(
  source: AsyncIterable<Uint8Array>,
  sum: Crc32,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    sum.add(chunk)
    yield chunk
  }
}
