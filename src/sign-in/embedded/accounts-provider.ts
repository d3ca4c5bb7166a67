import { hkdfSync } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Provider } from 'oidc-provider'
import type { Db } from '../../../db/index.ts'
import type { OAuthProvider } from '../../config/config.ts'
import { accountsName } from '../../config/config.ts'
import type { Tokens } from '../../runtime/tokens.ts'
import type { LoginService } from '../../services/accounts/login.ts'
import { createSigningKeys } from './signing-keys.ts'
import { createStateAdapter } from './state-adapter.ts'

export const PREFIX = '/sign-in'
const scopes = ['openid', 'email', 'profile']
const clientId = 'satchel'
const INTERACTION_SECONDS = 900

export interface AccountsProviderOptions {
  db: Db
  tokens: Tokens
  logins: LoginService
  publicUrl: string
  /** The origin at which this process reaches itself. */
  ownUrl: string
  onError: (error: unknown) => void
  /** The error page for an invalid request, with its headers. */
  errorPage: (req: IncomingMessage) => { headers: Record<string, string>; body: string }
}

export interface LoadedProvider {
  oidc: Provider
  answer: ReturnType<Provider['callback']>
}

/**
 * The OpenID Connect provider for the service's own accounts. Its state is in the database. Its
 * keys change every month, and the provider is then created again.
 */
export function createAccountsProvider(options: AccountsProviderOptions) {
  const { db, tokens, publicUrl, ownUrl } = options
  const issuer = publicUrl + PREFIX
  const keys = createSigningKeys(db, tokens)
  const clientSecret = tokens.digest('sign-in client', clientId)
  const host = new URL(publicUrl).host
  const proto = new URL(publicUrl).protocol.slice(0, -1)
  let made: { kids: string; loaded: Promise<LoadedProvider> } | undefined

  async function make(jwks: Awaited<ReturnType<typeof keys.current>>): Promise<LoadedProvider> {
    const { Provider } = await import('oidc-provider/lib/provider.js')
    const { logins, onError, errorPage } = options
    const off = { enabled: false }
    const cookie = {
      httpOnly: true,
      sameSite: 'lax',
      signed: true,
      secure: proto === 'https',
    } as const
    const cookieKey = hkdfSync('sha256', tokens.digest('sign-in cookies', ''), '', 'cookies', 32)
    const oidc = new Provider(issuer, {
      adapter: createStateAdapter(db),
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      clients: [
        {
          client_id: clientId,
          client_secret: clientSecret,
          redirect_uris: [`${publicUrl}/auth/callback`],
          grant_types: ['authorization_code'],
          response_types: ['code'],
          token_endpoint_auth_method: 'client_secret_post',
          id_token_signed_response_alg: 'ES256',
        },
      ],
      clientAuthMethods: ['client_secret_post'],
      clientBasedCORS: () => false,
      cookies: {
        keys: [Buffer.from(cookieKey).toString('base64url')],
        names: { interaction: 'sign_in', resume: 'sign_in_resume', session: 'sign_in_session' },
        long: { ...cookie, path: PREFIX },
        short: cookie,
      },
      // Tokens must not expire with a session, because the adapter stores no sessions.
      expiresWithSession: () => false,
      features: {
        devInteractions: off,
        dPoP: off,
        pushedAuthorizationRequests: off,
        resourceIndicators: off,
        rpInitiatedLogout: off,
      },
      findAccount: async (_ctx, sub) => {
        const login = await logins.find(sub)
        return login && login.status === 'active'
          ? {
              accountId: sub,
              claims: async () => ({
                sub,
                email: login.email,
                email_verified: true,
                name: login.name,
              }),
            }
          : undefined
      },
      interactions: { url: (_ctx, interaction) => `${PREFIX}/interaction/${interaction.uid}` },
      jwks: { keys: jwks as never },
      pkce: { required: () => true },
      renderError: async ctx => {
        const { headers, body } = errorPage(ctx.req)
        ctx.set(headers)
        ctx.body = body
      },
      responseTypes: ['code'],
      scopes,
      ttl: {
        AccessToken: 600,
        AuthorizationCode: 60,
        Grant: 600,
        IdToken: 600,
        Interaction: INTERACTION_SECONDS,
        Session: INTERACTION_SECONDS,
      },
    })
    // The library builds its URLs from the headers that `prepare` sets.
    oidc.proxy = true
    oidc.on('server_error', (_ctx, error) => onError(error))
    oidc.onerror = onError
    return { oidc, answer: oidc.callback() }
  }

  return {
    /**
     * The provider's entry among the sign-in providers, like that of any other OpenID Connect
     * provider.
     */
    provider: {
      name: accountsName,
      issuer,
      dialect: 'standard',
      signOut: false,
      authorizeUrl: `${issuer}/auth`,
      tokenUrl: `${ownUrl}${PREFIX}/token`,
      userinfoUrl: `${ownUrl}${PREFIX}/me`,
      clientId,
      clientSecret,
      scopes,
      reachedAt: ownUrl,
    } satisfies OAuthProvider,

    /** Rewrites the headers of a request as if it had been sent to the public URL directly. */
    prepare(req: IncomingMessage): void {
      for (const name of Object.keys(req.headers))
        if (name === 'forwarded' || name.startsWith('x-forwarded-')) delete req.headers[name]
      req.headers.host = host
      req.headers['x-forwarded-proto'] = proto
    },

    /** The provider with the current keys. */
    async current(): Promise<LoadedProvider> {
      const jwks = await keys.current()
      const kids = jwks.map(({ kid }) => kid).join(' ')
      if (made?.kids !== kids) {
        const loaded = make(jwks)
        made = { kids, loaded }
        loaded.catch(() => {
          made = undefined
        })
      }
      return made.loaded
    },

    /**
     * Finishes an interaction for an authenticated person. @returns the URL to continue at
     */
    async finish(
      req: Parameters<Provider['interactionResult']>[0],
      res: Parameters<Provider['interactionResult']>[1],
      accountId: string,
    ): Promise<string> {
      const { oidc } = await this.current()
      const grant = new oidc.Grant({ accountId, clientId })
      grant.addOIDCScope(scopes.join(' '))
      const resume = await oidc.interactionResult(req, res, {
        login: { accountId, remember: false },
        consent: { grantId: await grant.save() },
      })
      return new URL(resume).pathname
    },
  }
}

export type AccountsProvider = ReturnType<typeof createAccountsProvider>
