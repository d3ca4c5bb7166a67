/** What was made of texts. */
export interface TextCache<T> {
  get(text: string): T | undefined
  set(text: string, made: T): void
}

/**
 * Keeps what was made of the texts used last, up to a total length of these texts. A number of
 * entries would bound nothing where each may be as long as its sender likes.
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
      // A map keeps the order in which its keys came.
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
