/*
 * Messages between the service and its processes: the length of a JSON text in four bytes, the text, then the bytes that it announces.
 * Plain data with a bound on its length: a process that a file has taken over can send nothing else.
 */

const HEAD = 4

/** Encodes a message: a JSON text and its binary data. */
export function frame(head: unknown, bytes: Uint8Array[] = []): Uint8Array[] {
  const text = Buffer.from(JSON.stringify(head))
  const length = Buffer.alloc(HEAD)
  length.writeUInt32LE(text.length)
  return [length, text, ...bytes]
}

/** Allowance for a message's head beyond its data limit, in characters. */
const HEAD_MARGIN = 64 * 1024

/** The message is malformed or exceeds its limit. */
export class BadFrame extends Error {}

/**
 * Reads messages in sequence.
 * @param sizesOf returns the lengths of the binary data that a head announces
 */
export function frameReader<Head>(sizesOf: (head: Head) => number[]) {
  let chunks: Buffer[] = []
  let length = 0
  let head: { value: Head; sizes: number[]; end: number } | undefined
  let start = 0

  const joined = () => {
    const [only] = chunks
    const all = chunks.length === 1 && only ? only : Buffer.concat(chunks)
    chunks = [all]
    return all
  }

  return {
    /**
     * @param bound the maximum size of the message in bytes
     * @returns the message, once it is complete
     * @throws BadFrame
     */
    add(chunk: Buffer, bound: number): { head: Head; bytes: Buffer[] } | undefined {
      chunks.push(chunk)
      length += chunk.length
      if (length > bound + HEAD_MARGIN) throw new BadFrame('the answer is too long')
      if (!head) {
        if (length < HEAD) return undefined
        const end = HEAD + joined().readUInt32LE(0)
        if (end > bound + HEAD_MARGIN) throw new BadFrame('the answer is too long')
        if (length < end) return undefined
        const value = readHead<Head>(joined().subarray(HEAD, end))
        const sizes = sizesOf(value)
        head = { value, sizes, end: end + sizes.reduce((sum, size) => sum + size, 0) }
        start = end
        if (
          !Number.isSafeInteger(head.end) ||
          sizes.some(size => size < 0) ||
          head.end > bound + HEAD_MARGIN
        )
          throw new BadFrame('the answer is too long')
      }
      if (length < head.end) return undefined
      const all = joined()
      const { value, sizes, end } = head
      const bytes = sizes.map(size => {
        const part = all.subarray(start, start + size)
        start += size
        return part
      })
      chunks = end < length ? [all.subarray(end)] : []
      length -= end
      head = undefined
      return { head: value, bytes }
    },
  }
}

function readHead<Head>(text: Buffer): Head {
  try {
    return JSON.parse(text.toString())
  } catch {
    throw new BadFrame('the answer is no JSON')
  }
}
