import { type FoundWord, joinedWords, WORD, wordsIn } from '../derive/words.ts'

export { type FoundWord, fold, joinedWords, wordsIn } from '../derive/words.ts'

/** The words of a text. */
export interface Words {
  /** In their order. */
  sequence: readonly string[]
  /** Other spellings of words, and parts of the words of a name. */
  others: ReadonlySet<string>
}

/** A boundary within a name, as in "InvoiceMarch2024". */
const SEAM = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/u

function added(words: Iterable<FoundWord>, sequence: string[], others: Set<string>): void {
  for (const { word, isOther } of words)
    if (isOther) others.add(word)
    else sequence.push(word)
}

/** The searchable words of a text. */
export function wordsOf(text: string): Words {
  const sequence: string[] = []
  const others = new Set<string>()
  added(wordsIn(text), sequence, others)
  added(joinedWords(text), sequence, others)
  return { sequence, others }
}

/** The searchable words of a name: those between spaces and punctuation, and their parts. */
export function wordsOfName(name: string): Words {
  const { sequence, others } = wordsOf(name)
  const all = new Set(others)
  // Composed first, because a combining mark between two letters is no boundary.
  for (const [raw] of name.normalize('NFC').matchAll(WORD)) {
    const parts = raw.split(SEAM)
    if (parts.length > 1)
      for (const part of parts) for (const { word } of wordsIn(part)) all.add(word)
  }
  for (const word of sequence) all.delete(word)
  return { sequence, others: all }
}
