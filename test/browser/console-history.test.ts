import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { until } from '../support/until.ts'
import {
  type ConsoleWorld,
  expectAccessible,
  expectQuiet,
  focusedEntry,
  listening,
  type Person,
  pictures,
  rowOf,
  startConsole,
  telephone,
} from './console.ts'

let w: ConsoleWorld

beforeAll(async () => {
  w = await startConsole()
}, 120_000)
afterAll(() => w?.stop())

/** A person whose browser lets tests choose files. */
async function personWithFiles(name: string, options?: BrowserContextOptions): Promise<Person> {
  const person = await w.person(name, options)
  await person.context.addInitScript('delete window.showOpenFilePicker')
  return person
}

/** Replaces the content of a file in the root, as another program would. */
async function replace(who: Person, name: string, text: string): Promise<void> {
  const file = { name, mimeType: 'text/plain', buffer: Buffer.from(text) }
  const url = `${w.service.url}/api/files/upload`
  const answer = await who.context.request.post(url, {
    multipart: { on_conflict: 'replace', file },
  })
  if (!answer.ok()) throw new Error(await answer.text())
}

/** Selects a file in the list, and opens its details. */
async function openDetails(who: Person, name: string, path = '/files') {
  const page = await who.open(`${path}?details=true`)
  await page.getByRole('row', { name }).first().click()
  return detailsIn(page)
}

const detailsIn = (page: Page) => page.getByRole('complementary', { name: 'Details' })
async function textOf(who: Person, path: string): Promise<string> {
  type Found = { me: { drive: { entry: { download: { url: string } } } } }
  const { me } = await who.ask<Found>(
    'query ($path: String!) { me { drive { entry(path: $path) { ... on File { download { url } } } } } }',
    { path },
  )
  return (await who.context.request.get(me.drive.entry.download.url)).text()
}

/** Chooses a file with these bytes. */
async function choose(
  page: Page,
  press: () => Promise<void>,
  name: string,
  text: string,
): Promise<void> {
  const picker = page.waitForEvent('filechooser')
  await press()
  await (await picker).setFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })
}

const HOSTILE = `<img src=x onerror="document.title='pwned'">.txt`

