import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { startApp, type TestApp } from '../support/harness.ts'
import { type OpenIdProvider, openOpenIdProvider } from '../support/openid-provider.ts'
import {
  createFirst,
  PASSWORD,
  passwordSignIn,
  send,
  visit,
  whoIs,
} from '../support/own-accounts.ts'
import { Browser } from '../unit/sign-in-browser.ts'

const OWNER = 'owner@example.com'
const MALLORY = 'mallory@example.com'
const evil = 'https://evil.example'

let sso: OpenIdProvider
let t: TestApp

/** An account of an invited person. */
async function create(email: string): Promise<void> {
  const link = await t.app.services.logins.invite(null, { email, name: '' })
  const given = { email, name: '', password: PASSWORD }
  const from = { address: null, agent: null }
  await t.app.services.logins.register(link.split('/').at(-1) ?? '', given, from)
}

beforeAll(async () => {
  sso = await openOpenIdProvider()
  const settings = { ...sso.settings('SSO'), SIGN_IN: 'accounts', SIGN_UP: 'open' }
  t = await startApp({ ...settings, RATE_SIGN_INS: '100000' })
  await createFirst(t)
  await create(MALLORY)
})
afterAll(async () => {
  await t?.stop()
  await sso?.close()
})

const begin = (browser: Browser, query = '') =>
  browser.get(`${t.url}/auth/oauth?provider=accounts${query}`)

/** Runs a sign-in up to its callback, which it returns instead of opening it. */
async function upToCallback(browser: Browser, email: string, query = ''): Promise<URL> {
  await visit(browser, `${t.url}/auth/oauth?provider=accounts${query}`)
  let answer = await browser.post({ email, password: PASSWORD })
  for (let hops = 0; hops < 5; hops++) {
    const next = new URL(answer.headers.get('location') ?? '', t.url)
    if (next.pathname === '/auth/callback') return next
    answer = await browser.get(next.href)
  }
  throw new Error('The sign-in leads to no callback.')
}

/**
 * Opens a callback, like a link of an attacker. @returns the person who is signed in then, or null
 */
async function openCallback(browser: Browser, callback: URL): Promise<string | null> {
  await browser.get(callback.href)
  return whoIs(t, browser)
}

const changed = (callback: URL, name: string, value: string | null): URL => {
  const url = new URL(callback)
  if (value === null) url.searchParams.delete(name)
  else url.searchParams.set(name, value)
  return url
}

const sessions = () => t.app.db.Session.count()

describe('Mix-up of providers', () => {
  it('a callback with a different issuer, or without one, signs nobody in', async () => {
    const before = await sessions()
    for (const issuer of [sso.issuer, evil, `${t.url}/sign-in/`, t.url, '', null]) {
      const browser = new Browser()
      const callback = await upToCallback(browser, OWNER)
      expect(await openCallback(browser, changed(callback, 'iss', issuer))).toBeNull()
    }
    expect(await sessions()).toBe(before)
  })

  it('a code of one provider is worthless in a sign-in at the other', async () => {
    const browser = new Browser()
    const own = await upToCallback(browser, OWNER)
    sso.user = { sub: 'm', email: 'sso@example.com', email_verified: true, name: 'M' }
    const begun = await browser.get(`${t.url}/auth/oauth?provider=sso`)
    const other = new URL(await sso.visit(browser, begun))
    const [ownCode, otherCode] = [own, other].map(url => url.searchParams.get('code'))
    for (const [callback, code] of [
      [own, otherCode],
      [other, ownCode],
    ] as const)
      expect(await openCallback(browser, changed(callback, 'code', code ?? ''))).toBeNull()
  })
})

