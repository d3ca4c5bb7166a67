import { randomBytes } from 'node:crypto'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  request,
  type Server,
} from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import type { Db } from '../../db/index.ts'
import { SERVICE_LOG } from '../../db/models/event.ts'
import { callerFinder } from '../../src/access/credential.ts'
import type { OAuthProvider } from '../../src/config/config.ts'
import { localCoordination } from '../../src/coordination/local.ts'
import { createTokens } from '../../src/runtime/tokens.ts'
import { accountService } from '../../src/services/accounts/account.ts'
import { sessionService } from '../../src/services/accounts/session.ts'
import { createEmbeddedSignIn, type EmbeddedSignIn } from '../../src/sign-in/embedded/provider.ts'
import { createAuthRoutes } from '../../src/sign-in/routes.ts'
import { checkAnswer } from '../contract/answers.ts'
import { altered } from '../support/altered.ts'
import { doorListener } from '../support/door-listener.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { testWord } from '../unit/sign-in-browser.ts'

let db: Db
let drop: () => Promise<void>
let origin: string
/** The app that listens at `origin`, and a copy whose cookies are set for https. */
let service: RequestListener
let secureService: RequestListener
const servers: Server[] = []
const signIns: EmbeddedSignIn[] = []

/** The next response of the provider "odd". */
const odd = {
  token: '',
  userinfo: '',
  userinfoStatus: 200,
  asked: [] as { url: string; headers: IncomingHttpHeaders; body: string }[],
}

beforeAll(async () => {
  ;({ db, drop } = await freshDatabase())
  origin = await listen((req, res) => {
    if (req.url?.startsWith('/sign-in')) return local?.handle(req, res)
    if (req.url?.startsWith('/secure/'))
      return secureService(Object.assign(req, { url: req.url.slice(7) }), res)
    service(req, res)
  })
  const redirectUri = `${origin}/auth/callback`
  const local = await createEmbeddedSignIn({
    publicUrl: origin,
    redirectUri,
    key: randomBytes(32),
    word: testWord,
  })
  const labOrigin = await listen((req, res) => lab?.handle(req, res))
  const lab = await createEmbeddedSignIn({
    publicUrl: labOrigin,
    redirectUri,
    key: randomBytes(32),
    word: testWord,
  })
  signIns.push(local, lab)
  const oddOrigin = await listen(answerOddly)
  const silentOrigin = await listen(() => {})
  const closedOrigin = await listen(() => {})
  servers.pop()?.close()

  const at = (name: string, base: string): OAuthProvider => ({
    name,
    issuer: null,
    dialect: 'standard',
    signOut: false,
    authorizeUrl: `${base}/authorize?kept=1`,
    tokenUrl: `${base}/token`,
    userinfoUrl: `${base}/userinfo`,
    clientId: 'satchel',
    clientSecret: 'a secret & more',
    scopes: ['read:user', 'user:email'],
  })
  const options = {
    providers: [
      local.provider,
      { ...lab.provider, name: 'lab' },
      at('odd', oddOrigin),
      at('silent', silentOrigin),
      at('closed', closedOrigin),
    ],
    sessions: sessionService({ db, sessionSeconds: 3600 }),
    accounts: accountService({ db, coordination: localCoordination() }),
    tokens: createTokens('k'.repeat(32)),
    publicUrl: () => origin,
    allowedOrigins: ['https://app.example.com'],
    clientViewer: callerFinder(db),
    // The other providers respond from this process, which may be busy with other tests.
    providerTimeoutMs: 2500,
  }
  service = doorListener(createAuthRoutes({ ...options, secure: false }))
  secureService = doorListener(createAuthRoutes({ ...options, secure: true }))
})

afterAll(async () => {
  for (const signIn of signIns) signIn.close()
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
  await drop()
})

afterEach(async () => {
  for (const table of ['session', 'identity', 'entry', 'bucket', 'user'])
    await db.run(`DELETE FROM ${table}`)
})

async function listen(handle: RequestListener): Promise<string> {
  const server = createServer(handle)
  servers.push(server)
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  return `http://localhost:${typeof address === 'object' && address ? address.port : 0}`
}

