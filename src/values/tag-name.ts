import { InvalidInput } from '../runtime/errors.ts'
import { MAX_TAG_NAME } from './limits.ts'
import { tagKey } from './tag-key.ts'

/** Bytes of a key are bounded by the column that keeps it. */
const MAX_KEY = 255

/** Reads the name of a tag. @throws INVALID_INPUT */
export function parseTagName(text: string, field = 'name'): string {
  const name = text.normalize('NFC').trim().replace(/\s+/gu, ' ')
  const fits =
    name !== '' &&
    [...name].length <= MAX_TAG_NAME &&
    tagKey(name) !== '' &&
    tagKey(name).length <= MAX_KEY
  // A comma separates tags where several are written in one text.
  if (!fits || /[\p{Cc}\p{Cs}\p{Bidi_Control},]/u.test(name))
    throw new InvalidInput(
      field,
      `The name of a tag has 1 to ${MAX_TAG_NAME} characters on one line, with at least one letter, digit or sign, and no comma.`,
    )
  return name
}
