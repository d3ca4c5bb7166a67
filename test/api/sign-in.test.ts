import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer, get as httpGet, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { createLog } from '../../src/runtime/log.ts'
import { accountService } from '../../src/services/accounts/account.ts'
import { createFirstBrowser } from '../../src/sign-in/embedded/first-browser.ts'
import { mountSignIn } from '../../src/sign-in/embedded/mount.ts'
import { startApp, type TestApp } from '../support/harness.ts'
import { Browser } from '../unit/sign-in-browser.ts'

describe('The embedded sign-in', () => {
  let t: TestApp
  let dataDir: string
  let firstAddress: () => string
  const word = () => readFileSync(join(dataDir, 'sign-in-word'), 'utf8').trim()

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'satchel-word-'))
    const log = createLog({ logLevel: 'silent' })
    const secretKey = 'k'.repeat(32)
    t = await startApp(
      {},
      {
        embeddedSignIn: async publicUrl => {
          const mounted = await mountSignIn({ publicUrl, secretKey, dataDir, log })
          firstAddress = mounted.firstAddress
          return mounted
        },
      },
    )
  })
  afterAll(async () => {
    await t.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  async function follow(browser: Browser, first: Response): Promise<Response> {
    const to = first.headers.get('location')
    return to && !to.endsWith('/home') ? follow(browser, await browser.get(to)) : first
  }

  /** Opens the form. Returns its text. */
  async function begin(browser: Browser): Promise<string> {
    return (await follow(browser, await browser.get(`${t.url}/auth/oauth?return_to=/home`))).text()
  }

  async function send(browser: Browser, form: Record<string, string>): Promise<number> {
    const sent = await browser.post({ email: 'alice@example.com', verified: 'yes', ...form })
    await follow(browser, sent)
    return sent.status
  }

  // A request through a proxy without forwarding headers looks like this: from and to this machine.
  it('admits only a browser that has the one-time code of the machine', async () => {
    const stranger = new Browser()
    expect(await begin(stranger)).toContain('Sign-in word')
    const form = stranger.last
    for (const typed of [
      {},
      { word: '' },
      { word: 'x' },
      { word: `${word()}x` },
      { word: word().slice(1) },
    ]) {
      stranger.last = form
      expect(await send(stranger, typed)).toBe(422)
    }
    expect(stranger.jar.has('session_id')).toBe(false)
    expect(stranger.jar.has('sign_in_browser')).toBe(false)
    stranger.last = form
    expect(await send(stranger, { word: word() })).toBe(303)
    expect(stranger.jar.has('session_id')).toBe(true)
  })

  it('asks a browser once, and accepts each code once', async () => {
    const first = word()
    const alice = new Browser()
    await begin(alice)
    expect(await send(alice, { word: ` ${first.toUpperCase()} ` })).toBe(303)
    alice.jar.delete('session_id')
    expect(await begin(alice)).not.toContain('Sign-in word')
    expect(await send(alice, {})).toBe(303)
    expect(alice.jar.has('session_id')).toBe(true)

    const bob = new Browser()
    await begin(bob)
    const form = bob.last
    expect(await send(bob, { word: first })).toBe(422)
    bob.last = form
    expect(await send(bob, { word: word() })).toBe(303)
  })

  it('admits one of two browsers that send one code at once', async () => {
    const browsers = [new Browser(), new Browser()]
    for (const browser of browsers) await begin(browser)
    const shared = word()
    const statuses = await Promise.all(browsers.map(browser => send(browser, { word: shared })))
    expect(statuses.sort()).toEqual([303, 422])
  })

  describe('by the address that is printed at the start', () => {
    /**
     * Opens an address, and follows redirects to the form.
     * @returns whether the form asks for the one-time code
     */
    async function isAsked(
      browser: Browser,
      address: string,
      init: RequestInit = {},
    ): Promise<boolean> {
      const led = await browser.get(address, init)
      expect([led.status, led.headers.get('location'), led.headers.get('referrer-policy')]).toEqual(
        [...[303, '/auth/oauth?return_to=/', 'no-referrer']],
      )
      expect(led.headers.get('cache-control')).toBe('no-store')
      return (await begin(browser)).includes('Sign-in word')
    }

    it('admits one browser without the code, and asks for its user', async () => {
      const address = firstAddress()
      const alice = new Browser()
      expect(await isAsked(alice, address)).toBe(false)
      expect(alice.jar.has('session_id')).toBe(false)
      expect(await send(alice, {})).toBe(303)
      expect(alice.jar.has('session_id')).toBe(true)
      const bob = new Browser()
      expect(await isAsked(bob, address)).toBe(true)
      expect(await send(bob, {})).toBe(422)
    })

    it('admits one of two browsers that open it at once', async () => {
      const address = firstAddress()
      const asked = await Promise.all(
        [new Browser(), new Browser()].map(browser => isAsked(browser, address)),
      )
      expect(asked.sort()).toEqual([false, true])
    })

    it('is not used up by other sites, HEAD or prefetching, and accepts no other secret', async () => {
      const address = firstAddress()
      const tries: RequestInit[] = [
        { headers: { 'Sec-Fetch-Site': 'cross-site' } },
        { headers: { 'Sec-Fetch-Site': 'same-site' } },
        { headers: { Referer: 'https://evil.example/' } },
        { headers: { 'Sec-Purpose': 'prefetch;prerender', 'Sec-Fetch-Site': 'none' } },
        { method: 'HEAD' },
      ]
      for (const init of tries)
        expect([init, await isAsked(new Browser(), address, init)]).toEqual([init, true])
      for (const wrong of [
        `${address}x`,
        address.slice(0, -1),
        address.replace(/secret=.*/, ''),
        address.replace(/=.*/, '='),
      ])
        expect([wrong, await isAsked(new Browser(), wrong)]).toEqual([wrong, true])
      expect(await isAsked(new Browser(), address, { headers: { 'Sec-Fetch-Site': 'none' } })).toBe(
        false,
      )
    })

    it('is valid for 15 minutes', () => {
      const first = createFirstBrowser(t.url, () => '')
      const clock = jest.spyOn(Date, 'now')
      try {
        const made = Date.now()
        clock.mockReturnValue(made)
        const [late, inTime] = [made + 15 * 60_000, made + 15 * 60_000 - 1]
        const secret = first.begin()
        clock.mockReturnValue(late)
        expect(first.redeem(secret)).toBe(false)
        clock.mockReturnValue(inTime)
        expect(first.redeem(secret)).toBe(true)
      } finally {
        clock.mockRestore()
      }
    })
  })

  it('rejects a forged cookie', async () => {
    const browser = new Browser()
    for (const value of ['', 'x', 'x.y', `.${'A'.repeat(43)}`]) {
      browser.jar.set('sign_in_browser', { path: '/sign-in', value })
      expect(await begin(browser)).toContain('Sign-in word')
      expect(await send(browser, {})).toBe(422)
    }
  })

  it('hides the code from other users of the machine', () => {
    expect(statSync(join(dataDir, 'sign-in-word')).mode & 0o077).toBe(0)
    expect(word()).toMatch(/^[a-z2-9]{4}(-[a-z2-9]{4}){3}$/)
  })

  it.each([
    'X-Forwarded-For',
    'X-Forwarded-Server',
    'X-Real-IP',
    'Via',
    'CF-Ray',
    'True-Client-IP',
    'Forwarded',
  ])('refuses requests that a proxy forwards, by %s', async header => {
    const browser = new Browser()
    await begin(browser)
    const form = browser.last
    expect((await browser.get(form, { headers: { [header]: '127.0.0.1' } })).status).toBe(403)
    expect((await browser.get(form)).status).toBe(200)
  })
})

