import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Secret, TOTP } from 'otpauth'
import { signInTo, startApp, type TestApp } from '../support/harness.ts'
import {
  createFirst,
  PASSWORD,
  passwordSignIn,
  send,
  visit,
  whoIs,
} from '../support/own-accounts.ts'
import { until } from '../support/until.ts'
import { Browser } from '../unit/sign-in-browser.ts'

const other = 'marble kettle drifting north of june'
const settings = { SIGN_IN: 'accounts', SMTP_URL: 'smtp://127.0.0.1:9' }
const own = (t: TestApp) => ({ origin: t.url })

/** The links in the queued mails, newest last. */
async function links(t: TestApp): Promise<{ to: string; about: string; link: string }[]> {
  const jobs = await t.app.db.Job.findAll({ where: { kind: 'mail' }, order: ['id'], raw: true })
  return jobs
    .map(({ payload }) => JSON.parse(payload))
    .filter(({ template }) => template === 'account-link')
    .map(({ to, values }) => ({ to, ...values }))
}

const linkIn = (html: string) => /value="(http[^"]+\/sign-in\/[^"]+)"/.exec(html)?.[1] ?? ''
const tokenOf = (secret: string, ahead = 0) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({
    timestamp: Date.now() + ahead * 30_000,
  })

describe('Links to an account', () => {
  let t: TestApp
  let owner: Browser
  beforeAll(async () => {
    t = await startApp(settings)
    owner = (await createFirst(t)).browser
  })
  afterAll(() => t.stop())

  it('an operator’s invitation link signs the invited person in, once', async () => {
    await visit(owner, `${t.url}/account/people`)
    const form = { do: 'invite', email: 'bob@example.com', name: 'Bob' }
    const url = linkIn((await send(owner, form, own(t))).text)
    const bob = new Browser()
    expect((await visit(bob, url)).text).toContain('bob@example.com')
    await send(bob, { email: 'mallory@example.com', name: 'Bob', password: PASSWORD })
    expect(await whoIs(t, bob)).toBe('bob@example.com')
    expect((await visit(new Browser(), url)).status).toBe(404)
    const user = await t.app.db.User.findOne({ where: { email: 'bob@example.com' }, raw: true })
    expect(user?.verifiedEmail).toBe('bob@example.com')
    expect(await t.app.db.Operator.count()).toBe(1)
    const again = await send(owner, form, own(t))
    expect(again.text).not.toContain('/sign-in/invite/')
  })

  it('shows only operators how people sign in', async () => {
    const { browser: bob } = await passwordSignIn(t, {
      email: 'bob@example.com',
      password: PASSWORD,
    })
    expect((await visit(bob, `${t.url}/account/people`)).status).toBe(403)
    const page = await visit(owner, `${t.url}/account/people`)
    expect(page.text).toContain('Bob (bob@example.com)')
  })

  it('a mailed link resets a password, ends all sessions, and works once', async () => {
    const { browser: bob } = await passwordSignIn(t, {
      email: 'bob@example.com',
      password: PASSWORD,
    })
    const stranger = new Browser()
    await visit(stranger, `${t.url}/sign-in/forgot`)
    const known = await send(stranger, { email: 'bob@example.com' })
    await visit(stranger, `${t.url}/sign-in/forgot`)
    const unknown = await send(stranger, { email: 'nobody@example.com' })
    expect(known.text).toBe(unknown.text)
    await until(async () => (await links(t)).some(({ about }) => about === 'reset'))
    const sent = (await links(t)).filter(({ about }) => about === 'reset')
    expect(sent.map(({ to }) => to)).toEqual(['bob@example.com'])
    const url = sent[0]?.link ?? ''
    const browser = new Browser()
    await visit(browser, url)
    await send(browser, { password: other })
    expect(await whoIs(t, browser)).toBe('bob@example.com')
    expect(await whoIs(t, bob)).toBeNull()
    expect((await visit(new Browser(), url)).status).toBe(404)
    const old = await passwordSignIn(t, { email: 'bob@example.com', password: PASSWORD })
    expect(old.page.status).toBe(422)
  })

  it('limits mails to one address', async () => {
    const before = (await links(t)).length
    const browser = new Browser()
    for (let i = 0; i < 6; i++) {
      await visit(browser, `${t.url}/sign-in/forgot`)
      await send(browser, { email: 'owner@example.com' })
    }
    await until(async () => (await links(t)).length === before + 3)
  })

  it('the link of a workspace invite admits only the invited address', async () => {
    const { userId } = (await t.app.services.logins.people()).find(
      ({ email }) => email === 'owner@example.com',
    ) ?? { userId: '' }
    const cookie = owner.jar.get('session_id')?.value ?? ''
    const ask = (query: string, variables: object) =>
      fetch(`${t.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', cookie: `session_id=${cookie}` },
        body: JSON.stringify({ query, variables }),
      }).then(answer => answer.json() as Promise<{ data: Record<string, object> }>)
    expect(userId).not.toBe('')
    const made = await ask(
      'mutation ($input: CreateWorkspaceInput!) { createWorkspace(input: $input) { workspace { id } } }',
      { input: { name: 'Club' } },
    )
    const { id } = (made.data.createWorkspace as { workspace: { id: string } }).workspace
    await ask(
      'mutation ($input: CreateInviteInput!) { createInvite(input: $input) { invite { id } } }',
      { input: { workspace: id, email: 'carol@example.com', role: 'VIEWER' } },
    )
    const jobs = await t.app.db.Job.findAll({ where: { kind: 'mail' }, raw: true })
    const mail = jobs.map(job => JSON.parse(job.payload)).find(m => m.template === 'invite')
    const token = mail.values.link.split('/').at(-1)
    expect((await visit(new Browser(), mail.values.link)).text).toContain(`/sign-in/join/${token}`)
    const carol = new Browser()
    await visit(carol, `${t.url}/sign-in/join/${token}`)
    const page = await send(carol, { name: 'Carol', password: PASSWORD })
    expect(page.url).toBe(`${t.url}/invite/${token}`)
    expect(await whoIs(t, carol)).toBe('carol@example.com')
    const uninvited = new Browser()
    await visit(uninvited, `${t.url}/sign-in/register`)
    await send(uninvited, { email: 'eve@example.com', name: 'Eve' })
    await new Promise(done => setTimeout(done, 300))
    expect((await links(t)).filter(({ to }) => to === 'eve@example.com')).toEqual([])
  })

  it('changes an address after both addresses have confirmed it', async () => {
    const given = { email: 'carol@example.com', password: PASSWORD }
    const { browser: carol } = await passwordSignIn(t, given)
    await visit(carol, `${t.url}/account/security`)
    await send(carol, { do: 'address', email: 'carol@new.example' }, own(t))
    const addressLinks = async () => (await links(t)).filter(({ about }) => about === 'address')
    const [first] = await addressLinks()
    expect(first?.to).toBe('carol@example.com')
    await visit(carol, first?.link ?? '')
    await send(carol, {})
    const second = (await addressLinks())[1]
    expect(second?.to).toBe('carol@new.example')
    expect(await whoIs(t, carol)).toBe('carol@example.com')
    await visit(carol, second?.link ?? '')
    await send(carol, {})
    expect(await whoIs(t, carol)).toBe('carol@new.example')
    const next = await passwordSignIn(t, { email: 'carol@new.example', password: PASSWORD })
    expect(await whoIs(t, next.browser)).toBe('carol@new.example')
  })
})

describe('A change to the address of another account', () => {
  it('is refused at its start, and at its end', async () => {
    const t = await startApp(settings)
    const { browser } = await createFirst(t)
    const begin = async (email: string) => {
      await visit(browser, `${t.url}/account/security`)
      return send(browser, { do: 'address', email }, own(t))
    }
    const addressLinks = async () => (await links(t)).filter(({ about }) => about === 'address')
    await signInTo(t.app.db, t.url, 'dora')
    expect((await begin('dora@example.com')).status).toBe(422)
    expect(await addressLinks()).toEqual([])
    await begin('erin@example.com')
    await visit(browser, (await addressLinks())[0]?.link ?? '')
    await send(browser, {})
    await signInTo(t.app.db, t.url, 'erin')
    await visit(browser, (await addressLinks())[1]?.link ?? '')
    expect((await send(browser, {})).status).toBe(422)
    const owner = { email: 'owner@example.com' }
    expect(await t.app.db.Login.count({ where: owner })).toBe(1)
    expect(await t.app.db.User.count({ where: { verifiedEmail: owner.email } })).toBe(1)
    await t.stop()
  })
})

describe('Operators named in the setting', () => {
  it('cannot be taken over by the invitation link of an appointed operator', async () => {
    const t = await startApp({ ...settings, OPERATORS: 'boss@example.com,chief@example.com' })
    const { browser: appointed } = await createFirst(t)
    await signInTo(t.app.db, t.url, 'boss')
    await visit(appointed, `${t.url}/account/people`)
    for (const email of ['boss@example.com', 'Chief@example.com']) {
      const page = await send(appointed, { do: 'invite', email, name: '' }, own(t))
      expect([page.status, linkIn(page.text)]).toEqual([403, ''])
    }
    expect(await t.app.db.LoginLink.count()).toBe(0)
    const { logins } = t.app.services
    const url = await logins.invite(null, { email: 'chief@example.com', name: '' })
    const chief = new Browser()
    await visit(chief, url)
    await send(chief, { name: 'Chief', password: PASSWORD })
    const inviteBy = async (email: string) => {
      await visit(chief, `${t.url}/account/people`)
      return linkIn((await send(chief, { do: 'invite', email, name: '' }, own(t))).text)
    }
    expect(await inviteBy('boss@example.com')).toBe('')
    expect(await inviteBy('new@example.com')).not.toBe('')
    await t.stop()
  })
})

describe('SIGN_UP', () => {
  it('admits people of a domain by a mailed link, and mails existing users about their account', async () => {
    const t = await startApp({ ...settings, SIGN_UP: 'domains:club.example' })
    await createFirst(t)
    const ask = async (email: string) => {
      const browser = new Browser()
      await visit(browser, `${t.url}/sign-in/register`)
      return send(browser, { email, name: 'Dora' })
    }
    const pages = [
      await ask('dora@club.example'),
      await ask('eve@evil.example'),
      await ask('owner@example.com'),
    ]
    expect(new Set(pages.map(({ text }) => text)).size).toBe(1)
    await until(async () => (await links(t)).length === 2)
    const mails = new Map((await links(t)).map(mail => [mail.to, mail]))
    expect([...mails.keys()].sort()).toEqual(['dora@club.example', 'owner@example.com'])
    expect(mails.get('owner@example.com')?.about).toBe('known')
    const dora = new Browser()
    await visit(dora, mails.get('dora@club.example')?.link ?? '')
    await send(dora, { name: 'Dora', password: PASSWORD })
    expect(await whoIs(t, dora)).toBe('dora@club.example')
    await t.stop()
  })
})

describe('The second factor', () => {
  let t: TestApp
  let owner: Browser
  let secret = ''
  let codes: string[] = []
  const given = { email: 'owner@example.com', password: PASSWORD }
  beforeAll(async () => {
    t = await startApp(settings)
    owner = (await createFirst(t)).browser
  })
  afterAll(() => t.stop())

  const fieldIn = (html: string, name: string) =>
    new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? ''

  async function enter(code: string, browser = new Browser()) {
    const { page } = await passwordSignIn(t, given, browser)
    const step = fieldIn(page.text, 'step')
    expect(step).not.toBe('')
    const answer = await send(browser, { step, code })
    return { browser, answer, step }
  }

  it('is enabled with a code of the app, and provides ten recovery codes', async () => {
    await visit(owner, `${t.url}/account/security`)
    const form = await send(owner, { do: 'factor-setup' }, own(t))
    secret = /class="code">([A-Z2-7]+)</.exec(form.text)?.[1] ?? ''
    const setup = fieldIn(form.text, 'setup')
    expect(form.text).toContain('<svg')
    const wrong = await send(owner, { do: 'factor-on', setup, code: '000000' }, own(t))
    expect(wrong.status).toBe(422)
    const page = await send(owner, { do: 'factor-on', setup, code: tokenOf(secret, -1) }, own(t))
    codes = [...page.text.matchAll(/class="code">([a-z2-9]{5}-[a-z2-9]{5})</g)].map(m => m[1] ?? '')
    expect(codes).toHaveLength(10)
    const rows = JSON.stringify([
      await t.app.db.rows('SELECT * FROM login'),
      await t.app.db.rows('SELECT * FROM recovery_code'),
    ])
    expect(rows).not.toContain(secret)
    for (const code of codes) expect(rows).not.toContain(code.replace('-', ''))
  })

  it('requires a code after the password, and accepts each code once', async () => {
    const code = tokenOf(secret)
    const first = await enter(code)
    expect(await whoIs(t, first.browser)).toBe('owner@example.com')
    const second = await enter(code)
    expect(second.answer.status).toBe(422)
    expect(await whoIs(t, second.browser)).toBeNull()
  })

  it('accepts a clock half a minute ahead, but not one two minutes off', async () => {
    const next = await enter(tokenOf(secret, 1))
    expect(await whoIs(t, next.browser)).toBe('owner@example.com')
    expect((await enter(tokenOf(secret, 4))).answer.status).toBe(422)
    expect((await enter(tokenOf(secret, -4))).answer.status).toBe(422)
  })

  it('accepts each recovery code once', async () => {
    const first = await enter(codes[0]?.toUpperCase() ?? '')
    expect(await whoIs(t, first.browser)).toBe('owner@example.com')
    expect((await enter(codes[0] ?? '')).answer.status).toBe(422)
  })

  it('is bound to the interaction in which the password was correct', async () => {
    const { step } = await enter('nothing')
    const other = new Browser()
    await visit(other, `${t.url}/auth/oauth`)
    const answer = await send(other, { step, code: codes[1] ?? '' })
    expect(answer.status).toBe(400)
  })

  it('is not requested on a remembered device', async () => {
    const browser = new Browser()
    const { page } = await passwordSignIn(t, given, browser)
    const step = fieldIn(page.text, 'step')
    await send(browser, { step, code: codes[2] ?? '', remember: 'yes' })
    browser.jar.delete('session_id')
    await passwordSignIn(t, given, browser)
    expect(await whoIs(t, browser)).toBe('owner@example.com')
  })

  it('limits guesses', async () => {
    const statuses: number[] = []
    // Guesses are counted by the quarter hour, which may end once in between.
    for (let i = 0; i < 24 && !statuses.includes(429); i++)
      statuses.push((await enter(`00000${i % 10}`)).answer.status)
    expect(statuses).toContain(429)
  })

  it('requires a new proof before changes when the last proof is old', async () => {
    await t.app.db.run('UPDATE session SET created_at = ?', [Date.now() - 11 * 60_000])
    await visit(owner, `${t.url}/account/security`)
    const page = await send(owner, { do: 'factor-off' }, own(t))
    expect(page.url).toContain('/account/confirm')
    expect((await t.app.db.Login.findOne({ raw: true }))?.totp).not.toBeNull()
    const wrong = await send(owner, { password: 'wrong' }, own(t))
    expect(wrong.status).toBe(422)
    await send(owner, { password: PASSWORD }, own(t))
    expect((await send(owner, { do: 'factor-off' }, own(t))).status).toBe(200)
    expect((await t.app.db.Login.findOne({ raw: true }))?.totp).toBeNull()
    expect(await t.app.db.RecoveryCode.count()).toBe(0)
  })

  it('accepts changes only from pages of this service', async () => {
    await visit(owner, `${t.url}/account/security`)
    expect((await send(owner, { do: 'sign-out' })).status).toBe(403)
  })
})

describe('SECOND_FACTOR', () => {
  it('makes operators set up a second factor before they get in', async () => {
    const t = await startApp({ ...settings, SECOND_FACTOR: 'operators' })
    const { browser } = await createFirst(t)
    browser.jar.delete('session_id')
    const { page } = await passwordSignIn(
      t,
      { email: 'owner@example.com', password: PASSWORD },
      browser,
    )
    const secret = /class="code">([A-Z2-7]+)</.exec(page.text)?.[1] ?? ''
    const step = /name="step" value="([^"]*)"/.exec(page.text)?.[1] ?? ''
    expect(await whoIs(t, browser)).toBeNull()
    browser.last = page.url
    const codes = await send(browser, { step, code: tokenOf(secret) })
    const done = /name="step" value="([^"]*)"/.exec(codes.text)?.[1] ?? ''
    expect(await whoIs(t, browser)).toBeNull()
    browser.last = page.url
    await send(browser, { step: done })
    expect(await whoIs(t, browser)).toBe('owner@example.com')
    await t.stop()
  })
})