describe('The versions of a file', () => {
  it('are explained while there are none, and start with the first replacement', async () => {
    const alice = await personWithFiles('alice')
    await alice.upload('plan.txt', 'the first plan')
    const details = await openDetails(alice, 'plan.txt')
    const { page } = alice
    await details.getByText('When this file is replaced, its former content is kept here').waitFor()
    await details.getByText('the last 20 versions, for 90 days').waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-versions-none')
    // The chosen file replaces the content, whatever its name.
    await choose(
      page,
      () => details.getByRole('button', { name: 'Upload new version' }).click(),
      'other.txt',
      'the second',
    )
    await details.getByText('Current version').waitFor()
    await details.getByText('the second').waitFor()
    await details.getByText('You uploaded a new version', { exact: false }).waitFor()
    expect(await rowOf('other.txt', page).count()).toBe(0)
    expect(await textOf(alice, 'plan.txt')).toBe('the second')
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    await pictures(page, 'console-versions-one')
    expectQuiet(alice)
  })

  it('can be viewed, downloaded, restored with Undo, and deleted after a confirmation', async () => {
    const bob = await personWithFiles('bob')
    await bob.upload('notes.txt', 'one')
    for (const text of ['two, longer', 'three']) await replace(bob, 'notes.txt', text)
    const details = await openDetails(bob, 'notes.txt')
    const { page } = bob
    const versions = details.getByRole('list', { name: 'Versions' }).getByRole('listitem')
    await versions.nth(2).waitFor()
    expect(await versions.count()).toBe(3)
    const menu = (at: number) =>
      versions.nth(at).getByRole('button', { name: /^Actions for the version/ })
    await menu(1).click()
    await page.getByRole('menuitem', { name: 'Preview' }).click()
    const viewer = page.getByRole('dialog', { name: 'notes.txt' })
    await viewer.getByText('two, longer').waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-version-preview')
    await viewer.getByRole('button', { name: 'Close' }).click()
    await menu(2).click()
    const saved = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'Download' }).click()
    expect(await readFile(await (await saved).path(), 'utf8')).toBe('one')

    await versions
      .nth(2)
      .getByRole('button', { name: /^Restore/ })
      .click()
    const undo = page.getByRole('button', { name: 'Undo' })
    await undo.waitFor()
    await details.locator('.preview').getByText('one').waitFor()
    expect(await textOf(bob, 'notes.txt')).toBe('one')
    await pictures(page, 'console-versions-restored')
    await undo.click()
    await details.locator('.preview').getByText('three').waitFor()
    expect(await textOf(bob, 'notes.txt')).toBe('three')
    expect(await versions.count()).toBe(3)

    await menu(1).click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    const question = page.getByRole('dialog', { name: 'Delete this version?' })
    await expectAccessible(page)
    await question.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('Version deleted').waitFor()
    await versions.nth(2).waitFor({ state: 'detached' })
    await expectAccessible(page)
    expectQuiet(bob)
  })

  it('can be used by keyboard alone, without affecting the file', async () => {
    const kim = await personWithFiles('kim')
    await kim.upload('log.txt', 'one')
    await replace(kim, 'log.txt', 'two')
    const details = await openDetails(kim, 'log.txt')
    const { page } = kim
    const restore = details.getByRole('button', { name: /^Restore/ })
    await restore.focus()
    // This key would only affect the file if the list had the focus.
    await page.keyboard.press('Delete')
    await page.keyboard.press('Enter')
    await details.locator('.preview').getByText('one').waitFor()
    await details.getByRole('button', { name: /^Actions for the version/ }).focus()
    await page.keyboard.press('Enter')
    await focusedEntry('Preview', page).waitFor()
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    const question = page.getByRole('dialog', { name: 'Delete this version?' })
    await question.waitFor()
    await page.keyboard.press('Delete')
    await page.keyboard.press('Escape')
    await question.waitFor({ state: 'detached' })
    await rowOf('log.txt', page).waitFor()
    await details.getByRole('button', { name: /^Actions for the version/ }).focus()
    await page.keyboard.press('Enter')
    await focusedEntry('Preview', page).waitFor()
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    await question.getByRole('button', { name: 'Delete', exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('Version deleted').waitFor()
    await details
      .getByRole('button', { name: /^Actions for the version/ })
      .waitFor({ state: 'detached' })
    // The focused element was removed with the version.
    await page.keyboard.press('Delete')
    await page.waitForTimeout(500)
    expect(await rowOf('log.txt', page).count()).toBe(1)
    expect(await textOf(kim, 'log.txt')).toBe('one')
  })

  it('keep the keyboard focus in place when one is deleted', async () => {
    const lea = await personWithFiles('lea')
    await lea.upload('log.txt', 'one')
    for (const text of ['two', 'three', 'four']) await replace(lea, 'log.txt', text)
    const details = await openDetails(lea, 'log.txt')
    const { page } = lea
    const actions = details.getByRole('button', { name: /^Actions for the version/ })
    await actions.nth(2).waitFor()
    const remove = async (at: number) => {
      await actions.nth(at).focus()
      await page.keyboard.press('Enter')
      await focusedEntry('Preview', page).waitFor()
      await page.keyboard.press('End')
      await page.keyboard.press('Enter')
      await page
        .getByRole('dialog', { name: 'Delete this version?' })
        .getByRole('button', { name: 'Delete', exact: true })
        .focus()
      const left = (await actions.count()) - 1
      await page.keyboard.press('Enter')
      await actions.nth(left).waitFor({ state: 'detached' })
      await until(() => page.evaluate('document.activeElement !== document.body'))
      return page.evaluate(
        '[...document.querySelectorAll(".version")].indexOf(document.activeElement.closest(".version"))',
      )
    }
    // The current version is the first line, and has no menu.
    expect(await remove(1)).toBe(2)
    expect(await remove(1)).toBe(1)
    expect(await remove(0)).toBe(-1)
    expect(await page.evaluate('document.activeElement.className')).toBe('versions')
    expectQuiet(lea)
  })

  it('report a concurrent change, and keep both contents', async () => {
    const lea = await personWithFiles('lea')
    await lea.upload('draft.txt', 'one')
    const details = await openDetails(lea, 'draft.txt')
    const { page } = lea
    const picker = page.waitForEvent('filechooser')
    await details.getByRole('button', { name: 'Upload new version' }).click()
    const chooser = await picker
    await replace(lea, 'draft.txt', 'of somebody else')
    await details.getByText('Current version').waitFor()
    await chooser.setFiles({
      name: 'mine.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('mine'),
    })
    await page.getByText('This entry was changed meanwhile', { exact: false }).waitFor()
    expect(await textOf(lea, 'draft.txt')).toBe('of somebody else')
  })

  it('appear for other members at once, with the actions of their role, under hostile names, on a phone', async () => {
    const carol = await personWithFiles('carol')
    const dora = await personWithFiles('dora', telephone)
    type Made = { createWorkspace: { workspace: { id: string; slug: string } } }
    const made = await carol.ask<Made>(
      'mutation { createWorkspace(input: { name: "Garden" }) { workspace { id slug } } }',
    )
    const { id, slug } = made.createWorkspace.workspace
    await carol.ask(
      'mutation ($input: CreateInviteInput!) { createInvite(input: $input) { invite { id } } }',
      {
        input: { workspace: id, email: dora.email, role: 'VIEWER' },
      },
    )
    type Invited = { me: { invites: { nodes: { token: string }[] } } }
    const { me } = await dora.ask<Invited>('{ me { invites(first: 1) { nodes { token } } } }')
    await dora.ask(
      'mutation ($input: AcceptInviteInput!) { acceptInvite(input: $input) { acceptedId } }',
      {
        input: { token: me.invites.nodes[0]?.token },
      },
    )
    const put = async (text: string) => {
      const file = { name: 'file', mimeType: 'text/plain', buffer: Buffer.from(text) }
      const at = `${w.service.url}/api/workspaces/${id}/files/upload`
      const answer = await carol.context.request.post(at, {
        multipart: { on_conflict: 'replace', file },
      })
      if (!answer.ok()) throw new Error(await answer.text())
    }
    await put('one')
    type Found = { workspace: { drive: { entry: { id: string } } } }
    const found = await carol.ask<Found>(
      'query ($id: ID!) { workspace(id: $id) { drive { entry(path: "file") { id } } } }',
      { id },
    )
    const entry = found.workspace.drive.entry.id
    await carol.ask(
      'mutation ($input: MoveEntriesInput!) { moveEntries(input: $input) { entries { id } } }',
      {
        input: { entries: [{ id: entry }], name: HOSTILE },
      },
    )
    const live = listening(dora.page)
    const page = await dora.open(`/workspaces/${slug}/files?details=true&sel=${entry}`)
    await live
    const details = detailsIn(page)
    await details.getByText('When this file is replaced').waitFor()
    expect(await details.getByRole('button', { name: 'Upload new version' }).count()).toBe(0)
    // Carol does this in her browser.
    const carols = await carol.open(`/workspaces/${slug}/files?details=true&sel=${entry}`)
    await choose(
      carols,
      () => detailsIn(carols).getByRole('button', { name: 'Upload new version' }).click(),
      'x.txt',
      'two',
    )
    await details.getByText('Current version').waitFor()
    await details.getByText('uploaded a new version', { exact: false }).waitFor()
    expect(await details.getByRole('button', { name: /^Restore/ }).count()).toBe(0)
    await details.getByRole('button', { name: /^Actions for the version/ }).tap()
    await page.getByRole('menuitem', { name: 'Download' }).waitFor()
    expect(await page.getByRole('menuitem', { name: 'Delete…' }).count()).toBe(0)
    await page.keyboard.press('Escape')
    await expectAccessible(page)
    await details.getByText('Current version').scrollIntoViewIfNeeded()
    await pictures(page, 'console-versions-telephone')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    expect(await page.title()).not.toBe('pwned')
    expectQuiet(dora)
    expectQuiet(carol)
  })
})

