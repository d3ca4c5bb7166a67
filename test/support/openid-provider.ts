import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Provider as Oidc } from 'oidc-provider'
import { createMemoryAdapter } from 'oidc-provider/lib/adapters/memory_adapter.js'
import { Provider } from 'oidc-provider/lib/provider.js'
import type { Browser } from '../unit/sign-in-browser.ts'

export interface Claims {
  sub: string
  email?: string
  email_verified?: boolean
  name?: string
  groups?: string[]
}

/** A real OpenID Connect provider. It signs in the user that the test selects. */
export interface OpenIdProvider {
  issuer: string
  /** Settings that make this a provider of a service, named <NAME>. */
  settings(name: string): Record<string, string>
  /** The next user to sign in. */
  user: Claims
  /** The private signing key, as a JWK with its `kid`. */
  key: JsonWebKey & { kid: string }
  /**
   * Changes a response of the provider. Receives the path without its slash, and returns undefined
   * to leave the response unchanged.
   */
  alter:
    | ((
        path: string,
        answer: Record<string, unknown>,
      ) => Promise<Record<string, unknown> | undefined>)
    | undefined
  /** Rotates the signing key. */
  rotate(): void
  /** Stops the provider from responding, or lets it respond again. */
  setDown(down: boolean): void
  /** Sends logout tokens to this URL. */
  setLogoutUrl(url: string): void
  /** Follows a sign-in from its beginning through the provider to the callback URL. */
  visit(browser: Browser, begun: Response): Promise<string>
  close(): Promise<void>
}

export const clientSecret = 'a secret of the client with / and +'

/** @param tls the certificate for localhost. Without it, the provider uses http. */
export async function openOpenIdProvider(tls?: {
  cert: Buffer
  key: Buffer
}): Promise<OpenIdProvider> {
  let [down, keys, logoutUrl] = [false, 0, '']
  let oidc: Oidc
  const listener = (req: IncomingMessage, res: ServerResponse) => {
    if (down) return void req.socket.destroy()
    if (req.url?.startsWith('/interaction/')) return void interact(req, res)
    changeAnswer(req, res)
    return void oidc.callback()(req, res)
  }
  const server = tls ? createTlsServer(tls, listener) : createServer(listener)
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  const origin = tls ? 'https://localhost' : 'http://127.0.0.1'
  const issuer = `${origin}:${typeof address === 'object' && address ? address.port : 0}`
  const remembered = createMemoryAdapter()

  const newKey = () => {
    keys += 1
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    return { ...privateKey.export({ format: 'jwk' }), kid: `key-${keys}`, alg: 'ES256', use: 'sig' }
  }

  function open(): void {
    oidc = new Provider(issuer, {
      adapter: remembered,
      claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: ['name'] },
      clients: [
        {
          client_id: 'satchel',
          client_secret: clientSecret,
          redirect_uris: ['https://satchel.invalid/auth/callback'],
          id_token_signed_response_alg: 'ES256',
          ...(logoutUrl
            ? { backchannel_logout_uri: logoutUrl, backchannel_logout_session_required: true }
            : {}),
          token_endpoint_auth_method: 'client_secret_basic',
        },
      ],
      clientAuthMethods: ['client_secret_basic'],
      cookies: { keys: ['a key of the cookies'] },
      enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
      features: {
        backchannelLogout: { enabled: true },
        devInteractions: { enabled: false },
        rpInitiatedLogout: {
          logoutSource: (ctx, form) => {
            ctx.body = form
          },
        },
      },
      // The default fetch of the provider refuses loopback addresses.
      fetch: (url, init) => {
        const { dispatcher: _, ...others } = (init ?? {}) as RequestInit & { dispatcher?: unknown }
        return fetch(url, others)
      },
      findAccount: async (_ctx, sub) => ({
        accountId: sub,
        claims: async () => ({ ...provider.user, sub }),
      }),
      interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
      jwks: { keys: [provider.key as never] },
      pkce: { required: () => true },
    })
    // The address of the service under test is known only later.
    oidc.Client.prototype.redirectUriAllowed = () => true
    oidc.Client.prototype.postLogoutRedirectUriAllowed = () => true
  }

  async function interact(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { sub } = provider.user
    const grant = new oidc.Grant({ accountId: sub, clientId: 'satchel' })
    grant.addOIDCScope('openid email profile')
    const result = { login: { accountId: sub }, consent: { grantId: await grant.save() } }
    await oidc.interactionFinished(req, res, result)
  }

  /** Passes the JSON responses of the provider to `alter`. */
  function changeAnswer(req: IncomingMessage, res: ServerResponse): void {
    const end = res.end.bind(res)
    const path = (req.url ?? '').slice(1).replace(/\?.*/, '')
    res.end = ((body?: unknown) => {
      if (!provider.alter || typeof body !== 'string' || !body.startsWith('{'))
        return end(body as string)
      void provider.alter(path, JSON.parse(body)).then(changed => {
        const text = changed ? JSON.stringify(changed) : body
        res.setHeader('content-length', Buffer.byteLength(text))
        end(text)
      })
      return res
    }) as typeof res.end
  }

  const provider: OpenIdProvider = {
    issuer,
    settings: name => ({
      [`OAUTH_${name}_CLIENT_ID`]: 'satchel',
      [`OAUTH_${name}_CLIENT_SECRET`]: clientSecret,
      [`OAUTH_${name}_ISSUER`]: issuer,
    }),
    user: { sub: 'alice-1', email: 'alice@example.com', email_verified: true, name: 'Alice' },
    key: newKey() as OpenIdProvider['key'],
    alter: undefined,
    rotate() {
      provider.key = newKey() as OpenIdProvider['key']
      open()
    },
    setDown(value) {
      down = value
    },
    setLogoutUrl(url) {
      logoutUrl = url
      open()
    },
    async visit(browser, begun) {
      let to = begun.headers.get('location') ?? ''
      for (let step = 0; step < 5 && !to.includes('/auth/callback'); step++)
        to = new URL((await browser.get(to)).headers.get('location') ?? '', to).href
      return to
    },
    close: () =>
      new Promise(done => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
  open()
  return provider
}
