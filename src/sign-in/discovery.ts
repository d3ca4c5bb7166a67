import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose'
import { z } from 'zod'
import type { OAuthProvider } from '../config/config.ts'
import { parseJson } from '../values/json.ts'
import { fetchBounded } from './claims.ts'

/** The endpoints and properties of a provider. */
export interface Endpoints {
  authorizeUrl: string
  tokenUrl: string
  /** "" for a provider that states everything in its ID token. */
  userinfoUrl: string
  /** Whether the token URL accepts the client's secret only by HTTP Basic. */
  basicOnly: boolean
  /** Null for plain OAuth 2. */
  openId: OpenId | null
}

/** The data that verifies the ID tokens of a provider. */
export interface OpenId {
  /** The issuer as tokens name it; `{tenantid}` stands for the tenant of the user (Microsoft). */
  issuer: string
  keys: JWTVerifyGetKey
  /** Accepted signature algorithms. All use public keys. */
  algorithms: string[]
  /** The URL at which a browser signs out of the provider, or null. */
  endSessionUrl: string | null
  /** Whether every callback names the issuer (RFC 9207). */
  namesIssuer: boolean
}

/** Thrown when the endpoints of a provider could not be read. The message says what to do. */
export class DiscoveryFailed extends Error {}

const freshMs = 3_600_000
/**
 * The delay before a failed request is repeated, because anyone can cause requests with a sign-in
 * or a logout token.
 */
const failedMs = 5000

// Not HS256: its key would be the client secret, which a leaked configuration or another client of
// the provider may have.
const accepted = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]

const url = z.url({ protocol: /^https?$/ })
const metadata = z.object({
  issuer: z.string(),
  authorization_endpoint: url,
  token_endpoint: url,
  userinfo_endpoint: url.optional(),
  jwks_uri: url,
  end_session_endpoint: url.optional(),
  id_token_signing_alg_values_supported: z.array(z.string()).default(['RS256']),
  // The default of OpenID Connect Discovery 1.0.
  token_endpoint_auth_methods_supported: z.array(z.string()).default(['client_secret_basic']),
  authorization_response_iss_parameter_supported: z.boolean().default(false),
})
type Metadata = z.output<typeof metadata>

export interface DiscoveryOptions {
  timeoutMs: number
  /**
   * Called with the first failure of an outage, with each failure that differs from the previous
   * one, and after the outage.
   */
  onChange?: (failure: DiscoveryFailed | null) => void
}

/**
 * Reads the endpoints of a provider on first use, and again after an hour. During an outage of the
 * provider, the previous endpoints stay valid. Concurrent callers share one request, and callers
 * within seconds of a failure share the failure.
 * @returns a function that throws DiscoveryFailed
 */
export function createDiscovery(
  provider: OAuthProvider,
  { timeoutMs, onChange }: DiscoveryOptions,
) {
  const { issuer, authorizeUrl, tokenUrl, userinfoUrl } = provider
  if (issuer === null) {
    const plain: Endpoints = { authorizeUrl, tokenUrl, userinfoUrl, basicOnly: false, openId: null }
    return async () => plain
  }

  let known: { endpoints: Endpoints; keysUrl: string; until: number } | undefined
  let running: Promise<Endpoints> | undefined
  let reported: string | undefined
  const readOrWait = withPause(() => readMetadata(provider, issuer, timeoutMs))

  const report = (failure: DiscoveryFailed | null) => {
    if (failure?.message !== reported) onChange?.(failure)
    reported = failure?.message
  }

  async function discover(): Promise<Endpoints> {
    try {
      const read = await readOrWait()
      const keys = known?.keysUrl === read.jwks_uri ? known.endpoints.openId?.keys : undefined
      const endpoints: Endpoints = {
        authorizeUrl: authorizeUrl || read.authorization_endpoint,
        tokenUrl: tokenUrl || read.token_endpoint,
        userinfoUrl: userinfoUrl || (read.userinfo_endpoint ?? ''),
        basicOnly: !read.token_endpoint_auth_methods_supported.includes('client_secret_post'),
        openId: {
          issuer: read.issuer,
          keys: keys ?? keysAt(reachable(provider, read.jwks_uri), timeoutMs),
          algorithms: accepted.filter(name =>
            read.id_token_signing_alg_values_supported.includes(name),
          ),
          endSessionUrl: read.end_session_endpoint ?? null,
          namesIssuer: read.authorization_response_iss_parameter_supported,
        },
      }
      known = { endpoints, keysUrl: read.jwks_uri, until: Date.now() + freshMs }
      report(null)
      return endpoints
    } catch (error) {
      if (!(error instanceof DiscoveryFailed)) throw error
      report(error)
      if (!known) throw error
      known.until = Date.now() + timeoutMs
      return known.endpoints
    }
  }

  return async (): Promise<Endpoints> => {
    if (known && known.until > Date.now()) return known.endpoints
    running ??= discover().finally(() => {
      running = undefined
    })
    return running
  }
}