const answerOddly: RequestListener = (req, res) => {
  let body = ''
  req.on('data', part => {
    body += part
  })
  req.on('end', () => {
    odd.asked.push({ url: req.url ?? '', headers: req.headers, body })
    if (req.url === '/token') return res.end(odd.token)
    res.writeHead(odd.userinfoStatus, { Location: '/elsewhere' }).end(odd.userinfo)
  })
}

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  cookies: string[]
  location: string
  body: string
}

/** A browser that follows no redirects by itself, and keeps the cookies of localhost. */
class Browser {
  readonly jar = new Map<string, { path: string; value: string }>()
  last = ''

  send(method: string, to: string, more: Record<string, string> = {}, body = ''): Promise<Answer> {
    const url = new URL(to, this.last || origin)
    this.last = url.href
    const cookies = [...this.jar]
      .filter(([, c]) => url.pathname.startsWith(c.path))
      .map(([name, c]) => `${name}=${c.value}`)
    const headers = {
      ...(cookies.length > 0 ? { Cookie: cookies.join('; ') } : {}),
      Host: url.host,
      ...more,
    }
    return new Promise((resolve, reject) => {
      const path = url.pathname + url.search
      request({ host: '127.0.0.1', port: url.port, path, method, headers }, res =>
        resolve(this.read(url, method, res)),
      )
        .on('error', reject)
        .end(body)
    })
  }

  private async read(url: URL, method: string, res: IncomingMessage): Promise<Answer> {
    const { statusCode: status = 0, headers } = res
    const body = (await res.setEncoding('utf8').toArray()).join('')
    const cookies = headers['set-cookie'] ?? []
    for (const line of cookies) this.keep(line)
    if (url.origin === origin) {
      const contentType = headers['content-type']
      const value =
        body && contentType?.startsWith('application/json') ? JSON.parse(body) : undefined
      checkAnswer({
        method,
        url: url.pathname.replace(/^\/secure/, ''),
        status,
        contentType,
        text: body,
        value,
      })
    }
    return { status, headers, cookies, location: headers.location ?? '', body }
  }

  get = (to: string, headers?: Record<string, string>) => this.send('GET', to, headers)

  private keep(line: string): void {
    const [pair = '', ...attributes] = line.split(/; */)
    const [name = '', value = ''] = pair.split('=')
    const path = attributes.find(a => /^path=/i.test(a))?.slice(5) ?? '/'
    if (value && !/expires=Thu, 01 Jan 1970/i.test(line)) this.jar.set(name, { path, value })
    else this.jar.delete(name)
  }

  /**
   * Starts at the service and fills in the form of the embedded provider. Returns the address of
   * the callback.
   */
  async visitProvider(
    email: string,
    start: string,
    { verified = true, headers = {} } = {},
  ): Promise<string> {
    const begun = await this.get(start, headers)
    expect(begun.status).toBe(302)
    const form = await this.get(begun.location)
    await this.get(form.location)
    const typed = new URLSearchParams({
      word: 'sesame',
      email,
      name: '',
      ...(verified ? { verified: 'yes' } : {}),
    }).toString()
    const sent = await this.send(
      'POST',
      this.last,
      { 'Content-Type': 'application/x-www-form-urlencoded' },
      typed,
    )
    return (await this.get(sent.location)).location
  }

  async signIn(
    email: string,
    start = '/auth/oauth',
    how: Parameters<Browser['visitProvider']>[2] = {},
  ): Promise<Answer> {
    const callback = await this.visitProvider(email, new URL(start, origin).href, how)
    expect(callback).toMatch(`${origin}/auth/callback?code=`)
    return this.get(callback)
  }

  async isValid() {
    return JSON.parse((await this.get(`${origin}/auth/is_valid`)).body)
  }

  /** Starts at a provider without pages, and calls back with the given code. */
  async callBack(
    provider: string,
    answer = 'code=x',
    start = `/auth/oauth?provider=${provider}&return_to=/files`,
  ) {
    const begun = await this.get(new URL(start, origin).href)
    const state = new URL(begun.location).searchParams.get('state')
    return this.get(`${origin}/auth/callback?state=${state}&${answer}`)
  }
}

