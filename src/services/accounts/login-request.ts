import { createHash, randomInt } from 'node:crypto'
import { v7 as newId } from 'uuid'
import type { Tx } from '../../../db/index.ts'
import { isAlive } from '../../../db/queries/caller.ts'
import {
  type Decision,
  decideLoginRequest,
  deleteLoginRequest,
  type LoginRequestRow,
  loginRequestByCode,
  notePoll,
  pendingLoginRequest,
  redeemLoginRequest,
  slowDownPolls,
} from '../../../db/queries/login-request.ts'
import type { Caller, Origin } from '../../access/caller.ts'
import type { GuessLimiter } from '../../access/guessing.ts'
import { hasSession, type KeyScope } from '../../access/scopes.ts'
import { AppError, InvalidInput } from '../../runtime/errors.ts'
import { hashSecret, isSame, newSecret } from '../../runtime/tokens.ts'
import { truncateAddress } from '../../values/network.ts'
import type { Core } from '../core.ts'
import type { RateLimitService } from '../rate-limit.ts'
import type { ApiKeyService, NewApiKey } from './api-key.ts'
import {
  type Authorization,
  GrantError,
  type LoginTerms,
  readAuthorization,
  readLifetime,
  readRedirect,
  redirectTo,
} from './login-term.ts'
import type { OAuthClientService } from './oauth-client.ts'
import type { IssuedTokens, OAuthTokenService } from './oauth-token.ts'

interface Deps extends Core<'db' | 'tokens' | 'publicUrl'> {
  apiKeys: ApiKeyService
  oauthClients: OAuthClientService
  oauthTokens: OAuthTokenService
  guesses: GuessLimiter
  rateLimits: RateLimitService
  findCaller: (credential: Pick<Caller, 'via' | 'credentialId'>) => Promise<Caller | null>
}

/** A waiting program, as the approving person sees it. */
export interface LoginRequestView extends LoginTerms {
  userCode: string
  /** The network of the program. */
  network: string
  createdAt: number
  expiresAt: number
}

export interface DeviceCodes {
  deviceCode: string
  userCode: string
  /** In seconds. */
  expiresIn: number
  interval: number
}

/** A request for a loopback redirect, in the form of the graph. */
export interface LoginInput {
  clientId: string
  clientName?: string | null | undefined
  redirectUri: string
  codeChallenge: string
  scopes: readonly string[]
  keyExpiresIn?: string | null | undefined
  state?: string | null | undefined
}

/** The granted key, and the person who approved it. */
export interface Granted {
  caller: Caller
  key: NewApiKey
  /** Set if the program gets tokens of the key instead of its secret. */
  tokens?: IssuedTokens | undefined
}

type CodeGiven = Record<'code' | 'verifier' | 'redirectUri' | 'clientId', string> & {
  resource?: string | undefined
}

/**
 * Letters that are neither vowels nor easily confused (RFC 8628, section 6.1). Eight of them are 35
 * bits.
 */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const CODE_SECONDS = 60
const DEVICE_SECONDS = 600
const POLL_SECONDS = 5
const SLOWEST_POLL_SECONDS = 60
/** How much earlier than announced a program may poll, in milliseconds. */
const GRACE_MS = 1000
const PURPOSE = 'user-code'

/**
 * Gives programs an API key of the person who approves them in a browser
 * (docs/decisions/program-logins.md).
 */
