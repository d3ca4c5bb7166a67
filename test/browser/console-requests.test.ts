import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
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
let page: Page

beforeAll(async () => {
  w = await startConsole()
  alice = await w.person('alice')
  await alice.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await alice.upload('Trips/plan.md', '# Plan', 'text/markdown')
}, 120_000)
afterAll(() => w?.stop())

interface Request {
  url: string
  label: string
  message: string
  path: string
  passwordProtected: boolean
  asksName: boolean
  maxFiles: number | null
  maxFileSize: number | null
  kinds: string[]
  expiresAt: string | null
}

/** The open requests of a person, according to the service. */
async function requestsOf(who: Person): Promise<Request[]> {
  type Answer = { me: { fileRequests: { nodes: Request[] } } }
  const fields =
    'url label message path passwordProtected asksName maxFiles maxFileSize kinds expiresAt'
  return (await who.ask<Answer>(`{ me { fileRequests { nodes { ${fields} } } } }`)).me.fileRequests
    .nodes
}

const dialog = (name: string, on = page) => on.getByRole('dialog', { name })
const line = (label: string, on = page) => on.getByRole('listitem').filter({ hasText: label })
const choose = async (label: string, entry: string, on = page) => {
  await on.getByRole('button', { name: `Actions for ${label}` }).click()
  await on.getByRole('menuitem', { name: entry }).click()
}

/** Uploads a file like a browser without scripts. */
async function send(url: string, name: string, bytes: string, sender = 'Carol'): Promise<void> {
  const context = await w.browser.newContext({ javaScriptEnabled: false })
  const theirs = await context.newPage()
  await theirs.goto(url)
  if (await theirs.getByLabel('Your name').isVisible()) {
    await theirs.getByLabel('Your name').fill(sender)
    await theirs.getByRole('button', { name: 'Continue' }).click()
  }
  await theirs
    .locator('input[type=file]')
    .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(bytes) })
  await theirs.getByRole('button', { name: 'Send', exact: true }).click()
  await theirs.getByText(name).waitFor()
  await context.close()
}

