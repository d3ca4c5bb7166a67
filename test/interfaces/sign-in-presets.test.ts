import { generateKeyPairSync } from 'node:crypto'
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { type JWTPayload, SignJWT } from 'jose'
import { startApp, type TestApp } from '../support/harness.ts'
import { Browser } from '../unit/sign-in-browser.ts'

/** A request to a provider, as received by its fake. */
interface Asked {
  url: URL
  body: URLSearchParams
  authorization: string
}
type Answers = Record<string, (asked: Asked) => unknown>

let t: TestApp
let asked: Asked[]

/**
 * A service with a provider for which only these settings are set, and fake responses for its URLs.
 */
async function start(
  name: string,
  answers: Answers,
  settings: Record<string, string> = {},
): Promise<void> {
  const [real, seen]: [typeof fetch, Asked[]] = [globalThis.fetch, []]
  asked = seen
  jest.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const url = new URL(String(input))
    if (url.hostname === 'localhost' || url.hostname === '127.0.0.1') return real(input, init)
    const request = {
      url,
      body: new URLSearchParams(String(init?.body ?? '')),
      authorization: new Headers(init?.headers).get('authorization') ?? '',
    }
    seen.push(request)
    const answer = answers[url.origin + url.pathname]
    return answer
      ? Response.json(await answer(request))
      : Response.json({ message: 'Not Found' }, { status: 404 })
  })
  t = await startApp({
    [`OAUTH_${name}_CLIENT_ID`]: 'satchel-id',
    [`OAUTH_${name}_CLIENT_SECRET`]: 'satchel-secret',
    ...settings,
  })
}
afterEach(async () => {
  await t.stop()
  jest.restoreAllMocks()
})

/** Signs in with a code. Returns the target of the redirect, and the signed-in person. */
async function signIn(browser = new Browser()) {
  const begun = new URL(
    (await browser.get(`${t.url}/auth/oauth`)).headers.get('location') ?? '',
    t.url,
  )
  nonce = begun.searchParams.get('nonce') ?? ''
  const callback = new URLSearchParams({
    code: 'a-code',
    state: begun.searchParams.get('state') ?? '',
  })
  const done = await browser.get(`${t.url}/auth/callback?${callback}`)
  const user = JSON.parse(await (await browser.get(`${t.url}/auth/is_valid`)).text()).response
    .user_info
  return { begun, led: (done.headers.get('location') ?? '').replace(t.url, ''), user }
}
let nonce = ''

describe('GitHub', () => {
  const user = {
    login: 'octocat',
    id: 583231,
    node_id: 'MDQ6VXNlcjU4MzIzMQ==',
    avatar_url: 'https://avatars.githubusercontent.com/u/583231?v=4',
    type: 'User',
    name: 'The Octocat',
    // The public address of the profile, which is not the primary one.
    email: 'public@example.com',
  }
  const emails = [
    { email: 'old@example.com', verified: true, primary: false, visibility: null },
    { email: 'octocat@example.com', verified: true, primary: true, visibility: 'private' },
  ]
  const answers = (of: object[] = emails): Answers => ({
    'https://github.com/login/oauth/access_token': () => ({
      access_token: 'gho_x',
      scope: 'user',
      token_type: 'bearer',
    }),
    'https://api.github.com/user': () => user,
    'https://api.github.com/user/emails': () => of,
  })

  it('needs only the client credentials, and returns the verified primary address', async () => {
    await start('GITHUB', answers())
    const { begun, led, user: who } = await signIn()
    expect(begun.origin + begun.pathname).toBe('https://github.com/login/oauth/authorize')
    expect(begun.searchParams.get('scope')).toBe('read:user user:email')
    expect(led).toBe('/')
    expect(who).toMatchObject({
      email: 'octocat@example.com',
      email_verified: true,
      name: 'The Octocat',
      picture: user.avatar_url,
    })
    const [token, ...api] = asked
    expect(token?.body.get('code_verifier')).toMatch(/^[\w-]{43}$/)
    expect(token?.body.get('client_secret')).toBe('satchel-secret')
    expect(api.map(({ authorization }) => authorization)).toEqual(['Bearer gho_x', 'Bearer gho_x'])
  })

  it('does not verify an address that GitHub has not verified', async () => {
    await start('GITHUB', answers(emails.map(email => ({ ...email, verified: !email.primary }))))
    expect((await signIn()).user).toMatchObject({
      email: 'octocat@example.com',
      email_verified: false,
    })
  })

  it('rejects a response without addresses, and an error sent with status 200', async () => {
    await start('GITHUB', answers([]))
    expect((await signIn()).led).toBe('/?error=auth_failed')
    await t.stop()
    jest.restoreAllMocks()
    const token = () => ({
      error: 'bad_verification_code',
      error_description: 'The code passed is incorrect.',
    })
    await start('GITHUB', { ...answers(), 'https://github.com/login/oauth/access_token': token })
    expect((await signIn()).led).toBe('/?error=auth_failed')
  })
})

