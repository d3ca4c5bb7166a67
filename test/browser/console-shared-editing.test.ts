import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { eventually } from '../support/until.ts'
import {
  type ConsoleWorld,
  expectAccessible,
  expectQuiet,
  listening,
  type Person,
  pictures,
  rowOf,
  startConsole,
  telephone,
} from './console.ts'
import { gone, newFolder } from './drive-world.ts'

const PART = 256 * 1024
/** Larger than one upload request. */
const LARGE = randomBytes(9 * 1024 * 1024 + 17)

let w: ConsoleWorld
let alice: Person
let bob: Person
let folder: string
let hers: Page
let his: Page

beforeAll(async () => {
  w = await startConsole({ UPLOAD_PART_BYTES: String(PART) })
  folder = mkdtempSync(join(tmpdir(), 'satchel-editing-'))
  alice = await withFiles('alice')
  bob = await withFiles('bob')
  await alice.upload('Plans/budget.csv', 'a,b', 'text/csv')
  await alice.upload('Plans/Old/first.txt', 'first')
  await alice.upload('Plans/roadmap.md', '# Roadmap', 'text/markdown')
  await alice.upload('secret.txt', 'mine')
}, 120_000)
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await w?.stop()
})

/**
 * A person whose browser lets tests choose files. Tests cannot use the picker that some browsers
 * have instead of an input.
 */
async function withFiles(name: string, options?: BrowserContextOptions): Promise<Person> {
  const person = await w.person(name, options)
  await person.context.addInitScript(
    'delete window.showOpenFilePicker; delete window.showDirectoryPicker',
  )
  return person
}

/** A local file. */
function local(name: string, bytes: Buffer | string): string {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return path
}

const sheet = (on: Page) => on.getByRole('dialog', { name: /^Share / })
const item = (text: string, on: Page) => on.getByRole('listitem').filter({ hasText: text })
const said = (text: string | RegExp, on: Page) => on.getByRole('status').getByText(text).waitFor()
const dock = (page: Page) => page.getByRole('region', { name: 'Uploads' })
const uploaded = (page: Page, name: string) =>
  dock(page).getByRole('heading', { name, exact: true }).waitFor()
const sending = (page: Page, name: string) =>
  dock(page).getByRole('listitem').filter({ hasText: name })

async function choose(page: Page, paths: string | string[]): Promise<void> {
  await page.locator('.screen-head').getByRole('button', { name: 'Upload' }).click()
  const picker = page.waitForEvent('filechooser')
  await page.getByRole('menuitem', { name: 'Upload files' }).click()
  await (await picker).setFiles(paths)
}

/** Runs an action from the menu of an entry. */
async function doWith(page: Page, name: string, command: string | RegExp): Promise<void> {
  await rowOf(name, page).click({ button: 'right' })
  await page.getByRole('menuitem', { name: command }).click()
}

interface Content {
  name: string
  text: string
}

/** A person's entries in a folder, according to the service. */
async function contentOf(path: string, { ask, context }: Person): Promise<Content[]> {
  type Listed = {
    me: { drive: { entry: { entries: { nodes: { name: string; download?: { url: string } }[] } } } }
  }
  const { me } = await ask<Listed>(
    `query ($path: String!) { me { drive { entry(path: $path) { ... on Folder { entries(first: 100) { nodes {
      name ... on File { download { url } } } } } } } } }`,
    { path },
  )
  return Promise.all(
    me.drive.entry.entries.nodes.map(async ({ name, download }) => ({
      name,
      text: download ? await (await context.request.get(download.url)).text() : '/',
    })),
  )
}

const namesIn = async (path: string, who: Person) =>
  (await contentOf(path, who)).map(({ name }) => name)

/** The page of the received share with this name. */
async function pageOf(name: string, who = bob): Promise<string> {
  type Received = { me: { receivedShares: { nodes: { url: string; fileName: string }[] } } }
  const { me } = await who.ask<Received>('{ me { receivedShares { nodes { url fileName } } } }')
  return me.receivedShares.nodes.find(({ fileName }) => fileName === name)?.url ?? ''
}

const share = async (path: string, terms: object, to: Person, who = alice) => {
  type Shared = { createDirectShare: { shares: { id: string }[] } }
  const { createDirectShare } = await who.ask<Shared>(
    'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { id } } }',
    { input: { entries: [{ at: { path } }], email: to.email, ...terms } },
  )
  return createDirectShare.shares[0]?.id ?? ''
}

