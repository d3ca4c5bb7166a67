import { randomBytes } from 'node:crypto'
import pRetry from 'p-retry'
import { v7 as newId } from 'uuid'
import { isDuplicate } from '../../../db/index.ts'
import type { LoginLink } from '../../../db/models/login-link.ts'
import { accountWithAddress } from '../../../db/queries/account.ts'
import {
  hasLogins,
  type LoginRow,
  loginByEmail,
  loginById,
  loginOfUser,
  noteSignIn,
} from '../../../db/queries/login.ts'
import { deleteLoginLinks, loginLink, redeemLoginLink } from '../../../db/queries/login-link.ts'
import { deleteOtherSessions } from '../../../db/queries/session.ts'
import { lockUserWithAddress } from '../../../db/queries/user.ts'
import type { Caller, Origin } from '../../access/caller.ts'
import { createNetworkBound, type GuessLimiter } from '../../access/guessing.ts'
import type { Passwords } from '../../access/password.ts'
import { accountsName, type Config } from '../../config/config.ts'
import { MAX_EMAIL } from '../../values/limits.ts'
import { networkOf } from '../../values/network.ts'
import type { Core } from '../core.ts'
import { type Change, system } from '../history/event.ts'
import type { InviteService } from '../workspaces/invite.ts'
import type { AccountService } from './account.ts'
import type { AppointmentService } from './appointment.ts'
import { hashOfLink, type LoginLinkService } from './login-link.ts'
import type { LoginNotices } from './login-notice.ts'
import { LoginProblem, readEmail, readName } from './login-problem.ts'
import { problemOfPassword } from './password-rule.ts'
import { canonicalEmail, type ProviderProfile } from './profile.ts'

/** The data that a person enters to create an account. */
export interface Registration {
  /** Only used for the first account: other links contain the address. */
  email: string
  name: string
  password: string
}

interface NewLogin {
  kind: 'first' | 'invite' | 'sign-up' | 'join'
  email: string
  name: string
  password: string
}

/** A browser at the sign-in page. */
export interface LoginClient {
  address: string
  /** The id of the browser, if this login has signed in on it before; null for any other. */
  deviceOf: (loginId: string) => string | null
}

/** The hourly limits on mails of the sign-in pages: to one address, and caused by one network. */
const MAILS_TO_ADDRESS = 3
const MAILS_OF_NETWORK = 20
const HOUR_SECONDS = 3600

interface Deps
  extends Core<'db' | 'change' | 'coordination' | 'tokens' | 'publicUrl' | 'log'>,
    Pick<Config, 'passwords' | 'secondFactor'> {
  links: LoginLinkService
  accounts: AccountService
  appointments: AppointmentService
  invites: InviteService
  notices: LoginNotices
  guesses: GuessLimiter
  hashes: Passwords
}

