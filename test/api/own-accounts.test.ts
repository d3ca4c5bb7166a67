import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { startApp, type TestApp } from '../support/harness.ts'
import {
  createFirst,
  PASSWORD,
  passwordSignIn,
  send,
  visit,
  whoIs,
} from '../support/own-accounts.ts'
import { Browser } from '../unit/sign-in-browser.ts'

const settings = { SIGN_IN: 'accounts' }

describe('Before the first account', () => {
  let t: TestApp
  beforeAll(async () => {
    t = await startApp(settings)
  })
  afterAll(() => t.stop())

  it('shows strangers only how to set up the server', async () => {
    const { status, text } = await visit(new Browser(), `${t.url}/login`)
    expect(status).toBe(503)
    expect(text).toContain('This server has no account yet.')
    const wrong = await visit(new Browser(), `${t.url}/sign-in/first/${'x'.repeat(43)}`)
    expect(wrong.status).toBe(404)
  })

  it('uses the language of the browser', async () => {
    const headers = { 'accept-language': 'de-AT,de;q=0.9,en;q=0.8' }
    const { text } = await visit(new Browser(), `${t.url}/login`, { headers })
    expect(text).toContain('<html lang="de">')
    expect(text).toContain('Dieser Server hat noch kein Konto.')
  })

  it('accepts one of two set-up links for the first account, which is an operator', async () => {
    const secrets = [
      await t.app.services.logins.beginFirst(),
      await t.app.services.logins.beginFirst(),
    ]
    const browsers = [new Browser(), new Browser()]
    await Promise.all(browsers.map((b, i) => visit(b, `${t.url}/sign-in/first/${secrets[i]}`)))
    const pages = await Promise.all(
      browsers.map((b, i) =>
        send(b, { email: `owner${i}@example.com`, name: '', password: PASSWORD }),
      ),
    )
    expect(pages.map(({ status }) => status).sort()).toEqual([200, 404])
    const [row] = await t.app.db.rows<{ n: number }>('SELECT COUNT(*) AS n FROM login')
    expect(Number(row?.n)).toBe(1)
    const who = await Promise.all(browsers.map(b => whoIs(t, b)))
    expect(who.filter(email => email !== null)).toHaveLength(1)
    expect(await t.app.db.Operator.count()).toBe(1)
    expect(await t.app.services.logins.beginFirst()).toBeNull()
  })
})