describe('Linking', () => {
  const wishIn = (html: string) => /link=([\w.~-]+)/.exec(html)?.[1] ?? ''

  it('a link request works in no other session, and its callback in no other browser', async () => {
    const { browser: mallory } = await passwordSignIn(t, { email: MALLORY, password: PASSWORD })
    const wish = wishIn((await visit(mallory, `${t.url}/identities`)).text)
    expect(wish).not.toBe('')
    const { browser: owner } = await passwordSignIn(t, { email: OWNER, password: PASSWORD })
    const stolen = await owner.get(`${t.url}/auth/oauth?provider=sso&link=${wish}`)
    expect(stolen.status).toBe(400)
    const before = await t.app.db.Identity.count()
    sso.user = { sub: 'm', email: 'sso@example.com', email_verified: true, name: 'M' }
    const begun = await mallory.get(`${t.url}/auth/oauth?provider=sso&link=${wish}`)
    const callback = await sso.visit(mallory, begun)
    await owner.get(callback)
    await visit(owner, `${t.url}/identities/confirm`)
    await send(owner, {}, { origin: t.url })
    expect(await t.app.db.Identity.count()).toBe(before)
    expect(await whoIs(t, owner)).toBe(OWNER)
  })

  it('a session adds no identity without a proof of the last ten minutes', async () => {
    const { browser } = await passwordSignIn(t, { email: OWNER, password: PASSWORD })
    const wish = wishIn((await visit(browser, `${t.url}/identities`)).text)
    sso.user = { sub: 'own', email: 'own@example.com', email_verified: true, name: 'O' }
    const begun = await browser.get(`${t.url}/auth/oauth?provider=sso&link=${wish}`)
    await visit(browser, await sso.visit(browser, begun))
    const confirm = browser.last
    const before = await t.app.db.Identity.count()
    await t.app.db.run('UPDATE session SET created_at = ?', [Date.now() - 11 * 60_000])
    const asked = await send(browser, {}, { origin: t.url })
    expect(await t.app.db.Identity.count()).toBe(before)
    expect(new URL(asked.url).pathname).toBe('/account/confirm')
    const back = await send(browser, { password: PASSWORD }, { origin: t.url })
    expect(back.url).toBe(confirm)
    await send(browser, {}, { origin: t.url })
    expect(await t.app.db.Identity.count()).toBe(before + 1)
  })

  it('a provider account with the same address does not sign in to the account', async () => {
    sso.user = { sub: 'thief', email: OWNER, email_verified: true, name: 'Thief' }
    const browser = new Browser()
    const begun = await browser.get(`${t.url}/auth/oauth?provider=sso`)
    await browser.get(await sso.visit(browser, begun))
    expect(await whoIs(t, browser)).toBeNull()
  })
})

