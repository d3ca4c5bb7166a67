import { InvalidInput } from '../../runtime/errors.ts'
import { MAX_EMAIL } from '../../values/limits.ts'
import { canonicalEmail } from '../accounts/profile.ts'

/**
 * Parses the e-mail address of a recipient and normalizes it for comparisons. Does not check that
 * an account has it.
 * @throws INVALID_INPUT
 */
export function parseEmail(text: string, field: string): string {
  const email = canonicalEmail(text.trim())
  if (
    email.length > MAX_EMAIL ||
    !/^[^\s@\p{Cc}\p{Cf}\p{Cs}<>,;:"()[\]\\]+@[^\s@\p{Cc}\p{Cf}\p{Cs}<>,;:"()[\]\\]+$/u.test(email)
  )
    throw new InvalidInput(field, 'This is not an e-mail address.')
  return email
}
