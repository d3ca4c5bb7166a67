import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import {
  type ConsoleWorld,
  expectAccessible,
  expectQuiet,
  type Person,
  pictures,
  settled,
  startConsole,
  telephone,
} from './console.ts'

let w: ConsoleWorld
let olga: Person
let paul: Person
let page: Page

beforeAll(async () => {
  w = await startConsole()
  ;[olga, paul] = [await w.person('olga'), await w.person('paul')]
  page = olga.page
  for (const name of ['budget.txt', 'plan.txt', 'poem.txt']) {
    await paul.upload(name, name)
    await paul.ask(
      'mutation ($input: CreateLinkInput!) { createLink(input: $input) { share { id } } }',
      {
        input: {
          entries: [{ at: { path: name } }],
          duration: name === 'poem.txt' ? '7d' : 'never',
          ...(name === 'plan.txt' ? { password: 'correct horse battery' } : {}),
        },
      },
    )
  }
}, 120_000)
afterAll(() => w?.stop())

const shares = (on = page) => on.getByRole('list', { name: 'Shares' }).getByRole('listitem')
const said = (text: string) =>
  page.getByRole('region', { name: 'Notifications' }).getByText(text).waitFor()

describe('The shares of all people', () => {
  it('are listed for operators, with their terms', async () => {
    await olga.open('/admin')
    await page.getByRole('link', { name: 'Shares', exact: true }).click()
    await page.waitForURL(/\/admin\/shares$/)
    await shares().nth(2).waitFor()
    expect(await shares().allTextContents()).toEqual([
      expect.stringMatching(
        /poem\.txt.*Everyone with the link.*by paul.*until.*no password.*0 downloads/,
      ),
      expect.stringMatching(/plan\.txt.*never expires.*with a password/),
      expect.stringMatching(/budget\.txt.*never expires.*no password/),
    ])
    await settled(page)
    await expectAccessible(page)
    await pictures(page, 'console-admin-shares')
  })

  it('are filtered, and the URL keeps the filters', async () => {
    await page.getByRole('checkbox', { name: 'Only without expiry' }).check()
    await shares().filter({ hasText: 'poem.txt' }).waitFor({ state: 'detached' })
    await page.getByRole('checkbox', { name: 'Only without a password' }).focus()
    await page.keyboard.press('Space')
    await shares().filter({ hasText: 'plan.txt' }).waitFor({ state: 'detached' })
    await page.reload()
    await shares().filter({ hasText: 'budget.txt' }).waitFor()
    expect(await shares().count()).toBe(1)
    await page.getByRole('link', { name: 'by paul' }).click()
    await page.getByText('Only those of paul').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'File requests' }).click()
    await page.getByRole('heading', { name: 'Nothing is shared' }).waitFor()
    await olga.open('/admin/shares')
    await shares().nth(2).waitFor()
  })

  it('are ended after a confirmation, and their sharer sees it', async () => {
    await page.getByRole('checkbox', { name: 'Select poem.txt of paul' }).check()
    await page.getByRole('checkbox', { name: 'Select budget.txt of paul' }).check()
    await page.getByText('2 selected').waitFor()
    await page.getByRole('button', { name: 'End' }).click()
    await expectAccessible(page)
    await page.getByRole('dialog').getByRole('button', { name: 'End' }).press('Enter')
    await said('2 shares ended')
    await shares().filter({ hasText: 'poem.txt' }).waitFor({ state: 'detached' })
    expect(await shares().count()).toBe(1)
    const his = await paul.open('/activity')
    await his
      .getByText(/An operator/)
      .first()
      .waitFor()
    await expectQuiet(olga)
    await expectQuiet(paul)
  })

  it('fit on a telephone', async () => {
    const small = await w.person('olga', telephone)
    const on = await small.open('/admin/shares')
    await shares(on).first().waitFor()
    await settled(on)
    await expectAccessible(on)
    await pictures(on, 'console-admin-shares-telephone')
  })
})
