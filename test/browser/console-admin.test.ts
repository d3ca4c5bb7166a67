import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { enter, visit } from './browser.ts'
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
let olga: Person
let paul: Person
let page: Page

beforeAll(async () => {
  w = await startConsole()
  ;[olga, paul] = [await w.person('olga'), await w.person('paul')]
  await paul.upload('Papers/thesis.txt', Buffer.alloc(2_000_000))
  await paul.upload('Papers/draft.txt', Buffer.alloc(68_000))
  await paul.ask(
    'mutation { deleteEntries(input: { entries: [{ at: { path: "Papers/draft.txt" } }] }) { trashItems { id } } }',
  )
  await paul.ask('mutation { createWorkspace(input: { name: "<u>Lab</u>" }) { workspace { id } } }')
}, 120_000)
afterAll(() => w?.stop())

const listed = (name: string, on = page) => on.getByRole('list', { name }).getByRole('listitem')
const said = (text: string) =>
  page.getByRole('region', { name: 'Notifications' }).getByText(text).waitFor()
const heading = (name: string, on = page) =>
  on.getByRole('heading', { name, exact: true }).waitFor()
const isSignedIn = async (who: Person) =>
  (await who.context.request.get(`${w.service.url}/api/user/data`)).ok()

describe('A person who is not an operator', () => {
  it('sees no link to the administration, and no data at its URL', async () => {
    const his = await paul.open('/files')
    await rowOf('Papers', his).waitFor()
    for (const path of [
      '/admin',
      '/admin/plans',
      '/admin/storage',
      '/admin/service',
      '/admin/accounts/account:none',
    ]) {
      await paul.open(path)
      await heading('This is for operators', his)
      expect(await his.getByRole('link', { name: 'Administration' }).count()).toBe(0)
      expect(await his.getByText('olga@example.com').count()).toBe(0)
    }
    await expectAccessible(his)
  })
})

