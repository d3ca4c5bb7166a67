import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { type ConsoleWorld, type Person, rowOf, startConsole } from './console.ts'

let w: ConsoleWorld

beforeAll(async () => {
  w = await startConsole()
}, 120_000)
afterAll(() => w?.stop())

/** Somebody whose page is never loaded anew because of files that it cannot fetch, however slow the machine is. */
async function person(name: string): Promise<Person> {
  const who = await w.person(name)
  await who.context.addInitScript("addEventListener('vite:preloadError', event => event.stopImmediatePropagation())")
  return who
}

/** Lets a part of the console not be fetched. Answers how often it was asked for. */
async function miss(page: Page, part: string): Promise<() => number> {
  let asked = 0
  await page.route(`**/${part}-*.js`, route => {
    asked++
    return route.abort()
  })
  return () => asked
}

describe('When a part of the console cannot be fetched', () => {
  it('the list stays without its offers and its small pictures', async () => {
    const alice = await person('alice')
    await alice.upload('notes.txt', 'x')
    await alice.upload('sunrise.png', 'no picture', 'image/png')
    const offers = await miss(alice.page, 'offers')
    const thumbnails = await miss(alice.page, 'thumbnail')
    const failed = alice.page.waitForEvent('requestfailed', request => request.url().includes('/offers-'))
    const page = await alice.open('/files')
    await failed
    await rowOf('notes', page).waitFor()
    const failedAgain = page.waitForEvent('requestfailed', request => request.url().includes('/thumbnail-'))
    await page.getByRole('button', { name: 'Show as grid' }).click()
    await failedAgain
    await page.waitForTimeout(300)
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await page.locator('.tile-card .entry-icon').count()).toBe(2)
    expect([offers() > 0, thumbnails() > 0]).toEqual([true, true])
  })

  it('what is pressed says so, keeps the selection, and works when it is pressed again', async () => {
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
      expect(await page.locator('[aria-selected=true] .name').allTextContents()).toEqual(['notes.txt'])
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
