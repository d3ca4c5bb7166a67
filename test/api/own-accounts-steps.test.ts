import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { TOTP } from 'otpauth'
import { hashOfLink } from '../../src/services/accounts/login-link.ts'
import { startApp, type TestApp } from '../support/harness.ts'
import { createFirst, PASSWORD, passwordSignIn, send, whoIs } from '../support/own-accounts.ts'

const given = { email: 'owner@example.com', password: PASSWORD }

/** The hidden step and the secret of the page that sets up a second factor. */
function setupOf(text: string) {
  const sealed = /name="step"[^>]*value="([^"]+)"/.exec(text)?.[1] ?? ''
  const secret = /\b[A-Z2-7]{32}\b/.exec(text)?.[0] ?? ''
  return { sealed, code: new TOTP({ secret }).generate() }
}

describe('A sign-in after the password step', () => {
  let t: TestApp
  beforeAll(async () => {
    t = await startApp({ SIGN_IN: 'accounts', SECOND_FACTOR: 'all' })
    await createFirst(t)
  })
  afterAll(() => t.stop())

  const loginNow = async () => {
    const { id = '' } = (await t.app.db.Login.findOne({ raw: true })) ?? {}
    const login = await t.app.services.logins.find(id)
    if (!login) throw new Error('There is no login.')
    return login
  }

  it('is aborted when the password changes', async () => {
    const { browser, page } = await passwordSignIn(t, given)
    const { sealed, code } = setupOf(page.text)
    const { password } = await loginNow()
    await t.app.db.Login.update({ password: 'another hash' }, { where: {} })
    expect((await send(browser, { step: sealed, code })).status).toBe(400)
    expect((await loginNow()).totp).toBeNull()
    await t.app.db.Login.update({ password }, { where: {} })
  })

  it('does not replace a second factor that was set up meanwhile', async () => {
    const [stale, own] = await Promise.all([passwordSignIn(t, given), passwordSignIn(t, given)])
    const [late, first] = [setupOf(stale.page.text), setupOf(own.page.text)]
    const codes = await send(own.browser, { step: first.sealed, code: first.code })
    const { totp } = await loginNow()
    expect(totp).not.toBeNull()
    expect((await send(stale.browser, { step: late.sealed, code: late.code })).status).toBe(400)
    expect((await loginNow()).totp).toBe(totp)
    expect(await whoIs(t, stale.browser)).toBeNull()
    await send(own.browser, { step: setupOf(codes.text).sealed })
    expect(await whoIs(t, own.browser)).toBe(given.email)
  })

  it('keeps the first of two second factors that are set up at once', async () => {
    await t.app.db.Login.update({ totp: null }, { where: {} })
    const login = await loginNow()
    const from = { address: '127.0.0.1', from: { address: null, agent: null } }
    const enabled = await Promise.all(
      [1, 2].map(() => {
        const { secret } = t.app.services.secondFactors.begin(login)
        const code = new TOTP({ secret }).generate()
        return t.app.services.secondFactors.enable(login, secret, code, from)
      }),
    )
    expect(enabled.filter(codes => codes !== null)).toHaveLength(1)
    const { totp } = await loginNow()
    expect(totp).not.toBeNull()
    // The login was read before the second factor existed.
    const { secret } = t.app.services.secondFactors.begin(login)
    const code = new TOTP({ secret }).generate()
    expect(await t.app.services.secondFactors.enable(login, secret, code, from)).toBeNull()
    expect((await loginNow()).totp).toBe(totp)
  })
})

describe('Without passwords', () => {
  it('nobody can request a link to set one', async () => {
    const t = await startApp({ SIGN_IN: 'accounts', PASSWORDS: 'false' })
    await createFirst(t)
    t.app.services.logins.forgot(given.email, '127.0.0.1')
    await new Promise(resolve => setTimeout(resolve, 300))
    expect(await t.app.db.LoginLink.count()).toBe(0)
    await t.stop()
  })

  it('a signed-in person cannot set one', async () => {
    const t = await startApp({ SIGN_IN: 'accounts', PASSWORDS: 'false' })
    const { browser } = await createFirst(t)
    const before = await t.app.db.Login.findOne({ raw: true })
    browser.last = `${t.url}/account/security`
    const form = { do: 'password', password: 'copper lantern over the ninth harbour' }
    await send(browser, form, { origin: t.url })
    const after = await t.app.db.Login.findOne({ raw: true })
    expect(after?.password).toBe(before?.password)
    await t.stop()
  })
})

describe('A change of the address', () => {
  it('invalidates the reset links that were sent to the former address', async () => {
    const t = await startApp({ SIGN_IN: 'accounts', MAIL_URL: 'smtp://127.0.0.1:9' })
    await createFirst(t)
    const { userId = '' } = (await t.app.db.Login.findOne({ raw: true })) ?? {}
    const link = (kind: 'reset' | 'address-to', email: string) => ({
      hash: hashOfLink(`${kind} secret`),
      kind,
      email,
      name: '',
      userId,
      madeBy: null,
      createdAt: Date.now(),
      expiresAt: Date.now() + 60_000,
    })
    await t.app.db.LoginLink.bulkCreate([
      link('reset', given.email),
      link('address-to', 'new@example.com'),
    ])
    const from = { address: null, agent: null }
    expect(await t.app.services.logins.confirmAddress('address-to secret', from)).toBe(true)
    expect(await t.app.services.logins.findLink('reset secret')).toBeNull()
    await t.stop()
  })
})
