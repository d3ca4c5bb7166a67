/** Characters of a text that are kept: the first ones of a longer one. */
export const MOST_CHARACTERS = 1024 * 1024

/** Collects a text up to a bound. */
export class BoundedText {
  #parts: string[] = []
  #length = 0

  /** Whether nothing more is taken. */
  get isFull(): boolean {
    return this.#length >= MOST_CHARACTERS
  }

  add(part: string): void {
    if (this.isFull || part === '') return
    const some = part.slice(0, MOST_CHARACTERS - this.#length)
    this.#parts.push(some)
    this.#length += some.length
  }

  toString(): string {
    return this.#parts.join('')
  }
}
