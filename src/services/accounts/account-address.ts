import type { Db, Tx } from '../../../db/index.ts'
import type { KnownIdentity } from '../../../db/queries/identity.ts'
import { lockUserWithAddress } from '../../../db/queries/user.ts'
import { enqueue } from '../job.ts'
import { mailJob } from '../notices/mail.ts'
import { exchange } from './account-kept.ts'
import { canonicalEmail, type Profile } from './profile.ts'

/**
 * Updates the e-mail address of an account when the identity provider that confirmed it reports
 * another one, because shares and invites go to the currently verified address. Another identity
 * changes it only if the account has no verified address.
 * @returns whether a mail to the former address was queued
 */
export async function followAddress(
  db: Db,
  account: KnownIdentity,
  profile: Profile,
  rules: { linkByEmail: boolean },
  tx: Tx,
): Promise<boolean> {
  const { userId, verifiedEmail: former } = account
  if (former === null && profile.verifiedEmail !== null) {
    if (await adoptAddress(db, userId, profile, rules, tx)) return false
  }
  const old = canonicalEmail(account.oldEmail)
  const isSource =
    former === null
      ? old === canonicalEmail(account.email)
      : Boolean(account.oldVerified) && old === former
  if (!isSource) return false
  const verified =
    profile.verifiedEmail !== null && (await isFree(db, userId, profile.verifiedEmail, tx))
      ? profile.verifiedEmail
      : null
  if (verified === former && profile.email === account.email) return false
  await db.User.update(
    { email: profile.email, verifiedEmail: verified },
    { where: { id: userId }, transaction: tx },
  )
  if (former === null || former === canonicalEmail(profile.email)) return false
  await enqueue(
    db,
    mailJob,
    { template: 'address-changed', to: former, values: { provider: profile.provider } },
    tx,
  )
  return true
}

/**
 * Gives an account without a verified e-mail address the address of the identity, unless another
 * account has it.
 * @returns whether the account got it
 */
export async function adoptAddress(
  db: Db,
  userId: string,
  profile: Profile,
  rules: { linkByEmail: boolean },
  tx: Tx,
): Promise<boolean> {
  if (profile.verifiedEmail === null || !(await isFree(db, userId, profile.verifiedEmail, tx)))
    return false
  const { email, verifiedEmail } = profile
  const where = { id: userId, verifiedEmail: null }
  const [adopted] = await db.User.update({ email, verifiedEmail }, { where, transaction: tx })
  if (adopted === 1) await exchange(db, userId, profile, rules, tx)
  return adopted === 1
}

async function isFree(db: Db, userId: string, verifiedEmail: string, tx: Tx): Promise<boolean> {
  const holder = await lockUserWithAddress(db, verifiedEmail, tx)
  return !holder || holder.id === userId
}
