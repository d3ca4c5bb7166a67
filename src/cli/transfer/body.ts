import type { Progress } from '../progress.ts'
import type { Watchdog } from './watchdog.ts'

type Pieces = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/** Observes the chunks of a body. `sent` counts the bytes of this attempt, so that progress can be reverted. */
export interface Observer {
  progress: Progress
  watchdog: Watchdog
  sent: number
}

/** The same chunks; notifies `observer` when the network has accepted each. */
export async function* observed(pieces: Pieces, observer: Observer): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    yield piece
    // The consumer has accepted a chunk when it requests the next one.
    observer.watchdog.touch()
    observer.sent += piece.length
    observer.progress.move(piece.length)
  }
  observer.watchdog.waitForAnswer()
}

/** The same pieces between a head and a tail. */
export async function* framed(head: Uint8Array, pieces: Pieces, tail: Uint8Array): AsyncGenerator<Uint8Array> {
  yield head
  yield* pieces
  yield tail
}

/** Splits bytes into chunks, for the progress bar. */
export function* slices(bytes: Uint8Array, size = 256 * 1024): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
