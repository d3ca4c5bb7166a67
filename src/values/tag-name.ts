import { InvalidInput } from '../runtime/errors.ts'
import { MAX_TAG_NAME } from './limits.ts'
import { tagKey } from './tag-key.ts'

/** The database column limits the bytes of a key. */
const MAX_KEY = 255

/**
 * Parses a tag name.
 * @throws INVALID_INPUT
 */
export function parseTagName(text: string, field = 'name'): string {
  const name = text.normalize('NFC').trim().replace(/\s+/gu, ' ')
  const fits =
    name !== '' &&
    [...name].length <= MAX_TAG_NAME &&
    tagKey(name) !== '' &&
    tagKey(name).length <= MAX_KEY
  // A comma separates tags in a list.
  if (!fits || /[\p{Cc}\p{Cs}\p{Bidi_Control},]/u.test(name))
    throw new InvalidInput(
      field,
      `The name of a tag has 1 to ${MAX_TAG_NAME} characters on one line, with at least one letter, digit or sign, and no comma.`,
    )
  return name
}
