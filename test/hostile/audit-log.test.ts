import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { loggablePath } from '../../src/runtime/log.ts'
import { found, join, privateKey, workspaceKey } from '../support/builders.ts'
import { wholeGuessWindow } from '../support/guess-window.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import {
  newBrowser,
  openProvider,
  signInBy,
  type TestProvider,
} from '../support/sign-in-provider.ts'
import { until } from '../support/until.ts'
import { Browser } from '../unit/sign-in-browser.ts'

type Line = Record<string, unknown> & { subject?: Record<string, unknown> }

let t: TestApp
let provider: TestProvider
let alice: Person
let bob: Person
/** Requests whose log line is not written yet. */
let open = 0

beforeAll(async () => {
  provider = await openProvider()
  t = await startApp({ ...provider.settings, TRUST_PROXY: 'loopback' })
  t.app.gateway.server.on('request', (_req, res) => {
    open++
    res.on('close', () => open--)
  })
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
})
afterAll(async () => {
  await t?.stop()
  await provider?.close()
})

const linesOf = (app: TestApp): Line[] =>
  app
    .logs()
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line))

/**
 * The log line of a request is written when its connection is done, possibly after the client has
 * the response.
 */
const allLogged = () => until(() => open === 0)

/** The log lines written during some work. */
async function during<T>(work: () => Promise<T>): Promise<{ answer: T; lines: Line[] }> {
  await allLogged()
  const before = linesOf(t).length
  const answer = await work()
  await allLogged()
  return { answer, lines: linesOf(t).slice(before) }
}

const requestsIn = (lines: Line[]) => lines.filter(line => line.msg === 'request')
const eventsIn = (lines: Line[]) => lines.filter(line => line.event !== undefined)

/** The only security event of a call, which must belong to that request. */
async function eventOf(call: () => Promise<{ headers?: Headers; status: number }>): Promise<Line> {
  const { answer, lines } = await during(call)
  expect(answer.status).toBeLessThan(400)
  const [event, ...more] = eventsIn(lines)
  expect(more).toEqual([])
  if (answer.headers) expect(event?.request_id).toBe(answer.headers.get('x-request-id'))
  expect(requestsIn(lines).map(line => line.request_id)).toContain(event?.request_id)
  return event ?? {}
}

const sessionIdOf = async (person: Person): Promise<string> => {
  const { response } = await person.rest('GET', '/api/user/sessions')
  return response.sessions.find(({ current }: { current: boolean }) => current).id
}