interface Claims {
  sub: string
  email: string
  email_verified?: boolean
  name?: string
  groups?: unknown
}

/** An OAuth provider that returns the claims chosen by the test. */
class Provider {
  claims: Claims = { sub: '', email: '' }
  private readonly server = createServer((req, res) => {
    const answer =
      req.url === '/token' ? { access_token: 'a-token', token_type: 'bearer' } : this.claims
    req
      .resume()
      .on('end', () =>
        res.setHeader('Content-Type', 'application/json').end(JSON.stringify(answer)),
      )
  })

  /** Starts the provider. Returns its settings. */
  async start(name: string): Promise<Record<string, string>> {
    await new Promise<void>(done => this.server.listen(0, '127.0.0.1', done))
    const address = this.server.address()
    const base = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
    return {
      [`OAUTH_${name}_CLIENT_ID`]: 'satchel',
      [`OAUTH_${name}_CLIENT_SECRET`]: 'a-secret',
      [`OAUTH_${name}_AUTHORIZE_URL`]: `${base}/authorize`,
      [`OAUTH_${name}_TOKEN_URL`]: `${base}/token`,
      [`OAUTH_${name}_USERINFO_URL`]: `${base}/userinfo`,
    }
  }

  stop() {
    this.server.close()
    this.server.closeAllConnections()
  }
}

