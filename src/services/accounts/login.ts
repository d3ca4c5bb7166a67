import { randomBytes } from 'node:crypto'
import pRetry from 'p-retry'
import { v7 as newId } from 'uuid'
import { isDuplicate, type Tx } from '../../../db/index.ts'
import type { LoginLink, LoginLinkKind } from '../../../db/models/login-link.ts'
import {
  hasLogins,
  type LoginRow,
  loginByEmail,
  loginById,
  noteSignIn,
} from '../../../db/queries/login.ts'
import { deleteLoginLinks, loginLink, redeemLoginLink } from '../../../db/queries/login-link.ts'
import type { Origin } from '../../access/caller.ts'
import { createNetworkBound, type GuessLimiter } from '../../access/guessing.ts'
import type { Passwords } from '../../access/password.ts'
import { accountsName } from '../../config/config.ts'
import { hashSecret, newSecret } from '../../runtime/tokens.ts'
import { DAY_MS } from '../../values/duration.ts'
import { MAX_EMAIL } from '../../values/limits.ts'
import { networkOf } from '../../values/network.ts'
import type { Core } from '../core.ts'
import type { AccountService } from './account.ts'
import { type PasswordProblem, problemOfPassword } from './password-rule.ts'
import { canonicalEmail, type ProviderProfile } from './profile.ts'

/** What is wrong with a form; the page finds the words. */
export type LoginProblemCode =
  | PasswordProblem
  | 'email_invalid'
  | 'name_long'
  | 'link_gone'
  | 'exists'

export class LoginProblem extends Error {
  readonly field: 'email' | 'name' | 'password' | null
  readonly code: LoginProblemCode

  constructor(field: LoginProblem['field'], code: LoginProblemCode) {
    super(code)
    this.field = field
    this.code = code
  }
}

