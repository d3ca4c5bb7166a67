import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { insertFolder } from '../bench/folder.ts'
import { readZip } from '../support/zip-reader.ts'
import { screenshot, visit } from './browser.ts'
import { expectAccessible, expectQuiet, pictures, telephone } from './console.ts'
import { startWorld, tryPassword, until, type World } from './share-world.ts'

const poem =
  'On the pass\n\nThe path goes up between two stones,\nthe clouds come down to meet it.\n\n'

let w: World
/** Creates a link to a folder with a file of each kind. */
let link: string

beforeAll(async () => {
  w = await startWorld()
  link = await w.shareFolder('Ridge walk in May', [
    ['Day 1/Sunrise above the ridge.png', w.media.png, 'image/png'],
    ['Day 2/Descent.webm', w.media.webm, 'video/webm'],
    ['Descent.webm', w.media.webm, 'video/webm'],
    ['Hut.zip', 'none', 'application/zip'],
    ['Minutes of May.pdf', w.media.pdf, 'application/pdf'],
    ['Morning song.wav', w.media.wav, 'audio/wav'],
    ['poem.txt', poem.repeat(20), 'text/plain'],
    ['Ridge.png', w.media.png, 'image/png'],
    ['Summit & <sky>.png', w.media.png, 'image/png'],
    ['torn.png', 'none', 'image/png'],
  ])
}, 120_000)
afterAll(() => w?.stop())

/** A person who opens a link in a new browser profile. */
async function open(address: string, options = {}) {
  const who = await visit(w.browser, w.service.url, options)
  await who.page.goto(address)
  return who
}

/** Whether the broken picture shows its icon, as an expression for the page. */
const tornIsIcon = `[...document.querySelectorAll('.entries li')].some(
  one => one.textContent.includes('torn.png') && !one.querySelector('img'))`

const viewerOn = (page: Page) => page.getByRole('dialog')
const nameIn = (page: Page) => viewerOn(page).getByRole('heading')
const fileAt = (page: Page) => new URL(page.url()).searchParams.get('file')
const focused = (page: Page) => page.evaluate<string>('document.activeElement.textContent.trim()')
const boxOf = (page: Page, name: string) =>
  page.getByRole('checkbox', { name: `Select ${name}`, exact: true })

/** Waits until the viewer shows a file. */
async function shows(page: Page, name: string): Promise<void> {
  await nameIn(page).getByText(name, { exact: true }).waitFor()
  await viewerOn(page).locator('.preview').waitFor()
}

