import { Readable } from 'node:stream'
import { Unavailable } from '../runtime/errors.ts'
import { leave } from '../runtime/interruptible.ts'
import type { Pace } from './time-limit.ts'

/**
 * Bytes that are read before the request is sent. They are kept for a retry until the kernel has
 * accepted them and can take more.
 */
const headSize = 256 * 1024
const pieceSize = 16 * 1024

/**
 * Collects bytes into few pieces. Clients may send single bytes, and each chunk has an overhead of
 * 400 bytes.
 */
class Gathered {
  readonly pieces: Uint8Array[] = []
  size = 0
  /** Memory whose beginning is the last piece, and which has room for more. */
  #memory: Buffer | undefined
  #used = 0

  add(chunk: Uint8Array): void {
    this.size += chunk.length
    if (chunk.length >= pieceSize) {
      this.#memory = undefined
      this.pieces.push(chunk)
      return
    }
    if (this.#memory && this.#used + chunk.length <= pieceSize) {
      this.pieces.pop()
    } else {
      this.#memory = Buffer.allocUnsafeSlow(pieceSize)
      this.#used = 0
    }
    this.#memory.set(chunk, this.#used)
    this.#used += chunk.length
    this.pieces.push(this.#memory.subarray(0, this.#used))
  }
}

/**
 * Forwards a source as it arrives, at the pace of the slower side. Rejects with the error of the
 * source or of `send`, and closes the source after its next chunk.
 * @param send makes the request. Its `open` returns the body again for each attempt, until more
 * than the head has been sent. Its `broken` fires when the body will not be completed.
 */
export async function relay(
  source: AsyncIterable<Uint8Array>,
  send: (open: (pace: Pace) => Readable, broken: AbortSignal) => Promise<void>,
): Promise<void> {
  const steps = source[Symbol.asyncIterator]()
  const head = new Gathered()
  const stop = new AbortController()
  /** Whether the source ended within the head. */
  let whole = false
  /** Whether more than the head has been sent. */
  let going = false
  let current: Readable | undefined

  const open = ({ pause, resume }: Pace): Readable => {
    if (going)
      throw new Unavailable(
        'blob store',
        new Error('The blob store ended the answer in the middle of a part.'),
      )
    let at = 0
    // Reads nothing ahead: it reads only when the connection can take more bytes.
    const reader = new Readable({
      highWaterMark: 0,
      read() {
        // The reader of an earlier attempt must not consume the bytes of this one.
        if (reader !== current) return
        const piece = head.pieces[at++]
        if (piece || whole) return void this.push(piece ?? null)
        going = true
        head.pieces.length = 0
        pause()
        steps.next().then(
          ({ done, value }) => {
            resume()
            this.push(done ? null : value)
          },
          error => stop.abort(error),
        )
      },
    })
    current = reader
    return reader
  }

  try {
    while (!whole && head.size < headSize) {
      const { done, value } = await steps.next()
      if (done) whole = true
      else head.add(value)
    }
    await send(open, stop.signal)
  } finally {
    current?.destroy()
    leave(steps)
  }
}
