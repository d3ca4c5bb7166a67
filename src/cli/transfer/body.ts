type Pieces = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/**
 * Passes chunks through, and calls `accept` with the size of each chunk that the network has
 * accepted.
 */
export async function* observed(
  pieces: Pieces,
  accept: (count: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    yield piece
    // The consumer has accepted a chunk when it requests the next one.
    accept(piece.length)
  }
}

/** Passes chunks through, between a head and a tail. */
export async function* framed(
  head: Uint8Array,
  pieces: Pieces,
  tail: Uint8Array,
): AsyncGenerator<Uint8Array> {
  yield head
  yield* pieces
  yield tail
}

/** Splits bytes into chunks, for the progress bar. */
export function* slices(bytes: Uint8Array, size = 256 * 1024): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
