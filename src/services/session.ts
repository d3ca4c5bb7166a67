import type { Db } from '../../db/index.ts'
import { hashSecret, newSecret } from '../tokens.ts'

/** A session that has just begun. Its secret is told this once; the database knows only the hash. */
export interface NewSession {
  secret: string
  /** Milliseconds since 1970. */
  expiresAt: number
}

const hashOf = (secret: string) => hashSecret(secret).toString('hex')

/**
 * @param sessionSeconds life of a session; it is not prolonged by use
 */
export function sessionService({ db, sessionSeconds }: { db: Db; sessionSeconds: number }) {
  return {
    async start(userId: string): Promise<NewSession> {
      const secret = newSecret()
      const now = Date.now()
      const expiresAt = now + sessionSeconds * 1000
      await db.run('INSERT INTO session (hash, user_id, created_at, expires_at) VALUES (?, ?, ?, ?)', [
        hashOf(secret),
        userId,
        now,
        expiresAt,
      ])
      return { secret, expiresAt }
    },

    /** Ends the session of a secret, on every instance at once. A secret of no session is fine. */
    async end(secret: string): Promise<void> {
      await db.run('DELETE FROM session WHERE hash = ?', [hashOf(secret)])
    },
  }
}

export type SessionService = ReturnType<typeof sessionService>
