/** Operations that are remembered at a time. A later one takes the place of an earlier one. */
const PLACES = 1024

/**
 * Tells a thread which of its operations are cancelled. The thread reads it between two steps,
 * because it receives no messages during an operation.
 */
export class Cancellations {
  readonly shared: SharedArrayBuffer
  readonly #numbers: Int32Array

  constructor(shared = new SharedArrayBuffer(PLACES * Int32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared
    this.#numbers = new Int32Array(shared)
  }

  cancel(number: number): void {
    Atomics.store(this.#numbers, number % PLACES, number + 1)
  }

  has(number: number): boolean {
    return Atomics.load(this.#numbers, number % PLACES) === number + 1
  }
}