/** A service with the providers hub and lab, and functions for a user's sign-in. */
async function startWithProviders(settings: Record<string, string> = {}) {
  const [hub, lab] = [new Provider(), new Provider()]
  const t = await startApp({
    ...(await hub.start('HUB')),
    ...(await lab.start('LAB')),
    ...settings,
  })

  /** Signs in at a provider with these claims. Returns the final address. */
  async function signIn(
    browser: Browser,
    provider: 'hub' | 'lab',
    claims: Claims,
    start = '/auth/oauth',
  ) {
    Object.assign(provider === 'hub' ? hub : lab, { claims })
    const url = new URL(start, t.url)
    url.searchParams.set('provider', provider)
    const begun = await browser.get(url.href)
    const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state')
    const back = await browser.get(`${t.url}/auth/callback?code=x&state=${state}`)
    return (back.headers.get('location') ?? '').replace(t.url, '')
  }

  async function ask(browser: Browser, path: string) {
    const answer = await browser.get(`${t.url}${path}`)
    return JSON.parse(await answer.text()).response
  }

  return {
    t,
    signIn,
    ask,
    /** The signed-in user: the id of the account and its verified address, or null. */
    async whoIs(browser: Browser) {
      const { user_info } = await ask(browser, '/auth/is_valid')
      return (
        user_info && {
          id: user_info.sub,
          email: user_info.email,
          verified: user_info.email_verified,
        }
      )
    },
    async stop() {
      await t.stop()
      hub.stop()
      lab.stop()
    },
  }
}
type World = Awaited<ReturnType<typeof startWithProviders>>

const alice: Claims = {
  sub: 'alice-1',
  email: 'alice@example.com',
  email_verified: true,
  name: 'Alice',
}

describe('The address of another account', () => {
  let strict: World
  let trusting: World

  beforeAll(async () => {
    strict = await startWithProviders()
    trusting = await startWithProviders({ LINK_BY_EMAIL: 'true' })
  })
  afterAll(async () => {
    await strict?.stop()
    await trusting?.stop()
  })

  it('does not admit another user of the same provider, whatever the setting', async () => {
    for (const { signIn, whoIs } of [strict, trusting]) {
      const [owner, other] = [new Browser(), new Browser()]
      expect(await signIn(owner, 'hub', alice)).toBe('/')
      expect(await signIn(other, 'hub', { ...alice, sub: 'mallory-1' })).toBe(
        '/?error=identity_taken',
      )
      expect(
        await signIn(other, 'hub', { ...alice, sub: 'mallory-1', email: 'ALICE@example.com' }),
      ).toBe('/?error=identity_taken')
      expect(await whoIs(other)).toBeNull()
      expect(await whoIs(owner)).toMatchObject({ email: 'alice@example.com', verified: true })
    }
  })

  it('admits its verified owner from another provider only if providers trust each other', async () => {
    for (const { signIn, whoIs, ask } of [strict, trusting]) {
      const [owner, other] = [new Browser(), new Browser()]
      await signIn(owner, 'hub', alice)
      const led = await signIn(other, 'lab', { ...alice, sub: '77' })
      const { identities } = await ask(owner, '/api/user/identities')
      if (strict.signIn === signIn) {
        expect([led, await whoIs(other), identities.length]).toEqual([
          '/?error=identity_taken',
          null,
          1,
        ])
      } else {
        expect([led, await whoIs(other), identities.length]).toEqual(['/', await whoIs(owner), 2])
        // A second user of the newly joined provider is another person as well.
        expect(await signIn(new Browser(), 'lab', { ...alice, sub: '78' })).toBe(
          '/?error=identity_taken',
        )
      }
    }
  })

  it('explains how to continue', async () => {
    const page = await (
      await fetch(`${strict.t.url}/?error=identity_taken`, { headers: { accept: 'text/html' } })
    ).text()
    expect(page).toContain('Sign in the way you did before')
  })

  it('does not return the kept data of a deleted account to an untrusted provider', async () => {
    for (const { signIn, ask, t } of [strict, trusting]) {
      const claims = { sub: 'erin-1', email: 'erin@example.com', email_verified: true }
      const erin = new Browser()
      await signIn(erin, 'hub', claims)
      const cookie = `session_id=${erin.jar.get('session_id')?.value}`
      const made = await fetch(`${t.url}/api/folders`, {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/json' },
        body: JSON.stringify({ path: 'private' }),
      })
      expect(made.status).toBe(200)
      const ended = await fetch(`${t.url}/api/user/account/delete`, {
        method: 'DELETE',
        headers: { cookie, 'content-type': 'application/json' },
        body: JSON.stringify({ delete_user_data: false }),
      })
      expect(ended.status).toBe(200)
      const stranger = new Browser()
      expect(await signIn(stranger, 'lab', { ...claims, sub: '9' })).toBe('/')
      const expected = t === strict.t ? [] : ['private']
      expect((await ask(stranger, '/api/folders')).folders).toEqual(expected)
      if (t === trusting.t) continue
      // The owner finds it again through the earlier provider, once the address is verified.
      await t.app.db.run("UPDATE user SET verified_email = NULL WHERE email = 'erin@example.com'")
      await signIn(erin, 'hub', claims)
      expect((await ask(erin, '/api/folders')).folders).toEqual(['private'])
    }
  })
})