describe('With a mouse, side by side', () => {
  it('is granted in the share sheet, which explains the permission', async () => {
    hers = await alice.open('/files')
    await doWith(hers, 'Plans', 'Share')
    const people = sheet(hers)
    await people.getByLabel('E-mail address').fill(bob.email)
    await people.getByText('They can view and download it.').waitFor()
    await people.getByLabel('Access').selectOption('Can edit')
    await people
      .getByText('They can also upload, rename, move, replace and delete what is in it.')
      .waitFor()
    await people.getByText('More options').click()
    // Editing requires a sign-in, so there is nothing to ask.
    expect(await people.getByLabel('Password').count()).toBe(0)
    await expectAccessible(hers)
    await pictures(hers, 'console-share-edit-right')
    await people.getByRole('button', { name: 'Share', exact: true }).click()
    await item(bob.email, hers).getByText('Can edit', { exact: true }).waitFor()
    await people.getByText('They can view and download it.').waitFor()
    expect(await people.getByLabel('Access').getByRole('option').allTextContents()).toEqual([
      'Can view',
      'Can download',
    ])
    await sheet(hers).getByRole('button', { name: 'Close' }).first().click()
  })

  it('shows a shared folder like the own ones, and nothing above it', async () => {
    his = await bob.open('/shared')
    await item('Plans', his).getByText('You can edit').waitFor()
    await item('Plans', his).getByRole('link', { name: 'Plans', exact: true }).click()
    await rowOf('Old', his).waitFor()
    await his.getByText('Shared by alice').waitFor()
    await his.getByText('You can edit').waitFor()
    await his.getByRole('heading', { name: 'Plans', level: 1 }).waitFor()
    expect(await his.locator('.name').allTextContents()).toEqual([
      'Old',
      'budget.csv',
      'roadmap.md',
    ])
    expect(await his.getByRole('button', { name: 'Details' }).count()).toBe(0)
    await expectAccessible(his)
    await pictures(his, 'console-shared-folder')
    // The link in the mail opens the same screen.
    await his.goto(await pageOf('Plans'))
    await his.getByRole('link', { name: 'Old', exact: true }).click()
    await his.getByText('You can edit what is in here.').waitFor()
    await expectAccessible(his)
    await pictures(his, 'share-page-editable')
    await his.getByRole('link', { name: 'Open it in Satchel' }).click()
    await rowOf('first', his).waitFor()
    await his.getByRole('navigation', { name: 'Path' }).getByRole('link', { name: 'Plans' }).click()
    await rowOf('Old', his).dblclick()
    await rowOf('first', his).waitFor()
    await his.getByRole('navigation', { name: 'Path' }).getByRole('link', { name: 'Plans' }).click()
    await rowOf('budget', his).waitFor()
  })

  it('uploads, in one request and in parts, and its owner sees the files at once', async () => {
    const heard = listening(hers)
    await alice.open('/files/Plans')
    await rowOf('budget', hers).waitFor()
    await heard
    await choose(his, [local('notes.txt', 'from bob'), local('film.bin', LARGE)])
    await sending(his, 'film.bin').waitFor()
    await uploaded(his, '2 files uploaded')
    await rowOf('notes', his).waitFor()
    await rowOf('film', his).waitFor()
    await rowOf('notes', hers).waitFor()
    await rowOf('film', hers).waitFor()
    await dock(his).getByRole('button', { name: 'Close' }).click()
    const found = await contentOf('Plans', alice)
    expect(found.find(({ name }) => name === 'notes.txt')?.text).toBe('from bob')
    expect(await namesIn('', bob)).toEqual([])
  })

  it('creates folders, renames and moves, and undoes the move', async () => {
    await newFolder(his)
    await his.getByRole('dialog').getByLabel('Name').fill('Drafts')
    await his.getByRole('button', { name: 'Create' }).click()
    await rowOf('Drafts', his).waitFor()
    await rowOf('Drafts', hers).waitFor()
    await doWith(his, 'notes', 'Rename')
    await his.getByLabel('New name').fill('ideas.txt')
    await his.keyboard.press('Enter')
    await rowOf('ideas', his).waitFor()
    await rowOf('ideas', hers).waitFor()
    await gone('notes', his)
    await doWith(his, 'ideas', 'Move to')
    const picker = his.getByRole('dialog', { name: 'Move 1 item' })
    await picker.getByRole('button', { name: 'Drafts' }).click()
    await picker.getByText('No folders').waitFor()
    await expectAccessible(his)
    // Undo stays for six seconds, in which a busy machine may not show the change to both.
    await his.evaluate(`{
      const { setTimeout } = window
      window.setTimeout = (act, ms) => setTimeout(act, ms === 6000 ? 300_000 : ms)
      window.closeToastsAgain = () => Object.assign(window, { setTimeout })
    }`)
    await picker.getByRole('button', { name: 'Move here' }).click()
    await gone('ideas', his)
    await gone('ideas', hers)
    expect(await namesIn('Plans/Drafts', alice)).toEqual(['ideas.txt'])
    await said('1 item moved to “Drafts”', his)
    await his.evaluate('closeToastsAgain()')
    await his.getByRole('button', { name: 'Undo' }).last().click()
    await rowOf('ideas', his).waitFor()
    await rowOf('ideas', hers).waitFor()
    expect(await namesIn('Plans/Drafts', alice)).toEqual([])
  })

  it('replaces a file, and its owner keeps the old content', async () => {
    await rowOf('roadmap', his).click({ button: 'right' })
    const picker = his.waitForEvent('filechooser')
    await his.getByRole('menuitem', { name: 'Upload a new version' }).click()
    await (await picker).setFiles(local('other.md', '# By bob'))
    await uploaded(his, '1 file uploaded')
    await dock(his).getByRole('button', { name: 'Close' }).click()
    await his.getByRole('button', { name: 'Clear the selection' }).click()
    expect(await contentOf('Plans', alice)).toContainEqual({ name: 'roadmap.md', text: '# By bob' })
    // A taken name asks, as in the own drive.
    await choose(his, local('roadmap.md', '# Again'))
    await dock(his).getByRole('button', { name: 'Replace', exact: true }).click()
    await uploaded(his, '1 file uploaded')
    await dock(his).getByRole('button', { name: 'Close' }).click()
    await rowOf('roadmap', hers).click()
    await hers.getByRole('button', { name: 'Details' }).click()
    const versions = hers.getByRole('list', { name: 'Versions' }).getByRole('listitem')
    await eventually(async () => expect(await versions.count()).toBe(3))
    await hers.getByRole('complementary', { name: 'Details' }).getByText('bob').first().waitFor()
    await hers.getByRole('button', { name: 'Close the details' }).click()
  })

  it("asks before deleting, and the owner's trash names the person", async () => {
    await rowOf('budget', his).click()
    await his.keyboard.press('Delete')
    const confirm = his.getByRole('dialog', { name: 'Delete this item?' })
    await confirm.getByText('It goes into the trash of alice').waitFor()
    await expectAccessible(his)
    await pictures(his, 'console-shared-delete')
    await confirm.getByRole('button', { name: 'Cancel' }).click()
    await rowOf('budget', his).waitFor()
    await his.keyboard.press('Delete')
    await confirm.getByRole('button', { name: 'Delete' }).click()
    await gone('budget', his)
    await said('“budget.csv” is deleted.', his)
    await gone('budget', hers)
    await alice.open('/activity')
    await item('budget.csv', hers).filter({ hasText: 'bob' }).first().waitFor()
    await pictures(hers, 'console-shared-activity')
    await alice.open('/trash')
    await hers.getByText('budget.csv').first().waitFor()
    await alice.open('/files/Plans')
  })

  it('views, searches, downloads, and copies to the own files', async () => {
    await rowOf('roadmap', his).dblclick()
    await his
      .getByRole('dialog', { name: 'roadmap.md' })
      .getByRole('heading', { name: 'Again' })
      .waitFor()
    await his.keyboard.press('Escape')
    await his.getByRole('searchbox', { name: 'Search' }).fill('FIRST')
    await rowOf('first', his).getByText('Old').waitFor()
    await gone('roadmap', his)
    await his.goBack()
    await rowOf('roadmap', his).waitFor()
    await rowOf('Old', his).click()
    const [file] = await Promise.all([
      his.waitForEvent('download'),
      his.getByRole('button', { name: 'Download as ZIP' }).click(),
    ])
    expect(file.suggestedFilename()).toMatch(/\.zip$/)
    await doWith(his, 'roadmap', 'Save to my files')
    await his.getByRole('dialog').getByRole('button', { name: 'Copy here' }).click()
    await said('1 item copied to “My files”', his)
    expect(await namesIn('', bob)).toEqual(['roadmap.md'])
    await his.getByRole('button', { name: 'Clear the selection' }).click()
    expectQuiet(bob)
  })
})

