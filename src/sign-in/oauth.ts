import type { IncomingMessage } from 'node:http'
import passport from 'passport'
import OAuth2Strategy from 'passport-oauth2'
import type { OAuthProvider } from '../config/config.ts'
import type { Log } from '../runtime/log.ts'
import { newSecret, type Tokens } from '../runtime/tokens.ts'
import { type ProviderProfile, SignInRefused } from '../services/accounts/account.ts'
import { excerpt } from '../values/excerpt.ts'
import { fetchBounded, readTokens } from './claims.ts'
import {
  createDiscovery,
  DiscoveryFailed,
  type Endpoints,
  isIssuerOf,
  type OpenId,
} from './discovery.ts'
import { checkIdToken, type IdClaims } from './id-token.ts'
import { createStateCookies, type Pending, type SignInRequest } from './state.ts'
import { readProfileOf } from './userinfo.ts'

/** A user whom a provider has authenticated. */
export interface Identified {
  profile: ProviderProfile
  /** The checked ID token, and the provider's session id if known; null for plain OAuth 2. */
  openId: { idToken: string; sid: string | null; issuedAt: number } | null
}

/** The sign-in requests to the providers. */
export interface OAuth {
  /**
   * Sends the browser to a provider, with a state, a PKCE challenge and, with OpenID Connect, a
   * nonce.
   * @throws SignInRefused `provider_unavailable` when the provider's endpoints cannot be read
   */
  begin(req: SignInRequest, provider: string): Promise<void>
  /** Consumes the sign-in that a callback belongs to, or null; the response removes its cookie. */
  take(req: SignInRequest): Pending | null
  /**
   * Redeems the code of a callback.
   * @throws SignInRefused `auth_failed` when the provider does not identify the user, with all its
   * responses, within two timeouts
   */
  finish(req: SignInRequest, pending: Pending): Promise<Identified>
  /** A provider and its token verifier; null for plain OAuth 2. @throws DiscoveryFailed */
  openIdOf(provider: string): Promise<{ provider: OAuthProvider; openId: OpenId } | null>
}

export interface OAuthOptions {
  providers: OAuthProvider[]
  tokens: Tokens
  publicUrl: () => string
  /** Whether the public URL is https. */
  secure: boolean
  /** The account to which a sign-in attaches its identity, if any. */
  linkTo: (req: SignInRequest) => Promise<string | null>
  /** Timeout of one response of the provider, in milliseconds. */
  timeoutMs: number
  log?: Log | undefined
}

/**
 * The code flow of passport-oauth2, without a session of passport: the state of a sign-in is in a
 * sealed cookie. The endpoints of OpenID Connect providers are read at once, so that the log
 * reports an unreachable provider early. A sign-in reads them again.
 */
