import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { until } from '../support/until.ts'
import { readZip } from '../support/zip-reader.ts'
import { keepPicture, openBrowser } from './browser.ts'
import {
  type ConsoleWorld,
  expectAccessible,
  expectQuiet,
  listening,
  type Person,
  pictures,
  rowOf,
  settled,
  startConsole,
  telephone,
} from './console.ts'
import { newFolder } from './drive-world.ts'
import { makeMedia } from './media.ts'

let w: ConsoleWorld
let alice: Person
let page: Page
let pdf: Buffer

beforeAll(async () => {
  w = await startConsole()
  alice = await w.person('alice')
  // Tests can fill in an input, but not the system's file picker.
  await alice.context.addInitScript('delete window.showOpenFilePicker')
  const media = await makeMedia(w.browser)
  pdf = media.pdf
  await alice.upload('Letters/To the council.txt', 'Dear council,\nthe bench needs paint.')
  await alice.upload('Projects/Garden/plan.md', '# Plan')
  await alice.upload('Budget 2026.csv', 'a,b\n'.repeat(9000), 'text/csv')
  await alice.upload('Sunrise above the ridge.png', media.png, 'image/png')
  await alice.upload('notes.txt', 'one\ntwo')
}, 120_000)
afterAll(() => w?.stop())

const row = (name: string, on = page) => rowOf(name, on)
const gone = (name: string, on = page) => row(name, on).waitFor({ state: 'detached' })
const names = async (on = page) =>
  (await on.locator('.row .name').allTextContents()).map(name => name.trim())
const said = (text: string) => page.getByText(text).waitFor()
/** The entry of the service at a path, whatever the screen shows. */
async function kindAt(path: string, who = alice): Promise<string | undefined> {
  const { me } = await who.ask<{ me: { drive: { entry: { __typename: string } | null } } }>(
    'query ($path: String!) { me { drive { entry(path: $path) { __typename } } } }',
    { path },
  )
  return me.drive.entry?.__typename
}

