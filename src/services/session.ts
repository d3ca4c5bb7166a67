import { validate as isUuid, v7 as newId } from 'uuid'
import type { Db, Tx } from '../../db/index.ts'
import type { Caller } from '../auth/caller.ts'
import { AppError } from '../errors.ts'
import { hashSecret, newSecret } from '../tokens.ts'
import { enqueue } from './outbox.ts'

/** A session that has just begun. Its secret is given out this once; the database knows only the hash. */
export interface NewSession {
  id: string
  secret: string
  /** Milliseconds since 1970. */
  expiresAt: number
}

/** What begins a session. */
export interface Client {
  /** In words: "Firefox on Linux". */
  device: string
  /** The network of the client, never its whole address. */
  address: string
  /** Whether this account has signed in on this device before; then no mail announces it. */
  known: boolean
}

/** A session as its user sees it. */
export interface SessionView {
  id: string
  device: string
  address: string
  createdAt: number
  lastUsedAt: number
  expiresAt: number
  /** Whether it is the one that asks. */
  current: boolean
}

/** A session that was ended, for the log. */
export interface EndedSession {
  id: string
  userId: string
}

const hashOf = (secret: string) => hashSecret(secret).toString('hex')

const unknownClient: Client = { device: '', address: '', known: true }

/** Lists show this many; a user has as many sessions as devices, and they end by themselves. */
const SHOWN = 1000

export interface SessionServiceOptions {
  db: Db
  /** Life of a session; it is not prolonged by use. */
  sessionSeconds: number
  /** Where the user ends sessions; stands in mails. */
  publicUrl?: () => string
  /** Called when a mail waits. */
  wake?: () => void
}

export function sessionService({ db, sessionSeconds, publicUrl = () => '', wake = () => {} }: SessionServiceOptions) {
  /** A mail about the sign-in, for users who wish that. Answers whether there is one. */
  async function announce(userId: string, { device, address }: Client, now: number, tx: Tx): Promise<boolean> {
    const [user] = await db.rows<{ recipient: string | null }>(
      'SELECT verified_email AS recipient FROM user WHERE id = ? AND sign_in_notices = ?',
      [userId, true],
      tx,
    )
    // An address that no provider vouches for may be somebody else's.
    if (!user?.recipient) return false
    const values = { device, address, at: new Date(now).toISOString(), link: `${publicUrl()}/sessions` }
    await enqueue(db, 'mail', { template: 'sign-in', to: user.recipient, values }, tx)
    return true
  }

  return {
    async start(userId: string, client: Client = unknownClient): Promise<NewSession> {
      const [id, secret, now] = [newId(), newSecret(), Date.now()]
      const expiresAt = now + sessionSeconds * 1000
      const sql = `INSERT INTO session (hash, id, user_id, created_at, expires_at, last_used_at, device, address)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
      const values = [hashOf(secret), id, userId, now, expiresAt, now, client.device, client.address]
      if (client.known) await db.run(sql, values)
      else {
        const announced = await db.transaction(async tx => {
          await db.run(sql, values, tx)
          return announce(userId, client, now, tx)
        })
        if (announced) wake()
      }
      return { id, secret, expiresAt }
    },

    /** Ends the session of a secret, on every instance at once. Null for a secret of no session, which is fine. */
    async end(secret: string): Promise<EndedSession | null> {
      const hash = hashOf(secret)
      const [session] = await db.rows<EndedSession>('SELECT id, user_id AS userId FROM session WHERE hash = ?', [hash])
      const ended = session ? await db.run('DELETE FROM session WHERE hash = ?', [hash]) : 0
      return session && ended > 0 ? session : null
    },

    /** The sessions of the caller that have not ended, the one used last first. */
    async list(caller: Caller): Promise<SessionView[]> {
      const rows = await db.rows<Omit<SessionView, 'current'>>(
        `SELECT id, device, address, created_at AS createdAt, last_used_at AS lastUsedAt, expires_at AS expiresAt
         FROM session WHERE user_id = ? AND expires_at > ? ORDER BY last_used_at DESC, id DESC LIMIT ${SHOWN}`,
        [caller.userId, Date.now()],
      )
      return rows.map(row => ({ ...row, current: row.id === caller.credentialId }))
    },

    /** Ends a session of the caller; its next request is refused, at every instance. @throws SESSION_NOT_FOUND */
    async endOne(caller: Caller, id: string): Promise<void> {
      const ended = isUuid(id)
        ? await db.run('DELETE FROM session WHERE id = ? AND user_id = ?', [id.toLowerCase(), caller.userId])
        : 0
      if (ended === 0)
        throw new AppError('SESSION_NOT_FOUND', 'You have no such session. It may have ended by itself; see the list.')
    },

    /** Ends every session of the caller but the one that asks; answers how many. */
    endOthers: (caller: Caller): Promise<number> =>
      db.run('DELETE FROM session WHERE user_id = ? AND id <> ? AND expires_at > ?', [
        caller.userId,
        caller.credentialId,
        Date.now(),
      ]),

    async wantsNotices(caller: Caller): Promise<boolean> {
      const [user] = await db.rows<{ wants: number }>('SELECT sign_in_notices AS wants FROM user WHERE id = ?', [
        caller.userId,
      ])
      return Boolean(user?.wants)
    },

    /** Whether a sign-in from a new device is announced to the caller by mail. */
    async setNotices(caller: Caller, enabled: boolean): Promise<void> {
      await db.run('UPDATE user SET sign_in_notices = ? WHERE id = ?', [enabled, caller.userId])
    },
  }
}

export type SessionService = ReturnType<typeof sessionService>