describe('When the permission ends', () => {
  it('reports it during an upload, disables changes, and keeps finished work', async () => {
    const devtools = await his.context().newCDPSession(his)
    await devtools.send('Network.enable')
    await devtools.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: 400_000,
    })
    await choose(his, local('late.bin', LARGE))
    const progress = dock(his).getByRole('progressbar', { name: 'Progress of late.bin' })
    await eventually(async () =>
      expect(Number(await progress.getAttribute('value'))).toBeGreaterThan(0),
    )
    await alice.open('/files')
    await doWith(hers, 'Plans', 'Share')
    await sheet(hers)
      .getByRole('button', { name: `Actions for ${bob.email}` })
      .click()
    await hers.getByRole('menuitem', { name: 'Edit' }).click()
    const edit = hers.getByRole('dialog', { name: 'Edit this share' })
    expect(await edit.getByLabel('Access').inputValue()).toBe('edit')
    await edit.getByLabel('Access').selectOption('Can download')
    await expectAccessible(hers)
    await edit.getByRole('button', { name: 'Save' }).click()
    await item(bob.email, hers).getByText('Can download', { exact: true }).waitFor()
    await sending(his, 'late.bin').getByText('You may view this share but not change it.').waitFor()
    await said(/^alice no longer lets you edit this\./, his)
    await his.getByRole('button', { name: 'New', exact: true }).waitFor({ state: 'detached' })
    expect(await his.locator('.screen-head').getByRole('button', { name: 'Upload' }).count()).toBe(
      0,
    )
    expect(await his.getByText('Offline').count()).toBe(0)
    await rowOf('roadmap', his).click({ button: 'right' })
    const menu = his.getByRole('menu')
    await menu.getByRole('menuitem', { name: 'Download' }).waitFor()
    for (const name of ['Rename', 'Move to', 'Cut', 'Delete', 'Upload a new version'])
      expect(await menu.getByRole('menuitem', { name }).count()).toBe(0)
    await his.keyboard.press('Escape')
    await expectAccessible(his)
    await pictures(his, 'console-shared-lost')
    // When the permission returns, the upload resumes.
    await share('Plans', { mayEdit: true }, bob)
    await his.getByText('You can edit').waitFor()
    await devtools.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: -1,
    })
    await dock(his).getByRole('button', { name: 'Try late.bin again' }).click()
    await uploaded(his, '1 file uploaded')
    expect(await namesIn('Plans', alice)).toContain('late.bin')
    await dock(his).getByRole('button', { name: 'Close' }).click()
  })

  it('reports that it is no longer shared, and accepts no files', async () => {
    await item(bob.email, hers)
      .getByRole('button', { name: `Actions for ${bob.email}` })
      .click()
    await hers.getByRole('menuitem', { name: 'Revoke' }).click()
    await hers
      .getByRole('dialog', { name: 'Revoke this share?' })
      .getByRole('button', { name: 'Revoke' })
      .click()
    await his.getByRole('heading', { name: '“Plans” is no longer shared with you' }).waitFor()
    await his.getByText('What you have uploaded and changed is kept there.').waitFor()
    await expectAccessible(his)
    await pictures(his, 'console-shared-ended')
    expect(await namesIn('Plans', alice)).toEqual([
      ...['Drafts', 'Old', 'film.bin', 'ideas.txt', 'late.bin', 'roadmap.md'],
    ])
    await his.getByRole('link', { name: 'Shared with me' }).last().click()
    await his.getByRole('heading', { name: 'Shared with me' }).waitFor()
    expect(await item('Plans', his).count()).toBe(0)
    expectQuiet(alice)
  })
})

