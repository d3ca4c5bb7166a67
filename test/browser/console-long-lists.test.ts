import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { type Db, openDatabase } from '../../db/index.ts'
import {
  type ConsoleWorld,
  expectAccessible,
  expectQuiet,
  type Person,
  rowOf,
  startConsole,
} from './console.ts'

const COUNT = 105

let w: ConsoleWorld
let db: Db
let alice: Person

beforeAll(async () => {
  w = await startConsole({ RATE_API_KEYS: '1000', VERSIONS_KEPT: '200' })
  db = openDatabase(
    { dialect: 'sqlite', file: join(w.service.dataDir, 'satchel.sqlite') },
    { pool: 1 },
  )
  await db.run(`UPDATE plan SET max_private_api_keys = 1000, max_workspace_api_keys = 1000, max_pending_invites = 1000,
    max_users_workspace = 1000`)
  alice = await w.person('alice')
}, 120_000)
afterAll(async () => {
  await db?.close()
  await w?.stop()
})

const rows = (page: Page, name: string) => page.getByRole('list', { name }).getByRole('listitem')
const numbers = Array.from({ length: COUNT }, (_, i) => i)

interface Room {
  id: string
  slug: string
}

async function makeRoom(name: string): Promise<Room> {
  const { createWorkspace } = await alice.ask<{ createWorkspace: { workspace: Room } }>(
    'mutation ($name: String!) { createWorkspace(input: { name: $name }) { workspace { id slug } } }',
    { name },
  )
  return createWorkspace.workspace
}

async function makeKeys(input: object): Promise<void> {
  for (const i of numbers)
    await alice.ask(
      'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }',
      {
        input: { name: `Key ${i}`, ...input },
      },
    )
}

/**
 * A list shows its first hundred items, then all. Changes to one of the last become visible there.
 */
async function expectLong(
  page: Page,
  list: string,
  all: number,
  revoke: () => Promise<void>,
): Promise<void> {
  await rows(page, list).nth(99).waitFor()
  expect(await rows(page, list).count()).toBe(100)
  await page.getByRole('button', { name: 'Show more' }).click()
  await rows(page, list)
    .nth(all - 1)
    .waitFor()
  expect(await rows(page, list).count()).toBe(all)
  expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0)
  await expectAccessible(page)
  await revoke()
  await rows(page, list)
    .nth(all - 1)
    .waitFor({ state: 'detached' })
  expect(await rows(page, list).count()).toBe(all - 1)
  expectQuiet(alice)
}

const confirm = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('button', { name }).click()
const revokeFirstKey = (page: Page) => async () => {
  // The newest is the first.
  await page.getByRole('button', { name: 'Revoke Key 0', exact: true }).click()
  await confirm(page, 'Revoke')
}

it('shows all keys of a person', async () => {
  await makeKeys({ scopes: ['PRIVATE_FILES_READ'] })
  const page = await alice.open('/account/keys')
  await expectLong(page, 'API keys', COUNT, revokeFirstKey(page))
})

it('shows all keys of a workspace', async () => {
  const { id, slug } = await makeRoom('Keys')
  await makeKeys({ scopes: ['WORKSPACES_FILES_READ'], workspace: id })
  const page = await alice.open(`/workspaces/${slug}/keys`)
  await expectLong(page, 'API keys', COUNT, revokeFirstKey(page))
})

it('shows all invites of a workspace', async () => {
  const { id, slug } = await makeRoom('Invites')
  for (const i of numbers)
    await alice.ask(
      'mutation ($input: CreateInviteInput!) { createInvite(input: $input) { invite { id } } }',
      {
        input: { workspace: id, email: `guest${i}@example.com`, role: 'VIEWER' },
      },
    )
  const page = await alice.open(`/workspaces/${slug}/members`)
  await expectLong(page, 'Pending invites', COUNT, () =>
    page
      .getByRole('button', { name: `Revoke the invite to guest${COUNT - 1}@example.com` })
      .click(),
  )
})

it('shows all members of a workspace', async () => {
  const { id, slug } = await makeRoom('Members')
  for (const i of numbers) {
    const user = randomUUID()
    const email = `member${i}@example.com`
    await db.run(
      `INSERT INTO user (id, email, verified_email, name, given_name, family_name, picture, locale, plan_id, status, created_at, sign_in_notices)
       SELECT ?, ?, ?, '', '', '', '', '', plan_id, 'active', created_at, 1 FROM user WHERE email = ?`,
      [user, email, email, alice.email],
    )
    await db.run(
      "INSERT INTO member (workspace_id, user_id, role, joined_at) VALUES (?, ?, 'viewer', ?)",
      [...[id, user], Date.now() + i * 1000],
    )
  }
  const page = await alice.open(`/workspaces/${slug}/members`)
  await expectLong(page, 'Members', COUNT + 1, async () => {
    await page.getByRole('button', { name: `Remove member${COUNT - 1}` }).click()
    await confirm(page, 'Remove')
  })
})

it('shows all invites that a person has received', async () => {
  const bob = await w.person('bob')
  await db.run('UPDATE plan SET max_user_workspaces = 1000')
  for (const i of numbers) {
    const { id } = await makeRoom(`Guests ${i}`)
    await alice.ask(
      'mutation ($input: CreateInviteInput!) { createInvite(input: $input) { invite { id } } }',
      {
        input: { workspace: id, email: bob.email, role: 'VIEWER' },
      },
    )
  }
  const page = await bob.open('/workspaces')
  await expectLong(page, 'Invites for you', COUNT, async () => {
    const last = rows(page, 'Invites for you').nth(COUNT - 1)
    await last.getByRole('button', { name: /^Decline/ }).click()
  })
  expectQuiet(bob)
})

it('shows all versions of a file', async () => {
  const url = `${w.service.url}/api/files/upload`
  for (const i of [...numbers, COUNT]) {
    const file = { name: 'draft.txt', mimeType: 'text/plain', buffer: Buffer.from(`draft ${i}`) }
    const answer = await alice.context.request.post(url, {
      multipart: { folder: '', on_conflict: 'replace', file },
    })
    expect(answer.ok()).toBe(true)
  }
  const page = await alice.open('/files')
  await rowOf('draft.txt', page).click()
  await page.getByRole('button', { name: 'Details' }).click()
  await rows(page, 'Versions').nth(5).waitFor()
  expect(await rows(page, 'Versions').count()).toBe(6)
  await page.getByRole('button', { name: 'Show all' }).click()
  const more = page
    .getByRole('list', { name: 'Versions' })
    .getByRole('button', { name: 'Show more' })
  // Including the current version and the button.
  await rows(page, 'Versions').nth(101).waitFor()
  await more.click()
  await rows(page, 'Versions').nth(COUNT).waitFor()
  await more.waitFor({ state: 'detached' })
  expect(await rows(page, 'Versions').count()).toBe(COUNT + 1)
  await expectAccessible(page)
  await rows(page, 'Versions')
    .last()
    .getByRole('button', { name: /^Actions/ })
    .click()
  await page.getByRole('menuitem', { name: 'Delete…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
  await rows(page, 'Versions').nth(COUNT).waitFor({ state: 'detached' })
  expect(await rows(page, 'Versions').count()).toBe(COUNT)
  expectQuiet(alice)
})