describe('The details of a file', () => {
  it('distinguish versions of the same minute, show the digest in one line, and show TypeScript as text', async () => {
    const ina = await w.person('ina')
    await ina.upload('plan.ts', 'const one = 1', 'video/mp2t')
    for (const text of ['const two = 2', 'const three = 3', 'const four = 4']) {
      const file = { name: 'plan.ts', mimeType: 'video/mp2t', buffer: Buffer.from(text) }
      const url = `${w.service.url}/api/files/upload`
      const multipart = { folder: '', on_conflict: 'replace', file }
      expect((await ina.context.request.post(url, { multipart })).status()).toBe(200)
    }
    const details = await openDetails(ina, 'plan.ts')
    const actions = details.getByRole('button', { name: /^Actions for the version of/ })
    await actions.nth(2).waitFor()
    const names = await actions.evaluateAll(all =>
      (all as unknown as { ariaLabel: string }[]).map(({ ariaLabel }) => ariaLabel),
    )
    expect([names.length, new Set(names).size]).toEqual([3, 3])
    const digest = details.locator('.facts code')
    const { height } = (await digest.boundingBox()) ?? { height: 0 }
    expect([(await digest.textContent())?.length, height > 0 && height < 24]).toEqual([32, true])
    await details.getByText('const four = 4').waitFor()
    expect(
      await ina.page
        .getByRole('row', { name: /^plan\.ts/ })
        .locator('.entry-icon.code')
        .count(),
    ).toBe(1)
    await details.getByText('text/typescript').waitFor()
    await expectAccessible(ina.page)
    await pictures(ina.page, 'console-details-versions-of-a-minute')
    await ina.ask(
      'mutation { createLink(input: { entries: { at: { path: "plan.ts" } } }) { share { id } } }',
    )
    const links = await ina.open('/links')
    await links
      .getByRole('listitem')
      .filter({ hasText: 'plan.ts' })
      .locator('.entry-icon.code')
      .waitFor()
  })
})