describe('Without edit permission', () => {
  it('opens a folder for viewing and downloading only', async () => {
    const cora = await w.person('cora')
    await share('Plans', {}, cora)
    const page = await cora.open('/shared')
    await item('Plans', page).getByRole('link', { name: 'Plans', exact: true }).click()
    await rowOf('roadmap', page).waitFor()
    await page.getByText('You can download').waitFor()
    await page.goto(await pageOf('Plans', cora))
    await page.getByRole('heading', { name: 'Plans' }).waitFor()
    expect(await page.getByText('You can edit').count()).toBe(0)
    await page.goBack()
    await rowOf('roadmap', page).waitFor()
    expect(await page.getByRole('button', { name: 'New', exact: true }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Upload' }).count()).toBe(0)
    await rowOf('roadmap', page).click()
    await page.keyboard.press('Delete')
    await page.keyboard.press('F2')
    expect(await page.getByLabel('New name').count()).toBe(0)
    expect(await page.getByRole('dialog').count()).toBe(0)
    await rowOf('roadmap', page).waitFor()
    await expectAccessible(page)
    expectQuiet(cora)
  })
})

describe('A single file', () => {
  it('gets new content from the list', async () => {
    await share('secret.txt', { mayEdit: true }, bob)
    his = await bob.open('/shared')
    const line = item('secret.txt', his)
    await line.getByText('You can edit').waitFor()
    const picker = his.waitForEvent('filechooser')
    await line.getByRole('button', { name: 'Upload a new version of secret.txt' }).click()
    await (await picker).setFiles(local('whatever.txt', 'ours'))
    await uploaded(his, '1 file uploaded')
    expect(await contentOf('', alice)).toContainEqual({ name: 'secret.txt', text: 'ours' })
    await expectAccessible(his)
    expectQuiet(bob)
  })
})

describe('By keyboard alone', () => {
  it('creates a folder, renames it, moves a file into it and deletes it', async () => {
    const kim = await w.person('kim')
    await alice.upload('Keys/one.txt', 'one')
    await share('Keys', { mayEdit: true }, kim)
    const page = await kim.open('/shared')
    await page.getByRole('link', { name: 'Keys', exact: true }).focus()
    await page.keyboard.press('Enter')
    await rowOf('one', page).waitFor()
    await page.getByRole('grid').focus()
    await page.keyboard.press('Alt+n')
    await page.getByRole('dialog').getByLabel('Name').waitFor()
    await page.keyboard.type('Box')
    await page.keyboard.press('Enter')
    await rowOf('Box', page).waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.locator('[role=grid]:focus').waitFor()
    await page.keyboard.type('Box')
    await page.keyboard.press('F2')
    await page.getByLabel('New name').fill('Case')
    await page.keyboard.press('Enter')
    await rowOf('Case', page).waitFor()
    await page.keyboard.type('one')
    await page.keyboard.press('Control+x')
    await page.keyboard.type('Case')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Case', level: 1 }).waitFor()
    await page.keyboard.press('Control+v')
    await rowOf('one', page).waitFor()
    expect(await namesIn('Keys/Case', alice)).toEqual(['one.txt'])
    await page.getByRole('grid').focus()
    await page.keyboard.type('one')
    await page.keyboard.press('Delete')
    const confirm = page.getByRole('dialog', { name: 'Delete this item?' })
    await confirm.waitFor()
    const isOnDelete = () =>
      confirm.getByRole('button', { name: 'Delete' }).evaluate('document.activeElement.textContent')
    while ((await isOnDelete()) !== 'Delete') await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await gone('one', page)
    await page.keyboard.press('Alt+ArrowUp')
    await rowOf('Case', page).waitFor()
    expectQuiet(kim)
  })
})

describe('On a phone', () => {
  it('opens, uploads, renames and deletes by touch', async () => {
    const tina = await withFiles('tina', telephone)
    await alice.upload('A folder with a rather long name for a small screen/one.txt', 'one')
    await share('A folder with a rather long name for a small screen', { mayEdit: true }, tina)
    const page = await tina.open('/shared')
    await expectAccessible(page)
    await pictures(page, 'console-received-editable-telephone')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await page.getByRole('link', { name: /^A folder/ }).tap()
    await rowOf('one', page).waitFor()
    await page.locator('.screen-head').getByRole('button', { name: 'Upload' }).tap()
    const picker = page.waitForEvent('filechooser')
    await page.getByRole('menuitem', { name: 'Upload files' }).tap()
    await (await picker).setFiles(local('photo.txt', 'photo'))
    await rowOf('photo', page).waitFor()
    await uploaded(page, '1 file uploaded')
    await dock(page).getByRole('button', { name: 'Close' }).tap()
    await expectAccessible(page)
    await pictures(page, 'console-shared-folder-telephone')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await rowOf('photo', page).getByRole('button', { name: 'Actions for photo.txt' }).tap()
    await page.getByRole('menuitem', { name: 'Rename' }).tap()
    await page.getByLabel('New name').fill('picture.txt')
    await page.keyboard.press('Enter')
    await rowOf('picture', page).getByRole('button', { name: 'Actions for picture.txt' }).tap()
    await page.getByRole('menuitem', { name: 'Delete' }).tap()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).tap()
    await gone('picture', page)
    expectQuiet(tina)
  })
})
