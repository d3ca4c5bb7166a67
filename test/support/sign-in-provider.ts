import { createServer } from 'node:http'
import { Browser } from '../unit/sign-in-browser.ts'

/** An OAuth 2 provider that accepts every code, and takes it for the address of the user. */
export interface TestProvider {
  /** Settings that make this the only provider of a service. */
  settings: Record<string, string>
  close(): Promise<void>
}

export async function openProvider(): Promise<TestProvider> {
  const server = createServer((req, res) => {
    let body = ''
    req.on('data', chunk => {
      body += chunk
    })
    req.on('end', () => {
      const code = new URLSearchParams(body).get('code')
      const email = Buffer.from(
        req.headers.authorization?.replace('Bearer ', '') ?? '',
        'base64url',
      ).toString()
      const answer =
        req.url === '/token'
          ? { access_token: Buffer.from(code ?? '').toString('base64url'), token_type: 'Bearer' }
          : { sub: email, email, email_verified: true, name: email.replace(/@.*/, '') }
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const base = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
  return {
    settings: {
      OAUTH_HUB_CLIENT_ID: 'satchel',
      OAUTH_HUB_CLIENT_SECRET: 'the secret of the client',
      OAUTH_HUB_AUTHORIZE_URL: `${base}/authorize`,
      OAUTH_HUB_TOKEN_URL: `${base}/token`,
      OAUTH_HUB_USERINFO_URL: `${base}/me`,
    },
    close: () => new Promise(resolve => server.close(() => resolve())),
  }
}

/** Signs in through the provider like a browser. Returns the response of the callback. */
export async function signInBy(
  browser: Browser,
  url: string,
  email: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  const begun = await browser.get(`${url}/auth/oauth`, { headers })
  const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state') ?? ''
  return browser.get(`${url}/auth/callback?${new URLSearchParams({ code: email, state })}`, {
    headers,
  })
}

/** A browser that has signed in. */
export async function newBrowser(
  url: string,
  email: string,
  headers: Record<string, string> = {},
): Promise<Browser> {
  const browser = new Browser()
  const { status } = await signInBy(browser, url, email, headers)
  if (status !== 302 || !browser.jar.has('session_id'))
    throw new Error(`The sign-in of ${email} answers ${status}.`)
  return browser
}
