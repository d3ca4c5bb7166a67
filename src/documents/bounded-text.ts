/** The maximum length of a stored text. Longer texts are truncated. */
export const MOST_CHARACTERS = 1024 * 1024

/** Collects a text up to a limit. */
export class BoundedText {
  #parts: string[] = []
  #length = 0

  /** Whether the limit is reached. */
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
