import type { Db, Tx } from '../index.ts'
import { Login } from '../models/login.ts'
import { selection } from './sql.ts'

export type LoginRow = Login & { status: 'active' | 'suspended'; name: string }

const READ = `SELECT ${selection(Login, 'l')}, u.status, u.name
  FROM login l
  JOIN user u ON u.id = l.user_id`

/** @param email as `canonicalEmail` returns it */
export const loginByEmail = (db: Db, email: string): Promise<LoginRow | undefined> =>
  db.row(`${READ} WHERE l.email = ?`, [email])

export const loginById = (db: Db, id: string, tx?: Tx): Promise<LoginRow | undefined> =>
  db.row(`${READ} WHERE l.id = ?`, [id], tx)

export const loginOfUser = (db: Db, userId: string, tx?: Tx): Promise<LoginRow | undefined> =>
  db.row(`${READ} WHERE l.user_id = ?`, [userId], tx)

/** Whether anyone has an account of this service. */
export const hasLogins = (db: Db, tx?: Tx): Promise<boolean> =>
  db.exists('SELECT 1 FROM login LIMIT 1', [], tx)

export const noteSignIn = (db: Db, id: string, at: number): Promise<number> =>
  db.run('UPDATE login SET last_sign_in_at = ? WHERE id = ?', [at, id])

/**
 * Stores the time step of an authenticator code.
 * @returns whether no code of this or a later step was used before
 */
export const useTotpStep = (db: Db, id: string, step: number): Promise<boolean> =>
  db.changed(
    'UPDATE login SET totp_step = ? WHERE id = ? AND (totp_step IS NULL OR totp_step < ?)',
    [step, id, step],
  )

/**
 * Uses up a recovery code.
 * @returns whether it was valid
 */
export const useRecoveryCode = (db: Db, loginId: string, hash: string): Promise<boolean> =>
  db.changed('DELETE FROM recovery_code WHERE hash = ? AND login_id = ?', [hash, loginId])

/** An account as operators see it, with or without a login. */
export interface PersonRow {
  userId: string
  email: string
  name: string
  status: 'active' | 'suspended'
  loginId: string | null
  lastSignInAt: number | null
  hasPassword: boolean
  hasFactor: boolean
  passkeys: number
}

/** Accounts, by name. */
export const peopleWithLogins = (db: Db, limit: number): Promise<PersonRow[]> =>
  db.rows(
    `SELECT u.id AS userId, u.email, u.name, u.status, l.id AS loginId,
       l.last_sign_in_at AS lastSignInAt,
       l.password IS NOT NULL AS hasPassword, l.totp IS NOT NULL AS hasFactor,
       (SELECT COUNT(*) FROM passkey p WHERE p.login_id = l.id) AS passkeys
     FROM user u
     LEFT JOIN login l ON l.user_id = u.id
     ORDER BY u.name, u.id
     LIMIT ${limit}`,
  )

/**
 * Whether a session exists whose person last proved their identity at or before a time.
 * @param whose `with a login` for people with an account of the service only
 */
export const isProofOld = (
  db: Db,
  sessionId: string,
  at: number,
  whose: 'anyone' | 'with a login',
): Promise<boolean> =>
  db.exists(
    `SELECT 1
     FROM session s ${whose === 'anyone' ? '' : 'JOIN login l ON l.user_id = s.user_id'}
     WHERE s.id = ?
       AND s.created_at <= ?
       AND (s.proved_at IS NULL OR s.proved_at <= ?)`,
    [sessionId, at, at],
  )

export const noteProof = (db: Db, sessionId: string, at: number): Promise<number> =>
  db.run('UPDATE session SET proved_at = ? WHERE id = ?', [at, sessionId])
