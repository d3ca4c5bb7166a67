import { WORD, wordsIn } from '../derive/words.ts'

export { type FoundWord, fold, wordsIn } from '../derive/words.ts'

/** The different words of a text. */
export const wordsOf = (text: string): Set<string> =>
  new Set(Array.from(wordsIn(text), ({ word }) => word))

/** Where one part of a name ends and the next begins, as in "InvoiceMarch2024". */
const SEAM = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/u

/** The words that a name is found by: those between spaces and signs, and the parts of them. */
export function wordsOfName(name: string): Set<string> {
  const words = wordsOf(name)
  // Composed first: a mark between two letters is no seam.
  for (const [raw] of name.normalize('NFC').matchAll(WORD)) {
    const parts = raw.split(SEAM)
    if (parts.length > 1)
      for (const part of parts) for (const word of wordsOf(part)) words.add(word)
  }
  return words
}

/** Whether some words have one, or one that begins with it. */
export function hasWord(words: ReadonlySet<string>, word: string, isPrefix: boolean): boolean {
  if (words.has(word)) return true
  if (!isPrefix) return false
  for (const other of words) if (other.startsWith(word)) return true
  return false
}
