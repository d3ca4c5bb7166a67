import { InvalidInput } from '../errors.ts'
import { canonicalEmail } from './profile.ts'

/**
 * An address that something is made out to, in the form in which addresses are compared. Whether it exists shows when somebody signs in with it.
 * @throws INVALID_INPUT
 */
export function parseEmail(text: string, field: string): string {
  const email = canonicalEmail(text.trim())
  if (
    email.length > 320 ||
    !/^[^\s@\p{Cc}\p{Cf}\p{Cs}<>,;:"()[\]\\]+@[^\s@\p{Cc}\p{Cf}\p{Cs}<>,;:"()[\]\\]+$/u.test(email)
  )
    throw new InvalidInput(field, 'This is not an e-mail address.')
  return email
}
