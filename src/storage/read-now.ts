import { close, open, read } from 'node:fs'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'

// By descriptors, because a FileHandle takes twice the processor time of all that is done with it here.

export const openNow = promisify(open)
const readFrom = promisify(read)

/**
 * Reads what is small at once, and closes the file: a stream would take longer. Ends early where the file does. Bytes from an offset on.
 * @param more bytes to be read as well if they are there
 */
export async function readNow(file: number, offset: number, count: number, more = 0): Promise<Readable> {
  const bytes = Buffer.allocUnsafe(count + more)
  let size = 0
  try {
    for (let got = -1; got !== 0 && size < count; size += got)
      got = (await readFrom(file, bytes, size, bytes.length - size, offset + size)).bytesRead
  } finally {
    // No one waits for that, and of a file that was only read it cannot fail in a way that matters.
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
