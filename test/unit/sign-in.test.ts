import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http'
import { networkInterfaces } from 'node:os'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { z } from 'zod'
import { createEmbeddedSignIn, type EmbeddedSignIn } from '../../src/sign-in/embedded/provider.ts'
import { Browser, testWord as word } from './sign-in-browser.ts'

const key = randomBytes(32)
const errors: unknown[] = []
let server: Server
let origin: string
let signIn: EmbeddedSignIn

beforeAll(async () => {
  server = createServer((req, res) => signIn.handle(req, res))
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  origin = `http://localhost:${portOf(server)}`
  signIn = await start()
})

afterEach(() => expect(errors.splice(0)).toEqual([]))

afterAll(() => {
  signIn.close()
  server.closeAllConnections()
  server.close()
})

function portOf(listening: Server): number {
  const address = listening.address()
  return typeof address === 'object' && address ? address.port : 0
}

const start = () =>
  createEmbeddedSignIn({
    publicUrl: origin,
    redirectUri: callback(),
    key,
    word,
    onError: error => errors.push(error),
  })
const callback = () => `${origin}/auth/callback`

/** A browser at the sign-in page. */
class Person extends Browser {
  /** Starts a sign-in at the given host name, and opens the form. */
  async begin(
    at = origin,
    more: Record<string, string> = {},
  ): Promise<{ page: Response; verifier: string }> {
    const verifier = randomBytes(32).toString('base64url')
    const url = new URL(signIn.provider.authorizeUrl.replace(origin, at))
    url.search = new URLSearchParams({
      client_id: signIn.provider.clientId,
      redirect_uri: callback(),
      response_type: 'code',
      scope: signIn.provider.scopes.join(' '),
      state: 'a-state',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...more,
    }).toString()
    const redirect = await this.get(url.href)
    const location = redirect.headers.get('location')
    return { page: location ? await this.get(location) : redirect, verifier }
  }

  /** Submits the form. Returns the parameters of the callback. */
  async finish(form: Record<string, string>): Promise<URLSearchParams> {
    const sent = await this.post({ word: 'sesame', ...form })
    expect(sent.status).toBe(303)
    const back = await this.get(sent.headers.get('location') ?? '')
    const target = new URL(back.headers.get('location') ?? '')
    expect(target.origin + target.pathname).toBe(callback())
    return target.searchParams
  }
}

function redeem(
  code: string,
  verifier: string,
  secret = signIn.provider.clientSecret,
): Promise<Response> {
  const { tokenUrl, clientId } = signIn.provider
  const grant = {
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    redirect_uri: callback(),
  }
  const body = new URLSearchParams({ ...grant, client_id: clientId, client_secret: secret })
  return fetch(tokenUrl, { method: 'POST', body })
}

const tokens = z.object({
  access_token: z.string(),
  id_token: z.string(),
  token_type: z.literal('Bearer'),
})
const claims = z.record(z.string(), z.unknown())

async function userinfo(code: string, verifier: string): Promise<z.infer<typeof claims>> {
  const { access_token } = tokens.parse(await (await redeem(code, verifier)).json())
  const headers = { Authorization: `Bearer ${access_token}` }
  return claims.parse(await (await fetch(signIn.provider.userinfoUrl, { headers })).json())
}

async function signInAs(form: Record<string, string>, browser = new Person(), at = origin) {
  const { verifier } = await browser.begin(at)
  return userinfo((await browser.finish(form)).get('code') ?? '', verifier)
}

/** A request that `fetch` would refuse, with its own Host and other headers. */
function raw(
  path: string,
  headers: Record<string, string>,
  port = portOf(server),
  host = '127.0.0.1',
) {
  return new Promise<IncomingMessage>((done, failed) => {
    httpRequest({ host, port, path, headers }, res => done(res.resume()))
      .on('error', failed)
      .end()
  })
}

