import { stemmer as english } from '@orama/stemmers/english'
import { stemmer as german } from '@orama/stemmers/german'

/** The other forms of a word, among those that begin alike. */
export interface Forms {
  /** What all of them begin with. */
  beginning: string
  isForm(other: string): boolean
}

const STEMMED = /^[a-z]{4,40}$/
/** Shorter beginnings are those of too many words. */
const SHORTEST = 3
/** Stems differ from the words here: party, parties; hope, hoping. */
const END = /[eiy]$/

function shared(a: string, b: string): string {
  let same = 0
  while (same < a.length && a[same] === b[same]) same += 1
  return a.slice(0, same)
}

/**
 * The forms that a word has in English and in German, by the stemmers of the Snowball project; null
 * where there are none.
 * @param word folded, in which state German words have no umlauts
 */
export function formsOf(word: string): Forms | null {
  if (!STEMMED.test(word)) return null
  const stems = [english(word), german(word)]
  const beginning = stems.map(stem => stem.replace(END, '')).reduce(shared, word)
  if (beginning.length < SHORTEST) return null
  return {
    beginning,
    isForm: other =>
      STEMMED.test(other) && (english(other) === stems[0] || german(other) === stems[1]),
  }
}