describe('The log line of a request', () => {
  it('names the user and the session by ids that are not credentials', async () => {
    const session_id = await sessionIdOf(alice)
    for (const call of [
      () => alice.rest('GET', '/api/user/data'),
      () => alice.graphql('{ me { email } }'),
      () => alice.rest('GET', '/'),
      () => alice.rest('GET', '/auth/is_valid'),
    ]) {
      const [line] = requestsIn((await during<unknown>(call)).lines)
      expect(line).toMatchObject({ user_id: alice.userId, session_id })
      expect(line).not.toHaveProperty('key_id')
    }
    expect(session_id).toMatch(/^[\da-f-]{36}$/)
  })

  it('names the API key', async () => {
    const key = await privateKey(t, alice)
    const [line] = requestsIn((await during(() => key.caller.rest('GET', '/api/user/data'))).lines)
    expect(line).toMatchObject({ user_id: alice.userId, key_id: key.id })
    expect(line).not.toHaveProperty('session_id')
  })

  it('names no user for an invalid credential', async () => {
    const calls = [t.anonymous, t.withKey(`satchel_${'x'.repeat(43)}`)].map(
      who => () => who.rest('GET', '/api/user/data'),
    )
    for (const call of calls) {
      const [line] = requestsIn((await during(call)).lines)
      expect(line).toMatchObject({ status: 401 })
      for (const name of ['user_id', 'session_id', 'key_id']) expect(line).not.toHaveProperty(name)
    }
  })

  it.each([
    ['203.0.113.77', '203.0.113.0/24'],
    ['2001:db8:abcd:12::7', '2001:db8:abcd::/48'],
    ['::ffff:203.0.113.77', '203.0.113.0/24'],
  ])('shows only the network of the address %s', async (address, network) => {
    const headers = { 'x-forwarded-for': address }
    const { lines } = await during(() => t.anonymous.rest('GET', '/api/user/data', { headers }))
    expect(requestsIn(lines)[0]?.address).toBe(network)
    expect(JSON.stringify(lines)).not.toContain(address)
  })

  it('shows full addresses, or none, when configured', async () => {
    for (const [LOG_ADDRESSES, shown] of [
      ['full', '203.0.113.77'],
      ['none', undefined],
    ] as const) {
      const other = await startApp({ LOG_ADDRESSES, TRUST_PROXY: 'loopback' })
      try {
        await other.anonymous.rest('GET', '/api/user/data', {
          headers: { 'x-forwarded-for': '203.0.113.77' },
        })
        await other.stop()
        expect(requestsIn(linesOf(other)).map(line => line.address)).toEqual([shown])
      } finally {
        await other.stop().catch(() => {})
      }
    }
  })

  it('names no files, in WebDAV paths or console paths', async () => {
    const paths = [
      ['/dav/files/secret/plan.txt', '/dav/files/...'],
      ['/dav/workspaces/garden/secret/plan.txt', '/dav/workspaces/garden/...'],
      ['/dav/shared/secret.txt', '/dav/shared/...'],
      ['/dav//files//secret.txt', '/dav//files/...'],
      ['/dav/secret', '/dav/...'],
      ['/files/secret/plan', '/files/...'],
      ['/workspaces/garden/files/secret', '/workspaces/garden/files/...'],
      ['/shared/0198/secret', '/shared/...'],
      ['/dav/', '/dav/'],
      ['/workspaces/garden/members', '/workspaces/garden/members'],
    ] as const
    for (const [path, shown] of paths) {
      const { lines } = await during(() => fetch(`${t.url}${path}?secret`))
      expect(requestsIn(lines)[0]?.path).toBe(shown)
      expect(JSON.stringify(lines)).not.toMatch(/secret|plan\.txt/)
    }
  })

  it('has the level debug for a successful health check', async () => {
    const { lines } = await during(async () => {
      for (const path of ['/healthz', '/readyz', '/api/user/data']) await fetch(`${t.url}${path}`)
    })
    expect(requestsIn(lines).map(({ path, level }) => [path, level])).toEqual([
      ['/healthz', 20],
      ['/readyz', 20],
      ['/api/user/data', 30],
    ])
  })

  it('costs no more for the longest possible path', () => {
    const began = process.cpuUsage()
    for (let i = 0; i < 20; i++)
      for (const part of ['a!', 'a', '%4', '!'])
        loggablePath(`/${part.repeat(16_000 / part.length)}`)
    const { user, system } = process.cpuUsage(began)
    // Quadratic work would take seconds.
    expect((user + system) / 1000).toBeLessThan(1500)
  })

  it('shows at most 256 characters of a path, without addresses and tokens', async () => {
    const token = 'Zm9v'.repeat(11)
    const escaped = [...token].map(c => `%${c.charCodeAt(0).toString(16)}`).join('')
    const paths = [
      `/api/${'long/'.repeat(2000)}`,
      `/nowhere/${token}`,
      `/nowhere/${escaped}`,
      '/nowhere/carol@example.com/x',
      '/nowhere/carol%40example.com',
    ]
    for (const path of paths) {
      const { lines } = await during(() => fetch(`${t.url}${path}`))
      const [line] = requestsIn(lines)
      expect(String(line?.path).length).toBeLessThan(300)
      expect(String(line?.path)).not.toMatch(/carol|Zm9vZm9v|%5a%6d/)
      expect(String(line?.path)).toMatch(/^\/(api|nowhere)\//)
    }
  })
})

describe('A security event has its own log line', () => {
  it('for a sign-in, a sign-out and a refused sign-in', async () => {
    const browser = new Browser()
    const { lines } = await during(() => signInBy(browser, t.url, 'carol@example.com'))
    const [carol] = await t.app.db.rows<{ id: string }>(
      "SELECT id FROM user WHERE email = 'carol@example.com'",
    )
    const [session] = await t.app.db.rows<{ id: string }>(
      'SELECT id FROM session WHERE user_id = ?',
      [carol?.id ?? ''],
    )
    const whose = { user_id: carol?.id, session_id: session?.id }
    expect(eventsIn(lines)).toEqual([
      expect.objectContaining({
        event: 'sign_in',
        level: 30,
        ...whose,
        subject: { provider: 'hub' },
      }),
    ])
    expect(await eventOf(() => browser.get(`${t.url}/auth/logout`))).toMatchObject({
      event: 'sign_out',
      ...whose,
    })

    const refused = await during(() => browser.get(`${t.url}/auth/callback?code=x&state=y`))
    expect(eventsIn(refused.lines)).toEqual([
      expect.objectContaining({
        event: 'sign_in_refused',
        level: 40,
        subject: { reason: 'invalid_state', provider: null },
        request_id: refused.answer.headers.get('x-request-id'),
      }),
    ])
    await t.app.db.run("UPDATE user SET status = 'suspended' WHERE id = ?", [carol?.id ?? ''])
    const closed = await during(() => signInBy(browser, t.url, 'carol@example.com'))
    expect(eventsIn(closed.lines)).toEqual([
      expect.objectContaining({
        event: 'sign_in_refused',
        subject: { reason: 'auth_failed', provider: 'hub' },
      }),
    ])
  })

  it('for a sign-out on a page', async () => {
    const browser = await newBrowser(t.url, 'dora@example.com')
    const signOut = () =>
      browser.get(`${t.url}/logout`, { method: 'POST', headers: { origin: t.app.publicUrl() } })
    expect(await eventOf(signOut)).toMatchObject({ event: 'sign_out', user_id: expect.any(String) })
    // The same cookie signs nobody out again.
    expect(eventsIn((await during(signOut)).lines)).toEqual([])
  })

  it('for keys, by REST and by GraphQL', async () => {
    const workspace_id = await found(alice)
    const caller = { user_id: alice.userId, session_id: await sessionIdOf(alice) }
    for (const where of ['private', workspace_id]) {
      const scopes = [where === 'private' ? 'private_files:read' : 'workspaces:read']
      const ofWorkspace = where === 'private' ? {} : { workspace_id }
      let key_id = ''
      const made = await eventOf(async () => {
        const answer = await alice.rest('POST', `/api/api_keys/${where}/create`, {
          json: { name: 'k', scopes },
        })
        key_id = answer.response.api_key.id
        return answer
      })
      const subject = { key_id, ...ofWorkspace }
      expect(made).toMatchObject({
        event: 'key_created',
        ...caller,
        subject: { ...subject, scopes: scopes[0] },
      })
      const json = { api_key_id: key_id }
      const gone = await eventOf(() =>
        alice.rest('DELETE', `/api/api_keys/${where}/delete`, { json }),
      )
      expect(gone).toMatchObject({ event: 'key_deleted', ...caller, subject })
    }
    const CREATE =
      'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { apiKey { id } } }'
    const DELETE =
      'mutation ($input: DeleteApiKeyInput!) { deleteApiKey(input: $input) { deletedId } }'
    for (const [where, scope, scopes] of [
      [{}, 'PRIVATE_FILES_READ', 'private_files:read'],
      [{ workspace: workspace_id }, 'WORKSPACES_READ', 'workspaces:read'],
    ] as const) {
      const ofWorkspace = 'workspace' in where ? { workspace_id } : {}
      let key_id = ''
      const made = await eventOf(async () => {
        const input = { ...where, name: 'k', scopes: [scope] }
        const answer = await alice.graphql<{ createApiKey: { apiKey: { id: string } } }>(CREATE, {
          input,
        })
        key_id = answer.data?.createApiKey.apiKey.id ?? ''
        return answer
      })
      const subject = { key_id, ...ofWorkspace }
      expect(made).toMatchObject({
        event: 'key_created',
        ...caller,
        subject: { ...subject, scopes },
      })
      const gone = await eventOf(() => alice.graphql(DELETE, { input: { apiKey: key_id } }))
      expect(gone).toMatchObject({ event: 'key_deleted', ...caller, subject })
    }
  })

  it('for roles, members and workspaces', async () => {
    const workspace_id = await found(alice)
    await join(t, workspace_id, bob, 'viewer')
    const subject = { workspace_id, user_id: bob.userId }
    const json = { ...subject, role: 'admin' }
    expect(
      await eventOf(() => alice.rest('PATCH', '/api/workspaces/members/role', { json })),
    ).toMatchObject({
      event: 'role_changed',
      user_id: alice.userId,
      subject: json,
    })
    const key = await workspaceKey(t, alice, workspace_id)
    const remove = `/api/workspaces/members/remove?${new URLSearchParams(subject)}`
    expect(await eventOf(() => key.caller.rest('DELETE', remove))).toMatchObject({
      event: 'member_removed',
      user_id: alice.userId,
      key_id: key.id,
      subject,
    })
    const end = `/api/workspaces/delete?workspace_id=${workspace_id}`
    expect(await eventOf(() => alice.rest('DELETE', end))).toMatchObject({
      event: 'workspace_deleted',
      user_id: alice.userId,
      subject: { workspace_id },
    })
  })

  it('for ended sessions and accounts', async () => {
    const first = await t.signIn('erin')
    const second = await t.signIn('erin')
    const [mine, other] = [await sessionIdOf(first), await sessionIdOf(second)]
    const caller = { user_id: first.userId, session_id: mine }
    expect(
      await eventOf(() => first.rest('DELETE', `/api/user/sessions?session_id=${other}`)),
    ).toMatchObject({
      event: 'session_ended',
      ...caller,
      subject: { session_id: other },
    })
    expect(await eventOf(() => first.rest('DELETE', '/api/user/sessions/others'))).toMatchObject({
      event: 'other_sessions_ended',
      ...caller,
      subject: { sessions: 0 },
    })
    const json = { delete_user_data: true }
    expect(
      await eventOf(() => first.rest('DELETE', '/api/user/account/delete', { json })),
    ).toMatchObject({
      event: 'account_deleted',
      ...caller,
      subject: { user_id: first.userId, data_deleted: true },
    })
  })

  it('for blocked password guesses of a link, on every interface', async () => {
    await wholeGuessWindow()
    await alice.upload('guessed.txt', 'x')
    const json = { object: 'guessed.txt', password: 'right' }
    const token = (await alice.rest('POST', '/api/files/quick_share', { json })).response
      .sharing_token
    const guess = () =>
      t.anonymous.rest('POST', `/api/share/resolve/${token}`, { json: { password: 'wrong' } })
    const { lines: unblocked } = await during(guess)
    expect(eventsIn(unblocked)).toEqual([])
    for (let tries = 0; tries < 20; tries++)
      if ((await guess()).response.code === 'TOO_MANY_ATTEMPTS') break
    const form = { 'content-type': 'application/x-www-form-urlencoded', origin: t.app.publicUrl() }
    const doors = [
      guess,
      () =>
        t.anonymous.rest('GET', `/api/d/${token}`, { headers: { 'x-share-password': 'wrong' } }),
      () =>
        t.anonymous.graphql(
          `mutation { openShare(input: { token: "${token}", password: "wrong" }) { download { url } } }`,
        ),
      () =>
        fetch(`${t.url}/share/${token}`, { method: 'POST', headers: form, body: 'password=wrong' }),
    ]
    for (const door of doors) {
      const { lines } = await during<unknown>(door)
      const [event, ...more] = eventsIn(lines)
      expect(more).toEqual([])
      expect(event).toMatchObject({
        event: 'guesses_blocked',
        level: 40,
        subject: { share_id: expect.any(String) },
      })
      expect(requestsIn(lines)[0]?.request_id).toBe(event?.request_id)
    }
    expect(t.logs()).not.toContain(token)
  })

  it('without addresses, names, tokens and passwords', () => {
    const events = JSON.stringify(eventsIn(linesOf(t)))
    expect(events.length).toBeGreaterThan(1000)
    expect(events).not.toMatch(/@|alice|bob|carol|wrong|right|satchel_|[\w-]{43}/)
  })

  it('but not for refused changes', async () => {
    const workspaceId = await found(alice)
    await join(t, workspaceId, bob, 'viewer')
    const json = { workspace_id: workspaceId, user_id: alice.userId, role: 'viewer' }
    const { answer, lines } = await during(() =>
      bob.rest('PATCH', '/api/workspaces/members/role', { json }),
    )
    expect(answer.status).toBe(403)
    expect(eventsIn(lines)).toEqual([])
  })
})
