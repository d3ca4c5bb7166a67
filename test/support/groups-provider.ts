import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createMemoryAdapter } from 'oidc-provider/lib/adapters/memory_adapter.js'
import { Provider } from 'oidc-provider/lib/provider.js'
import { Browser } from '../unit/sign-in-browser.ts'

/** A user at the provider. */
export interface Grouped {
  sub: string
  groups?: string | string[]
}

/**
 * An OpenID provider (`oidc-provider`) that sends the groups of its users in the claim `groups`.
 */
export interface GroupsProvider {
  /** Settings that make this the only provider of a service. */
  settings: Record<string, string>
  /** Starts to serve the service at a URL. */
  serve(serviceUrl: string): void
  /** Signs a person in to that service with a new browser. Returns the browser. */
  signIn(person: Grouped): Promise<Browser>
  close(): Promise<void>
}

const client = { id: 'satchel', secret: 'the secret of the client' }
const off = { enabled: false }

export async function openGroupsProvider(): Promise<GroupsProvider> {
  const people = new Map<string, Grouped>()
  let answer: (req: IncomingMessage, res: ServerResponse) => unknown = (_req, res) =>
    res.writeHead(503).end()
  let serviceUrl = ''
  const server = createServer((req, res) => void answer(req, res))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const issuer = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`

  return {
    settings: {
      OAUTH_HUB_CLIENT_ID: client.id,
      OAUTH_HUB_CLIENT_SECRET: client.secret,
      OAUTH_HUB_AUTHORIZE_URL: `${issuer}/auth`,
      OAUTH_HUB_TOKEN_URL: `${issuer}/token`,
      OAUTH_HUB_USERINFO_URL: `${issuer}/me`,
      OAUTH_HUB_SCOPES: 'openid email groups',
    },

    serve(url) {
      serviceUrl = url
      const oidc = new Provider(issuer, {
        adapter: createMemoryAdapter(),
        claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
        clients: [
          {
            client_id: client.id,
            client_secret: client.secret,
            redirect_uris: [`${url}/auth/callback`],
            token_endpoint_auth_method: 'client_secret_post',
          },
        ],
        cookies: { keys: ['the key of the cookies'] },
        features: { devInteractions: off },
        findAccount: async (_ctx, sub) => {
          const person = people.get(sub)
          const email = `${sub}@example.com`
          return (
            person && {
              accountId: sub,
              claims: async () => ({ ...person, email, email_verified: true }),
            }
          )
        },
        interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
        jwks: {
          keys: [
            generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
              format: 'jwk',
            }),
          ],
        },
        ttl: {
          AccessToken: 600,
          AuthorizationCode: 60,
          Grant: 600,
          IdToken: 600,
          Interaction: 3600,
          Session: 3600,
        },
      })
      const handle = oidc.callback()
      answer = async (req, res) => {
        if (!req.url?.startsWith('/interaction/')) return handle(req, res)
        const accountId = String(req.headers['x-person'])
        const grant = new oidc.Grant({ accountId, clientId: client.id })
        grant.addOIDCScope('openid email groups')
        return oidc.interactionFinished(req, res, {
          login: { accountId },
          consent: { grantId: await grant.save() },
        })
      }
    },

    async signIn(person) {
      people.set(person.sub, person)
      const browser = new Browser()
      let url = `${serviceUrl}/auth/oauth`
      for (let step = 0; step < 10; step++) {
        const { status, headers } = await browser.get(url, { headers: { 'x-person': person.sub } })
        const next = headers.get('location')
        if (next === null)
          throw new Error(`The sign-in of ${person.sub} failed with ${status} at ${url}.`)
        url = new URL(next, browser.last).href
        if (browser.jar.has('session_id')) return browser
      }
      throw new Error(`The sign-in of ${person.sub} did not finish.`)
    },

    close: () => new Promise(resolve => server.close(() => resolve())),
  }
}
