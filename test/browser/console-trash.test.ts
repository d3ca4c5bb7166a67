import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { type ConsoleWorld, expectAccessible, expectQuiet, pictures, startConsole } from './console.ts'

const row = (name: string, on: Page) => on.getByRole('row', { name: new RegExp(`^${name}`) })

describe('Where nothing is kept', () => {
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
    await row('a.txt', page).click()
    await page.keyboard.press('Delete')
    await page.getByRole('heading', { name: 'Delete 1 item for ever?' }).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-delete-for-ever')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('toolbar').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('“a.txt” is deleted.').waitFor()
    await row('a.txt', page).waitFor({ state: 'detached' })
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0)
    await row('b.txt', page).waitFor()
    expectQuiet(alice)
  })
})
