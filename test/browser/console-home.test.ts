import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  type ConsoleWorld,
  expectAccessible,
  expectQuiet,
  type Person,
  pictures,
  rowOf,
  settled,
  startConsole,
  telephone,
} from './console.ts'

let w: ConsoleWorld
let alice: Person

beforeAll(async () => {
  w = await startConsole()
  alice = await w.person('alice')
  for (const path of ['a.txt', 'b.txt', 'Projects/plan.txt']) await alice.upload(path, path)
}, 120_000)
afterAll(() => w?.stop())

const nav = () => alice.page.getByRole('navigation', { name: 'Main' })
const favourites = () => nav().getByRole('list', { name: 'Favourites' }).getByRole('link')

describe('Tags', () => {
  it('are created and added by keyboard, appear in list, tiles and details, and filter the list', async () => {
    const page = await alice.open('/files')
    await rowOf('a', page).click()
    await page.keyboard.press('Alt+t')
    const dialog = page.getByRole('dialog', { name: 'Tags of 1 item' })
    await dialog.getByText('There are no tags yet').waitFor()
    await dialog.getByLabel('New tag').fill('Urgent')
    await dialog.getByLabel('Colour').selectOption('RED')
    await dialog.getByRole('button', { name: 'Create' }).press('Enter')
    await dialog.getByRole('checkbox', { name: 'Urgent' }).waitFor()
    expect(await dialog.getByRole('checkbox', { name: 'Urgent' }).isChecked()).toBe(true)
    await expectAccessible(page)
    await pictures(page, 'console-tags-dialog')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await rowOf('a', page).getByText('Urgent').waitFor()
    expect(await rowOf('b', page).getByText('Urgent').count()).toBe(0)

    await page.getByRole('button', { name: 'Filter by tags' }).click()
    await page
      .getByRole('group', { name: 'Filter by tags' })
      .getByRole('button', { name: 'Urgent' })
      .click()
    await rowOf('b', page).waitFor({ state: 'detached' })
    expect(
      await page
        .getByRole('row')
        .filter({ has: page.locator('.name') })
        .count(),
    ).toBe(1)
    await expectAccessible(page)
    await pictures(page, 'console-tags-filter')
    await page.reload()
    await settled(page)
    expect(
      await page
        .getByRole('row')
        .filter({ has: page.locator('.name') })
        .count(),
    ).toBe(1)
    await page.getByRole('button', { name: 'End the filter' }).click()
    await rowOf('b', page).waitFor()
    await page.getByRole('button', { name: 'Show as grid' }).click()
    await page.locator('.tile-card').getByText('Urgent').waitFor()
    await page.getByRole('button', { name: 'Show as list' }).click()
    expectQuiet(alice)
  })

  it('are added to a partly tagged selection, and removed', async () => {
    const page = await alice.open('/files')
    await rowOf('a', page).click()
    await rowOf('b', page).click({ modifiers: ['ControlOrMeta'] })
    await page.keyboard.press('Alt+t')
    const box = page
      .getByRole('dialog', { name: 'Tags of 2 items' })
      .getByRole('checkbox', { name: 'Urgent' })
    await box.waitFor()
    expect(
      await box.evaluate(input => (input as unknown as { indeterminate: boolean }).indeterminate),
    ).toBe(true)
    await box.check()
    await page.getByRole('button', { name: 'Save' }).click()
    await rowOf('b', page).getByText('Urgent').waitFor()
    await page.keyboard.press('Alt+t')
    await box.uncheck()
    await page.getByRole('button', { name: 'Save' }).click()
    await rowOf('a', page).getByText('Urgent').waitFor({ state: 'detached' })
    expect(await rowOf('b', page).getByText('Urgent').count()).toBe(0)
    expectQuiet(alice)
  })

  it('are renamed, recoloured and deleted for the whole drive', async () => {
    const page = await alice.open('/files')
    await rowOf('a', page).click({ button: 'right' })
    await page.getByRole('menuitem', { name: /^Tags/ }).click()
    await page.getByRole('dialog').getByRole('checkbox', { name: 'Urgent' }).check()
    await page.getByRole('button', { name: 'Save' }).click()
    await rowOf('a', page).getByText('Urgent').waitFor()
    await page.keyboard.press('Escape')
    await page.locator('.files-list').click({ button: 'right', position: { x: 200, y: 380 } })
    await page.getByRole('menuitem', { name: 'Manage tags' }).click()
    const dialog = page.getByRole('dialog', { name: 'Manage tags' })
    const name = dialog.getByLabel('Name of the tag “Urgent”')
    await name.fill('Later')
    await name.press('Enter')
    await dialog.getByLabel('Colour of the tag “Later”').selectOption('TEAL')
    await dialog.getByText('1 item').waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-tags-manager')
    await rowOf('a', page).getByText('Later').waitFor({ state: 'attached' })
    await dialog.getByRole('button', { name: 'Delete the tag “Later”' }).click()
    await page
      .getByRole('dialog', { name: 'Delete the tag “Later”?' })
      .getByRole('button', { name: 'Delete' })
      .click()
    await dialog.getByText('There are no tags yet').waitFor()
    await page.keyboard.press('Escape')
    await rowOf('a', page).getByText('Later').waitFor({ state: 'detached' })
    expectQuiet(alice)
  })

  it('from another window appear by themselves', async () => {
    const page = await alice.open('/files')
    await rowOf('b', page).waitFor()
    const made = await alice.ask<{ createTag: { tag: { id: string } } }>(
      'mutation ($input: CreateTagInput!) { createTag(input: $input) { tag { id } } }',
      { input: { name: 'Elsewhere', colour: 'GREEN' } },
    )
    const input = { entries: [{ at: { path: 'b.txt' } }], add: [made.createTag.tag.id] }
    await alice.ask(
      'mutation ($input: TagEntriesInput!) { tagEntries(input: $input) { drive { id } } }',
      { input },
    )
    await rowOf('b', page).getByText('Elsewhere').waitFor()
    expectQuiet(alice)
  })
})