describe('A file of a shared folder', () => {
  it('opens on top of the folder with the URL of its own page, and Back closes it', async () => {
    const who = await open(link)
    const { page } = who
    await page.getByRole('link', { name: 'Ridge.png', exact: true }).click()
    await shows(page, 'Ridge.png')
    await until(page, `document.querySelector('dialog .preview img').naturalWidth === 1200`)
    expect([fileAt(page), await page.title()]).toEqual(['Ridge.png', 'Ridge.png · Satchel'])
    await pictures(page, 'shared-folder-viewer')
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Next file' }).click()
    await shows(page, 'Summit & <sky>.png')
    expect(fileAt(page)).toBe('Summit & <sky>.png')
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      viewerOn(page).getByRole('link', { name: 'Download' }).click(),
    ])
    expect((await readFile(await file.path())).equals(w.media.png)).toBe(true)
    await page.goBack()
    await viewerOn(page).waitFor({ state: 'hidden' })
    // The dialog is hidden before its close event restores the title and the focus.
    await until(page, "document.title === 'Ridge walk in May · Satchel'")
    expect(page.url()).toBe(link)
    expect(await focused(page)).toBe('Summit & <sky>.png')
    await page.goForward()
    await shows(page, 'Summit & <sky>.png')
    // The URL is that of the file's own page, which also links back.
    await page.reload()
    await page.getByRole('link', { name: 'Back to the folder' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Ridge walk in May' }).waitFor()
    expectQuiet(who)
  })

  it('is found, opened and closed by keyboard alone', async () => {
    const { page } = await open(link)
    await page.getByRole('link', { name: 'Descent.webm', exact: true }).focus()
    await page.keyboard.press('ArrowDown')
    expect(await focused(page)).toBe('Hut.zip')
    await page.keyboard.press('Enter')
    await shows(page, 'Hut.zip')
    await viewerOn(page).locator('.preview').getByText('The content of this archive').waitFor()
    await page.keyboard.press('ArrowLeft')
    await shows(page, 'Descent.webm')
    await until(page, `document.querySelector('dialog video').videoWidth === 320`)
    expect(await viewerOn(page).getByRole('button', { name: 'Previous file' }).isDisabled()).toBe(
      true,
    )
    for (const name of [
      'Hut.zip',
      'Minutes of May.pdf',
      'Morning song.wav',
      'Ridge.png',
      'Summit & <sky>.png',
      'poem.txt',
    ]) {
      await page.keyboard.press('ArrowRight')
      await shows(page, name)
    }
    await viewerOn(page).locator('pre').getByText('the clouds come down').waitFor()
    // The focus never leaves the dialog.
    for (let i = 0; i < 12; i++) {
      await page.keyboard.press('Tab')
      expect(
        await page.evaluate('document.activeElement.closest("dialog, body").tagName'),
      ).toBeTruthy()
      expect(await page.evaluate('document.activeElement.closest(".entries")')).toBe(null)
    }
    await page.keyboard.press('Escape')
    await viewerOn(page).waitFor({ state: 'hidden' })
    await page.waitForURL(link)
    expect(await focused(page)).toBe('poem.txt')
    expect(await viewerOn(page).locator('pre').count()).toBe(0)
  })

  it('explains what cannot be shown, and has no download if downloads are forbidden', async () => {
    const { page } = await open(link)
    await page.getByRole('link', { name: 'torn.png', exact: true }).click()
    await viewerOn(page).getByText('This picture cannot be shown.').waitFor()
    const looking = await w.shareFolder('Only to look at', [['a.zip', 'x', 'application/zip']], {
      allow_download: false,
    })
    await page.goto(looking)
    expect(await page.getByRole('checkbox').count()).toBe(0)
    await page.getByRole('link', { name: 'a.zip', exact: true }).click()
    await viewerOn(page).getByText('Files of this kind cannot be shown on a page.').waitFor()
    expect(await viewerOn(page).getByRole('link').count()).toBe(0)
  })

  it('is counted like a visit to its page without scripts', async () => {
    const counted = () =>
      w.db.rows<{ kind: string; n: number }>(
        'SELECT kind, COUNT(*) AS n FROM share_event WHERE share_id = (SELECT MAX(id) FROM share) GROUP BY kind',
      )
    const files = [['a.png', w.media.png, 'image/png'] as [string, Buffer, string]]
    const seen = []
    for (const javaScriptEnabled of [true, false]) {
      const share = await w.shareFolder('Counted', files, { max_downloads: 5 })
      const { page } = await open(share, { javaScriptEnabled })
      await page.getByRole('link', { name: 'a.png', exact: true }).click()
      await page.getByText('allows a limited number of downloads').waitFor()
      seen.push(await counted())
    }
    expect(seen[0]).toEqual([{ kind: 'opened', n: 2 }])
    expect(seen[1]).toEqual(seen[0])
  })
})

describe('Tiles', () => {
  /** The name of the one view that is marked as the current one. */
  const chosenView = (page: Page) =>
    page.locator('.views [aria-current=true]').getAttribute('aria-label')

  it('show pictures, which lists do not load, and are remembered', async () => {
    const who = await open(link)
    const { page } = who
    const asked: string[] = []
    page.on('request', request => {
      if (request.url().includes('/preview?')) asked.push(request.url())
    })
    await pictures(page, 'shared-folder-list')
    await expectAccessible(page)
    expect(asked).toEqual([])
    await page.getByRole('link', { name: 'Tiles' }).click()
    await until(page, `document.querySelector('.entries img').naturalWidth > 0`)
    // The broken picture shows its icon.
    await until(page, tornIsIcon)
    // Thumbnails of documents and videos appear as soon as they exist.
    expect(asked.length).toBeGreaterThanOrEqual(3)
    await pictures(page, 'shared-folder-tiles')
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Day 1' }).click()
    await page.getByRole('link', { name: 'Sunrise above the ridge.png', exact: true }).waitFor()
    expect(await chosenView(page)).toBe('Tiles')
    await page.getByRole('link', { name: 'List' }).click()
    await page.reload()
    expect(await chosenView(page)).toBe('List')
    expect(who.errors).toEqual([])
  })

  it('are large enough for touch', async () => {
    const who = await open(link, telephone)
    const { page } = who
    const isInside = () => page.evaluate('document.documentElement.scrollWidth <= innerWidth')
    await pictures(page, 'shared-folder-390')
    await expectAccessible(page)
    expect(await isInside()).toBe(true)
    await page.getByRole('link', { name: 'Tiles' }).tap()
    await until(page, tornIsIcon)
    await pictures(page, 'shared-folder-tiles-390')
    await expectAccessible(page)
    for (const target of await page
      .locator('.entries :is(.mark, .bytes), .heads a, .views a, main button:visible')
      .all()) {
      const { width, height } = (await target.boundingBox()) ?? { width: 0, height: 0 }
      expect(Math.min(width, height)).toBeGreaterThanOrEqual(44)
    }
    await page.getByRole('link', { name: 'Ridge.png', exact: true }).tap()
    await shows(page, 'Ridge.png')
    await pictures(page, 'shared-folder-viewer-390')
    await expectAccessible(page)
    const devtools = await page.context().newCDPSession(page)
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...xs: number[]) =>
      devtools.send('Input.dispatchTouchEvent', { type, touchPoints: xs.map(x => ({ x, y: 400 })) })
    await touch('touchStart', 300)
    await touch('touchMove', 200)
    await touch('touchMove', 100)
    // A moving finger would scroll on, and the next tap would only stop the scrolling.
    await page.waitForTimeout(200)
    await touch('touchMove', 100)
    await touch('touchEnd')
    await shows(page, 'Summit & <sky>.png')
    await page.getByRole('button', { name: 'Close' }).tap()
    await viewerOn(page).waitFor({ state: 'hidden' })
    expect(await isInside()).toBe(true)
    expectQuiet(who)
  })
})