/** What a person types to create an account. */
export interface Registration {
  /** Only for the first account: other links name the address. */
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

const MAX_NAME = 200
const lifetimes: Record<LoginLinkKind, number> = {
  first: DAY_MS,
  invite: 7 * DAY_MS,
  'sign-up': DAY_MS,
  reset: DAY_MS,
  address: DAY_MS,
}

const hashOf = (secret: string) => hashSecret(secret).toString('hex')

interface Deps extends Core<'db' | 'change' | 'coordination' | 'tokens' | 'publicUrl'> {
  accounts: AccountService
  guesses: GuessLimiter
  passwords: Passwords
}

/** Accounts of the service itself: docs/decisions/own-accounts.md. */
export function loginService(deps: Deps) {
  const { db, change, coordination, tokens, publicUrl, accounts, guesses, passwords } = deps
  const networks = createNetworkBound(coordination, 'satchel:sign-in')
  let isSetUp = false
  let nobody: Promise<string> | undefined

  /** The hash of a password that nobody knows: an unknown address takes as long as a known one. */
  function hashOfNobody(): Promise<string> {
    nobody ??= passwords.hash(randomBytes(24).toString('base64url'), ['sign-in'])
    return nobody
  }

  const keysOf = (address: string) => ['sign-in', `sign-in of ${networkOf(address)}`]

  /** @throws LoginProblem */
  async function requireStrong(password: string, email: string, name: string): Promise<void> {
    const host = new URL(publicUrl() || 'http://localhost').hostname
    const problem = await problemOfPassword(password, [email, name, host, 'satchel'])
    if (problem) throw new LoginProblem('password', problem)
  }

  async function makeLink(
    kind: LoginLinkKind,
    of: Pick<LoginLink, 'email' | 'name' | 'userId' | 'madeBy'>,
    tx?: Tx,
  ): Promise<string> {
    const secret = newSecret()
    const now = Date.now()
    const times = { createdAt: now, expiresAt: now + lifetimes[kind] }
    const row = { hash: hashOf(secret), kind, ...of, ...times }
    await db.LoginLink.create(row, tx ? { transaction: tx } : {})
    return secret
  }

  return {
    /** Whether there is an account, so that people can sign in. */
    async isSetUp(): Promise<boolean> {
      isSetUp ||= await hasLogins(db)
      return isSetUp
    },

    /**
     * Makes the secret of the page that creates the first account, for a day.
     * @returns null where there is an account
     */
    async beginFirst(): Promise<string | null> {
      if (await hasLogins(db)) return null
      return makeLink('first', { email: '', name: '', userId: null, madeBy: null })
    },

    /** A link that is still good, or null. */
    async findLink(secret: string): Promise<LoginLink | null> {
      return (await loginLink(db, hashOf(secret), Date.now())) ?? null
    },

    /**
     * Creates an account with a link, which ends with it.
     * @returns the id of the login
     * @throws LoginProblem, SignInRefused
     */
    async register(secret: string, given: Registration, from: Origin): Promise<string> {
      const hash = hashOf(secret)
      const link = await loginLink(db, hash, Date.now())
      if (!link || (link.kind !== 'first' && link.kind !== 'invite' && link.kind !== 'sign-up'))
        throw new LoginProblem(null, 'link_gone')
      const { kind } = link
      const email = kind === 'first' ? readEmail(given.email) : link.email
      const name = readName(given.name, email)
      await requireStrong(given.password, email, name)
      const password = await passwords.hash(given.password, ['sign-in'])
      const id = newId()
      const by = { userId: null, via: 'system', viaId: null, from } as const
      const create = () =>
        change(by, async ({ tx, record }) => {
          const now = Date.now()
          if (!(await redeemLoginLink(db, hash, now, tx))) throw new LoginProblem(null, 'link_gone')
          if (kind === 'first') {
            await deleteLoginLinks(db, 'first', tx)
            if (await hasLogins(db, tx)) throw new LoginProblem(null, 'link_gone')
          }
          const profile = profileOf({ id, email, name })
          const { userId } = await accounts.open(profile, kind !== 'sign-up', tx)
          const times = { createdAt: now, lastSignInAt: null }
          await db.Login.create({ id, userId, email, password, ...times }, { transaction: tx })
          if (kind !== 'first') return
          const appointed = { userId, appointedBy: userId, appointedAt: now }
          const isOperator = await db.Operator.findByPk(userId, { transaction: tx })
          if (isOperator) return
          await db.Operator.create(appointed, { transaction: tx })
          record(userId, { kind: 'operator.appointed', subject: userId })
        })
      // Of two parallel sign-ups with one address, the unique index refuses the second.
      await pRetry(create, { retries: 3, minTimeout: 5, shouldRetry: isDuplicate })
      isSetUp = true
      return id
    },

    /**
     * Checks an address and a password. An unknown address costs as much, and is answered like a
     * wrong password.
     * @throws TOO_MANY_ATTEMPTS
     */
    async check(
      given: { email: string; password: string },
      { address, deviceOf }: LoginClient,
    ): Promise<LoginRow | null> {
      const email = canonicalEmail(given.email.trim()).slice(0, MAX_EMAIL)
      const subject = `login:${tokens.digest('login', email)}`
      const login = await loginByEmail(db, email)
      const device = login ? deviceOf(login.id) : null
      const verify = async () => {
        const hashed = login?.password ?? (await hashOfNobody())
        const right = await passwords.verify(hashed, given.password, keysOf(address))
        return right && login?.password != null
      }
      // Guesses of others must not keep a person out on a device that has signed in before.
      const right = device
        ? await guesses.attempt(`${subject}:${device}`, address, verify)
        : await networks.attempt(address, () => guesses.attempt(subject, address, verify))
      return right && login ? login : null
    },

    find: (id: string): Promise<LoginRow | undefined> => loginById(db, id),

    /** Notes that a person has signed in. */
    noteSignIn: (id: string): Promise<unknown> => noteSignIn(db, id, Date.now()),
  }
}

export type LoginService = ReturnType<typeof loginService>

/** The profile of an account as its provider states it. */
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

/** @throws LoginProblem */
export function readEmail(text: string): string {
  const email = canonicalEmail(text.trim())
  const isAddress =
    /^[^\s\p{Cc}\p{Cf}\p{Cs}@<>()[\]",;:\\]+@[^\s\p{Cc}\p{Cf}\p{Cs}@<>()[\]",;:\\]+$/u
  if (email.length > MAX_EMAIL || !isAddress.test(email))
    throw new LoginProblem('email', 'email_invalid')
  return email
}

function readName(text: string, email: string): string {
  const name = text
    .normalize('NFC')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  if (name.length > MAX_NAME) throw new LoginProblem('name', 'name_long')
  return name || email.slice(0, email.indexOf('@'))
}
