import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import {
  type ConsoleWorld,
  expectAccessible,
  expectQuiet,
  type Person,
  pictures,
  startConsole,
  telephone,
} from './console.ts'
import { until } from './share-world.ts'

/** A picture that was taken in a month such as 2024:05. */
const taken = (month: string, background: string) =>
  sharp({ create: { width: 320, height: 240, channels: 3, background } })
    .withExifMerge({ IFD2: { DateTimeOriginal: `${month}:15 12:00:00` } })
    .jpeg()
    .toBuffer()

/** Name: month and colour. */
const album: Record<string, [month: string, background: string]> = {
  'summer/beach.jpg': ['2024:07', '#e8c39e'],
  'summer/sea.jpg': ['2024:07', '#4f8fb8'],
  'winter/snow.jpg': ['2021:01', '#dfe7ee'],
  'old.jpg': ['2012:03', '#7a5c8e'],
}

let w: ConsoleWorld
let alice: Person

/** Waits until the service has read the times of all pictures. */
async function fill(person: Person): Promise<void> {
  for (const [path, [month, background]] of Object.entries(album))
    await person.upload(path, await taken(month, background), 'image/jpeg')
  await person.upload('film.mp4', 'no real film', 'video/mp4')
  const MONTHS = '{ me { drive { pictureMonths { month } } } }'
  for (let months = 0; months < 4; await new Promise(next => setTimeout(next, 200))) {
    const { me } = await person.ask<{ me: { drive: { pictureMonths: unknown[] } } }>(MONTHS)
    months = me.drive.pictureMonths.length
  }
}

beforeAll(async () => {
  w = await startConsole()
  alice = await w.person('alice')
  await fill(alice)
}, 120_000)
afterAll(() => w?.stop())

const gridOf = (page: Page) => page.getByRole('grid', { name: 'Pictures by time' })
const tile = (page: Page, name: string) => gridOf(page).getByRole('gridcell', { name })
const monthsShown = (page: Page) =>
  page.getByRole('rowheader').getByRole('heading').allTextContents()
const viewerOn = (page: Page) => page.getByRole('dialog')
const imagesAreThere = `[...document.querySelectorAll('.picture-tile img')].filter(one => one.complete && one.naturalWidth).length >= 4`

