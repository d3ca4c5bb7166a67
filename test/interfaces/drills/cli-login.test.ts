import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask } from '../../support/ask.ts'
import { UNHURRIED } from '../../support/builders.ts'
import { ended, openWarmShell, type Shell } from '../../support/command-line.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

let t: TestApp
let alice: Person
let shell: Shell

beforeAll(async () => {
  t = await startApp(UNHURRIED)
  alice = await t.signIn('alice')
  shell = openWarmShell()
})
afterAll(async () => {
  shell?.close()
  await t?.stop()
})

const keys = async (): Promise<
  { id: string; name: string; scopes: string[]; createdAt: string; expiresAt: string }[]
> =>
  (await ask(alice, '{ me { apiKeys { nodes { id name scopes createdAt expiresAt } } } }')).me
    .apiKeys.nodes

/** A login that waits for its response, with its output and its exit. */
async function waiting(args: string[], own = shell) {
  const child = own.begin(['login', t.url, ...args])
  child.stdin.end()
  let said = ''
  child.stderr.on('data', chunk => {
    said += chunk
  })
  const end = ended(child)
  const ends = end.then(() => true)
  let isOver = false
  ends.then(() => {
    isOver = true
  })
  const url = new URL(
    await until(() =>
      isOver ? 'http://over.invalid' : /http:\S+(?:authorize|device)\?[^\s"]+/.exec(said)?.[0],
    ),
  )
  return { child, url, end, said: () => said }
}

/**
 * Responds in alice's browser.
 * @returns the page that follows
 */
async function answer(
  url: URL,
  said: 'approve' | 'refuse',
  fields: Record<string, string> = {},
): Promise<string> {
  const response = await fetch(
    url.origin + url.pathname + (url.pathname === '/device' ? '' : url.search),
    {
      method: 'POST',
      headers: { cookie: alice.cookie, origin: t.url },
      body: new URLSearchParams({ account: alice.userId, answer: said, ...fields }),
    },
  )
  expect(response.status).toBe(200)
  return (response.headers.get('refresh') ?? '').replace('0;url=', '')
}

/** A misbehaving service. */
async function withService(body: string, work: (url: string) => Promise<void>): Promise<void> {
  const server = createServer((_req, res) =>
    res.writeHead(404, { 'content-type': 'application/json' }).end(body),
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

describe('satchel login through the browser of the computer', () => {
  it('stores a key that the user approved, and logout deletes it', async () => {
    const { url, end } = await waiting(['--browser', '--no-open', '--for', '7d', '--scope', 'read'])
    expect(url.searchParams.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/)
    const shown = await (await fetch(await answer(url, 'approve'))).text()
    expect(shown).toContain('You are signed in')
    const { code, out, err } = await end
    expect({ code, out }).toEqual({
      code: 0,
      out: `Signed in to ${t.url} as ${alice.email} (own files).\n`,
    })
    expect(err).toContain('Open this URL on this computer')
    const [key, ...others] = await keys()
    expect(others).toEqual([])
    expect(key).toMatchObject({
      name: expect.stringMatching(/^satchel on ./),
      scopes: ['PRIVATE_FILES_READ'],
    })
    expect(Date.parse(key?.expiresAt ?? '') - Date.parse(key?.createdAt ?? '')).toBe(7 * 86_400_000)
    expect((await shell.json('ls')).files).toEqual([])
    const { credentials } = await shell.json('whoami')
    expect(credentials).toEqual([
      {
        use: 'own files',
        valid: true,
        email: alice.email,
        via: 'api_key',
        expires_at: key?.expiresAt,
      },
    ])

    const gone = await shell.satchel(['logout'])
    expect(gone).toEqual({
      code: 0,
      out: `Signed out of ${t.url}. The API key of this login has been deleted.\n`,
      err: '',
    })
    expect(await keys()).toEqual([])
    expect((await shell.refused('whoami')).code).toBe(3)
  })

  it('ignores the responses of other logins, and accepts only one', async () => {
    const { url, end } = await waiting(['--browser', '--no-open'])
    const redirect = url.searchParams.get('redirect_uri') ?? ''
    const state = url.searchParams.get('state') ?? ''
    const iss = t.url
    const visit = async (query: Record<string, string>, init = {}) =>
      (await fetch(`${redirect}?${new URLSearchParams(query)}`, init)).status
    expect(await visit({ code: 'x', state: 'wrong', iss })).toBe(400)
    expect(await visit({ code: 'x', state, iss: 'https://evil.example' })).toBe(400)
    expect(await visit({ error: 'access_denied', iss })).toBe(400)
    expect(await visit({ code: 'x', state, iss }, { method: 'POST' })).toBe(404)
    expect((await fetch(new URL('/', redirect))).status).toBe(404)
    await fetch(await answer(url, 'approve'))
    expect((await end).code).toBe(0)
    // Signing in again replaces the key.
    const before = await keys()
    expect(before).toHaveLength(1)
    const again = await waiting(['--browser', '--no-open'])
    await fetch(await answer(again.url, 'approve'))
    expect((await again.end).code).toBe(0)
    const after = await keys()
    expect(after).toHaveLength(1)
    expect(after[0]?.id).not.toBe(before[0]?.id)
    await shell.satchel(['logout'])
  })

  it('continues after invalid requests, and when the browser window closes early', async () => {
    const { url, end } = await waiting(['--browser', '--no-open'])
    const redirect = new URL(url.searchParams.get('redirect_uri') ?? '')
    const odd = request({ host: redirect.hostname, port: redirect.port, path: '//[' }).end()
    const [response] = await once(odd, 'response')
    expect(response.resume().statusCode).toBe(404)
    const { pathname, search } = new URL(await answer(url, 'approve'))
    const tab = connect(Number(redirect.port), redirect.hostname)
    tab.write(`GET ${pathname}${search} HTTP/1.1\r\nhost: ${redirect.host}\r\n\r\n`, () =>
      tab.destroy(),
    )
    expect((await end).code).toBe(0)
    await shell.satchel(['logout'])
  })

  it('keeps its key when the key is also typed in', async () => {
    const { url, end } = await waiting(['--browser', '--no-open', '--json'])
    await fetch(await answer(url, 'approve'))
    const [{ key }] = JSON.parse(readFileSync(JSON.parse((await end).out).file, 'utf8'))
    expect((await shell.satchel(['login', t.url, '--key'], { stdin: key })).code).toBe(0)
    expect(await keys()).toHaveLength(1)
    expect(await shell.json('ls')).toMatchObject({ files: [] })
    // The key is still marked as created by this login.
    expect((await shell.satchel(['logout'])).out).toContain('has been deleted')
    expect(await keys()).toEqual([])
  })

  it('revokes the key when it cannot be stored', async () => {
    const other = openWarmShell()
    const { url, end } = await waiting(['--browser', '--no-open'], other)
    writeFileSync(join(other.home, 'config'), 'not a folder')
    await fetch(await answer(url, 'approve'))
    expect((await end).code).not.toBe(0)
    expect(await keys()).toEqual([])
    other.close()
  })

  it('exits with a clear message when the user refuses, and stores nothing', async () => {
    const { url, end } = await waiting(['--browser', '--no-open'])
    expect(await (await fetch(await answer(url, 'refuse'))).text()).toContain(
      'You are not signed in',
    )
    const { code, err } = await end
    expect(code).toBe(3)
    expect(err).toContain('The login was refused in the browser. (LOGIN_REFUSED)')
    expect((await shell.refused('whoami')).code).toBe(3)
    expect(await keys()).toEqual([])
  })

  it('shows an error of the service in the browser, too', async () => {
    const { url, end } = await waiting(['--browser', '--no-open', '--for', '2y'])
    const page = await fetch(url, { headers: { cookie: alice.cookie }, redirect: 'manual' })
    expect(await (await fetch(page.headers.get('location') ?? '')).text()).toContain(
      'up to 365 days',
    )
    expect(await end).toMatchObject({ code: 3, err: expect.stringContaining('up to 365 days') })
  })

  it('times out without a response, for example after the window was closed', async () => {
    const { end } = await waiting(['--browser', '--no-open', '--wait', '1'])
    const { code, err } = await end
    expect(code).toBe(3)
    expect(err).toContain('The login was not answered within 1 second. Run satchel login again')
  })

  it.each([['--browser'], ['--device']])('exits immediately at Ctrl-C (%s)', async way => {
    const { child, end } = await waiting([way, '--no-open'])
    child.kill('SIGINT')
    expect(await end).toMatchObject({ code: 130, err: expect.stringContaining('Interrupted') })
    expect(await keys()).toEqual([])
  })

  it('explains what to do when the service does not offer this login, or is not Satchel', async () => {
    const envelope = JSON.stringify({
      status: 404,
      msg: 'There is nothing at this URL.',
      response: { code: 'ROUTE_NOT_FOUND' },
    })
    await withService(envelope, async url => {
      const { code, err } = await shell.satchel(['login', url, '--browser', '--no-open'])
      expect([code, err]).toEqual([2, expect.stringContaining(`satchel login --key ${url}`)])
    })
    await withService('<html>', async url => {
      expect((await shell.satchel(['login', url, '--device'])).err).toContain(
        'Is this the URL of a Satchel service?',
      )
    })
    const empty = await shell.satchel(['login', t.url], { stdin: '' })
    expect([empty.code, empty.err]).toEqual([2, expect.stringContaining('Use --device')])
    expect((await shell.satchel(['login', t.url, '--device', '--key'])).code).toBe(2)
    expect((await shell.satchel(['login', t.url, '--for', '7d'], { stdin: 'key' })).code).toBe(2)
    expect((await shell.satchel(['login', t.url, '--device', '--scope', 'everything'])).code).toBe(
      2,
    )
    expect((await shell.satchel(['login', t.url, '--browser', '--wait', 'long'])).code).toBe(2)
  })
})

describe('satchel login with a code', () => {
  const codeOf = (url: URL) => url.searchParams.get('user_code') ?? ''

  // All cases run in parallel, because a poll takes five seconds.
  it('polls until the user responds or the code expires', async () => {
    const others = [openWarmShell(), openWarmShell()]
    const [approved, refused, forgotten] = await Promise.all([
      waiting(['--device', '--json']),
      waiting(['--device'], others[0]),
      waiting(['--device', '--wait', '1'], others[1]),
    ])
    expect(JSON.parse(approved.said())).toEqual({
      open: { url: approved.url.href, user_code: codeOf(approved.url) },
    })
    expect(refused.said()).toContain(codeOf(refused.url))
    await answer(approved.url, 'approve', { user_code: codeOf(approved.url) })
    await answer(refused.url, 'refuse', { user_code: codeOf(refused.url) })
    const { code, out } = await approved.end
    expect([code, JSON.parse(out)]).toEqual([
      0,
      expect.objectContaining({ url: t.url, email: alice.email, via: 'key' }),
    ])
    expect((await keys())[0]?.scopes).toHaveLength(4)
    expect(await shell.json('logout')).toEqual({
      logged_out: true,
      url: t.url,
      key_deleted: true,
      others: [],
    })
    expect(await keys()).toEqual([])
    expect(await refused.end).toMatchObject({
      code: 3,
      err: expect.stringContaining('(LOGIN_REFUSED)'),
    })
    expect(await forgotten.end).toMatchObject({
      code: 3,
      err: expect.stringContaining('(LOGIN_TIMED_OUT)'),
    })
    for (const other of others) other.close()
  })
})

describe('satchel logout', () => {
  it('keeps keys that were typed in, and warns when it cannot delete its own', async () => {
    const made =
      'mutation { createApiKey(input: { name: "typed", scopes: [PRIVATE_FILES_READ] }) { secret } }'
    const { secret } = (await ask(alice, made)).createApiKey
    await shell.satchel(['login', t.url, '--key'], { stdin: secret })
    expect((await shell.satchel(['logout'])).out).toBe(`Signed out of ${t.url}.\n`)
    expect(await keys()).toHaveLength(1)
  })
})
