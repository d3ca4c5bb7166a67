import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Derived, Task } from '../outcome.ts'

/** Computes the SHA-256 of a file, which identifies its content wherever it is stored. */
export async function work({ path }: Task): Promise<Derived> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), hash)
  return { value: { sha256: hash.digest('hex') } }
}