describe('A selection', () => {
  const files: [string, string, string][] = [
    ['a.txt', 'xxxx', 'text/plain'],
    ['b.txt', 'xxx', 'text/plain'],
    ['c.txt', 'xx', 'text/plain'],
    ['d.txt', 'x', 'text/plain'],
  ]

  /** The names in the archive that a page sends. */
  async function zipped(page: Page): Promise<string[]> {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: /^Download (all|[0-9])/ }).click(),
    ])
    return [...(await readZip(new Uint8Array(await readFile(await file.path())))).keys()]
  }

  it('survives sorting, and downloads some files, one, or everything', async () => {
    const { page } = await open(
      await w.shareFolder('Selected', [...files, ['sub/e.txt', 'e', 'text/plain']]),
    )
    const all = page.getByRole('checkbox', { name: 'Select all' })
    await boxOf(page, 'b.txt').check()
    await boxOf(page, 'd.txt').check()
    await page.getByRole('button', { name: 'Download 2 selected' }).waitFor()
    expect(await all.evaluate('document.querySelector("[data-all]").indeterminate')).toBe(true)
    await page.getByRole('link', { name: 'Size' }).click()
    await page.waitForURL(/sort=size/)
    await page.getByRole('button', { name: 'Download 2 selected' }).waitFor()
    expect(await boxOf(page, 'd.txt').isChecked()).toBe(true)
    expect(await zipped(page)).toEqual(['b.txt', 'd.txt'])
    await boxOf(page, 'd.txt').uncheck()
    const [one] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download 1 selected' }).click(),
    ])
    expect(one.suggestedFilename()).toBe('b.txt')
    await all.check()
    await page.getByRole('button', { name: 'Download all (' }).waitFor()
    expect(await zipped(page)).toContain('Selected/sub/e.txt')
    await boxOf(page, 'sub').uncheck()
    await page.getByRole('button', { name: 'Download 4 selected' }).waitFor()
    expect(await zipped(page)).toEqual(['a.txt', 'b.txt', 'c.txt', 'd.txt'])
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByRole('button', { name: 'Download all (' }).waitFor()
    // Selects a range, as in other lists.
    await page.goto(page.url().replace(/\?.*/, ''))
    await boxOf(page, 'a.txt').click()
    await boxOf(page, 'c.txt').click({ modifiers: ['Shift'] })
    await page.getByRole('button', { name: 'Download 3 selected' }).waitFor()
  })

  it('of search results does not contain the whole folder', async () => {
    const { page } = await open(
      await w.shareFolder('Searched', [...files, ['sub/also a.txt', 'e', 'text/plain']]),
    )
    await page.getByRole('searchbox').fill('a.txt')
    await page.keyboard.press('Enter')
    await page.getByText('Names with “a.txt”.').waitFor()
    await page.getByRole('checkbox', { name: 'Select all' }).check()
    await page.getByRole('button', { name: 'Download 2 selected' }).waitFor()
    expect(await zipped(page)).toEqual(['a.txt', 'also a.txt'])
  })
})

