import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import {
  type ConsoleWorld,
  expectAccessible,
  expectQuiet,
  type Person,
  pictures,
  rowOf,
  startConsole,
} from './console.ts'
import { Hands } from './hands.ts'

let w: ConsoleWorld
let alice: Person
let page: Page

beforeAll(async () => {
  w = await startConsole()
  alice = await w.person('alice')
  await alice.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  for (const name of ['one', 'two', 'three', 'four', 'five'])
    await alice.upload(`${name}.txt`, name)
  await alice.upload('Photos/summer.txt', 'summer')
}, 120_000)
afterAll(() => w?.stop())

const said = (text: string | RegExp) => page.getByRole('status').getByText(text).waitFor()
const dialog = (name?: string | RegExp) => page.getByRole('dialog', name ? { name } : {})
const copied = () => page.evaluate('navigator.clipboard.readText()') as Promise<string>

interface Made {
  id: string
  url: string
  entryCount: number
  passwordProtected: boolean
  expiresAt: string
  recipient?: string
}
async function shares(): Promise<Made[]> {
  const { me } = await alice.ask<{ me: { shares: { nodes: Made[] } } }>(
    `{ me { shares(newestFirst: true) { nodes {
      id url entryCount passwordProtected expiresAt ... on DirectShare { recipient } } } } }`,
  )
  return me.shares.nodes
}

const idOf = async (path: string): Promise<string> =>
  (
    await alice.ask<{ me: { drive: { entry: { id: string } } } }>(
      'query ($path: String!) { me { drive { entry(path: $path) { id } } } }',
      { path },
    )
  ).me.drive.entry.id

describe('A day with others', () => {
  it('shares a folder of photos with two clicks', async () => {
    const hands = new Hands()
    page = await alice.open('/files')
    await hands.click(rowOf('Photos', page), { button: 'right' })
    await hands.click(page.getByRole('menuitem', { name: 'Copy a public link' }))
    await said('Link created and copied. It ends in 7 days.')
    expect(await copied()).toBe((await shares())[0]?.url)
    expect(hands.count).toBe(2)
  })

  it('shares five files with a password and an expiry with five clicks', async () => {
    const hands = new Hands()
    page = await alice.open('/files')
    await hands.click(rowOf('five', page))
    await hands.click(rowOf('two', page), { modifiers: ['Shift'] })
    await hands.click(page.getByRole('toolbar').getByRole('button', { name: 'Share' }))
    // The form proposes that the link ends in seven days.
    await dialog().getByLabel('Ends').waitFor()
    await hands.fill(dialog().getByLabel('Password'), 'open sesame')
    await hands.click(dialog().getByRole('button', { name: 'Create link' }))
    await said('Link created and copied')
    const [made] = (await shares()) as [Made]
    expect(made).toMatchObject({ entryCount: 5, passwordProtected: true, url: await copied() })
    expect(Math.round((Date.parse(made.expiresAt) - Date.now()) / 86_400_000)).toBe(7)
    expect(hands.count).toBe(5)
    // What exists is on top, also for several items.
    await dialog().getByRole('list', { name: 'Links' }).getByText('and 4 more').waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-share-five')
  })
})

