import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Secret, TOTP } from 'otpauth'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { type App, createApp } from '../../../src/app.ts'
import { readConfig } from '../../../src/config/config.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { newSecret } from '../../../src/runtime/tokens.ts'
import { hashOfLink } from '../../../src/services/accounts/login-link.ts'
import { signInTo } from '../../support/harness.ts'
import { PASSWORD } from '../../support/own-accounts.ts'
import { copySqlite } from '../../support/templates.ts'
import { isLookedAt, openBrowser, screenshot, visit } from '../browser.ts'
import { expectAccessible, paint } from '../console.ts'

let app: App
let url: string
let dir: string
let browser: Browser
let secret: string

const languages = { en: 'en-GB', de: 'de-DE' }
type Language = keyof typeof languages
/** With another provider as well, `/login` offers both. */
const SIGN_IN = '/auth/oauth?provider=accounts'
const nowhere = { address: null, agent: null }
const wide = 'w'.repeat(60)

/** The browser profiles for a language: a stranger, and signed-in people. */
interface Profiles {
  stranger: Page
  owner: Page
  bob: Page
  /** Signs in with a single provider. */
  paul: Page
}
const profiles = {} as Record<Language, Profiles>

async function open(page: Page, path: string): Promise<Page> {
  await page.goto(path.startsWith('http') ? path : url + path)
  return page
}

async function submit(page: Page, fields: Record<string, string>, button = '.card form button') {
  for (const [name, value] of Object.entries(fields))
    await page.locator(`[name="${name}"]`).fill(value)
  await Promise.all([
    page.waitForEvent('framenavigated'),
    page.locator(`${button}:not([type="button"])`).first().click(),
  ])
  await page.waitForLoadState()
  return page
}

/** Submits the form of a section. */
const act = (page: Page, what: string, fields: Record<string, string> = {}) =>
  submit(page, fields, `form:has([name="do"][value="${what}"]) button`)

async function signIn(page: Page, email: string): Promise<Page> {
  await open(page, SIGN_IN)
  return submit(page, { email, password: PASSWORD })
}

/** Creates an account by an invitation. */
async function create(email: string, name: string): Promise<string> {
  const { logins } = app.services
  const link = await logins.invite(null, { email, name })
  const given = { email, name, password: PASSWORD }
  return logins.register(link.split('/').at(-1) ?? '', given, nowhere)
}

const idOf = async (email: string) =>
  (await app.db.User.findOne({ where: { email }, raw: true }))?.id ?? ''

/** A one-time link that is not sent by mail. */
async function linkOf(kind: 'sign-up' | 'reset' | 'address-from' | 'invite'): Promise<string> {
  const token = newSecret()
  const isOfBob = kind === 'reset' || kind === 'address-from'
  await app.db.LoginLink.create({
    hash: hashOfLink(token),
    kind,
    email: `${kind}@example.com`,
    name: '',
    userId: isOfBob ? await idOf('bob@example.com') : null,
    madeBy: null,
    createdAt: Date.now(),
    expiresAt: Date.now() + 600_000,
  })
  return `/sign-in/${kind === 'address-from' ? 'address' : kind}/${token}`
}

type States = Record<string, (people: Profiles) => Promise<Page>>

const beforeFirst: States = {
  'not-set-up': ({ stranger }) => open(stranger, SIGN_IN),
  first: ({ stranger }) => open(stranger, `/sign-in/first/${secret}`),
  'first-weak-password': async ({ stranger }) => {
    const page = await open(stranger, `/sign-in/first/${secret}`)
    return submit(page, { email: 'owner@example.com', password: 'password1234' })
  },
}