/** The URL at which this process reaches a provider's URL. */
const reachable = ({ reachedAt }: OAuthProvider, url: string): string =>
  reachedAt === undefined ? url : reachedAt + new URL(url).pathname

async function readMetadata(
  provider: OAuthProvider,
  issuer: string,
  timeoutMs: number,
): Promise<Metadata> {
  const { name, dialect } = provider
  const where = reachable(provider, `${issuer}/.well-known/openid-configuration`)
  const setting = `OAUTH_${name.toUpperCase().replaceAll('-', '_')}_ISSUER`
  const fail = (what: string, cause?: unknown): never => {
    throw new DiscoveryFailed(
      `${where} ${what}. Check ${setting}, and that this machine reaches the provider.`,
      {
        cause,
      },
    )
  }
  const { ok, status, text } = await fetchBounded(where, {}, timeoutMs).catch(error =>
    fail('does not answer', error),
  )
  if (!ok) return fail(`answers ${status}`)
  const { data, error } = metadata.safeParse(parseJson(text))
  if (!data) return fail('is no OpenID Connect configuration', error)
  if (!isIssuerOf({ issuer, dialect }, data.issuer))
    return fail(`is of another issuer, ${JSON.stringify(data.issuer.slice(0, 200))}`)
  const insecure = Object.values(data).find(
    value => typeof value === 'string' && value.startsWith('http:'),
  )
  if (issuer.startsWith('https:') && insecure) return fail('names a URL that is not https')
  return data
}

/**
 * Whether a text is the issuer of a provider, judged without fetching the provider's configuration.
 */
export function isIssuerOf(
  { issuer, dialect }: Pick<OAuthProvider, 'issuer' | 'dialect'>,
  stated: string,
): boolean {
  if (issuer === null) return false
  return dialect === 'microsoft' ? isTenantOf(issuer, stated) : stated.replace(/\/$/, '') === issuer
}

/**
 * Microsoft returns the tenant's id or a placeholder, whatever name of the tenant is requested.
 */
function isTenantOf(issuer: string, stated: string): boolean {
  const [, host = ''] = /^(https?:\/\/[^/]+)\//.exec(issuer) ?? []
  return (
    stated.startsWith(`${host}/`) &&
    /^\/(\{tenantid\}|[\da-f-]{36})\/v2\.0$/.test(stated.slice(host.length))
  )
}

const keySet = z.object({ keys: z.array(z.record(z.string(), z.unknown())) })

/**
 * The keys of a provider, cached for ten minutes, and fetched again for an unknown key id at most
 * every 30 seconds. The library applies this delay only after a success. This function also applies
 * it after a failure.
 */
function keysAt(at: string, timeoutMs: number): JWTVerifyGetKey {
  const read = withPause(async () => {
    const { status, text } = await fetchBounded(at, {}, timeoutMs)
    if (status !== 200) throw new Error(`${at} answers ${status}.`)
    if (!keySet.safeParse(parseJson(text)).success) throw new Error(`${at} is no set of keys.`)
    return text
  })
  return createRemoteJWKSet(new URL(at), { [customFetch]: async () => new Response(await read()) })
}

/**
 * Wraps a request so that it is not repeated for some seconds after a failure. Until then, calls
 * fail with the same error.
 */
function withPause<T>(send: () => Promise<T>): () => Promise<T> {
  let failure: { error: unknown; until: number } | undefined
  return async () => {
    if (failure && failure.until > Date.now()) throw failure.error
    failure = undefined
    try {
      return await send()
    } catch (error) {
      failure = { error, until: Date.now() + failedMs }
      throw error
    }
  }
}