describe('A person who leaves', () => {
  let bob: Person
  let workspace: string

  beforeAll(async () => {
    bob = await w.person('bob')
    const made = await alice.ask<{ createWorkspace: { workspace: { id: string } } }>(
      'mutation { createWorkspace(input: { name: "Garden" }) { workspace { id } } }',
    )
    workspace = made.createWorkspace.workspace.id
  }, 120_000)

  async function joins(): Promise<void> {
    await alice.ask(
      'mutation ($input: CreateInviteInput!) { createInvite(input: $input) { invite { id } } }',
      { input: { workspace, email: bob.email, role: 'EDITOR' } },
    )
    const { me } = await bob.ask<{ me: { invites: { nodes: { token: string }[] } } }>(
      '{ me { invites { nodes { token } } } }',
    )
    await bob.ask(
      'mutation ($input: AcceptInviteInput!) { acceptInvite(input: $input) { __typename } }',
      { input: { token: me.invites.nodes[0]?.token } },
    )
    for (const path of ['one.txt', 'two.txt', 'Photos'])
      await alice.ask(
        'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { mail } }',
        {
          input: { email: bob.email, entries: [{ id: await idOf(path) }] },
        },
      )
  }
  const received = async () =>
    (
      await bob.ask<{ me: { receivedShares: { nodes: unknown[] } } }>(
        '{ me { receivedShares { nodes { id } } } }',
      )
    ).me.receivedShares.nodes
  const isMember = async () =>
    (
      await bob.ask<{ me: { workspaces: { nodes: unknown[] } } }>(
        '{ me { workspaces { nodes { id } } } }',
      )
    ).me.workspaces.nodes.length > 0

  it('is cut off with all personal shares with three clicks', async () => {
    await joins()
    const hands = new Hands()
    page = await alice.open('/workspaces/garden/members')
    await hands.click(page.getByRole('button', { name: 'Remove bob' }))
    const also = dialog().getByRole('checkbox', {
      name: 'Also end the 3 shares that you made for bob personally',
    })
    await dialog().getByText('Otherwise these files stay shared with bob.').waitFor()
    await dialog().getByText('What stays: links that everyone can open').waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-member-remove')
    await hands.click(also)
    await hands.click(dialog().getByRole('button', { name: 'Remove' }))
    await said('bob is no longer a member, and the shares have ended')
    expect(hands.count).toBe(3)
    expect(await received()).toEqual([])
    expect(await isMember()).toBe(false)
    // Links without a person keep working.
    expect(await shares()).toHaveLength(2)
  })

  it('keeps the personal shares if they are not chosen', async () => {
    await joins()
    page = await alice.open('/workspaces/garden/members')
    await page.getByRole('button', { name: 'Remove bob' }).click()
    await dialog().getByRole('checkbox').waitFor()
    await dialog().getByRole('button', { name: 'Remove' }).click()
    await said('bob is no longer a member')
    expect(await received()).toHaveLength(3)
    expect(await isMember()).toBe(false)
  })

  it('is shown with all that they can see, which ends at once with four clicks', async () => {
    await joins()
    const file = (await shares()).find(({ recipient }) => recipient === bob.email)
    expect(file).toBeDefined()
    await bob.upload('reply.txt', 'reply')
    await bob.ask(
      'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { mail } }',
      {
        input: { email: alice.email, entries: [{ at: { path: 'reply.txt' } }] },
      },
    )
    page = await alice.open('/links')
    const hands = new Hands()
    await hands.click(page.getByRole('button', { name: `Actions for ${bob.email}` }).first())
    await hands.click(page.getByRole('menuitem', { name: 'What this person can see…' }))
    const access = dialog(`What ${bob.email} can see`)
    const ours = access.getByRole('list', { name: 'You share' }).getByRole('listitem')
    await ours.nth(2).waitFor()
    expect(await ours.count()).toBe(3)
    await access.getByRole('list', { name: 'Workspaces' }).getByText('Garden').first().waitFor()
    await access
      .getByRole('list', { name: `${bob.email} shares with you` })
      .getByText('reply.txt')
      .waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-access-of')
    const wide = page.viewportSize()
    await page.setViewportSize({ width: 390, height: 844 })
    await pictures(page, 'console-access-of-telephone')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    if (wide) await page.setViewportSize(wide)
    await hands.click(access.getByRole('button', { name: 'End all' }))
    const confirm = dialog(`End all access of ${bob.email}?`)
    await confirm.getByText('3 shares with').waitFor()
    await confirm.getByText('is no longer a member of Garden.').waitFor()
    await expectAccessible(page)
    await hands.click(confirm.getByRole('button', { name: 'End all' }))
    await said(`${bob.email} no longer sees what you shared`)
    expect(hands.count).toBe(4)
    expect(await received()).toEqual([])
    expect(await isMember()).toBe(false)
    await page.getByText(bob.email).waitFor({ state: 'detached' })
    expectQuiet(alice)
    expectQuiet(bob)
  })
})

