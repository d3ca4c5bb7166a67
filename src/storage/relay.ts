import { Readable } from 'node:stream'
import { Unavailable } from '../errors.ts'
import { leave } from './blocks.ts'
import type { Pace } from './request.ts'

/** So much is read before anything is sent, and kept to begin anew with, until the kernel has taken it and asks for more. */
const headSize = 256 * 1024
const pieceSize = 16 * 1024

/** Bytes in few pieces: clients may send them one by one, and each chunk takes 400 bytes beside its own. */
class Gathered {
  readonly pieces: Uint8Array[] = []
  size = 0
  /** What the last piece is the beginning of, where others may follow in the same memory. */
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
 * Sends a source on while it comes, at the pace of the slower side.
 * Rejects with what the source or `send` threw; then the source is left as soon as it gives its next bytes.
 * @param send makes the request. Its `open` gives the body anew for each try until more than the beginning has gone; its `broken` fires
 * when no more of the body will come.
 */
export async function relay(
  source: AsyncIterable<Uint8Array>,
  send: (open: (pace: Pace) => Readable, broken: AbortSignal) => Promise<void>,
): Promise<void> {
  const steps = source[Symbol.asyncIterator]()
  const head = new Gathered()
  const stop = new AbortController()
  /** Whether the head is all. */
  let whole = false
  /** Whether more than the head has gone. */
  let going = false
  let current: Readable | undefined

  const open = ({ pause, resume }: Pace): Readable => {
    if (going) throw new Unavailable('blob store', new Error('The blob store broke off in the middle of a part.'))
    let at = 0
    // Nothing is read ahead: what has been read has been asked for by a connection that has room.
    const reader = new Readable({
      highWaterMark: 0,
      read() {
        // The reader of an earlier try must not take away what is for this one.
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
