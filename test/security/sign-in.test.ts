import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { mountSignIn } from '../../src/embedded/sign-in-mount.ts'
import { createLog } from '../../src/log.ts'
import { startApp, type TestApp } from '../harness.ts'
import { Browser } from '../unit/sign-in-browser.ts'

describe('The embedded sign-in', () => {
  let t: TestApp
  let dataDir: string
  const word = () => readFileSync(join(dataDir, 'sign-in-word'), 'utf8').trim()

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'satchel-word-'))
    const log = createLog({ logLevel: 'silent' })
    const secretKey = 'k'.repeat(32)
    t = await startApp({}, { embeddedSignIn: publicUrl => mountSignIn({ publicUrl, secretKey, dataDir, log }) })
  })
  afterAll(async () => {
    await t.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  async function follow(browser: Browser, first: Response): Promise<Response> {
    const to = first.headers.get('location')
    return to && !to.endsWith('/home') ? follow(browser, await browser.get(to)) : first
  }

  /** Goes to the form; answers its text. */
  async function begin(browser: Browser): Promise<string> {
    return (await follow(browser, await browser.get(`${t.url}/auth/oauth?return_to=/home`))).text()
  }

  async function send(browser: Browser, form: Record<string, string>): Promise<number> {
    const sent = await browser.post({ email: 'alice@example.com', verified: 'yes', ...form })
    await follow(browser, sent)
    return sent.status
  }

  // What a proxy without headers of its own passes on looks like this: from this machine, for this machine.
  it('lets a browser in that knows the word of the machine, and no other', async () => {
    const stranger = new Browser()
    expect(await begin(stranger)).toContain('Word of this computer')
    const form = stranger.last
    for (const typed of [{}, { word: '' }, { word: 'x' }, { word: `${word()}x` }, { word: word().slice(1) }]) {
      stranger.last = form
      expect(await send(stranger, typed)).toBe(422)
    }
    expect(stranger.jar.has('session_id')).toBe(false)
    expect(stranger.jar.has('sign_in_browser')).toBe(false)
    stranger.last = form
    expect(await send(stranger, { word: word() })).toBe(303)
    expect(stranger.jar.has('session_id')).toBe(true)
  })

  it('asks a browser once, and takes each word once', async () => {
    const first = word()
    const alice = new Browser()
    await begin(alice)
    expect(await send(alice, { word: ` ${first.toUpperCase()} ` })).toBe(303)
    alice.jar.delete('session_id')
    expect(await begin(alice)).not.toContain('Word of this computer')
    expect(await send(alice, {})).toBe(303)
    expect(alice.jar.has('session_id')).toBe(true)

    const bob = new Browser()
    await begin(bob)
    const form = bob.last
    expect(await send(bob, { word: first })).toBe(422)
    bob.last = form
    expect(await send(bob, { word: word() })).toBe(303)
  })

  it('takes one of two browsers that send one word at once', async () => {
    const browsers = [new Browser(), new Browser()]
    for (const browser of browsers) await begin(browser)
    const shared = word()
    const statuses = await Promise.all(browsers.map(browser => send(browser, { word: shared })))
    expect(statuses.sort()).toEqual([303, 422])
  })

  it('does not take a cookie that it has not made', async () => {
    const browser = new Browser()
    for (const value of ['', 'x', 'x.y', `.${'A'.repeat(43)}`]) {
      browser.jar.set('sign_in_browser', { path: '/sign-in', value })
      expect(await begin(browser)).toContain('Word of this computer')
      expect(await send(browser, {})).toBe(422)
    }
  })

  it('keeps the word from other users of the machine', () => {
    expect(statSync(join(dataDir, 'sign-in-word')).mode & 0o077).toBe(0)
    expect(word()).toMatch(/^[a-z2-9]{4}(-[a-z2-9]{4}){3}$/)
  })

  it.each(['X-Forwarded-For', 'X-Forwarded-Server', 'X-Real-IP', 'Via', 'CF-Ray', 'True-Client-IP', 'Forwarded'])(
    'refuses what a proxy has brought, by %s',
    async header => {
      const browser = new Browser()
      await begin(browser)
      const form = browser.last
      expect((await browser.get(form, { headers: { [header]: '127.0.0.1' } })).status).toBe(403)
      expect((await browser.get(form)).status).toBe(200)
    },
  )
})

interface Claims {
  sub: string
  email: string
  email_verified?: boolean
  name?: string
  groups?: unknown
}

/** An OAuth provider that says of whoever comes what its test wants. */
class Provider {
  claims: Claims = { sub: '', email: '' }
  private readonly server = createServer((req, res) => {
    const answer = req.url === '/token' ? { access_token: 'a-token', token_type: 'bearer' } : this.claims
    req.resume().on('end', () => res.setHeader('Content-Type', 'application/json').end(JSON.stringify(answer)))
  })

  /** Listens; answers its settings. */
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
  }
}

