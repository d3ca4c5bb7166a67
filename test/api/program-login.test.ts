import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { privateScopes } from '../../src/access/scopes.ts'
import { ask } from '../support/ask.ts'
import { privateKey, UNHURRIED } from '../support/builders.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { until } from '../support/until.ts'

const REDIRECT = 'http://127.0.0.1:49152/callback'
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code'

let t: TestApp
let alice: Person

beforeAll(async () => {
  t = await startApp({ ...UNHURRIED, TRUST_PROXY: 'loopback' })
})
afterAll(() => t?.stop())
let people = 0
beforeEach(async () => {
  alice = await t.signIn(`alice${++people}`)
})

interface Said {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  said: any
}

/** A request of a program, from its own address. */
async function post(
  path: string,
  form: Record<string, string> | string[][],
  headers = {},
): Promise<Said> {
  const body = new URLSearchParams(form as Record<string, string>)
  const response = await fetch(t.url + path, { method: 'POST', body, headers })
  return { status: response.status, headers: response.headers, said: await response.json() }
}

const newLogin = (more: Record<string, string> = {}) => {
  const verifier = randomBytes(32).toString('base64url')
  const query = {
    response_type: 'code',
    client_id: 'satchel-cli',
    client_name: 'satchel on sea',
    redirect_uri: REDIRECT,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    scope: privateScopes.join(' '),
    state: 'a state',
    ...more,
  }
  return { verifier, query }
}

const pathOf = (query: Record<string, string>) => `/authorize?${new URLSearchParams(query)}`

const page = (who: Person, path: string, init: RequestInit = {}) =>
  fetch(t.url + path, {
    redirect: 'manual',
    ...init,
    headers: { cookie: who.cookie, ...init.headers },
  })

const form = (
  who: Person,
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = { origin: '' },
) =>
  page(who, path, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: { ...headers, ...(headers.origin === '' ? { origin: t.url } : {}) },
  })

/** The target of the redirect in a response. */
const targetOf = (response: Response) =>
  new URL((response.headers.get('refresh') ?? '').replace(/^0;url=/, ''))

/** Approves in the browser. @returns the target of the redirect */
async function approve(who: Person, query: Record<string, string>, fields = {}): Promise<URL> {
  const response = await form(who, pathOf(query), {
    account: who.userId,
    answer: 'approve',
    ...fields,
  })
  expect(response.status).toBe(200)
  return targetOf(response)
}

const exchange = (code: string | null, verifier: string, more: Record<string, string> = {}) =>
  post('/oauth/token', {
    grant_type: 'authorization_code',
    client_id: 'satchel-cli',
    redirect_uri: REDIRECT,
    code: code ?? '',
    code_verifier: verifier,
    ...more,
  })

const keysOf = async (who: Person) =>
  (
    await ask(
      who,
      '{ me { apiKeys { nodes { id name description scopes createdAt expiresAt } } } }',
    )
  ).me.apiKeys.nodes

const refused = (error: string, status = 400) => ({
  status,
  said: { error, error_description: expect.any(String) },
})

const begin = async (more: Record<string, string> = {}, headers = {}) =>
  (
    await post(
      '/oauth/device_authorization',
      { client_id: 'satchel-cli', client_name: 'satchel on sea', ...more },
      headers,
    )
  ).said

const poll = (device_code: string, client_id = 'satchel-cli') =>
  post('/oauth/token', { grant_type: DEVICE, client_id, device_code })

/** Simulates that the program has waited for the requested time. */
const wait = () => t.app.db.run('UPDATE login_request SET polled_at = polled_at - 60000')
const expire = () => t.app.db.run('UPDATE login_request SET expires_at = ?', [Date.now() - 1])
const suspend = ({ userId }: Person) =>
  t.app.db.run("UPDATE user SET status = 'suspended' WHERE id = ?", [userId])

