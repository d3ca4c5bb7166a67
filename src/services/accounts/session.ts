import { Op } from 'sequelize'
import { validate as isUuid, v7 as newId } from 'uuid'
import type { Tx } from '../../../db/index.ts'
import { findIdentity } from '../../../db/queries/identity.ts'
import { deleteOtherSessions, type SessionRow, sessionsOf } from '../../../db/queries/session.ts'
import { keepFirstLanguage } from '../../../db/queries/user.ts'
import type { Caller, Origin } from '../../access/caller.ts'
import type { Config } from '../../config/config.ts'
import type { Language } from '../../language/languages.ts'
import { AppError } from '../../runtime/errors.ts'
import { hashSecret, newSecret } from '../../runtime/tokens.ts'
import type { Core } from '../core.ts'
import { changeRunner } from '../history/event.ts'
import { enqueue } from '../job.ts'
import { mailJob } from '../notices/mail.ts'

/** A new session. Its secret is returned only here; the database stores only the hash. */
export interface NewSession {
  id: string
  secret: string
  /** In milliseconds since 1970. */
  expiresAt: number
}

/** The circumstances of a sign-in. */
export interface Client {
  /** Display name of the device, such as "Firefox on Linux". */
  device: string
  /** The network of the client, never its full IP address. */
  address: string
  /** The origin for the audit trail. */
  from?: Origin
  /** Whether this account has signed in on this device before; then no mail is sent. */
  known: boolean
  /** The language of the browser. */
  language?: Language
}

/** A session as its user sees it. */
export interface SessionView extends SessionRow {
  /** Whether it is the session of this request. */
  current: boolean
}

/** A deleted session, for the log. */
export interface EndedSession {
  id: string
  userId: string
  /** The OpenID Connect provider with which it started, or null. */
  provider: string | null
}

/** The provider's session with which a session here started. */
export interface ProviderSession {
  provider: string
  /** Its id at the provider, if known. */
  sid: string | null
  /**
   * When the provider issued the token that names it: milliseconds by the clock of the provider.
   */
  issuedAt?: number
}

const hashOf = (secret: string) => hashSecret(secret).toString('hex')
const hashOfSid = (provider: string, sid: string) => hashOf(`${provider} ${sid}`)

/** Tokens state their time of issue in whole seconds. */
const IAT_MS = 1000
/** How far the clocks of a provider and of this machine may differ. */
const CLOCK_MS = 60_000

const unknownClient: Client = { device: '', address: '', known: true }