describe('The gallery', () => {
  it('shows pictures and videos of all folders by month, newest first', async () => {
    const page = await alice.open('/files')
    await page.getByRole('link', { name: 'Pictures' }).click()
    await tile(page, 'old.jpg').waitFor()
    await until(page, imagesAreThere)
    const [now, ...others] = await monthsShown(page)
    expect(now).toBe(
      new Intl.DateTimeFormat('en-GB', {
        month: 'long',
        year: 'numeric',
        timeZone: 'UTC',
      }).format(),
    )
    expect(others).toEqual(['July 2024', 'January 2021', 'March 2012'])
    await tile(page, 'film.mp4, Video').waitFor()
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Pictures')
    await page.getByText('5 pictures').waitFor()
    await expectAccessible(page)
    await pictures(page, 'gallery')
  })

  it('opens the viewer, which follows the order of the gallery', async () => {
    const page = await alice.open('/pictures')
    await tile(page, 'snow.jpg').dblclick()
    await viewerOn(page).getByRole('img', { name: 'snow.jpg' }).waitFor()
    await page.keyboard.press('ArrowRight')
    await viewerOn(page).getByRole('img', { name: 'old.jpg' }).waitFor()
    expect(await viewerOn(page).getByRole('button', { name: 'Next file' }).isDisabled()).toBe(true)
    for (const name of ['snow.jpg', /sea|beach/, /sea|beach/] as const) {
      await page.keyboard.press('ArrowLeft')
      await viewerOn(page).getByRole('img', { name }).waitFor()
    }
    await page.keyboard.press('Escape')
    await viewerOn(page).waitFor({ state: 'detached' })
    await page.getByRole('gridcell', { name: 'old.jpg' }).waitFor()
  })

  it('works with the keyboard alone: moves, selects, marks, deletes and restores', async () => {
    const page = await alice.open('/pictures')
    await tile(page, 'old.jpg').waitFor()
    await gridOf(page).focus()
    await page.keyboard.press('End')
    await page.getByText('1 selected').waitFor()
    expect(await tile(page, 'old.jpg').getAttribute('aria-selected')).toBe('true')
    await page.keyboard.press('Shift+ArrowUp')
    await page.getByText('2 selected').waitFor()
    await expectAccessible(page)
    await pictures(page, 'gallery-selected')
    await page.keyboard.press('Escape')
    await page.keyboard.press('End')
    await page.keyboard.press('Alt+b')
    await tile(page, 'old.jpg, Favourite').waitFor()
    await page.keyboard.press('Alt+b')
    await tile(page, 'old.jpg, Favourite').waitFor({ state: 'detached' })
    await page.keyboard.press('Delete')
    await tile(page, 'old.jpg').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await tile(page, 'old.jpg').waitFor()
    await page.keyboard.press('Shift+F10')
    await page.keyboard.press('Escape')
  })

  it('selects a month, and offers menu and details for pictures', async () => {
    const page = await alice.open('/pictures')
    await tile(page, 'beach.jpg').waitFor()
    await page.getByRole('button', { name: 'Select July 2024' }).click()
    await page.getByText('2 selected').waitFor()
    await page.getByRole('button', { name: 'Clear the selection' }).click()
    await tile(page, 'beach.jpg').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Move to…' }).waitFor()
    await page.getByRole('menuitem', { name: 'Details' }).click()
    const details = page.getByRole('complementary', { name: 'Details' })
    await details.getByText('320 × 240 pixels').waitFor()
    await expectAccessible(page)
  })

  it('scrolls to a month with the timeline, by keyboard and by mouse', async () => {
    const page = await alice.open('/pictures')
    await tile(page, 'beach.jpg').waitFor()
    await page.setViewportSize({ width: 900, height: 420 })
    const scrubber = page.getByRole('slider', { name: 'Months' })
    const said = (month: string) =>
      until(
        page,
        `document.querySelector('[role=slider]').getAttribute('aria-valuetext') === '${month}'`,
      )
    await scrubber.focus()
    await page.keyboard.press('ArrowDown')
    await said('July 2024')
    await page.keyboard.press('Home')
    await until(page, `document.querySelector('.gallery-scroll').scrollTop === 0`)
    const box = await scrubber.boundingBox()
    if (!box) throw new Error('There is no scrubber.')
    await page.mouse.move(box.x + box.width / 2, box.y + 2)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width / 2, box.y + box.height - 2, { steps: 5 })
    await page.mouse.up()
    await tile(page, 'old.jpg').waitFor()
    await until(page, `document.querySelector('.gallery-scroll').scrollTop > 0`)
    await pictures(page, 'gallery-scrubber')
    await page.setViewportSize({ width: 1280, height: 800 })
    expectQuiet(alice)
  })

  it('fits a phone: taps open pictures and move the timeline', async () => {
    const bob = await w.person('bob', { ...telephone, locale: 'de-DE' })
    await fill(bob)
    const page = await bob.open('/pictures')
    const grid = page.getByRole('grid', { name: 'Bilder nach Zeit' })
    await grid.getByRole('gridcell', { name: 'old.jpg' }).waitFor()
    await until(page, imagesAreThere)
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await expectAccessible(page)
    await pictures(page, 'gallery-telephone')
    await grid.getByRole('gridcell', { name: 'snow.jpg' }).tap()
    await viewerOn(page).getByRole('img', { name: 'snow.jpg' }).waitFor()
    await page.goBack()
    await viewerOn(page).waitFor({ state: 'detached' })
    expectQuiet(bob)
  })

  it('reports that there are no pictures yet, and works in workspaces', async () => {
    const carol = await w.person('carol')
    const page = await carol.open('/pictures')
    await page.getByText('No pictures yet').waitFor()
    await expectAccessible(page)
    await carol.ask('mutation { createWorkspace(input: { name: "Garden" }) { workspace { id } } }')
    const { me } = await carol.ask<{ me: { workspaces: { nodes: { slug: string }[] } } }>(
      '{ me { workspaces { nodes { slug } } } }',
    )
    await carol.open(`/workspaces/${me.workspaces.nodes[0]?.slug}/pictures`)
    await page.getByRole('heading', { level: 1, name: 'Pictures of Garden' }).waitFor()
    await page.getByText('No pictures yet').waitFor()
    expectQuiet(carol)
  })
})