const anonymous = { status: 200, msg: 'ok', response: { authenticated: false, user_info: null } }
const identities = () => db.Identity.findAll({ raw: true, order: ['createdAt', 'id'] })

function expectEnvelope(answer: Answer, status: number, code: string, details: object = {}): void {
  expect(answer.status).toBe(status)
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(answer.headers['cache-control']).toBe('no-store')
  expect(JSON.parse(answer.body)).toEqual({
    status,
    msg: expect.any(String),
    response: { code, ...details },
  })
}

describe('GET /auth/oauth', () => {
  it('redirects to the first provider with state and PKCE, stored in a cookie', async () => {
    const { status, location, cookies, headers } = await new Browser().get('/auth/oauth')
    const url = new URL(location)
    expect([status, url.origin + url.pathname]).toEqual([302, `${origin}/sign-in/auth`])
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: 'satchel',
      response_type: 'code',
      redirect_uri: `${origin}/auth/callback`,
      scope: 'openid email profile',
      state: expect.stringMatching(/^[\w-]{22}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    const state = url.searchParams.get('state')
    expect(cookies).toEqual([
      expect.stringMatching(
        `^oauth_${state}=[\\w-]+; Max-Age=600; Path=/auth; .*HttpOnly; SameSite=Lax$`,
      ),
    ])
    expect(headers['cache-control']).toBe('no-store')
    expect(headers['x-powered-by']).toBeUndefined()
  })

  it('redirects to a named provider with its own scopes', async () => {
    const url = new URL((await new Browser().get('/auth/oauth?provider=odd')).location)
    expect(url.pathname).toBe('/authorize')
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      kept: '1',
      scope: 'read:user user:email',
    })
  })

  it('sets Secure cookies when the public address is https', async () => {
    const { cookies } = await new Browser().get('/secure/auth/oauth')
    expect(cookies).toEqual([expect.stringMatching(/; HttpOnly; Secure; SameSite=Lax$/)])
  })

  it('400 for an unknown provider, and for a repeated parameter', async () => {
    const browser = new Browser()
    expectEnvelope(await browser.get('/auth/oauth?provider=nope'), 400, 'INVALID_INPUT', {
      field: 'provider',
    })
    expectEnvelope(
      await browser.get('/auth/oauth?provider=odd&provider=lab'),
      400,
      'INVALID_INPUT',
      {
        field: 'provider',
      },
    )
    expectEnvelope(
      await browser.get('/auth/oauth?return_to=/a&return_to=/b'),
      400,
      'INVALID_INPUT',
      {
        field: 'return_to',
      },
    )
    expect(browser.jar.size).toBe(0)
  })

  it('treats an empty parameter as absent, and ignores unknown parameters', async () => {
    const { status, location } = await new Browser().get('/auth/oauth?provider=&return_to=&x=1&x=2')
    expect([status, new URL(location).pathname]).toEqual([302, '/sign-in/auth'])
  })

  it('keeps the cookies of the last few sign-ins only', async () => {
    const browser = new Browser()
    for (let i = 0; i < 8; i++) await browser.get('/auth/oauth?provider=odd')
    expect(browser.jar.size).toBe(5)
  })

  it('redirects to the public host name of this computer first', async () => {
    const page = {
      'Sec-Fetch-Mode': 'navigate',
      'Sec-Fetch-Dest': 'document',
      'Sec-Fetch-Site': 'none',
    }
    const host = `127.0.0.1:${new URL(origin).port}`
    const asked = await new Browser().get('/auth/oauth?provider=odd&return_to=/x', {
      ...page,
      Host: host,
    })
    expect([asked.status, asked.location]).toEqual([
      302,
      `${origin}/auth/oauth?provider=odd&return_to=/x`,
    ])
    for (const headers of [
      page,
      { ...page, Host: '127.0.0.1:1' },
      { ...page, Host: 'files.example.com' },
      { Host: host },
    ])
      expect(
        new URL((await new Browser().get('/auth/oauth?provider=odd', headers)).location).pathname,
      ).toBe('/authorize')
  })
})

