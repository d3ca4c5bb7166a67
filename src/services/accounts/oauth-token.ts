import type { Tx } from '../../../db/index.ts'
import { grantOfToken, refreshToken, useRefreshToken } from '../../../db/queries/oauth.ts'
import type { Caller, Origin } from '../../access/caller.ts'
import { AppError } from '../../runtime/errors.ts'
import { hashSecret, newSecret } from '../../runtime/tokens.ts'
import { DAY_MS } from '../../values/duration.ts'
import type { Core } from '../core.ts'
import type { RateLimitService } from '../rate-limit.ts'
import type { ApiKeyService } from './api-key.ts'
import { GrantError } from './login-term.ts'

/** The tokens of a grant, and their lifetime in seconds. */
export interface IssuedTokens {
  accessToken: string
  refreshToken: string
  expiresIn: number
}

/** Whose grant it is, and for which program and resource. */
export interface GrantOf {
  keyId: string
  clientId: string
  resource: string
  /** The end of the grant in milliseconds. */
  until: number | null
}

export const ACCESS_TOKEN = 'satchel_at_'
const REFRESH_TOKEN = 'satchel_rt_'

const ACCESS_MS = 15 * 60_000
/** An unused grant ends after this time. */
const REFRESH_MS = 60 * DAY_MS
/** How long a used refresh token may be repeated, by a program that did not get the answer. */
const GRACE_MS = 30_000

const hashOf = (token: string): string => hashSecret(token).toString('hex')

/**
 * The short-lived tokens of grants. A grant is an API key whose own secret nobody has, so it is
 * listed, limited and ended like the others.
 */
export function oauthTokenService({
  db,
  apiKeys,
  rateLimits,
  findCaller,
}: Core<'db'> & {
  apiKeys: Pick<ApiKeyService, 'removeItself'>
  rateLimits: RateLimitService
  findCaller: (credential: Pick<Caller, 'via' | 'credentialId'>) => Promise<Caller | null>
}) {
  /** Creates a pair of tokens in a transaction. */
  async function issue({ keyId, clientId, resource, until }: GrantOf, tx: Tx) {
    const now = Date.now()
    const [accessToken, refresh] = [ACCESS_TOKEN + newSecret(), REFRESH_TOKEN + newSecret()]
    const ends = (ms: number) => Math.min(now + ms, until ?? Number.POSITIVE_INFINITY)
    const of = { keyId, clientId, resource, usedAt: null }
    for (const [kind, token, ms] of [
      ['access', accessToken, ACCESS_MS],
      ['refresh', refresh, REFRESH_MS],
    ] as const)
      await db.OAuthToken.create(
        { ...of, kind, hash: hashOf(token), expiresAt: ends(ms) },
        { transaction: tx },
      )
    const expiresIn = Math.floor((ends(ACCESS_MS) - now) / 1000)
    return { accessToken, refreshToken: refresh, expiresIn } satisfies IssuedTokens
  }

  const callerOf = (keyId: string) => findCaller({ via: 'api_key', credentialId: keyId })

  return {
    issue,

    /**
     * Exchanges a refresh token for new tokens. A token that is presented again later was stolen or
     * copied, and ends its grant.
     * @throws GrantError, RATE_LIMITED
     */
    async refresh(
      given: { token: string; clientId: string; resource: string | undefined },
      from: Origin,
    ): Promise<{ caller: Caller; tokens: IssuedTokens; scope: string }> {
      const refused = new GrantError(
        'invalid_grant',
        'The refresh token is unknown, used or expired. Start the login again.',
      )
      const row = await refreshToken(db, hashOf(given.token))
      const now = Date.now()
      if (!row || row.expiresAt <= now || row.clientId !== given.clientId) throw refused
      const { keyId, clientId, resource, scopes, keyExpiresAt: until } = row
      if (given.resource !== undefined && given.resource.replace(/\/$/, '') !== resource)
        throw new GrantError('invalid_target', 'The refresh token is for another resource.')
      const found = await callerOf(keyId)
      if (!found) throw refused
      const caller = { ...found, from }
      const since = now - GRACE_MS
      // New tokens are rows that stay for weeks. A stolen token must end its grant at any rate.
      if (row.usedAt === null || row.usedAt > since)
        await rateLimits.hit('api_keys', `grant ${keyId}`, {})
      const tokens = await db.transaction(async tx => {
        const isFirst = await useRefreshToken(db, row.hash, { now, since }, tx)
        return isFirst ? issue({ keyId, clientId, resource, until }, tx) : null
      })
      if (tokens) return { caller, tokens, scope: scopes }
      await apiKeys.removeItself(caller).catch(error => {
        // A parallel request has ended the grant already.
        if (!(error instanceof AppError) || error.code !== 'API_KEY_NOT_FOUND') throw error
      })
      throw refused
    },

    /** The caller of the grant of a token; null if there is none. */
    async grantOf(token: string): Promise<Caller | null> {
      const found = await grantOfToken(db, hashOf(token))
      return found ? callerOf(found.keyId) : null
    },
  }
}

export type OAuthTokenService = ReturnType<typeof oauthTokenService>