describe('A login with a loopback redirect', () => {
  it('asks the person, and exchanges the code for a key', async () => {
    const { verifier, query } = newLogin({ key_expires_in: '30d' })
    const asked = await page(alice, pathOf(query))
    expect(asked.status).toBe(200)
    expect(asked.headers.get('content-security-policy')).toMatch(/frame-ancestors 'none'/)
    expect(asked.headers.get('x-frame-options')).toBe('DENY')
    expect(asked.headers.get('cache-control')).toBe('no-store')
    const text = await asked.text()
    for (const shown of [
      'satchel on sea',
      'satchel-cli',
      '127.0.0.1:49152',
      alice.email,
      '30 days',
      'delete them',
    ])
      expect(text).toContain(shown)
    // Nothing is issued before the person decides.
    expect(await keysOf(alice)).toEqual([])

    const to = await approve(alice, query)
    expect(to.origin + to.pathname).toBe(REDIRECT)
    expect(to.searchParams.get('state')).toBe('a state')
    expect(to.searchParams.get('iss')).toBe(t.url)
    const code = to.searchParams.get('code') ?? ''
    expect(JSON.stringify(await t.app.db.rows('SELECT * FROM login_request'))).not.toContain(code)

    const { status, said, headers } = await exchange(code, verifier)
    expect({ status, said }).toEqual({
      status: 200,
      said: {
        access_token: expect.stringMatching(/^satchel_/),
        token_type: 'Bearer',
        expires_in: 30 * 86_400,
        scope: privateScopes.join(' '),
        key_id: expect.any(String),
      },
    })
    expect(headers.get('cache-control')).toBe('no-store')
    const [key] = await keysOf(alice)
    expect(key).toMatchObject({
      id: said.key_id,
      name: 'satchel on sea',
      description: expect.stringContaining('satchel-cli'),
    })
    expect(Date.parse(key.expiresAt) - Date.parse(key.createdAt)).toBe(30 * 86_400_000)
    expect((await t.withKey(said.access_token).rest('GET', '/api/user/data')).status).toBe(200)
    const bearer = await fetch(`${t.url}/auth/is_valid`, {
      headers: { authorization: `Bearer ${said.access_token}` },
    })
    expect((await bearer.json()).response).toMatchObject({
      via: 'api_key',
      user_info: { email: alice.email },
    })
    // It is recorded in the log of the account and in the log of the service.
    const events = (await ask(alice, '{ me { events { nodes { kind } } } }')).me.events.nodes
    expect(events).toContainEqual({ kind: 'KEY_CREATED' })
    expect(t.logs()).toContain(`"key_id":"${said.key_id}"`)
    expect(t.logs()).not.toContain(code)
  })

  it('lets the person choose another lifetime', async () => {
    const { verifier, query } = newLogin()
    const to = await approve(alice, query, { key_expires_in: '86400s' })
    expect((await exchange(to.searchParams.get('code'), verifier)).said.expires_in).toBe(86_400)
  })

  it.each([
    ['another verifier', () => ['x'.repeat(43)]],
    ['no real verifier', () => ['short']],
    [
      'another redirect',
      (verifier: string) => [verifier, { redirect_uri: 'http://127.0.0.1:49153/callback' }],
    ],
    ['another program', (verifier: string) => [verifier, { client_id: 'other' }]],
  ] as [string, (verifier: string) => [string, Record<string, string>?]][])(
    'refuses %s, and revokes the code',
    async (_what, wrong) => {
      const { verifier, query } = newLogin()
      const code = (await approve(alice, query)).searchParams.get('code')
      expect(await exchange(code, ...wrong(verifier))).toMatchObject(refused('invalid_grant'))
      expect(await exchange(code, verifier)).toMatchObject(refused('invalid_grant'))
      expect(await keysOf(alice)).toEqual([])
    },
  )

  it('accepts a code only once, and only for a minute', async () => {
    const first = newLogin()
    const code = (await approve(alice, first.query)).searchParams.get('code')
    expect((await exchange(code, first.verifier)).status).toBe(200)
    expect(await exchange(code, first.verifier)).toMatchObject(refused('invalid_grant'))
    const second = newLogin()
    const late = (await approve(alice, second.query)).searchParams.get('code')
    const [row] = await t.app.db.rows<{ expires: number }>(
      'SELECT MAX(expires_at) AS expires FROM login_request',
    )
    expect(Number(row?.expires) - Date.now()).toBeLessThanOrEqual(60_000)
    await expire()
    expect(await exchange(late, second.verifier)).toMatchObject(refused('invalid_grant'))
    expect(await keysOf(alice)).toHaveLength(1)
  })

  it('issues one key for a code that is presented many times at once', async () => {
    const { verifier, query } = newLogin()
    const code = (await approve(alice, query)).searchParams.get('code')
    const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(code, verifier)))
    expect(answers.map(({ status }) => status).sort()).toEqual([
      200, 400, 400, 400, 400, 400, 400, 400,
    ])
    expect(await keysOf(alice)).toHaveLength(1)
  })

  it('issues no key once the approving session has ended, or the account is suspended or deleted', async () => {
    const session = await t.signIn(alice.email)
    const first = newLogin()
    const code = (await approve(session, first.query)).searchParams.get('code')
    await session.rest('POST', '/auth/logout')
    expect(await exchange(code, first.verifier)).toMatchObject(refused('invalid_grant'))
    const second = newLogin()
    const suspended = (await approve(alice, second.query)).searchParams.get('code')
    expect(await keysOf(alice)).toEqual([])
    await suspend(alice)
    expect(await exchange(suspended, second.verifier)).toMatchObject(refused('invalid_grant'))
    const bob = await t.signIn(`bob${people}`)
    const third = newLogin()
    const orphaned = (await approve(bob, third.query)).searchParams.get('code')
    await ask(bob, 'mutation { deleteAccount(input: { deleteUserData: true }) { deletedId } }')
    expect(await exchange(orphaned, third.verifier)).toMatchObject(refused('invalid_grant'))
  })

  it('reports a refusal to the program', async () => {
    const { query } = newLogin()
    const response = await form(alice, pathOf(query), { account: alice.userId, answer: 'refuse' })
    const to = targetOf(response)
    expect(to.searchParams.get('error')).toBe('access_denied')
    expect(to.searchParams.get('state')).toBe('a state')
    expect(to.searchParams.get('code')).toBeNull()
  })

  it.each([
    ['no PKCE', { code_challenge: '' }, 'invalid_request'],
    ['plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['another response', { response_type: 'token' }, 'unsupported_response_type'],
    ['an unknown scope', { scope: 'private_files:read everything' }, 'invalid_scope'],
    ['a scope of workspaces', { scope: 'workspaces:read' }, 'invalid_scope'],
    ['no duration', { key_expires_in: 'soon' }, 'invalid_request'],
    ['more than a year', { key_expires_in: '2y' }, 'invalid_request'],
    ['two lines as name', { client_name: 'a\nb' }, 'invalid_request'],
  ])('reports %s to the program', async (_what, more, error) => {
    const response = await page(alice, pathOf(newLogin(more).query))
    expect(response.status).toBe(303)
    const to = new URL(response.headers.get('location') ?? '')
    expect(to.origin + to.pathname).toBe(REDIRECT)
    expect(to.searchParams.get('error')).toBe(error)
    expect(to.searchParams.get('state')).toBe('a state')
  })

  it.each([
    'https://files.example.org/',
    'http://localhost:49152/',
    'http://127.0.0.1.example.org/',
    'http://127.0.0.1:49152@example.org/',
    'http://127.0.0.1:99999/',
    'http://127.1:49152/',
    'http://127.0.0.2:49152/',
    'http://127.0.0.1:49152/?next=1',
    'http://127.0.0.1:49152/#here',
    'http://127.0.0.1:49152/\\example.org',
    'https://127.0.0.1:49152/',
    'http://[::2]:1/',
    'javascript:alert(1)',
    '//127.0.0.1:1/',
    '',
  ])('never redirects to %s', async redirect_uri => {
    for (const more of [{}, { scope: 'wrong' }]) {
      const { query } = newLogin({ redirect_uri, ...more })
      const answers = [
        await page(alice, pathOf(query)),
        await form(alice, pathOf(query), { account: alice.userId, answer: 'approve' }),
      ]
      for (const response of answers) {
        expect(response.status).toBe(400)
        expect(response.headers.get('location') ?? response.headers.get('refresh')).toBeNull()
      }
    }
  })

  it.each(['http://127.0.0.1:1/', 'http://127.0.0.1', 'http://[::1]:65535/a/b'])(
    'may lead to %s',
    async redirect_uri => {
      const { verifier, query } = newLogin({ redirect_uri })
      const to = await approve(alice, query)
      expect(to.href.startsWith(new URL(redirect_uri).href)).toBe(true)
      expect((await exchange(to.searchParams.get('code'), verifier, { redirect_uri })).status).toBe(
        200,
      )
    },
  )

  it('returns to the page after a sign-in, and asks again if another account has signed in', async () => {
    const { query } = newLogin()
    const response = await page(t.anonymous, pathOf(query))
    expect(response.status).toBe(303)
    const login = new URL(response.headers.get('location') ?? '', t.url)
    expect(login.pathname).toBe('/login')
    expect(
      new URL(login.searchParams.get('return_to') ?? '', t.url).searchParams.get('code_challenge'),
    ).toBe(query.code_challenge)
    const other = await form(alice, pathOf(query), { account: 'someone else', answer: 'approve' })
    expect(await other.text()).toContain('name="answer"')
    expect(other.headers.get('refresh')).toBeNull()
    expect(
      (
        await page(
          t.anonymous,
          pathOf({ ...query, client_name: 'é'.repeat(100), state: 'x'.repeat(256) }),
        )
      ).status,
    ).toBe(400)
    expect((await page(alice, `${pathOf(query)}&state=again`)).status).toBe(400)
  })

  it.each([
    ['of another site', { 'sec-fetch-site': 'cross-site' }],
    ['of another origin', { origin: 'https://evil.example' }],
    ['of no page', {}],
  ])(
    'accepts answers only from its own page, not %s',
    async (_what, headers: Record<string, string>) => {
      const fields = { account: alice.userId, answer: 'approve' }
      const response = await form(alice, pathOf(newLogin().query), fields, headers)
      expect(response.status).toBe(403)
      const { user_code } = await begin()
      expect((await form(alice, '/device', { ...fields, user_code }, headers)).status).toBe(403)
      expect(
        await t.app.db.rows('SELECT id FROM login_request WHERE user_id = ?', [alice.userId]),
      ).toEqual([])
    },
  )

  it('cannot be approved with an API key', async () => {
    const { key, caller: program } = await privateKey(t, alice, [...privateScopes])
    const { query } = newLogin()
    const headers = { 'x-api-key': key, origin: t.url }
    const response = await fetch(t.url + pathOf(query), {
      method: 'POST',
      redirect: 'manual',
      headers,
      body: new URLSearchParams({ account: alice.userId, answer: 'approve' }),
    })
    expect(response.headers.get('location')).toMatch(/^\/login/)
    const { user_code } = await begin()
    const approveDevice =
      'mutation ($input: ApproveDeviceLoginInput!) { approveDeviceLogin(input: $input) { viewer { id } } }'
    expect((await program.graphql(approveDevice, { input: { userCode: user_code } })).code).toBe(
      'KEY_OUT_OF_BOUNDS',
    )
  })

  it('reports the limit of keys in mutations', async () => {
    const approveLogin =
      'mutation ($input: ApproveLoginInput!) { approveLogin(input: $input) { redirectUrl } }'
    const approveDevice =
      'mutation ($input: ApproveDeviceLoginInput!) { approveDeviceLogin(input: $input) { viewer { id } } }'
    const { query } = newLogin()
    const login = {
      clientId: query.client_id,
      redirectUri: query.redirect_uri,
      codeChallenge: query.code_challenge,
      scopes: ['PRIVATE_FILES_READ'],
    }
    const { user_code: userCode } = await begin()
    await t.limit({ maxPrivateApiKeys: 0 })
    try {
      for (const [mutation, input] of [
        [approveLogin, login],
        [approveDevice, { userCode }],
      ] as const)
        expect((await alice.graphql(mutation, { input })).code).toBe('QUOTA_EXCEEDED')
    } finally {
      await t.limit({ maxPrivateApiKeys: 100 })
    }
  })

  it('reports the limit of keys, at the approval and at the exchange', async () => {
    const { verifier, query } = newLogin()
    const code = (await approve(alice, query)).searchParams.get('code')
    await t.limit({ maxPrivateApiKeys: 0 })
    try {
      expect(await exchange(code, verifier)).toMatchObject(refused('invalid_grant'))
      const response = await form(alice, pathOf(query), {
        account: alice.userId,
        answer: 'approve',
      })
      expect(response.status).toBe(400)
      expect(await response.text()).toContain('Delete one first')
    } finally {
      await t.limit({ maxPrivateApiKeys: 100 })
    }
  })

  it('works through GraphQL', async () => {
    const approveLogin =
      'mutation ($input: ApproveLoginInput!) { approveLogin(input: $input) { redirectUrl } }'
    const { verifier, query } = newLogin()
    const input = {
      clientId: 'satchel-cli',
      redirectUri: REDIRECT,
      codeChallenge: query.code_challenge,
      scopes: ['PRIVATE_FILES_READ'],
      keyExpiresIn: '1d',
      state: 'x',
    }
    const { approveLogin: approved } = await ask(alice, approveLogin, { input })
    const code = new URL(approved.redirectUrl).searchParams.get('code')
    expect((await exchange(code, verifier)).said).toMatchObject({
      scope: 'private_files:read',
      expires_in: 86_400,
    })
    const refuse = async (more: object) =>
      (await alice.graphql(approveLogin, { input: { ...input, ...more } })).errors?.[0]
    expect((await refuse({ redirectUri: 'https://evil.example' }))?.extensions).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'input.redirectUri',
    })
    expect((await refuse({ codeChallenge: 'short' }))?.extensions).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'input.codeChallenge',
    })
    expect((await refuse({ keyExpiresIn: 'soon' }))?.extensions).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'input.keyExpiresIn',
    })
    expect((await refuse({ scopes: ['WORKSPACES_READ'] }))?.extensions).toMatchObject({
      code: 'INVALID_SCOPE',
      field: 'input.scopes',
    })
  })
})

