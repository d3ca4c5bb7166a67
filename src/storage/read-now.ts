import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { readAt } from './files.ts'

/** Reads what is small at once, and closes the file: a stream would take longer. Ends early where the file does. Bytes from an offset on. */
export async function readNow(file: FileHandle, offset: number, count: number): Promise<Readable> {
  const bytes = Buffer.allocUnsafeSlow(count)
  const size = await readAt(file, bytes, offset).finally(() => file.close())
  const read = bytes.subarray(0, size)
  return new Readable({
    read() {
      this.push(read)
      this.push(null)
    },
  })
}
