/** The cache size: few clients send most requests. */
const REMEMBERED = 1000

/**
 * Caches a function's results for the latest client texts.
 * @param longest the maximum length of cached texts, because callers choose them
 */
export function remembered<T>(longest: number, make: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>()
  return text => {
    const old = known.get(text)
    if (old !== undefined) return old
    const made = make(text)
    if (known.size >= REMEMBERED) known.clear()
    if (text.length <= longest) known.set(text, made)
    return made
  }
}
