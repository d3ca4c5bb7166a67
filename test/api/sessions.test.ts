import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { altered } from '../support/altered.ts'
import { ask, codeOf } from '../support/ask.ts'
import { privateKey } from '../support/builders.ts'
import { newDatabase, type Person, rest, startApp, type TestApp } from '../support/harness.ts'
import {
  newBrowser,
  openProvider,
  signInBy,
  type TestProvider,
} from '../support/sign-in-provider.ts'
import { until } from '../support/until.ts'
import { Browser } from '../unit/sign-in-browser.ts'

interface SessionRow {
  id: string
  device: string
  address: string
  created_at: string
  last_used_at: string
  expires_at: string
  current: boolean
}

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const SAFARI =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1'

let t: TestApp
let provider: TestProvider
let database: Awaited<ReturnType<typeof newDatabase>>

beforeAll(async () => {
  provider = await openProvider()
  database = await newDatabase()
  t = await startApp({ ...provider.settings, TRUST_PROXY: 'loopback', DATABASE_URL: database.url })
  // The worker is stopped, so that mails stay in the outbox.
  await t.app.worker.stop()
})
afterAll(async () => {
  await t?.stop()
  await provider?.close()
  await database?.drop()
})

const listOf = async (who: Pick<Person, 'rest'>): Promise<SessionRow[]> => {
  const { status, response } = await who.rest('GET', '/api/user/sessions')
  expect(status).toBe(200)
  return response.sessions
}
const currentOf = async (who: Person) =>
  (await listOf(who)).find(({ current }) => current)?.id ?? ''
const isDead = async (who: Person) => (await who.rest('GET', '/api/user/data')).status === 401

/** A REST caller with the browser's cookie. */
const asPerson = (browser: Browser): Pick<Person, 'rest'> => ({
  rest: (method, path, options) =>
    rest(t.url, method, path, {
      ...options,
      headers: {
        ...options?.headers,
        cookie: `session_id=${browser.jar.get('session_id')?.value}`,
      },
    }),
})

const mailsTo = async (email: string) =>
  (
    await t.app.db.rows<{ payload: string }>(
      "SELECT payload FROM outbox WHERE kind = 'mail' ORDER BY id",
    )
  )
    .map(({ payload }) => JSON.parse(payload))
    .filter(({ to }) => to === email)