describe('File requests', () => {
  it('show an empty list at first', async () => {
    page = await alice.open('/requests')
    await page.getByRole('heading', { name: 'You have no file requests' }).waitFor()
    expect(await page.title()).toBe('File requests · Satchel')
    await expectAccessible(page)
    await pictures(page, 'console-requests-none')
  })

  it('are created from the menu of a folder, with their terms, and show their link', async () => {
    page = await alice.open('/files')
    await rowOf('Trips', page).click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Request files…' }).click()
    const form = dialog('Request files')
    await form.getByText('can send files to “Trips”').waitFor()
    await form.getByLabel('What are you asking for?').fill('Pictures of the summit')
    await form.getByLabel('Message').fill('The large ones, please.')
    await form.getByLabel('Ask senders for their name').check()
    await form.getByText('Limits').click()
    await form.getByLabel('Maximum number of files').fill('3')
    await form.getByLabel('Maximum MiB of a file').fill('0.5')
    await form.getByLabel('Kinds of files').fill('pictures')
    await form.getByRole('button', { name: 'Create link' }).click()
    await form.getByRole('alert').getByText('Give up to').waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-request-new')
    await form.getByLabel('Kinds of files').fill('.txt, image/*')
    await form.getByRole('button', { name: 'Create link' }).click()
    const link = await dialog('Link created').getByLabel('Link').inputValue()
    await expectAccessible(page)
    await dialog('Link created').getByRole('button', { name: 'Done' }).click()
    const [made, ...more] = await requestsOf(alice)
    expect(more).toEqual([])
    expect(made).toEqual({
      url: link,
      label: 'Pictures of the summit',
      message: 'The large ones, please.',
      path: 'Trips',
      passwordProtected: false,
      asksName: true,
      maxFiles: 3,
      maxFileSize: 524_288,
      kinds: ['.txt', 'image/*'],
      expiresAt: expect.any(String),
    })
  })

  it('show received files and their senders, live', async () => {
    page = await alice.open('/requests')
    const [made] = await requestsOf(alice)
    await line('Pictures of the summit').getByText('0 files, 0 bytes (of 3)').waitFor()
    await send(made?.url ?? '', 'dawn.txt', 'red')
    await line('Pictures of the summit').getByText('1 file, 3 bytes (of 3)').waitFor()
    // Who sent what is seen in the list.
    const latest = page.getByRole('table', { name: 'Latest files of Pictures of the summit' })
    await latest.getByRole('row', { name: /Carol dawn.txt/ }).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-requests')
    await page.getByRole('button', { name: 'Pictures of the summit', exact: true }).click()
    const receipts = dialog('Received files')
    await receipts.getByText('dawn.txt').waitFor()
    await receipts.getByRole('cell', { name: 'Carol', exact: true }).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-request-receipts')
    await page.keyboard.press('Escape')
  })

  it('are edited in the list, keep their link, and offer it as text and QR code', async () => {
    const [before] = await requestsOf(alice)
    await choose('Pictures of the summit', 'Change…')
    const form = dialog('Change the request')
    expect(await form.getByLabel('Maximum number of files').inputValue()).toBe('3')
    expect(await form.getByLabel('Kinds of files').inputValue()).toBe('.txt, image/*')
    await form.getByLabel('What are you asking for?').fill('Pictures of the ridge')
    await form.getByLabel('Maximum number of files').fill('1')
    await form.getByLabel('Password').fill('summit at dawn')
    await form.getByRole('button', { name: 'Save' }).click()
    await line('Pictures of the ridge').getByText('Full').waitFor()
    expect(await requestsOf(alice)).toEqual([
      { ...before, label: 'Pictures of the ridge', maxFiles: 1, passwordProtected: true },
    ])
    await choose('Pictures of the ridge', 'Change…')
    await form.getByLabel('Remove the password').check()
    await form.getByLabel('Maximum number of files').fill('')
    await form.getByLabel('Open for').selectOption('never')
    await form.getByRole('button', { name: 'Save' }).click()
    await line('Pictures of the ridge').getByText('always open').waitFor()
    expect(await requestsOf(alice)).toEqual([
      { ...before, label: 'Pictures of the ridge', maxFiles: null, expiresAt: null },
    ])
    await page.getByRole('button', { name: 'Copy the link of Pictures of the ridge' }).click()
    await page.getByRole('status').getByText('Link copied').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(before?.url)
    await choose('Pictures of the ridge', 'Show QR code…')
    await page.getByRole('img', { name: `${before?.url}` }).waitFor()
    await page.keyboard.press('Escape')
  })

  it('link to their folder, and are closed permanently after a confirmation', async () => {
    const [request] = await requestsOf(alice)
    await choose('Pictures of the ridge', 'Show folder')
    await rowOf('dawn', page).click()
    await page.getByRole('button', { name: 'Details' }).click()
    await page.getByRole('complementary', { name: 'Details' }).getByText('Carol').first().waitFor()
    page = await alice.open('/requests')
    await choose('Pictures of the ridge', 'Close…')
    await dialog('Close this request?').getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('heading', { name: 'You have no file requests' }).waitFor()
    expect(await requestsOf(alice)).toEqual([])
    expect((await fetch(request?.url ?? '')).status).toBe(403)
    expectQuiet(alice)
  })

  it('are created for the open folder, by touch, and reached from the links on a phone', async () => {
    const bob = await w.person('bob', telephone)
    await bob.upload('notes.txt', 'one')
    let theirs = await bob.open('/files')
    await theirs.getByRole('toolbar').getByRole('button', { name: 'Actions', exact: true }).tap()
    await theirs.getByRole('menuitem', { name: 'Request files…' }).tap()
    const form = dialog('Request files', theirs)
    await form.getByText('can send files to “My files”').waitFor()
    await form.getByLabel('What are you asking for?').fill('שלום עולם')
    await expectAccessible(theirs)
    await pictures(theirs, 'console-request-new-telephone')
    await form.getByRole('button', { name: 'Create link' }).tap()
    await dialog('Link created', theirs).getByRole('button', { name: 'Done' }).tap()
    theirs = await bob.open('/links')
    await theirs.getByRole('link', { name: 'File requests' }).tap()
    await line('שלום עולם', theirs).waitFor()
    await expectAccessible(theirs)
    await pictures(theirs, 'console-requests-telephone')
    expect(await requestsOf(bob)).toMatchObject([{ label: 'שלום עולם', path: '' }])
    expectQuiet(bob)
  })
})
