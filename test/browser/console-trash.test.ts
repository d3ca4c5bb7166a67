import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { until } from '../support/until.ts'
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

const gone = (name: string, on: Page) => rowOf(name, on).waitFor({ state: 'detached' })
const names = async (on: Page) => (await on.locator('.row .name').allTextContents()).sort()
const select = (name: string, on: Page) => rowOf(name, on).click()

const DELETE =
  'mutation ($input: DeleteEntriesInput!) { deleteEntries(input: $input) { deletedIds } }'
/** Deletes entries of a drive. Without an id, it is the own drive. */
const remove = (who: Person, paths: string[], drive?: string) =>
  who.ask(DELETE, {
    input: { entries: paths.map(path => ({ at: { path, drive } })), recursive: true },
  })

/** The paths in the own trash, according to the service. */
async function trashed(who: Person): Promise<string[]> {
  type Answer = { me: { drive: { trash: { nodes: { path: string }[] } } } }
  const { me } = await who.ask<Answer>('{ me { drive { trash { nodes { path } } } } }')
  return me.drive.trash.nodes.map(({ path }) => path).sort()
}

/** The entry of the own drive at a path. */
async function kindAt(who: Person, path: string): Promise<string | undefined> {
  type Answer = { me: { drive: { entry: { __typename: string } | null } } }
  const query = 'query ($path: String!) { me { drive { entry(path: $path) { __typename } } } }'
  return (await who.ask<Answer>(query, { path })).me.drive.entry?.__typename
}