describe('Collecting', () => {
  const names = Array.from({ length: 30 }, (_, i) => `Person ${i + 1}`)

  async function send(url: string, name: string, file: string): Promise<void> {
    const at = url.replace('/request/', '/api/request/')
    const json = { 'content-type': 'application/json' }
    const entered = await fetch(`${at}/enter`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ name }),
    })
    const { sender } = ((await entered.json()) as { response: { sender: string } }).response
    const form = new FormData()
    form.append('file', new Blob([file]), file)
    const headers = { 'x-sender-token': sender }
    expect((await fetch(`${at}/upload`, { method: 'POST', headers, body: form })).status).toBe(200)
  }

  it('asks thirty people for files with five clicks', async () => {
    const hands = new Hands()
    page = await alice.open('/files')
    await hands.click(page.getByRole('link', { name: 'File requests' }))
    await hands.click(page.getByRole('button', { name: 'New request' }))
    // The field has the focus.
    await dialog().locator('input:focus').waitFor()
    await page.keyboard.type('Reports')
    await hands.fill(dialog().getByLabel('Expected senders'), names.join('\n'))
    expect(await dialog().getByLabel('Ask senders for their name').isDisabled()).toBe(true)
    expect(await dialog().getByLabel('Ask senders for their name').isChecked()).toBe(true)
    await expectAccessible(page)
    await pictures(page, 'console-request-expected')
    await hands.click(dialog().getByRole('button', { name: 'Create link' }))
    await hands.click(dialog('Link created').getByRole('button', { name: 'Copy' }))
    expect(await copied()).toMatch(/\/request\//)
    expect(hands.count).toBe(5)
    await dialog('Link created').getByRole('button', { name: 'Done' }).click()
    await page.getByText('0 of 30 received').waitFor()
    // A folder of that name receives the files.
    expect(await idOf('Reports')).toMatch(/-/)
  })

  it('shows who sent what without opening anything, and reminds the others', async () => {
    const url = await copied()
    await send(url, 'person 3', 'third.pdf')
    await send(url, 'Person 30', 'last.pdf')
    await send(url, 'Somebody', 'else.pdf')
    await page.getByText('2 of 30 received').waitFor()
    const latest = page.getByRole('table', { name: 'Latest files of Reports' })
    await latest.getByRole('row', { name: /Somebody else.pdf/ }).waitFor()
    await latest.getByRole('row', { name: /Person 30 last.pdf/ }).waitFor()
    await page.getByRole('listitem').filter({ hasText: 'Somebodyhas sent' }).first().waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-request-arrived')
    await page.getByRole('button', { name: 'Copy a reminder' }).click()
    await said('Reminder copied')
    const reminder = await copied()
    expect(reminder).toMatch(/^Still missing for “Reports”: Person 1, Person 2, Person 4, /)
    expect(reminder).not.toMatch(/Person 3,|Person 30/)
    expect(reminder).toContain(url)
    await page.setViewportSize({ width: 390, height: 844 })
    await expectAccessible(page)
    await pictures(page, 'console-request-arrived-telephone')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await page.setViewportSize({ width: 1440, height: 900 })
    await pictures(page, 'console-request-arrived-wide')
  })

  it('puts the files of each sender into a folder, if chosen', async () => {
    await page.getByRole('button', { name: 'New request' }).click()
    await dialog().locator('input:focus').waitFor()
    await page.keyboard.type('Drawings')
    await dialog().getByLabel('Where files go').selectOption('In a subfolder for each sender')
    await dialog().getByRole('button', { name: 'Choose…' }).click()
    const picker = dialog('Folder')
    await picker.getByRole('button', { name: 'Photos' }).click()
    await picker.getByRole('button', { name: 'Choose this folder' }).click()
    await dialog().getByText('Photos').waitFor()
    await expectAccessible(page)
    await dialog().getByRole('button', { name: 'Create link' }).click()
    const url = await dialog('Link created').getByLabel('Link').inputValue()
    await dialog('Link created').getByRole('button', { name: 'Done' }).click()
    await send(url, 'Anna', 'tree.png')
    expect(await idOf('Photos/Anna/tree.png')).toMatch(/-/)
    expectQuiet(alice)
  })
})
