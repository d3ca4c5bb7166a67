/** Maximum length of a name on the service, in bytes of UTF-8. */
const MAX_BYTES = 255

const encoder = new TextEncoder()
const sizeOf = (text: string) => encoder.encode(text).length

/**
 * The extension: the text after the last dot, unless it is too long or contains a space. A name
 * whose only dot is at the start has none.
 */
const ending = /(?<=.)(?:\.tar)?\.[^. ]{1,15}$/

/**
 * The name of the n-th file with the same name: the second `a.txt` becomes `a (2).txt`. Long names
 * are shortened.
 */
export function copyName(name: string, n: number | string): string {
  const at = ending.exec(name)?.index ?? name.length
  const end = ` (${n})${name.slice(at)}`
  const letters = [...name.slice(0, at)]
  while (sizeOf(letters.join('') + end) > MAX_BYTES) letters.pop()
  return letters.join('').trimEnd() + end
}
