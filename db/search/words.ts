import { brotliDecompressSync } from 'node:zlib'
import { UNSPACED } from '../../src/derive/words.ts'
import { MOST_CHARACTERS } from '../../src/documents/bounded-text.ts'
import { type Words, wordsOf, wordsOfName } from '../../src/values/search-words.ts'
import { stemsOf } from '../../src/values/word-form.ts'
import type { WordTable } from './tables.ts'

/** The UTF-8 size limit of a text, in bytes. */
const MOST_BYTES = 3 * MOST_CHARACTERS
/**
 * Only the first words of a note are indexed, because they are indexed for every copy of the file.
 */
const NOTE_WORDS = 500
/** Letters of a part of a word that can be found. */
const GRAM = 3

/** An entry to index. */
export interface Doc {
  id: string
  name: string
  fileClass: string | null
  note: string | null
  /** The text of its content, with its key. */
  text: { key: string; body: Uint8Array } | null
}

/**
 * The beginning of the key of a text, by which an indexed text is compared with the current one.
 */
export const textMark = (key: string): Buffer => Buffer.from(key.slice(0, 16), 'hex')

/** The words that tell the class of a file and the number of words of a name. */
export const classMark = (fileClass: string): string => `c${fileClass}`
export const countMark = (words: number): string => `n${words}`

/** The parts of three letters of a word. */
export function gramsOf(word: string): string[] {
  if (UNSPACED.test(word)) return []
  const letters = [...word]
  return Array.from({ length: Math.max(0, letters.length - GRAM + 1) }, (_, i) =>
    letters.slice(i, i + GRAM).join(''),
  )
}

const written = (words: Iterable<string>): string => [...words].join(' ')

function textOf(body: Uint8Array): string {
  try {
    return brotliDecompressSync(body, { maxOutputLength: MOST_BYTES }).toString()
  } catch {
    // A search or a deletion does not fail because of it.
    return ''
  }
}

function stemsIn({ sequence, others }: Words): Set<string> {
  const stems = new Set<string>()
  const words = new Set(sequence)
  for (const word of words)
    for (const stem of stemsOf(word)) if (!words.has(stem) && !others.has(stem)) stems.add(stem)
  return stems
}

/** The first words of a note. */
function wordsOfNote(note: string): string[] {
  const { sequence, others } = wordsOf(note)
  const distinct = new Set<string>()
  const first: string[] = []
  for (const word of sequence) {
    if (distinct.size === NOTE_WORDS && !distinct.has(word)) break
    distinct.add(word)
    first.push(word)
  }
  return [...first, ...others]
}

/** The columns of an entry in the tables of words, in their order. */
export function columnsOf({
  name,
  fileClass,
  note,
  text,
}: Doc): Partial<Record<WordTable, string[]>> {
  const { sequence, others } = wordsOfName(name)
  const marks = [...(fileClass ? [classMark(fileClass)] : []), countMark(sequence.length)]
  // What a word begins with is found by the word.
  const grams = new Set([...sequence].flatMap(word => gramsOf(word).slice(1)))
  const found: Partial<Record<WordTable, string[]>> = {
    name: [written(sequence), written(others), written(marks), sequence[0] ?? ''],
  }
  if (grams.size > 0) found.gram = [written(grams)]
  if (text || note !== null) {
    const words = wordsOf(text ? textOf(text.body) : '')
    found.body = [
      written(words.sequence),
      note === null ? '' : written(wordsOfNote(note)),
      written([...sequence, ...others]),
      written(words.others),
      written(stemsIn(words)),
    ]
  }
  return found
}
