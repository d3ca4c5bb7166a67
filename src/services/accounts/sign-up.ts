import type { Db, Tx } from '../../../db/index.ts'
import { isInvited } from '../../../db/queries/invite.ts'
import { isRecipient } from '../../../db/queries/share.ts'
import type { SignUp } from '../../config/sign-up-rule.ts'
import { type Profile, SignInRefused } from './profile.ts'

/** @throws SignInRefused `sign_up_closed` */
export async function requireAdmitted(
  db: Db,
  signUp: SignUp,
  profile: Profile,
  tx: Tx,
): Promise<void> {
  if (!(await isAdmitted(db, signUp, profile, tx)))
    throw new SignInRefused(
      'sign_up_closed',
      'The setting SIGN_UP does not allow this person to create an account.',
    )
}

export async function isAdmitted(
  db: Db,
  signUp: SignUp,
  { verifiedEmail, claims }: Profile,
  tx: Tx,
): Promise<boolean> {
  switch (signUp.rule) {
    case 'open':
      return true
    case 'closed':
      return false
    case 'domains':
      return signUp.domains.includes(verifiedEmail?.slice(verifiedEmail.lastIndexOf('@') + 1) ?? '')
    case 'claim':
      return (claims?.[signUp.claim] ?? []).some(value => signUp.values.includes(value))
    case 'invited':
      return (
        verifiedEmail !== null &&
        ((await isInvited(db, verifiedEmail, tx)) || isRecipient(db, verifiedEmail, tx))
      )
  }
}