describe('With a mouse', () => {
  it('looks like the screenshot in the README', async () => {
    const shown = await alice.context.newPage()
    await shown.goto(`${w.service.url}/files?details=true`)
    await row('Sunrise above the ridge', shown).click()
    type Picture = { naturalWidth: number }
    const preview = shown.locator('.details .preview img')
    await until(() =>
      preview.evaluateAll(all => (all as unknown as Picture[]).some(one => one.naturalWidth > 0)),
    )
    expect(await keepPicture(shown, 'console')).toBeLessThan(120 * 1024)
    // On smaller screens, the details overlap the list, and do not narrow its names.
    await shown.setViewportSize({ width: 1000, height: 660 })
    const cell = await row('Sunrise above the ridge', shown)
      .getByRole('gridcell')
      .first()
      .boundingBox()
    expect(cell?.width).toBeGreaterThan(300)
    await shown.close()
  })

  it('shows the files, in light and dark', async () => {
    page = await alice.open('/files')
    expect(await names()).toEqual([
      'Letters',
      'Projects',
      'Budget 2026.csv',
      'Sunrise above the ridge.png',
      'notes.txt',
    ])
    expect(await page.title()).toBe('My files · Satchel')
    await expectAccessible(page)
    await pictures(page, 'console-files')
  })

  it('creates a folder, renames it in place, and undoes that', async () => {
    await newFolder(page)
    await page.getByLabel('Name', { exact: true }).fill('Zebra')
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Create' }).click()
    await row('Zebra').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Rename' }).waitFor()
    await expectAccessible(page)
    await page.getByRole('menuitem', { name: 'Rename' }).click()
    await page.getByLabel('New name').fill('Zebras')
    await page.getByLabel('New name').press('Enter')
    await row('Zebras').waitFor()
    await said('Renamed to “Zebras”')
    expect(await kindAt('Zebras')).toBe('Folder')
    await page.getByRole('button', { name: 'Undo' }).click()
    await row('Zebra').waitFor()
    await gone('Zebras')
  })

  it('explains why a name is invalid', async () => {
    await page.getByRole('button', { name: 'Clear the selection' }).click()
    await newFolder(page)
    await page.getByLabel('Name', { exact: true }).fill('Zebra')
    await page.getByRole('button', { name: 'Create' }).click()
    await said('Something named "Zebra" exists already.')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  it('keeps a rejected name, with the reason beside it, until it is corrected', async () => {
    const field = page.getByLabel('New name')
    const rename = async (to: string) => {
      await field.fill(to)
      await field.press('Enter')
    }
    await row('Zebra').click()
    await page.keyboard.press('F2')
    await rename('Letters')
    await page.getByRole('alert').getByText('Something named "Letters" exists already.').waitFor()
    expect(await field.inputValue()).toBe('Letters')
    expect(await page.locator('.name-problem').isVisible()).toBe(true)
    await expectAccessible(page)
    await pictures(page, 'console-rename-refused')
    // It survives a blur.
    await page.getByRole('searchbox').focus()
    expect(await field.inputValue()).toBe('Letters')
    await rename('Letters/Zebra')
    await page.getByRole('alert').getByText('A name cannot contain a slash').waitFor()
    await alice.context.setOffline(true)
    await rename('Yak')
    await page.getByRole('alert').getByText('The service cannot be reached.').waitFor()
    expect(await field.inputValue()).toBe('Yak')
    await alice.context.setOffline(false)
    await field.press('Enter')
    await row('Yak').waitFor()
    // The browser itself logs the lost connection.
    for (const error of alice.errors.splice(0)) expect(error).toContain('ERR_INTERNET_DISCONNECTED')
    await field.waitFor({ state: 'detached' })
    await page.keyboard.press('F2')
    await rename('Letters')
    await page.getByRole('button', { name: 'Keep the old name' }).click()
    await field.waitFor({ state: 'detached' })
    // The list has the focus again.
    await page.keyboard.press('F2')
    await rename('Zebra')
    await row('Zebra').waitFor()
    await field.waitFor({ state: 'detached' })
    expect(await kindAt('Zebra')).toBe('Folder')
    expect(await kindAt('Letters/Zebra')).toBeUndefined()
  })

  it('rejects a slash in the name of a new folder', async () => {
    await page.getByRole('button', { name: 'Clear the selection' }).click()
    await newFolder(page)
    const field = page.getByLabel('Name', { exact: true })
    for (const name of ['Zebra/Foal', '/Foal', 'Zebra\\Foal']) {
      await field.fill(name)
      await page.getByRole('button', { name: 'Create' }).click()
      await page.getByRole('alert').getByText('A name cannot contain a slash').waitFor()
      expect(await field.inputValue()).toBe(name)
    }
    await pictures(page, 'console-folder-slash')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await kindAt('Zebra/Foal')).toBeUndefined()
  })

  it('drags a file into a folder, and back out onto the breadcrumb', async () => {
    await row('notes').dragTo(row('Zebra'))
    await gone('notes')
    await row('Zebra').dblclick()
    await row('notes').waitFor()
    expect(new URL(page.url()).pathname).toBe('/files/Zebra')
    await row('notes').dragTo(
      page.getByRole('navigation', { name: 'Path' }).getByRole('link', { name: 'My files' }),
    )
    await page.getByRole('heading', { name: 'This folder is empty' }).waitFor()
    await pictures(page, 'console-folder-empty')
    await page.goBack()
    await row('notes').waitFor()
    expect(await kindAt('notes.txt')).toBe('File')
  })

  it('copies a file that is dragged with Ctrl', async () => {
    await page.keyboard.down('Control')
    await row('notes').dragTo(row('Zebra'))
    await page.keyboard.up('Control')
    await page.getByText('1 item copied to “Zebra”').waitFor()
    await row('notes').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
  })

  it("copies the link to a file's location", async () => {
    await alice.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const copy = async () => {
      await row('notes').click({ button: 'right' })
      await page.getByRole('menuitem', { name: 'Copy link to this page' }).click()
    }
    await copy()
    await said('Link copied')
    const there = await alice.context.newPage()
    await there.goto(await page.evaluate<string>('navigator.clipboard.readText()'))
    await there.getByRole('dialog', { name: 'notes.txt' }).getByText('two').waitFor()
    await there.close()
    await page.evaluate('navigator.clipboard.write = () => Promise.reject(new Error("refused"))')
    await copy()
    await said('The browser did not allow copying')
    await page.evaluate('delete navigator.clipboard.write')
  })

  it('moves several files with the folder picker', async () => {
    await row('Budget 2026').click()
    await row('notes').click({ modifiers: ['ControlOrMeta'] })
    await page.getByRole('button', { name: 'Move to…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Projects' }).click()
    await dialog.getByRole('button', { name: 'Garden' }).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-picker')
    await dialog.getByRole('button', { name: 'Move here' }).click()
    await said('2 items moved to “Projects”')
    expect(await kindAt('Projects/Budget 2026.csv')).toBe('File')
    await page.getByRole('button', { name: 'Undo' }).click()
    await row('Budget 2026').waitFor()
    expect(await kindAt('notes.txt')).toBe('File')
  })

  it('deletes immediately, and restores with Undo', async () => {
    await row('Zebra').click()
    await page.getByRole('toolbar').getByRole('button', { name: 'Delete' }).click()
    await said('“Zebra” is in the trash.')
    await gone('Zebra')
    await until(async () => (await kindAt('Zebra')) === undefined)
    await page.getByRole('button', { name: 'Undo' }).click()
    await row('Zebra').click()
    await until(async () => (await kindAt('Zebra')) === 'Folder')
    await page.keyboard.press('Delete')
    await said('“Zebra” is in the trash.')
    // The deletion goes on although the page is left before the service has answered.
    await alice.open('/files')
    await until(async () => (await kindAt('Zebra')) === undefined)
    page = await alice.open('/files')
    await row('notes').waitFor()
    expect(await names()).not.toContain('Zebra')
  })

  it('views a picture and a text, in the viewer and in the details', async () => {
    await row('Sunrise above the ridge').dblclick()
    await page
      .getByRole('dialog')
      .getByRole('img', { name: 'Sunrise above the ridge.png' })
      .waitFor()
    await expectAccessible(page)
    await page.keyboard.press('ArrowRight')
    await page.getByRole('dialog').getByText('one two').waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Details' }).click()
    await row('Sunrise above the ridge').click()
    const details = page.getByRole('complementary', { name: 'Details' })
    await details.getByRole('img').waitFor()
    await details.getByLabel('Note').fill('Above the clouds')
    await details.getByLabel('Note').blur()
    await expectAccessible(page)
    await pictures(page, 'console-details')
    await page.reload()
    await settled(page)
    // The URL has kept the selection.
    expect(await details.getByLabel('Note').inputValue()).toBe('Above the clouds')
    await page.getByRole('button', { name: 'Close the details' }).click()
  })

  it('views a document in full Chromium', async () => {
    const browser = await openBrowser('whole')
    const reader = await w.person('reader', {}, browser)
    await reader.upload('Report.pdf', pdf, 'application/pdf')
    const desk = await reader.open('/files')
    await row('Report', desk).dblclick()
    await desk.frameLocator('.viewer iframe').locator('.textLayer').first().waitFor()
    await pictures(desk, 'console-document')
    await browser.close()
  })

  it('downloads a file byte for byte', async () => {
    await row('notes').click()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ])
    expect(file.suggestedFilename()).toBe('notes.txt')
    expect(readFileSync(await file.path(), 'utf8')).toBe('one\ntwo')
  })

  it('downloads several files and folders as one archive', async () => {
    await row('Projects').click({ modifiers: ['ControlOrMeta'] })
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as ZIP' }).click(),
    ])
    expect(file.suggestedFilename()).toBe('Files.zip')
    const found = await readZip(readFileSync(await file.path()))
    expect(found.get('notes.txt')?.text).toBe('one\ntwo')
    expect(found.get('Projects/Garden/plan.md')?.text).toBe('# Plan')
  })

  it('uploads picked files', async () => {
    await page.getByRole('button', { name: 'Clear the selection' }).click()
    await page.getByRole('button', { name: 'Upload' }).click()
    const picked = page.waitForEvent('filechooser')
    await page.getByRole('menuitem', { name: 'Upload files' }).click()
    await (await picked).setFiles([
      { name: 'picked.txt', mimeType: 'text/plain', buffer: Buffer.from('picked') },
    ])
    await row('picked').waitFor()
  })

  it('sorts, shows tiles, and finds by name', async () => {
    await page.getByRole('columnheader', { name: 'Size' }).getByRole('button').click()
    await page.locator('[role=columnheader][aria-sort=descending]', { hasText: 'Size' }).waitFor()
    await settled(page)
    const { me } = await alice.ask<{
      me: { drive: { root: { entries: { nodes: { name: string }[] } } } }
    }>(
      '{ me { drive { root { entries(orderBy: { field: SIZE, direction: DESC }) { nodes { name } } } } } }',
    )
    const sorted = me.drive.root.entries.nodes.map(({ name }) => name)
    await row(sorted[0] ?? '').waitFor()
    expect(await names()).toEqual(sorted)
    await page.getByRole('button', { name: 'Show as grid' }).click()
    const picture = row('Sunrise above the ridge').locator('.thumbnail img')
    type Picture = { naturalWidth: number }
    await until(() =>
      picture.evaluateAll(all => (all as unknown as Picture[]).some(one => one.naturalWidth > 0)),
    )
    expect(await page.locator('.thumbnail').count()).toBe(1)
    // The thumbnail, once it exists.
    await until(async () => (await picture.getAttribute('src'))?.includes('/api/files/preview?'))
    await expectAccessible(page)
    await pictures(page, 'console-grid')
    // The view is remembered. The following tests begin with the usual one.
    await page.getByRole('button', { name: 'Show as list' }).click()
    await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click()
    await row('notes').waitFor()
    expectQuiet(alice)
  })
})

