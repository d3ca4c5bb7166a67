import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { eventually } from '../support/until.ts'
import {
  type ConsoleWorld,
  expectAccessible,
  expectQuiet,
  type Person,
  pictures,
  rowOf,
  startConsole,
} from './console.ts'
import { expectSelected, gone, withFiles } from './drive-world.ts'
import { Hands } from './hands.ts'

let w: ConsoleWorld
let alice: Person

beforeAll(async () => {
  w = await startConsole()
  alice = await w.person('alice')
}, 120_000)
afterAll(() => w?.stop())

const dialogOn = (page: Page) => page.getByRole('dialog')
const closed = (page: Page) => dialogOn(page).waitFor({ state: 'detached' })
/** The names of the entries in a folder of a person's own drive. */
async function namesIn(who: Person, path: string): Promise<string[]> {
  type Found = { me: { drive: { entry: { entries?: { nodes: { name: string }[] } } | null } } }
  const { me } = await who.ask<Found>(
    'query ($path: String!) { me { drive { entry(path: $path) { ... on Folder { entries(first: 100) { nodes { name } } } } } } }',
    { path },
  )
  return (me.drive.entry?.entries?.nodes ?? []).map(({ name }) => name)
}

describe('Pickers', () => {
  it('create the folder that something is moved to, with the keyboard alone', async () => {
    const page = await withFiles(alice)
    await rowOf('apple', page).click()
    await page.keyboard.press('Alt+m')
    await dialogOn(page).getByRole('button', { name: 'New folder' }).press('Enter')
    const name = page.getByLabel('Name of the new folder in “My files”')
    await expectAccessible(page)
    await pictures(page, 'daily-picker-new-folder')
    // Escape ends the naming, and keeps the dialog.
    await name.press('Escape')
    await name.waitFor({ state: 'detached' })
    await dialogOn(page).getByRole('button', { name: 'New folder' }).press('Enter')
    await name.fill('folder')
    await name.press('Enter')
    await dialogOn(page).getByRole('alert').getByText('exists already').waitFor()
    await name.fill('Fruit')
    await name.press('Enter')
    await closed(page)
    await page.getByText('1 item moved to “Fruit”').waitFor()
    expect(await namesIn(alice, 'Fruit')).toEqual(['apple.txt'])
  })

  it('create a folder and open it, to copy to a deeper one', async () => {
    const page = await alice.open('/files')
    await rowOf('banana', page).click()
    await page.keyboard.press('Alt+c')
    await dialogOn(page).getByRole('button', { name: 'New folder' }).click()
    await page.getByLabel('Name of the new folder in “My files”').fill('Outer')
    await dialogOn(page).getByRole('button', { name: 'Create', exact: true }).click()
    await dialogOn(page).getByText('There are no folders in here.').waitFor()
    await dialogOn(page).getByRole('button', { name: 'New folder' }).click()
    await page.getByLabel('Name of the new folder in “Outer”').fill('Inner')
    await dialogOn(page).getByRole('button', { name: 'Create and copy' }).click()
    await page.getByText('1 item copied to “Inner”').waitFor()
    expect(await namesIn(alice, 'Outer/Inner')).toEqual(['banana.txt'])
  })
})