describe('Favourites', () => {
  it('are added by keyboard, appear in the navigation, and can be reordered', async () => {
    const page = await alice.open('/files')
    await rowOf('Projects', page).click()
    await page.keyboard.press('Alt+b')
    await favourites().filter({ hasText: 'Projects' }).waitFor()
    await rowOf('Projects', page).getByText('Favourite').waitFor({ state: 'attached' })
    await rowOf('a', page).click()
    await page.keyboard.press('Alt+b')
    await favourites().filter({ hasText: 'a.txt' }).waitFor()
    expect(await favourites().allTextContents()).toEqual(['Projects', 'a.txt'])
    await expectAccessible(page)
    await pictures(page, 'console-favourites')
    await favourites().filter({ hasText: 'a.txt' }).press('Alt+ArrowUp')
    await favourites().first().filter({ hasText: 'a.txt' }).waitFor()
    await favourites().filter({ hasText: 'a.txt' }).press('Alt+ArrowDown')
    await favourites().first().filter({ hasText: 'Projects' }).waitFor()
    await favourites().filter({ hasText: 'Projects' }).click()
    await page.waitForURL(/\/files\/Projects$/)
    await rowOf('plan', page).waitFor()
    await page.goBack()
    await rowOf('a', page).click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Remove from favourites' }).click()
    await favourites().filter({ hasText: 'a.txt' }).waitFor({ state: 'detached' })
    expectQuiet(alice)
  })

  it('are added in the details, whose tags link to all tagged entries', async () => {
    await alice.open('/files?details=true')
    const { page } = alice
    await rowOf('a', page).click()
    const details = page.getByRole('complementary', { name: 'Details' })
    await details.getByRole('button', { name: 'Add to favourites' }).press('Enter')
    await favourites().filter({ hasText: 'a.txt' }).waitFor()
    await details.getByRole('button', { name: 'Remove from favourites' }).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-details-favourite')
    await details.getByRole('button', { name: 'Remove from favourites' }).click()
    await favourites().filter({ hasText: 'a.txt' }).waitFor({ state: 'detached' })
    const { me } = await alice.ask<{ me: { drive: { id: string } } }>('{ me { drive { id } } }')
    const tag = 'mutation ($input: CreateTagInput!) { createTag(input: $input) { tag { id } } }'
    const { createTag } = await alice.ask<{ createTag: { tag: { id: string } } }>(tag, {
      input: { drive: me.drive.id, name: 'To pay', colour: 'GREEN' },
    })
    await alice.ask(
      'mutation ($input: TagEntriesInput!) { tagEntries(input: $input) { entries { id } } }',
      {
        input: {
          entries: [{ at: { path: 'a.txt' } }, { at: { path: 'Projects/plan.txt' } }],
          add: [createTag.tag.id],
        },
      },
    )
    await details.getByRole('link', { name: 'To pay' }).press('Enter')
    await page.waitForURL(/\/search\?/)
    expect(new URL(page.url()).searchParams.get('q')).toBe('tag:"To pay" drive:me')
    await page.getByText('plan.txt').first().waitFor()
    expectQuiet(alice)
  })

  it('can be shares from others', async () => {
    const eve = await w.person('eve')
    await eve.upload('present.txt', 'x')
    await eve.ask(
      'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { id } } }',
      {
        input: { email: 'alice@example.com', entries: [{ at: { path: 'present.txt' } }] },
      },
    )
    const page = await alice.open('/shared')
    const star = page.getByRole('button', { name: '“present.txt”: favourite' })
    await star.press('Enter')
    await favourites().filter({ hasText: 'present.txt' }).waitFor()
    await page.getByRole('button', { name: '“present.txt”: favourite', pressed: true }).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-received-favourite')
    await star.click()
    await favourites().filter({ hasText: 'present.txt' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: '“present.txt”: favourite', pressed: false }).waitFor()
    await eve.ask(
      'mutation ($input: DeleteEntriesInput!) { deleteEntries(input: $input) { filesDeleted } }',
      {
        input: { entries: [{ at: { path: 'present.txt' } }] },
      },
    )
    expectQuiet(alice)
  })
})