describe('the embedded sign-in', () => {
  it('signs in the user who fills in the form', async () => {
    const browser = new Person()
    const { page, verifier } = await browser.begin()
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('<label for="email">')
    const answer = await browser.finish({
      email: ' Alice@Example.com',
      name: 'Alice  Mary Smith',
      verified: 'yes',
    })
    expect(answer.get('state')).toBe('a-state')
    expect(await userinfo(answer.get('code') ?? '', verifier)).toEqual({
      sub: expect.any(String),
      email: 'alice@example.com',
      email_verified: true,
      name: 'Alice Mary Smith',
      given_name: 'Alice Mary',
      family_name: 'Smith',
      locale: expect.any(String),
    })
  })

  it('returns an unverified address, and a name derived from the address', async () => {
    const bob = await signInAs({ email: 'bob@example.com', name: '' })
    expect(bob).toMatchObject({
      email_verified: false,
      name: 'bob',
      given_name: 'bob',
      family_name: '',
    })
  })

  it('uses the language of the browser', async () => {
    const browser = new Person()
    const { verifier } = await browser.begin()
    const headers = { 'Accept-Language': 'pt-BR,pt;q=0.9' }
    const body = new URLSearchParams({ email: 'eva@example.com', word: 'sesame' })
    const sent = await browser.get(browser.last, { method: 'POST', body, headers })
    const back = await browser.get(sent.headers.get('location') ?? '')
    const code = new URL(back.headers.get('location') ?? '').searchParams.get('code') ?? ''
    expect(await userinfo(code, verifier)).toMatchObject({ locale: 'pt-BR' })
  })

  it('recognises the same address after a restart, ignoring case', async () => {
    const before = await signInAs({ email: 'carol@example.com', name: 'Carol' })
    signIn.close()
    signIn = await start()
    const after = await signInAs({ email: 'CAROL@example.com', name: 'Carol' })
    const other = await signInAs({ email: 'karol@example.com', name: 'Carol' })
    expect(after.sub).toBe(before.sub)
    expect(other.sub).not.toBe(before.sub)
  })

  it('asks at every sign-in, so that one browser can be several users', async () => {
    const browser = new Person()
    const alice = await signInAs({ email: 'alice@example.com' }, browser)
    const { page, verifier } = await browser.begin()
    expect(await page.text()).not.toContain('alice')
    const answer = await browser.finish({ email: 'bob@example.com' })
    const bob = await userinfo(answer.get('code') ?? '', verifier)
    expect(bob.email).toBe('bob@example.com')
    expect(bob.sub).not.toBe(alice.sub)
    const silent = await browser.begin(origin, { prompt: 'none' })
    expect(silent.page.url).toContain('error=login_required')
  })

  it('works under the other names of this machine', async () => {
    const at = origin.replace('localhost', '127.0.0.1')
    expect(await signInAs({ email: 'dora@example.com' }, new Person(), at)).toMatchObject({
      name: 'dora',
    })
  })

  it('lets two sign-ins run side by side in one browser', async () => {
    const browser = new Person()
    const first = await browser.begin()
    const firstForm = browser.last
    const firstCookies = new Map(browser.jar)
    const second = await browser.begin()
    const b = (await browser.finish({ email: 'b@example.com' })).get('code') ?? ''
    for (const [name, cookie] of firstCookies) browser.jar.set(name, cookie)
    browser.last = firstForm
    const a = (await browser.finish({ email: 'a@example.com' })).get('code') ?? ''
    expect((await userinfo(a, first.verifier)).email).toBe('a@example.com')
    expect((await userinfo(b, second.verifier)).email).toBe('b@example.com')
  })

  it.each([
    '',
    'alice',
    '@example.com',
    'alice@',
    'a@b@c',
    'a b@example.com',
    'a@example.com\r\nBcc: x@y',
    '<a@b>',
  ])('shows the form again for the address %j', async email => {
    const browser = new Person()
    await browser.begin()
    const again = await browser.post({ email, name: '"><script>' })
    const html = await again.text()
    expect(again.status).toBe(422)
    expect(html).toContain('Type an e-mail address, such as alice@example.com.')
    expect(html).toContain('value="&quot;&gt;&lt;script&gt;"')
    expect(html).not.toContain('value="yes" checked')
    expect((await browser.finish({ email: 'alice@example.com' })).has('code')).toBe(true)
  })

  it('shows the form again for a name that is too long', async () => {
    const browser = new Person()
    await browser.begin()
    const again = await browser.post({ email: 'alice@example.com', name: 'a'.repeat(201) })
    expect(again.status).toBe(422)
    expect(await again.text()).toContain('Type a name of 200 characters or fewer.')
  })

  it('fills in the address that the service suggests', async () => {
    const { page } = await new Person().begin(origin, { login_hint: 'erin@example.com' })
    expect(await page.text()).toContain('value="erin@example.com"')
  })

  it('informs the service that the user cancelled', async () => {
    const browser = new Person()
    await browser.begin()
    const answer = await browser.finish({ email: '', choice: 'cancel' })
    expect(Object.fromEntries(answer)).toMatchObject({ error: 'access_denied', state: 'a-state' })
  })

  it('restricts its pages to their own style and form', async () => {
    const { page } = await new Person().begin()
    const policy = page.headers.get('content-security-policy') ?? ''
    const style = /<style>(.*)<\/style>/s.exec(await page.text())?.[1] ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain(
      `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    )
    expect(policy).toContain(`form-action 'self' ${origin};`)
    expect(policy).toContain("frame-ancestors 'none'")
    expect(page.headers.get('cache-control')).toBe('no-store')
  })
})

describe('the embedded sign-in refuses', () => {
  async function codeFor(email: string) {
    const browser = new Person()
    const { verifier } = await browser.begin()
    return { code: (await browser.finish({ email })).get('code') ?? '', verifier }
  }

  it('a wrong PKCE verifier', async () => {
    const { code } = await codeFor('alice@example.com')
    const res = await redeem(code, randomBytes(32).toString('base64url'))
    expect(res.status).toBe(400)
    expect(await res.json()).toMatchObject({ error: 'invalid_grant' })
  })

  it('a request without PKCE, or with a plain challenge', async () => {
    const without = await new Person().begin(origin, {
      code_challenge: '',
      code_challenge_method: '',
    })
    expect(without.page.url).toContain('error=invalid_request')
    const plain = await new Person().begin(origin, { code_challenge_method: 'plain' })
    expect(plain.page.url).toContain('error=invalid_request')
  })

  it('a wrong client secret, and a used code', async () => {
    const { code, verifier } = await codeFor('alice@example.com')
    expect((await redeem(code, verifier, 'guessed')).status).toBe(401)
    expect((await redeem(code, verifier)).status).toBe(200)
    expect((await redeem(code, verifier)).status).toBe(400)
  })

  it('a redirect to any address but the callback', async () => {
    const { page } = await new Person().begin(origin, {
      redirect_uri: 'http://localhost:1/elsewhere',
    })
    expect(page.status).toBe(400)
    expect(await page.text()).toContain('Back to Satchel')
  })

  it('a form without the cookie of its sign-in, and a form sent twice', async () => {
    const browser = new Person()
    await browser.begin()
    const form = browser.last
    const stranger = await new Person().get(form, {
      method: 'POST',
      body: new URLSearchParams({ email: 'a@b' }),
    })
    expect(stranger.status).toBe(400)
    const cookies = new Map(browser.jar)
    await browser.finish({ email: 'alice@example.com' })
    for (const [name, cookie] of cookies) browser.jar.set(name, cookie)
    const again = await browser.get(form)
    expect(again.status).toBe(400)
    expect(await again.text()).toContain('This sign-in has ended')
  })

  it('a body that is not a form, and other methods', async () => {
    const browser = new Person()
    await browser.begin()
    const form = browser.last
    const headers = { 'Content-Type': 'application/json' }
    expect((await browser.get(form, { method: 'POST', body: '{}', headers })).status).toBe(400)
    expect((await browser.post({ email: 'a'.repeat(20_000) })).status).toBe(400)
    const deleted = await browser.get(form, { method: 'DELETE' })
    expect([deleted.status, deleted.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST'])
    expect((await browser.finish({ email: 'alice@example.com' })).has('code')).toBe(true)
  })

  it.each([
    { Host: 'files.example.com' },
    { Host: 'localhost.example.com' },
    { Host: 'localhost@example.com' },
    { Host: 'localhost:99999' },
    { Host: 'localhost', 'X-Forwarded-For': '127.0.0.1, 192.0.2.7' },
    { Host: 'localhost', 'X-Forwarded-For': '127.0.0.1' },
    { Host: 'localhost', 'X-Forwarded-Host': 'localhost' },
    { Host: 'localhost', 'X-Forwarded-Proto': 'http' },
    { Host: 'localhost', 'X-Real-IP': '192.0.2.7' },
    { Host: 'localhost', 'X-Real-IP': '::1' },
    { Host: 'localhost', Forwarded: 'for=192.0.2.7' },
    { Host: 'localhost', Forwarded: '' },
    { Host: 'localhost', Via: '1.1 proxy' },
    { Host: 'localhost', 'CF-Connecting-IP': '127.0.0.1' },
    { Host: 'localhost', 'CF-Ray': 'x' },
    { Host: 'localhost', 'True-Client-IP': '127.0.0.1' },
    { Host: 'localhost', 'X-Client-IP': '127.0.0.1' },
  ])('requests from or for another machine: %j', async headers => {
    expect((await raw('/sign-in/.well-known/openid-configuration', headers)).statusCode).toBe(403)
  })

  const outside = Object.values(networkInterfaces())
    .flatMap(addresses => addresses ?? [])
    .find(address => !address.internal && address.family === 'IPv4')
  const itWithNetwork = outside ? it : it.skip

  itWithNetwork('a peer on the network, although it asks for localhost', async () => {
    const open = createServer((req, res) => signIn.handle(req, res))
    await new Promise<void>(done => open.listen(0, '0.0.0.0', done))
    const port = portOf(open)
    const status = async (host?: string) =>
      (
        await raw(
          '/sign-in/.well-known/openid-configuration',
          { Host: `localhost:${port}` },
          port,
          host,
        )
      ).statusCode
    expect([await status(outside?.address), await status('127.0.0.1')]).toEqual([403, 200])
    open.closeAllConnections()
    open.close()
  })

  it('no request from this machine', async () => {
    for (const Host of ['localhost', '127.0.0.1:8080', '[::1]:8080', 'satchel.localhost']) {
      const headers = { Host }
      expect((await raw('/sign-in/.well-known/openid-configuration', headers)).statusCode).toBe(200)
    }
  })

  it('a listening address that is not loopback, and a short key', async () => {
    const redirectUri = callback()
    const away = createEmbeddedSignIn({
      publicUrl: 'https://files.example.com',
      redirectUri,
      key,
      word,
    })
    await expect(away).rejects.toThrow(/files\.example\.com is not loopback/)
    const leadsAway = createEmbeddedSignIn({
      publicUrl: origin,
      redirectUri: 'https://files.example.com/cb',
      key,
      word,
    })
    await expect(leadsAway).rejects.toThrow(/not loopback/)
    const short = createEmbeddedSignIn({
      publicUrl: origin,
      redirectUri,
      key: Buffer.alloc(16),
      word,
    })
    await expect(short).rejects.toThrow(/32 bytes/)
  })

  it.each(['', '?a=b', '/', '/nope', '/reg', '/session/end', '/interaction/'])(
    'unknown paths: /sign-in%s',
    async path => {
      expect((await raw(`/sign-in${path}`, { Host: 'localhost' })).statusCode).toBe(404)
    },
  )

  it('all requests once it is closed', async () => {
    const closed = await start()
    closed.close()
    const open = signIn
    signIn = closed
    expect((await raw('/sign-in/auth', { Host: 'localhost' })).statusCode).toBe(503)
    signIn = open
  })
})

describe('the embedded sign-in is quiet', () => {
  it('prints nothing while it is loaded and created', async () => {
    const program = `
      import { createEmbeddedSignIn } from '${new URL('../../src/sign-in/embedded/provider.ts', import.meta.url)}'
      const made = await createEmbeddedSignIn({
        publicUrl: '${origin}', redirectUri: '${callback()}', key: Buffer.alloc(32), word: {},
      })
      made.close()`
    const said = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
    expect(said).toEqual({ stdout: '', stderr: '' })
  })

  it('prints nothing while it is used', async () => {
    const said = [
      jest.spyOn(process.stdout, 'write'),
      jest.spyOn(process.stderr, 'write'),
      jest.spyOn(console, 'info'),
      jest.spyOn(console, 'warn'),
      jest.spyOn(console, 'error'),
    ]
    await signInAs({ email: 'alice@example.com' })
    for (const spy of said) {
      expect(spy).not.toHaveBeenCalled()
      spy.mockRestore()
    }
  })
})
