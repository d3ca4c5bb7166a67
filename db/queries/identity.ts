import type { Db, Tx } from '../index.ts'
import type { Identity } from '../models/identity.ts'
import type { User } from '../models/user.ts'

/** A stored identity before a sign-in, with its account. */
export interface KnownIdentity
  extends Pick<User, 'status' | 'email' | 'verifiedEmail' | 'planId' | 'planBy'> {
  identityId: string
  userId: string
  oldEmail: string
  oldVerified: boolean | number
}

interface OfProvider {
  provider: string
  providerUserId: string
}

const KNOWN = `SELECT i.id AS identityId, i.email AS oldEmail, i.email_verified AS oldVerified,
    u.id AS userId, u.status, u.email, u.verified_email AS verifiedEmail, u.plan_id AS planId,
    u.plan_by AS planBy
  FROM identity i
  JOIN user u ON u.id = i.user_id
  WHERE i.provider = ?
    AND i.provider_user_id = ?`

export const findIdentity = (db: Db, of: OfProvider, tx?: Tx): Promise<KnownIdentity | undefined> =>
  db.row(KNOWN, [of.provider, of.providerUserId], tx)

/** Like `findIdentity`, with the identity and its account locked until the transaction ends. */
export async function lockIdentity(
  db: Db,
  of: OfProvider,
  tx: Tx,
): Promise<KnownIdentity | undefined> {
  const known = await db.row<KnownIdentity>(
    `${KNOWN}${db.forUpdate}`,
    [of.provider, of.providerUserId],
    tx,
  )
  if (known) await db.touch('user', [known.userId], tx)
  return known
}

export interface LockedIdentity extends Pick<Identity, 'id' | 'provider' | 'email'> {
  emailVerified: boolean | number
}

/** Whether an account has an identity of another provider than this one. */
export const hasOtherProvider = (
  db: Db,
  userId: string,
  provider: string,
  tx: Tx,
): Promise<boolean> =>
  db.exists('SELECT id FROM identity WHERE user_id = ? AND provider <> ?', [userId, provider], tx)

/** The identities of an account, oldest first, locked until the transaction ends. */
export const lockIdentitiesOf = (db: Db, userId: string, tx: Tx): Promise<LockedIdentity[]> =>
  db.rows(
    `SELECT id, provider, email, email_verified AS emailVerified
     FROM identity
     WHERE user_id = ?
     ORDER BY created_at, id${db.forUpdate}`,
    [userId],
    tx,
  )