const states: States = {
  'sign-in': ({ stranger }) => open(stranger, SIGN_IN),
  'sign-in-wrong': async ({ stranger }) => {
    const page = await open(stranger, SIGN_IN)
    return submit(page, { email: 'nobody@example.com', password: 'wrong' })
  },
  'sign-in-plain-http': async ({ stranger }) => {
    const { passkeys } = app.services
    const { isOffered } = passkeys
    passkeys.isOffered = () => false
    try {
      return await open(stranger, SIGN_IN)
    } finally {
      passkeys.isOffered = isOffered
    }
  },
  forgot: ({ stranger }) => open(stranger, '/sign-in/forgot'),
  'forgot-sent': async ({ stranger }) =>
    submit(await open(stranger, '/sign-in/forgot'), { email: 'nobody@example.com' }),
  register: ({ stranger }) => open(stranger, '/sign-in/register'),
  invitation: async ({ stranger }) => open(stranger, await linkOf('invite')),
  'sign-up': async ({ stranger }) => open(stranger, await linkOf('sign-up')),
  'sign-up-weak-password': async ({ stranger }) =>
    submit(await open(stranger, await linkOf('sign-up')), { password: 'qwertyuiop123' }),
  reset: async ({ stranger }) => open(stranger, await linkOf('reset')),
  address: async ({ stranger }) => open(stranger, await linkOf('address-from')),
  'address-next': async ({ stranger }) =>
    submit(await open(stranger, await linkOf('address-from')), {}),
  'link-gone': ({ stranger }) => open(stranger, `/sign-in/reset/${'x'.repeat(43)}`),
  'sign-in-ended': ({ stranger }) => open(stranger, `/sign-in/interaction/${'x'.repeat(21)}`),
  'protocol-error': ({ stranger }) => open(stranger, '/sign-in/auth?client_id=nobody'),
  'second-factor': ({ stranger }) => signIn(stranger, 'owner@example.com'),
  'second-factor-wrong': async ({ stranger }) =>
    submit(await signIn(stranger, 'owner@example.com'), { code: '000000' }),
  security: ({ owner }) => open(owner, '/account/security'),
  'security-new': ({ bob }) => open(bob, '/account/security'),
  'security-weak-password': async ({ bob }) =>
    act(await open(bob, '/account/security'), 'password', { password: 'password1234' }),
  'security-provider-only': ({ paul }) => open(paul, '/account/security'),
  'factor-setup': async ({ bob }) => act(await open(bob, '/account/security'), 'factor-setup'),
  'factor-setup-wrong': async ({ bob }) =>
    act(await act(await open(bob, '/account/security'), 'factor-setup'), 'factor-on', {
      code: '000000',
    }),
  'recovery-codes': async ({ bob }) => {
    const page = await act(await open(bob, '/account/security'), 'factor-setup')
    const shown = await page.locator('code.code').first().textContent()
    const code = new TOTP({ secret: Secret.fromBase32(shown ?? '') }).generate()
    await act(page, 'factor-on', { code })
    const login = await app.services.logins.ofUser(await idOf('bob@example.com'))
    if (login?.totp == null) throw new Error('The second factor is not on.')
    await app.services.secondFactors.remove(login, nowhere)
    return page
  },
  'address-sent': async ({ bob }) =>
    act(await open(bob, '/account/security'), 'address', { email: 'robert@example.com' }),
  confirm: ({ owner }) => open(owner, '/account/confirm'),
  'confirm-wrong': async ({ owner }) =>
    submit(await open(owner, '/account/confirm'), { password: 'wrong' }),
  'confirm-provider-only': ({ paul }) => open(paul, '/account/confirm'),
  people: ({ owner }) => open(owner, '/account/people'),
  'people-link': async ({ owner }) =>
    act(await open(owner, '/account/people'), 'invite', { email: `${Date.now()}@example.com` }),
  'people-exists': async ({ owner }) =>
    act(await open(owner, '/account/people'), 'invite', { email: 'bob@example.com' }),
  'people-forbidden': ({ bob }) => open(bob, '/account/people'),
  'too-many': async ({ stranger }) => {
    for (let i = 0; i < 12; i++)
      await app.services.logins
        .check(
          { email: 'many@example.com', password: `${i}` },
          { address: '127.0.0.1', deviceOf: () => null },
        )
        .catch(() => null)
    const page = await open(stranger, SIGN_IN)
    await submit(page, { email: 'many@example.com', password: 'wrong' })
    await page.getByText(/Too many attempts|Zu viele Versuche/).waitFor()
    return page
  },
}

async function newProfiles(locale: string): Promise<Profiles> {
  const page = async () => (await visit(browser, url, { locale })).page
  const [stranger, owner, bob, paul] = await Promise.all([page(), page(), page(), page()])
  return { stranger, owner, bob, paul }
}

/** @param cookie a session, in the format of the header */
async function enter(context: BrowserContext, cookie: string): Promise<void> {
  const [name = '', value = ''] = cookie.split('=')
  await context.addCookies([{ name, value, url }])
}

