import { WORD, wordsIn } from '../derive/words.ts'

export { type FoundWord, fold, wordsIn } from '../derive/words.ts'

/** The distinct words of a text. */
export const wordsOf = (text: string): Set<string> =>
  new Set(Array.from(wordsIn(text), ({ word }) => word))

/** A boundary within a name, as in "InvoiceMarch2024". */
const SEAM = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/u

/** The searchable words of a name: those between spaces and punctuation, and their parts. */
export function wordsOfName(name: string): Set<string> {
  const words = wordsOf(name)
  // Composed first, because a combining mark between two letters is no boundary.
  for (const [raw] of name.normalize('NFC').matchAll(WORD)) {
    const parts = raw.split(SEAM)
    if (parts.length > 1)
      for (const part of parts) for (const word of wordsOf(part)) words.add(word)
  }
  return words
}

/** Whether the words contain this word, or one with this prefix. */
export function hasWord(words: ReadonlySet<string>, word: string, isPrefix: boolean): boolean {
  if (words.has(word)) return true
  if (!isPrefix) return false
  for (const other of words) if (other.startsWith(word)) return true
  return false
}
