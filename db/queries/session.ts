import type { Db, Tx } from '../index.ts'
import type { Session } from '../models/session.ts'

export type SessionRow = Omit<Session, 'hash' | 'userId' | 'provider' | 'providerSession'>

/**
 * The maximum length of the list. A user has about as many sessions as devices, and sessions
 * expire.
 */
const SHOWN = 1000

/** The active sessions of a user, most recently used first. */
export const sessionsOf = (db: Db, userId: string): Promise<SessionRow[]> =>
  db.rows(
    `SELECT id, device, address, created_at AS createdAt, last_used_at AS lastUsedAt,
       expires_at AS expiresAt
     FROM session
     WHERE user_id = ?
       AND expires_at > ?
     ORDER BY last_used_at DESC, id DESC
     LIMIT ${SHOWN}`,
    [userId, Date.now()],
  )

/**
 * Deletes the active sessions of a user except one.
 * @returns their number
 */
export const deleteOtherSessions = (
  db: Db,
  userId: string,
  kept: string,
  tx?: Tx,
): Promise<number> =>
  db.run(
    'DELETE FROM session WHERE user_id = ? AND id <> ? AND expires_at > ?',
    [userId, kept, Date.now()],
    tx,
  )
