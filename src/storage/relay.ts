import { Readable } from 'node:stream'
import { Unavailable } from '../errors.ts'
import { interruptible } from './blocks.ts'
import type { Pace } from './request.ts'

/** So much is read before anything is sent, and kept to begin anew with. More goes only to a store that has taken this. */
const headSize = 256 * 1024

/**
 * Sends a source on while it comes, at the pace of the slower side.
 * Rejects with what the source or `send` threw, or with the reason of `signal`; then the source has been left.
 * @param send makes the request. Its `open` gives the body anew for each try until more than the beginning has gone; its `broken` fires
 * when no more of the body will come.
 */
export async function relay(
  source: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
  send: (open: (pace: Pace) => Readable, broken: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController()
  const onAbort = () => stop.abort(signal?.reason)
  if (signal?.aborted) onAbort()
  signal?.addEventListener('abort', onAbort)
  const steps = interruptible(source, stop.signal)[Symbol.asyncIterator]()
  const head: Uint8Array[] = []
  const readers = new Set<Readable>()
  /** Whether the head is all. */
  let whole = false
  /** Whether more than the head has gone. */
  let going = false

  const open = ({ pause, resume }: Pace): Readable => {
    if (going) throw new Unavailable('blob store', new Error('The blob store broke off in the middle of a part.'))
    let at = 0
    // Nothing is read ahead: what has been read has been asked for by a connection that has room.
    const reader = new Readable({
      highWaterMark: 0,
      read() {
        const kept = head[at++]
        if (kept || whole) return void this.push(kept ?? null)
        going = true
        head.length = 0
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
    readers.add(reader)
    return reader
  }

  try {
    let size = 0
    while (!whole && size < headSize) {
      const { done, value } = await steps.next()
      if (done) {
        whole = true
      } else {
        head.push(value)
        size += value.length
      }
    }
    await send(open, stop.signal)
  } finally {
    signal?.removeEventListener('abort', onAbort)
    for (const reader of readers) reader.destroy()
    steps.return?.()
  }
}
