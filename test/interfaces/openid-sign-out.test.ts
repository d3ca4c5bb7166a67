import { createPrivateKey } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type JWTHeaderParameters, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { startApp, type TestApp } from '../support/harness.ts'
import { type OpenIdProvider, openOpenIdProvider } from '../support/openid-provider.ts'
import { Browser } from '../unit/sign-in-browser.ts'

let sso: OpenIdProvider
let t: TestApp

beforeAll(async () => {
  sso = await openOpenIdProvider()
  t = await startApp({ ...sso.settings('SSO'), OAUTH_SSO_SIGN_OUT: 'true' })
  sso.setLogoutUrl(`${t.url}/auth/backchannel_logout`)
})
afterAll(async () => {
  await t?.stop()
  await sso?.close()
})
beforeEach(() => {
  sso.user = { sub: 'alice-1', email: 'alice@example.com', email_verified: true, name: 'Alice' }
})

async function signIn(url = t.url): Promise<Browser> {
  const browser = new Browser()
  await browser.get(await sso.visit(browser, await browser.get(`${url}/auth/oauth`)))
  expect(await isSignedIn(browser, url)).toBe(true)
  return browser
}

async function isSignedIn(browser: Browser, url = t.url): Promise<boolean> {
  return JSON.parse(await (await browser.get(`${url}/auth/is_valid`)).text()).response.authenticated
}

/** A session of the same account that did not start at the provider. */
async function beginElsewhere(browser: Browser): Promise<Browser> {
  const { user_info } = JSON.parse(
    await (await browser.get(`${t.url}/auth/is_valid`)).text(),
  ).response
  const { secret } = await t.app.services.sessions.start(user_info.sub)
  const other = new Browser()
  other.jar.set('session_id', { path: '/', value: secret })
  return other
}

/** Submits the sign-out form of the pages. Returns the target of the redirect. */
async function signOut(browser: Browser, path = '/logout', url = t.url): Promise<string | null> {
  const headers = {
    origin: url,
    accept: 'text/html',
    'content-type': 'application/x-www-form-urlencoded',
  }
  return (await browser.get(`${url}${path}`, { method: 'POST', headers })).headers.get('location')
}

/** The URL at the provider to which a page redirects. */
async function leavingOf(browser: Browser, url = t.url): Promise<URL> {
  const page = await browser.get(`${url}/auth/sign_out`)
  expect(page.status).toBe(200)
  const [, href = ''] = /^0;url=(.+)$/.exec(page.headers.get('refresh') ?? '') ?? []
  expect(await page.text()).toContain(`href="${href.replaceAll('&', '&amp;')}"`)
  return new URL(href)
}

/** Signs out at the provider, as its page requests. */
async function confirm(browser: Browser, url: URL): Promise<Response> {
  const form = await (await browser.get(url.href)).text()
  const [, action = ''] = /action="([^"]+)"/.exec(form) ?? []
  const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(form) ?? []
  return browser.get(action, { method: 'POST', body: new URLSearchParams({ xsrf, logout: 'yes' }) })
}

