import { InvalidInput } from '../runtime/errors.ts'
import { MAX_TAG_NAME } from './limits.ts'

/** Bytes of a key are bounded by the column that keeps it. */
const MAX_KEY = 255

/**
 * A name of a tag without regard to case and accents. Made here, because the engines disagree about both. Only the accents of European
 * scripts are left out: in others, marks are vowels, without which words are different ones.
 */
export const tagKey = (name: string): string =>
  name
    .trim()
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/gu, '')
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .replace(/[\u0300-\u036f]/gu, '')
    .normalize('NFC')
    // An accent that stood alone leaves a space, with which MariaDB would not tell the key from that without it.
    .trim()

/** Reads the name of a tag. @throws INVALID_INPUT */
export function parseTagName(text: string, field = 'name'): string {
  const name = text.normalize('NFC').trim().replace(/\s+/gu, ' ')
  const fits = name !== '' && [...name].length <= MAX_TAG_NAME && tagKey(name) !== '' && tagKey(name).length <= MAX_KEY
  // A comma separates tags where several are written in one text.
  if (!fits || /[\p{Cc}\p{Cs}\p{Bidi_Control},]/u.test(name))
    throw new InvalidInput(
      field,
      `The name of a tag has 1 to ${MAX_TAG_NAME} characters on one line, with at least one letter, digit or sign, and no comma.`,
    )
  return name
}