describe('The activity of a file', () => {
  it('shows only its own events, and updates by itself', async () => {
    const nia = await w.person('nia')
    await nia.upload('a.txt', 'a')
    await nia.upload('b.txt', 'b')
    const live = listening(nia.page)
    const details = await openDetails(nia, 'a.txt')
    await live
    const sentences = details.locator('.activity-event .grow')
    await sentences.filter({ hasText: 'You added' }).waitFor()
    expect(await sentences.count()).toBe(1)
    await nia.ask(
      'mutation ($input: MoveEntriesInput!) { moveEntries(input: $input) { entries { id } } }',
      {
        input: { entries: [{ at: { path: 'a.txt' } }], name: 'c.txt' },
      },
    )
    await sentences.filter({ hasText: 'You renamed' }).waitFor()
    await details.getByRole('button', { name: 'Share…' }).click()
    const sheet = nia.page.getByRole('dialog')
    await sheet.getByRole('button', { name: 'Create link' }).click()
    await nia.page.keyboard.press('Escape')
    await sentences.filter({ hasText: /shared “.+” by a link/ }).waitFor()
    expect(await sentences.count()).toBe(3)
    await expectAccessible(nia.page)
    await pictures(nia.page, 'console-details-file')
    expectQuiet(nia)
  })

  it('loads older events on demand, and recovers from a failure', async () => {
    const ole = await w.person('ole')
    await ole.upload('n0', 'x')
    for (let at = 0; at < 7; at++)
      await ole.ask(
        'mutation ($input: MoveEntriesInput!) { moveEntries(input: $input) { entries { id } } }',
        {
          input: { entries: [{ at: { path: `n${at}` } }], name: `n${at + 1}` },
        },
      )
    // Delays all responses until the button is pressed, even those of background refetches.
    await ole.context.addInitScript(
      "addEventListener('click', ({ target }) => { if (target.textContent === 'Try again') window.again = true }, true)",
    )
    await ole.page.route('**/graphql', async (route, request) => {
      const isAsked = request.postData()?.includes('EntryActivity')
      return isAsked && !(await ole.page.evaluate('window.again'))
        ? route.abort()
        : route.continue()
    })
    const details = await openDetails(ole, 'n7')
    await details.getByRole('button', { name: 'Try again' }).click()
    const sentences = details.locator('.activity-event')
    await sentences.nth(4).waitFor()
    expect(await sentences.count()).toBe(5)
    await details.getByRole('button', { name: 'Show more' }).click()
    await sentences.filter({ hasText: 'You added' }).waitFor()
    expect(await sentences.count()).toBe(8)
  })
})
