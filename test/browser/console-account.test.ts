import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../support/until.ts'
import { readZip } from '../support/zip-reader.ts'
import { signIn, visit } from './browser.ts'
import {
  type ConsoleWorld,
  expectAccessible,
  expectQuiet,
  focusedEntry,
  type Person,
  pictures,
  rowOf,
  settled,
  startConsole,
  telephone,
} from './console.ts'
import { Hands } from './hands.ts'

let w: ConsoleWorld
let ada: Person
let page: Page

beforeAll(async () => {
  w = await startConsole()
  ada = await w.person('ada')
  await ada.upload('Films/holiday.bin', Buffer.alloc(3_000_000))
  await ada.upload('Letters/<b>bold</b>.txt', Buffer.alloc(500_000))
  await ada.upload('notes.txt', 'one\ntwo')
}, 120_000)
afterAll(() => w?.stop())

const heading = (name: string | RegExp, on = page) => on.getByRole('heading', { name }).waitFor()
const title = (on = page) => on.getByRole('heading', { name: 'Account', exact: true }).waitFor()
/** The text of each item of a list. */
const listed = (name: string, on = page) => on.getByRole('list', { name }).getByRole('listitem')

describe('The profile', () => {
  it('is one step from every screen, by mouse and by keyboard', async () => {
    page = await ada.open('/files')
    await page.getByRole('button', { name: 'Account menu' }).focus()
    await page.keyboard.press('Enter')
    await focusedEntry('Account', page).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/account$/)
    await title()
    await settled(page)
    expect(await page.title()).toBe('Profile and storage · Account · Satchel')
  })

  it('shows the name, the quota and the storage use', async () => {
    const main = page.getByRole('main')
    await main.getByText('Address verified').waitFor()
    expect(await main.textContent()).toContain('ada@example.com')
    const [films, letters, notes, free] = await listed('Storage use').allTextContents()
    expect(films).toBe('Films2.86\u00a0MiB · 86%')
    expect(letters).toBe('Letters488\u00a0KiB · 14%')
    expect(notes).toBe('notes.txt7 bytes · 0%')
    expect(free).toMatch(/^Free\d/)
    await expectAccessible(page)
    await pictures(page, 'console-account')
  })

  it('links from the storage use to the folder', async () => {
    await page.getByRole('link', { name: 'Films' }).click()
    await page.waitForURL(/\/files\/Films$/)
    await page.goBack()
    await title()
  })
})

describe('The account data export', () => {
  const ROUTE = '**/api/user/export'
  const part = (on: Page) => on.getByRole('region', { name: 'Your data' })
  let clara: Person
  let hers: Page

  beforeAll(async () => {
    clara = await w.person('clara')
    await clara.upload('Diaries/1843.txt', 'Dear diary')
    hers = await clara.open('/account')
    await heading('Your data', hers)
  })

  it('downloads a file with the account data, by keyboard', async () => {
    const saving = hers.waitForEvent('download')
    await part(hers).getByRole('button', { name: 'Only the account data' }).press('Enter')
    const saved = await saving
    expect(saved.suggestedFilename()).toMatch(/^satchel-\d{4}-\d\d-\d\d\.json$/)
    const { account, files } = JSON.parse(await readFile(await saved.path(), 'utf8'))
    expect(account.email).toBe('clara@example.com')
    expect(files).toMatchObject([{ path: 'Diaries/1843.txt', size: 10 }])
    await part(hers)
      .getByText(/^\d.*downloaded$/)
      .waitFor()
    await part(hers).getByText('satchel sync :/ satchel-files').waitFor()
    await expectAccessible(hers)
    await part(hers).scrollIntoViewIfNeeded()
    await pictures(hers, 'console-account-export')
    expectQuiet(clara)
  })

  it('shows an error, and works on the next try', async () => {
    const again = part(hers).getByRole('button', { name: 'Only the account data' })
    const says = (text: string) => part(hers).getByRole('alert').getByText(text).waitFor()
    const refusal = { status: 429, msg: 'Too many exports.', response: { code: 'RATE_LIMITED' } }
    await hers.route(ROUTE, route => route.fulfill({ status: 429, json: refusal }), { times: 1 })
    await again.click()
    await says('Too many exports.')
    await expectAccessible(hers)
    await hers.route(ROUTE, route => route.fulfill({ status: 502, body: '<html>' }), { times: 1 })
    await part(hers)
      .getByRole('button', { name: /^Download/ })
      .click()
    await says('The download was interrupted. Try again.')
    await hers.route(ROUTE, route => route.abort(), { times: 1 })
    await part(hers)
      .getByRole('button', { name: /^Download/ })
      .click()
    await says('The service cannot be reached.')
    const saving = hers.waitForEvent('download')
    await part(hers)
      .getByRole('button', { name: /^Download/ })
      .click()
    await saving
    await part(hers).getByRole('alert').waitFor({ state: 'detached' })
  })

  it('can be cancelled', async () => {
    // Never gets a response.
    await hers.route(ROUTE, () => {})
    await part(hers).getByRole('button', { name: 'Only the account data' }).click()
    await part(hers).getByRole('button', { name: 'Stop' }).press('Enter')
    await part(hers).getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
    expect(
      await part(hers).getByRole('button', { name: 'Only the account data' }).isEnabled(),
    ).toBe(true)
    expect(await part(hers).getByRole('alert').count()).toBe(0)
    await hers.unroute(ROUTE)
  })
})

