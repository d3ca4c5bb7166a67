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

/** What checks the ID tokens of a provider. */
export interface OpenId {
  /** The issuer as tokens name it; `{tenantid}` stands for the tenant of the user (Microsoft). */
  issuer: string
  keys: JWTVerifyGetKey
  /** Signature algorithms that are accepted, all of them with public keys. */
  algorithms: string[]
  /** Where a browser signs out at the provider, or null. */
  endSessionUrl: string | null
  /** Whether every callback names the issuer (RFC 9207). */
  namesIssuer: boolean
}

/** Thrown when the endpoints of a provider could not be read. The message says what to do. */
export class DiscoveryFailed extends Error {}

const freshMs = 3_600_000
/**
 * How long a failed request is not repeated: anyone can cause one, by a sign-in or a logout token.
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
   * Called with the first failure of an outage and with each that differs from the one before, and
   * once it works again.
   */
  onChange?: (failure: DiscoveryFailed | null) => void
}

/**
 * Answers the endpoints of a provider. They are read when they are first asked for, and again after
 * an hour; while the provider does not answer, those read before stay valid. Callers that ask at
 * the same time share one request, and those within seconds of a failure share the failure.
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

/** The address at which this process reaches a provider's URL. */
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
 * Whether a text names the issuer of a provider, as far as that is known without its configuration.
 */
export function isIssuerOf(
  { issuer, dialect }: Pick<OAuthProvider, 'issuer' | 'dialect'>,
  stated: string,
): boolean {
  if (issuer === null) return false
  return dialect === 'microsoft' ? isTenantOf(issuer, stated) : stated.replace(/\/$/, '') === issuer
}

/**
 * Microsoft answers with the id of the tenant, or a placeholder for it, whatever name of the tenant
 * it is asked for.
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
 * The keys of a provider: kept for ten minutes, and read again for an unknown key id, at most every
 * 30 seconds. The library waits after a success only, so what it would refuse fails here.
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
 * A request that is not sent again for some seconds after it has failed; until then it fails in the
 * same way.
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
