import type { Db, Tx } from '../../db/index.ts'
import { exchange } from './account-kept.ts'
import { enqueue } from './outbox.ts'
import { canonicalEmail, type Profile } from './profile.ts'

/** An account's address, and what the identity that has signed in said of its own before. */
interface Account {
  userId: string
  email: string
  verifiedEmail: string | null
  toldEmail: string
  toldVerified: boolean | number
}

/**
 * Brings the address of an account to what the provider that it comes from says now: shares and invites are received by
 * what is verified at this moment. Another identity leaves it alone, unless the account has no verified address.
 * Says whether a mail to the former address was queued.
 */
export async function followAddress(
  db: Db,
  account: Account,
  profile: Profile,
  rules: { linkByEmail: boolean },
  tx: Tx,
): Promise<boolean> {
  const { userId, verifiedEmail: former } = account
  if (former === null && profile.verifiedEmail !== null) {
    if (await adoptAddress(db, userId, profile, rules, tx)) return false
  }
  const told = canonicalEmail(account.toldEmail)
  const isSource =
    former === null ? told === canonicalEmail(account.email) : Boolean(account.toldVerified) && told === former
  if (!isSource) return false
  const verified =
    profile.verifiedEmail !== null && (await isFree(db, userId, profile, tx)) ? profile.verifiedEmail : null
  if (verified === former && profile.email === account.email) return false
  await db.run('UPDATE user SET email = ?, verified_email = ? WHERE id = ?', [profile.email, verified, userId], tx)
  if (former === null || former === canonicalEmail(profile.email)) return false
  await enqueue(db, 'mail', { template: 'address-changed', to: former, values: { provider: profile.provider } }, tx)
  return true
}

/** Gives an account without a verified address that of the identity, unless another account has it. Says whether it did. */
export async function adoptAddress(
  db: Db,
  userId: string,
  profile: Profile,
  rules: { linkByEmail: boolean },
  tx: Tx,
): Promise<boolean> {
  if (profile.verifiedEmail === null || !(await isFree(db, userId, profile, tx))) return false
  const adopted = await db.run(
    'UPDATE user SET email = ?, verified_email = ? WHERE id = ? AND verified_email IS NULL',
    [profile.email, profile.verifiedEmail, userId],
    tx,
  )
  if (adopted === 1) await exchange(db, userId, profile, rules, tx)
  return adopted === 1
}

async function isFree(db: Db, userId: string, { verifiedEmail }: Profile, tx: Tx): Promise<boolean> {
  const sql = `SELECT id FROM user WHERE verified_email = ?${db.forUpdate}`
  const [holder] = await db.rows<{ id: string }>(sql, [verifiedEmail], tx)
  return !holder || holder.id === userId
}
