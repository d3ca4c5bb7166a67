import type { IncomingMessage } from 'node:http'
import passport from 'passport'
import OAuth2Strategy from 'passport-oauth2'
import type { OAuthProvider } from '../config/config.ts'
import type { Tokens } from '../runtime/tokens.ts'
import { type ProviderProfile, SignInRefused } from '../services/accounts/account.ts'
import { excerpt } from '../values/excerpt.ts'
import { fetchBounded, readClaims, readToken } from './claims.ts'
import { createStateCookies, type Pending, type SignInRequest } from './state.ts'

/** The round trips to the providers. */
export interface OAuth {
  /** Sends the browser to a provider, with a state and a PKCE challenge. */
  begin(req: SignInRequest, provider: string): Promise<void>
  /** Consumes the sign-in that a callback belongs to, or null; the response removes its cookie. */
  take(req: SignInRequest): Pending | null
  /**
   * Redeems the code of a callback.
   * @throws SignInRefused `auth_failed` when the provider does not identify the user, within two timeouts at most
   */
  finish(req: SignInRequest, pending: Pending): Promise<ProviderProfile>
}

export interface OAuthOptions {
  providers: OAuthProvider[]
  tokens: Tokens
  publicUrl: () => string
  /** Whether the public URL is https. */
  secure: boolean
  /** The account that a sign-in is to attach its identity to, if any. */
  linkTo: (req: SignInRequest) => Promise<string | null>
  /** Timeout of one response of the provider, in milliseconds. */
  timeoutMs: number
}

/** One strategy per provider, without a session of passport: the state of a sign-in is in a sealed cookie. */
export function createOAuth({ providers, tokens, publicUrl, secure, linkTo, timeoutMs }: OAuthOptions): OAuth {
  const states = createStateCookies({ tokens, secure, linkTo })
  const authenticator = new passport.Authenticator()
  for (const provider of providers) {
    const strategy = new ProviderStrategy(provider, states.storeOf(provider.name), publicUrl, timeoutMs)
    authenticator.use(provider.name, strategy)
  }
  const known = new Set(providers.map(provider => provider.name))

  return {
    begin: (req, provider) =>
      new Promise((resolve, reject) => {
        // The strategy ends the response itself; only an error is handed back.
        req.res.once('close', resolve)
        authenticator.authenticate(provider, { session: false })(req, req.res, reject)
      }),

    take(req) {
      const pending = states.take(req)
      return pending && known.has(pending.provider) ? pending : null
    },

    finish(req, { provider }) {
      return new Promise((resolve, reject) => {
        const refuse = (cause: unknown) =>
          reject(new SignInRefused('auth_failed', `The sign-in at ${provider} has failed.`, { cause: causeOf(cause) }))
        const { code, error } = req.query
        // The strategy would treat a callback without a code as a new sign-in.
        if (typeof code !== 'string' || code === '' || error !== undefined)
          return refuse(new Error(`The provider returned no code: ${excerpt(String(error))}`))
        const settle = (failure: unknown, profile?: ProviderProfile | false | null) =>
          failure || !profile ? refuse(failure) : resolve(profile)
        authenticator.authenticate(provider, { session: false }, settle)(req, req.res, refuse)
      })
    },
  }
}

/** The library wraps the cause in a field that the log does not serialize. */
const causeOf = (error: unknown) => (error instanceof OAuth2Strategy.InternalOAuthError ? error.oauthError : error)

class ProviderStrategy extends OAuth2Strategy {
  // Not #private: passport works on objects that inherit from this one.
  private readonly provider: OAuthProvider
  private readonly publicUrl: () => string
  private readonly timeoutMs: number

  constructor(provider: OAuthProvider, store: object, publicUrl: () => string, timeoutMs: number) {
    super(
      {
        authorizationURL: provider.authorizeUrl,
        tokenURL: provider.tokenUrl,
        clientID: provider.clientId,
        clientSecret: provider.clientSecret,
        scope: provider.scopes,
        state: true,
        pkce: true,
        // The types lack the variant of a store that keeps a PKCE verifier.
        store: store as OAuth2Strategy.StateStore,
      },
      (_accessToken: string, _refreshToken: string, profile: ProviderProfile, done: OAuth2Strategy.VerifyCallback) =>
        done(null, profile),
    )
    this.provider = provider
    this.publicUrl = publicUrl
    this.timeoutMs = timeoutMs
    // The library's own request has no limit of time or size.
    Object.assign(this._oauth2, {
      getOAuthAccessToken: (code: string, params: object, done: TokenCallback) =>
        void this.redeem(code, params).then(answer => done(answer.refused, answer.accessToken), done),
    })
  }

  // The public URL is known only once the service listens.
  override authenticate(req: IncomingMessage, options?: object): void {
    super.authenticate(req as Parameters<OAuth2Strategy['authenticate']>[0], {
      ...options,
      callbackURL: `${this.publicUrl()}/auth/callback`,
    })
  }

  override userProfile(accessToken: string, done: (error?: unknown, profile?: ProviderProfile) => void): void {
    this.readProfile(accessToken).then(profile => done(null, profile), done)
  }

  private async redeem(code: string, params: object): Promise<{ refused: Refusal | null; accessToken?: string }> {
    const { clientId, clientSecret, tokenUrl } = this.provider
    const body = new URLSearchParams({ ...params, code, client_id: clientId, client_secret: clientSecret })
    const { ok, status, text } = await fetchBounded(tokenUrl, { method: 'POST', body }, this.timeoutMs)
    if (!ok) return { refused: { statusCode: status, data: text } }
    const accessToken = readToken(text)
    if (!accessToken) throw new Error('The answer contains no access token.')
    return { refused: null, accessToken }
  }

  private async readProfile(accessToken: string): Promise<ProviderProfile> {
    const headers = { Authorization: `Bearer ${accessToken}` }
    const { ok, status, text } = await fetchBounded(this.provider.userinfoUrl, { headers }, this.timeoutMs)
    if (!ok) throw new Error(`The userinfo URL answered ${status}.`)
    return readClaims(this.provider.name, text)
  }
}

/** The error object that the library expects for an unsuccessful response: it reads the OAuth error in it. */
interface Refusal {
  statusCode: number
  data: string
}

type TokenCallback = (error: unknown, accessToken?: string) => void
