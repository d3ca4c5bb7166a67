/** Few clients send most requests. */
const REMEMBERED = 1000

/**
 * Remembers what a function makes of the latest texts of clients.
 * @param longest of the texts that are remembered, in characters: callers choose what they send
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
