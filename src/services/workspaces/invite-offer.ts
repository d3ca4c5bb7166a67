import { invitable } from '../../access/roles.ts'
import { InvalidInput } from '../../runtime/errors.ts'
import { parseEmail } from '../notices/email.ts'

export interface OfferInput {
  email: string
  role: string
}

/** To whom an invite is made out, and the role that it offers. @throws INVALID_INPUT */
export function offerOf(input: OfferInput) {
  const email = parseEmail(input.email, 'email')
  const role = invitable.find(r => r === input.role)
  if (!role) throw new InvalidInput('role', `An invite offers one of ${invitable.join(', ')}.`)
  return { email, role }
}
