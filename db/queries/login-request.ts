import type { Db, Tx } from '../index.ts'
import type { LoginRequest } from '../models/login-request.ts'

export type LoginRequestRow = Omit<LoginRequest, 'codeHash' | 'polledAt'>

const columns = `id, user_code AS userCode, state, client_id AS clientId, name, scopes, lifetime, challenge, redirect_uri AS redirectUri, resource, network,
  user_id AS userId, session_id AS sessionId, created_at AS createdAt, expires_at AS expiresAt, poll_interval AS pollInterval`

export const loginRequestByCode = (
  db: Db,
  codeHash: string,
): Promise<LoginRequestRow | undefined> =>
  db.row(`SELECT ${columns} FROM login_request WHERE code_hash = ?`, [codeHash])

/**
 * A request that waits for a decision.
 * @param userCode its digest
 */
export const pendingLoginRequest = (
  db: Db,
  userCode: string,
  now: number,
): Promise<LoginRequestRow | undefined> =>
  db.row(
    `SELECT ${columns}
     FROM login_request
     WHERE user_code = ?
       AND state = 'pending'
       AND expires_at > ?`,
    [userCode, now],
  )

export interface Decision {
  state: 'approved' | 'refused'
  userId: string
  sessionId: string
  lifetime: number
}

/** @returns whether it was still waiting */
export const decideLoginRequest = (
  db: Db,
  id: string,
  { state, userId, sessionId, lifetime }: Decision,
  now: number,
): Promise<boolean> =>
  db.changed(
    `UPDATE login_request
     SET state = ?, user_id = ?, session_id = ?, lifetime = ?
     WHERE id = ?
       AND state = 'pending'
       AND expires_at > ?`,
    [state, userId, sessionId, lifetime, id, now],
  )

/**
 * @param grace the number of milliseconds by which a poll may be early
 * @returns whether the poll is late enough
 */
export const notePoll = (db: Db, id: string, now: number, grace: number): Promise<boolean> =>
  db.changed(
    `UPDATE login_request
     SET polled_at = ?
     WHERE id = ?
       AND (polled_at IS NULL OR polled_at <= ? - poll_interval * 1000 OR polled_at > ?)`,
    // A future time was stored before the clock was set back.
    [now, id, now + grace, now + grace],
  )

/** @param most the maximum interval between two polls, in seconds */
export const slowDownPolls = (db: Db, id: string, by: number, most: number): Promise<number> =>
  db.run(
    `UPDATE login_request
     SET poll_interval = poll_interval + ?
     WHERE id = ?
       AND poll_interval + ? <= ?`,
    [by, id, by, most],
  )

/** Uses up an approved request. Of parallel calls, one returns true. */
export const redeemLoginRequest = (db: Db, id: string, now: number, tx: Tx): Promise<boolean> =>
  db.changed(
    "DELETE FROM login_request WHERE id = ? AND state = 'approved' AND expires_at > ?",
    [id, now],
    tx,
  )

export const deleteLoginRequest = (db: Db, id: string): Promise<number> =>
  db.run('DELETE FROM login_request WHERE id = ?', [id])
