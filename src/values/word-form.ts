import { stemmer as english } from '@orama/stemmers/english'
import { stemmer as german } from '@orama/stemmers/german'

const STEMMED = /^[a-z]{4,40}$/

/** Texts share most of their words. Those used lately are kept, up to twice as many. */
const REMEMBERED = 30_000
let known = new Map<string, readonly string[]>()
let older = known

function stems(word: string): readonly string[] {
  const old = known.get(word)
  if (old) return old
  const made = older.get(word) ?? [...new Set([english(word), german(word)])]
  if (known.size >= REMEMBERED) {
    older = known
    known = new Map()
  }
  known.set(word, made)
  return made
}

/**
 * The stems of a word in English and in German, by the stemmers of the Snowball project. Words with
 * a stem in common are forms of the same word.
 * @param word folded, in which state German words have no umlauts
 */
export const stemsOf = (word: string): readonly string[] => (STEMMED.test(word) ? stems(word) : [])

/** Whether two words are forms of the same word. */
export function areForms(a: string, b: string): boolean {
  const ofB = stemsOf(b)
  return stemsOf(a).some(stem => ofB.includes(stem))
}
