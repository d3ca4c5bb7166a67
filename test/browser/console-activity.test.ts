import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import {
  type ConsoleWorld,
  expectAccessible,
  expectQuiet,
  listening,
  type Person,
  pictures,
  startConsole,
  telephone,
} from './console.ts'

let w: ConsoleWorld

beforeAll(async () => {
  w = await startConsole()
}, 120_000)
afterAll(() => w?.stop())

/** The displayed sentences, without the direction marks around names. */
const happened = async (page: Page) =>
  (await page.locator('.activity-event .grow').allTextContents()).map(words =>
    words.replace(/[\u2066-\u2069]/g, ''),
  )
const latest = (words: string, page: Page) =>
  page.locator('.activity-event').first().filter({ hasText: words }).waitFor()

const input = (value: object) => ({ input: value })
const makeFolder = (who: Person, path: string, drive?: string) =>
  who.ask(
    'mutation ($input: CreateFolderInput!) { createFolder(input: $input) { folder { id } } }',
    input({ at: { path, drive } }),
  )
const move = (who: Person, path: string, change: object) =>
  who.ask(
    'mutation ($input: MoveEntriesInput!) { moveEntries(input: $input) { entries { id } } }',
    input({ entries: [{ at: { path } }], ...change }),
  )

describe('The activity', () => {
  it('is empty at first', async () => {
    const alice = await w.person('alice')
    const page = await alice.open('/activity')
    await page.getByRole('heading', { name: 'Nothing has happened yet' }).waitFor()
    expect(await page.title()).toBe('Activity · Satchel')
    await expectAccessible(page)
    expectQuiet(alice)
  })

  it('describes events in words, newest first, with links to the entries', async () => {
    const alice = await w.person('alice')
    await alice.upload('report.txt', 'one')
    await makeFolder(alice, 'Invoices')
    await move(alice, 'report.txt', { to: { at: { path: 'Invoices' } } })
    await move(alice, 'Invoices/report.txt', { name: 'Report 2026.txt' })
    const page = await alice.open('/activity')
    await page.getByRole('heading', { name: 'today' }).waitFor()
    expect(await happened(page)).toEqual([
      'You renamed “report.txt” to “Report 2026.txt”',
      'You moved “report.txt” to “Invoices”',
      'You created the folder “Invoices” in “My files”',
      'You added “report.txt” to “My files”',
    ])
    await expectAccessible(page)
    await pictures(page, 'console-activity')
    await page.getByRole('link', { name: /renamed/ }).click()
    await page.waitForURL(/\/files\/Invoices\?sel=/)
    await page.locator('[aria-selected=true]').getByText('Report 2026.txt').waitFor()
    expectQuiet(alice)
  })

  it('updates by itself, and is summarised beside the files', async () => {
    const alice = await w.person('alice')
    const live = listening(alice.page, 'DriveEvents')
    const page = await alice.open('/activity')
    await live
    await page.locator('.activity-event').first().waitFor()
    await alice.ask(
      'mutation ($input: CreateLinkInput!) { createLink(input: $input) { share { id } } }',
      input({ entries: { at: { path: 'Invoices/Report 2026.txt' } }, duration: '1d' }),
    )
    await latest('by a link', page)
    await makeFolder(alice, 'Later')
    await latest('Later', page)
    await page.goto(`${w.service.url}/files?details=true`)
    const details = page.getByRole('complementary', { name: 'Details' })
    await details.getByRole('heading', { name: 'Activity', level: 3 }).waitFor()
    await details.getByRole('heading', { name: 'today', level: 4 }).waitFor()
    expect((await happened(page))[0]).toBe('You created the folder “Later” in “My files”')
    await expectAccessible(page)
    await pictures(page, 'console-details-activity')
    await details.getByRole('link', { name: 'All activity' }).click()
    await page.getByRole('heading', { name: 'Activity', exact: true }).waitFor()
    expectQuiet(alice)
  })

  it('loads older events on demand', async () => {
    const bob = await w.person('bob')
    // Folders that are created one after the other would be one line.
    const both = (at: number) =>
      `f${at}: createFolder(input: { at: { path: "f${at}" } }) { folder { id } }
       g${at}: moveEntries(input: { entries: [{ at: { path: "f${at}" } }], name: "g${at}" }) { entries { id } }`
    for (let at = 0; at < 30; at += 5)
      await bob.ask(`mutation { ${Array.from({ length: 5 }, (_, i) => both(at + i)).join(' ')} }`)
    const page = await bob.open('/activity')
    await page.getByText('g29', { exact: false }).waitFor()
    const first = page.getByRole('listitem').filter({ hasText: 'created the folder “⁨f0⁩”' })
    expect(await first.count()).toBe(0)
    await page.getByRole('button', { name: 'Show more' }).click()
    await first.waitFor()
    expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0)
    expect((await happened(page)).length).toBe(60)
  })

  it('of a workspace names the person, and fits a phone', async () => {
    const carol = await w.person('carol')
    const dora = await w.person('dora', telephone)
    type Made = {
      createWorkspace: { workspace: { id: string; slug: string; drive: { id: string } } }
    }
    const { createWorkspace } = await carol.ask<Made>(
      'mutation { createWorkspace(input: { name: "Garden" }) { workspace { id slug drive { id } } } }',
    )
    const { id, slug, drive } = createWorkspace.workspace
    await carol.ask(
      'mutation ($input: CreateInviteInput!) { createInvite(input: $input) { invite { id } } }',
      input({ workspace: id, email: dora.email, role: 'EDITOR' }),
    )
    type Invited = { me: { invites: { nodes: { token: string }[] } } }
    const { me } = await dora.ask<Invited>('{ me { invites(first: 1) { nodes { token } } } }')
    await dora.ask(
      'mutation ($input: AcceptInviteInput!) { acceptInvite(input: $input) { acceptedId } }',
      input({ token: me.invites.nodes[0]?.token }),
    )
    await makeFolder(carol, 'beds', drive.id)
    const page = await dora.open(`/workspaces/${slug}/activity`)
    await page.getByRole('heading', { name: 'Activity in Garden' }).waitFor()
    const words = await happened(page)
    expect(words).toContain('carol created the folder “beds” in “Garden”')
    expect(words).toContain('carol created the workspace “Garden”')
    // Only managers see events about members and invites.
    expect(words.filter(sentence => /joined|invited/.test(sentence))).toEqual([])
    await expectAccessible(page)
    await pictures(page, 'console-activity-telephone')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    const owners = await carol.open(`/workspaces/${slug}/activity`)
    await owners.getByRole('heading', { name: 'Activity in Garden' }).waitFor()
    const all = await happened(owners)
    expect(all).toContain('dora joined as Editor')
    expect(all).toContain('You invited d…@example.com as Editor')
    expectQuiet(dora)
  })
})
