import { plain } from './text.ts'

/** A longer list would fill the screen. */
const MAX_NAMED = 3

/** Explains how to restore the paths from the trash; empty if there are none. */
export function wayBack(paths: string[]): string {
  if (paths.length === 0) return ''
  const pronoun = paths.length === 1 ? 'it' : 'them'
  const named = paths.length > MAX_NAMED ? '<path>...' : plain(paths.map(quoted).join(' '))
  return `Moved to the trash. Restore ${pronoun} with: satchel trash restore ${named}`
}

/** Quotes a word for a shell. */
const quoted = (word: string): string =>
  /^[\p{L}\p{N}\p{M}_./:@%+=,-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
