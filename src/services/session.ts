import { validate as isUuid, v7 as newId } from 'uuid'
import type { Db, Tx } from '../../db/index.ts'
import type { Caller } from '../auth/caller.ts'
import { AppError } from '../errors.ts'
import { hashSecret, newSecret } from '../tokens.ts'
import { enqueue } from './outbox.ts'

/** A new session. Its secret is returned only here; the database stores only the hash. */
export interface NewSession {
  id: string
  secret: string
  /** Milliseconds since 1970. */
  expiresAt: number
}

/** The circumstances of a sign-in. */
export interface Client {
  /** Display name of the device, such as "Firefox on Linux". */
  device: string
  /** The network of the client, never its full IP address. */
  address: string
  /** Whether this account has signed in on this device before; then no mail is sent. */
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
  /** Whether it is the session of this request. */
  current: boolean
}

/** A deleted session, for the log. */
export interface EndedSession {
  id: string
  userId: string
}

const hashOf = (secret: string) => hashSecret(secret).toString('hex')

const unknownClient: Client = { device: '', address: '', known: true }

/** Maximum length of the list; a user has about as many sessions as devices, and they expire. */
const SHOWN = 1000

export interface SessionServiceOptions {
  db: Db
  /** Lifetime of a session in seconds; use does not extend it. */
  sessionSeconds: number
  /** URL of the page on which the user ends sessions, for mails. */
  publicUrl?: () => string
  /** Wakes the worker when a mail was queued. */
  wake?: () => void
}

export function sessionService({ db, sessionSeconds, publicUrl = () => '', wake = () => {} }: SessionServiceOptions) {
  /** Enqueues a mail about the sign-in if the user wants notices. @returns whether it did */
  async function announce(userId: string, { device, address }: Client, now: number, tx: Tx): Promise<boolean> {
    const [user] = await db.rows<{ recipient: string | null }>(
      'SELECT verified_email AS recipient FROM user WHERE id = ? AND sign_in_notices = ?',
      [userId, true],
      tx,
    )
    // An e-mail address that no provider has verified may belong to another person.
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

    /** Ends the session of a secret, effective immediately on every instance. Null if there is no such session. */
    async end(secret: string): Promise<EndedSession | null> {
      const hash = hashOf(secret)
      const [session] = await db.rows<EndedSession>('SELECT id, user_id AS userId FROM session WHERE hash = ?', [hash])
      const ended = session ? await db.run('DELETE FROM session WHERE hash = ?', [hash]) : 0
      return session && ended > 0 ? session : null
    },

    /** The active sessions of the caller, most recently used first. */
    async list(caller: Caller): Promise<SessionView[]> {
      const rows = await db.rows<Omit<SessionView, 'current'>>(
        `SELECT id, device, address, created_at AS createdAt, last_used_at AS lastUsedAt, expires_at AS expiresAt
         FROM session WHERE user_id = ? AND expires_at > ? ORDER BY last_used_at DESC, id DESC LIMIT ${SHOWN}`,
        [caller.userId, Date.now()],
      )
      return rows.map(row => ({ ...row, current: row.id === caller.credentialId }))
    },

    /** Ends a session of the caller; every instance refuses its next request. @throws SESSION_NOT_FOUND */
    async endOne(caller: Caller, id: string): Promise<void> {
      const ended = isUuid(id)
        ? await db.run('DELETE FROM session WHERE id = ? AND user_id = ?', [id.toLowerCase(), caller.userId])
        : 0
      if (ended === 0)
        throw new AppError('SESSION_NOT_FOUND', 'You have no such session. It may have expired; see the list.')
    },

    /** Ends every session of the caller except that of this request. @returns their number */
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

    /** Sets whether the caller receives a mail about sign-ins from new devices. */
    async setNotices(caller: Caller, enabled: boolean): Promise<void> {
      await db.run('UPDATE user SET sign_in_notices = ? WHERE id = ?', [enabled, caller.userId])
    },
  }
}

export type SessionService = ReturnType<typeof sessionService>