describe('Signing in', () => {
  it('lists the sessions, and signs out another session at once', async () => {
    const other = await w.person('ada')
    const third = await w.person('ada')
    await page.getByRole('link', { name: 'Signing in' }).click()
    await page.waitForURL(/\/account\/sign-in$/)
    await settled(page)
    const sessions = listed('Where you are signed in')
    await sessions.nth(2).waitFor()
    expect(await sessions.filter({ hasText: 'This device' }).count()).toBe(1)
    await expectAccessible(page)
    await pictures(page, 'console-account-sign-in')

    const before = await sessions.count()
    await page
      .getByRole('button', { name: /^End the session of/ })
      .first()
      .focus()
    await page.keyboard.press('Enter')
    await sessions.nth(before - 1).waitFor({ state: 'detached' })
    // The button is gone, so the list has the focus.
    await page.locator('ul:focus').waitFor()
    const alive = async (who: Person) =>
      (await who.context.request.get(`${w.service.url}/api/user/data`)).ok()
    expect([await alive(other), await alive(third)].filter(Boolean)).toHaveLength(1)

    await page.getByRole('button', { name: 'End all others' }).click()
    await page.getByText('1 session ended').waitFor()
    await sessions.nth(1).waitFor({ state: 'detached' })
    expect([await alive(other), await alive(third), await alive(ada)]).toEqual([false, false, true])
  })

  it('saves the setting for mails about new devices', async () => {
    const notices = page.getByLabel(/^Send me a mail/)
    expect(await notices.isChecked()).toBe(false)
    const sent = page.waitForResponse(answer => answer.url().endsWith('/graphql'))
    await notices.press('Space')
    await sent
    await page.reload()
    await settled(page)
    expect(await page.getByLabel(/^Send me a mail/).isChecked()).toBe(true)
  })

  it('adds a sign-in method, removes it, and keeps the last one', async () => {
    expect(await page.getByRole('button', { name: /^Remove / }).count()).toBe(0)
    await page.getByRole('link', { name: 'Add another' }).click()
    await page.getByRole('link', { name: /^Add / }).click()
    await page.getByLabel('E-mail address', { exact: true }).fill('ada.other@example.com')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: /^Add/ }).click()
    await page.waitForURL(/\/identities$/)
    page = await ada.open('/account/sign-in')
    await listed('Ways to sign in').nth(1).waitFor()
    await page.getByRole('button', { name: /^Remove .*ada\.other@example\.com/ }).click()
    await expectAccessible(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await listed('Ways to sign in').nth(1).waitFor({ state: 'detached' })
    expect(await page.getByRole('button', { name: /^Remove / }).count()).toBe(0)
  })
})

