import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Locator, Page } from 'playwright-core'
import { type Db, openDatabase } from '../../db/index.ts'
import { until } from '../support/until.ts'
import { readZip } from '../support/zip-reader.ts'
import {
  type ConsoleWorld,
  expectAccessible,
  expectQuiet,
  type Person,
  pictures,
  rowOf,
  startConsole,
  telephone,
} from './console.ts'

let w: ConsoleWorld
let alice: Person
let bob: Person
let db: Db
let page: Page

const HOSTILE = `<img src=x onerror="document.title='pwned'">.txt`

beforeAll(async () => {
  w = await startConsole()
  db = openDatabase(
    { dialect: 'sqlite', file: join(w.service.dataDir, 'satchel.sqlite') },
    { pool: 1 },
  )
  alice = await w.person('alice')
  bob = await w.person('bob')
  await alice.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await alice.upload('Trips/plan.md', '# Plan', 'text/markdown')
  await alice.upload('budget.csv', 'a,b', 'text/csv')
  await alice.upload('notes.txt', 'one')
}, 120_000)
afterAll(async () => {
  await db?.close()
  await w?.stop()
})

const row = (name: string, on = page) => rowOf(name, on)
const sheet = (on = page) => on.getByRole('dialog', { name: /^Share / })
const item = (text: string | RegExp, on = page) =>
  on.getByRole('listitem').filter({ hasText: text })
const said = (text: string | RegExp, on = page) => on.getByRole('status').getByText(text).waitFor()
const copied = () => page.evaluate('navigator.clipboard.readText()') as Promise<string>

interface Made {
  id: string
  token: string
  url: string
  maxDownloads: number | null
  passwordProtected: boolean
  expiresAt: string
  recipient?: string
}

/** Alice's shares according to the service, newest first. */
async function sharesOf(who = alice): Promise<Made[]> {
  const { me } = await who.ask<{
    me: { shares: { nodes: Made[] } }
  }>(`{ me { shares(newestFirst: true) { nodes {
    id url token maxDownloads passwordProtected expiresAt ... on DirectShare { recipient } } } } }`)
  return me.shares.nodes
}

const two = (part: number) => String(part).padStart(2, '0')
const days = ({ expiresAt }: Made) => Math.round((Date.parse(expiresAt) - Date.now()) / 86_400_000)

/** The page of the last share with this name that Bob received. */
async function pageOf(name: string): Promise<string> {
  const { me } = await bob.ask<{
    me: { receivedShares: { nodes: { url: string; fileName: string }[] } }
  }>('{ me { receivedShares(newestFirst: true) { nodes { url fileName } } } }')
  return me.receivedShares.nodes.find(({ fileName }) => fileName === name)?.url ?? ''
}

/** The id of a person's file. */
async function idOf(path: string, who = alice): Promise<string> {
  const { me } = await who.ask<{ me: { drive: { entry: { id: string } } } }>(
    'query ($path: String!) { me { drive { entry(path: $path) { id } } } }',
    { path },
  )
  return me.drive.entry.id
}

const createLink = async (path: string, terms: object = {}, who = alice): Promise<Made> => {
  const input = { entries: { id: await idOf(path, who) }, ...terms }
  const { createLink } = await who.ask<{ createLink: { share: Made } }>(
    'mutation ($input: CreateLinkInput!) { createLink(input: $input) { share { id url token } } }',
    { input },
  )
  return createLink.share
}

const send = async (path: string, terms: object = {}, to = bob, who = alice) =>
  who.ask(
    'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { mail } }',
    {
      input: { entries: [{ id: await idOf(path, who) }], email: to.email, ...terms },
    },
  )

/** Advances the clock for share uses, which are shown after ten seconds. */
const tenSecondsLater = () => db.run('UPDATE share_event SET at = at - 10000')
const expire = ({ id }: { id: string }) =>
  db.run('UPDATE share SET expires_at = ? WHERE id = ?', [Date.now() - 3 * 86_400_000, id])
const openLink = (token: string, password?: string) =>
  bob.ask('mutation ($input: OpenShareInput!) { openShare(input: $input) { download { url } } }', {
    input: { token, password },
  })
/** Waits for the effect of an event. A page that was not subscribed yet sees the next event. */
async function untilShown(what: Locator, again: () => Promise<unknown>): Promise<void> {
  const isShown = () =>
    what.waitFor({ timeout: 5000 }).then(
      () => true,
      () => false,
    )
  while (!(await isShown())) await again()
}

