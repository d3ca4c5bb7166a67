import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { type App, createApp } from '../../src/app.ts'
import { readConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/runtime/log.ts'
import { passkeyService } from '../../src/services/accounts/passkey.ts'
import { PASSWORD } from '../support/own-accounts.ts'
import { copySqlite } from '../support/templates.ts'
import { until } from '../support/until.ts'
import { openBrowser, visit } from './browser.ts'

let app: App
let url: string
let dir: string
let browser: Browser
let page: Page
let device: CDPSession
let authenticatorId: string
const foreign: string[][] = []

const authenticator = {
  protocol: 'ctap2',
  transport: 'internal',
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const

async function newDevice() {
  const opened = await visit(browser, url)
  foreign.push(opened.foreign)
  const session = await opened.context.newCDPSession(opened.page)
  await session.send('WebAuthn.enable')
  const added = await session.send('WebAuthn.addVirtualAuthenticator', { options: authenticator })
  return { page: opened.page, session, id: added.authenticatorId }
}

async function useDevice() {
  ;({ page, session: device, id: authenticatorId } = await newDevice())
}

const signOut = () => page.context().clearCookies()
const isIn = async (of = page): Promise<boolean> => {
  const answer = await of.request.get(`${url}/auth/is_valid`)
  return (await answer.json()).response.authenticated
}

/**
 * Opens the sign-in. The virtual authenticator fills in the address field by itself, like a person
 * who selects a passkey.
 */
async function passkeyIsRight(of = page): Promise<boolean> {
  await of.bringToFront()
  const answered = of.waitForResponse(
    answer =>
      answer.request().method() === 'POST' && answer.url().includes('/sign-in/interaction/'),
  )
  await of.goto(`${url}/login`)
  const status = (await answered).status()
  // The form is shown again after a wrong response, and receives the next one.
  if (status !== 303)
    await of.goto('about:blank').catch(() => of.goto('about:blank').catch(() => {}))
  else await of.waitForURL(`${url}/`)
  return isIn(of)
}

async function addPasskey(name: string): Promise<void> {
  // Browsers use authenticators only for the page in front.
  await page.bringToFront()
  await page.goto(`${url}/account/security`)
  await page.getByLabel('Name of the passkey').fill(name)
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByText('Saved.').waitFor()
  await page.getByText('Saved.').waitFor()
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'satchel-passkeys-'))
  copySqlite(join(dir, 'satchel.sqlite'))
  const config = readConfig({
    PORT: '0',
    DATA_DIR: dir,
    SIGN_IN: 'accounts',
    SECRET_KEY: 'a secret key of the tests, long enough',
    CONSOLE: 'false',
    PREVIEWS: 'false',
  })
  app = await createApp(config, { log: createLog({ logLevel: 'warn' }, { write() {} }) })
  url = await app.start()
  browser = await openBrowser('whole')
  await useDevice()
})

afterAll(async () => {
  await browser?.close()
  await app?.stop()
  rmSync(dir, { recursive: true, force: true })
})

describe('A passkey', () => {
  it('is added to the first account, which a person creates in the browser', async () => {
    const secret = await app.services.logins.beginFirst()
    await page.goto(`${url}/sign-in/first/${secret}`)
    await page.getByLabel('E-mail address').fill('owner@example.com')
    await page.getByLabel('New password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.waitForURL(`${url}/`)
    await addPasskey('Laptop')
    expect(await page.getByText('Laptop').count()).toBeGreaterThan(0)
    const { credentials } = await device.send('WebAuthn.getCredentials', { authenticatorId })
    expect(credentials).toMatchObject([{ isResidentCredential: true, rpId: 'localhost' }])
  })

  it('signs in without typing anything', async () => {
    await signOut()
    expect(await passkeyIsRight()).toBe(true)
  })

  it('asks for no second factor, which a password does', async () => {
    const login = await app.db.Login.findOne()
    await login?.update({ totp: 'x', factorAt: 1 })
    await signOut()
    expect(await passkeyIsRight()).toBe(true)
    await login?.update({ totp: null, factorAt: null })
  })

  it('is refused for another origin, another host name, a replayed and a foreign challenge', async () => {
    await signOut()
    await page.bringToFront()
    let answer = ''
    await page.route('**/sign-in/interaction/*', async route => {
      const fields = new URLSearchParams(route.request().postData() ?? '')
      answer ||= fields.get('passkey') ?? ''
      await (fields.has('passkey') ? route.fulfill({ status: 204 }) : route.continue())
    })
    await page.goto(`${url}/login`)
    await until(() => answer !== '')
    await page.unroute('**/sign-in/interaction/*')
    const client = JSON.parse(answer).response.clientDataJSON
    const { challenge } = JSON.parse(Buffer.from(client, 'base64url').toString())
    const at = (publicUrl: string) =>
      passkeyService({
        db: app.db,
        publicUrl: () => publicUrl,
        change: async () => {
          throw new Error('It changes nothing.')
        },
        notices: { queue: async () => {}, wake() {} },
      })
    // A failed challenge is used up as well, so each try first gets a valid one.
    const tries = async (publicUrl: string, asked = challenge) => {
      await app.db.SignInState.destroy({ where: { model: 'Challenge' } })
      return at(publicUrl).check(answer, asked)
    }
    expect(await tries('http://localhost:1')).toBeNull()
    expect(await tries('https://localhost')).toBeNull()
    expect(await tries(url.replace('localhost', 'files.localhost'))).toBeNull()
    expect(await tries(url, app.services.passkeys.newChallenge())).toBeNull()
    expect(await tries(url)).not.toBeNull()
    expect(await at(url).check(answer, challenge)).toBeNull()
  })

  it('is refused if its counter has not increased, as in a copy', async () => {
    const before = await app.db.Passkey.findOne({ raw: true })
    await app.db.Passkey.update({ counter: 1_000_000 }, { where: {} })
    await signOut()
    expect(await passkeyIsRight()).toBe(false)
    await app.db.Passkey.update({ counter: Number(before?.counter) }, { where: {} })
  })

  it('is refused for another account than its own', async () => {
    const link = await app.services.logins.invite(null, { email: 'bob@example.com', name: 'Bob' })
    const given = { email: '', name: 'Bob', password: PASSWORD }
    const from = { address: null, agent: null }
    const bob = await app.services.logins.register(link.split('/').at(-1) ?? '', given, from)
    const before = await app.db.Passkey.findOne({ raw: true })
    await app.db.Passkey.update({ loginId: bob }, { where: {} })
    await signOut()
    expect(await passkeyIsRight()).toBe(false)
    await app.db.Passkey.update({ loginId: before?.loginId ?? '' }, { where: {} })
    expect(await passkeyIsRight()).toBe(true)
  })

  it('works on a second device, and no longer after its removal', async () => {
    const first = { page, device }
    await useDevice()
    await page.goto(`${url}/login`)
    await page.getByLabel('E-mail address').fill('owner@example.com')
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.waitForURL(`${url}/`)
    await addPasskey('Telephone')
    expect(await app.db.Passkey.count()).toBe(2)
    await page.getByRole('button', { name: 'Remove Laptop' }).click()
    await page.getByText('Saved.').waitFor()
    await first.page.context().clearCookies()
    expect(await passkeyIsRight(first.page)).toBe(false)
    await signOut()
    expect(await passkeyIsRight()).toBe(true)
  })

  it('loads nothing from other origins', () => {
    expect(foreign.flat()).toEqual([])
  })
})
