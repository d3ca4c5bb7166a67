import { expect } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../support/until.ts'
import { type Person, rowOf } from './console.ts'

export const gone = (name: string, on: Page) => rowOf(name, on).waitFor({ state: 'detached' })
/** Opens the dialog for a new folder, by the menu of the screen. */
export async function newFolder(on: Page): Promise<void> {
  await on.getByRole('button', { name: 'New', exact: true }).click()
  await on.getByRole('menuitem', { name: 'New folder' }).click()
}
/** Waits until exactly these entries are selected, in the order of the list. */
export const expectSelected = (page: Page, ...names: string[]) =>
  eventually(
    async () =>
      expect(await page.locator('[aria-selected=true] .name').allTextContents()).toEqual(names),
    120_000,
    20,
  )

export async function withFiles(who: Person): Promise<Page> {
  for (const name of ['apple.txt', 'banana.txt', 'cherry.txt', 'date.txt'])
    await who.upload(name, name)
  await who.upload('folder/inside.txt', 'x')
  const page = await who.open('/files')
  await rowOf('apple', page).waitFor()
  return page
}

/** A workspace with a nested folder, and another person as a viewer. Returns its slug. */
export async function gardenFor(owner: Person, viewer: Person): Promise<string> {
  type Made = {
    createWorkspace: { workspace: { id: string; slug: string; drive: { id: string } } }
  }
  const { createWorkspace } = await owner.ask<Made>(
    'mutation { createWorkspace(input: { name: "Garden" }) { workspace { id slug drive { id } } } }',
  )
  const { id, slug, drive } = createWorkspace.workspace
  await owner.ask(
    'mutation ($input: CreateFolderInput!) { createFolder(input: $input) { folder { id } } }',
    {
      input: { at: { drive: drive.id, path: 'beds/roses' } },
    },
  )
  await owner.ask(
    'mutation ($input: CreateInviteInput!) { createInvite(input: $input) { invite { id } } }',
    {
      input: { workspace: id, email: viewer.email, role: 'VIEWER' },
    },
  )
  type Invited = { me: { invites: { nodes: { token: string }[] } } }
  const { me } = await viewer.ask<Invited>('{ me { invites(first: 1) { nodes { token } } } }')
  await viewer.ask(
    'mutation ($input: AcceptInviteInput!) { acceptInvite(input: $input) { acceptedId } }',
    {
      input: { token: me.invites.nodes[0]?.token },
    },
  )
  return slug
}