describe('API keys', () => {
  const create = () => page.getByRole('button', { name: 'Create a key' })

  it('shows how to begin when there are no keys', async () => {
    await page.getByRole('link', { name: 'API keys' }).click()
    await heading('No keys yet')
    await expectAccessible(page)
  })

  it('creates a key by keyboard, shows its secret once, and enforces its scopes', async () => {
    await create().focus()
    await page.keyboard.press('Enter')
    await page.getByLabel('Name').waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-account-new-key')
    await page.keyboard.type('Backup of <i>the shop</i>')
    await page.getByLabel('Read files').focus()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await page.keyboard.press('Enter')
    await heading('Your new key')
    await expectAccessible(page)
    const secret = await page.getByLabel('Secret').inputValue()
    // A click outside keeps the dialog open.
    await page.mouse.click(5, 400)
    await ada.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.evaluate(
      'navigator.clipboard.writeText = () => Promise.reject(new Error("refused"))',
    )
    await page.getByRole('button', { name: 'Copy' }).press('Enter')
    await page.getByText('The browser did not allow copying').waitFor()
    await page.evaluate('delete navigator.clipboard.writeText')
    await page.getByRole('button', { name: 'Copy' }).press('Enter')
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret)
    const headers = { 'x-api-key': secret }
    const stranger = await visit(w.browser, w.service.url)
    const files = await stranger.context.request.get(`${w.service.url}/api/files/tree`, { headers })
    expect(files.status()).toBe(200)
    const deletion = await stranger.context.request.post(`${w.service.url}/graphql`, {
      headers,
      data: {
        query:
          'mutation { deleteEntries(input: { entries: [{ at: { path: "notes.txt" } }] }) { __typename } }',
      },
    })
    expect(await deletion.text()).toContain('INSUFFICIENT_SCOPE')
    await page.getByRole('button', { name: 'Done' }).press('Enter')
    const key = listed('API keys').first()
    expect(await key.textContent()).toContain(`…${secret.slice(-4)}`)
    expect(await key.textContent()).toContain('Backup of <i>the shop</i>')
    expect(await key.textContent()).toMatch(/Read filesAdd and change files/)
    expect(await page.content()).not.toContain(secret)
    await expectAccessible(page)
    await pictures(page, 'console-account-keys')
  })

  it('explains invalid input, and allows another try', async () => {
    await create().click()
    await page.getByLabel('Name').fill(' ')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Create a key' }).click()
    await dialog.getByRole('alert').waitFor()
    await expectAccessible(page)
    await page.getByLabel('Name').fill('Second')
    await page.getByLabel('Expires after').selectOption('Never')
    await dialog.getByRole('button', { name: 'Create a key' }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    await listed('API keys').filter({ hasText: 'Second' }).getByText('does not expire').waitFor()
  })

  it('revokes a key after a confirmation', async () => {
    await page.getByRole('button', { name: 'Revoke Second' }).click()
    await expectAccessible(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('Second').waitFor({ state: 'detached' })
    const { me } = await ada.ask<{ me: { apiKeys: { nodes: { name: string }[] } } }>(
      '{ me { apiKeys { nodes { name } } } }',
    )
    expect(me.apiKeys.nodes.map(({ name }) => name)).toEqual(['Backup of <i>the shop</i>'])
    expectQuiet(ada)
  })

  it('shows the WebDAV settings for a device from the account menu', async () => {
    await page.goto(`${w.service.url}/start`)
    await page.getByRole('button', { name: 'Account menu' }).click()
    await page.getByRole('menuitem', { name: 'Connect a device' }).click()
    await page.getByRole('heading', { name: 'Connect a device', level: 1 }).waitFor()
    expect(await page.getByLabel('Address of the server').inputValue()).toBe(w.service.url)
    await page.getByRole('img', { name: `QR code of ${w.service.url}` }).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-connect')
    await page.getByRole('button', { name: 'Create a WebDAV password' }).click()
    const dialog = page.getByRole('dialog')
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Create a password' }).click()
    await heading('Connect your device')
    await page.getByText('Where to enter this').click()
    await expectAccessible(page)
    await pictures(page, 'console-account-connect')
    const [address, user, password] = await Promise.all(
      ['Address', 'User', 'Password'].map(label =>
        page.getByLabel(label, { exact: true }).inputValue(),
      ),
    )
    expect(address).toBe(`${w.service.url}/dav/`)
    expect(await page.locator('pre').textContent()).toContain(
      `url=${address} vendor=owncloud user=${user} pass=${password} --obscure`,
    )
    // The whole value is visible, because it may have to be typed elsewhere.
    const isCut = await page
      .getByLabel('Password', { exact: true })
      .evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    expect(isCut).toBe(false)
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
    const put = await fetch(`${address}files/by-webdav.txt`, {
      method: 'PUT',
      headers: { authorization },
      body: 'x',
    })
    expect(put.status).toBe(201)
    await page.getByRole('button', { name: 'Done' }).click()
    await listed('API keys').filter({ hasText: 'WebDAV' }).getByText('Delete files').waitFor()
    await page.getByRole('button', { name: 'Revoke WebDAV' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('WebDAV').waitFor({ state: 'detached' })
    const refused = await fetch(`${address}files/by-webdav.txt`, { headers: { authorization } })
    expect(refused.status).toBe(401)
    expectQuiet(ada)
  })

  it('keeps the list if it cannot be refetched, and the secret until its dialog is closed', async () => {
    const failure = {
      data: null,
      errors: [{ message: 'Busy.', extensions: { code: 'INTERNAL_ERROR' } }],
    }
    const isList = (body: string | null) => body?.includes('query AccountKeys') ?? false
    await page.route('**/graphql', route =>
      isList(route.request().postData()) ? route.fulfill({ json: failure }) : route.fallback(),
    )
    await create().click()
    await page.getByLabel('Name').fill('Third')
    await page.getByRole('dialog').getByRole('button', { name: 'Create a key' }).click()
    await heading('Your new key')
    const failed = page.waitForResponse(response => isList(response.request().postData()))
    await page.getByRole('button', { name: 'Done' }).click()
    await (await failed).finished()
    await create().click()
    await page.getByLabel('Name').fill('Fourth')
    expect(
      await page
        .getByRole('list', { name: 'API keys', includeHidden: true })
        .locator('> li')
        .allTextContents(),
    ).toEqual([expect.stringContaining('Backup of')])
    expect(await page.getByText('Busy.').count()).toBe(0)
    await page.unroute('**/graphql')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.reload()
    await listed('API keys').filter({ hasText: 'Third' }).waitFor()
  })
})

it('speaks German', async () => {
  const greta = await w.person('greta', { locale: 'de-DE' })
  const german = await greta.open('/account/keys')
  await heading('Noch keine Schlüssel', german)
  await german.getByRole('link', { name: 'Profil und Speicher' }).click()
  await heading('Tarif: Free', german)
  expectQuiet(greta)
})

it('opens in a browser with an invalid language tag', async () => {
  const posix = await w.person('posix')
  await posix.context.addInitScript(
    "Object.defineProperty(Navigator.prototype, 'languages', { get: () => ['en-US@posix'] })",
  )
  const page = await posix.open('/account')
  await heading('Plan: Free', page)
  expect(await page.evaluate('document.documentElement.lang')).toBe('en')
  expectQuiet(posix)
})

it('fits a phone', async () => {
  const dora = await w.person('dora', telephone)
  for (const path of ['/account', '/account/sign-in', '/account/keys']) {
    const small = await dora.open(path)
    await title(small)
    expect(await small.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await expectAccessible(small)
    await pictures(small, `console${path.replaceAll('/', '-')}-telephone`)
  }
})

describe('Deleting an account', () => {
  it('is refused while a workspace would be left without an owner, and names the workspace', async () => {
    const olivia = await w.person('olivia')
    const { createWorkspace } = await olivia.ask<{
      createWorkspace: { workspace: { id: string } }
    }>('mutation { createWorkspace(input: { name: "Choir" }) { workspace { id } } }')
    const { createInvite } = await olivia.ask<{ createInvite: { invite: { id: string } } }>(
      'mutation ($id: ID!) { createInvite(input: { workspace: $id, email: "pia@example.com", role: EDITOR }) { invite { id } } }',
      { id: createWorkspace.workspace.id },
    )
    const pia = await w.person('pia')
    const { me } = await pia.ask<{ me: { invites: { nodes: { id: string; token: string }[] } } }>(
      '{ me { invites { nodes { id token } } } }',
    )
    const invite = me.invites.nodes.find(({ id }) => id === createInvite.invite.id)
    await pia.ask(
      'mutation ($token: String!) { acceptInvite(input: { token: $token }) { acceptedId } }',
      {
        token: invite?.token,
      },
    )

    const one = await olivia.open('/account')
    await one.getByRole('button', { name: 'Delete the account…' }).click()
    const dialog = one.getByRole('dialog')
    const go = dialog.getByRole('button', { name: 'Delete permanently' })
    expect(await go.isDisabled()).toBe(true)
    await dialog.getByLabel('Type olivia@example.com').fill('olivia@example.com')
    await expectAccessible(one)
    await pictures(one, 'console-account-delete')
    await go.click()
    expect(await dialog.getByRole('alert').textContent()).toContain('Choir')
    expect((await olivia.context.request.get(`${w.service.url}/api/user/data`)).ok()).toBe(true)
  })

  it('needs the typed email address, and keeps the files for a return', async () => {
    const ulla = await w.person('ulla')
    await ulla.upload('kept.txt', 'mine')
    const one = await ulla.open('/account')
    await one.getByRole('button', { name: 'Delete the account…' }).click()
    await one.getByLabel('Keep them for a while').check()
    await one.getByLabel('Type ulla@example.com').fill('Ulla@example.com')
    await one.getByRole('button', { name: 'Delete permanently' }).click()
    await heading('Your account is deleted', one)
    await one.getByText('Sign in with the same verified address').waitFor()
    const days =
      (Date.parse(new URL(one.url()).searchParams.get('kept') ?? '') - Date.now()) / 86_400_000
    expect(Math.round(days)).toBe(30)
    await expectAccessible(one)
    await pictures(one, 'account-deleted-kept')
    await signIn(ulla, w.service.url, 'ulla@example.com', '/files')
    await rowOf('kept.txt', one).waitFor()
  })

  it('takes five steps with all files, which arrive as a ZIP beside the account data', async () => {
    const vera = await w.person('vera', { acceptDownloads: true })
    await vera.upload('letters/one.txt', 'mine')
    await vera.upload('two.txt', 'mine, too')
    const one = await vera.open('/files')
    const hands = new Hands()
    const downloads: string[] = []
    const archives: Promise<Buffer>[] = []
    one.on('download', download => {
      downloads.push(download.suggestedFilename())
      if (download.suggestedFilename().endsWith('.zip'))
        archives.push(download.path().then(path => readFile(path)))
    })
    await hands.click(one.getByRole('button', { name: 'Account menu' }))
    await hands.click(one.getByRole('menuitem', { name: 'Account' }))
    await hands.click(one.getByRole('button', { name: 'Download everything' }))
    await one.getByText('Your files are being downloaded as one ZIP archive.').waitFor()
    await expectAccessible(one)
    await pictures(one, 'console-account-everything')
    await eventually(async () => expect(downloads).toHaveLength(2), 60_000)
    const found = await readZip((await archives[0]) ?? Buffer.alloc(0))
    expect(found.get('letters/one.txt')?.text).toBe('mine')
    expect(found.get('two.txt')?.text).toBe('mine, too')
    await hands.click(one.getByRole('button', { name: 'Delete the account…' }))
    await one.getByLabel('Type vera@example.com').fill('vera@example.com')
    await hands.click(one.getByRole('button', { name: 'Delete permanently' }))
    await heading('Your account is deleted', one)
    await one.getByText('Your files are deleted, too.').waitFor()
    await pictures(one, 'account-deleted')
    expect(hands.count).toBe(5)
  })
})
