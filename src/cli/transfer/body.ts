import type { Progress } from '../progress.ts'
import type { Watchdog } from './watchdog.ts'

type Pieces = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/** Whoever is told how the pieces go. `sent` is what this attempt has sent, so that it can be taken back. */
export interface Observer {
  progress: Progress
  watchdog: Watchdog
  sent: number
}

/** The same pieces; `observer` is told when the network has taken them. */
export async function* observed(pieces: Pieces, observer: Observer): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    yield piece
    // Whoever asks for more has taken it.
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

/** Bytes in pieces that a bar can follow. */
export function* slices(bytes: Uint8Array, size = 256 * 1024): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
