import type { Db, Tx } from '../index.ts'
import type { Limits } from '../models/plan.ts'
import type { User } from '../models/user.ts'
import { limitsOf, withLimits } from './limit.ts'

/** An account, locked until the transaction ends. */
export type LockedUser = Pick<User, 'id' | 'status' | 'email' | 'verifiedEmail'>

const LOCKED = 'SELECT id, status, email, verified_email AS verifiedEmail FROM user'

export const lockUser = (db: Db, id: string, tx: Tx): Promise<LockedUser | undefined> =>
  lockWith(db, 'id', id, tx)

/** @param address as `canonicalEmail` returns it */
export const lockUserWithAddress = (
  db: Db,
  address: string,
  tx: Tx,
): Promise<LockedUser | undefined> => lockWith(db, 'verified_email', address, tx)

async function lockWith(db: Db, column: 'id' | 'verified_email', value: string, tx: Tx) {
  const user = await db.row<LockedUser>(`${LOCKED} WHERE ${column} = ?${db.forUpdate}`, [value], tx)
  if (user) await db.touch('user', [user.id], tx)
  return user
}

/** An account with its limits and its first identity. Texts are empty without one. */
export type UserRow = Omit<User, 'status' | 'signInNotices' | 'planBy'> &
  Limits & { planName: string; provider: string; providerUserId: string }

const READ = `SELECT u.id, u.email, u.verified_email AS verifiedEmail, u.name, u.given_name AS givenName, u.family_name AS familyName,
    u.picture, u.locale, u.created_at AS createdAt, COALESCE(i.provider, '') AS provider, COALESCE(i.provider_user_id, '') AS providerUserId,
    p.id AS planId, p.name AS planName, ${limitsOf()}
  FROM user u ${withLimits('u')}
  LEFT JOIN identity i ON i.id = (SELECT f.id FROM identity f WHERE f.user_id = u.id ORDER BY f.created_at, f.id LIMIT 1)
  WHERE u.id = ?`

/** One prepared statement, because most clients begin with it. */
export const readUser = (db: Db, id: string): Promise<UserRow | undefined> => db.row(READ, [id])