describe('An operator', () => {
  it('finds accounts by part of the email address, by keyboard', async () => {
    page = await olga.open('/files')
    await page.getByRole('link', { name: 'Administration' }).click()
    await listed('Accounts').filter({ hasText: 'paul@example.com' }).waitFor()
    expect(
      await listed('Accounts').filter({ hasText: 'olga@example.com' }).textContent(),
    ).toContain('Operator')
    await expectAccessible(page)
    await pictures(page, 'console-admin')
    await page.getByRole('searchbox', { name: 'Part of a name or address' }).focus()
    await page.keyboard.type('PAUL@')
    await page.keyboard.press('Enter')
    await page.waitForURL(/q=PAUL/)
    await listed('Accounts').filter({ hasText: 'olga@example.com' }).waitFor({ state: 'detached' })
    await listed('Accounts').filter({ hasText: 'paul@example.com' }).waitFor()
    expect(await listed('Accounts').allTextContents()).toEqual([
      expect.stringContaining('paul@example.com'),
    ])
    await page
      .getByRole('searchbox', { name: 'Part of a name or address' })
      .fill('nobody-like-this')
    await page.keyboard.press('Enter')
    await heading('No accounts found')
    await expectAccessible(page)
    await page.goBack()
  })

  it('sees what an account stores, and changes its plan', async () => {
    await page.getByRole('link', { name: 'paul' }).focus()
    await page.keyboard.press('Enter')
    await heading('paul')
    const main = page.getByRole('main')
    await main.getByText('<u>Lab</u>', { exact: true }).waitFor()
    await main.getByRole('progressbar', { name: /^1.91 MiB of .* used/ }).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-admin-account')
    const plans = await page
      .getByRole('combobox', { name: 'Plan' })
      .locator('option')
      .allTextContents()
    const now = await page
      .getByRole('combobox', { name: 'Plan' })
      .locator('option:checked')
      .textContent()
    const other = plans.find(plan => plan !== now) ?? ''
    await page.getByRole('combobox', { name: 'Plan' }).selectOption(other)
    await said(`The plan is now ${other}`)
    const { me } = await paul.ask<{ me: { plan: { name: string } } }>('{ me { plan { name } } }')
    expect(me.plan.name).toBe(other)
  })

  it('suspends an account after a confirmation, which ends its sessions, and reactivates it', async () => {
    await page.getByRole('button', { name: 'Suspend' }).click()
    await expectAccessible(page)
    expect(await isSignedIn(paul)).toBe(true)
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click()
    await said('paul is suspended')
    expect(await isSignedIn(paul)).toBe(false)
    await page.getByRole('main').getByText('Suspended', { exact: true }).waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Restore the account' }).press('Enter')
    await said('paul may sign in again')
    expect(await isSignedIn(await w.person('paul'))).toBe(true)
  })

  it('appoints another operator after a confirmation, and removes one after another', async () => {
    await page.getByRole('button', { name: 'Make an operator' }).click()
    await expectAccessible(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Make an operator' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'No longer an operator' }).waitFor()
    const second = await w.person('paul')
    const his = await second.open('/admin/service')
    await listed('Operators', his).filter({ hasText: 'Appointed by olga' }).waitFor()
    // Operators cannot suspend themselves.
    await second.open('/admin?q=paul')
    await his.getByRole('link', { name: 'paul' }).click()
    await his.getByText('Only another operator can suspend you.').waitFor()
    expect(await his.getByRole('button', { name: 'Suspend' }).count()).toBe(0)
    await page.getByRole('button', { name: 'No longer an operator' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'No longer an operator' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Make an operator' }).waitFor()
    await second.open('/admin/service')
    await heading('This is for operators', his)
  })

  it('cannot be removed if the settings name them', async () => {
    await olga.open('/admin?q=olga')
    await page.getByRole('link', { name: 'olga' }).click()
    await heading('olga')
    await page.getByText('Operators named by the setting cannot be suspended.').waitFor()
    expect(await page.getByRole('button', { name: 'Suspend' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'No longer an operator' }).count()).toBe(0)
  })

  it('sees the storage use and the largest accounts', async () => {
    await olga.open('/admin')
    await page.getByRole('link', { name: 'Storage', exact: true }).press('Enter')
    await page.waitForURL(/\/admin\/storage$/)
    await heading('Largest accounts')
    const parts = (await listed('Storage use').allTextContents()).map(part =>
      part.replaceAll(/\s/g, ' '),
    )
    expect(parts).toEqual(['Files1.91 MiB · 97%', 'In the trash66.4 KiB · 3%'])
    const main = page.getByRole('main')
    await main.getByText(/^1.97.MiB$/).waitFor()
    expect(await main.locator('dl').textContent()).toMatch(/Free on the disk\d.* of \d/)
    const first = listed('Largest accounts').first()
    expect(await first.textContent()).toMatch(
      /paul.*1\.91\sMiB of .* · 66\.4\sKiB in trash and versions/,
    )
    expect(await listed('Largest workspaces').textContent()).toContain('<u>Lab</u>')
    await expectAccessible(page)
    await pictures(page, 'console-admin-storage')
    await listed('Largest workspaces').getByRole('link', { name: 'paul' }).click()
    await heading('paul')
  })

  it('sees the data of the database while the blob store is down, and what is missing', async () => {
    const blobs = join(w.service.dataDir, 'blobs')
    renameSync(blobs, `${blobs}-away`)
    try {
      await olga.open('/admin/storage')
      const alert = page.getByRole('main').getByRole('alert')
      await alert
        .getByText(/^The free space of the blob store is unknown: .+ All other numbers are/)
        .waitFor()
      expect(await listed('Largest accounts').first().textContent()).toContain('paul')
      expect(await page.getByRole('main').locator('dl').textContent()).not.toContain(
        'Free on the disk',
      )
      await expectAccessible(page)
      await pictures(page, 'console-admin-storage-down')
      renameSync(`${blobs}-away`, blobs)
      await alert.getByRole('button', { name: 'Try again' }).click()
      await alert.waitFor({ state: 'detached' })
      await page.getByRole('main').locator('dl').getByText('Free on the disk').waitFor()
    } finally {
      if (existsSync(`${blobs}-away`)) renameSync(`${blobs}-away`, blobs)
    }
  })

  it('sees the mail queue and the other operators', async () => {
    await page.getByRole('link', { name: 'Service' }).click()
    await heading('Queued mails')
    await listed('Operators').filter({ hasText: 'Named by the setting OPERATORS' }).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-admin-service')
    await olga.open('/admin/accounts/account:00000000-0000-0000-0000-000000000000')
    await heading('There is no such account')
    expectQuiet(olga)
  })

  it('starts a maintenance, which everyone sees with its end and message', async () => {
    await olga.open('/admin/service')
    await page.getByRole('button', { name: 'Start a maintenance' }).press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Message' }).fill('<u>A larger disk</u>')
    await expectAccessible(page)
    await pictures(page, 'console-admin-maintenance')
    await dialog.getByRole('button', { name: 'Start a maintenance' }).press('Enter')
    await said('Changes are refused now')
    await page.getByRole('status').getByText('<u>A larger disk</u>').waitFor()
    const one = await w.person('quinn@example.com').catch(() => null)
    expect(one).toBeNull()
    const ulla = await w.person('paul', { ...telephone, locale: 'de-DE' })
    const hers = await ulla.open('/files')
    await hers
      .getByRole('status')
      .getByText(/^Wartung bis \d/)
      .waitFor()
    expect(await hers.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await expectAccessible(hers)
    await pictures(hers, 'console-maintenance-telephone')
    const refused = await ulla
      .ask('mutation { createFolder(input: { at: { path: "new" } }) { folder { id } } }')
      .catch(String)
    expect(String(refused)).toContain('MAINTENANCE')
    await page.getByRole('button', { name: 'End it now' }).press('Enter')
    await said('Changes are accepted again')
    await page.getByRole('status').getByText('Maintenance until').waitFor({ state: 'detached' })
  })

  it('creates a plan, edits it, makes it the default, and retires another plan', async () => {
    await olga.open('/admin/plans')
    await listed('Plans').filter({ hasText: 'New accounts' }).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-admin-plans')
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'New plan…' }).press('Enter')
    await dialog.getByRole('textbox', { name: 'Id' }).fill('team')
    await dialog.getByRole('textbox', { name: 'Name' }).fill('<u>Team</u>')
    await dialog.getByRole('textbox', { name: 'Storage', exact: true }).fill('much')
    await expectAccessible(page)
    await pictures(page, 'console-admin-plan-new')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByRole('alert').getByText('“much” is not a value of “Storage”').waitFor()
    await dialog.getByRole('textbox', { name: 'Storage', exact: true }).fill('1.5 GiB')
    await dialog.getByRole('textbox', { name: 'Files', exact: true }).fill('unlimited')
    await dialog.getByRole('button', { name: 'Create' }).click()
    const team = listed('Plans').filter({ hasText: '<u>Team</u>' })
    await team.getByText(/1\.5.GiB/).waitFor()
    const act = async (name: string) => {
      await team.getByRole('button', { name: 'Actions for <u>Team</u>' }).click()
      await page.getByRole('menuitem', { name }).click()
    }
    await act('Change…')
    expect(await dialog.getByRole('textbox', { name: 'Storage', exact: true }).inputValue()).toBe(
      '1536 MiB',
    )
    expect(await dialog.getByRole('textbox', { name: 'Files', exact: true }).inputValue()).toBe(
      'unlimited',
    )
    await dialog.getByRole('textbox', { name: 'Notes' }).fill('7')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { operator } = await olga.ask<{ operator: { plans: { plan: { id: string } }[] } }>(
      '{ operator { plans { plan { id maxBytes maxFiles maxNotes } } } }',
    )
    expect(operator.plans.find(({ plan }) => plan.id === 'team')?.plan).toEqual({
      id: 'team',
      maxBytes: 1.5 * 1024 ** 3,
      maxFiles: null,
      maxNotes: 7,
    })
    await act('Retire')
    await team.getByText('Retired').waitFor()
    await act('Offer again')
    await team.getByText('Retired').waitFor({ state: 'detached' })
    await act('Delete…')
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Delete…' }).click()
    await team.waitFor({ state: 'detached' })
  })

  it('sees an error if the plans cannot be read, and tries again', async () => {
    const [message, path] = ['Busy.', ['operator', 'plans']]
    const failure = {
      data: { operator: { __typename: 'OperatorView', plans: null } },
      errors: [{ message, path, extensions: { code: 'INTERNAL' } }],
    }
    await page.route('**/graphql', route =>
      route.request().postData()?.includes('query Plans ')
        ? route.fulfill({ json: failure })
        : route.fallback(),
    )
    await olga.open('/admin/plans')
    const alert = page.getByRole('main').getByRole('alert')
    await alert.waitFor()
    await page.unroute('**/graphql')
    await alert.getByRole('button').click()
    await listed('Plans').filter({ hasText: 'New accounts' }).waitFor()
  })

  it('sets limits of an account and a workspace, and finds accounts over quota', async () => {
    await olga.open('/admin?q=paul')
    await page.getByRole('link', { name: 'paul' }).click()
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Change limits…' }).click()
    await dialog.getByRole('textbox', { name: 'Storage', exact: true }).fill('1 MiB')
    await expectAccessible(page)
    await pictures(page, 'console-admin-limits')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await said('The limits are saved')
    await page.getByText('set by an operator').waitFor()
    await page.getByText('Over the limits').waitFor()
    await page.getByRole('button', { name: 'Limits of <u>Lab</u>' }).click()
    await dialog.getByRole('textbox', { name: 'Members of each workspace' }).fill('3')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    await expectAccessible(page)

    const his = (await w.person('paul')).open('/files')
    await (await his).getByText(/^You store more than your limits allow/).waitFor()
    await expectAccessible(await his)
    await pictures(await his, 'console-over-quota')

    await olga.open('/admin')
    await listed('Accounts').filter({ hasText: 'olga@example.com' }).waitFor()
    await page.getByRole('checkbox', { name: 'Over their limits' }).click()
    await listed('Accounts').filter({ hasText: 'olga@example.com' }).waitFor({ state: 'detached' })
    await listed('Accounts').filter({ hasText: 'paul@example.com' }).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-admin-over')

    await page.getByRole('link', { name: 'paul' }).click()
    await page.getByRole('button', { name: 'Change limits…' }).click()
    await dialog.getByRole('textbox', { name: 'Storage', exact: true }).fill('')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Over the limits').waitFor({ state: 'detached' })
  })

  it('deletes an account after its address was typed, and keeps the files for a return', async () => {
    const gone = await w.person('gone')
    await gone.upload('kept.txt', 'kept')
    const { me } = await gone.ask<{ me: { id: string } }>('{ me { id } }')
    const account = await olga.open(`/admin/accounts/account:${me.id.split(':').at(-1)}`)
    await account.getByRole('button', { name: 'Delete the account' }).click()
    const dialog = account.getByRole('dialog')
    const go = dialog.getByRole('button', { name: 'Delete the account' })
    expect(await dialog.getByLabel('Keep them for a while').isChecked()).toBe(true)
    await dialog.getByLabel('Type gone@example.com to confirm').fill('other@example.com')
    expect(await go.isDisabled()).toBe(true)
    await dialog.getByLabel('Type gone@example.com to confirm').fill('Gone@example.com')
    await expectAccessible(account)
    await go.click()
    await account.getByText(/gone@example\.com is deleted\. The files are kept until/).waitFor()
    expect(await isSignedIn(gone)).toBe(false)
    const again = await w.person('gone')
    await rowOf('kept', await again.open('/files')).waitFor()
  })

  it('loads further pages of accounts', async () => {
    const crowd = await visit(w.browser, w.service.url)
    for (let at = 0; at < 21; at++) await enter(crowd, w.service.url, `crowd${at}@example.com`)
    await olga.open('/admin?q=crowd')
    await listed('Accounts').nth(19).waitFor()
    expect(await listed('Accounts').count()).toBe(20)
    await page.getByRole('button', { name: 'Show more' }).press('Enter')
    await listed('Accounts').filter({ hasText: 'crowd20@' }).waitFor()
    expect(await listed('Accounts').count()).toBe(21)
    await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' })
  }, 120_000)
})

it('fits a phone, and speaks German', async () => {
  const small = await w.person('olga', { ...telephone, locale: 'de-DE' })
  const hers = await small.open('/admin?q=paul')
  await hers.getByRole('link', { name: 'paul' }).tap()
  await hers.getByRole('heading', { name: 'Zugang' }).waitFor()
  await settled(hers)
  expect(await hers.evaluate('document.documentElement.scrollWidth')).toBe(390)
  await expectAccessible(hers)
  await pictures(hers, 'console-admin-account-telephone')
  for (const path of ['/admin', '/admin/plans', '/admin/storage', '/admin/service']) {
    await small.open(path)
    await hers.getByRole('heading', { name: 'Verwaltung' }).waitFor()
    expect(await hers.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await expectAccessible(hers)
    await pictures(hers, `console${path.replaceAll('/', '-')}-telephone`)
  }
  expectQuiet(small)
})
