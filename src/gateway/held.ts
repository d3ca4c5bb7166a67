/** What may be held under a key at most. */
export type Bound = readonly [key: string, max: number]

/** Counts what is held under keys, such as connections of an address or bytes of a caller, each within a bound. */
export class Held {
  readonly #amounts = new Map<string, number>()

  /** Holds an amount under each key, or under none if that passed a bound. Answers how to give it back, once. */
  take(amount: number, bounds: readonly Bound[]): (() => void) | undefined {
    for (const [key, max] of bounds) if (this.of(key) + amount > max) return undefined
    for (const [key] of bounds) this.#amounts.set(key, this.of(key) + amount)
    let given = false
    return () => {
      if (given) return
      given = true
      for (const [key] of bounds) {
        const left = this.of(key) - amount
        if (left > 0) this.#amounts.set(key, left)
        else this.#amounts.delete(key)
      }
    }
  }

  of(key: string): number {
    return this.#amounts.get(key) ?? 0
  }

  /** How many keys hold something. */
  get size(): number {
    return this.#amounts.size
  }
}