/** @param sessionSeconds lifetime of a session; use does not extend it */
export function sessionService({
  db,
  sessionSeconds,
  publicUrl = () => '',
  wake = () => {},
  change = changeRunner({ db }),
}: Core<'db'> & Partial<Core<'publicUrl' | 'wake' | 'change'>> & Pick<Config, 'sessionSeconds'>) {
  /**
   * Enqueues a mail about the sign-in if the user wants notices.
   * @returns whether it was enqueued
   */
  async function announce(
    userId: string,
    { device, address }: Client,
    now: number,
    tx: Tx,
  ): Promise<boolean> {
    const attributes = ['verifiedEmail', 'signInNotices']
    const user = await db.User.findByPk(userId, { attributes, raw: true, transaction: tx })
    // An e-mail address that no provider has verified may belong to another person.
    if (!user?.signInNotices || user.verifiedEmail === null) return false
    const values = {
      device,
      address,
      at: new Date(now).toISOString(),
      link: `${publicUrl()}/sessions`,
    }
    await enqueue(db, mailJob, { template: 'sign-in', to: user.verifiedEmail, values }, tx)
    return true
  }

  return {
    /** @param at the provider's session with which this one ends */
    async start(
      userId: string,
      client: Client = unknownClient,
      at: ProviderSession | null = null,
    ): Promise<NewSession> {
      const [id, secret, now] = [newId(), newSecret(), Date.now()]
      const expiresAt = now + sessionSeconds * 1000
      const { device, address } = client
      const began = {
        provider: at?.provider ?? null,
        providerSession: at?.sid ? hashOfSid(at.provider, at.sid) : null,
        providerIssuedAt: at?.issuedAt ?? null,
      }
      const times = { createdAt: now, expiresAt, lastUsedAt: now }
      const session = { hash: hashOf(secret), id, userId, device, address, ...times, ...began }
      const by = {
        userId,
        via: 'session',
        viaId: id,
        ...(client.from ? { from: client.from } : {}),
      } as const
      const announced = await change(by, async ({ tx, record }) => {
        if (client.language) await keepFirstLanguage(db, userId, client.language, tx)
        await db.Session.create(session, { transaction: tx })
        record(userId, {
          kind: 'session.started',
          subject: id,
          details: { device, network: address },
        })
        return !client.known && (await announce(userId, client, now, tx))
      })
      if (announced) wake()
      return { id, secret, expiresAt }
    },

    /**
     * Ends the session of a secret, effective immediately on every instance. Null if there is no
     * such session.
     */
    async end(secret: string): Promise<EndedSession | null> {
      const hash = hashOf(secret)
      const session = await db.Session.findByPk(hash, {
        attributes: ['id', 'userId', 'provider'],
        raw: true,
      })
      if (!session) return null
      const { id, userId } = session
      return change({ userId, via: 'session', viaId: id }, async ({ tx, record }) => {
        if ((await db.Session.destroy({ where: { hash }, transaction: tx })) === 0) return null
        record(userId, { kind: 'session.ended', subject: id })
        return session
      })
    },

    /**
     * Ends the sessions that belong to a session of the provider, or all sessions that a user has
     * started with the provider. Only ends sessions that started before the logout token was
     * issued.
     * @param subject the user's id at the provider; it matters only without `sid`, because the
     * account may have lost that identity since
     * @param sid the id of the session at the provider; null for all sessions of the user
     */
    async endAtProvider({
      provider,
      subject,
      sid,
      issuedAt,
    }: Required<ProviderSession> & { subject: string | null }): Promise<EndedSession[]> {
      const bySid = sid === null ? null : { providerSession: hashOfSid(provider, sid) }
      const identity =
        bySid || subject === null
          ? undefined
          : await findIdentity(db, { provider, providerUserId: subject })
      const whose = bySid ?? (identity && { userId: identity.userId })
      if (!whose) return []
      const end = issuedAt + IAT_MS
      const began = {
        [Op.or]: [
          { providerIssuedAt: { [Op.lt]: end } },
          { providerIssuedAt: null, createdAt: { [Op.lt]: end + CLOCK_MS } },
        ],
      }
      const where = { provider, ...whose, ...began }
      const found = await db.Session.findAll({
        where,
        attributes: ['hash', 'id', 'userId', 'provider'],
        raw: true,
      })
      const ended: EndedSession[] = []
      for (const { hash, ...session } of found) {
        const caller = { userId: session.userId, via: 'session', viaId: session.id } as const
        await change(caller, async ({ tx, record }) => {
          if ((await db.Session.destroy({ where: { hash }, transaction: tx })) === 0) return
          record(session.userId, { kind: 'session.ended', subject: session.id })
          ended.push(session)
        })
      }
      return ended
    },

    /** The active sessions of the caller, most recently used first. */
    async list(caller: Caller): Promise<SessionView[]> {
      return (await sessionsOf(db, caller.userId)).map(row => ({
        ...row,
        current: row.id === caller.credentialId,
      }))
    },

    /**
     * Ends a session of the caller; every instance refuses its next request. @throws
     * SESSION_NOT_FOUND
     */
    async endOne(caller: Caller, id: string): Promise<void> {
      const where = { id: id.toLowerCase(), userId: caller.userId }
      await change(caller, async ({ tx, record }) => {
        const ended = isUuid(id) ? await db.Session.destroy({ where, transaction: tx }) : 0
        if (ended === 0) throw sessionNotFound()
        record(caller.userId, { kind: 'session.ended', subject: where.id })
      })
    },

    /** Ends every session of the caller except that of this request. @returns their number */
    endOthers: (caller: Caller): Promise<number> =>
      change(caller, async ({ tx, record }) => {
        const ended = await deleteOtherSessions(db, caller.userId, caller.credentialId, tx)
        if (ended > 0) record(caller.userId, { kind: 'session.others_ended', subject: null })
        return ended
      }),

    async wantsNotices(caller: Caller): Promise<boolean> {
      const user = await db.User.findByPk(caller.userId, {
        attributes: ['signInNotices'],
        raw: true,
      })
      return Boolean(user?.signInNotices)
    },

    /** Sets whether the caller receives a mail about sign-ins from new devices. */
    async setNotices(caller: Caller, enabled: boolean): Promise<void> {
      await db.User.update({ signInNotices: enabled }, { where: { id: caller.userId } })
    },
  }
}

export type SessionService = ReturnType<typeof sessionService>

export const sessionNotFound = () =>
  new AppError('SESSION_NOT_FOUND', 'You have no such session. It may have expired; see the list.')
