/** The longest name that the service takes, in bytes of UTF-8. */
const MAX_BYTES = 255

const encoder = new TextEncoder()
const sizeOf = (text: string) => encoder.encode(text).length

/** Another name for a file whose name is taken: copy 1 of `a.txt` is `a (1).txt`. Long names are shortened. */
export function copyName(name: string, copy: number): string {
  const dot = /(?:\.tar)?\.[^. ]+$/.exec(name)?.index ?? 0
  // A name that begins with its only dot has no extension.
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, '']
  const end = ` (${copy})${extension}`
  if (sizeOf(end) >= MAX_BYTES) return copyName([...name].slice(0, 60).join(''), copy)
  const letters = [...stem]
  while (sizeOf(letters.join('') + end) > MAX_BYTES) letters.pop()
  return letters.join('').trimEnd() + end
}