it('drops a half-typed name when the person leaves the folder', async () => {
  page = await alice.open('/files/Projects')
  const field = page.getByLabel('New name')
  const rename = async (name: string, to: string) => {
    await row(name).click()
    await page.keyboard.press('F2')
    await field.fill(to)
  }
  const leaveAndReturn = async (meanwhile = async () => {}) => {
    await page
      .getByRole('navigation', { name: 'Path' })
      .getByRole('link', { name: 'My files' })
      .click()
    await row('Letters').waitFor()
    await meanwhile()
    await page.goBack()
    await row('Garden').or(row('Orchard')).waitFor()
  }
  let release = () => {}
  const held = new Promise<void>(resolve => {
    release = resolve
  })
  await page.route('**/graphql', async route => {
    if (route.request().postData()?.includes('mutation Move')) await held
    return route.fallback()
  })
  await rename('Garden', 'Orchard')
  await leaveAndReturn(async () => {
    release()
    await said('Renamed to “Orchard”')
  })
  await row('Orchard').waitFor()
  expect(await field.count()).toBe(0)
  await rename('Orchard', 'Orchard/Garden')
  await field.press('Enter')
  await page.getByRole('alert').getByText('A name cannot contain a slash').waitFor()
  await leaveAndReturn()
  expect(await field.count()).toBe(0)
  expectQuiet(alice)
})

