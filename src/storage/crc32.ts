import { crc32 } from 'node:zlib'
import { hexOfCrc32 } from '../upload-engine/crc32.ts'

/** An incremental CRC-32. It detects transmission errors at a sixth of the cost of MD5. */
export interface Crc32 {
  add(bytes: Uint8Array): void
  /** The checksum of all bytes so far, in lower-case hex. */
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

/** Passes chunks through and adds them to a checksum. */
export async function* summed(
  source: AsyncIterable<Uint8Array>,
  sum: Crc32,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    sum.add(chunk)
    yield chunk
  }
}
