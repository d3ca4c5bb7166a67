import { plain } from './text.ts'

/** More would fill a screen. */
const MAX_NAMED = 3

/** How to restore what is in the trash; empty if that is nothing. */
export function wayBack(paths: string[]): string {
  if (paths.length === 0) return ''
  const pronoun = paths.length === 1 ? 'it' : 'them'
  const named = paths.length > MAX_NAMED ? '<path>...' : plain(paths.map(quoted).join(' '))
  return `Moved to the trash. Restore ${pronoun} with: satchel trash restore ${named}`
}

/** A word for a shell. */
const quoted = (word: string): string =>
  /^[\p{L}\p{N}\p{M}_./:@%+=,-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
