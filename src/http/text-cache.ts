/** A cache of values derived from texts. */
export interface TextCache<T> {
  get(text: string): T | undefined
  set(text: string, made: T): void
}

/**
 * An LRU cache, bounded by the total length of its source texts. A number of entries would be no
 * bound, because senders choose the length of each text.
 * @param capacity in characters
 */
export function createTextCache<T>(capacity: number): TextCache<T> {
  const entries = new Map<string, T>()
  let length = 0

  const drop = (text: string) => {
    if (entries.delete(text)) length -= text.length
  }

  return {
    get(text) {
      const made = entries.get(text)
      if (made === undefined) return undefined
      // A map keeps its insertion order.
      entries.delete(text)
      entries.set(text, made)
      return made
    },
    set(text, made) {
      drop(text)
      entries.set(text, made)
      length += text.length
      for (const oldest of entries.keys()) {
        if (length <= capacity) return
        drop(oldest)
      }
    },
  }
}