describe('Keys after a selection', () => {
  const taken = (month: string, background: string) =>
    sharp({ create: { width: 160, height: 120, channels: 3, background } })
      .withExifMerge({ IFD2: { DateTimeOriginal: `${month}:15 12:00:00` } })
      .jpeg()
      .toBuffer()

  it('move the pictures of a month to a new folder in four steps', async () => {
    const anna = await w.person('anna')
    for (let at = 0; at < 50; at++)
      await anna.upload(`camera/p${at}.jpg`, await taken('2024:07', `rgb(${at * 5},80,120)`))
    await anna.upload('camera/other.jpg', await taken('2023:01', '#222'))
    // The service reads the times of the pictures later.
    type Months = { me: { drive: { pictureMonths: { month: string; count: number }[] } } }
    await eventually(async () => {
      const { me } = await anna.ask<Months>('{ me { drive { pictureMonths { month count } } } }')
      expect(me.drive.pictureMonths.map(({ count }) => count)).toEqual([50, 1])
    }, 120_000)
    const page = await anna.open('/pictures')
    const hands = new Hands()
    await hands.click(page.getByRole('button', { name: 'Select July 2024' }))
    await hands.press(page, 'Alt+m')
    await hands.click(dialogOn(page).getByRole('button', { name: 'New folder' }))
    await page.locator('input[name=name]:focus').waitFor()
    await page.keyboard.type('Holiday')
    await hands.press(page, 'Enter')
    await page.getByText('50 items moved to “Holiday”').waitFor()
    expect(hands.count).toBe(4)
    expect(await namesIn(anna, 'Holiday')).toHaveLength(50)
    expect(await namesIn(anna, 'camera')).toEqual(['other.jpg'])
    expectQuiet(anna)
  })

  it('moves pictures into folders by month, and undoes that', async () => {
    const hugo = await w.person('hugo')
    for (const [name, month] of [
      ['a', '2024:07'],
      ['b', '2024:07'],
      ['c', '2023:01'],
    ] as const)
      await hugo.upload(`roll/${name}.jpg`, await taken(month, '#345'), 'image/jpeg')
    type Months = { me: { drive: { pictureMonths: { count: number }[] } } }
    await eventually(async () => {
      const { me } = await hugo.ask<Months>('{ me { drive { pictureMonths { count } } } }')
      expect(me.drive.pictureMonths.map(({ count }) => count)).toEqual([2, 1])
    }, 120_000)
    const page = await hugo.open('/files/roll')
    await rowOf('a', page).click()
    await page.keyboard.press('Control+a')
    await page.keyboard.press('Shift+F10')
    await page.getByRole('menuitem', { name: 'Move into folders by month' }).click()
    await page.getByText('3 items moved into 2 folders by month').waitFor()
    await rowOf('2024-07', page).waitFor()
    expect(await namesIn(hugo, 'roll/2024-07')).toEqual(['a.jpg', 'b.jpg'])
    expect(await namesIn(hugo, 'roll/2023-01')).toEqual(['c.jpg'])
    await page.getByRole('button', { name: 'Undo' }).click()
    await rowOf('c', page).waitFor()
    await eventually(async () =>
      expect(await namesIn(hugo, 'roll')).toEqual([
        '2023-01',
        '2024-07',
        'a.jpg',
        'b.jpg',
        'c.jpg',
      ]),
    )
    expectQuiet(hugo)
  })

  it('delete what a click, a range, a check mark or Space has just selected', async () => {
    const bert = await w.person('bert')
    const page = await withFiles(bert)
    await rowOf('apple', page).click()
    await rowOf('banana', page).click({ modifiers: ['Shift'] })
    await page.keyboard.press('Delete')
    await gone('apple', page)
    await gone('banana', page)
    await rowOf('cherry', page).hover()
    await rowOf('cherry', page).locator('.mark').click()
    await expectSelected(page, 'cherry.txt')
    await page.keyboard.press('Delete')
    await gone('cherry', page)
    await page.getByRole('grid').press('End')
    await page.keyboard.press('Delete')
    await gone('date', page)
    await page.goto(`${w.service.url}/search?q=inside`)
    await rowOf('inside', page).locator('.mark').click()
    await page.getByRole('button', { name: 'Share…' }).focus()
    await page.keyboard.press('Alt+m')
    await dialogOn(page).getByRole('heading', { name: 'Move 1 item' }).waitFor()
  })
})

describe('Versions and activity', () => {
  it('restores an overwritten file in three steps', async () => {
    await alice.upload('plan.txt', 'the old plan')
    const file = { name: 'plan.txt', mimeType: 'text/plain', buffer: Buffer.from('an accident') }
    const answer = await alice.context.request.post(`${w.service.url}/api/files/upload`, {
      multipart: { on_conflict: 'replace', file },
    })
    expect(answer.ok()).toBe(true)
    const page = await alice.open('/files')
    const hands = new Hands()
    await hands.click(rowOf('plan', page), { button: 'right' })
    await hands.click(page.getByRole('menuitem', { name: 'Versions' }))
    await hands.click(page.getByRole('button', { name: /^Restore the version of/ }))
    await page.getByText('is the current one again').waitFor()
    expect(hands.count).toBe(3)
    await pictures(page, 'daily-versions')
    await rowOf('plan', page).click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Activity' }).first().click()
    await page
      .getByRole('complementary', { name: 'Details' })
      .getByText('You restored an older version of')
      .waitFor()
    expectQuiet(alice)
  })
})

describe('The view', () => {
  it('is remembered for the person, in every folder and on every device', async () => {
    const gina = await w.person('gina')
    await gina.upload('small.txt', 'xx')
    await gina.upload('large.txt', 'x'.repeat(5000))
    await gina.upload('folder/inside.txt', 'x')
    const page = await gina.open('/files')
    await page.getByRole('button', { name: 'Show as grid' }).click()
    await page.getByRole('button', { name: 'Sort by' }).click()
    await page.getByRole('menuitemradio', { name: 'Size' }).click()
    await page.getByRole('button', { name: 'Sort by' }).click()
    await expectAccessible(page)
    await pictures(page, 'daily-tile-sizes')
    await page.getByRole('menuitemradio', { name: 'Large tiles' }).click()
    const names = (on: Page) => on.locator('.tile-card .name').allTextContents()
    await eventually(async () =>
      expect(await names(page)).toEqual(['large.txt', 'small.txt', 'folder']),
    )
    const wide = async (on: Page) => (await on.locator('.tile-card').first().boundingBox())?.height
    expect(await wide(page)).toBeGreaterThan(250)
    await pictures(page, 'daily-large-tiles')
    await rowOf('folder', page).dblclick()
    await page.locator('.tile-card', { hasText: 'inside.txt' }).waitFor()
    expect(page.url()).not.toContain('view=')
    const elsewhere = await w.person('gina')
    const other = await elsewhere.open('/files')
    await eventually(async () =>
      expect(await names(other)).toEqual(['large.txt', 'small.txt', 'folder']),
    )
    expect(await wide(other)).toBeGreaterThan(250)
    await other.getByRole('button', { name: 'Show as list' }).click()
    await other.getByRole('columnheader', { name: 'Size' }).waitFor()
    await gina.open('/files')
    await page.getByRole('columnheader', { name: 'Size' }).waitFor()
    expectQuiet(gina)
  })
})

