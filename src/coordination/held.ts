/** The maximum amount under a key. */
export type Bound = readonly [key: string, max: number]

/**
 * Counts resources by key, such as connections of an IP address or bytes of a caller, each within a
 * limit.
 */
export class Held {
  readonly #amounts = new Map<string, number>()

  /**
   * Acquires an amount under every key, or under none if a limit would be exceeded. @returns an
   * idempotent release, or undefined
   */
  acquire(amount: number, bounds: readonly Bound[]): (() => void) | undefined {
    for (const [key, max] of bounds) if (this.of(key) + amount > max) return undefined
    for (const [key] of bounds) this.#amounts.set(key, this.of(key) + amount)
    let released = false
    return () => {
      if (released) return
      released = true
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

  /** The number of keys with an amount. */
  get size(): number {
    return this.#amounts.size
  }
}
