import type { Db, Tx } from '../../db/index.ts'
import type { SignUp } from '../settings.ts'
import { type Profile, SignInRefused } from './profile.ts'
import { SENDER, SENDER_MAY } from './right.ts'

/** @throws SignInRefused `sign_up_closed` */
export async function requireAdmitted(db: Db, signUp: SignUp, profile: Profile, tx: Tx): Promise<void> {
  if (!(await isAdmitted(db, signUp, profile, tx)))
    throw new SignInRefused('sign_up_closed', 'The setting SIGN_UP does not allow this person to create an account.')
}

async function isAdmitted(db: Db, signUp: SignUp, { verifiedEmail, claims }: Profile, tx: Tx): Promise<boolean> {
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
      return verifiedEmail !== null && (await isExpected(db, verifiedEmail, tx))
  }
}

/** Whether an invite to this address is pending, or a file is shared with it. */
async function isExpected(db: Db, verifiedEmail: string, tx: Tx): Promise<boolean> {
  const now = Date.now()
  const [invite] = await db.rows(
    `SELECT i.id FROM invite i ${SENDER} WHERE i.email = ? AND i.expires_at > ? AND ${SENDER_MAY} LIMIT 1`,
    [verifiedEmail, now],
    tx,
  )
  if (invite) return true
  const [share] = await db.rows(
    `SELECT s.id FROM share s JOIN user u ON u.id = s.user_id
     WHERE s.recipient = ? AND s.expires_at > ? AND u.status = 'active' LIMIT 1`,
    [verifiedEmail, now],
    tx,
  )
  return share !== undefined
}