describe('signing out', () => {
  it.each(['/logout', '/auth/logout'])(
    'by POST %s redirects to the provider, which redirects back',
    async path => {
      const browser = await signIn()
      expect(await signOut(browser, path)).toBe('/auth/sign_out?return_to=%2F')
      expect(await isSignedIn(browser)).toBe(false)
      const leaving = await leavingOf(browser)
      expect(leaving.href).toMatch(`${sso.issuer}/session/end?`)
      expect(leaving.searchParams.get('post_logout_redirect_uri')).toBe(`${t.url}/`)
      expect(leaving.searchParams.get('client_id')).toBe('satchel')
      expect(leaving.searchParams.get('id_token_hint')).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
      expect((await confirm(browser, leaving)).headers.get('location')).toBe(`${t.url}/`)
      // Only once.
      const again = await browser.get(`${t.url}/auth/sign_out?return_to=/login`)
      expect([again.status, again.headers.get('location')]).toEqual([303, '/login'])
    },
  )

  it('redirects a signed-in browser only within this service', async () => {
    const browser = await signIn()
    for (const to of ['/login', '//evil.example', 'https://evil.example']) {
      const answer = await browser.get(`${t.url}/auth/sign_out?return_to=${encodeURIComponent(to)}`)
      expect([answer.status, answer.headers.get('location')]).toEqual([
        303,
        to === '/login' ? to : '/',
      ])
    }
    expect(await isSignedIn(browser)).toBe(true)
  })

  it('stays local without the setting, and redirects back', async () => {
    const other = await startApp(sso.settings('SSO'))
    try {
      const browser = await signIn(other.url)
      const to = await signOut(browser, '/logout?return_to=/files', other.url)
      const answer = await browser.get(`${other.url}${to}`)
      expect([answer.status, answer.headers.get('location')]).toEqual([
        303,
        '/login?return_to=%2Ffiles',
      ])
    } finally {
      await other.stop()
    }
  })

  it("without a page forgets the provider's session", async () => {
    const browser = await signIn()
    expect(browser.jar.has('provider_session')).toBe(true)
    await browser.get(`${t.url}/auth/logout`, { method: 'POST', headers: { origin: t.url } })
    expect(
      [...browser.jar.keys()].filter(name => /session_id|provider_session/.test(name)),
    ).toEqual([])
  })

  it("keeps the provider's session of an earlier session", async () => {
    const lab = await openOpenIdProvider()
    const both = await startApp({
      ...sso.settings('SSO'),
      ...lab.settings('LAB'),
      OAUTH_SSO_SIGN_OUT: 'true',
    })
    try {
      const browser = await signIn(both.url)
      lab.user = {
        sub: 'mallory-1',
        email: 'mallory@example.com',
        email_verified: true,
        name: 'Mallory',
      }
      const begun = await browser.get(`${both.url}/auth/oauth?provider=lab`)
      await browser.get(await lab.visit(browser, begun))
      const to = await signOut(browser, '/logout?return_to=/files', both.url)
      expect((await browser.get(`${both.url}${to}`)).headers.get('location')).toBe(
        '/login?return_to=%2Ffiles',
      )
      // Nor a session that did not start at a provider.
      const other = await signIn(both.url)
      const { user_info } = JSON.parse(
        await (await other.get(`${both.url}/auth/is_valid`)).text(),
      ).response
      const { secret } = await both.app.services.sessions.start(user_info.sub)
      other.jar.set('session_id', { path: '/', value: secret })
      expect(await signOut(other, '/logout', both.url)).toBe('/')
      expect(other.jar.has('provider_session')).toBe(false)
    } finally {
      await both.stop()
      await lab.close()
    }
  })

  it('needs no provider for a session that another sign-in method started', async () => {
    const carol = await t.signIn('carol')
    const answer = await fetch(`${t.url}/logout`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: carol.cookie, origin: t.url },
    })
    expect(answer.headers.get('location')).toBe('/')
  })
})