async function look(name: string, language: Language, find: States[string] | undefined) {
  const page = await find?.(profiles[language])
  if (!page) throw new Error(`${name} leads to no page.`)
  for (const [width, height] of [
    [1440, 900],
    [390, 844],
  ] as const) {
    await page.setViewportSize({ width, height })
    for (const colorScheme of isLookedAt ? (['dark', 'light'] as const) : []) {
      await paint(page, colorScheme)
      const as = `${name}-${language}-${width}-${colorScheme}`
      await screenshot(page, as, { fullPage: true })
    }
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  }
  await expectAccessible(page)
  expect(await page.locator('html').getAttribute('lang')).toBe(language)
  expect(await page.locator('h1').count()).toBe(1)
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'satchel-account-pages-'))
  copySqlite(join(dir, 'satchel.sqlite'))
  const config = readConfig({
    PORT: '0',
    DATA_DIR: dir,
    SIGN_IN: 'accounts',
    SIGN_UP: 'open',
    RATE_SIGN_INS: '1000',
    SMTP_URL: 'smtp://127.0.0.1:9',
    OAUTH_HUB_CLIENT_ID: 'satchel',
    OAUTH_HUB_CLIENT_SECRET: 'the secret of the client',
    OAUTH_HUB_AUTHORIZE_URL: 'http://127.0.0.1:9/authorize',
    OAUTH_HUB_TOKEN_URL: 'http://127.0.0.1:9/token',
    OAUTH_HUB_USERINFO_URL: 'http://127.0.0.1:9/me',
    SECRET_KEY: 'a secret key of the tests, long enough',
    CONSOLE: 'false',
    PREVIEWS: 'false',
  })
  app = await createApp(config, { log: createLog({ logLevel: 'warn' }, { write() {} }) })
  url = await app.start()
  browser = await openBrowser()
  for (const language of ['en', 'de'] as const)
    profiles[language] = await newProfiles(languages[language])
  secret = (await app.services.logins.beginFirst()) ?? ''
})

afterAll(async () => {
  await browser?.close()
  await app?.stop()
  rmSync(dir, { recursive: true, force: true })
})

const each = (of: States) =>
  Object.keys(of).flatMap(name => [
    [name, 'en'],
    [name, 'de'],
  ]) as [string, Language][]

describe('Before the first account, on phone and desktop, light and dark', () => {
  it.each(each(beforeFirst))('%s in %s', (name, language) =>
    look(name, language, beforeFirst[name]),
  )
})

describe('Every account page, on phone and desktop, light and dark', () => {
  beforeAll(async () => {
    const { logins, secondFactors, sessions } = app.services
    const given = { email: 'owner@example.com', name: 'Olivia Owner', password: PASSWORD }
    const owner = await logins.find(await logins.register(secret, given, nowhere))
    const bob = await logins.find(await create('bob@example.com', 'Bob'))
    if (!owner || !bob) throw new Error('There is no login.')
    await create(`${wide}@${'deep.'.repeat(20)}example.com`, 'W'.repeat(100))
    for (const [i, name] of ['Laptop', wide].entries())
      await app.db.Passkey.create({
        id: `00000000-0000-7000-8000-00000000000${i}`,
        loginId: owner.id,
        credentialHash: String(i).repeat(64),
        credentialId: 'AAAA',
        publicKey: 'AAAA',
        counter: 0,
        transports: 'internal',
        name,
        backedUp: false,
        createdAt: Date.now(),
        lastUsedAt: i === 0 ? Date.now() : null,
      })
    const begun = secondFactors.begin(owner)
    const code = new TOTP({ secret: Secret.fromBase32(begun.secret) }).generate()
    const client = { address: '127.0.0.1', from: nowhere }
    expect(await secondFactors.enable(owner, begun.secret, code, client)).not.toBeNull()
    for (const people of Object.values(profiles)) {
      for (const [page, { userId }] of [
        [people.owner, owner],
        [people.bob, bob],
      ] as const)
        await enter(page.context(), `session_id=${(await sessions.start(userId)).secret}`)
      await enter(people.paul.context(), (await signInTo(app.db, url, 'paul')).cookie)
    }
  })

  it.each(each(states))('%s in %s', (name, language) => look(name, language, states[name]))
})