export function createOAuth({
  providers,
  tokens,
  publicUrl,
  secure,
  linkTo,
  timeoutMs,
  log,
}: OAuthOptions): OAuth {
  const states = createStateCookies({ tokens, secure, linkTo })
  const authenticator = new passport.Authenticator()
  const known = new Map(
    providers.map(provider => {
      const onChange = (failure: DiscoveryFailed | null) =>
        failure
          ? log?.warn(
              { provider: provider.name, err: failure },
              'the sign-in provider cannot be used',
            )
          : log?.info({ provider: provider.name }, 'the sign-in provider can be used again')
      const endpoints = createDiscovery(provider, { timeoutMs, onChange })
      // The service does not serve requests yet.
      if (provider.reachedAt === undefined) endpoints().catch(() => {})
      return [provider.name, { provider, endpoints }] as const
    }),
  )

  /** A strategy for one step of one sign-in. */
  async function strategyOf(name: string, nonce: string): Promise<ProviderStrategy> {
    const of = known.get(name)
    if (!of) throw new Error(`There is no provider ${name}.`)
    const { provider, endpoints } = of
    const store = states.storeOf(name, nonce)
    return new ProviderStrategy({
      provider,
      endpoints: await endpoints(),
      nonce,
      store,
      publicUrl,
      timeoutMs,
    })
  }

  async function identify(req: SignInRequest, { provider, nonce }: Pending): Promise<Identified> {
    const { code, error } = req.query
    // The strategy would treat a callback without a code as a new sign-in.
    if (typeof code !== 'string' || code === '' || error !== undefined)
      throw new Error(`The provider returned no code: ${excerpt(String(error))}`)
    const strategy = await strategyOf(provider, nonce)
    strategy.requireIssuer(req.query.iss, providers)
    const profile = await new Promise<ProviderProfile>((resolve, reject) => {
      const settle = (failure: unknown, profile?: ProviderProfile | false | null) =>
        failure || !profile ? reject(failure) : resolve(profile)
      authenticator.authenticate(strategy, { session: false }, settle)(req, req.res, reject)
    })
    return { profile, openId: strategy.openIdSession() }
  }

  return {
    async begin(req, provider) {
      const strategy = await strategyOf(provider, newSecret(16)).catch(error => {
        if (!(error instanceof DiscoveryFailed)) throw error
        throw new SignInRefused('provider_unavailable', `${provider} cannot be reached.`)
      })
      // The client disconnected while the endpoints were read, and a closed response emits no
      // further event.
      if (req.res.closed || req.res.destroyed) return
      return new Promise((resolve, reject) => {
        // The strategy sends the response itself, and reports only errors.
        req.res.once('close', resolve)
        authenticator.authenticate(strategy, { session: false })(req, req.res, reject)
      })
    },

    take(req) {
      const pending = states.take(req)
      return pending && known.has(pending.provider) ? pending : null
    },

    async finish(req, pending) {
      const late = new Error('The provider takes too long to answer.')
      const deadline = AbortSignal.timeout(2 * timeoutMs)
      try {
        return await Promise.race([
          identify(req, pending),
          new Promise<never>((_, reject) => deadline.addEventListener('abort', () => reject(late))),
        ])
      } catch (error) {
        throw new SignInRefused('auth_failed', `The sign-in at ${pending.provider} has failed.`, {
          cause: causeOf(error),
        })
      }
    },

    async openIdOf(name) {
      const of = known.get(name)
      const openId = of && (await of.endpoints()).openId
      return openId ? { provider: of.provider, openId } : null
    },
  }
}

/** The library wraps the cause in a field that the log does not serialize. */
const causeOf = (error: unknown) =>
  error instanceof OAuth2Strategy.InternalOAuthError ? error.oauthError : error

interface StrategyOptions {
  provider: OAuthProvider
  endpoints: Endpoints
  nonce: string
  store: object
  publicUrl: () => string
  timeoutMs: number
}

class ProviderStrategy extends OAuth2Strategy {
  // Not #private: passport works on objects that inherit from this one.
  private readonly options: StrategyOptions
  /** The response of the token URL. */
  private readonly received: { idToken: string; idClaims: IdClaims | null } = {
    idToken: '',
    idClaims: null,
  }

  constructor(options: StrategyOptions) {
    const { provider, endpoints, store } = options
    super(
      {
        authorizationURL: endpoints.authorizeUrl,
        tokenURL: endpoints.tokenUrl,
        clientID: provider.clientId,
        clientSecret: provider.clientSecret,
        scope: provider.scopes,
        state: true,
        pkce: true,
        // The types lack the variant of a store that keeps a PKCE verifier.
        store: store as OAuth2Strategy.StateStore,
      },
      (
        _accessToken: string,
        _refreshToken: string,
        profile: ProviderProfile,
        done: OAuth2Strategy.VerifyCallback,
      ) => done(null, profile),
    )
    this.options = options
    // The library's own request has no timeout and no size limit.
    Object.assign(this._oauth2, {
      getOAuthAccessToken: (code: string, params: object, done: TokenCallback) =>
        void this.redeem(code, params).then(
          answer => done(answer.refused, answer.accessToken),
          done,
        ),
    })
  }

