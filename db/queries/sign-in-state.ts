import type { Db } from '../index.ts'
import { SignInState } from '../models/sign-in-state.ts'
import { insertion } from './sql.ts'

type NewState = Omit<SignInState, 'consumedAt'>
type Found = Pick<SignInState, 'payload' | 'consumedAt'>

/** Stores a state. Replaces an earlier one with the same id. */
export async function writeSignInState(db: Db, row: NewState): Promise<void> {
  const [sql, values] = insertion(SignInState, [row])
  const { payload, expiresAt, grantHash } = row
  const update =
    db.dialect === 'mysql'
      ? 'ON DUPLICATE KEY UPDATE payload = ?, expires_at = ?, grant_hash = ?'
      : 'ON CONFLICT (hash) DO UPDATE SET payload = ?, expires_at = ?, grant_hash = ?'
  await db.run(`${sql} ${update}`, [...values, payload, expiresAt, grantHash])
}

export const readSignInState = (db: Db, hash: string, now: number): Promise<Found | undefined> =>
  db.row(
    `SELECT payload, consumed_at AS consumedAt
     FROM sign_in_state
     WHERE hash = ?
       AND expires_at > ?`,
    [hash, now],
  )

/** Of parallel calls, one returns true. */
export const consumeSignInState = (db: Db, hash: string, at: number): Promise<boolean> =>
  db.changed('UPDATE sign_in_state SET consumed_at = ? WHERE hash = ? AND consumed_at IS NULL', [
    at,
    hash,
  ])

export const deleteSignInState = (db: Db, hash: string): Promise<number> =>
  db.run('DELETE FROM sign_in_state WHERE hash = ?', [hash])

export const deleteSignInGrant = (db: Db, grantHash: string): Promise<number> =>
  db.run('DELETE FROM sign_in_state WHERE grant_hash = ?', [grantHash])

/**
 * Deletes all rows of a model except the newest ones.
 * @returns their number
 */
export async function boundSignInStates(db: Db, model: string, most: number): Promise<number> {
  const edge = await db.row<{ createdAt: number }>(
    `SELECT created_at AS createdAt
     FROM sign_in_state
     WHERE model = ?
     ORDER BY created_at DESC
     LIMIT 1 OFFSET ${most}`,
    [model],
  )
  if (!edge) return 0
  return db.run('DELETE FROM sign_in_state WHERE model = ? AND created_at <= ?', [
    model,
    edge.createdAt,
  ])
}