const key = generateKeyPairSync('rsa', { modulusLength: 2048 })
const jwk = { ...key.publicKey.export({ format: 'jwk' }), kid: 'a-key', use: 'sig' }
const sign = (claims: JWTPayload) =>
  new SignJWT({ aud: 'satchel-id', nonce, ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'a-key', typ: 'JWT' })
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(key.privateKey)

describe('Microsoft', () => {
  const host = 'https://login.microsoftonline.com'
  const tenant = '72f988bf-86f1-41af-91ab-2d7cd011db47'
  const claims: JWTPayload = {
    ver: '2.0',
    iss: `${host}/${tenant}/v2.0`,
    sub: 'AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ',
    name: 'Abe Lincoln',
    preferred_username: 'abeli@example.com',
    oid: '00000000-0000-0000-66f3-3332eca7ea81',
    email: 'abeli@example.com',
    tid: tenant,
  }
  let stated: JWTPayload
  beforeAll(() => {
    stated = claims
  })

  const answers = (asTenant = 'common', issuer = `${host}/{tenantid}/v2.0`): Answers => ({
    [`${host}/${asTenant}/v2.0/.well-known/openid-configuration`]: () => ({
      token_endpoint: `${host}/${asTenant}/oauth2/v2.0/token`,
      token_endpoint_auth_methods_supported: [
        'client_secret_post',
        'private_key_jwt',
        'client_secret_basic',
      ],
      jwks_uri: `${host}/${asTenant}/discovery/v2.0/keys`,
      response_types_supported: ['code', 'id_token', 'code id_token', 'id_token token'],
      id_token_signing_alg_values_supported: ['RS256'],
      issuer,
      userinfo_endpoint: 'https://graph.microsoft.com/oidc/userinfo',
      authorization_endpoint: `${host}/${asTenant}/oauth2/v2.0/authorize`,
      end_session_endpoint: `${host}/${asTenant}/oauth2/v2.0/logout`,
    }),
    [`${host}/${asTenant}/discovery/v2.0/keys`]: () => ({ keys: [jwk] }),
    [`${host}/${asTenant}/oauth2/v2.0/token`]: async () => ({
      token_type: 'Bearer',
      access_token: 'an-access-token',
      id_token: await sign(stated),
    }),
  })

  it('signs in people of every tenant, and trusts their addresses only with xms_edov', async () => {
    await start('MICROSOFT', answers())
    const verified: unknown[] = []
    for (const [i, xms_edov] of [undefined, false, 'false', 0, true, 1, '1'].entries()) {
      stated = { ...claims, sub: `sub-${i}`, email: `abe${i}@example.com`, email_verified: true }
      if (xms_edov !== undefined) stated.xms_edov = xms_edov
      const { led, user } = await signIn()
      verified.push([led, user?.email_verified])
    }
    const [no, yes] = [
      ['/', false],
      ['/', true],
    ]
    expect(verified).toEqual([no, no, no, no, yes, yes, yes])
  })

  it('distinguishes the same subject in two tenants', async () => {
    await start('MICROSOFT', answers())
    const other = '9188040d-6c67-4c5b-b112-36a304b66dad'
    stated = claims
    const first = await signIn()
    stated = { ...claims, iss: `${host}/${other}/v2.0`, tid: other, email: 'else@example.com' }
    const second = await signIn()
    expect([first.led, second.led]).toEqual(['/', '/'])
    expect(second.user.sub).not.toBe(first.user.sub)
  })

  it('rejects an issuer of another tenant, and a tenant that is not an id', async () => {
    await start('MICROSOFT', answers())
    stated = { ...claims, tid: '9188040d-6c67-4c5b-b112-36a304b66dad' }
    expect((await signIn()).led).toBe('/?error=auth_failed')
    stated = { ...claims, iss: `${host}/x/v2.0`, tid: 'x' }
    expect((await signIn()).led).toBe('/?error=auth_failed')
  })

  it('can be limited to one tenant, by its id or its domain', async () => {
    await start('MICROSOFT', answers('example.com', `${host}/${tenant}/v2.0`), {
      OAUTH_MICROSOFT_TENANT: 'example.com',
    })
    stated = claims
    expect((await signIn()).led).toBe('/')
    const other = '9188040d-6c67-4c5b-b112-36a304b66dad'
    stated = { ...claims, iss: `${host}/${other}/v2.0`, tid: other }
    expect((await signIn()).led).toBe('/?error=auth_failed')
  })
})