describe('GET /api/user/sessions', () => {
  it('shows where the account is signed in: device, network, and the current session', async () => {
    const before = Date.now()
    const headers = { 'user-agent': FIREFOX, 'x-forwarded-for': '203.0.113.77' }
    const desk = await newBrowser(t.url, 'alice@example.com', headers)
    const phone = await newBrowser(t.url, 'alice@example.com', {
      'user-agent': SAFARI,
      'x-forwarded-for': '2001:db8:1:2:3::4',
    })
    const listed = await listOf(asPerson(desk))
    expect(listed.map(({ device, address, current }) => ({ device, address, current }))).toEqual(
      expect.arrayContaining([
        { device: 'Firefox on Linux', address: '203.0.113.0/24', current: true },
        { device: 'Safari on iOS', address: '2001:db8:1::/48', current: false },
      ]),
    )
    expect(listed).toHaveLength(2)
    for (const { created_at, last_used_at, expires_at } of listed) {
      expect(Date.parse(created_at)).toBeGreaterThanOrEqual(before)
      expect(last_used_at).toBe(created_at)
      expect(Date.parse(expires_at)).toBeGreaterThan(Date.now())
    }
    const byPhone = await listOf(asPerson(phone))
    expect(byPhone.find(({ current }) => current)?.device).toBe('Safari on iOS')
    // Neither the secret nor its hash is shown.
    const rows = await t.app.db.rows<{ hash: string }>('SELECT hash FROM session')
    const said = JSON.stringify([listed, byPhone])
    for (const secret of [desk.jar.get('session_id')?.value, ...rows.map(({ hash }) => hash)])
      expect(said).not.toContain(secret)
  })

  it.each([
    ['', 'Unknown device'],
    ['curl/8.5.0', 'curl'],
    [`<script>alert(1)</script>${'x'.repeat(4000)}`, 'Unknown device'],
    ['\u00e9v\u00e9nement', 'Unknown device'],
  ])('shows a short text for a client that calls itself %j', async (agent, device) => {
    const email = `agent${agent.length}@example.com`
    const browser = await newBrowser(t.url, email, { 'user-agent': agent })
    const [session] = await listOf(asPerson(browser))
    expect(session?.device).toBe(device)
  })

  it('shows the last use to five minutes, without a write for every request', async () => {
    const alice = await t.signIn('last-use')
    const id = await currentOf(alice)
    const minutesAgo = async (minutes: number) => {
      const at = Date.now() - minutes * 60_000
      await t.app.db.run('UPDATE session SET last_used_at = ? WHERE id = ?', [at, id])
      return at
    }
    const updates = () => t.statements().filter(sql => /UPDATE session/.test(sql)).length
    const recent = await minutesAgo(4)
    updates()
    for (let i = 0; i < 5; i++) await alice.rest('GET', '/api/user/data')
    expect(updates()).toBe(0)
    expect((await listOf(alice))[0]?.last_used_at).toBe(new Date(recent).toISOString())
    await minutesAgo(6)
    updates()
    const began = Date.now()
    await alice.rest('GET', '/api/user/data')
    // The last use is written asynchronously.
    await until(() => updates() > 0)
    await until(async () => Date.parse((await listOf(alice))[0]?.last_used_at ?? '') >= began)
  })

  it('omits expired sessions and sessions of others', async () => {
    const [first, second] = [await t.signIn('expiring'), await t.signIn('expiring')]
    await t.signIn('neighbour')
    const id = await currentOf(second)
    await t.app.db.run('UPDATE session SET expires_at = ? WHERE id = ?', [Date.now() - 1, id])
    expect((await listOf(first)).map(({ current }) => current)).toEqual([true])
  })

  it('matches GraphQL', async () => {
    const alice = await t.signIn('graphql-list')
    const SESSIONS = `{ me { signInNotices sessions { id device address createdAt lastUsedAt expiresAt current } } }`
    const { me } = await ask(alice, SESSIONS)
    expect(me.signInNotices).toBe(false)
    const { sessions } = (await alice.rest('GET', '/api/user/sessions')).response
    expect(me.sessions).toEqual(
      sessions.map((session: Record<string, unknown>) => ({
        id: session.id,
        device: session.device,
        address: session.address,
        createdAt: session.created_at,
        lastUsedAt: session.last_used_at,
        expiresAt: session.expires_at,
        current: true,
      })),
    )
    const NODE = 'query ($id: ID!) { node(id: $id) { ... on Session { current } } }'
    const { id } = me.sessions[0]
    expect(await ask(alice, NODE, { id })).toEqual({ node: { current: true } })
    expect(await ask(await t.signIn('graphql-other'), NODE, { id })).toEqual({ node: null })
    const NOTICES =
      'mutation ($input: SetSignInNoticesInput!) { setSignInNotices(input: $input) { viewer { signInNotices } } }'
    for (const enabled of [true, false])
      expect(await ask(alice, NOTICES, { input: { enabled } })).toEqual({
        setSignInNotices: { viewer: { signInNotices: enabled } },
      })
    expect(await codeOf(t.anonymous, NOTICES, { input: { enabled: true } })).toBe('UNAUTHENTICATED')
  })
})

