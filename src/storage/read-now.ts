import { close, open, read } from 'node:fs'
import { promisify } from 'node:util'

// Uses descriptors, because a FileHandle can be closed only by another thread.

export const openNow = promisify(open)
const readFrom = promisify(read)

/**
 * Reads a small range synchronously and closes the file, which is faster than a stream. Ends early
 * if the file does.
 * @param more bytes to read as well if they exist
 */
export async function readNow(
  file: number,
  offset: number,
  count: number,
  more = 0,
): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(count + more)
  let size = 0
  try {
    for (let got = -1; got !== 0 && size < count; size += got)
      got = (await readFrom(file, bytes, size, bytes.length - size, offset + size)).bytesRead
  } finally {
    // Not awaited, because nothing depends on it. Asynchronous, because a network volume could
    // block this thread even here.
    close(file, () => {})
  }
  return bytes.subarray(0, size)
}