/** A service with the providers hub and lab, and how a person goes through a sign-in there. */
async function startWithProviders(settings: Record<string, string> = {}) {
  const [hub, lab] = [new Provider(), new Provider()]
  const t = await startApp({ ...(await hub.start('HUB')), ...(await lab.start('LAB')), ...settings })

  /** Signs in at a provider that says this of the person; answers where that leads. */
  async function signIn(browser: Browser, provider: 'hub' | 'lab', claims: Claims, start = '/auth/oauth') {
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
    /** Who is signed in: the id of the account and its verified address; null for none. */
    async whoIs(browser: Browser) {
      const { user_info } = await ask(browser, '/auth/is_valid')
      return user_info && { id: user_info.sub, email: user_info.email, verified: user_info.email_verified }
    },
    async stop() {
      await t.stop()
      hub.stop()
      lab.stop()
    },
  }
}
type World = Awaited<ReturnType<typeof startWithProviders>>

const alice: Claims = { sub: 'alice-1', email: 'alice@example.com', email_verified: true, name: 'Alice' }

describe('An address of another account', () => {
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

  it('does not let another user of the same provider in, whatever the setting', async () => {
    for (const { signIn, whoIs } of [strict, trusting]) {
      const [owner, other] = [new Browser(), new Browser()]
      expect(await signIn(owner, 'hub', alice)).toBe('/')
      expect(await signIn(other, 'hub', { ...alice, sub: 'mallory-1' })).toBe('/?error=identity_taken')
      expect(await signIn(other, 'hub', { ...alice, sub: 'mallory-1', email: 'ALICE@example.com' })).toBe(
        '/?error=identity_taken',
      )
      expect(await whoIs(other)).toBeNull()
      expect(await whoIs(owner)).toMatchObject({ email: 'alice@example.com', verified: true })
    }
  })

  it('lets its verified owner in from another provider only where providers vouch for each other', async () => {
    for (const { signIn, whoIs, ask } of [strict, trusting]) {
      const [owner, other] = [new Browser(), new Browser()]
      await signIn(owner, 'hub', alice)
      const led = await signIn(other, 'lab', { ...alice, sub: '77' })
      const { identities } = await ask(owner, '/api/user/identities')
      if (strict.signIn === signIn) {
        expect([led, await whoIs(other), identities.length]).toEqual(['/?error=identity_taken', null, 1])
      } else {
        expect([led, await whoIs(other), identities.length]).toEqual(['/', await whoIs(owner), 2])
        // A second user of the provider that has just joined is another person, too.
        expect(await signIn(new Browser(), 'lab', { ...alice, sub: '78' })).toBe('/?error=identity_taken')
      }
    }
  })

  it('tells the person how to go on', async () => {
    const page = await (
      await fetch(`${strict.t.url}/?error=identity_taken`, { headers: { accept: 'text/html' } })
    ).text()
    expect(page).toContain('Sign in the way you did before')
  })

  it('does not bring the kept data of its deleted account to a provider that does not vouch for it', async () => {
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
      // Its owner finds it again by the provider that they had, once the address is theirs.
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

  it('is what its provider says now, and so is what it receives', async () => {
    const { t, signIn, whoIs, ask } = w
    const sender = await t.signIn('sender')
    await sender.upload('letter.txt', 'Dear Bob')
    const json = { email: 'bob@example.com', objects: ['letter.txt'] }
    expect((await sender.rest('POST', '/api/files/share', { json })).status).toBe(200)
    const workspace = await sender.rest('POST', '/api/workspaces/create', { json: { name: 'Garden' } })
    const invite = { workspace_id: workspace.response.workspace.workspace_id, email: 'bob@example.com', role: 'viewer' }
    expect((await sender.rest('POST', '/api/workspaces/invites/create', { json: invite })).status).toBe(200)

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

    // The address is not verified any more: nothing made out to it is received, in sessions from before, too.
    await signIn(now, 'hub', { ...bob, email_verified: false })
    for (const browser of [before, now]) expect(await received(browser)).toEqual([0, 0, 0])
    const cookie = `session_id=${before.jar.get('session_id')?.value}`
    const opened = await fetch(`${t.url}/api/d/${files[0].sharing_token}`, { headers: { cookie }, redirect: 'manual' })
    expect(opened.status).toBe(403)
    const accepted = await fetch(`${t.url}/api/workspaces/invites/accept`, {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    })
    expect(accepted.status).toBe(403)

    await signIn(new Browser(), 'hub', bob)
    expect(await received(before)).toEqual([1, 1, 1])
    // Another address: the account moves along, and the former address is told.
    expect(await signIn(new Browser(), 'hub', { ...bob, email: 'robert@example.com' })).toBe('/')
    expect(await whoIs(before)).toMatchObject({ email: 'robert@example.com', verified: true })
    expect(await received(before)).toEqual([0, 0, 0])
    await t.app.worker.idle()
    const folder = join(dataDir, 'mail')
    const notices = readdirSync(folder)
      .map(name => readFileSync(join(folder, name), 'utf8'))
      .filter(mail => mail.includes('Your account has another address now'))
    expect(notices).toEqual([expect.stringMatching(/^To: bob@example\.com$/m)])
    expect(notices[0]).not.toContain('robert')
  })
})