describe('The address of an account', () => {
  let w: World
  const dataDir = mkdtempSync(join(tmpdir(), 'satchel-address-'))
  beforeAll(async () => {
    w = await startWithProviders({ DATA_DIR: dataDir })
  })
  afterAll(async () => {
    await w?.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  it('is the current address of its provider, and decides which shares it receives', async () => {
    const { t, signIn, whoIs, ask } = w
    const sender = await t.signIn('sender')
    await sender.upload('letter.txt', 'Dear Bob')
    const json = { email: 'bob@example.com', objects: ['letter.txt'] }
    expect((await sender.rest('POST', '/api/files/share', { json })).status).toBe(200)
    const workspace = await sender.rest('POST', '/api/workspaces/create', {
      json: { name: 'Garden' },
    })
    const invite = {
      workspace_id: workspace.response.workspace.workspace_id,
      email: 'bob@example.com',
      role: 'viewer',
    }
    expect(
      (await sender.rest('POST', '/api/workspaces/invites/create', { json: invite })).status,
    ).toBe(200)

    const bob = { sub: 'bob-1', email: 'bob@example.com', email_verified: true, name: 'Bob' }
    const [before, now] = [new Browser(), new Browser()]
    await signIn(before, 'hub', bob)
    const received = async (browser: Browser) => [
      (await ask(browser, '/api/files/received')).files.length,
      (await ask(browser, '/api/files/received/unseen_count')).count,
      (await ask(browser, '/api/workspaces/invites/mine')).length,
    ]
    expect(await received(before)).toEqual([1, 1, 1])
    const { files } = await ask(before, '/api/files/received')
    const [{ token }] = await ask(before, '/api/workspaces/invites/mine')

    // An account receives no shares for an unverified address, even in older sessions.
    await signIn(now, 'hub', { ...bob, email_verified: false })
    for (const browser of [before, now]) expect(await received(browser)).toEqual([0, 0, 0])
    const cookie = `session_id=${before.jar.get('session_id')?.value}`
    const opened = await fetch(`${t.url}/api/d/${files[0].sharing_token}`, {
      headers: { cookie },
      redirect: 'manual',
    })
    expect(opened.status).toBe(403)
    const accepted = await fetch(`${t.url}/api/workspaces/invites/accept`, {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    })
    expect(accepted.status).toBe(403)

    await signIn(new Browser(), 'hub', bob)
    expect(await received(before)).toEqual([1, 1, 1])
    // With another address the account keeps its data, and the former address gets a notice.
    expect(await signIn(new Browser(), 'hub', { ...bob, email: 'robert@example.com' })).toBe('/')
    expect(await whoIs(before)).toMatchObject({ email: 'robert@example.com', verified: true })
    expect(await received(before)).toEqual([0, 0, 0])
    await t.app.worker.idle()
    const folder = join(dataDir, 'mail')
    const notices = readdirSync(folder)
      .map(name => readFileSync(join(folder, name), 'utf8'))
      .filter(mail => mail.includes('The e-mail address of your account has changed'))
    expect(notices).toEqual([expect.stringMatching(/^To: bob@example\.com$/m)])
    expect(notices[0]).not.toContain('robert')
  })
})

describe('Adding an identity', () => {
  let w: World
  const own = () => ({ 'Sec-Fetch-Site': 'same-origin', Origin: w.t.url })

  beforeAll(async () => {
    w = await startWithProviders()
  })
  afterAll(() => w?.stop())

  let people = 0
  const someone = (): Claims => {
    const name = `person${++people}`
    return { sub: name, email: `${name}@example.com`, email_verified: true, name }
  }

  /** The link on the page that starts the addition at a provider. */
  async function linkFor(browser: Browser, provider: 'hub' | 'lab'): Promise<string> {
    const html = await (await browser.get(`${w.t.url}/identities`)).text()
    const links = [...html.matchAll(/href="(\/auth\/oauth\?[^"]+)"/g)].map(([, href = '']) =>
      href.replaceAll('&amp;', '&'),
    )
    return links.find(href => href.includes(`provider=${provider}`)) ?? ''
  }

  const identitiesOf = async (
    browser: Browser,
  ): Promise<{ id: string; provider: string; email: string }[]> =>
    (await w.ask(browser, '/api/user/identities')).identities

  const send = (
    browser: Browser,
    path: string,
    headers: Record<string, string>,
    form: Record<string, string> = {},
  ) =>
    browser.get(`${w.t.url}${path}`, { method: 'POST', headers, body: new URLSearchParams(form) })

  it('requires the form of a page that names the account and the identity', async () => {
    const [owner, second] = [someone(), someone()]
    const browser = new Browser()
    await w.signIn(browser, 'hub', owner)
    const before = await w.whoIs(browser)
    expect(await w.signIn(browser, 'lab', second, await linkFor(browser, 'lab'))).toBe(
      '/identities/confirm',
    )
    expect(await identitiesOf(browser)).toHaveLength(1)
    const html = await (await browser.get(`${w.t.url}/identities/confirm`)).text()
    for (const shown of [owner.email, second.email, 'Lab']) expect(html).toContain(shown)
    expect(html).toContain('<form class="actions" method="post" action="/identities/confirm">')
    expect(await identitiesOf(browser)).toHaveLength(1)

    // Other pages, other origins of this machine, and requests without an origin.
    for (const headers of [
      {},
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { 'Sec-Fetch-Site': 'cross-site', Origin: w.t.url },
      { 'Sec-Fetch-Site': 'same-site', Origin: 'http://localhost:1' },
      { 'Sec-Fetch-Site': 'none' },
      { Referer: 'https://evil.example/' },
    ])
      expect((await send(browser, '/identities/confirm', headers)).status).toBe(403)
    expect(await identitiesOf(browser)).toHaveLength(1)

    const done = await send(browser, '/identities/confirm', own())
    expect([done.status, done.headers.get('location')]).toEqual([303, '/identities'])
    expect((await identitiesOf(browser)).map(({ provider }) => provider)).toEqual(['hub', 'lab'])
    expect(await w.whoIs(browser)).toEqual(before)
    const other = new Browser()
    expect(await w.signIn(other, 'lab', second)).toBe('/')
    expect(await w.whoIs(other)).toEqual(before)
    // It works once.
    expect((await send(browser, '/identities/confirm', own())).headers.get('location')).toBe(
      '/identities?error=invalid_state',
    )
  })

  it('cannot start with GET /auth/oauth, which only signs in again', async () => {
    for (const start of ['/auth/oauth', '/auth/oauth?return_to=/identities', '/auth/oauth?link=']) {
      const browser = new Browser()
      await w.signIn(browser, 'hub', someone())
      const before = await w.whoIs(browser)
      expect(await w.signIn(browser, 'lab', someone(), start)).toMatch(/^\/(identities)?$/)
      expect((await w.whoIs(browser)).id).not.toBe(before.id)
      expect(await identitiesOf(browser)).toHaveLength(1)
    }
  })

  it('belongs to the session that requested it', async () => {
    const [owner, thief] = [new Browser(), new Browser()]
    const victim = someone()
    await w.signIn(owner, 'hub', victim)
    await w.signIn(thief, 'hub', someone())
    // Another session cannot use the link of a page or an offer for another session.
    const link = await linkFor(thief, 'lab')
    const refused = await owner.get(`${w.t.url}${link}`)
    expect(refused.status).toBe(400)
    expect(await w.signIn(thief, 'lab', someone(), await linkFor(thief, 'lab'))).toBe(
      '/identities/confirm',
    )
    const offer = thief.jar.get('sign_in_link')
    expect(offer).toBeDefined()
    if (offer) owner.jar.set('sign_in_link', offer)
    const stolen = await send(owner, '/identities/confirm', own())
    expect(stolen.headers.get('location')).toBe('/identities?error=invalid_state')
    // The offer ends with the session as well.
    if (offer) thief.jar.set('sign_in_link', offer)
    await thief.get(`${w.t.url}/auth/logout`)
    expect((await send(thief, '/identities/confirm', own())).headers.get('location')).toBe(
      '/identities?error=invalid_state',
    )
    expect(await identitiesOf(owner)).toHaveLength(1)
  })

  it('is refused when the session has ended during the visit at the provider', async () => {
    const browser = new Browser()
    await w.signIn(browser, 'hub', someone())
    const begun = await browser.get(`${w.t.url}${await linkFor(browser, 'lab')}`)
    const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state')
    await browser.get(`${w.t.url}/auth/logout`)
    const back = await browser.get(`${w.t.url}/auth/callback?code=x&state=${state}`)
    expect(back.headers.get('location')).toBe('/identities?error=invalid_state')
  })

  it('refuses the identity of another account', async () => {
    const [taken, browser] = [someone(), new Browser()]
    await w.signIn(new Browser(), 'lab', taken)
    await w.signIn(browser, 'hub', someone())
    expect(await w.signIn(browser, 'lab', taken, await linkFor(browser, 'lab'))).toBe(
      '/identities?error=identity_taken',
    )
    // The form also refuses an identity that another account gained meanwhile.
    const late = someone()
    expect(await w.signIn(browser, 'lab', late, await linkFor(browser, 'lab'))).toBe(
      '/identities/confirm',
    )
    await w.signIn(new Browser(), 'lab', late)
    const done = await send(browser, '/identities/confirm', own())
    expect(done.headers.get('location')).toBe('/identities?error=identity_taken')
    expect(await identitiesOf(browser)).toHaveLength(1)
  })

  it('joins identities that an address alone would not join', async () => {
    const [owner, browser] = [someone(), new Browser()]
    const sameAddress = { ...owner, sub: 'elsewhere' }
    await w.signIn(browser, 'hub', owner)
    expect(await w.signIn(new Browser(), 'lab', sameAddress)).toBe('/?error=identity_taken')
    await w.signIn(browser, 'lab', sameAddress, await linkFor(browser, 'lab'))
    await send(browser, '/identities/confirm', own())
    const other = new Browser()
    expect(await w.signIn(other, 'lab', sameAddress)).toBe('/')
    expect(await w.whoIs(other)).toEqual(await w.whoIs(browser))
  })

  /** A browser whose account has an identity of each provider. */
  async function withTwo() {
    const [first, second, browser] = [someone(), someone(), new Browser()]
    await w.signIn(browser, 'hub', first)
    await w.signIn(browser, 'lab', second, await linkFor(browser, 'lab'))
    await send(browser, '/identities/confirm', own())
    const [hub, lab] = await identitiesOf(browser)
    return { first, second, browser, hub: hub?.id ?? '', lab: lab?.id ?? '' }
  }

  it('can be undone on the page, which ends the other sessions', async () => {
    const { second, browser, lab } = await withTwo()
    const other = new Browser()
    await w.signIn(other, 'lab', second)
    for (const headers of [
      {},
      { Origin: 'https://evil.example' },
      { 'Sec-Fetch-Site': 'cross-site' },
    ])
      expect(
        (await send(browser, '/identities/remove', headers, { identity_id: lab })).status,
      ).toBe(403)
    expect(await w.whoIs(other)).not.toBeNull()
    const done = await send(browser, '/identities/remove', own(), { identity_id: lab })
    expect([done.status, done.headers.get('location')]).toEqual([303, '/identities'])
    expect((await identitiesOf(browser)).map(({ provider }) => provider)).toEqual(['hub'])
    expect(await w.whoIs(other)).toBeNull()
    // The removed identity creates its own account again.
    expect(await w.signIn(other, 'lab', second)).toBe('/')
    expect((await w.whoIs(other)).id).not.toBe((await w.whoIs(browser)).id)
  })

  async function call(
    browser: Browser,
    by: 'REST' | 'GraphQL',
    identity: string,
    headers: Record<string, string> = {},
  ) {
    const cookie = headers['x-api-key'] ? '' : `session_id=${browser.jar.get('session_id')?.value}`
    const all = { ...(cookie ? { cookie } : {}), ...headers }
    if (by === 'REST')
      return w.t.anonymous.rest('DELETE', `/api/user/identities?identity_id=${identity}`, {
        headers: all,
      })
    const query =
      'mutation ($input: RemoveIdentityInput!) { removeIdentity(input: $input) { removedId } }'
    const answer = await fetch(`${w.t.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...all },
      body: JSON.stringify({ query, variables: { input: { identity } } }),
    })
    const { errors } = (await answer.json()) as { errors?: { extensions: { code: string } }[] }
    return { status: answer.status, response: errors ? { code: errors[0]?.extensions.code } : null }
  }

  it.each(['REST', 'GraphQL'] as const)(
    'can be undone by %s, except for the last identity',
    async by => {
      const { second, browser, hub, lab } = await withTwo()
      const stranger = await withTwo()
      const foreign = await call(browser, by, stranger.lab)
      expect(foreign.response).toMatchObject({ code: 'IDENTITY_NOT_FOUND' })
      expect((await call(browser, by, hub)).response).toBeNull()
      // The address came from the removed identity. The address of the remaining one replaces it.
      expect(await w.whoIs(browser)).toMatchObject({ email: second.email, verified: true })
      expect((await call(browser, by, hub)).response).toMatchObject({ code: 'IDENTITY_NOT_FOUND' })
      expect((await call(browser, by, lab)).response).toMatchObject({ code: 'LAST_IDENTITY' })
      expect(await identitiesOf(browser)).toHaveLength(1)
      expect(await identitiesOf(stranger.browser)).toHaveLength(2)
      // Keys of every scope are refused.
      const made = await w.t.anonymous.rest('POST', '/api/api_keys/private/create', {
        json: {
          name: 'key',
          scopes: ['private_files:read', 'private_files:write', 'private_files:delete'],
        },
        headers: { cookie: `session_id=${stranger.browser.jar.get('session_id')?.value}` },
      })
      const byKey = await call(browser, by, stranger.lab, {
        'x-api-key': made.response.api_key.key,
      })
      expect(byKey.response).toMatchObject({ code: 'KEY_OUT_OF_BOUNDS' })
      expect(await identitiesOf(stranger.browser)).toHaveLength(2)
    },
  )

  it('leaves one identity when all are removed at once', async () => {
    const { browser, hub, lab } = await withTwo()
    const answers = await Promise.all([call(browser, 'REST', hub), call(browser, 'REST', lab)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
    expect(await identitiesOf(browser)).toHaveLength(1)
  })
})

describe('GET /auth/logout', () => {
  it('asks for confirmation when opened from another site', async () => {
    const w = await startWithProviders()
    try {
      const browser = new Browser()
      await w.signIn(browser, 'hub', alice)
      const headers = {
        Cookie: `session_id=${browser.jar.get('session_id')?.value}`,
        'Sec-Fetch-Site': 'cross-site',
        'Sec-Fetch-Mode': 'navigate',
        'Sec-Fetch-Dest': 'document',
      }
      // `fetch` declares that it does not navigate, so node:http sends the request.
      const led = await new Promise<IncomingMessage>((resolve, reject) => {
        httpGet(`${w.t.url}/auth/logout`, { headers }, res => resolve(res.resume())).on(
          'error',
          reject,
        )
      })
      expect([led.statusCode, led.headers.location]).toEqual([303, '/logout/confirm'])
      const page = await browser.get(`${w.t.url}/logout/confirm`)
      expect(await page.text()).toContain('<form class="actions" method="post" action="/logout">')
      expect(await w.whoIs(browser)).not.toBeNull()
      const done = await browser.get(`${w.t.url}/logout`, {
        method: 'POST',
        headers: { Origin: w.t.url },
      })
      expect(done.status).toBe(303)
      expect(await w.whoIs(browser)).toBeNull()
      expect((await browser.get(`${w.t.url}/logout/confirm`)).headers.get('location')).toBe('/')
    } finally {
      await w.stop()
    }
  })
})

describe('SIGN_UP', () => {
  const closed = '/?error=sign_up_closed'
  const person = (name: string, more: Partial<Claims> = {}): Claims => ({
    sub: name,
    email: `${name}@example.com`,
    email_verified: true,
    name,
    ...more,
  })

  async function withRule<T>(rule: string, use: (w: World) => Promise<T>): Promise<T> {
    const w = await startWithProviders({ SIGN_UP: rule })
    try {
      return await use(w)
    } finally {
      await w.stop()
    }
  }

  const users = async ({ t }: World) => (await t.app.db.rows('SELECT id FROM user')).length

  /** Creates an account before a rule applies. */
  const makeAccount = ({ t }: World, { sub, email }: Claims) =>
    accountService({ db: t.app.db }).signIn(
      {
        provider: 'hub',
        providerUserId: sub,
        email,
        emailVerified: true,
        name: '',
        givenName: '',
        familyName: '',
        picture: '',
        locale: '',
      },
      null,
    )

  it('open admits every user of a provider', () =>
    withRule('open', async w => {
      expect(await w.signIn(new Browser(), 'hub', person('alice', { email_verified: false }))).toBe(
        '/',
      )
    }))

  it('closed admits users with an account, and creates no accounts', () =>
    withRule('closed', async w => {
      await makeAccount(w, person('alice'))
      const mallory = new Browser()
      expect(await w.signIn(mallory, 'hub', person('mallory'))).toBe(closed)
      expect(await w.whoIs(mallory)).toBeNull()
      expect(await w.signIn(new Browser(), 'hub', person('alice'))).toBe('/')
      expect(await users(w)).toBe(1)
      const page = await fetch(`${w.t.url}/login${closed.slice(1)}`, {
        headers: { accept: 'text/html' },
      })
      expect(await page.text()).toContain('You have no account here')
    }))

  it('closed admits a user whose data was kept, and adds identities to accounts', () =>
    withRule('closed', async w => {
      await makeAccount(w, person('alice'))
      const alice = new Browser()
      await w.signIn(alice, 'hub', person('alice'))
      const html = await (await alice.get(`${w.t.url}/identities`)).text()
      const link = [...html.matchAll(/href="(\/auth\/oauth\?[^"]+)"/g)]
        .map(([, href = '']) => href.replaceAll('&amp;', '&'))
        .find(href => href.includes('provider=lab'))
      expect(await w.signIn(alice, 'lab', person('alice', { sub: 'l' }), link)).toBe(
        '/identities/confirm',
      )
      const confirm = `${w.t.url}/identities/confirm`
      expect(
        (await alice.get(confirm, { method: 'POST', headers: { Origin: w.t.url } })).status,
      ).toBe(303)
      const ended = await w.t.anonymous.rest('DELETE', '/api/user/account/delete', {
        json: { delete_user_data: false },
        headers: { cookie: `session_id=${alice.jar.get('session_id')?.value}` },
      })
      expect(ended.status).toBe(200)
      expect(await w.signIn(new Browser(), 'lab', person('alice', { sub: 'l' }))).toBe('/')
    }))

  it('domains admits verified addresses of exactly these domains', () =>
    withRule('domains:Example.com, example.org', async w => {
      const tries: [Partial<Claims>, string][] = [
        [{ email: 'a@example.com' }, '/'],
        [{ email: 'B@EXAMPLE.org' }, '/'],
        [{ email: 'c@example.com', email_verified: false }, closed],
        [{ email: 'd@sub.example.com' }, closed],
        [{ email: 'e@notexample.com' }, closed],
        [{ email: 'f@example.com.evil.example' }, closed],
        [{ email: 'example.com@evil.example' }, closed],
      ]
      for (const [more, led] of tries)
        expect([
          more,
          await w.signIn(new Browser(), 'hub', person(more.email ?? '', more)),
        ]).toEqual([more, led])
      expect(await users(w)).toBe(2)
    }))

  it('invited admits users who have a valid invite or share', () =>
    withRule('invited', async w => {
      const owner = await makeAccount(w, person('owner'))
      const browser = new Browser()
      await w.signIn(browser, 'hub', person('owner'))
      const headers = { cookie: `session_id=${browser.jar.get('session_id')?.value}` }
      const call = async (path: string, json: object) =>
        (await w.t.anonymous.rest('POST', path, { json, headers })).response
      const form = new FormData()
      form.append('file', new Blob(['Dear Bob']), 'letter.txt')
      await w.t.anonymous.rest('POST', '/api/files/upload', { form, headers })
      const { workspace } = await call('/api/workspaces/create', { name: 'Garden' })
      const invite = (name: string) =>
        call('/api/workspaces/invites/create', {
          workspace_id: workspace.workspace_id,
          email: `${name}@example.com`,
          role: 'viewer',
        })
      const share = (name: string) =>
        call('/api/files/share', { email: `${name}@example.com`, objects: ['letter.txt'] })

      expect(await w.signIn(new Browser(), 'hub', person('bob'))).toBe(closed)
      await invite('bob')
      expect(await w.signIn(new Browser(), 'hub', person('bob', { email_verified: false }))).toBe(
        closed,
      )
      expect(await w.signIn(new Browser(), 'hub', person('bob'))).toBe('/')
      await share('carol')
      expect(await w.signIn(new Browser(), 'hub', person('carol'))).toBe('/')

      // An expired invite, or one whose sender has lost the right, admits nobody.
      await invite('dora')
      await share('erin')
      await w.t.app.db.run('UPDATE invite SET expires_at = ?', [Date.now() - 1])
      await w.t.app.db.run('UPDATE share SET expires_at = ?', [Date.now() - 1])
      for (const name of ['dora', 'erin'])
        expect(await w.signIn(new Browser(), 'hub', person(name))).toBe(closed)
      await invite('frank')
      await share('gina')
      await w.t.app.db.run("UPDATE user SET status = 'suspended' WHERE id = ?", [owner.userId])
      for (const name of ['frank', 'gina'])
        expect(await w.signIn(new Browser(), 'hub', person(name))).toBe(closed)
      expect(await users(w)).toBe(3)
    }))

  it('claim admits users whose provider sends the claim', () =>
    withRule('claim:groups=staff, admins', async w => {
      const tries: [unknown, string][] = [
        [['guests', 'staff'], '/'],
        ['admins', '/'],
        [['guests'], closed],
        ['staff,admins', closed],
        [undefined, closed],
        [null, closed],
        [{ staff: true }, closed],
        [[['staff']], closed],
      ]
      for (const [i, [groups, led]] of tries.entries())
        expect([groups, await w.signIn(new Browser(), 'lab', person(`p${i}`, { groups }))]).toEqual(
          [groups, led],
        )
      expect(await users(w)).toBe(2)
    }))
})
