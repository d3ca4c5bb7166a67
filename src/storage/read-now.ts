import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'

/** Reads what is small at once, and closes the file: a stream would take longer. Ends early where the file does. Bytes from an offset on. */
export async function readNow(file: FileHandle, offset: number, count: number): Promise<Readable> {
  const bytes = Buffer.allocUnsafeSlow(count)
  let size = 0
  try {
    for (let got = -1; got !== 0 && size < count; size += got)
      got = (await file.read(bytes, size, count - size, offset + size)).bytesRead
  } finally {
    await file.close()
  }
  const read = bytes.subarray(0, size)
  return new Readable({
    read() {
      this.push(read)
      this.push(null)
    },
  })
}