export function loginRequestService(deps: Deps) {
  const { db, tokens, publicUrl, apiKeys, guesses, rateLimits, findCaller } = deps
  const { oauthClients, oauthTokens } = deps

  const hashOf = (code: string) => hashSecret(code).toString('hex')

  /**
   * Inserts a row.
   * @returns its id
   */
  const store = (
    terms: LoginTerms,
    more: Pick<LoginRequestRow, 'state' | 'expiresAt'> & Partial<LoginRequestRow>,
    code: string,
  ) =>
    db.LoginRequest.create({
      id: newId(),
      codeHash: hashOf(code),
      userCode: null,
      clientId: terms.clientId,
      name: terms.name,
      scopes: terms.scopes.join(' '),
      lifetime: terms.lifetime,
      challenge: '',
      redirectUri: '',
      resource: null,
      network: '',
      userId: null,
      sessionId: null,
      createdAt: Date.now(),
      polledAt: null,
      pollInterval: POLL_SECONDS,
      ...more,
    })

  /**
   * Finds a program by the code that the person types.
   * @throws LOGIN_REQUEST_NOT_FOUND, TOO_MANY_ATTEMPTS
   */
  async function findByUserCode(typed: string, address: string): Promise<LoginRequestRow> {
    const letters = lettersOf(typed)
    let row: LoginRequestRow | undefined
    try {
      await guesses.attempt('user codes', address, async () => {
        if (letters !== null)
          row = await pendingLoginRequest(db, tokens.digest(PURPOSE, letters), Date.now())
        return row !== undefined
      })
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'TOO_MANY_ATTEMPTS') throw error
      throw new AppError(
        'TOO_MANY_ATTEMPTS',
        error.message.replace('passwords', 'codes'),
        error.details,
      )
    }
    if (!row) throw loginRequestNotFound()
    return row
  }

  async function decide(
    caller: Caller,
    { userCode, address }: { userCode: string; address: string },
    state: Decision['state'],
    expiresIn?: string | null,
  ): Promise<LoginRequestView> {
    hasSession(caller)
    const chosen = expiresIn ? readLifetime(expiresIn) : undefined
    const row = await findByUserCode(userCode, address)
    if (state === 'approved') await apiKeys.requireAllowed(caller, row.scopes.split(' '))
    const decision = {
      state,
      userId: caller.userId,
      sessionId: caller.credentialId,
      lifetime: chosen ?? row.lifetime,
    }
    if (!(await decideLoginRequest(db, row.id, decision, Date.now()))) throw loginRequestNotFound()
    return viewOf(row, userCode)
  }

  /**
   * Creates the key and deletes the row in the same transaction, so that concurrent requests with
   * one code get one key.
   * @param from the address from which the program presents its code
   * @param ended the error if the approving session or account has ended
   */
  async function grant(
    row: LoginRequestRow,
    from: Origin,
    ended: GrantError,
    used: GrantError,
  ): Promise<Granted> {
    const found =
      row.sessionId === null
        ? null
        : await findCaller({ via: 'session', credentialId: row.sessionId })
    if (!found || found.userId !== row.userId) throw ended
    const caller = { ...found, from }
    const first = async (tx: Tx) => {
      if (!(await isAlive(db, caller, tx))) throw ended
      if (!(await redeemLoginRequest(db, row.id, Date.now(), tx))) throw used
    }
    const { resource } = row
    if (resource !== null) return grantTokens(caller, { ...row, resource }, first)
    const description = `For the program ${row.clientId}, which has signed in ${row.userCode === null ? 'through a browser' : 'with a code'}.`
    const input = {
      name: row.name,
      description,
      scopes: row.scopes.split(' '),
      expiresIn: `${row.lifetime}s`,
    }
    return { caller, key: await createKey(caller, input, first) }
  }

  /** Like `createPrivateAfter`, with the errors of OAuth. */
  const createKey: ApiKeyService['createPrivateAfter'] = async (...given) => {
    try {
      return await apiKeys.createPrivateAfter(...given)
    } catch (error) {
      if (error instanceof AppError && error.code === 'QUOTA_EXCEEDED')
        throw new GrantError('invalid_grant', error.message)
      throw error
    }
  }

  /** Creates a grant: a key, of which the program gets tokens but not the secret. */
  async function grantTokens(
    caller: Caller,
    {
      clientId,
      name,
      scopes,
      lifetime,
      redirectUri,
      resource,
    }: LoginRequestRow & { resource: string },
    first: (tx: Tx) => Promise<void>,
  ): Promise<Granted> {
    const input = {
      name,
      description: `For the assistant at ${new URL(redirectUri).host}, which uses ${resource}.`,
      scopes: scopes.split(' '),
      expiresIn: `${lifetime}s`,
    }
    let tokens: IssuedTokens | undefined
    const key = await createKey(caller, input, first, async (tx, { id, expiresAt }) => {
      tokens = await oauthTokens.issue({ keyId: id, clientId, resource, until: expiresAt }, tx)
    })
    await oauthClients.keep(clientId)
    return { caller, key, tokens }
  }

  /**
   * Approves a request in the browser of the program's computer.
   * @param expiresIn the lifetime of the key, if the person chose another one than requested
   * @returns the redirect URL
   * @throws KEY_OUT_OF_BOUNDS, QUOTA_EXCEEDED, INVALID_DURATION, INVALID_INPUT
   */
  async function approve(
    caller: Caller,
    asked: Authorization,
    expiresIn?: string | null,
  ): Promise<string> {
    hasSession(caller)
    const lifetime = expiresIn ? readLifetime(expiresIn) : asked.lifetime
    await apiKeys.requireAllowed(caller, asked.scopes)
    const code = newSecret()
    const { challenge, redirectUri, resource = null } = asked
    const by = { userId: caller.userId, sessionId: caller.credentialId }
    const expiresAt = Date.now() + CODE_SECONDS * 1000
    await store(
      { ...asked, lifetime },
      { state: 'approved', challenge, redirectUri, resource, expiresAt, ...by },
      code,
    )
    return redirectTo(asked, publicUrl(), { code })
  }

  return {
    approve,

    /**
     * Like `approve`, for a request in the form of the graph.
     * @throws INVALID_INPUT, INVALID_SCOPE, and the errors of `approve`
     */
    async approveInput(caller: Caller, input: LoginInput): Promise<string> {
      const given: Record<string, string | null | undefined> = {
        response_type: 'code',
        client_id: input.clientId,
        client_name: input.clientName,
        redirect_uri: input.redirectUri,
        state: input.state,
        scope: input.scopes.join(' '),
        code_challenge: input.codeChallenge,
        code_challenge_method: 'S256',
        key_expires_in: input.keyExpiresIn,
      }
      const parameters = (name: string) => given[name] || undefined
      try {
        return await approve(caller, readAuthorization(parameters, readRedirect(parameters)))
      } catch (error) {
        if (!(error instanceof GrantError)) throw error
        if (error.error === 'invalid_scope')
          throw new AppError('INVALID_SCOPE', error.message, { field: 'scope' })
        throw new InvalidInput(error.field ?? 'code_challenge', error.message)
      }
    },

    /** The redirect URL when the person refuses. */
    refuse: (asked: Authorization): string =>
      redirectTo(asked, publicUrl(), {
        error: 'access_denied',
        error_description: 'The person has refused the login.',
      }),

    /**
     * Starts the device flow.
     * @throws RATE_LIMITED
     */
    async begin(terms: LoginTerms, address: string): Promise<DeviceCodes> {
      const network = truncateAddress(address)
      await rateLimits.hit('device_logins', `network ${network}`, {})
      const deviceCode = newSecret()
      const letters = Array.from({ length: 8 }, () => LETTERS[randomInt(LETTERS.length)]).join('')
      const userCode = tokens.digest(PURPOSE, letters)
      const expiresAt = Date.now() + DEVICE_SECONDS * 1000
      await store(terms, { state: 'pending', userCode, network, expiresAt }, deviceCode)
      return {
        deviceCode,
        userCode: shown(letters),
        expiresIn: DEVICE_SECONDS,
        interval: POLL_SECONDS,
      }
    },

    /**
     * The request with this code.
     * @param address the address of the visitor, for the limits on guesses
     * @throws LOGIN_REQUEST_NOT_FOUND, TOO_MANY_ATTEMPTS
     */
    find: async (userCode: string, address: string): Promise<LoginRequestView> =>
      viewOf(await findByUserCode(userCode, address), userCode),

    /** @throws KEY_OUT_OF_BOUNDS, LOGIN_REQUEST_NOT_FOUND, TOO_MANY_ATTEMPTS, QUOTA_EXCEEDED */
    approveDevice: (
      caller: Caller,
      by: { userCode: string; address: string },
      expiresIn?: string | null,
    ) => decide(caller, by, 'approved', expiresIn),

    /** @throws KEY_OUT_OF_BOUNDS, LOGIN_REQUEST_NOT_FOUND, TOO_MANY_ATTEMPTS */
    refuseDevice: (caller: Caller, by: { userCode: string; address: string }) =>
      decide(caller, by, 'refused'),

    /**
     * Exchanges an authorization code for a key. A code that is presented wrongly is revoked.
     * @throws GrantError
     */
    async exchange(given: CodeGiven, from: Origin): Promise<Granted> {
      const unknown = new GrantError(
        'invalid_grant',
        'The code is unknown, used or expired. Start the login again.',
      )
      const row = await loginRequestByCode(db, hashOf(given.code))
      if (!row || row.userCode !== null || row.expiresAt <= Date.now()) throw unknown
      const isTheirs =
        row.clientId === given.clientId &&
        row.redirectUri === given.redirectUri &&
        /^[\w\-.~]{43,128}$/.test(given.verifier) &&
        isSame(challengeOf(given.verifier), row.challenge) &&
        (given.resource === undefined || given.resource.replace(/\/$/, '') === row.resource)
      if (!isTheirs) {
        await deleteLoginRequest(db, row.id)
        throw new GrantError(
          'invalid_grant',
          'The code belongs to another login (client_id, redirect_uri, resource or code_verifier). It has been revoked.',
        )
      }
      const ended = new GrantError(
        'invalid_grant',
        'The session that has approved this login has ended.',
      )
      return grant(row, from, ended, unknown)
    },

    /**
     * Responds to a polling program.
     * @param given `isPaced`: whether a program that polls too fast is slowed down, by default yes
     * @throws GrantError
     */
    async poll(
      given: { deviceCode: string; clientId: string; isPaced?: boolean },
      from: Origin,
    ): Promise<Granted> {
      const row = await loginRequestByCode(db, hashOf(given.deviceCode))
      if (!row || row.userCode === null || row.clientId !== given.clientId)
        throw new GrantError(
          'invalid_grant',
          'The device code is unknown or used. Start the login again.',
        )
      const now = Date.now()
      if (row.expiresAt <= now)
        throw new GrantError('expired_token', 'The code has expired. Start the login again.')
      const { isPaced = true } = given
      if (isPaced && !(await notePoll(db, row.id, now, GRACE_MS))) {
        await slowDownPolls(db, row.id, POLL_SECONDS, SLOWEST_POLL_SECONDS)
        throw new GrantError('slow_down', 'Wait five seconds longer between two requests.')
      }
      if (row.state === 'refused')
        throw new GrantError('access_denied', 'The person has refused the login.')
      if (row.state === 'pending')
        throw new GrantError('authorization_pending', 'The person has not decided yet.')
      const ended = new GrantError(
        'access_denied',
        'The session that has approved this login has ended.',
      )
      const used = new GrantError(
        'invalid_grant',
        'The device code is used. Start the login again.',
      )
      return grant(row, from, ended, used)
    },
  }
}

const challengeOf = (verifier: string): string =>
  createHash('sha256').update(verifier).digest('base64url')

/** The letters of a user code in any spelling. Null if it cannot be one. */
function lettersOf(typed: string): string | null {
  const letters = typed.slice(0, 64).toUpperCase().replaceAll(/[\s-]/g, '')
  return letters.length === 8 && [...letters].every(letter => LETTERS.includes(letter))
    ? letters
    : null
}

const shown = (letters: string): string => `${letters.slice(0, 4)}-${letters.slice(4)}`

function viewOf(row: LoginRequestRow, typed: string): LoginRequestView {
  const { clientId, name, scopes, lifetime, network, createdAt, expiresAt } = row
  const userCode = shown(lettersOf(typed) ?? '')
  return {
    clientId,
    name,
    scopes: scopes.split(' ') as KeyScope[],
    lifetime,
    network,
    createdAt,
    expiresAt,
    userCode,
  }
}

export const loginRequestNotFound = () =>
  new AppError(
    'LOGIN_REQUEST_NOT_FOUND',
    'No program waits with this code. It may be mistyped, answered or expired: start the login again.',
  )
