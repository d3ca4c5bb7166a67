import { invitable } from '../../access/roles.ts'
import { InvalidInput } from '../../runtime/errors.ts'
import { parseEmail } from '../notices/email.ts'
import { parseMessage } from '../notices/mail-message.ts'

export interface OfferInput {
  email: string
  role: string
  /** A personal message for the mail. It is not stored. */
  message?: string | null | undefined
}

/**
 * Validates the recipient, the role and the mail message of an invite.
 * @throws INVALID_INPUT
 */
export function offerOf(input: OfferInput) {
  const email = parseEmail(input.email, 'email')
  const role = invitable.find(r => r === input.role)
  if (!role)
    throw new InvalidInput(
      'role',
      `An invite must offer one of these roles: ${invitable.join(', ')}.`,
    )
  return { email, role, message: parseMessage(input.message ?? '') }
}
