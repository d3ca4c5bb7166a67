/** The longest name that the service takes, in bytes of UTF-8. */
const MAX_BYTES = 255

const encoder = new TextEncoder()
const sizeOf = (text: string) => encoder.encode(text).length

/**
 * What follows the last dot of a name is its ending, unless it is longer or has a space. A name
 * that begins with its only dot has none.
 */
const ending = /(?<=.)(?:\.tar)?\.[^. ]{1,15}$/

/**
 * The name for the n-th of those that have one name: the second `a.txt` is `a (2).txt`. Long names
 * are shortened.
 */
export function copyName(name: string, n: number | string): string {
  const at = ending.exec(name)?.index ?? name.length
  const end = ` (${n})${name.slice(at)}`
  const letters = [...name.slice(0, at)]
  while (sizeOf(letters.join('') + end) > MAX_BYTES) letters.pop()
  return letters.join('').trimEnd() + end
}
