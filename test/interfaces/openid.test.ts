import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { decodeJwt, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { startApp, type TestApp } from '../support/harness.ts'
import {
  clientSecret,
  type OpenIdProvider,
  openOpenIdProvider,
} from '../support/openid-provider.ts'
import { openProvider } from '../support/sign-in-provider.ts'
import { Browser } from '../unit/sign-in-browser.ts'

let sso: OpenIdProvider
let t: TestApp

beforeAll(async () => {
  sso = await openOpenIdProvider()
  t = await startApp({ ...sso.settings('SSO'), SIGN_UP: 'claim:groups=staff' })
})
afterAll(async () => {
  await t?.stop()
  await sso?.close()
})
afterEach(() => {
  sso.alter = undefined
  jest.restoreAllMocks()
})

const staff = (name: string) => ({
  sub: `${name}-1`,
  email: `${name}@example.com`,
  email_verified: true,
  name,
  groups: ['all', 'staff'],
})

/** Signs in. Returns the target of the last redirect. */
async function signIn(browser = new Browser(), url = t.url): Promise<string> {
  const callback = await sso.visit(browser, await browser.get(`${url}/auth/oauth`))
  const done = await browser.get(callback)
  return (done.headers.get('location') ?? '').replace(url, '')
}

async function whoIs(browser: Browser, url = t.url) {
  return JSON.parse(await (await browser.get(`${url}/auth/is_valid`)).text()).response.user_info
}

describe('a provider with only an issuer configured', () => {
  it('signs people in, with PKCE and a nonce', async () => {
    sso.user = staff('alice')
    const browser = new Browser()
    const begun = await browser.get(`${t.url}/auth/oauth`)
    const asked = new URL(begun.headers.get('location') ?? '')
    expect(asked.href).toMatch(`${sso.issuer}/auth?`)
    expect(asked.searchParams.get('code_challenge_method')).toBe('S256')
    expect(asked.searchParams.get('nonce')).toMatch(/^[\w-]{22}$/)
    expect(asked.searchParams.get('nonce')).not.toBe(asked.searchParams.get('state'))
    const done = await browser.get(await sso.visit(browser, begun))
    expect(done.headers.get('location')).toBe(`${t.url}/`)
    expect(await whoIs(browser)).toMatchObject({
      email: 'alice@example.com',
      email_verified: true,
      name: 'alice',
    })
  })

  it('reads the claims of the rule for new accounts', async () => {
    sso.user = { ...staff('guest'), groups: ['all'] }
    expect(await signIn()).toBe('/?error=sign_up_closed')
    sso.user = { ...staff('guest'), groups: ['staff'] }
    expect(await signIn()).toBe('/')
  })

  it('treats an address as verified only if the provider asserts it', async () => {
    for (const email_verified of [undefined, false]) {
      const { email_verified: _, ...claims } = staff(`unverified-${email_verified}`)
      sso.user = { ...claims, ...(email_verified === undefined ? {} : { email_verified }) }
      const browser = new Browser()
      expect(await signIn(browser)).toBe('/')
      expect(await whoIs(browser)).toMatchObject({ email: claims.email, email_verified: false })
    }
  })

  it('refuses a used code', async () => {
    sso.user = staff('alice')
    const [first, second] = [new Browser(), new Browser()]
    const callback = await sso.visit(first, await first.get(`${t.url}/auth/oauth`))
    await first.get(callback)
    expect((await first.get(callback)).headers.get('location')).toBe(
      `${t.url}/?error=invalid_state`,
    )
    const state = new URL((await second.get(`${t.url}/auth/oauth`)).headers.get('location') ?? '')
      .searchParams
    const injected = new URL(callback)
    injected.searchParams.set('state', state.get('state') ?? '')
    expect((await second.get(injected.href)).headers.get('location')).toBe(
      `${t.url}/?error=auth_failed`,
    )
  })

  it('refuses a callback of another issuer', async () => {
    const browser = new Browser()
    const callback = new URL(await sso.visit(browser, await browser.get(`${t.url}/auth/oauth`)))
    expect(callback.searchParams.get('iss')).toBe(sso.issuer)
    callback.searchParams.set('iss', 'https://other.example.com')
    expect((await browser.get(callback.href)).headers.get('location')).toBe(
      `${t.url}/?error=auth_failed`,
    )
  })

  it('refuses a callback with its issuer if the provider of the sign-in has none', async () => {
    const hub = await openProvider()
    const both = await startApp({ ...sso.settings('SSO'), ...hub.settings })
    const callbackWith = async (issuer?: string) => {
      const browser = new Browser()
      const begun = await browser.get(`${both.url}/auth/oauth?provider=hub`)
      const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state') ?? ''
      const query = new URLSearchParams({
        code: 'hugo@example.com',
        state,
        ...(issuer ? { iss: issuer } : {}),
      })
      return (await browser.get(`${both.url}/auth/callback?${query}`)).headers.get('location')
    }
    try {
      for (const issuer of [sso.issuer, `${sso.issuer}/`])
        expect(await callbackWith(issuer)).toBe(`${both.url}/?error=auth_failed`)
      for (const issuer of [undefined, 'https://hub.example.com'])
        expect(await callbackWith(issuer)).toBe(`${both.url}/`)
    } finally {
      await both.stop()
      await hub.close()
    }
  })

  it('loads the new keys of a provider after a rotation', async () => {
    sso.user = staff('alice')
    expect(await signIn()).toBe('/')
    sso.rotate()
    // Keys are fetched again after half a minute at the earliest.
    const now = Date.now()
    jest.spyOn(Date, 'now').mockImplementation(() => now + 31_000)
    expect(await signIn()).toBe('/')
  })
})

describe('an ID token', () => {
  const sign = (
    claims: JWTPayload,
    key = createPrivateKey({ key: { ...sso.key }, format: 'jwk' }),
    kid = sso.key.kid,
  ) => new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid }).sign(key)
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const seconds = (after: number) => Math.floor(Date.now() / 1000) + after

  const wrong: [
    what: string,
    reason: string,
    alter: (claims: JWTPayload, token: string) => Promise<string | null | undefined>,
  ][] = [
    ['is missing', 'contains no ID token', async () => undefined],
    ['is null', 'contains no ID token', async () => null],
    ['is empty', 'contains no ID token', async () => ''],
    ['is no token', 'JWS', async () => 'x.y.z'],
    [
      'was changed after it was signed',
      'signature verification failed',
      async (_, token) => token.replace(/\.[^.]+\./, part => `${part.slice(0, -5)}AAAA.`),
    ],
    [
      'is signed by another key of the same id',
      'signature verification failed',
      claims => sign(claims, other),
    ],
    ['is signed by an unknown key', 'no applicable key', claims => sign(claims, other, 'unknown')],
    [
      'is not signed',
      '(Algorithm) Header Parameter value not allowed',
      async claims => new UnsecuredJWT(claims).encode(),
    ],
    [
      'is signed with the secret of the client',
      '(Algorithm) Header Parameter value not allowed',
      claims =>
        new SignJWT(claims)
          .setProtectedHeader({ alg: 'HS256' })
          .sign(new TextEncoder().encode(clientSecret)),
    ],
    [
      'is of another issuer',
      '"iss" claim',
      claims => sign({ ...claims, iss: 'https://other.example.com' }),
    ],
    ['is for another client', '"aud" claim', claims => sign({ ...claims, aud: 'other' })],
    [
      'is for several clients, without saying which',
      'to another client',
      claims => sign({ ...claims, aud: ['satchel', 'other'] }),
    ],
    [
      'was issued to another client',
      'to another client',
      claims => sign({ ...claims, azp: 'other' }),
    ],
    ['has expired', '"exp" claim timestamp', claims => sign({ ...claims, exp: seconds(-120) })],
    ['does not expire', 'missing required "exp"', ({ exp: _, ...claims }) => sign(claims)],
    ['is not valid yet', '"nbf" claim', claims => sign({ ...claims, nbf: seconds(120) })],
    [
      'has the nonce of another sign-in',
      'to another sign-in',
      claims => sign({ ...claims, nonce: 'another' }),
    ],
    ['has no nonce', 'to another sign-in', ({ nonce: _, ...claims }) => sign(claims)],
    ['has no subject', 'missing required "sub"', ({ sub: _, ...claims }) => sign(claims)],
    [
      'is of another subject than userinfo',
      'for another user than',
      claims => sign({ ...claims, sub: 'mallory-1' }),
    ],
    [
      'belongs to another access token',
      'to another access token',
      claims => sign({ ...claims, at_hash: 'AAAAAAAAAAAAAAAAAAAAAA' }),
    ],
  ]

  const alterToken = (alter: (typeof wrong)[number][2]) => {
    sso.alter = async (path, answer) => {
      if (path !== 'token') return undefined
      const token = String(answer.id_token)
      return { ...answer, id_token: await alter(decodeJwt(token), token) }
    }
  }

  it.each(wrong)('that %s is refused', async (_, reason, alter) => {
    sso.user = staff('alice')
    alterToken(alter)
    const [browser, logged] = [new Browser(), t.logged()]
    expect(await signIn(browser)).toBe('/?error=auth_failed')
    expect(browser.jar.has('session_id')).toBe(false)
    expect(t.logs(logged).replaceAll('\\"', '"')).toContain(reason)
  })

  it('signed again with the right key is accepted, with or without the hash of its access token', async () => {
    sso.user = staff('alice')
    alterToken(async claims => sign(claims))
    expect(await signIn()).toBe('/')
    alterToken(async ({ at_hash: _, ...claims }) =>
      sign({ ...claims, aud: ['satchel', 'other'], azp: 'satchel' }),
    )
    expect(await signIn()).toBe('/')
    // Within the tolerance for clock differences.
    alterToken(claims => sign({ ...claims, exp: seconds(-20) }))
    expect(await signIn()).toBe('/')
  })

  it('does not verify the different address of userinfo', async () => {
    sso.user = { sub: 'carol-1', email: 'carol@example.com', name: 'Carol', groups: ['staff'] }
    alterToken(claims => sign({ ...claims, email: 'victim@example.com', email_verified: true }))
    const browser = new Browser()
    expect(await signIn(browser)).toBe('/')
    expect(await whoIs(browser)).toMatchObject({
      email: 'carol@example.com',
      email_verified: false,
    })
  })
})