describe('Ending sessions', () => {
  it.each(['REST', 'GraphQL'])(
    'ends one session, which is refused at its next request, by %s',
    async face => {
      const [here, there] = [await t.signIn(`ends-one-${face}`), await t.signIn(`ends-one-${face}`)]
      const session_id = await currentOf(there)
      if (face === 'REST') {
        const { status, response } = await here.rest(
          'DELETE',
          `/api/user/sessions?session_id=${session_id}`,
        )
        expect([status, response]).toEqual([200, { session_id }])
      } else {
        const END = `mutation ($input: EndSessionInput!) { endSession(input: $input) {
        endedId viewer { sessions { id } } } }`
        const input = { session: session_id }
        expect(await codeOf(t.anonymous, END, { input })).toBe('UNAUTHENTICATED')
        expect(await codeOf(await t.signIn('ends-none'), END, { input })).toBe('SESSION_NOT_FOUND')
        expect((await ask(here, END, { input })).endSession).toEqual({
          endedId: session_id,
          viewer: { sessions: [{ id: await currentOf(here) }] },
        })
        expect(await codeOf(here, END, { input })).toBe('SESSION_NOT_FOUND')
      }
      expect(await isDead(there)).toBe(true)
      expect(await isDead(here)).toBe(false)
      const again = await here.rest('DELETE', `/api/user/sessions?session_id=${session_id}`)
      expect([again.status, again.response]).toEqual([404, { code: 'SESSION_NOT_FOUND' }])
    },
  )

  it('ends a session on every instance immediately', async () => {
    const other = await startApp({ DATABASE_URL: database.url })
    try {
      const [here, there] = [await t.signIn('two-instances'), await t.signIn('two-instances')]
      const ask = () =>
        rest(other.url, 'GET', '/api/user/data', { headers: { cookie: there.cookie } })
      expect((await ask()).status).toBe(200)
      await here.rest('DELETE', `/api/user/sessions?session_id=${await currentOf(there)}`)
      expect((await ask()).status).toBe(401)
    } finally {
      await other.stop()
    }
  })

  it('closes an open subscription', async () => {
    const [here, there] = [await t.signIn('subscriber'), await t.signIn('subscriber')]
    const stream = await there.subscribe('subscription { driveChanged { usage { usedBytes } } }')
    await here.rest('DELETE', '/api/user/sessions/others')
    const next = stream.next()
    await here.upload('news.txt', 'x')
    expect((await next).errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED')
    stream.close()
  })

  it('ends no session of another user, and does not reveal whether one exists', async () => {
    const [alice, mallory] = [await t.signIn('victim'), await t.signIn('mallory')]
    const theirs = await currentOf(alice)
    const hash = (
      await t.app.db.rows<{ hash: string }>('SELECT hash FROM session WHERE id = ?', [theirs])
    )[0]?.hash
    const cookie = alice.cookie.replace('session_id=', '')
    for (const id of [
      theirs,
      '00000000-0000-4000-8000-000000000000',
      hash,
      cookie,
      '%',
      "' OR 1=1",
    ]) {
      const path = `/api/user/sessions?${new URLSearchParams({ session_id: id ?? '' })}`
      const { status, response } = await mallory.rest('DELETE', path)
      expect([status, response.code]).toEqual([404, 'SESSION_NOT_FOUND'])
    }
    expect(await isDead(alice)).toBe(false)
    const none = await mallory.rest('DELETE', '/api/user/sessions')
    expect([none.status, none.response]).toEqual([
      400,
      { code: 'INVALID_INPUT', field: 'session_id' },
    ])
  })

  it('ends all other sessions of the user, but not the current one', async () => {
    const many: Person[] = []
    for (let i = 0; i < 4; i++) many.push(await t.signIn('all'))
    const neighbour = await t.signIn('all-neighbour')
    const [here, ...others] = many
    const { response } = (await here?.rest('DELETE', '/api/user/sessions/others')) ?? {}
    expect(response).toEqual({ sessions_ended: 3 })
    for (const other of others) expect(await isDead(other)).toBe(true)
    for (const alive of [here, neighbour]) expect(alive && (await isDead(alive))).toBe(false)
    const again = await t.signIn('all')
    const END = 'mutation { endOtherSessions { count viewer { sessions { current } } } }'
    expect(here && (await ask(here, END))).toEqual({
      endOtherSessions: { count: 1, viewer: { sessions: [{ current: true }] } },
    })
    expect(await isDead(again)).toBe(true)
    expect(await codeOf(t.anonymous, END)).toBe('UNAUTHENTICATED')
  })

  it('is refused to keys of every scope', async () => {
    const alice = await t.signIn('key-holder')
    const { caller } = await privateKey(t, alice)
    const calls = [
      ['GET', '/api/user/sessions'],
      ['DELETE', `/api/user/sessions?session_id=${await currentOf(alice)}`],
      ['DELETE', '/api/user/sessions/others'],
      ['PUT', '/api/user/sign_in_notices'],
    ] as const
    for (const [method, path] of calls) {
      const { status, response } = await caller.rest(
        method,
        path,
        method === 'PUT' ? { json: { enabled: true } } : {},
      )
      expect([status, response.code]).toEqual([401, 'KEY_OUT_OF_BOUNDS'])
    }
    expect((await caller.graphql('{ me { sessions { id } } }')).code).toBe('KEY_OUT_OF_BOUNDS')
    expect(await isDead(alice)).toBe(false)
  })

  it('is refused to pages of another origin', async () => {
    const [here, there] = [await t.signIn('forged'), await t.signIn('forged')]
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    const forged = await here.rest('DELETE', '/api/user/sessions/others', { headers })
    expect(forged.status).toBeGreaterThanOrEqual(400)
    const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' }
    const page = await here.rest('POST', '/sessions', { headers: form, body: 'end=others' })
    expect(page.status).toBe(403)
    expect(await isDead(there)).toBe(false)
  })
})

describe('Mails about new devices', () => {
  const wish = (who: Pick<Person, 'rest'>, enabled: boolean) =>
    who.rest('PUT', '/api/user/sign_in_notices', { json: { enabled } })

  it('are sent only when enabled', async () => {
    await newBrowser(t.url, 'quiet@example.com')
    await newBrowser(t.url, 'quiet@example.com')
    expect(await mailsTo('quiet@example.com')).toEqual([])
  })

  it('show time, device, network and how to end the session; a known browser sends none', async () => {
    const email = 'warned@example.com'
    const desk = await newBrowser(t.url, email, { 'user-agent': FIREFOX })
    expect((await wish(asPerson(desk), true)).response).toEqual({ sign_in_notices: true })
    expect((await asPerson(desk).rest('GET', '/api/user/sessions')).response.sign_in_notices).toBe(
      true,
    )
    // This browser has signed in before.
    await signInBy(desk, t.url, email, { 'user-agent': FIREFOX })
    expect(await mailsTo(email)).toEqual([])
    // Another user's browser looks the same, and is new.
    const headers = { 'user-agent': FIREFOX, 'x-forwarded-for': '198.51.100.9' }
    const thief = await newBrowser(t.url, email, headers)
    const [mail, ...more] = await mailsTo(email)
    expect(more).toEqual([])
    expect(mail).toEqual({
      template: 'sign-in',
      to: email,
      values: {
        device: 'Firefox on Linux',
        address: '198.51.100.0/24',
        at: expect.stringMatching(/^\d{4}-/),
        link: `${t.app.publicUrl()}/sessions`,
      },
    })
    // The thief's browser is known from now on, only for this account.
    await signInBy(thief, t.url, email, headers)
    expect(await mailsTo(email)).toHaveLength(1)
    await wish(asPerson(desk), false)
    await newBrowser(t.url, email)
    expect(await mailsTo(email)).toHaveLength(1)
  })

  it('are sent for an account that is new on another user’s browser', async () => {
    const email = 'guest@example.com'
    await wish(asPerson(await newBrowser(t.url, email)), true)
    const shared = await newBrowser(t.url, 'host@example.com')
    shared.jar.delete('session_id')
    await signInBy(shared, t.url, email)
    expect(await mailsTo(email)).toHaveLength(1)
    // Both accounts are known on this browser now.
    shared.jar.delete('session_id')
    await signInBy(shared, t.url, email)
    expect(await mailsTo(email)).toHaveLength(1)
  })

  it('trust no forged cookie', async () => {
    const email = 'forger@example.com'
    const browser = await newBrowser(t.url, email)
    await wish(asPerson(browser), true)
    const forger = new Browser()
    const known = browser.jar.get('known_device')
    expect(known?.value.length).toBeGreaterThan(40)
    forger.jar.set('known_device', { path: '/auth', value: altered(known?.value ?? '') })
    await signInBy(forger, t.url, email)
    expect(await mailsTo(email)).toHaveLength(1)
  })

  it('leave neither a session nor a mail when the sign-in cannot be completed', async () => {
    const email = 'broken@example.com'
    await wish(asPerson(await newBrowser(t.url, email)), true)
    const sessions = async () =>
      (
        await t.app.db.rows(
          'SELECT 1 FROM session s JOIN user u ON u.id = s.user_id WHERE u.email = ?',
          [email],
        )
      ).length
    expect(await sessions()).toBe(1)
    await t.app.db.run('ALTER TABLE outbox RENAME TO outbox_away')
    try {
      const browser = new Browser()
      expect((await signInBy(browser, t.url, email)).status).toBe(500)
      expect(browser.jar.has('session_id')).toBe(false)
    } finally {
      await t.app.db.run('ALTER TABLE outbox_away RENAME TO outbox')
    }
    expect(await sessions()).toBe(1)
    expect(await mailsTo(email)).toEqual([])
  })

  it('go to verified addresses only', async () => {
    const unsure = await t.signIn('unsure', { emailVerified: false })
    await wish(unsure, true)
    const { app } = t
    await app.services.sessions.start(unsure.userId, { device: 'x', address: 'y', known: false })
    expect(await mailsTo('unsure@example.com')).toEqual([])
  })
})

describe('/sessions', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const page = async (who: Person) =>
    (await who.rest('GET', '/sessions', { headers: { accept: 'text/html' } })).text

  it('redirects strangers to the sign-in', async () => {
    const { status, headers } = await t.anonymous.rest('GET', '/sessions')
    expect([status, headers.get('location')]).toEqual([303, '/login?return_to=%2Fsessions'])
  })

  it('lists sessions, ends one or all others, and switches the mails, without a script', async () => {
    const [here, second, third] = [
      await t.signIn('paged'),
      await t.signIn('paged'),
      await t.signIn('paged'),
    ]
    const [id, other] = [await currentOf(second), await currentOf(third)]
    expect(await page(here)).toContain(`value="${id}"`)
    expect(await page(here)).not.toContain(`value="${await currentOf(here)}"`)
    const send = (body: string) => here.rest('POST', '/sessions', { headers: form, body })
    expect((await send(`session=${id}`)).headers.get('location')).toBe('/sessions')
    expect([await isDead(second), await isDead(third)]).toEqual([true, false])
    expect(await page(here)).toContain(`value="${other}"`)
    await send('end=others')
    expect(await isDead(third)).toBe(true)
    expect(await page(here)).not.toContain('End all others')
    for (const notices of ['on', 'off']) {
      expect((await send(`notices=${notices}`)).status).toBe(303)
      const { response } = await here.rest('GET', '/api/user/sessions')
      expect(response.sign_in_notices).toBe(notices === 'on')
    }
    expect((await send('nothing=1')).status).toBe(400)
    expect((await send(`session=${id}`)).status).toBe(404)
  })

  it('shows the name that a device claims, escaped', async () => {
    const alice = await t.signIn('hostile-device')
    await t.app.services.sessions.start(alice.userId, {
      device: '<img src=x onerror=alert(1)>',
      address: '',
      known: true,
    })
    expect(await page(alice)).not.toContain('<img')
  })
})