  // The public URL is known only once the service listens.
  override authenticate(req: IncomingMessage, options?: object): void {
    super.authenticate(req as Parameters<OAuth2Strategy['authenticate']>[0], {
      ...options,
      callbackURL: `${this.options.publicUrl()}/auth/callback`,
    })
  }

  override authorizationParams(): object {
    return this.options.endpoints.openId ? { nonce: this.options.nonce } : {}
  }

  /** The session of the provider, once the code is redeemed. */
  openIdSession(): Identified['openId'] {
    const { idToken, idClaims } = this.received
    if (!idClaims) return null
    return {
      idToken,
      sid: typeof idClaims.sid === 'string' && idClaims.sid !== '' ? idClaims.sid : null,
      issuedAt: idClaims.iat * 1000,
    }
  }

  /**
   * Checks the issuer in a callback (RFC 9207), because all providers share one callback URL and
   * must not be mixed up.
   * @param providers all configured providers: the issuer of a plain OAuth 2 provider is unknown,
   * but must not be that of another provider
   * @throws Error
   */
  requireIssuer(stated: unknown, providers: OAuthProvider[]): void {
    const { provider, endpoints } = this.options
    const { openId } = endpoints
    if (stated === undefined && !openId?.namesIssuer) return
    const isMeant =
      typeof stated === 'string' &&
      (openId
        ? stated === openId.issuer ||
          (openId.issuer.includes('{tenantid}') && isIssuerOf(provider, stated))
        : !providers.some(other => isIssuerOf(other, stated)))
    if (!isMeant) throw new Error('The callback names another issuer.')
  }

  override userProfile(
    accessToken: string,
    done: (error?: unknown, profile?: ProviderProfile) => void,
  ): void {
    const { provider, endpoints, timeoutMs } = this.options
    const { userinfoUrl } = endpoints
    const { idClaims } = this.received
    readProfileOf({ provider, userinfoUrl, accessToken, timeoutMs, idClaims }).then(
      profile => done(null, profile),
      done,
    )
  }

  private async redeem(
    code: string,
    params: object,
  ): Promise<{ refused: Refusal | null; accessToken?: string }> {
    const { provider, endpoints, nonce, timeoutMs } = this.options
    const { clientId, clientSecret } = provider
    const { basicOnly, openId, tokenUrl } = endpoints
    const secret = { client_id: clientId, client_secret: clientSecret }
    const body = new URLSearchParams({ ...params, code, ...(basicOnly ? {} : secret) })
    const headers: HeadersInit = basicOnly ? { Authorization: basicOf(clientId, clientSecret) } : {}
    const { ok, status, text } = await fetchBounded(
      tokenUrl,
      { method: 'POST', body, headers },
      timeoutMs,
    )
    if (!ok) return { refused: { statusCode: status, data: text } }
    const tokens = readTokens(text)
    if (!tokens) throw new Error('The response contains no access token.')
    const { accessToken, idToken } = tokens
    if (openId) {
      if (idToken === undefined) throw new Error('The response contains no ID token.')
      this.received.idToken = idToken
      this.received.idClaims = await checkIdToken(idToken, { openId, clientId, nonce, accessToken })
    }
    return { refused: null, accessToken }
  }
}

/**
 * The Authorization header of a client with a secret. RFC 6749, section 2.3.1: id and secret are
 * form-encoded.
 */
function basicOf(id: string, secret: string): string {
  const encode = (text: string) => new URLSearchParams({ t: text }).toString().slice(2)
  return `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}`
}

/**
 * The error object that the library expects for an unsuccessful response. The library reads the
 * OAuth error from it.
 */
interface Refusal {
  statusCode: number
  data: string
}

type TokenCallback = (error: unknown, accessToken?: string) => void