describe('The trash', () => {
  let w: ConsoleWorld
  beforeAll(async () => {
    w = await startConsole()
  }, 120_000)
  afterAll(() => w?.stop())

  it('is empty at first, and shows deleted entries live', async () => {
    const alice = await w.person('alice')
    await alice.upload('Letters/To the council.txt', 'Dear council')
    await alice.upload('notes.txt', 'one')
    await alice.upload('plan.txt', 'two')
    const page = await alice.open('/trash')
    await page.getByRole('heading', { name: 'The trash is empty' }).waitFor()
    expect(await page.title()).toBe('Trash · Satchel')
    await expectAccessible(page)
    await pictures(page, 'console-trash-empty')
    const there = await alice.context.newPage()
    await there.goto(`${w.service.url}/files`)
    await select('Letters', there)
    await there.keyboard.press('Delete')
    await there.getByText('“Letters” is in the trash.').waitFor()
    const live = listening(page)
    await page.reload()
    await live
    await rowOf('Letters', page).waitFor()
    await select('notes', there)
    await there.getByRole('toolbar').getByRole('button', { name: 'Delete' }).click()
    await rowOf('notes', page).waitFor()
    expect(await names(page)).toEqual(['Letters', 'notes.txt'])
    await expectAccessible(page)
    await pictures(page, 'console-trash')
    expectQuiet(alice)
  })

  it('shows the kind of each item', async () => {
    const erin = await w.person('erin')
    await erin.upload('Letters/To the council.txt', 'Dear council')
    await erin.upload('notes.txt', 'one')
    await erin.upload('Sunrise.png', 'as if', 'image/png')
    await remove(erin, ['Letters', 'notes.txt', 'Sunrise.png'])
    const page = await erin.open('/trash')
    await rowOf('Letters', page).locator('.entry-icon.folder').waitFor()
    await rowOf('notes', page).locator('.entry-icon.text').waitFor()
    await rowOf('Sunrise.png', page).locator('.entry-icon.image').waitFor()
    await erin.context.close()
  })

  it('restores items to their old place, and links there', async () => {
    const alice = await w.person('alice')
    const page = await alice.open('/trash')
    await rowOf('Letters', page).click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Restore', exact: true }).waitFor()
    await expectAccessible(page)
    await page.getByRole('menuitem', { name: 'Restore', exact: true }).click()
    await gone('Letters', page)
    await page.getByText('“Letters” is back in “My files”.').waitFor()
    expect(await kindAt(alice, 'Letters/To the council.txt')).toBe('File')
    await page.getByRole('button', { name: 'Show' }).click()
    await page.waitForURL(/\/files\?sel=/)
    await page.locator('[aria-selected=true]').getByText('Letters').waitFor()
    expectQuiet(alice)
  })

  it('restores items to another folder', async () => {
    const alice = await w.person('alice')
    const page = await alice.open('/trash')
    await select('notes', page)
    await page.getByRole('button', { name: 'Restore to…' }).click()
    const dialog = page.getByRole('dialog')
    // Styled like the files screen, whose styles this page has not loaded.
    expect(
      await dialog.locator('.picker-list').evaluate(list => getComputedStyle(list).overflowY),
    ).toBe('auto')
    await dialog.getByRole('button', { name: 'Letters' }).click()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Restore here' }).click()
    await page.getByText('“notes.txt” is back in “Letters”.').waitFor()
    await page.getByRole('heading', { name: 'The trash is empty' }).waitFor()
    expect(await kindAt(alice, 'Letters/notes.txt')).toBe('File')
  })

  it('asks what to do about a taken name', async () => {
    const bob = await w.person('bob')
    for (const name of ['a.txt', 'b.txt']) await bob.upload(name, 'old')
    await remove(bob, ['a.txt', 'b.txt'])
    for (const name of ['a.txt', 'b.txt']) await bob.upload(name, 'new')
    const page = await bob.open('/trash')
    await select('a.txt', page)
    await page.getByRole('button', { name: 'Restore', exact: true }).click()
    await page.getByRole('heading', { name: 'The name is taken' }).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-trash-taken')
    await page.getByRole('button', { name: 'Keep both' }).click()
    await page.getByText('“a (2).txt” is back in “My files”.').waitFor()
    await gone('a.txt', page)
    await select('b.txt', page)
    await page.getByRole('button', { name: 'Restore', exact: true }).click()
    await page.getByRole('button', { name: 'Replace' }).click()
    await page.getByText('“b.txt” is back in “My files”.').waitFor()
    // The replaced entry takes its place in the trash.
    await rowOf('b.txt', page).waitFor()
    expect(await trashed(bob)).toEqual(['b.txt'])
    expect(await kindAt(bob, 'a (2).txt')).toBe('File')
    expectQuiet(bob)
  })

  it('deletes a selection permanently by keyboard, and everything on request', async () => {
    const carol = await w.person('carol')
    const all = ['a.txt', 'b.txt', 'c.txt']
    for (const name of all) await carol.upload(name, name)
    await remove(carol, all)
    const page = await carol.open('/trash')
    await rowOf('a.txt', page).waitFor()
    await page.getByRole('grid').focus()
    await page.keyboard.type('b')
    await page.keyboard.press('Shift+F10')
    await page.getByRole('menuitem', { name: 'Delete permanently' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'detached' })
    await page.getByRole('grid').focus()
    await page.keyboard.press('Delete')
    await page.getByRole('heading', { name: 'Delete 1 item permanently?' }).waitFor()
    await expectAccessible(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Delete permanently' }).click()
    await gone('b.txt', page)
    await page.getByText('“b.txt” is deleted permanently.').waitFor()
    expect(await trashed(carol)).toEqual(['a.txt', 'c.txt'])
    await page.getByRole('button', { name: 'Empty the trash' }).click()
    await pictures(page, 'console-trash-emptying')
    await page.getByRole('dialog').getByRole('button', { name: 'Empty the trash' }).click()
    await page.getByRole('heading', { name: 'The trash is empty' }).waitFor()
    // The screen hides the items before the service has answered.
    await until(async () => (await trashed(carol)).length === 0)
    expectQuiet(carol)
  })

  it('completes an action even if the page is left at once', async () => {
    const fay = await w.person('fay')
    for (const name of ['a.txt', 'b.txt', 'c.txt']) await fay.upload(name, name)
    await remove(fay, ['a.txt', 'b.txt', 'c.txt'])
    const page = await fay.open('/trash')
    await page.evaluate(`{
      window.kept = []
      const send = window.fetch
      window.fetch = (url, options = {}) => {
        if (String(options.body).includes('mutation ')) kept.push(options.keepalive)
        return send(url, options)
      }
    }`)
    await select('a.txt', page)
    await page.getByRole('button', { name: 'Restore', exact: true }).click()
    await gone('a.txt', page)
    await select('b.txt', page)
    await page.keyboard.press('Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete permanently' }).click()
    await gone('b.txt', page)
    await page.getByRole('button', { name: 'Empty' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Empty' }).click()
    await gone('c.txt', page)
    expect(await page.evaluate('kept')).toEqual([true, true, true])
    await fay.context.close()
  })

  it('of a workspace hides actions that a role does not allow', async () => {
    const dora = await w.person('dora')
    const emil = await w.person('emil')
    type Made = {
      createWorkspace: { workspace: { id: string; slug: string; drive: { id: string } } }
    }
    const { createWorkspace } = await dora.ask<Made>(
      'mutation { createWorkspace(input: { name: "Garden" }) { workspace { id slug drive { id } } } }',
    )
    const { id, slug, drive } = createWorkspace.workspace
    await dora.ask(
      'mutation ($input: CreateFolderInput!) { createFolder(input: $input) { folder { id } } }',
      {
        input: { at: { drive: drive.id, path: 'beds/roses' } },
      },
    )
    await remove(dora, ['beds'], drive.id)
    await dora.ask(
      'mutation ($input: CreateInviteInput!) { createInvite(input: $input) { invite { id } } }',
      {
        input: { workspace: id, email: emil.email, role: 'VIEWER' },
      },
    )
    type Invited = { me: { invites: { nodes: { token: string }[] } } }
    const { me } = await emil.ask<Invited>('{ me { invites(first: 1) { nodes { token } } } }')
    await emil.ask(
      'mutation ($input: AcceptInviteInput!) { acceptInvite(input: $input) { acceptedId } }',
      {
        input: { token: me.invites.nodes[0]?.token },
      },
    )
    const theirs = await emil.open(`/workspaces/${slug}/trash`)
    await theirs.getByRole('heading', { name: 'Trash of Garden' }).waitFor()
    await select('beds', theirs)
    await theirs.getByText('1 selected').waitFor()
    expect(await theirs.getByRole('button', { name: /Restore|Delete|Empty/ }).count()).toBe(0)
    const page = await dora.open(`/workspaces/${slug}/files`)
    await page.locator('.files-list').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Trash' }).click()
    await select('beds', page)
    await page.getByRole('button', { name: 'Restore', exact: true }).click()
    await page.getByText('“beds” is back in “Garden”.').waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-trash-workspace')
    await page.getByRole('link', { name: 'Files', exact: true }).click()
    await rowOf('beds', page).waitFor()
    expectQuiet(emil)
    expectQuiet(dora)
  })

  it('fits a phone', async () => {
    const frank = await w.person('frank', telephone)
    await frank.upload('Letters/banana.txt', 'x')
    await frank.upload(`${'x'.repeat(200)}.txt`, 'x')
    await remove(frank, ['Letters/banana.txt', `${'x'.repeat(200)}.txt`])
    const page = await frank.open('/trash')
    await rowOf('banana', page).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-trash-telephone')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await rowOf('banana', page).tap()
    await pictures(page, 'console-trash-telephone-selected')
    await page.getByRole('button', { name: 'Restore', exact: true }).tap()
    await page.getByText('“banana.txt” is back in “Letters”.').waitFor()
    await gone('banana', page)
    expect(await kindAt(frank, 'Letters/banana.txt')).toBe('File')
    expectQuiet(frank)
  })

  it('lists thousands of items, and renders only the visible ones', async () => {
    const gina = await w.person('gina')
    const paths = Array.from({ length: 1100 }, (_, at) => `f${String(at).padStart(4, '0')}`)
    const FOLDER = 'createFolder(input: { at: { path: "'
    for (let at = 0; at < paths.length; at += 10)
      await gina.ask(
        `mutation { ${paths
          .slice(at, at + 10)
          .map(path => `${path}: ${FOLDER}${path}" } }) { folder { id } }`)
          .join(' ')} }`,
      )
    await remove(gina, paths.slice(0, 1000))
    await remove(gina, paths.slice(1000))
    const page = await gina.open('/trash')
    await page.getByText(/^(100|1,100) items/).waitFor()
    await page.getByRole('grid').focus()
    await page.keyboard.press('End')
    await page.keyboard.press('Escape')
    await page.getByText('1,100 items', { exact: true }).waitFor()
    expect(await page.locator('.row').count()).toBeLessThan(100)
    await page.keyboard.press('Control+a')
    await page.getByText('1,100 selected').waitFor()
    await page.getByRole('button', { name: 'Restore', exact: true }).click()
    await page.getByText('1,100 items are back in “My files”.').waitFor()
    await settled(page)
    await page.getByRole('heading', { name: 'The trash is empty' }).waitFor()
    expect(await trashed(gina)).toEqual([])
  })
})

describe('Without a trash', () => {
  let w: ConsoleWorld
  beforeAll(async () => {
    w = await startConsole({ TRASH_DAYS: '0' })
  }, 120_000)
  afterAll(() => w?.stop())

  it('asks before it deletes', async () => {
    const alice = await w.person('alice')
    await alice.upload('a.txt', 'a')
    await alice.upload('b.txt', 'b')
    const page = await alice.open('/files')
    await rowOf('a.txt', page).click()
    await page.keyboard.press('Delete')
    await page.getByRole('heading', { name: 'Delete 1 item permanently?' }).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-delete-for-ever')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('toolbar').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('“a.txt” is deleted.').waitFor()
    await rowOf('a.txt', page).waitFor({ state: 'detached' })
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0)
    await rowOf('b.txt', page).waitFor()
    expectQuiet(alice)
  })
})