describe('Bulk work', () => {
  it('is one line on the home screen and in the activity', async () => {
    const dora = await w.person('dora')
    for (let at = 0; at < 50; at++) await dora.upload(`in/note ${at}.txt`, 'x')
    await dora.upload('out/one.txt', 'x')
    const page = await dora.open('/files/in')
    await rowOf('note 0', page).click()
    await page.keyboard.press('Control+a')
    await page.keyboard.press('Alt+m')
    await dialogOn(page).getByRole('button', { name: 'My files' }).click()
    await dialogOn(page).getByRole('button', { name: 'out' }).click()
    await dialogOn(page).getByRole('button', { name: 'Move here' }).click()
    await page.getByText('50 items moved to “out”').waitFor()
    await dora.open('/start')
    const line = page.getByRole('link', { name: /^You moved 50 items to “.out.”$/ })
    await line.waitFor()
    await expectAccessible(page)
    await pictures(page, 'daily-home-bulk')
    await line.click()
    await rowOf('note 10', page).waitFor()
    await dora.open('/activity')
    await page.getByText(/^You moved 50 items to “.out.”$/).click()
    await page.getByRole('link', { name: /^You moved “.note 7.txt.” to “.out.”$/ }).waitFor()
    await expectAccessible(page)
    await pictures(page, 'daily-activity-bulk')
    // The files and folders that were uploaded before are on two pages.
    await page.getByText(/^You added 53 items$/).waitFor()
    expectQuiet(dora)
  })
})

describe('The sidebar', () => {
  it('lists workspaces and favourites', async () => {
    const eva = await w.person('eva')
    for (const name of ['Garden', 'Kitchen'])
      await eva.ask(
        'mutation ($name: String!) { createWorkspace(input: { name: $name }) { workspace { id } } }',
        { name },
      )
    await eva.upload('mine.txt', 'x')
    const page = await eva.open('/files')
    const nav = page.getByRole('navigation', { name: 'Main' })
    await nav
      .getByRole('list', { name: 'Workspaces' })
      .getByRole('link', { name: 'Kitchen' })
      .click()
    await page.getByRole('heading', { level: 1, name: 'Kitchen' }).waitFor()
    await eva.open('/files')
    await rowOf('mine', page).click()
    await page.keyboard.press('Alt+b')
    await nav
      .getByRole('list', { name: 'Favourites' })
      .getByRole('link', { name: 'mine' })
      .waitFor()
    await expectAccessible(page)
    await pictures(page, 'daily-sidebar')
    expectQuiet(eva)
  })
})

describe('The storage bar', () => {
  it('warns when the plan is nearly full, and says whom to ask', async () => {
    const fred = await w.person('fred')
    const plan = (bytes: number) => {
      const db = new DatabaseSync(join(w.service.dataDir, 'satchel.sqlite'))
      db.prepare('UPDATE plan SET max_total_storage_bytes = ?').run(bytes)
      db.close()
    }
    await fred.upload('most.bin', Buffer.alloc(95 * 1024))
    const page = await fred.open('/files')
    const bar = page.locator('.usage')
    await bar.getByText('of 5 GiB used').waitFor()
    expect(await bar.getByText('nearly full').count()).toBe(0)
    plan(100 * 1024)
    await fred.open('/account')
    await bar
      .getByText('Your storage is nearly full. Delete something, or ask the operator')
      .waitFor()
    await page.getByText('This is nearly full.').waitFor()
    await expectAccessible(page)
    await pictures(page, 'daily-nearly-full')
    plan(5 * 1024 ** 3)
  })
})

describe('Times', () => {
  it.each([
    ['en-GB', /^0\d:\d\d$/],
    ['de-DE', /^0\d:\d\d$/],
    ['en-US', /^\d:\d\d\sAM$/],
  ])('have the leading zero that is usual in %s', async (locale, format) => {
    // There it is between five and six in the morning. No zone is more than 12 hours behind.
    const hours = new Date().getUTCHours()
    const ahead = (hours > 17 ? 29 : 5) - hours
    const timezoneId = `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`
    const carl = await w.person('carl', { locale, timezoneId: ahead === 0 ? 'UTC' : timezoneId })
    if (locale === 'en-GB') await carl.upload('early.txt', 'x')
    const page = await carl.open('/files')
    expect(await rowOf('early', page).locator('.updated').textContent()).toMatch(format)
  })
})