describe('a provider that does not respond', () => {
  it('blocks only new sign-ins, and is used once it responds', async () => {
    sso.setDown(true)
    const later = await startApp(sso.settings('SSO'))
    try {
      const browser = new Browser()
      const begun = await browser.get(`${later.url}/auth/oauth?return_to=/files`)
      expect(begun.headers.get('location')).toBe('/files?error=provider_unavailable')
      expect(later.logs()).toContain('OAUTH_SSO_ISSUER')
      const alice = await later.signIn('alice')
      expect((await alice.rest('GET', '/api/user/data')).status).toBe(200)
      const page = await fetch(`${later.url}/login?error=provider_unavailable`, {
        headers: { accept: 'text/html' },
      })
      expect(await page.text()).toContain('The sign-in provider does not answer')
      sso.setDown(false)
      // A failed request is not repeated immediately.
      const now = Date.now()
      jest.spyOn(Date, 'now').mockImplementation(() => now + 6000)
      sso.user = staff('dora')
      expect(await signIn(browser, later.url)).toBe('/')
      expect(later.logs()).toContain('the sign-in provider can be used again')
    } finally {
      sso.setDown(false)
      await later.stop()
    }
  })

  it.each([
    ['is of another issuer', { issuer: 'https://other.example.com' }],
    ['lacks the keys', { jwks_uri: undefined }],
  ])('with invalid discovery data is refused: its configuration %s', async (_, change) => {
    sso.alter = async (path, answer) =>
      path === '.well-known/openid-configuration' ? { ...answer, ...change } : undefined
    const later = await startApp(sso.settings('SSO'))
    try {
      const begun = await new Browser().get(`${later.url}/auth/oauth`)
      expect(begun.headers.get('location')).toBe(`${later.url}/?error=provider_unavailable`)
    } finally {
      await later.stop()
    }
  })
})
