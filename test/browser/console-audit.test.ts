import { readFile } from 'node:fs/promises'
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
let paulId: string

beforeAll(async () => {
  w = await startConsole({ LOG_ADDRESSES: 'full' })
  ;[olga, paul] = [await w.person('olga'), await w.person('paul')]
  page = olga.page
  await paul.upload('Papers/=1+1.txt', 'thesis')
  const { createApiKey } = await paul.ask<{ createApiKey: { secret: string } }>(
    'mutation { createApiKey(input: { name: "Robot", scopes: [PRIVATE_FILES_READ, PRIVATE_FILES_WRITE] }) { secret } }',
  )
  const form = new FormData()
  form.append('file', new Blob(['x']), 'by-robot.txt')
  const headers = { 'x-api-key': createApiKey.secret, 'user-agent': 'robot/1.0' }
  expect(
    (await fetch(`${w.service.url}/api/files/upload`, { method: 'POST', body: form, headers }))
      .status,
  ).toBe(200)
  const { me } = await paul.ask<{ me: { person: { id: string } } }>('{ me { person { id } } }')
  paulId = me.person.id
  const suspend =
    'mutation ($input: OperatorUpdateAccountInput!) { operatorUpdateAccount(input: $input) { account { id } } }'
  for (const status of ['SUSPENDED', 'ACTIVE']) {
    await olga.ask(suspend, { input: { account: `account:${paulId}`, status } })
  }
}, 120_000)
afterAll(() => w?.stop())

const entries = (on = page) => on.getByRole('list', { name: 'Entries' }).getByRole('listitem')
const heading = (name: string, on = page) =>
  on.getByRole('heading', { name, exact: true }).waitFor()
const submit = () => page.getByRole('button', { name: 'Search', exact: true }).press('Enter')

