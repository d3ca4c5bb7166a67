import { close, open, read } from 'node:fs'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'

// By descriptors: a FileHandle can be closed by another thread only.

export const openNow = promisify(open)
const readFrom = promisify(read)

/**
 * Reads what is small at once, and closes the file: a stream would take longer. Ends early where
 * the file does. Bytes from an offset on.
 * @param more bytes to be read as well if they are there
 */
export async function readNow(
  file: number,
  offset: number,
  count: number,
  more = 0,
): Promise<Readable> {
  const bytes = Buffer.allocUnsafe(count + more)
  let size = 0
  try {
    for (let got = -1; got !== 0 && size < count; size += got)
      got = (await readFrom(file, bytes, size, bytes.length - size, offset + size)).bytesRead
  } finally {
    // Not waited for: nothing depends on it. Not in this thread, which a volume of the network
    // could hold up even by this.
    close(file, () => {})
  }
  const whole = bytes.subarray(0, size)
  return new Readable({
    read() {
      this.push(whole)
      this.push(null)
    },
  })
}
