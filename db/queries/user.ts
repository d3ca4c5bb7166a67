import type { Language } from '../../src/language/languages.ts'
import type { Db, Tx } from '../index.ts'
import type { Limits } from '../models/plan.ts'
import type { User } from '../models/user.ts'
import { limitsOf, withLimits } from './limit.ts'
import { placeholders } from './sql.ts'

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
export type UserRow = Omit<User, 'status' | 'signInNotices' | 'planBy' | 'language' | 'filesView'> &
  Limits & { planName: string; provider: string; providerUserId: string }

const READ = `SELECT u.id, u.email, u.verified_email AS verifiedEmail, u.name,
    u.given_name AS givenName, u.family_name AS familyName,
    u.picture, u.locale, u.created_at AS createdAt, COALESCE(i.provider, '') AS provider,
    COALESCE(i.provider_user_id, '') AS providerUserId,
    p.id AS planId, p.name AS planName, ${limitsOf()}
  FROM user u
  ${withLimits('u')}
  LEFT JOIN identity i ON i.id = (SELECT f.id
    FROM identity f
    WHERE f.user_id = u.id
    ORDER BY f.created_at, f.id
    LIMIT 1)
  WHERE u.id = ?`

/** One prepared statement, because most clients begin with it. */
export const readUser = (db: Db, id: string): Promise<UserRow | undefined> => db.row(READ, [id])

/** The languages of people with these verified addresses, in lower case. */
export async function languagesOf(
  db: Db,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, Language>> {
  const rows = await db.rows<{ address: string; language: Language }>(
    `SELECT verified_email AS address, language
     FROM user
     WHERE verified_email IN (${placeholders(addresses)})
       AND language IS NOT NULL`,
    [...addresses],
  )
  return new Map(rows.map(({ address, language }) => [address, language]))
}

/** Keeps the language of a person's first sign-in. They may change it later. */
export const keepFirstLanguage = (db: Db, id: string, language: Language, tx: Tx) =>
  db.run('UPDATE user SET language = ? WHERE id = ? AND language IS NULL', [language, id], tx)