describe('The audit trail', () => {
  it('shows who did what, from where and with which key', async () => {
    await olga.open('/admin')
    await page.getByRole('link', { name: 'Audit trail' }).click()
    await page.waitForURL(/\/admin\/audit$/)
    const uploaded = entries().filter({ hasText: 'by-robot.txt' })
    await uploaded.waitFor()
    expect(await uploaded.textContent()).toMatch(
      /File created.*paul.*key Robot.*127\.0\.0\.1.*robot\/1\.0/,
    )
    const suspended = await entries().filter({ hasText: 'Account suspended' }).textContent()
    expect(suspended).toMatch(/for paul.*olga as an operator/)
    await uploaded.getByText('Details').press('Enter')
    await uploaded.getByText('Id of the person').waitFor()
    expect(await uploaded.textContent()).toContain(paulId)
    await settled(page)
    await expectAccessible(page)
    await pictures(page, 'console-admin-audit')
  })

  it('filters by person, by keyboard, and keeps the filter in the URL', async () => {
    await page.getByRole('textbox', { name: 'Person' }).focus()
    await page.keyboard.type('PAUL@example.com')
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(`person=${paulId}`))
    await entries().filter({ hasText: 'Audit trail read' }).first().waitFor({ state: 'detached' })
    for (const row of await entries().all()) expect(await row.textContent()).toContain('paul')
    await page.getByRole('combobox', { name: 'Event' }).selectOption({ label: 'File created' })
    await submit()
    await page.waitForURL(/kind=FILE_CREATED/)
    // The list is empty for a moment.
    await entries().filter({ hasText: 'by-robot.txt' }).waitFor()
    await entries().nth(2).waitFor({ state: 'detached' })
    expect(await entries().allTextContents()).toEqual([
      expect.stringContaining('by-robot.txt'),
      expect.stringContaining('=1+1.txt'),
    ])
    await page.reload()
    await entries().nth(1).waitFor()
    expect(await page.getByRole('textbox', { name: 'Person' }).inputValue()).toBe(
      'paul@example.com',
    )
    expect(await page.getByRole('combobox', { name: 'Event' }).inputValue()).toBe('FILE_CREATED')
    await expectAccessible(page)
    await pictures(page, 'console-admin-audit-found')
  })

  it('links keys, IP addresses and persons to their other entries', async () => {
    await entries().getByRole('link', { name: 'key Robot' }).press('Enter')
    await page.waitForURL(/credential=/)
    await entries().nth(1).waitFor({ state: 'detached' })
    expect(await entries().allTextContents()).toEqual([expect.stringContaining('by-robot.txt')])
    await entries().getByRole('link', { name: '127.0.0.1' }).click()
    await page.waitForURL(/address=127\.0\.0\.1/)
    expect(await page.getByRole('textbox', { name: 'Address' }).inputValue()).toBe('127.0.0.1')
    await page.getByRole('button', { name: 'Clear filters' }).press('Enter')
    await page.waitForURL(/\/admin\/audit$/)
    await entries().filter({ hasText: 'Audit trail read' }).first().waitFor()
    await entries()
      .filter({ hasText: 'Account restored' })
      .getByRole('link', { name: 'olga as an operator' })
      .click()
    await page.waitForURL(/person=/)
    await entries().filter({ hasText: 'by-robot.txt' }).waitFor({ state: 'detached' })
  })

  it('filters by time', async () => {
    await olga.open('/admin/audit?since=2999-01-01T00:00')
    await heading('Nothing found')
    await expectAccessible(page)
    await page.getByLabel('From').fill('2020-01-01T00:00')
    await page.getByLabel('Until').fill('2020-01-02T00:00')
    await submit()
    await page.waitForURL(/until=2020-01-02/)
    await heading('Nothing found')
    await page.getByLabel('Until').fill('2999-01-02T00:00')
    await submit()
    await entries().filter({ hasText: 'by-robot.txt' }).waitFor()
  })

  it('asks which person is meant, and reports an unknown person', async () => {
    await olga.open('/admin/audit')
    await page.getByRole('textbox', { name: 'Person' }).fill('example.com')
    await submit()
    const choice = page.getByRole('group', { name: 'Which one do you mean?' })
    await choice.getByRole('button', { name: /^paul/ }).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-admin-audit-whom')
    await choice.getByRole('button', { name: /^olga/ }).press('Enter')
    await page.waitForURL(/person=/)
    await page.getByRole('textbox', { name: 'Person' }).fill('zzz')
    await submit()
    await page
      .getByRole('alert')
      .getByText('No account has “zzz” in its name or address.')
      .waitFor()
    // A deleted account is shown by its id.
    const gone = '00000000-0000-4000-8000-000000000000'
    await page.getByRole('textbox', { name: 'Person' }).fill(gone)
    await submit()
    await heading('Nothing found')
    expect(await page.getByRole('textbox', { name: 'Person' }).inputValue()).toBe(gone)
  })

  it('loads further pages', async () => {
    for (let at = 0; at < 60; at++)
      await olga.ask('{ operator { auditTrail(first: 1) { nodes { id } } } }')
    await olga.open('/admin/audit?kind=AUDIT_READ')
    await entries().nth(49).waitFor()
    expect(await entries().count()).toBe(50)
    await page.getByRole('button', { name: 'Show more' }).press('Enter')
    await entries().nth(59).waitFor()
  })

  it('exports the results as CSV and NDJSON', async () => {
    await olga.open(`/admin/audit?person=${paulId}&kind=FILE_CREATED`)
    await entries().nth(1).waitFor()
    const saved = async (name: string) => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: `Export as ${name}` }).press('Enter'),
      ])
      return {
        name: download.suggestedFilename(),
        text: await readFile(await download.path(), 'utf8'),
      }
    }
    const csv = await saved('CSV')
    expect(csv.name).toMatch(/^satchel-audit-[\d-]{10}\.csv$/)
    expect(csv.text.trimEnd().split('\r\n')).toHaveLength(3)
    expect(csv.text).toContain('by-robot.txt')
    const ndjson = await saved('NDJSON')
    expect(ndjson.name).toMatch(/\.ndjson$/)
    expect(
      ndjson.text
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line).kind),
    ).toEqual(['file.created', 'file.created'])
    expectQuiet(olga)
  })

  it('is hidden from everyone but operators', async () => {
    const lena = await w.person('lena')
    await heading('This is for operators', await lena.open('/admin/audit'))
    expect(
      (await lena.context.request.get(`${w.service.url}/audit/export?format=csv`)).status(),
    ).toBe(403)
  })
})

it('fits a phone, speaks German, and works from right to left', async () => {
  const small = await w.person('olga', { ...telephone, locale: 'de-DE' })
  const hers = await small.open(`/admin/audit?person=${paulId}`)
  const created = hers.getByRole('list', { name: 'Einträge' }).getByText('Datei angelegt').first()
  await created.waitFor()
  await settled(hers)
  expect(await hers.evaluate('document.documentElement.scrollWidth')).toBe(390)
  await expectAccessible(hers)
  await pictures(hers, 'console-admin-audit-telephone')
  await created.scrollIntoViewIfNeeded()
  await pictures(hers, 'console-admin-audit-telephone-list')
  const other = await w.person('olga', { locale: 'en-Arab' })
  const mirrored = await other.open('/admin/audit')
  await entries(mirrored).first().waitFor()
  await expectAccessible(mirrored)
  await pictures(mirrored, 'console-admin-audit-rtl')
})