/** The service's own accounts: docs/decisions/own-accounts.md. */
export function loginService(deps: Deps) {
  const { db, change, coordination, tokens, publicUrl, log } = deps
  const { accounts, appointments, invites, notices, guesses, hashes } = deps
  const { hasMail, makeLink, urlOf, mailLink, people } = deps.links
  const networks = createNetworkBound(coordination, 'satchel:sign-in')
  let isSetUp = false
  let nobody: Promise<string> | undefined

  /**
   * The hash of a random password, so that checking an unknown address takes as long as a known
   * one.
   */
  function hashOfNobody(): Promise<string> {
    nobody ??= hashes.hash(randomBytes(24).toString('base64url'), ['sign-in'])
    return nobody
  }

  const keysOf = (address: string) => ['sign-in', `sign-in of ${networkOf(address)}`]

  /** @throws LoginProblem */
  async function requireStrong(password: string, email: string, name: string): Promise<void> {
    const host = new URL(publicUrl() || 'http://localhost').hostname
    const problem = await problemOfPassword(password, [email, name, host, 'satchel'])
    if (problem) throw new LoginProblem('password', problem)
  }

  /** Whether another mail may be sent. Limited, because anyone can request mails to any address. */
  async function mayMail(email: string, address: string): Promise<boolean> {
    const add = (key: string) => coordination.add(`satchel:login-mail:${key}`, 1, HOUR_SECONDS)
    const ofNetwork = await add(networkOf(address))
    return (
      ofNetwork <= MAILS_OF_NETWORK &&
      (await add(tokens.digest('login', email))) <= MAILS_TO_ADDRESS
    )
  }

  /** Creates an account and its login, within the transaction of its link. */
  async function create(
    { kind, email, name, password }: NewLogin,
    { tx, record }: Change,
  ): Promise<string> {
    const id = newId()
    const profile = profileOf({ id, email, name })
    const vouched = kind === 'first' || kind === 'invite'
    const { userId } = await accounts.open(profile, { vouched }, tx)
    const times = { createdAt: Date.now(), lastSignInAt: null }
    const none = { totp: null, totpStep: null, factorAt: null }
    await db.Login.create({ id, userId, email, password, ...times, ...none }, { transaction: tx })
    if (kind === 'first' && !(await db.Operator.findByPk(userId, { transaction: tx }))) {
      const appointed = { userId, appointedBy: userId, appointedAt: Date.now() }
      await db.Operator.create(appointed, { transaction: tx })
      record(userId, { kind: 'operator.appointed', subject: userId })
    }
    return id
  }

  /**
   * Sets a password, and deletes all sessions and reset links. Also removes the second factor and
   * the passkeys if an operator has chosen that.
   */
  async function setPassword(
    userId: string,
    password: string,
    { all, email, keep = '' }: { all: boolean; email: string; keep?: string },
    { tx, record }: Change,
  ): Promise<string> {
    const found = await loginOfUser(db, userId, tx)
    const id = found?.id ?? newId()
    if (found) {
      const none = all ? { totp: null, totpStep: null, factorAt: null } : {}
      await db.Login.update({ password, ...none }, { where: { id }, transaction: tx })
    } else {
      const none = { totp: null, totpStep: null, factorAt: null, lastSignInAt: null }
      await accounts.open(profileOf({ id, email, name: '' }), { vouched: true, userId }, tx)
      const row = { id, userId, email, password, createdAt: Date.now(), ...none }
      await db.Login.create(row, { transaction: tx })
    }
    if (all) {
      await db.Passkey.destroy({ where: { loginId: id }, transaction: tx })
      await db.RecoveryCode.destroy({ where: { loginId: id }, transaction: tx })
    }
    await deleteOtherSessions(db, userId, keep, tx)
    await db.LoginLink.destroy({ where: { userId }, transaction: tx })
    record(userId, { kind: 'password.changed', subject: userId })
    await notices.queue({ email: found?.email ?? email }, 'password', tx)
    return id
  }

  /** Runs after the response, whose timing must not reveal whether an account exists. */
  function inBackground(work: () => Promise<unknown>): void {
    setImmediate(() => {
      work().catch(error => {
        if (!(error instanceof LoginProblem)) log.warn({ err: error }, 'a mail was not queued')
      })
    })
  }

  return {
    hasMail,
    people,

    /**
     * Invites a person like the service of links, within the rights of an operator.
     * @throws FORBIDDEN, LoginProblem
     */
    async invite(by: Caller | null, given: { email: string; name: string }): Promise<string> {
      if (by) await appointments.requireInvitable(by, readEmail(given.email))
      return deps.links.invite(by, given)
    },

    /**
     * Creates a link like the service of links, within the rights of an operator: an appointed one
     * must not take over the account of an operator in the setting OPERATORS.
     * @throws USER_NOT_FOUND, FORBIDDEN, LoginProblem
     */
    async resetFor(by: Caller | null, userId: string, all: boolean): Promise<string> {
      if (by && by.userId !== userId) await appointments.requireEndable(by, userId)
      return deps.links.resetFor(by, userId, all)
    },

    /** Whether people may sign in with a password. */
    hasPasswords: deps.passwords,
    mayRegister: (): boolean => hasMail && deps.passwords && accounts.mayRegister(),

    /** Whether any account exists, so that people can sign in. */
    async isSetUp(): Promise<boolean> {
      isSetUp ||= await hasLogins(db)
      return isSetUp
    },

    /**
     * Creates the secret of the page that creates the first account. It is valid for a day.
     * @returns null if an account exists
     */
    async beginFirst(): Promise<string | null> {
      if (await hasLogins(db)) return null
      return makeLink('first', { email: '', name: '', userId: null, madeBy: null })
    },

    /** The link of a secret; null if it is used or expired. */
    async findLink(secret: string): Promise<LoginLink | null> {
      return (await loginLink(db, hashOfLink(secret), Date.now())) ?? null
    },

    /**
     * Creates an account with a link, which cannot be used again.
     * @returns the id of the login
     * @throws LoginProblem, SignInRefused
     */
    async register(secret: string, given: Registration, from: Origin): Promise<string> {
      const hash = hashOfLink(secret)
      const link = await loginLink(db, hash, Date.now())
      if (!link || (link.kind !== 'first' && link.kind !== 'invite' && link.kind !== 'sign-up'))
        throw new LoginProblem(null, 'link_gone')
      const { kind } = link
      const email = kind === 'first' ? readEmail(given.email) : link.email
      const name = readName(given.name, email)
      await requireStrong(given.password, email, name)
      const password = await hashes.hash(given.password, ['sign-in'])
      const registering = () =>
        change({ ...system, from }, async of => {
          if (!(await redeemLoginLink(db, hash, Date.now(), of.tx)))
            throw new LoginProblem(null, 'link_gone')
          if (kind === 'first') {
            await deleteLoginLinks(db, 'first', of.tx)
            if (await hasLogins(db, of.tx)) throw new LoginProblem(null, 'link_gone')
          }
          return create({ kind, email, name, password }, of)
        })
      // The unique index refuses the second of two parallel sign-ups with one address.
      const id = await pRetry(registering, { retries: 3, minTimeout: 5, shouldRetry: isDuplicate })
      isSetUp = true
      return id
    },

    /**
     * Creates an account with the link of an invite to a workspace. That link was sent to the
     * invited address, so the address is verified.
     * @throws LoginProblem, SignInRefused, INVITE_NOT_FOUND, INVITE_EXPIRED
     */
    async join(token: string, given: Registration, from: Origin): Promise<string> {
      const invite = await invites.find(token)
      invites.refuse(invite, null)
      const { email } = invite
      if (await loginByEmail(db, email)) throw new LoginProblem('email', 'exists')
      const name = readName(given.name, email)
      await requireStrong(given.password, email, name)
      const password = await hashes.hash(given.password, ['sign-in'])
      return change({ ...system, from }, of =>
        create({ kind: 'join', email, name, password }, of),
      ).catch(error => {
        throw isDuplicate(error) ? new LoginProblem('email', 'exists') : error
      })
    },

    /** Sets a new password with a link. @returns the id of the login @throws LoginProblem */
    async reset(secret: string, given: string, from: Origin): Promise<string> {
      const hash = hashOfLink(secret)
      const link = await loginLink(db, hash, Date.now())
      const { kind, userId, email } = link ?? { kind: null, userId: null, email: '' }
      if (userId === null || (kind !== 'reset' && kind !== 'reset-all'))
        throw new LoginProblem(null, 'link_gone')
      await requireStrong(given, email, '')
      const password = await hashes.hash(given, ['sign-in'])
      const id = await change({ ...system, from }, async of => {
        if (!(await redeemLoginLink(db, hash, Date.now(), of.tx)))
          throw new LoginProblem(null, 'link_gone')
        return setPassword(userId, password, { all: kind === 'reset-all', email }, of)
      })
      notices.wake()
      return id
    },

    /**
     * Changes or sets the password of a signed-in person, and ends their other sessions.
     * @throws LoginProblem
     */
    async changePassword(caller: Caller, given: string): Promise<void> {
      if (!deps.passwords) throw new LoginProblem(null, 'link_gone')
      const login = await loginOfUser(db, caller.userId)
      const email = login?.email ?? caller.verifiedEmail
      if (email === null) throw new LoginProblem('email', 'email_invalid')
      await requireStrong(given, email, caller.name)
      const password = await hashes.hash(given, ['sign-in'])
      const keep = caller.credentialId
      await change(caller, of =>
        setPassword(caller.userId, password, { all: false, email, keep }, of),
      )
      notices.wake()
    },

    /**
     * Mails a link to reset the password, if the account exists. The response is always the same.
     */
    forgot(typed: string, address: string): void {
      if (!deps.passwords) return
      const work = async () => {
        const email = readEmail(typed)
        const login = await loginByEmail(db, email)
        if (!(await mayMail(email, address)) || login?.status !== 'active') return
        const of = { email, name: '', userId: login.userId, madeBy: null }
        await mailLink(email, 'reset', urlOf('reset', await makeLink('reset', of)))
      }
      inBackground(work)
    },

    /** Mails a link to create an account, if SIGN_UP allows it. The response is always the same. */
    signUp(typed: { email: string; name: string }, address: string): void {
      const work = async () => {
        const email = readEmail(typed.email)
        const name = typed.name.trim() === '' ? '' : readName(typed.name, email)
        if (!(await mayMail(email, address))) return
        if (await loginByEmail(db, email)) return mailLink(email, 'known', `${publicUrl()}/login`)
        if (!(await accounts.isAdmitted(profileOf({ id: 'nobody', email, name })))) return
        const of = { email, name, userId: null, madeBy: null }
        await mailLink(email, 'sign-up', urlOf('sign-up', await makeLink('sign-up', of)))
      }
      inBackground(work)
    },

    /**
     * Starts a change of address: mails a link to the old address, and then one to the new address.
     * @throws LoginProblem
     */
    async beginAddress(caller: Caller, typed: string): Promise<void> {
      const email = readEmail(typed)
      const login = await loginOfUser(db, caller.userId)
      if (!login || !hasMail) throw new LoginProblem(null, 'link_gone')
      const holder = await accountWithAddress(db, email)
      const isTaken = holder !== undefined && holder.id !== caller.userId
      if (isTaken || (await loginByEmail(db, email))) throw new LoginProblem('email', 'exists')
      const of = { email, name: '', userId: caller.userId, madeBy: null }
      const secret = await makeLink('address-from', of)
      await mailLink(login.email, 'address', urlOf('address', secret))
    },

    /**
     * Confirms a change of address by the link to either address.
     * @returns whether the change is complete @throws
     * LoginProblem
     */
    async confirmAddress(secret: string, from: Origin): Promise<boolean> {
      const hash = hashOfLink(secret)
      const link = await loginLink(db, hash, Date.now())
      const { kind, userId, email } = link ?? { kind: null, userId: null, email: '' }
      if (userId === null || (kind !== 'address-from' && kind !== 'address-to'))
        throw new LoginProblem(null, 'link_gone')
      const next = await change({ ...system, from }, async ({ tx, record }) => {
        if (!(await redeemLoginLink(db, hash, Date.now(), tx)))
          throw new LoginProblem(null, 'link_gone')
        if (kind === 'address-from')
          return makeLink('address-to', { email, name: '', userId, madeBy: null }, tx)
        const login = await loginOfUser(db, userId, tx)
        if (!login) throw new LoginProblem(null, 'link_gone')
        // Otherwise this account would lose its verified address.
        const holder = await lockUserWithAddress(db, email, tx)
        if (holder && holder.id !== userId) throw new LoginProblem('email', 'exists')
        await db.Login.update({ email }, { where: { id: login.id }, transaction: tx })
        await accounts.follow(profileOf({ ...login, email }), tx)
        // Deletes reset links, because they were sent to the old address.
        await db.LoginLink.destroy({ where: { userId }, transaction: tx })
        record(userId, { kind: 'address.changed', subject: userId })
        await notices.queue(login, 'address', tx)
        return null
      }).catch(error => {
        throw isDuplicate(error) ? new LoginProblem('email', 'exists') : error
      })
      if (next !== null) await mailLink(email, 'address', urlOf('address', next))
      notices.wake()
      return next === null
    },

    ofUser: (userId: string): Promise<LoginRow | undefined> => loginOfUser(db, userId),

    /** Whether a person must have a second factor in addition to the password. */
    async needsFactor({ userId }: LoginRow): Promise<boolean> {
      if (deps.secondFactor === 'nobody') return false
      return deps.secondFactor === 'all' || appointments.isNamed(userId)
    },

    /**
     * Checks an address and a password. An unknown address takes as long as a wrong password, and
     * has the same result.
     * @throws TOO_MANY_ATTEMPTS
     */
    async check(
      given: { email: string; password: string },
      { address, deviceOf }: LoginClient,
    ): Promise<LoginRow | null> {
      if (!deps.passwords) return null
      const email = canonicalEmail(given.email.trim()).slice(0, MAX_EMAIL)
      const subject = `login:${tokens.digest('login', email)}`
      const login = await loginByEmail(db, email)
      const device = login ? deviceOf(login.id) : null
      const verify = async () => {
        const hashed = login?.password ?? (await hashOfNobody())
        const right = await hashes.verify(hashed, given.password, keysOf(address))
        return right && login?.password != null
      }
      // Other people's guesses must not lock a person out of a device that has signed in before.
      const right = device
        ? await guesses.attempt(`${subject}:${device}`, address, verify)
        : await networks.attempt(address, () => guesses.attempt(subject, address, verify))
      return right && login ? login : null
    },

    find: (id: string): Promise<LoginRow | undefined> => loginById(db, id),

    /** Records that a person has signed in. */
    noteSignIn: (id: string): Promise<unknown> => noteSignIn(db, id, Date.now()),
  }
}

export type LoginService = ReturnType<typeof loginService>

/** The profile of an account, as its provider returns it. */
export const profileOf = ({
  id,
  email,
  name,
}: Pick<LoginRow, 'id' | 'email' | 'name'>): ProviderProfile => ({
  provider: accountsName,
  providerUserId: id,
  email,
  emailVerified: true,
  name,
  givenName: '',
  familyName: '',
  picture: '',
  locale: '',
})
