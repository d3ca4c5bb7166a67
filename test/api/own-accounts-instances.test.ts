import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { newDatabase, startApp, type TestApp } from '../support/harness.ts'
import {
  createFirst,
  PASSWORD,
  passwordSignIn,
  send,
  visit,
  whoIs,
} from '../support/own-accounts.ts'
import { Browser } from '../unit/sign-in-browser.ts'

const secret = 'the same secret key on all instances'

describe('Two instances on one database', () => {
  let one: TestApp
  let two: TestApp
  let database: Awaited<ReturnType<typeof newDatabase>>
  beforeAll(async () => {
    database = await newDatabase()
    const settings = { SIGN_IN: 'accounts', SECRET_KEY: secret, DATABASE_URL: database.url }
    one = await startApp(settings)
    // A proxy sends the requests of one name to both.
    two = await startApp({ ...settings, PUBLIC_URL: one.url })
    await createFirst(one)
  })
  afterAll(async () => {
    await two.stop()
    await one.stop()
    await database.drop()
  })

  /** The form of one instance, sent to the other. */
  const atOther = (url: string) => url.replace(one.url, two.url)

  it('continue a sign-in that the other began', async () => {
    const browser = new Browser()
    await visit(browser, `${one.url}/auth/oauth`)
    const form = { email: 'owner@example.com', password: PASSWORD }
    const answer = await browser.get(atOther(browser.last), {
      method: 'POST',
      body: new URLSearchParams(form),
    })
    expect(answer.status).toBe(303)
    const resume = await browser.get(answer.headers.get('location') ?? '')
    const callback = atOther(resume.headers.get('location') ?? '')
    expect(callback).toContain(`${two.url}/auth/callback`)
    await browser.get(callback)
    expect(await whoIs(one, browser)).toBe('owner@example.com')
  })

  it('accept a link once when both receive it at the same time', async () => {
    const url = await one.app.services.logins.invite(null, { email: 'bob@example.com', name: '' })
    const browsers = [new Browser(), new Browser()]
    const given = new URLSearchParams({ name: 'Bob', password: PASSWORD })
    const answers = await Promise.all(
      browsers.map((browser, i) =>
        browser.get(i === 0 ? url : atOther(url), {
          method: 'POST',
          body: given,
          headers: { accept: 'text/html' },
        }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 404])
    const rows = await one.app.db.Login.count({ where: { email: 'bob@example.com' } })
    expect(rows).toBe(1)
  })

  it('leave exactly one consistent password when both receive a reset', async () => {
    const bob = await one.app.db.Login.findOne({ where: { email: 'bob@example.com' }, raw: true })
    const url = await one.app.services.logins.resetFor(null, bob?.userId ?? '', false)
    const words = ['orchard velvet midnight ladder', 'copper meadow thimble sunday']
    await Promise.all(
      words.map((password, i) =>
        new Browser().get(i === 0 ? url : atOther(url), {
          method: 'POST',
          body: new URLSearchParams({ password }),
        }),
      ),
    )
    const outcomes = []
    for (const password of words) {
      const { browser } = await passwordSignIn(one, { email: 'bob@example.com', password })
      outcomes.push(await whoIs(one, browser))
    }
    expect(outcomes.filter(email => email === 'bob@example.com')).toHaveLength(1)
    const old = new Browser()
    await visit(old, `${one.url}/auth/oauth`)
    const page = await send(old, { email: 'bob@example.com', password: PASSWORD })
    expect(page.status).toBe(422)
  })
})

describe('The state of sign-ins', () => {
  it('expires, and is swept', async () => {
    const t = await startApp({ SIGN_IN: 'accounts' })
    await createFirst(t)
    const browser = new Browser()
    await visit(browser, `${t.url}/auth/oauth`)
    expect(await t.app.db.SignInState.count()).toBeGreaterThan(0)
    await t.app.db.run('UPDATE sign_in_state SET expires_at = ?', [Date.now() - 1])
    const page = await send(browser, { email: 'owner@example.com', password: PASSWORD })
    expect(page.status).toBe(400)
    await t.settle()
    expect(await t.app.db.SignInState.count()).toBe(0)
    await t.stop()
  })

  it('is bounded', async () => {
    const t = await startApp({ SIGN_IN: 'accounts', RATE_SIGN_INS: '3' })
    await createFirst(t)
    const statuses = []
    for (let i = 0; i < 4; i++)
      statuses.push((await visit(new Browser(), `${t.url}/auth/oauth`)).status)
    expect(statuses).toEqual([200, 200, 429, 429])
    // The library also takes other spellings, which the limit would not count.
    for (const spelling of ['auth/', 'AUTH', 'Auth/'])
      expect((await new Browser().get(`${t.url}/sign-in/${spelling}`)).status).toBe(404)
    await t.stop()
  })
})

describe('Unknown and known addresses', () => {
  it('take the same time, within noise', async () => {
    const t = await startApp({ SIGN_IN: 'accounts', RATE_SIGN_INS: '1000000' })
    await createFirst(t)
    const times: Record<string, number[]> = { owner: [], nobody: [] }
    for (let i = 0; i < 20; i++)
      for (const name of i % 2 ? ['owner', 'nobody'] : ['nobody', 'owner']) {
        // Each request comes from its own address, so that no limit is reached.
        const check = { email: `${name}@example.com`, password: `wrong ${i}` }
        const began = performance.now()
        await t.app.services.logins.check(check, {
          address: `10.${i}.${name.length}.1`,
          deviceOf: () => `${name} ${i}`,
        })
        times[name]?.push(performance.now() - began)
      }
    const median = (of: number[] = []) => of.sort((a, b) => a - b)[Math.floor(of.length / 2)] ?? 0
    const [known, unknown] = [median(times.owner), median(times.nobody)]
    expect(Math.max(known, unknown) / Math.min(known, unknown)).toBeLessThan(2)
    await t.stop()
  })
})
