import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
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