describe('Cross-site request forgery', () => {
  it('an attacker’s link to a callback does not sign the victim in', async () => {
    const callback = await upToCallback(new Browser(), MALLORY)
    expect(await openCallback(new Browser(), callback)).toBeNull()
    const begun = new Browser()
    await begin(begun)
    expect(await openCallback(begun, callback)).toBeNull()
  })

  it('forms of other pages are refused', async () => {
    const { browser: owner } = await passwordSignIn(t, { email: OWNER, password: PASSWORD })
    const interaction = new Browser()
    await visit(interaction, `${t.url}/auth/oauth?provider=accounts`)
    const link = await t.app.services.logins.invite(null, { email: 'new@example.com', name: '' })
    const forms: [Browser, string, Record<string, string>][] = [
      [interaction, interaction.last, { email: MALLORY, password: PASSWORD }],
      [new Browser(), link, { password: PASSWORD }],
      [new Browser(), `${t.url}/sign-in/forgot`, { email: OWNER }],
      [new Browser(), `${t.url}/sign-in/register`, { email: 'new@example.com' }],
      [owner, `${t.url}/account/security`, { do: 'password', password: `${PASSWORD} x` }],
      [owner, `${t.url}/account/people`, { do: 'invite', email: MALLORY }],
      [owner, `${t.url}/account/confirm`, { password: PASSWORD }],
    ]
    const before = await t.app.db.Login.findAll({ raw: true, order: ['id'] })
    for (const [browser, url, form] of forms)
      for (const headers of [
        { origin: evil },
        { origin: 'null' },
        { origin: evil, 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
      ]) {
        const body = new URLSearchParams(form)
        const answer = await browser.get(url, { method: 'POST', body, headers })
        expect([url, headers, answer.status]).toEqual([url, headers, 403])
      }
    expect(await t.app.db.Login.findAll({ raw: true, order: ['id'] })).toEqual(before)
    expect(await whoIs(t, interaction)).toBeNull()
  })
})

describe('Open redirects', () => {
  const targets = [
    evil,
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '/%2F/evil.example',
    '/.//evil.example',
    'javascript:alert(1)',
    `/auth/oauth?return_to=${evil}`,
    `${'http:'}evil.example`,
    '@evil.example',
  ]

  it.each(targets)('a sign-in does not lead to %s', async target => {
    const browser = new Browser()
    const query = `&${new URLSearchParams({ return_to: target })}`
    const callback = await upToCallback(browser, OWNER, query)
    const done = await browser.get(callback.href)
    expect(new URL(done.headers.get('location') ?? '', t.url).origin).toBe(t.url)
    const confirm = `${t.url}/account/confirm?${new URLSearchParams({ return_to: target })}`
    const body = new URLSearchParams({ password: PASSWORD })
    const headers = { origin: t.url }
    const proved = await browser.get(confirm, { method: 'POST', body, headers })
    expect(proved.status).toBe(303)
    expect(new URL(proved.headers.get('location') ?? '', t.url).origin).toBe(t.url)
  })

  it('the provider redirects only to the registered callback', async () => {
    const browser = new Browser()
    const asked = new URL((await begin(browser)).headers.get('location') ?? '')
    for (const uri of [
      `${evil}/auth/callback`,
      `${t.url}/auth/callback/../evil`,
      `${t.url}/auth/callback?x=1`,
      `${t.url}/auth/callback#x`,
      `${t.url}.evil.example/auth/callback`,
      `${t.url.replace('://', '://evil@')}/auth/callback`,
      'javascript:alert(1)',
    ])
      for (const mode of ['query', 'fragment', 'form_post', 'web_message']) {
        const url = changed(changed(asked, 'redirect_uri', uri), 'response_mode', mode)
        const answer = await browser.get(url.href)
        expect([uri, answer.status, answer.headers.get('location')]).toEqual([uri, 400, null])
        expect(await answer.text()).not.toContain('evil')
      }
  })
})

describe('Session fixation', () => {
  it('a sign-in replaces a planted session', async () => {
    const planted = new Browser()
    await passwordSignIn(t, { email: MALLORY, password: PASSWORD }, planted)
    const cookie = planted.jar.get('session_id')
    const victim = new Browser()
    if (cookie) victim.jar.set('session_id', { ...cookie })
    await passwordSignIn(t, { email: OWNER, password: PASSWORD }, victim)
    expect(await whoIs(t, victim)).toBe(OWNER)
    expect(victim.jar.get('session_id')?.value).not.toBe(cookie?.value)
    expect(await whoIs(t, planted)).toBeNull()
  })

  it('the callback of another browser’s sign-in signs neither browser in', async () => {
    const attacker = new Browser()
    await visit(attacker, `${t.url}/auth/oauth?provider=accounts`)
    const interaction = attacker.last
    const victim = new Browser()
    // The attacker can plant the cookies of the provider, but not those of the callback.
    for (const [name, cookie] of attacker.jar)
      if (name.startsWith('sign_in')) victim.jar.set(name, cookie)
    expect((await visit(victim, interaction)).status).toBe(200)
    await send(victim, { email: OWNER, password: PASSWORD })
    expect(await whoIs(t, victim)).toBeNull()
    expect(await whoIs(t, attacker)).toBeNull()
    await visit(attacker, interaction)
    expect(await whoIs(t, attacker)).toBeNull()
  })
})

describe('Authorization codes', () => {
  it('of another sign-in are refused, stolen or injected', async () => {
    const [victim, attacker] = [new Browser(), new Browser()]
    const [stolen, own] = [await upToCallback(victim, OWNER), await upToCallback(attacker, MALLORY)]
    const code = (url: URL) => url.searchParams.get('code') ?? ''
    expect(await openCallback(attacker, changed(own, 'code', code(stolen)))).toBeNull()
    const [second, third] = [
      await upToCallback(victim, OWNER),
      await upToCallback(attacker, MALLORY),
    ]
    expect(await openCallback(victim, changed(second, 'code', code(third)))).toBeNull()
  })

  it('and states are valid once, even with all cookies of the sign-in', async () => {
    const browser = new Browser()
    const callback = await upToCallback(browser, OWNER)
    const copy = new Browser()
    for (const [name, cookie] of browser.jar) copy.jar.set(name, cookie)
    expect(await openCallback(browser, callback)).toBe(OWNER)
    expect(await openCallback(copy, callback)).toBeNull()
    browser.jar.delete('session_id')
    expect(await openCallback(browser, callback)).toBeNull()
  })

  it('cannot be redeemed without the client secret and the verifier', async () => {
    const callback = await upToCallback(new Browser(), OWNER)
    const code = callback.searchParams.get('code') ?? ''
    const form = { grant_type: 'authorization_code', code, client_id: 'satchel' }
    const redirect_uri = `${t.url}/auth/callback`
    for (const more of [{}, { client_secret: 'guess' }, { code_verifier: 'x'.repeat(43) }]) {
      const body = new URLSearchParams({ ...form, redirect_uri, ...more })
      const answer = await fetch(`${t.url}/sign-in/token`, { method: 'POST', body })
      expect(answer.status).toBe(401)
      expect(await answer.text()).not.toContain('access_token')
    }
  })

  it('are not issued to requests without PKCE, with a plain challenge, or for tokens', async () => {
    const browser = new Browser()
    const asked = new URL((await begin(browser)).headers.get('location') ?? '')
    const requests = [
      changed(changed(asked, 'code_challenge', null), 'code_challenge_method', null),
      changed(asked, 'code_challenge_method', 'plain'),
      changed(asked, 'response_type', 'token'),
      changed(asked, 'response_type', 'id_token'),
      changed(asked, 'response_type', 'none'),
      changed(asked, 'prompt', 'none'),
      changed(asked, 'scope', 'openid offline_access admin'),
    ]
    for (const url of requests) {
      const answer = await browser.get(url.href)
      const to = new URL(answer.headers.get('location') ?? '', t.url)
      for (const given of ['code', 'access_token', 'id_token'])
        expect(to.searchParams.get(given) ?? (to.hash.includes(`${given}=`) || null)).toBeNull()
    }
  })
})

describe('A stolen interaction', () => {
  it('is worthless without the cookies of its browser', async () => {
    const victim = new Browser()
    await visit(victim, `${t.url}/auth/oauth?provider=accounts`)
    const thief = new Browser()
    expect((await visit(thief, victim.last)).status).toBe(400)
    expect((await send(thief, { email: MALLORY, password: PASSWORD })).status).toBe(400)
    await send(victim, { email: OWNER, password: PASSWORD })
    expect(await whoIs(t, victim)).toBe(OWNER)
    expect(await whoIs(t, thief)).toBeNull()
  })

  it('cannot be finished a second time', async () => {
    const browser = new Browser()
    await visit(browser, `${t.url}/auth/oauth?provider=accounts`)
    const [interaction, jar] = [browser.last, [...browser.jar]]
    await send(browser, { email: OWNER, password: PASSWORD })
    expect(await whoIs(t, browser)).toBe(OWNER)
    const copy = new Browser()
    for (const [name, cookie] of jar) copy.jar.set(name, cookie)
    await visit(copy, interaction)
    await send(copy, { email: MALLORY, password: PASSWORD })
    expect(await whoIs(t, copy)).toBeNull()
  })
})
