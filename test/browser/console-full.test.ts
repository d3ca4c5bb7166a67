import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { until } from '../support/until.ts'
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

const KIB = 1024
/** The capacity of a drive. */
const ROOM = 100 * KIB

let w: ConsoleWorld
let folder: string

beforeAll(async () => {
  w = await startConsole()
  folder = mkdtempSync(join(tmpdir(), 'satchel-full-'))
  const db = new DatabaseSync(join(w.service.dataDir, 'satchel.sqlite'))
  db.prepare(
    'UPDATE plan SET max_total_storage_bytes = ?, max_total_storage_bytes_workspace = ?',
  ).run(ROOM, ROOM)
  db.close()
}, 120_000)
afterAll(async () => {
  await w?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** A local file. */
function local(name: string, kibibytes: number): string {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, Buffer.alloc(kibibytes * KIB, name))
  return path
}

async function personWithFiles(
  ...[name, options]: Parameters<ConsoleWorld['person']>
): Promise<Person> {
  const person = await w.person(name, options)
  await person.context.addInitScript(
    'delete window.showOpenFilePicker; delete window.showDirectoryPicker',
  )
  return person
}

async function choose(
  page: Page,
  item: 'Upload files' | 'Upload a folder',
  paths: string | string[],
): Promise<void> {
  await page.locator('.screen-head').getByRole('button', { name: 'Upload' }).click()
  const picker = page.waitForEvent('filechooser')
  await page.getByRole('menuitem', { name: item }).click()
  await (await picker).setFiles(paths)
}

const dock = (page: Page) => page.getByRole('region', { name: 'Uploads' })
const title = (page: Page, name: string) =>
  dock(page).getByRole('heading', { name, exact: true }).waitFor()
const noSpace = 'Not enough space: 95 KiB of 100 KiB are used.'

/** The size of a file in the own drive or in a workspace. */
async function sizeAt({ ask }: Person, path: string, slug?: string): Promise<number | undefined> {
  type Drive = { drive: { entry: { size: number } | null } }
  const query = `query ($path: String!, $slug: String!, $own: Boolean!) {
    me @include(if: $own) { drive { entry(path: $path) { size } } }
    workspace(slug: $slug) @skip(if: $own) { drive { entry(path: $path) { size } } }
  }`
  const variables = { path, slug: slug ?? '', own: slug === undefined }
  const { me, workspace } = await ask<{ me?: Drive; workspace?: Drive }>(query, variables)
  return (me ?? workspace)?.drive.entry?.size
}

/**
 * Makes the next free-space query return an empty drive, as if somebody else stored files between
 * the query and the upload.
 */
async function foretellRoom(page: Page): Promise<void> {
  await page.route('**/graphql', async route => {
    const isAsked = route.request().postData()?.includes('query RoomForUploads') ?? false
    if (!isAsked) return route.fallback()
    const response = await route.fetch()
    const json = await response.json()
    json.data.node.usage.usedBytes = 0
    await route.fulfill({ response, json })
  })
}

it('shows what does not fit before the first byte, and uploads what does', async () => {
  const alice = await personWithFiles('alice')
  const page = await alice.open('/files')
  await choose(page, 'Upload files', [
    local('large.bin', 90),
    local('small.bin', 40),
    local('tiny.bin', 1),
  ])
  const dialog = page.getByRole('dialog', { name: 'Not everything fits' })
  await dialog.getByText('These files need 131 KiB, but only 100 KiB are left.').waitFor()
  await dialog.getByText('Delete something, or ask for a larger plan.').waitFor()
  expect(await dialog.getByRole('listitem').locator('span:first-child').allInnerTexts()).toEqual([
    'small.bin',
  ])
  await expectAccessible(page)
  await pictures(page, 'full-tight')
  await dialog.getByRole('button', { name: 'Upload the 2 files that fit' }).click()
  await title(page, '2 files uploaded')
  expect([await sizeAt(alice, 'large.bin'), await sizeAt(alice, 'small.bin')]).toEqual([
    90 * KIB,
    undefined,
  ])
  expectQuiet(alice)
})

it('keeps uploads without space in the dock until there is space', async () => {
  const bob = await personWithFiles('bob')
  await bob.upload('kept.bin', Buffer.alloc(95 * KIB))
  const page = await bob.open('/files')
  await foretellRoom(page)
  await choose(page, 'Upload files', [
    local('one.bin', 20),
    local('fits.bin', 1),
    local('two.bin', 30),
  ])
  await title(page, '2 files could not be uploaded')
  const rows = dock(page).getByRole('listitem')
  await rows
    .filter({ hasText: 'two.bin' })
    .getByText('Not enough space: 96 KiB of 100 KiB are used.')
    .waitFor()
  await dock(page).getByText('There was not enough space for 2 files. Delete something').waitFor()
  await expectAccessible(page)
  await pictures(page, 'full-dock')
  expect(await sizeAt(bob, 'fits.bin')).toBe(KIB)
  await rowOf('kept', page).click()
  await page.keyboard.press('Delete')
  await until(async () => (await sizeAt(bob, 'kept.bin')) === undefined)
  await dock(page).getByRole('button', { name: 'Try again', exact: true }).click()
  await title(page, '3 files uploaded')
  expect(await sizeAt(bob, 'two.bin')).toBe(30 * KIB)
  // Undo fails if the deleted file no longer fits.
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Not enough space: 51 KiB of 100 KiB are used. Delete something').waitFor()
  expectQuiet(bob)
})

it('leaves a file unchanged if its new content does not fit', async () => {
  const carol = await personWithFiles('carol')
  await carol.upload('plan.bin', Buffer.alloc(95 * KIB))
  const page = await carol.open('/files')
  await foretellRoom(page)
  await choose(page, 'Upload files', local('plan.bin', 50))
  await dock(page).getByRole('button', { name: 'Replace', exact: true }).click()
  await title(page, '1 file could not be uploaded')
  await dock(page).getByText(noSpace).waitFor()
  expect(await sizeAt(carol, 'plan.bin')).toBe(95 * KIB)
  expectQuiet(carol)
})

it('keeps the files of a folder that does not fit, also on a phone', async () => {
  const dave = await personWithFiles('dave', { ...telephone, isMobile: false })
  await dave.upload('kept.bin', Buffer.alloc(95 * KIB))
  const page = await dave.open('/files')
  await foretellRoom(page)
  for (const name of ['a.bin', 'b.bin']) local(`Trip/day 1/${name}`, 20)
  await choose(page, 'Upload a folder', join(folder, 'Trip'))
  await title(page, '2 files could not be uploaded')
  await dock(page).getByText('There was not enough space for 2 files.').waitFor()
  await expectAccessible(page)
  await pictures(page, 'full-folder')
  await dave.ask(
    'mutation { deleteEntries(input: { entries: [{ at: { path: "kept.bin" } }] }) { deletedIds } }',
  )
  await dock(page).getByRole('button', { name: 'Try again', exact: true }).click()
  await title(page, '2 files uploaded')
  expect(await sizeAt(dave, 'Trip/day 1/b.bin')).toBe(20 * KIB)
  expectQuiet(dave)
})

it('keeps the files of a folder that cannot be created', async () => {
  const frank = await personWithFiles('frank')
  const page = await frank.open('/files')
  const refusal = {
    message: 'The plan allows 1 folder. Delete some, or ask for a larger plan.',
    path: ['createFolder'],
  }
  const extensions = { code: 'QUOTA_EXCEEDED', limit: 'max_folders', max: 1, used: 1 }
  await page.route('**/graphql', route =>
    route.request().postData()?.includes('mutation MakeUploadFolder')
      ? route.fulfill({
          json: { data: { createFolder: null }, errors: [{ ...refusal, extensions }] },
        })
      : route.fallback(),
  )
  local('Walk/a.bin', 1)
  await choose(page, 'Upload a folder', join(folder, 'Walk'))
  await title(page, '1 file uploaded')
  expect(await sizeAt(frank, 'Walk/a.bin')).toBe(KIB)
})

it('applies to workspaces, too', async () => {
  const erin = await personWithFiles('erin')
  const { createWorkspace } = await erin.ask<{
    createWorkspace: { workspace: { slug: string; drive: { id: string } } }
  }>('mutation { createWorkspace(input: { name: "Garden" }) { workspace { slug drive { id } } } }')
  const { slug } = createWorkspace.workspace
  const page = await erin.open(`/workspaces/${slug}/files`)
  await choose(page, 'Upload files', local('seeds.bin', 95))
  await title(page, '1 file uploaded')
  await choose(page, 'Upload files', local('tools.bin', 20))
  const dialog = page.getByRole('dialog', { name: 'Not everything fits' })
  await dialog.getByText('These files need 20 KiB, but only 5 KiB are left.').waitFor()
  expect(await dialog.getByRole('button', { name: /^Upload/ }).count()).toBe(0)
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await foretellRoom(page)
  await settled(page)
  await choose(page, 'Upload files', local('tools.bin', 20))
  await title(page, '1 file could not be uploaded')
  await dock(page).getByText(noSpace).waitFor()
  expect(await sizeAt(erin, 'tools.bin', slug)).toBeUndefined()
  expectQuiet(erin)
})