describe('A login with a code', () => {
  const approveByPage = (who: Person, user_code: string, more = {}) =>
    form(who, '/device', { account: who.userId, answer: 'approve', user_code, ...more })

  it('shows the program to the person, and issues the key at the next poll', async () => {
    const codes = await begin(
      { scope: 'private_files:read private_files:write' },
      { 'x-forwarded-for': '198.51.100.7' },
    )
    expect(codes).toEqual({
      device_code: expect.any(String),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: `${t.url}/device`,
      verification_uri_complete: `${t.url}/device?user_code=${codes.user_code}`,
      expires_in: 600,
      interval: 5,
    })
    const rows = JSON.stringify(await t.app.db.rows('SELECT * FROM login_request'))
    for (const secret of [codes.device_code, codes.user_code, codes.user_code.replace('-', '')])
      expect(rows).not.toContain(secret)
    expect(await poll(codes.device_code)).toMatchObject(refused('authorization_pending'))

    const signedOut = await page(t.anonymous, `/device?user_code=${codes.user_code}`)
    expect(decodeURIComponent(signedOut.headers.get('location') ?? '')).toBe(
      `/login?return_to=/device?user_code=${codes.user_code}`,
    )
    expect(await (await page(alice, `/device?user_code=${codes.user_code}`)).text()).toContain(
      `value="${codes.user_code}"`,
    )
    const typed = codes.user_code.toLowerCase().replace('-', ' ')
    const shown = await (await form(alice, '/device', { user_code: typed })).text()
    for (const part of [
      codes.user_code,
      'satchel on sea',
      '198.51.100.0/24',
      'That is not your network.',
      'If someone sent you the code',
    ])
      expect(shown).toContain(part)
    expect((await approveByPage(alice, typed)).status).toBe(200)

    await wait()
    const { status, said } = await poll(codes.device_code)
    expect({ status, said }).toMatchObject({
      status: 200,
      said: { scope: 'private_files:read private_files:write' },
    })
    expect((await t.withKey(said.access_token).rest('GET', '/api/user/data')).status).toBe(200)
    // The code is used up: no second key, and nothing left to approve.
    expect(await poll(codes.device_code)).toMatchObject(refused('invalid_grant'))
    expect((await approveByPage(alice, codes.user_code)).status).toBe(404)
    expect(await keysOf(alice)).toHaveLength(1)
  })

  it('slows down a program that polls too often', async () => {
    const { device_code } = await begin()
    expect(await poll(device_code)).toMatchObject(refused('authorization_pending'))
    expect(await poll(device_code)).toMatchObject(refused('slow_down'))
    // It has to wait ten seconds now instead of five.
    await t.app.db.run('UPDATE login_request SET polled_at = polled_at - 6000')
    expect(await poll(device_code)).toMatchObject(refused('slow_down'))
    await wait()
    expect(await poll(device_code)).toMatchObject(refused('authorization_pending'))
  })

  it('issues one key for parallel polls', async () => {
    const { device_code, user_code } = await begin()
    await approveByPage(alice, user_code)
    const answers = await Promise.all(Array.from({ length: 6 }, () => poll(device_code)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await keysOf(alice)).toHaveLength(1)
  })

  it('reports a refusal, an expired code, and an approval that has ended', async () => {
    const first = await begin()
    expect(
      (
        await form(alice, '/device', {
          account: alice.userId,
          answer: 'refuse',
          user_code: first.user_code,
        })
      ).status,
    ).toBe(200)
    expect(await poll(first.device_code)).toMatchObject(refused('access_denied'))

    const second = await begin()
    const session = await t.signIn(alice.email)
    await approveByPage(session, second.user_code)
    await session.rest('POST', '/auth/logout')
    expect(await poll(second.device_code)).toMatchObject(refused('access_denied'))

    const third = await begin()
    const bob = await t.signIn(`bob${people}`)
    await approveByPage(bob, third.user_code)
    await suspend(bob)
    expect(await poll(third.device_code)).toMatchObject(refused('access_denied'))

    const fourth = await begin()
    await expire()
    expect(await poll(fourth.device_code)).toMatchObject(refused('expired_token'))
    expect((await approveByPage(alice, fourth.user_code)).status).toBe(404)
    // The program receives this response for an hour. Then the row is swept.
    await t.settle()
    expect(await poll(fourth.device_code)).toMatchObject(refused('expired_token'))
    await t.app.db.run('UPDATE login_request SET expires_at = expires_at - 3700000')
    await t.settle()
    expect(await t.app.db.rows('SELECT id FROM login_request')).toEqual([])
    expect(await keysOf(alice)).toEqual([])
  })

  it('belongs to one program', async () => {
    const { device_code, user_code } = await begin()
    await approveByPage(alice, user_code)
    expect(await poll(device_code, 'other')).toMatchObject(refused('invalid_grant'))
    expect(await exchange(device_code, 'x'.repeat(43))).toMatchObject(refused('invalid_grant'))
    expect((await poll(device_code)).status).toBe(200)
  })

  it('limits guesses of codes', async () => {
    const at = { origin: t.url, 'x-forwarded-for': '203.0.113.9' }
    const guess = (user_code: string) => form(alice, '/device', { user_code }, at)
    for (let n = 0; n < 10; n++) expect((await guess('BCDF-GHJK')).status).toBe(404)
    const { user_code } = await begin()
    const blocked = await guess(user_code)
    expect(blocked.status).toBe(403)
    expect(await blocked.text()).toContain('Too many codes were tried')
    // Other people can continue.
    expect((await form(alice, '/device', { user_code })).status).toBe(200)
  })

  it('works through GraphQL', async () => {
    const { device_code, user_code } = await begin({ key_expires_in: '7d' })
    const look =
      'query ($userCode: String!) { me { loginRequest(userCode: $userCode) { userCode name clientId scopes lifetime network } } }'
    expect((await ask(alice, look, { userCode: user_code })).me.loginRequest).toEqual({
      userCode: user_code,
      name: 'satchel on sea',
      clientId: 'satchel-cli',
      scopes: ['PRIVATE_FILES_READ'],
      lifetime: 7 * 86_400,
      network: '127.0.0.0/24',
    })
    const approveIt =
      'mutation ($input: ApproveDeviceLoginInput!) { approveDeviceLogin(input: $input) { loginRequest { name } } }'
    const wrong = { userCode: user_code, keyExpiresIn: 'soon' }
    expect(
      (await alice.graphql(approveIt, { input: wrong })).errors?.[0]?.extensions,
    ).toMatchObject({
      code: 'INVALID_DURATION',
      field: 'input.keyExpiresIn',
    })
    const long = { userCode: user_code, keyExpiresIn: '400d' }
    expect((await alice.graphql(approveIt, { input: long })).errors?.[0]?.extensions).toMatchObject(
      { code: 'INVALID_INPUT', field: 'input.keyExpiresIn' },
    )
    await ask(alice, approveIt, { input: { userCode: user_code, keyExpiresIn: '1d' } })
    expect((await poll(device_code)).said.expires_in).toBe(86_400)
    const refuseIt =
      'mutation ($input: RefuseDeviceLoginInput!) { refuseDeviceLogin(input: $input) { loginRequest { name } } }'
    const second = await begin()
    await ask(alice, refuseIt, { input: { userCode: second.user_code } })
    expect(await poll(second.device_code)).toMatchObject(refused('access_denied'))
    expect((await alice.graphql(refuseIt, { input: { userCode: second.user_code } })).code).toBe(
      'LOGIN_REQUEST_NOT_FOUND',
    )
  })
})

describe('The OAuth endpoints', () => {
  it('are described by the metadata', async () => {
    const response = await fetch(`${t.url}/.well-known/oauth-authorization-server`)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      issuer: t.url,
      authorization_endpoint: `${t.url}/authorize`,
      token_endpoint: `${t.url}/oauth/token`,
      device_authorization_endpoint: `${t.url}/oauth/device_authorization`,
      revocation_endpoint: `${t.url}/oauth/revoke`,
      code_challenge_methods_supported: ['S256'],
      grant_types_supported: ['authorization_code', 'refresh_token', DEVICE],
    })
  })

  it.each([
    ['/oauth/token', { client_id: 'x' }, 'invalid_request'],
    ['/oauth/token', { grant_type: 'authorization_code' }, 'invalid_request'],
    [
      '/oauth/token',
      { grant_type: 'authorization_code', client_id: 'x', code: 'y' },
      'invalid_request',
    ],
    ['/oauth/token', { grant_type: 'password', client_id: 'x' }, 'unsupported_grant_type'],
    ['/oauth/token', { grant_type: DEVICE, client_id: 'x', device_code: 'y' }, 'invalid_grant'],
    ['/oauth/device_authorization', {}, 'invalid_request'],
    ['/oauth/device_authorization', { client_id: 'a b' }, 'invalid_request'],
    ['/oauth/device_authorization', { client_id: 'x', scope: 'y' }, 'invalid_scope'],
    ['/oauth/revoke', {}, 'invalid_request'],
  ] as [string, Record<string, string>, string][])('%s refuses %j', async (path, fields, error) => {
    expect(await post(path, fields)).toMatchObject(refused(error))
  })

  it('refuse other content types, repeated parameters, large bodies and other methods', async () => {
    const send = async (init: RequestInit) =>
      (await fetch(`${t.url}/oauth/token`, { method: 'POST', ...init })).status
    expect(await send({ body: '{}', headers: { 'content-type': 'application/json' } })).toBe(400)
    expect(await send({ body: new URLSearchParams({ code: 'x'.repeat(20_000) }) })).toBe(400)
    expect(await send({ method: 'GET' })).toBe(405)
    expect((await fetch(`${t.url}/oauth/nothing`, { method: 'POST' })).status).toBe(404)
    expect(
      await post('/oauth/token', [
        ['grant_type', DEVICE],
        ['grant_type', DEVICE],
      ]),
    ).toMatchObject(refused('invalid_request'))
  })

  it('record in the audit trail where keys were requested and revoked', async () => {
    const { verifier, query } = newLogin()
    const target = await approve(alice, query)
    const headers = { 'x-forwarded-for': '203.0.113.7', 'user-agent': 'a program' }
    const fields = {
      grant_type: 'authorization_code',
      client_id: 'satchel-cli',
      redirect_uri: REDIRECT,
    }
    const given = await post(
      '/oauth/token',
      { ...fields, code: target.searchParams.get('code') ?? '', code_verifier: verifier },
      headers,
    )
    await post('/oauth/revoke', { token: given.said.access_token }, headers)
    const rows = await t.app.db.rows<{
      kind: string
      agent: string | null
      address: string | null
    }>('SELECT kind, agent, address FROM event WHERE subject_id = ? ORDER BY kind', [
      given.said.key_id,
    ])
    const from = { agent: 'a program', address: expect.stringMatching(/^203\.0\.113\./) }
    expect(rows).toEqual([
      { kind: 'key.created', ...from },
      { kind: 'key.deleted', ...from },
    ])
  })

  it('revoke a key for anyone who holds it', async () => {
    const { key } = await privateKey(t, alice, ['private_files:read'])
    expect(await post('/oauth/revoke', { token: key })).toMatchObject({ status: 200 })
    expect((await t.withKey(key).rest('GET', '/api/user/data')).status).toBe(401)
    expect(await keysOf(alice)).toEqual([])
    const events = (await ask(alice, '{ me { events { nodes { kind } } } }')).me.events.nodes
    expect(events).toContainEqual({ kind: 'KEY_DELETED' })
    // Revoking a revoked or unknown key succeeds.
    expect(await post('/oauth/revoke', { token: key })).toMatchObject({ status: 200 })
    expect(await post('/oauth/revoke', { token: 'x'.repeat(1000) })).toMatchObject({ status: 200 })
  })

  it('issue no key during a maintenance, but revoke keys', async () => {
    const { key } = await privateKey(t, alice, ['private_files:read'])
    const { device_code } = await begin()
    // With two workers, each learns of the maintenance after a moment, and requests alternate
    // between them.
    const bothAnswer = (status: number) =>
      until(async () => {
        const answers = [await begins(), await begins()]
        return answers.every(answer => answer.status === status)
      })
    const begins = () => post('/oauth/device_authorization', { client_id: 'x' })
    await t.app.services.maintenance.start({ endsAt: Date.now() + 600_000, message: '' }, null)
    try {
      await bothAnswer(503)
      const busy = { status: 503, said: { error: 'temporarily_unavailable' } }
      expect(await poll(device_code)).toMatchObject(busy)
      expect(await exchange('x', 'y')).toMatchObject(busy)
      const unbegun = await begins()
      expect(unbegun).toMatchObject(busy)
      expect(Number(unbegun.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(
        (await form(alice, pathOf(newLogin().query), { account: alice.userId, answer: 'approve' }))
          .status,
      ).toBe(503)
      expect((await post('/oauth/revoke', { token: key })).status).toBe(200)
      expect(await keysOf(alice)).toEqual([])
    } finally {
      await t.app.services.maintenance.end(null)
    }
    await bothAnswer(200)
    expect(await poll(device_code)).toMatchObject(refused('authorization_pending'))
  })

  it('accept no other bearer token as a key, and prefer the X-API-Key header', async () => {
    const valid = async (headers: Record<string, string>) =>
      (await (await fetch(`${t.url}/auth/is_valid`, { headers })).json()).response.via
    const { key } = await privateKey(t, alice, ['private_files:read'])
    expect(await valid({ cookie: alice.cookie, authorization: 'Bearer of.a.proxy' })).toBe(
      'session',
    )
    expect(await valid({ cookie: alice.cookie, authorization: `Bearer ${key}` })).toBe('api_key')
    expect(await valid({ 'x-api-key': 'wrong', authorization: `Bearer ${key}` })).toBeUndefined()
  })
})