describe('Home', () => {
  it('shows recent files, notices and received shares', async () => {
    const bob = await w.person('bob')
    await bob.upload('gift.txt', 'x')
    await bob.ask(
      'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { id } } }',
      {
        input: { email: 'alice@example.com', entries: [{ at: { path: 'gift.txt' } }] },
      },
    )
    await alice.ask(
      'mutation ($input: CreateLinkInput!) { createLink(input: $input) { share { id } } }',
      {
        input: { entries: { at: { path: 'b.txt' } }, duration: '1d' },
      },
    )
    const page = await alice.open('/start')
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    expect(await page.title()).toBe('Home · Satchel')
    const recent = page.getByRole('region', { name: 'What you worked on' })
    await recent.getByText(/Shared ·/).waitFor()
    expect(await recent.getByRole('link').allTextContents()).toEqual([
      'b.txt',
      'plan.txt',
      'Projects',
      'a.txt',
    ])
    await page.getByRole('region', { name: 'Shared with you' }).getByText('gift.txt').waitFor()
    await page
      .getByRole('region', { name: 'Needs your attention' })
      .getByText(/The share of “b.txt” ends/)
      .waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-home')
    await recent.getByRole('link', { name: 'Projects' }).click()
    await page.waitForURL(/\/files\/Projects$/)
    expectQuiet(alice)
  })

  it('shows favourites on a phone, in German and from right to left', async () => {
    const state = await alice.context.storageState()
    for (const locale of ['de-CH', 'en-Arab']) {
      const context = await w.browser.newContext({
        ...telephone,
        locale,
        storageState: state,
        serviceWorkers: 'block',
      })
      const page = await context.newPage()
      await page.goto(`${w.service.url}/start`)
      await settled(page)
      await page.getByRole('link', { name: 'Projects' }).first().waitFor()
      if (locale === 'de-CH')
        await page.getByRole('heading', { name: 'Woran du gearbeitet hast' }).waitFor()
      const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
      expect(wide).toBeLessThanOrEqual(0)
      await expectAccessible(page)
      await pictures(page, `console-home-${locale}`)
      await context.close()
    }
  })
})