describe('a logout token', () => {
  const event = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const now = () => Math.floor(Date.now() / 1000)
  const valid = (): JWTPayload => ({
    iss: sso.issuer,
    aud: 'satchel',
    jti: 'a-token',
    events: event,
    iat: now(),
    exp: now() + 120,
    sub: 'alice-1',
  })
  const sign = (claims: JWTPayload, header: Partial<JWTHeaderParameters> = {}) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', kid: sso.key.kid, typ: 'logout+jwt', ...header })
      .sign(createPrivateKey({ key: { ...sso.key }, format: 'jwk' }))
  async function send(token: string) {
    const body = new URLSearchParams({ logout_token: token })
    const answer = await fetch(`${t.url}/auth/backchannel_logout`, { method: 'POST', body })
    return {
      status: answer.status,
      ...((await answer.json()) as { response: unknown; msg: string }),
    }
  }

  it('of the provider ends only the session that belongs to its session', async () => {
    const [first, second] = [await signIn(), await signIn()]
    const elsewhere = await beginElsewhere(second)
    await signOut(first)
    // The provider's session ends, and the provider sends a logout token for the remaining session
    // here.
    const third = new Browser()
    for (const [name, cookie] of first.jar)
      if (name.startsWith('_session')) third.jar.set(name, cookie)
    await third.get(await sso.visit(third, await third.get(`${t.url}/auth/oauth`)))
    expect(await isSignedIn(third)).toBe(true)
    const logged = t.logged()
    await confirm(first, await leavingOf(first))
    expect([await isSignedIn(third), await isSignedIn(second)]).toEqual([false, true])
    expect(t.logs(logged)).toContain('"event":"sign_out"')
    expect(await isSignedIn(elsewhere)).toBe(true)
  })

  it('ends its session even if the account lost the identity, or another account has it', async () => {
    const browser = await signIn()
    const { user_info } = JSON.parse(
      await (await browser.get(`${t.url}/auth/is_valid`)).text(),
    ).response
    const start = () =>
      t.app.services.sessions.start(user_info.sub, undefined, { provider: 'sso', sid: 'a-sid' })
    sso.user = { sub: 'bob-1', email: 'bob@example.com', email_verified: true, name: 'Bob' }
    const bob = await signIn()
    for (const sub of ['gone-1', 'bob-1']) {
      await start()
      expect((await send(await sign({ ...valid(), sub, sid: 'a-sid' }))).response).toEqual({
        sessions_ended: 1,
      })
    }
    expect([await isSignedIn(browser), await isSignedIn(bob)]).toEqual([true, true])
  })

  it('without a session ends all sessions of the user at the provider', async () => {
    const sessions = [await signIn(), await signIn()]
    sso.user = { sub: 'bob-1', email: 'bob@example.com', email_verified: true, name: 'Bob' }
    const bob = await signIn()
    const elsewhere = await beginElsewhere(sessions[0] as Browser)
    const { status, response } = await send(await sign(valid()))
    expect(status).toBe(200)
    expect(response).toEqual({ sessions_ended: expect.any(Number) })
    for (const browser of sessions) expect(await isSignedIn(browser)).toBe(false)
    expect(await isSignedIn(bob)).toBe(true)
    expect(await isSignedIn(elsewhere)).toBe(true)
    expect((await send(await sign({ ...valid(), sub: 'unknown' }))).response).toEqual({
      sessions_ended: 0,
    })
  })

  it('ends no session that began after it was issued', async () => {
    const before = await signIn()
    const token = await sign(valid())
    // The provider's times have whole seconds.
    await new Promise(resolve => setTimeout(resolve, 1100))
    const after = await signIn()
    expect((await send(token)).status).toBe(200)
    expect([await isSignedIn(before), await isSignedIn(after)]).toEqual([false, true])
    expect((await send(token)).response).toEqual({ sessions_ended: 0 })
  })

  it.each<[string, string, () => Promise<string> | string]>([
    ['is not a token', 'No provider', () => 'x.y.z'],
    ['is not signed', 'alg', () => new UnsecuredJWT(valid()).encode()],
    [
      'is of another issuer',
      'No provider',
      () => sign({ ...valid(), iss: 'https://other.example.com' }),
    ],
    ['is for another client', 'aud', () => sign({ ...valid(), aud: 'other' })],
    ['is old', 'iat', () => sign({ ...valid(), iat: now() - 600 })],
    ['has expired', 'exp', () => sign({ ...valid(), exp: now() - 120 })],
    ['has no event', 'logout event', () => sign({ ...valid(), events: {} })],
    ['is an ID token', 'nonce', () => sign({ ...valid(), nonce: 'a-nonce' })],
    ['is of another type', 'type', () => sign(valid(), { typ: 'at+jwt' })],
    ['names nobody', 'neither', () => sign({ ...valid(), sub: '' })],
    ['is signed by an unknown key', 'key', () => sign(valid(), { kid: 'unknown' })],
  ])('that %s ends nothing', async (_, reason, make) => {
    const browser = await signIn()
    const { status, msg } = await send(await make())
    expect(status).toBe(400)
    expect(msg).toMatch(new RegExp(reason))
    expect(await isSignedIn(browser)).toBe(true)
  })

  it('must be sent as a form', async () => {
    const answer = await fetch(`${t.url}/auth/backchannel_logout`, { method: 'POST', body: '{}' })
    expect(answer.status).toBe(400)
    expect((await fetch(`${t.url}/auth/backchannel_logout`)).status).toBe(405)
  })
})