/** Standard OpenID Connect, with the documented addresses and claims of these providers. */
describe.each([
  {
    name: 'GOOGLE',
    settings: {},
    issuer: 'https://accounts.google.com',
    at: 'https://oauth2.googleapis.com',
    // Google documents both spellings.
    claims: {
      iss: 'accounts.google.com',
      azp: 'satchel-id',
      sub: '11016948447',
      hd: 'example.com',
      locale: 'en',
    },
  },
  {
    name: 'GITLAB',
    settings: { OAUTH_GITLAB_HOST: 'git.example.com' },
    issuer: 'https://git.example.com',
    at: 'https://git.example.com/oauth',
    claims: {
      iss: 'https://git.example.com',
      sub: '42',
      nickname: 'ann',
      groups_direct: ['staff'],
    },
  },
  {
    name: 'KEYCLOAK',
    settings: { OAUTH_KEYCLOAK_ISSUER: 'https://sso.example.com/realms/staff' },
    issuer: 'https://sso.example.com/realms/staff',
    at: 'https://sso.example.com/realms/staff/protocol/openid-connect',
    claims: {
      iss: 'https://sso.example.com/realms/staff',
      azp: 'satchel-id',
      sub: 'f:1:ann',
      typ: 'ID',
      sid: 's',
    },
  },
])('$name', ({ name, settings, issuer, at, claims }) => {
  const person = { name: 'Ann', email: 'ann@example.com', email_verified: true }
  const answers: Answers = {
    [`${issuer}/.well-known/openid-configuration`]: () => ({
      issuer,
      authorization_endpoint: `${at}/auth`,
      token_endpoint: `${at}/token`,
      userinfo_endpoint: `${at}/userinfo`,
      jwks_uri: `${at}/certs`,
      id_token_signing_alg_values_supported: ['RS256', 'HS256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    }),
    [`${at}/certs`]: () => ({ keys: [jwk] }),
    [`${at}/token`]: async () => ({
      access_token: 'x',
      token_type: 'Bearer',
      id_token: await sign(claims),
    }),
    [`${at}/userinfo`]: () => ({ sub: claims.sub, ...person }),
  }

  it('signs people in', async () => {
    await start(name, answers, settings)
    const { begun, led, user } = await signIn()
    expect(begun.origin + begun.pathname).toBe(`${at}/auth`)
    expect(led).toBe('/')
    expect(user).toMatchObject(person)
  })
})