describe('With a mouse', () => {
  it('creates a link with password, expiry and download limit, and copies it', async () => {
    page = await alice.open('/files')
    await row('notes').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Share' }).click()
    await sheet().getByRole('heading', { name: 'Share “notes.txt”' }).waitFor()
    await expectAccessible(page)
    await sheet().getByLabel('Ends').selectOption('After 30 days')
    await sheet().getByLabel('Password').fill('open sesame')
    await sheet().getByText('More options').click()
    await sheet().getByLabel('Maximum downloads').fill('3')
    await sheet().getByRole('button', { name: 'Create link' }).click()
    await said('Link created and copied')
    await item('Everyone with the link').getByText('0 of 3 downloads').waitFor()
    const [made] = await sharesOf()
    expect(made).toMatchObject({ maxDownloads: 3, passwordProtected: true, url: await copied() })
    expect(made && days(made)).toBe(30)
    await expectAccessible(page)
    await pictures(page, 'console-share-sheet')
  })

  it('shows how it was used, and its QR code', async () => {
    const [{ token }] = (await sharesOf()) as [Made]
    await openLink(token, 'open sesame')
    await tenSecondsLater()
    page = await alice.open('/files')
    await row('notes').click()
    await page.getByRole('toolbar').getByRole('button', { name: 'Share' }).click()
    await item('Everyone with the link').getByText('1 of 3 downloads').waitFor()
    await item('Everyone with the link')
      .getByText(/^downloaded/)
      .waitFor()
    await sheet().getByRole('button', { name: 'Actions for Everyone' }).click()
    await page.getByRole('menuitem', { name: 'How it was used' }).click()
    const uses = page.getByRole('dialog', { name: 'How it was used' })
    await uses.getByText('Downloaded · bob').waitFor()
    await uses.getByRole('img', { name: /^On the last 30 days: .*downloaded once/ }).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-share-uses')
    await uses.getByRole('button', { name: 'Close' }).click()
    await sheet().getByRole('button', { name: 'Actions for Everyone' }).click()
    await page.getByRole('menuitem', { name: 'QR code' }).click()
    await page.getByRole('img', { name: /^QR code of http.*\/share\// }).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-share-code')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'QR code' }).waitFor({ state: 'detached' })
    await sheet().waitFor()
  })

  it('edits it in the list, and keeps its URL', async () => {
    const [before] = (await sharesOf()) as [Made]
    await sheet().getByRole('button', { name: 'Actions for Everyone' }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    const edit = page.getByRole('dialog', { name: 'Edit this share' })
    await edit.getByLabel('Maximum downloads').fill('1')
    await edit.getByRole('button', { name: 'Save' }).click()
    await edit.getByRole('alert').getByText('It has already been downloaded').waitFor()
    await edit.getByLabel('Maximum downloads').fill('')
    await edit.getByLabel('Ends').selectOption('Never')
    await edit.getByLabel('Label').fill('For the adviser')
    await edit.getByLabel('Access').selectOption('Can view')
    await edit.getByLabel('E-mail me').check()
    await edit.getByRole('button', { name: 'Save' }).click()
    await edit.waitFor({ state: 'detached' })
    const line = item('Everyone with the link')
    for (const said of ['For the adviser', 'Can view', 'Never ends'])
      await line.getByText(said).waitFor()
    const [after] = (await sharesOf()) as [Made]
    expect(after).toMatchObject({
      id: before.id,
      url: before.url,
      maxDownloads: null,
      expiresAt: null,
    })
    expect(after.passwordProtected).toBe(true)
    // Back to the list, without a password.
    await sheet().getByRole('button', { name: 'Actions for Everyone' }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    expect(await edit.getByLabel('E-mail me').isChecked()).toBe(true)
    await edit.getByLabel('Ask for a password').uncheck()
    await edit.getByLabel('Access').selectOption('Can download')
    await edit.getByRole('button', { name: 'Save' }).click()
    await line.getByText('Can view').waitFor({ state: 'detached' })
    expect((await sharesOf())[0]?.passwordProtected).toBe(false)
  })

  it('revokes it after a confirmation, and the link stops working', async () => {
    const [{ token }] = (await sharesOf()) as [Made]
    const revoke = async () => {
      await sheet().getByRole('button', { name: 'Actions for Everyone' }).click()
      await page.getByRole('menuitem', { name: 'Revoke' }).click()
    }
    await revoke()
    const confirm = page.getByRole('dialog', { name: 'Revoke this share?' })
    await confirm.getByRole('button', { name: 'Cancel' }).click()
    await confirm.waitFor({ state: 'detached' })
    expect(await sharesOf()).toHaveLength(1)
    await revoke()
    await expectAccessible(page)
    await confirm.getByRole('button', { name: 'Revoke' }).click()
    await item('Everyone with the link').waitFor({ state: 'detached' })
    await said('Revoked')
    expect(await sharesOf()).toEqual([])
    await expect(openLink(token)).rejects.toThrow('SHARE_NOT_FOUND')
  })

  it('shares with a person until a date, and renews the share from the details', async () => {
    const people = sheet()
    const inTwoDays = new Date(Date.now() + 2 * 86_400_000)
    const local = (date: Date) =>
      `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
    await people.getByLabel('E-mail address').fill(bob.email)
    await people.getByLabel('Ends').selectOption('On a day…')
    await people.getByLabel('Last day').fill(local(inTwoDays))
    await people.getByText('More options').click()
    await people.getByLabel('Password').fill('open sesame')
    await people.getByLabel('Notify them by e-mail').uncheck()
    await people.getByRole('button', { name: 'Share', exact: true }).click()
    await said(`Shared with ${bob.email}.`)
    await item(bob.email).getByText('not opened yet').waitFor()
    const [made] = (await sharesOf()) as [Made]
    expect(made.recipient).toBe(bob.email)
    expect(local(new Date(Date.parse(made.expiresAt) - 120_000))).toBe(local(inTwoDays))
    await people.getByRole('button', { name: `Actions for ${bob.email}` }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    const edit = page.getByRole('dialog', { name: 'Edit this share' })
    await edit.getByLabel('Ends').selectOption('After 1 year')
    await edit.getByLabel('Ask for a password').uncheck()
    await expectAccessible(page)
    await pictures(page, 'console-share-edit')
    await edit.getByRole('button', { name: 'Save' }).click()
    await edit.waitFor({ state: 'detached' })
    await item(bob.email)
      .getByText(/^Ends (in 12 months|next year|in 1 year)/)
      .waitFor()
    expect(await sharesOf()).toHaveLength(1)
    await sheet().getByRole('button', { name: 'Close' }).first().click()
    await page.getByRole('button', { name: 'Details' }).click()
    await page.getByRole('complementary', { name: 'Details' }).getByText(bob.email).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-share-details')
    await page
      .getByRole('complementary', { name: 'Details' })
      .getByRole('button', { name: 'Share…' })
      .click()
    await sheet().getByRole('button', { name: 'Close' }).first().click()
    await page.getByRole('button', { name: 'Close the details' }).click()
  })

  it('uses a password that was typed, or explains why not', async () => {
    await row('budget').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Share' }).click()
    await sheet().getByLabel('Password').fill('open sesame')
    // What was typed stays when a person is named.
    await sheet().getByLabel('E-mail address').fill('carol@example.com')
    await sheet().getByText('Only the owner of this address can open it').waitFor()
    expect(await sheet().getByLabel('Password').inputValue()).toBe('open sesame')
    await sheet().getByLabel('Access').selectOption('Can edit')
    await sheet()
      .getByText('The password you typed will not be used: people who edit sign in.')
      .waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-share-password-unused')
    await sheet().getByLabel('Access').selectOption('Can view')
    await sheet().getByRole('button', { name: 'Share', exact: true }).click()
    await said(/^Shared with carol@example.com/)
    expect((await sharesOf())[0]).toMatchObject({
      recipient: 'carol@example.com',
      passwordProtected: true,
    })
    await sheet().getByRole('button', { name: 'Create link' }).waitFor()
    await sheet().getByLabel('Access').selectOption('Can view')
    await sheet().getByLabel('E-mail address').fill('carol@example.com')
    await sheet().getByLabel('Access').selectOption('Can edit')
    // Without the address, it is a link that cannot be edited.
    await sheet().getByLabel('E-mail address').fill('')
    await sheet().getByLabel('Password').fill('open sesame')
    await sheet().getByRole('button', { name: 'Create link' }).click()
    await said('Link created and copied')
    const [made] = (await sharesOf()) as [Made]
    expect(made).toMatchObject({ passwordProtected: true })
    expect(made.recipient).toBeUndefined()
    for (const { id } of (await sharesOf()).slice(0, 2))
      await alice.ask(
        'mutation ($input: RevokeShareInput!) { revokeShare(input: $input) { revokedId } }',
        { input: { share: { id } } },
      )
    await sheet().getByRole('button', { name: 'Close' }).first().click()
  })

  it('creates a link from the menu with two clicks, which can be undone', async () => {
    page = await alice.open('/files')
    await row('Trips').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Copy a public link' }).click()
    await said('Link created and copied. It ends in 7 days.')
    const [made] = (await sharesOf()) as [Made]
    expect(made.url).toBe(await copied())
    expect(days(made)).toBe(7)
    await page.getByRole('button', { name: 'Undo' }).click()
    await said('Revoked')
    expect((await sharesOf()).map(({ id }) => id)).not.toContain(made.id)
  })

  it('explains in the sheet why it cannot share', async () => {
    await row('notes').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Share' }).click()
    await sheet().getByLabel('E-mail address').fill(alice.email)
    await sheet().getByRole('button', { name: 'Share', exact: true }).click()
    await sheet().getByRole('alert').getByText('This is your own e-mail address.').waitFor()
    await expectAccessible(page)
    expectQuiet(alice)
  })
})

describe('Shared by me', () => {
  it('lists shares by kind, with links to file and share sheet', async () => {
    await createLink('Trips/plan.md')
    page = await alice.open('/links')
    expect(await page.title()).toBe('Shared by me · Satchel')
    await item('plan.md').getByText('Everyone with the link').waitFor()
    await item('notes.txt').filter({ hasText: bob.email }).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-links')
    await page.getByRole('button', { name: 'Links', exact: true }).click()
    await item('notes.txt').first().waitFor({ state: 'detached' })
    await page.reload()
    await item('plan.md').waitFor()
    expect(await item('notes.txt').count()).toBe(0)
    await page.getByRole('button', { name: 'Copy the link' }).click()
    await said('Link copied')
    expect(await copied()).toBe((await sharesOf())[0]?.url)
    await page.getByRole('button', { name: 'plan.md' }).click()
    await sheet().getByRole('button', { name: 'Create link' }).click()
    await said('Link created and copied')
    await sheet().getByRole('button', { name: 'Close' }).first().click()
    await page.getByRole('listitem').filter({ hasText: 'plan.md' }).nth(1).waitFor()
    await page.getByRole('button', { name: 'Actions for Everyone' }).first().click()
    await page.getByRole('menuitem', { name: 'Show in its folder' }).click()
    await page.waitForURL(/\/files\/Trips\?/)
    await row('plan').waitFor()
    expectQuiet(alice)
  })

  it('finds shares by name and person, and ends several at once', async () => {
    const carol = { email: 'carol@example.com' } as Person
    const kept = await createLink('Trips/plan.md')
    await send('budget.csv', {}, carol)
    await send('Trips/plan.md', {}, carol)
    page = await alice.open('/links')
    await page.getByRole('searchbox', { name: 'Find a share' }).fill('BUDG')
    await item('plan.md').first().waitFor({ state: 'detached' })
    await item('budget.csv').getByText(carol.email).waitFor()
    await page.getByRole('searchbox', { name: 'Find a share' }).fill('nothing like it')
    await page.getByRole('heading', { name: 'No share found' }).waitFor()
    await page.getByRole('searchbox', { name: 'Find a share' }).fill('')
    await page.getByRole('combobox', { name: 'Person' }).selectOption(carol.email)
    const lines = page.getByRole('list', { name: 'Shared by me' }).getByRole('listitem')
    await until(async () => (await lines.count()) === 2)
    await item('plan.md').getByText(carol.email).waitFor()
    await page.getByRole('checkbox', { name: /^Select budget.csv/ }).check()
    await page.getByText('1 share selected').waitFor()
    await page.getByRole('checkbox', { name: 'Select all' }).click()
    await page.getByText('2 shares selected').waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-links-selected')
    await page.getByRole('button', { name: 'End sharing' }).click()
    const confirm = page.getByRole('dialog', { name: 'End 2 shares?' })
    await expectAccessible(page)
    await confirm.getByRole('button', { name: 'End sharing' }).click()
    await said('2 shares ended')
    await page.getByRole('heading', { name: 'No share found' }).waitFor()
    const left = await sharesOf()
    expect(left.map(({ recipient }) => recipient)).not.toContain(carol.email)
    expect(left.map(({ id }) => id)).toContain(kept.id)
    await page.getByRole('combobox', { name: 'Person' }).selectOption('All people')
    await item('plan.md').first().waitFor()
    await alice.ask(
      'mutation ($input: RevokeShareInput!) { revokeShare(input: $input) { revokedId } }',
      { input: { share: { id: kept.id } } },
    )
    expectQuiet(alice)
  })

  it('lists ended shares separately, and removes them', async () => {
    for (const made of (await sharesOf()).filter(({ recipient }) => !recipient)) await expire(made)
    const used = await createLink('budget.csv', { maxDownloads: 1 })
    await openLink(used.token)
    page = await alice.open('/links')
    await item(bob.email).waitFor()
    expect(await page.getByText('Everyone with the link').count()).toBe(0)
    await page.getByRole('button', { name: 'Ended' }).click()
    await item('budget.csv').getByText('Download limit reached').waitFor()
    await item('plan.md').getByText('Expired 3 days ago').first().waitFor()
    expect(await page.getByRole('button', { name: 'Copy the link' }).count()).toBe(0)
    await expectAccessible(page)
    await pictures(page, 'console-links-ended')
    await item('budget.csv').getByRole('button', { name: 'Actions' }).click()
    await page.getByRole('menuitem', { name: 'Remove from the list' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await item('budget.csv').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'People', exact: true }).click()
    await page.getByRole('heading', { name: 'Nothing has ended' }).waitFor()
    await expectAccessible(page)
  })
})

describe('A file with many shares', () => {
  it('shows the newest shares, loads others on demand, and revokes one of those', async () => {
    const mia = await w.person('mia')
    await mia.upload('many.txt', 'many')
    await send('many.txt', { email: 'carol@example.com' }, bob, mia)
    for (let i = 0; i < 105; i++) await createLink('many.txt', { maxDownloads: 1000 + i }, mia)
    page = await mia.open('/files')
    await row('many').click()
    await page.getByRole('toolbar').getByRole('button', { name: 'Share' }).click()
    const links = sheet().getByRole('list', { name: 'Links' }).getByRole('listitem')
    await links.first().getByText('0 of 1,104 downloads').waitFor()
    expect(await links.count()).toBe(100)
    // The share with a person stays on top, however many links are newer.
    await item('carol@example.com').waitFor()
    await sheet().getByRole('button', { name: 'Show more' }).click()
    await links.nth(104).getByText('0 of 1,000 downloads').waitFor()
    expect(await sheet().getByRole('button', { name: 'Show more' }).count()).toBe(0)
    await expectAccessible(page)
    await links.nth(104).getByRole('button', { name: 'Actions for Everyone' }).click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    await page
      .getByRole('dialog', { name: 'Revoke this share?' })
      .getByRole('button', { name: 'Revoke' })
      .click()
    await links.nth(104).waitFor({ state: 'detached' })
    await links.nth(103).getByText('0 of 1,001 downloads').waitFor()
    await sheet().getByRole('button', { name: 'Create link' }).click()
    await links.first().getByText('0 downloads').waitFor()
    await links.nth(104).getByText('0 of 1,001 downloads').waitFor()
    expectQuiet(mia)
  })

  it('shows the last uses of a share, and loads others on demand', async () => {
    const ole = await w.person('ole')
    await ole.upload('often.txt', 'often')
    const { token } = await createLink('often.txt', {}, ole)
    for (let i = 0; i < 103; i++) await openLink(token)
    await tenSecondsLater()
    page = await ole.open('/files')
    await row('often').click()
    await page.getByRole('toolbar').getByRole('button', { name: 'Share' }).click()
    await sheet().getByRole('button', { name: 'Actions for Everyone' }).click()
    await page.getByRole('menuitem', { name: 'How it was used' }).click()
    const uses = page.getByRole('dialog', { name: 'How it was used' })
    const lines = uses.locator('.share-uses > li')
    await lines.nth(99).waitFor()
    expect(await lines.count()).toBe(100)
    await uses.getByRole('button', { name: 'Show more' }).click()
    await lines.nth(102).waitFor()
    expect(await uses.getByRole('button', { name: 'Show more' }).count()).toBe(0)
    await expectAccessible(page)
    expectQuiet(ole)
  })

  it('updates the uses of a share in the open sheet', async () => {
    const nora = await w.person('nora')
    await nora.upload('used.txt', 'used')
    const { token } = await createLink('used.txt', {}, nora)
    page = await nora.open('/files')
    await row('used').click()
    await page.getByRole('toolbar').getByRole('button', { name: 'Share' }).click()
    await item('Everyone with the link').getByText('0 downloads').waitFor()
    await openLink(token)
    await tenSecondsLater()
    await item('Everyone with the link').getByText('1 download', { exact: true }).waitFor()
    await item('Everyone with the link')
      .getByText(/^downloaded/)
      .waitFor()
    expectQuiet(nora)
  })
})

describe('Side by side', () => {
  let theirs: Page

  it('appears immediately on every screen of the recipient', async () => {
    theirs = await bob.open('/shared')
    await item('notes.txt', theirs).getByText('New').waitFor()
    await theirs.getByRole('link', { name: 'Shared with me 1 new' }).waitFor()
    page = await alice.open('/files')
    await row('budget').click()
    await page.getByRole('toolbar').getByRole('button', { name: 'Share' }).click()
    await sheet().getByLabel('E-mail address').fill(bob.email)
    await sheet().getByRole('button', { name: 'Share', exact: true }).click()
    await said(/^Shared with bob@example.com/)
    await untilShown(item('budget.csv', theirs), () => send('budget.csv'))
    await theirs.getByRole('link', { name: 'Shared with me 2 new' }).waitFor()
    await said('alice has shared “budget.csv” with you', theirs)
    await expectAccessible(theirs)
    await pictures(theirs, 'console-received')
  })

  it('can be viewed and downloaded, and then no longer counts as new', async () => {
    await theirs.getByRole('button', { name: 'notes.txt', exact: true }).click()
    const viewer = theirs.getByRole('dialog', { name: 'notes.txt' })
    await viewer.getByText('one').waitFor()
    await expectAccessible(theirs)
    await viewer.getByRole('button', { name: 'Close' }).click()
    await theirs.getByRole('link', { name: 'Shared with me 1 new' }).waitFor()
    await item('notes.txt', theirs).getByText('New').waitFor({ state: 'detached' })
    await theirs.getByRole('button', { name: 'New', exact: true }).click()
    await item('notes.txt', theirs).waitFor({ state: 'detached' })
    const [file] = await Promise.all([
      theirs.waitForEvent('download'),
      item('budget.csv', theirs).getByRole('button', { name: 'Download' }).click(),
    ])
    expect(file.suggestedFilename()).toBe('budget.csv')
    expect(readFileSync(await file.path(), 'utf8')).toBe('a,b')
    await theirs.getByRole('link', { name: 'Shared with me', exact: true }).waitFor()
  })

  it('asks for a password until it is correct', async () => {
    await send('Trips/plan.md', { password: 'right' })
    theirs = await bob.open('/shared')
    await theirs.getByRole('button', { name: 'plan.md', exact: true }).click()
    const dialog = theirs.getByRole('dialog', { name: 'This file has a password' })
    await dialog.getByLabel('Password').fill('wrong')
    await theirs.keyboard.press('Enter')
    await dialog.getByRole('alert').getByText('This is not the password').waitFor()
    await expectAccessible(theirs)
    await dialog.getByLabel('Password').fill('right')
    await dialog.getByRole('button', { name: 'Open' }).click()
    await theirs
      .getByRole('dialog', { name: 'plan.md' })
      .getByRole('heading', { name: 'Plan' })
      .waitFor()
    await theirs.keyboard.press('Escape')
    await theirs.getByRole('dialog').waitFor({ state: 'detached' })
  })

  it('reports that a share was revoked meanwhile', async () => {
    page = await alice.open('/links')
    await item('budget.csv')
      .filter({ hasText: bob.email })
      .getByRole('button', { name: 'Actions' })
      .click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await item('budget.csv').filter({ hasText: bob.email }).waitFor({ state: 'detached' })
    await item('budget.csv', theirs).getByRole('button', { name: 'Download' }).click()
    await said(/^This link does not work: the share was revoked/, theirs)
    expectQuiet(alice)
    expectQuiet(bob)
  })
})

describe('By keyboard alone', () => {
  it('shares a file, and returns to it', async () => {
    page = await alice.open('/files')
    await row('budget').waitFor()
    await page.keyboard.press('Tab')
    await page.getByRole('grid').focus()
    await page.keyboard.type('notes')
    await page.keyboard.press('Alt+s')
    await sheet().getByLabel('E-mail address').waitFor()
    await page.keyboard.type('dora@example.com')
    await page.keyboard.press('Enter')
    await said(/^Shared with dora@example.com/)
    await page.keyboard.press('Escape')
    await sheet().waitFor({ state: 'detached' })
    expect((await sharesOf()).map(({ recipient }) => recipient)).toContain('dora@example.com')
    await page.locator('[role=grid]:focus, [role=grid] :focus').waitFor()
    await page.keyboard.press('F2')
    await page.getByLabel('New name').waitFor()
    await page.keyboard.press('Escape')
  })
})

describe('On a phone', () => {
  it('shares, copies and revokes by touch', async () => {
    const erna = await w.person('erna', telephone)
    await erna.upload('a rather long name of a photo that was taken in summer.txt', 'photo')
    await createLink('a rather long name of a photo that was taken in summer.txt', {}, erna)
    await send('notes.txt', {}, erna)
    const theirs = await erna.open('/links')
    await theirs.getByRole('button', { name: /^a rather long name/ }).tap()
    await sheet(theirs).getByRole('button', { name: 'Create link' }).tap()
    await sheet(theirs).getByRole('listitem').nth(1).waitFor()
    await sheet(theirs).getByRole('heading').first().scrollIntoViewIfNeeded()
    // A message at the top does not cover the title of the sheet.
    const toast = await theirs.locator('.toast').boundingBox()
    const below = (toast?.y ?? 0) + (toast?.height ?? 0)
    await until(
      async () =>
        ((await sheet(theirs).getByRole('heading').first().boundingBox())?.y ?? 0) > below,
    )
    await expectAccessible(theirs)
    await pictures(theirs, 'console-share-sheet-telephone')
    expect(await theirs.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await sheet(theirs).getByRole('button', { name: 'Close' }).first().tap()
    await sheet(theirs).waitFor({ state: 'detached' })
    await item('a rather long name', theirs).nth(1).waitFor()
    await expectAccessible(theirs)
    await pictures(theirs, 'console-links-telephone')
    expect(await theirs.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await theirs.getByRole('button', { name: 'Actions for Everyone' }).first().tap()
    await theirs.getByRole('menuitem', { name: 'Revoke' }).tap()
    await theirs.getByRole('dialog').getByRole('button', { name: 'Revoke' }).tap()
    await item('a rather long name', theirs).nth(1).waitFor({ state: 'detached' })
    expect(await sharesOf(erna)).toHaveLength(1)
    const long = 'What was agreed upon at the meeting of the committee in autumn.txt'
    await alice.upload(long, 'x')
    await send(long, {}, erna)
    await erna.open('/shared')
    await item('notes.txt', theirs).waitFor()
    // A name with several lines does not wrap inside its checkbox column.
    const mark = item(long, theirs).getByText('New', { exact: true })
    expect((await mark.boundingBox())?.height).toBeLessThan(30)
    await expectAccessible(theirs)
    await pictures(theirs, 'console-received-telephone')
    expect(await theirs.evaluate('document.documentElement.scrollWidth')).toBe(390)
    expectQuiet(erna)
  })
})

describe('An error on a phone', () => {
  it('does not cover the title of a sheet or dialog, or the field of the palette', async () => {
    const ivy = await w.person('ivy', telephone)
    await ivy.upload('herbs.txt', 'sage')
    await createLink('herbs.txt', {}, ivy)
    const theirs = await ivy.open('/links')
    const message = `The service could not revoke this share. ${'Try again in a few minutes. '.repeat(6)}`
    await theirs.route('**/graphql', route =>
      route.request().postData()?.includes('mutation RevokeShare')
        ? route.fulfill({ json: { errors: [{ message, extensions: { code: 'INTERNAL_ERROR' } }] } })
        : route.fallback(),
    )
    const fail = async () => {
      await theirs.getByRole('button', { name: 'Actions for Everyone' }).last().tap()
      await theirs.getByRole('menuitem', { name: 'Revoke' }).tap()
      await theirs
        .getByRole('dialog', { name: 'Revoke this share?' })
        .getByRole('button', { name: 'Revoke' })
        .tap()
      await theirs.locator('.toast.error').waitFor()
    }
    const expectBelow = async (what: Locator) => {
      await what.waitFor()
      await until(async () => {
        const [box, toast] = await Promise.all(
          [what, theirs.locator('.toast.error')].map(one => one.boundingBox()),
        )
        return box && toast && box.y > toast.y + toast.height
      }, 5000)
    }
    await theirs.getByRole('button', { name: /^herbs/ }).tap()
    await sheet(theirs).getByRole('listitem').first().waitFor()
    await fail()
    await expectBelow(sheet(theirs).getByRole('heading').first())
    await pictures(theirs, 'console-error-above-sheet-telephone')
    await sheet(theirs).getByRole('button', { name: 'Close' }).first().tap()
    await sheet(theirs).waitFor({ state: 'detached' })
    await fail()
    await theirs.getByRole('button', { name: 'Search and commands' }).tap()
    await expectBelow(theirs.getByRole('dialog').getByRole('searchbox'))
    await pictures(theirs, 'console-error-above-palette-telephone')
    await ivy.context.close()
  })
})

describe('A hostile name', () => {
  it('is shown as plain text in the sheet, the lists, the toast and the viewer', async () => {
    const [frank, gina] = [await w.person('frank'), await w.person('gina')]
    await frank.upload('file.txt', 'harmless')
    await frank.ask(
      'mutation ($input: MoveEntriesInput!) { moveEntries(input: $input) { entries { id } } }',
      {
        input: { entries: [{ id: await idOf('file.txt', frank) }], name: HOSTILE },
      },
    )
    const page = await frank.open('/files')
    await page.getByRole('row').filter({ hasText: HOSTILE }).click()
    await page.getByRole('toolbar').getByRole('button', { name: 'Share' }).click()
    await page.getByRole('dialog').getByRole('heading', { name: HOSTILE }).waitFor()
    await sheet(page).getByRole('button', { name: 'Create link' }).click()
    await item('Everyone with the link', page).waitFor()
    await frank.open('/links')
    await page.getByRole('button', { name: HOSTILE }).waitFor()
    const theirs = await gina.open('/shared')
    await untilShown(item(HOSTILE, theirs), () => send(HOSTILE, {}, gina, frank))
    await theirs.getByRole('button', { name: HOSTILE, exact: true }).click()
    await theirs.getByRole('dialog').getByText('harmless').waitFor()
    expect(await page.title()).toBe('Shared by me · Satchel')
    expect(await theirs.title()).toBe(`${HOSTILE} · Satchel`)
    expect(await theirs.locator('img').count()).toBe(0)
    expectQuiet(frank)
    expectQuiet(gina)
  })
})

describe('In a workspace', () => {
  it('shares its files with people outside', async () => {
    type Made = { createWorkspace: { workspace: { id: string; slug: string } } }
    const { createWorkspace } = await alice.ask<Made>(
      'mutation { createWorkspace(input: { name: "Garden" }) { workspace { id slug } } }',
    )
    const { id, slug } = createWorkspace.workspace
    const file = { name: 'beds.txt', mimeType: 'text/plain', buffer: Buffer.from('roses') }
    const multipart = { folder: '', file }
    const url = `${w.service.url}/api/workspaces/${id}/files/upload`
    expect((await alice.context.request.post(url, { multipart })).ok()).toBe(true)
    page = await alice.open(`/workspaces/${slug}/files?details=true`)
    await row('beds').click()
    await page.getByRole('complementary', { name: 'Details' }).getByText('text/plain').waitFor()
    await row('beds').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Share' }).click()
    await sheet().getByRole('button', { name: 'Create link' }).click()
    await said('Link created and copied')
    const link = await copied()
    await sheet()
      .getByRole('listitem')
      .filter({ hasText: 'Everyone with the link' })
      .getByText('not opened yet')
      .waitFor()
    await expectAccessible(page)
    await page.goto(link)
    await page.getByRole('heading', { name: 'beds.txt' }).waitFor()
    page = await alice.open('/links')
    await item('beds.txt').getByRole('button', { name: 'Actions' }).click()
    await page.getByRole('menuitem', { name: 'Show in its folder' }).click()
    await page.waitForURL(`**/workspaces/${slug}/files**`)
    await row('beds').waitFor()
  })
})

describe('A folder', () => {
  it('is shared by a link, whose page lists its contents', async () => {
    page = await alice.open('/files')
    await row('Trips').click()
    await page.getByRole('toolbar').getByRole('button', { name: 'Share' }).click()
    await page
      .getByRole('dialog', { name: 'Share “Trips”' })
      .getByRole('button', { name: 'Create link' })
      .click()
    await said('Link created and copied')
    const link = await copied()
    await sheet().getByRole('listitem').getByText('Everyone with the link').waitFor()
    await expectAccessible(page)
    await sheet().getByRole('button', { name: 'Close' }).click()
    await row('Trips').getByText('Shared once').waitFor({ state: 'attached' })

    const visitor = await (await w.browser.newContext()).newPage()
    await visitor.goto(link)
    await visitor.getByRole('heading', { name: 'Trips' }).waitFor()
    await expectAccessible(visitor)
    await visitor.getByRole('link', { name: 'plan.md', exact: true }).click()
    const viewer = visitor.getByRole('dialog', { name: 'plan.md' })
    const download = visitor.waitForEvent('download')
    await viewer.getByRole('link', { name: 'Download' }).click()
    expect((await download).suggestedFilename()).toBe('plan.md')
    await viewer.getByRole('button', { name: 'Close' }).click()
    await visitor.getByRole('heading', { name: 'Trips' }).waitFor()
    const archive = visitor.waitForEvent('download')
    await visitor.getByRole('button', { name: /^Download all/ }).click()
    const selected = await readZip(readFileSync(await (await archive).path()))
    expect([...selected.keys()]).toContain('Trips/plan.md')
    await visitor.context().close()
  })

  it('is shared with a person, who opens it in the console and on its page', async () => {
    await row('Trips').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Share' }).click()
    await sheet().getByLabel('E-mail address').fill(bob.email)
    await sheet().getByRole('button', { name: 'Share', exact: true }).click()
    await said(new RegExp(`^Shared with ${bob.email}.`))
    const his = await bob.open('/shared')
    await item('Trips', his).getByRole('link', { name: 'Trips' }).click()
    await row('plan', his).waitFor()
    await his.goBack()
    await item('Trips', his).waitFor()
    await item('Trips', his).getByText('New', { exact: true }).waitFor({ state: 'detached' })
    const archive = his.waitForEvent('download')
    await item('Trips', his).getByRole('button', { name: 'Download Trips' }).click()
    expect([...(await readZip(readFileSync(await (await archive).path()))).keys()]).toContain(
      'Trips/plan.md',
    )
  })

  it("is copied to the recipient's own files, from the list and from its page", async () => {
    const his = await bob.open('/shared')
    const pathsOf = async () => {
      const found = await bob.ask<{
        me: { drive: { root: { entries: { nodes: { path: string }[] } } } }
      }>('{ me { drive { root { entries { nodes { path } } } } } }')
      return found.me.drive.root.entries.nodes.map(({ path }) => path)
    }
    await item('Trips', his).getByRole('button', { name: 'Save Trips to my files' }).click()
    const picker = his.getByRole('dialog', { name: 'Save Trips to my files' })
    await picker.getByRole('button', { name: 'My files', exact: true }).waitFor()
    await expectAccessible(his)
    await pictures(his, 'console-received-save')
    await picker.getByRole('button', { name: 'Save here' }).click()
    await said('“Trips” saved in My files', his)
    expect(await pathsOf()).toContain('Trips')
    await his.getByRole('button', { name: 'Undo' }).click()
    await until(async () => !(await pathsOf()).includes('Trips'))
    await his.goto(await pageOf('Trips'))
    await his.getByRole('link', { name: 'plan.md', exact: true }).waitFor()
    await his.getByRole('button', { name: 'Save to my files' }).click()
    await his.getByText('Saved to your files as Trips').waitFor()
    await expectAccessible(his)
    await pictures(his, 'share-page-saved')
    expect(await pathsOf()).toContain('Trips')
    expectQuiet(bob)
  })

  it('is copied to a workspace with write permission', async () => {
    const made = await bob.ask<{ createWorkspace: { workspace: { drive: { id: string } } } }>(
      'mutation { createWorkspace(input: { name: "Garden" }) { workspace { drive { id } } } }',
    )
    const drive = made.createWorkspace.workspace.drive.id
    const his = await bob.open('/shared')
    await item('Trips', his).getByRole('button', { name: 'Save Trips to my files' }).click()
    const picker = his.getByRole('dialog', { name: 'Save Trips to my files' })
    await picker.getByLabel('Files or workspace').selectOption('Garden')
    await picker.getByRole('button', { name: 'Garden', exact: true }).waitFor()
    await expectAccessible(his)
    await picker.getByRole('button', { name: 'Save here' }).click()
    await said('“Trips” saved in Garden', his)
    const saved = await bob.ask<{ node: { root: { entries: { nodes: { path: string }[] } } } }>(
      `{ node(id: "${drive}") { ... on Drive { root { entries { nodes { path } } } } } }`,
    )
    expect(saved.node.root.entries.nodes).toEqual([{ path: '/Trips' }])
  })

  it('asks for the password before copying', async () => {
    await send('budget.csv', { password: 'right' })
    const his = await bob.open('/shared')
    await item('budget.csv', his)
      .getByRole('button', { name: 'Save budget.csv to my files' })
      .click()
    await his.getByRole('button', { name: 'Save here' }).click()
    const dialog = his.getByRole('dialog', { name: 'This file has a password' })
    await dialog.getByLabel('Password').fill('right')
    await dialog.getByRole('button', { name: 'Open' }).click()
    await said('“budget.csv” saved in My files', his)
  })
})

describe('Several files and folders', () => {
  let hanna: Person
  let ivan: Person
  const many = (on = page) => on.getByRole('dialog', { name: 'Share 3 items' })

  beforeAll(async () => {
    hanna = await w.person('hanna')
    ivan = await w.person('ivan', telephone)
    await hanna.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    for (const [path, text] of [
      ['budget.csv', 'a,b'],
      ['notes.txt', 'one'],
      ['Trips/plan.md', '# Plan'],
    ] as const)
      await hanna.upload(path, text)
  })

  it('share one link, which is copied, and has a page with all of them', async () => {
    page = await hanna.open('/files')
    await row('budget').click()
    await row('notes').click({ modifiers: ['ControlOrMeta'] })
    await row('Trips').click({ modifiers: ['ControlOrMeta'] })
    await page.getByRole('toolbar').getByRole('button', { name: 'Share' }).click()
    await many().getByRole('button', { name: 'Create link' }).click()
    await said('Link created and copied')
    await many().getByRole('listitem').getByText('Everyone with the link').waitFor()
    const [made, ...more] = await sharesOf(hanna)
    expect(more).toEqual([])
    expect(made?.url).toBe(await copied())
    await expectAccessible(page)
    await pictures(page, 'console-share-many')
    const wide = page.viewportSize()
    await page.setViewportSize({ width: 390, height: 844 })
    await pictures(page, 'console-share-many-telephone')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    if (wide) await page.setViewportSize(wide)
    const visitor = await (await w.browser.newContext()).newPage()
    await visitor.goto(made?.url ?? '')
    expect(await visitor.title()).toContain(' and 2 more')
    for (const name of ['budget.csv', 'notes.txt', 'Trips'])
      await visitor.getByRole('link', { name, exact: true }).waitFor()
    await expectAccessible(visitor)
    await pictures(visitor, 'share-page-many')
    const archive = visitor.waitForEvent('download')
    await visitor.getByRole('button', { name: /^Download all/ }).click()
    const files = await readZip(readFileSync(await (await archive).path()))
    expect([...files.keys()].toSorted()).toEqual([
      'Trips/',
      'Trips/plan.md',
      'budget.csv',
      'notes.txt',
    ])
    await visitor.context().close()
  })

  it('are shared with a person together', async () => {
    await many().getByLabel('E-mail address').fill(ivan.email)
    await many().getByRole('button', { name: 'Share', exact: true }).click()
    await said(new RegExp(`^Shared with ${ivan.email}.`))
    await many()
      .getByRole('list', { name: 'People' })
      .getByRole('listitem')
      .getByText(ivan.email)
      .waitFor()
    expect(
      (await sharesOf(hanna)).filter(({ recipient }) => recipient === ivan.email),
    ).toHaveLength(1)
    await many().getByRole('button', { name: 'Close' }).first().click()
  })

  it('are one item in the list of links, which lists them and links to each', async () => {
    page = await hanna.open('/links')
    const line = item(/ and 2 more/).filter({ hasText: 'Everyone with the link' })
    await line.getByRole('button', { name: / and 2 more$/ }).click()
    const dialog = page.getByRole('dialog', { name: / and 2 more$/ })
    for (const name of ['budget.csv', 'notes.txt', 'Trips'])
      await dialog.getByRole('link', { name, exact: true }).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-share-entries')
    await page.keyboard.press('Escape')
    await line.getByRole('button', { name: 'Actions for Everyone' }).click()
    await page.getByRole('menuitem', { name: 'Show all 3' }).click()
    await dialog.getByRole('link', { name: 'Trips', exact: true }).click()
    await page.waitForURL(/\/files\?/)
    // The sheet of one of the files lists the recipient.
    await row('Trips').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Share' }).click()
    await sheet()
      .getByRole('listitem')
      .getByText(/ and 2 more/)
      .first()
      .waitFor()
    await sheet().getByRole('button', { name: 'Close' }).first().click()
    expectQuiet(hanna)
  })

  it('are received as one share, opened and copied, on a phone', async () => {
    const theirs = await ivan.open('/shared')
    await item(/ and 2 more/, theirs).waitFor()
    await expectAccessible(theirs)
    await pictures(theirs, 'console-received-many-telephone')
    expect(await theirs.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await item(/ and 2 more/, theirs)
      .getByRole('button', { name: /^Save .* and 2 more to my files$/ })
      .tap()
    await theirs.getByRole('button', { name: 'Save here' }).tap()
    await said(/ and 2 more” saved in My files$/, theirs)
    const found = await ivan.ask<{
      me: { drive: { root: { entries: { nodes: { path: string }[] } } } }
    }>('{ me { drive { root { entries { nodes { path } } } } } }')
    expect(found.me.drive.root.entries.nodes.map(({ path }) => path)).toEqual([
      'Trips',
      'budget.csv',
      'notes.txt',
    ])
    await item(/ and 2 more/, theirs)
      .getByRole('link', { name: / and 2 more$/ })
      .tap()
    await row('notes', theirs).waitFor()
    await expectAccessible(theirs)
    await pictures(theirs, 'console-shared-many-telephone')
    expect(await theirs.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await row('Trips', theirs).tap()
    await row('plan', theirs).waitFor()
    expectQuiet(ivan)
  })
})