describe('GET /auth/callback', () => {
  it('signs in: sets a session cookie and redirects to the public address', async () => {
    const browser = new Browser()
    const done = await browser.signIn('alice@example.com')
    expect([done.status, done.location]).toEqual([302, `${origin}/`])
    expect(done.cookies).toEqual([
      expect.stringMatching(/^oauth_[\w-]{22}=; Max-Age=0; Path=\/auth; HttpOnly; SameSite=Lax$/),
      expect.stringMatching(
        /^known_device=[\w-]+; Max-Age=31536000; Path=\/auth; HttpOnly; SameSite=Lax$/,
      ),
      'provider_session=; Max-Age=0; Path=/auth/sign_out; HttpOnly; SameSite=Lax',
      expect.stringMatching(
        /^session_id=[\w-]{43}; Max-Age=3(600|5\d\d); Path=\/; HttpOnly; SameSite=Lax$/,
      ),
    ])
    expect([...browser.jar.keys()].filter(name => name.startsWith('oauth_'))).toEqual([])
    const { response, ...envelope } = await browser.isValid()
    expect(envelope).toEqual({ status: 200, msg: 'ok' })
    const [user] = await db.User.findAll({ raw: true })
    expect(response).toEqual({
      authenticated: true,
      user_info: {
        sub: user?.id,
        email: 'alice@example.com',
        email_verified: true,
        name: 'alice',
        picture: '',
      },
      via: 'session',
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
  })

  it('starts a new session at every sign-in, and ends the previous session of the browser', async () => {
    const browser = new Browser()
    browser.jar.set('session_id', { path: '/', value: 'planted' })
    await browser.signIn('alice@example.com')
    const first = browser.jar.get('session_id')?.value
    expect(first).not.toBe('planted')
    await browser.signIn('alice@example.com')
    expect(browser.jar.get('session_id')?.value).not.toBe(first)
    expect(await db.Session.count()).toBe(1)
  })

  it('redirects to return_to', async () => {
    const done = await new Browser().signIn(
      'alice@example.com',
      '/auth/oauth?return_to=%2Fdocs%3Fa%3D1%23part',
    )
    expect(done.location).toBe('/docs?a=1#part')
  })

  it.each([
    '//evil.example',
    '/\\evil.example',
    '/%5cevil.example',
    'https://evil.example',
    '/auth/logout',
    '/a\r\nb',
  ])('redirects to the public address instead of %j', async to => {
    const done = await new Browser().signIn(
      'alice@example.com',
      `/auth/oauth?return_to=${encodeURIComponent(to)}`,
    )
    expect(done.location).toBe(`${origin}/`)
  })

  it('lets two tabs sign in side by side', async () => {
    const browser = new Browser()
    const first = await browser.visitProvider('alice@example.com', '/auth/oauth?return_to=/first')
    const second = await browser.visitProvider(
      'bob@example.com',
      `${origin}/auth/oauth?return_to=/second&provider=lab`,
    )
    expect((await browser.get(first)).location).toBe('/first')
    expect((await browser.get(second)).location).toBe('/second')
  })

  it('invalid_state for a state that is missing, wrong, used, or from another browser', async () => {
    const browser = new Browser()
    const callback = await browser.visitProvider('alice@example.com', '/auth/oauth?return_to=/docs')
    const wrong = new URL(callback)
    wrong.searchParams.set('state', 'A'.repeat(22))
    const without = new URL(callback)
    without.searchParams.delete('state')
    const failed = [302, `${origin}/?error=invalid_state`]
    for (const url of [wrong.href, without.href, `${origin}/auth/callback`]) {
      const { status, location } = await browser.get(url)
      expect([status, location]).toEqual(failed)
    }
    expect((await new Browser().get(callback)).location).toBe(failed[1])
    expect((await browser.get(callback)).location).toBe('/docs')
    expect((await browser.get(callback)).location).toBe(failed[1])
    expect(await db.Session.count()).toBe(1)
  })

  it('invalid_state for a cookie of another state, and for an altered cookie', async () => {
    const browser = new Browser()
    const [a, b] = [
      await browser.get('/auth/oauth?provider=odd'),
      await browser.get('/auth/oauth?provider=odd'),
    ]
    const [first, second] = [a, b].map(
      begun => `oauth_${new URL(begun.location).searchParams.get('state')}`,
    )
    const value = browser.jar.get(first ?? '')?.value ?? ''
    for (const put of [value, altered(value), 'x']) {
      browser.jar.set(second ?? '', { path: '/auth', value: put })
      const { location } = await browser.get(`/auth/callback?code=x&state=${second?.slice(6)}`)
      expect(location).toBe(`${origin}/?error=invalid_state`)
    }
  })

  it('400 for a repeated parameter', async () => {
    expectEnvelope(
      await new Browser().get('/auth/callback?state=a&state=b'),
      400,
      'INVALID_INPUT',
      { field: 'state' },
    )
  })

  it('email_unverified for the address of an unverified account', async () => {
    await new Browser().signIn('alice@example.com')
    const mallory = new Browser()
    const done = await mallory.signIn(
      'alice@example.com',
      '/auth/oauth?provider=lab&return_to=/docs?a=1',
      {
        verified: false,
      },
    )
    expect(done.location).toBe('/docs?a=1&error=email_unverified')
    expect(await mallory.isValid()).toEqual(anonymous)
  })

  it('logs refused sign-ins to the account, or to the service if there is none, at a limited rate', async () => {
    await db.Event.destroy({ where: {} })
    const alice = new Browser()
    await alice.signIn('alice@example.com')
    const { sub } = (await alice.isValid()).response.user_info
    const refusals = async () =>
      (
        await db.Event.findAll({ where: { kind: 'sign_in.refused' }, order: ['seq'], raw: true })
      ).map(({ logId, actorId, viaId, details }) => ({
        logId,
        actorId,
        viaId,
        ...JSON.parse(details),
      }))
    const claim = () =>
      new Browser().signIn('alice@example.com', '/auth/oauth?provider=lab', { verified: false })
    await claim()
    const nobody = { logId: sub, actorId: null, viaId: null }
    const claimed = {
      ...nobody,
      refusal: 'email_unverified',
      provider: 'lab',
      network: '127.0.0.0/24',
    }
    expect(await refusals()).toEqual([{ ...claimed, device: expect.any(String) }])
    await db.run("UPDATE user SET status = 'suspended' WHERE id = ?", [sub])
    expect((await new Browser().signIn('alice@example.com')).location).toMatch(/error=auth_failed$/)
    expect((await refusals())[1]).toMatchObject({ ...nobody, refusal: 'suspended' })
    for (let i = 0; i < 12; i++) await claim()
    expect(await refusals()).toHaveLength(10)
    // Older refusals do not count.
    await db.Event.update({ at: Date.now() - 3_600_001 }, { where: { kind: 'sign_in.refused' } })
    await claim()
    expect(await refusals()).toHaveLength(11)

    const ofService = async () => (await refusals()).filter(({ logId }) => logId === SERVICE_LOG)
    expect(await ofService()).toEqual([])
    await new Browser().callBack('odd', 'error=access_denied')
    const denied = {
      ...nobody,
      logId: SERVICE_LOG,
      refusal: 'auth_failed',
      provider: 'odd',
      network: '127.0.0.0/24',
    }
    expect(await ofService()).toEqual([
      { ...denied, count: expect.any(Number), device: expect.any(String) },
    ])
    expect(await refusals()).toHaveLength(12)
    expect(JSON.stringify(await refusals())).not.toContain('127.0.0.1')
  })

  it('auth_failed when the person cancels', async () => {
    const done = await new Browser().callBack('odd', 'error=access_denied&error_description=no')
    expect([done.status, done.location]).toEqual([302, '/files?error=auth_failed'])
  })

  it('auth_failed without a code', async () => {
    expect((await new Browser().callBack('odd', 'code=')).location).toBe('/files?error=auth_failed')
    expect((await new Browser().callBack('odd', 'x=1')).location).toBe('/files?error=auth_failed')
  })

  it.each(['closed', 'silent'])(
    'auth_failed in bounded time when the provider is %s',
    async provider => {
      const started = Date.now()
      expect((await new Browser().callBack(provider)).location).toBe('/files?error=auth_failed')
      expect(Date.now() - started).toBeLessThan(6000)
    },
  )
})

describe('Signed in already', () => {
  it('GET /auth/oauth signs in again, and attaches no identity', async () => {
    const browser = new Browser()
    await browser.signIn('alice@example.com')
    const done = await browser.signIn('smith@example.com', '/auth/oauth?provider=lab&return_to=/me')
    expect(done.location).toBe('/me')
    expect((await browser.isValid()).response.user_info.email).toBe('smith@example.com')
    expect(await db.User.count()).toBe(2)
    expect(await db.Session.count()).toBe(1)
  })

  it('400 for a request to add an identity without the token of this session', async () => {
    const browser = new Browser()
    await browser.signIn('alice@example.com')
    for (const link of ['x', 'A'.repeat(100)])
      expectEnvelope(await browser.get(`${origin}/auth/oauth?link=${link}`), 400, 'INVALID_INPUT', {
        field: 'link',
      })
  })
})

describe('GET /auth/is_valid', () => {
  it('200 without a session, with an unknown session, and with an expired session', async () => {
    const browser = new Browser()
    expect(await browser.isValid()).toEqual(anonymous)
    browser.jar.set('session_id', { path: '/', value: 'x'.repeat(43) })
    expect(await browser.isValid()).toEqual(anonymous)
    await browser.signIn('alice@example.com')
    await db.run('UPDATE session SET expires_at = ?', [Date.now()])
    expect(await browser.isValid()).toEqual(anonymous)
    const answer = await browser.get('/auth/is_valid?x=1&x=2')
    expect([answer.status, answer.headers['content-type']]).toEqual([
      200,
      'application/json; charset=utf-8',
    ])
    expect([answer.headers['cache-control'], answer.headers.etag]).toEqual(['no-store', undefined])
  })

  it('shows when the address is unverified', async () => {
    const browser = new Browser()
    await browser.signIn('alice@example.com', '/auth/oauth', { verified: false })
    expect((await browser.isValid()).response.user_info.email_verified).toBe(false)
  })
})

describe('GET and POST /auth/logout', () => {
  it.each(['GET', 'POST'])('%s ends the session and clears its cookie', async method => {
    const browser = new Browser()
    await browser.signIn('alice@example.com')
    const cookie = browser.jar.get('session_id')
    const out = await browser.send(method, `${origin}/auth/logout`, { Origin: origin })
    expect([out.status, JSON.parse(out.body)]).toEqual([
      200,
      { status: 200, msg: 'ok', response: { logout_successful: true } },
    ])
    expect(out.cookies).toEqual([
      'session_id=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
      'provider_session=; Max-Age=0; Path=/auth/sign_out; HttpOnly; SameSite=Lax',
    ])
    expect(await db.Session.count()).toBe(0)
    if (cookie) browser.jar.set('session_id', cookie)
    expect(await browser.isValid()).toEqual(anonymous)
  })

  it('succeeds without a session', async () => {
    const out = await new Browser().send(
      'POST',
      '/auth/logout',
      { Origin: 'https://evil.example' },
      '{}',
    )
    expect([out.status, out.cookies]).toEqual([200, []])
    expect(JSON.parse(out.body).response).toEqual({ logout_successful: true })
  })

  const navigate = { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' }
  it.each<[string, Record<string, string>]>([
    ['POST', { Origin: 'https://evil.example' }],
    ['POST', { Origin: 'null', 'Sec-Fetch-Site': 'cross-site', ...navigate }],
    ['POST', { 'Sec-Fetch-Site': 'cross-site' }],
    [
      'GET',
      { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'image' },
    ],
    [
      'GET',
      { 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'iframe' },
    ],
    [
      'GET',
      { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'cors', Origin: 'https://evil.example' },
    ],
  ])('403 for a %s from another site: %j', async (method, headers) => {
    const browser = new Browser()
    await browser.signIn('alice@example.com')
    expectEnvelope(await browser.send(method, `${origin}/auth/logout`, headers), 403, 'FORBIDDEN')
    expect((await browser.isValid()).response.authenticated).toBe(true)
  })

  it.each<[string, Record<string, string>]>([
    ['POST', { 'Sec-Fetch-Site': 'same-origin', Origin: 'http://127.0.0.1:8080' }],
    ['POST', { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://app.example.com' }],
    [
      'GET',
      {
        'Sec-Fetch-Site': 'cross-site',
        Origin: 'https://app.example.com',
        'Sec-Fetch-Mode': 'cors',
      },
    ],
    ['GET', { 'Sec-Fetch-Site': 'none', ...navigate }],
    ['GET', { 'User-Agent': 'curl/8.5.0' }],
    ['GET', { 'User-Agent': 'Mozilla/5.0', 'Sec-Fetch-Site': 'same-origin', ...navigate }],
  ])('200 for a %s from an own or allowed page, or from a link: %j', async (method, headers) => {
    const browser = new Browser()
    await browser.signIn('alice@example.com')
    expect((await browser.send(method, `${origin}/auth/logout`, headers)).status).toBe(200)
    expect(await browser.isValid()).toEqual(anonymous)
  })
})

describe('GET /auth/logout by a link on another site', () => {
  const navigate = { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' }
  it.each<Record<string, string>>([
    { 'Sec-Fetch-Site': 'cross-site', ...navigate },
    { 'Sec-Fetch-Site': 'same-site', ...navigate },
    { Referer: 'http://evil.example/' },
    // Plain http, and a browser that sends no Sec-Fetch headers.
    { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64)' },
  ])('303 to a confirmation page, without ending the session: %j', async headers => {
    const browser = new Browser()
    await browser.signIn('alice@example.com')
    const answer = await browser.send('GET', `${origin}/auth/logout`, headers)
    expect([answer.status, answer.location, answer.cookies]).toEqual([303, '/logout/confirm', []])
    expect((await browser.isValid()).response.authenticated).toBe(true)
  })
})

describe('GET /auth/providers', () => {
  it('lists every provider', async () => {
    const { body } = await new Browser().get('/auth/providers')
    const response = { local: true, lab: true, odd: true, silent: true, closed: true }
    expect(JSON.parse(body)).toEqual({ status: 200, msg: 'ok', response })
  })
})

describe('GET /auth/{provider}/login', () => {
  it('redirects to /auth/oauth', async () => {
    const browser = new Browser()
    const { status, location } = await browser.get('/auth/lab/login')
    expect([status, location]).toEqual([302, '/auth/oauth?provider=lab'])
    expect((await browser.get('/auth/lab/login?return_to=/a%26b')).location).toBe(
      '/auth/oauth?provider=lab&return_to=%2Fa%26b',
    )
    expect((await browser.get('/auth/a%26b=c%0d%0a/login')).location).toBe(
      '/auth/oauth?provider=a%26b%3Dc%0D%0A',
    )
  })
})

describe('Other addresses and methods', () => {
  it.each([
    '/auth',
    '/auth/',
    '/auth/nope',
    '/auth/local',
    '/auth/local/login/more',
    '/auth/%ff/login',
    '/AUTH/is_valid',
  ])('404 for %s', async path =>
    expectEnvelope(await new Browser().get(path), 404, 'ROUTE_NOT_FOUND'),
  )

  it.each([
    ['POST', '/auth/oauth', 'GET'],
    ['HEAD', '/auth/logout', 'GET, POST'],
    ['DELETE', '/auth/logout', 'GET, POST'],
    ['PUT', '/auth/callback', 'GET'],
    ['POST', '/auth/is_valid', 'GET, HEAD'],
    ['PATCH', '/auth/providers', 'GET, HEAD'],
    ['POST', '/auth/local/login', 'GET, HEAD'],
  ])('405 for %s %s', async (method, path, allow) => {
    const answer = await new Browser().send(method, path)
    expect(answer.headers.allow).toBe(allow)
    if (method === 'HEAD') expect(answer.status).toBe(405)
    else expectEnvelope(answer, 405, 'METHOD_NOT_ALLOWED', { allow: allow.split(', ') })
  })

  it('503 when the database does not respond', async () => {
    const tokens = createTokens('k'.repeat(32))
    const down = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    const broken = createAuthRoutes({
      providers: [],
      tokens,
      publicUrl: () => origin,
      secure: false,
      sessions: sessionService({ db, sessionSeconds: 1 }),
      accounts: accountService({ db }),
      clientViewer: () => Promise.reject(down),
    })
    const address = await listen(doorListener(broken))
    const answer = await new Browser().get(`${address}/auth/is_valid`)
    expectEnvelope(answer, 503, 'UNAVAILABLE', { retry_after: 5 })
    expect(answer.headers['retry-after']).toBe('5')
    expectEnvelope(await new Browser().get(`${address}/auth/oauth`), 400, 'INVALID_INPUT', {
      field: 'provider',
    })
  })
})

describe('The provider’s response', () => {
  const token = JSON.stringify({ access_token: 'a token', token_type: 'bearer' })
  const person = { sub: 'p1', email: 'alice@example.com', email_verified: true }

  async function callBack(answer: Partial<Omit<typeof odd, 'asked'>>) {
    Object.assign(
      odd,
      { token, userinfo: JSON.stringify(person), userinfoStatus: 200, asked: [] },
      answer,
    )
    return (await new Browser().callBack('odd')).location
  }

  it('is requested with the code, the verifier and the secret, then with the token', async () => {
    expect(await callBack({})).toBe('/files')
    const [asked, user] = odd.asked
    expect(asked?.headers).toMatchObject({
      accept: 'application/json',
      'content-type': expect.stringMatching(/^application\/x-www-form-urlencoded/),
    })
    expect(Object.fromEntries(new URLSearchParams(asked?.body))).toEqual({
      grant_type: 'authorization_code',
      code: 'x',
      redirect_uri: `${origin}/auth/callback`,
      code_verifier: expect.stringMatching(/^[\w-]{43}$/),
      client_id: 'satchel',
      client_secret: 'a secret & more',
    })
    expect(user).toMatchObject({
      url: '/userinfo',
      headers: { authorization: 'Bearer a token', accept: 'application/json' },
    })
  })

  it('may be form-encoded, with a numeric id and alternative field names', async () => {
    const userinfo = JSON.stringify({
      id: 583231,
      login: 'octo',
      email: 'octo@example.com',
      avatar_url: 'https://example.com/o.png',
      name: null,
    })
    expect(await callBack({ token: 'access_token=t&scope=user&token_type=bearer', userinfo })).toBe(
      '/files',
    )
    expect(await identities()).toEqual([
      expect.objectContaining({
        providerUserId: '583231',
        name: 'octo',
        avatarUrl: 'https://example.com/o.png',
      }),
    ])
    expect(await db.User.findAll({ raw: true })).toEqual([
      expect.objectContaining({ verifiedEmail: null }),
    ])
  })

  it.each([
    [true, true],
    ['true', true],
    ['false', false],
    [1, false],
    [null, false],
    [undefined, false],
  ])('with email_verified %j counts as verified: %j', async (email_verified, vouched) => {
    expect(await callBack({ userinfo: JSON.stringify({ ...person, email_verified }) })).toBe(
      '/files',
    )
    const [user] = await db.User.findAll({ raw: true })
    expect(user?.verifiedEmail).toBe(vouched ? 'alice@example.com' : null)
  })

  it.each<[string, Partial<typeof odd>]>([
    ['an error instead of a token', { token: JSON.stringify({ error: 'bad_verification_code' }) }],
    ['an invalid token', { token: JSON.stringify({ access_token: { a: 1 } }) }],
    ['no text', { userinfo: '' }],
    ['no object', { userinfo: '[]' }],
    ['no id', { userinfo: JSON.stringify({ email: 'alice@example.com' }) }],
    [
      'a number that has lost its last digits',
      { userinfo: '{"id": 12345678901234567890, "email": "alice@example.com"}' },
    ],
    ['no address', { userinfo: JSON.stringify({ sub: 'p1', email: null }) }],
    ['a status of its own', { userinfoStatus: 500 }],
    ['another address', { userinfoStatus: 302 }],
    ['too much', { userinfo: JSON.stringify({ ...person, name: 'a'.repeat(300_000) }) }],
  ])('with %s fails with auth_failed', async (_what, answer) => {
    expect(await callBack(answer)).toBe('/files?error=auth_failed')
    expect(await db.User.count()).toBe(0)
  })
})
