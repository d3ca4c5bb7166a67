import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { until } from '../support/until.ts'
import { type ConsoleWorld, type Person, rowOf, startConsole } from './console.ts'

let w: ConsoleWorld

beforeAll(async () => {
  w = await startConsole()
}, 120_000)
afterAll(() => w?.stop())

/** A picture of one pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
)

/**
 * A person whose page never reloads because of files that it cannot fetch, however slow the machine
 * is. The page collects the errors instead.
 */
async function person(name: string): Promise<Person> {
  const who = await w.person(name)
  await who.context.addInitScript(`{
    const failed = []
    Object.assign(window, { failed })
    addEventListener('vite:preloadError', event => {
      event.stopImmediatePropagation()
      failed.push(String(event.payload))
    })
  }`)
  return who
}

/** Blocks a part of the console. Returns how often it was requested. */
async function miss(page: Page, part: string): Promise<() => number> {
  let asked = 0
  await page.route(`**/${part}-*.js`, route => {
    asked++
    return route.abort()
  })
  return () => asked
}

describe('When a part of the console cannot be fetched', () => {
  it('the list works without its palette commands and thumbnails', async () => {
    const alice = await person('alice')
    await alice.upload('notes.txt', 'x')
    await alice.upload('sunrise.png', 'no picture', 'image/png')
    const offers = await miss(alice.page, 'offers')
    const thumbnails = await miss(alice.page, 'thumbnail')
    const failed = alice.page.waitForEvent('requestfailed', request =>
      request.url().includes('/offers-'),
    )
    const page = await alice.open('/files')
    await failed
    await rowOf('notes', page).waitFor()
    const failedAgain = page.waitForEvent('requestfailed', request =>
      request.url().includes('/thumbnail-'),
    )
    await page.getByRole('button', { name: 'Show as grid' }).click()
    await failedAgain
    await page.waitForTimeout(300)
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await page.locator('.tile-card .entry-icon').count()).toBe(2)
    expect([offers() > 0, thumbnails() > 0]).toEqual([true, true])
  })

  it('thumbnails are fetched again when shown, and commands when the browser is back online', async () => {
    const carol = await person('carol')
    await carol.upload('sunrise.png', PIXEL, 'image/png')
    await miss(carol.page, 'offers')
    await miss(carol.page, 'thumbnail')
    const { page } = carol
    const failed = (part: string) =>
      page.waitForEvent('requestfailed', request => request.url().includes(`/${part}-`))
    await Promise.all([failed('offers'), carol.open('/files?view=grid'), failed('thumbnail')])
    await rowOf('sunrise', page).locator('.entry-icon').waitFor()
    for (const part of ['offers', 'thumbnail']) await page.unroute(`**/${part}-*.js`)
    await page.getByRole('button', { name: 'Show as list' }).click()
    await page.getByRole('button', { name: 'Show as grid' }).click()
    await rowOf('sunrise', page).locator('img').waitFor()
    const offers = page.waitForResponse(answer => answer.url().includes('/offers-'))
    await page.evaluate('dispatchEvent(new Event("online"))')
    expect((await offers).status()).toBe(200)
    const newFolder = page.getByRole('dialog').getByRole('menuitem', { name: /^New folder(?! in)/ })
    await until(async () => {
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').getByRole('menuitem').first().waitFor()
      if (await newFolder.isVisible()) return true
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      return false
    })
  })

  it('a permanently blocked part is requested only at the first five visits', async () => {
    const dora = await person('dora')
    await dora.upload('notes.txt', 'x')
    const offers = await miss(dora.page, 'offers')
    const page = await dora.open('/files')
    // Not the requests, because browsers may also preload the part.
    const attempts = () => page.evaluate("failed.filter(one => one.includes('/offers-')).length")
    await until(async () => (await attempts()) === 1)
    const visit = async () => {
      await page.getByRole('link', { name: 'Trash' }).click()
      await page.getByRole('heading', { name: 'Trash', exact: true }).waitFor()
      await page.getByRole('link', { name: 'My files' }).click()
      await rowOf('notes', page).waitFor()
    }
    for (const count of [2, 3, 4, 5]) {
      await visit()
      await until(async () => (await attempts()) === count)
    }
    const asked = offers()
    await visit()
    await visit()
    await page.waitForTimeout(300)
    expect([await attempts(), offers()]).toEqual([5, asked])
  })

  it('the page keeps working without optional parts, and reloads once for required ones, as after an update', async () => {
    const { page, context } = await w.person('emma')
    await context.addInitScript(
      'const now = performance.now.bind(performance); performance.now = () => now() + 20_000',
    )
    for (const part of ['offers', 'account-keys', 'account-webhooks']) await miss(page, part)
    let loads = 0
    page.on('domcontentloaded', () => loads++)
    const failed = () =>
      page.waitForEvent('requestfailed', request => request.url().includes('/offers-'))
    await Promise.all([failed(), page.goto(`${w.service.url}/files`)])
    await page.getByRole('heading', { name: 'This folder is empty' }).waitFor()
    await Promise.all([failed(), page.evaluate('dispatchEvent(new Event("online"))')])
    await page.waitForTimeout(500)
    expect(loads).toBe(1)
    // One reload by the console, and one by its router.
    for (const [path, times] of [
      ['keys', 3],
      ['webhooks', 3],
      ['keys', 1],
    ] as const) {
      loads = 0
      await page.goto(`${w.service.url}/account/${path}`).catch(() => {})
      await page.getByText('This could not be loaded').waitFor()
      await page.waitForTimeout(1000)
      expect([path, loads]).toEqual([path, times])
    }
  })

  it('an action reports the failure, keeps the selection, and works on the next press', async () => {
    const bob = await person('bob')
    await bob.upload('notes.txt', 'x')
    await miss(bob.page, 'actions')
    const page = await bob.open('/files')
    await rowOf('notes', page).click()
    const problem = page.getByText('This needs the connection')
    for (const key of ['Delete', 'Control+x']) {
      await page.keyboard.press(key)
      await problem.waitFor()
      await page.getByRole('button', { name: 'Dismiss' }).click()
      await problem.waitFor({ state: 'detached' })
      await page.getByRole('grid').focus()
      expect(await page.locator('[aria-selected=true] .name').allTextContents()).toEqual([
        'notes.txt',
      ])
    }
    await page.keyboard.press('F2')
    await page.getByLabel('New name').fill('plan.txt')
    await page.keyboard.press('Enter')
    await problem.waitFor()
    await page.keyboard.press('Escape')
    expect(bob.errors.filter(error => !error.includes('ERR_FAILED'))).toEqual([])
    await page.unroute('**/actions-*.js')
    await page.keyboard.press('Delete')
    await rowOf('notes', page).waitFor({ state: 'detached' })
  })
})