it('saves a long note, even while earlier text is still being sent', async () => {
  page = await alice.open('/files/Letters?details=true')
  await page.route('**/held', () => {})
  const isHeld = page.waitForRequest('**/held')
  await page.evaluate(
    `void fetch('/held', { method: 'POST', keepalive: true, body: 'x'.repeat(60 * 1024) })`,
  )
  await isHeld
  await row('To the council').click()
  const note = page.getByLabel('Note')
  await note.fill('山'.repeat(10_000))
  const answered = page.waitForResponse(
    response => response.request().postData()?.includes('mutation WriteNote') === true,
  )
  await note.blur()
  expect(await (await answered).json()).not.toHaveProperty('errors')
  await page.reload()
  await until(async () => (await note.inputValue()).length === 10_000)
  expectQuiet(alice)
})

it('leaves a folder that somebody else deletes while it is open', async () => {
  const tessa = await w.person('tessa')
  await tessa.upload('Short lived/a.txt', 'a')
  const live = listening(tessa.page)
  const hers = await tessa.open('/files/Short%20lived')
  await row('a.txt', hers).waitFor()
  await live
  await tessa.ask(
    'mutation { deleteEntries(input: { recursive: true, entries: [{ at: { path: "Short lived" } }] }) { deletedIds } }',
  )
  await hers.getByRole('heading', { name: 'This folder does not exist' }).waitFor()
  expect(await hers.getByRole('button', { name: /^(New|Upload)$/ }).count()).toBe(0)
  await expectAccessible(hers)
  await pictures(hers, 'console-folder-gone')
  await hers.locator('.state').getByRole('link', { name: 'My files' }).click()
  await hers.getByRole('heading', { name: 'This folder is empty' }).waitFor()
  expectQuiet(tessa)
})

it('shows both ends of long names, and everything else in their messages', async () => {
  const small = await w.person('sven', telephone)
  const name = `${'Minutes of the meeting '.repeat(10)}2026.txt`
  await small.upload(name, 'x')
  await small.ask(
    'mutation ($path: String!) { createLink(input: { entries: { at: { path: $path } } }) { share { id } } }',
    {
      path: name,
    },
  )
  const theirs = await small.open('/links')
  const link = theirs.getByRole('button', { name })
  expect((await link.boundingBox())?.height).toBeLessThan(60)
  await link.tap()
  const title = theirs
    .getByRole('dialog')
    .getByRole('heading', { name: /^Share “Minutes of .*….* 2026\.txt”$/ })
  await title.waitFor()
  expect((await title.boundingBox())?.height).toBeLessThan(100)
  await expectAccessible(theirs)
  await pictures(theirs, 'console-long-name-share')
  await small.open('/files')
  await row(name, theirs)
    .getByRole('button', { name: /^Actions/ })
    .tap()
  await theirs.getByRole('menuitem', { name: 'Delete' }).tap()
  const toast = theirs.getByText(/^“Minutes of .*….* 2026\.txt” is in the trash/)
  await toast.waitFor()
  expect((await toast.boundingBox())?.height).toBeLessThan(150)
  await pictures(theirs, 'console-long-name-toast')
  await gone(name, theirs)
  // On a phone, the button of an empty folder has its label.
  await theirs.locator('.state').getByText('Upload', { exact: true }).waitFor()
  expectQuiet(small)
})