describe('A folder of many files', () => {
  const COUNT = 2000
  let big: string

  beforeAll(async () => {
    const alice = await w.db.row<{ bucketId: string; rootId: string; userId: string }>(
      `SELECT u.id AS userId, b.id AS bucketId, e.id AS rootId FROM user u JOIN bucket b ON b.user_id = u.id
       JOIN entry e ON e.bucket_id = b.id AND e.parent_id IS NULL WHERE u.email = 'alice@example.com'`,
    )
    if (!alice) throw new Error('alice has no drive.')
    await insertFolder(w.db, alice, 'big', COUNT)
    big = await w.link('big')
  })

  const end = (page: Page) => page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
  const rows = (page: Page) => page.locator('.entries > li').count()

  it('loads more pages while scrolling, and keeps the DOM small', async () => {
    const who = await open(big)
    const { page } = who
    const last = page.getByRole('link', { name: 'file-001999.txt', exact: true })
    let most = 0
    while ((await last.count()) === 0) {
      await end(page)
      most = Math.max(most, await rows(page))
      await page.waitForTimeout(20)
    }
    await page.getByRole('link', { name: 'Next page' }).waitFor({ state: 'detached' })
    await until(page, `document.querySelectorAll('.entries > li').length < 900`)
    expect(most).toBeLessThan(1100)
    // Emptied pages return with their previous height.
    const height = await page.evaluate<number>('document.documentElement.scrollHeight')
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight / 2)')
    await page.getByRole('link', { name: 'file-001000.txt', exact: true }).waitFor()
    await page.evaluate('scrollTo(0, 0)')
    await page.getByRole('link', { name: 'file-000000.txt', exact: true }).waitFor()
    expect(
      Math.abs((await page.evaluate<number>('document.documentElement.scrollHeight')) - height),
    ).toBeLessThan(100)
    // All of it counts as one visit.
    const [opened] = await w.db.rows(
      'SELECT COUNT(*) AS n FROM share_event WHERE share_id = (SELECT MAX(id) FROM share)',
    )
    expect(opened).toEqual({ n: 1 })
    expectQuiet(who)
  })

  it('keeps a selection while loading more, and counts everything', async () => {
    const { page } = await open(big)
    await boxOf(page, 'file-000003.txt').check()
    await page.getByRole('checkbox', { name: 'Select all' }).check()
    await page
      .getByText('Everything in this folder is selected, also what is not loaded yet.')
      .waitFor()
    await end(page)
    await boxOf(page, 'file-000300.txt').waitFor()
    expect(await boxOf(page, 'file-000300.txt').isChecked()).toBe(true)
    await boxOf(page, 'file-000300.txt').uncheck()
    await page.getByText('One archive holds up to 200, or a whole folder.').waitFor()
    expect(await page.getByRole('button', { name: /^Download (all|[0-9])/ }).isDisabled()).toBe(
      true,
    )
    await page.getByRole('button', { name: 'Clear' }).click()
    await boxOf(page, 'file-000301.txt').check()
    await boxOf(page, 'file-000302.txt').check()
    await page.getByRole('button', { name: 'Download 2 selected' }).waitFor()
    await page.evaluate('scrollTo(0, 0)')
    await boxOf(page, 'file-000000.txt').check()
    await page.getByRole('button', { name: 'Download 3 selected' }).waitFor()
    const [sent] = await Promise.all([
      page.waitForRequest(request => request.method() === 'POST'),
      page.getByRole('button', { name: /^Download (all|[0-9])/ }).click(),
    ])
    expect(new URLSearchParams(sent.postData() ?? '').getAll('entry').sort()).toEqual(
      ['000000', '000301', '000302'].map(number => `file-${number}.txt`),
    )
  })

  it('has pages with all files without scripts', async () => {
    const { page } = await open(link, { javaScriptEnabled: false })
    await page.getByRole('link', { name: 'Tiles' }).click()
    await page.locator('.tiles .entries').waitFor()
    await page.getByRole('link', { name: 'List' }).click()
    await page.locator('.tiles .entries').waitFor({ state: 'detached' })
    expect(await page.getByRole('checkbox', { name: 'Select all' }).count()).toBe(0)
    await screenshot(page, 'shared-folder-without-script')
    await page.getByRole('link', { name: 'poem.txt', exact: true }).click()
    await page.frameLocator('iframe').getByText('the clouds come down').first().waitFor()
    await page.getByRole('link', { name: 'Back to the folder' }).click()
    const [one] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download poem.txt' }).click(),
    ])
    expect((await readFile(await one.path())).toString()).toBe(poem.repeat(20))
    await page.getByRole('checkbox', { name: 'Select Ridge.png', exact: true }).check()
    const [zip] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: /^Download (all|[0-9])/ }).click(),
    ])
    expect([...(await readZip(new Uint8Array(await readFile(await zip.path())))).keys()]).toEqual([
      'Ridge.png',
    ])
    await page.goto(big)
    await page.getByRole('link', { name: 'Next page' }).click()
    await page.getByRole('link', { name: 'file-000180.txt', exact: true }).waitFor()
  })

  it('is enhanced after a password, too', async () => {
    const { page } = await open(
      await w.shareFolder('Locked', [['a.png', w.media.png, 'image/png']], { password: 'sesame' }),
    )
    await tryPassword(page, 'sesame')
    await page.getByRole('link', { name: 'a.png', exact: true }).click()
    await shows(page, 'a.png')
  })
})