describe('An account of the service', () => {
  let t: TestApp
  beforeAll(async () => {
    t = await startApp(settings)
    const { browser, page } = await createFirst(t)
    expect(page.status).toBe(200)
    expect(await whoIs(t, browser)).toBe('owner@example.com')
  })
  afterAll(() => t.stop())

  it('signs in by its address, in upper or lower case, and its password', async () => {
    const given = { email: ' Owner@Example.com', password: PASSWORD }
    const { browser, page } = await passwordSignIn(t, given)
    expect(page.status).toBe(200)
    expect(await whoIs(t, browser)).toBe('owner@example.com')
  })

  it('returns to the page from which the sign-in was started', async () => {
    const browser = new Browser()
    await visit(browser, `${t.url}/sessions`)
    const page = await send(browser, { email: 'owner@example.com', password: PASSWORD })
    expect(page.url).toBe(`${t.url}/sessions`)
    expect(page.status).toBe(200)
  })

  it('gives the same response to an unknown address as to a wrong password', async () => {
    const wrong = await passwordSignIn(t, { email: 'owner@example.com', password: 'wrong' })
    const unknown = await passwordSignIn(t, { email: 'nobody@example.com', password: 'wrong' })
    expect([wrong.page.status, unknown.page.status]).toEqual([422, 422])
    const text = (page: { text: string }) =>
      page.text.replaceAll(/owner|nobody/g, '').replaceAll(/interaction\/[\w-]+|[\w-]{40,}/g, '')
    expect(text(wrong.page)).toBe(text(unknown.page))
    expect(wrong.page.text).toContain('The e-mail address or the password is wrong.')
    expect(await whoIs(t, wrong.browser)).toBeNull()
  })

  it.each([
    ['eleven char', 'Enter at least 12 characters.'],
    ['a'.repeat(129), 'Enter at most 128 characters.'],
    ['password1234', 'This password is easy to guess.'],
    ['qwertyuiop123', 'This password is easy to guess.'],
    ['owner@example.com', 'This password is easy to guess.'],
  ])('refuses %s as a new password', async (password, sentence) => {
    const other = await startApp(settings)
    const { page } = await createFirst(other, 'owner@example.com', password)
    expect(page.status).toBe(422)
    expect(page.text).toContain(sentence)
    expect(await other.app.db.Login.count()).toBe(0)
    await other.stop()
  })

  it('stores no passwords, codes or links, and encrypts its signing key', async () => {
    const tables = ['login', 'login_link', 'sign_in_state', 'sign_in_key']
    const rows = await Promise.all(tables.map(name => t.app.db.rows(`SELECT * FROM ${name}`)))
    const all = JSON.stringify(rows)
    expect(all).not.toContain(PASSWORD)
    expect(all).not.toContain('"jti"')
    expect(all).not.toContain('"d":')
    expect(all).toContain('$argon2id$v=19$m=19456,t=2,p=1$')
    expect(t.logs()).not.toContain(PASSWORD)
  })

  it('is deleted with the account of its person', async () => {
    const own = await startApp(settings)
    const { browser } = await createFirst(own)
    const login = await own.app.db.Login.findOne({ raw: true })
    await own.app.db.User.destroy({ where: { id: login?.userId ?? '' } })
    expect(await own.app.db.Login.count()).toBe(0)
    expect(await whoIs(own, browser)).toBeNull()
    await own.stop()
  })

  it('cannot sign in while it is suspended', async () => {
    const login = await t.app.db.Login.findOne({ raw: true })
    const where = { id: login?.userId ?? '' }
    await t.app.db.User.update({ status: 'suspended' }, { where })
    const given = { email: 'owner@example.com', password: PASSWORD }
    const { browser } = await passwordSignIn(t, given)
    expect(await whoIs(t, browser)).toBeNull()
    await t.app.db.User.update({ status: 'active' }, { where })
  })

  it('refuses forms from pages of other origins', async () => {
    const browser = new Browser()
    await visit(browser, `${t.url}/login`)
    const given = { email: 'owner@example.com', password: PASSWORD }
    const page = await send(browser, given, { origin: 'https://evil.example' })
    expect(page.status).toBe(403)
  })

  it('accepts an interaction only from the browser that began it', async () => {
    const [one, other] = [new Browser(), new Browser()]
    await visit(one, `${t.url}/login`)
    other.last = one.last
    const page = await send(other, { email: 'owner@example.com', password: PASSWORD })
    expect(page.status).toBe(400)
    expect(await whoIs(t, other)).toBeNull()
  })
})

describe('Password guesses', () => {
  let t: TestApp
  beforeAll(async () => {
    t = await startApp({ ...settings, TRUST_PROXY: 'loopback' })
  })
  afterAll(() => t.stop())

  it('are limited per account, and do not lock its owner out of a known device', async () => {
    const { browser: known } = await createFirst(t)
    const attacker = new Browser()
    await visit(attacker, `${t.url}/login`)
    const form = attacker.last
    const statuses = []
    for (let i = 0; i < 12; i++) {
      attacker.last = form
      const { status } = await send(attacker, { email: 'owner@example.com', password: `no${i}` })
      statuses.push(status)
    }
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(422))
    expect(statuses.slice(10)).toEqual([429, 429])
    // The same address with the right password is refused, except on the owner's device.
    const right = { email: 'owner@example.com', password: PASSWORD }
    expect((await passwordSignIn(t, right)).page.status).toBe(429)
    const again = await passwordSignIn(t, right, known)
    expect(again.page.status).toBe(200)
    // Guesses for an unknown address are limited in the same way.
    const stranger = new Browser()
    await visit(stranger, `${t.url}/login`)
    const page = stranger.last
    const unknown = []
    for (let i = 0; i < 12; i++) {
      stranger.last = page
      unknown.push((await send(stranger, { email: 'no@example.com', password: `no${i}` })).status)
    }
    expect(unknown).toEqual(statuses)
  })
})
