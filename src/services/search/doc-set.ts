/** A set of content numbers of a drive, with one bit for each number. */
export class DocSet {
  readonly #bits: Uint32Array

  constructor(last: number) {
    this.#bits = new Uint32Array((last >>> 5) + 1)
  }

  add(doc: number): void {
    const at = doc >>> 5
    if (at < this.#bits.length) this.#bits[at] = (this.#bits[at] ?? 0) | (1 << (doc & 31))
  }

  has(doc: number): boolean {
    return ((this.#bits[doc >>> 5] ?? 0) & (1 << (doc & 31))) !== 0
  }

  join(others: DocSet): void {
    for (let i = 0; i < this.#bits.length; i++)
      this.#bits[i] = (this.#bits[i] ?? 0) | (others.#bits[i] ?? 0)
  }

  drop(others: DocSet): void {
    for (let i = 0; i < this.#bits.length; i++)
      this.#bits[i] = (this.#bits[i] ?? 0) & ~(others.#bits[i] ?? 0)
  }

  keep(others: DocSet): void {
    for (let i = 0; i < this.#bits.length; i++)
      this.#bits[i] = (this.#bits[i] ?? 0) & (others.#bits[i] ?? 0)
  }

  /** Yields the numbers below `before`, in descending order. */
  *downFrom(before: number): Generator<number> {
    for (let at = Math.min(this.#bits.length - 1, before >>> 5); at >= 0; at--) {
      if (this.#bits[at] === 0) continue
      for (let doc = at * 32 + 31; doc >= at * 32; doc--)
        if (doc < before && this.has(doc)) yield doc
    }
  }
}
