import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Locator, Page } from 'playwright-core'
import { until } from '../support/until.ts'
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

/** A name that would run a script if it were not escaped. */
const HOSTILE = '<img src=x onerror=alert(1)>"&gt;'

let w: ConsoleWorld
let oskar: Person
let emma: Person
let page: Page
let hers: Page

beforeAll(async () => {
  w = await startConsole()
  ;[oskar, emma] = [await w.person('oskar'), await w.person('emma')]
}, 120_000)
afterAll(() => w?.stop())

const listed = (name: string, on = page) => on.getByRole('list', { name }).getByRole('listitem')
const person = (name: string, on = page) =>
  listed('Members', on).filter({ hasText: `${name}@example.com` })
const tab = (name: string, on = page) =>
  on.getByRole('navigation', { name: 'Workspace' }).getByRole('link', { name })
const said = (text: string, on = page) =>
  on.getByRole('region', { name: 'Notifications' }).getByText(text).waitFor()
const gone = (locator: ReturnType<typeof listed>) => locator.waitFor({ state: 'detached' })
/** Waits until everything fits the width of the window. */
const isInView = (what: Locator) =>
  until(async () => {
    const box = await what.boundingBox()
    return box && box.x >= 0 && box.x + box.width <= 390
  })
const dialog = (on = page) => on.getByRole('dialog')

describe('A new workspace', () => {
  it('is created by keyboard, whatever its name', async () => {
    page = await oskar.open('/files')
    await page.getByRole('link', { name: 'Workspaces', exact: true }).click()
    await page.getByRole('heading', { name: 'No workspaces yet' }).waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'New workspace' }).focus()
    await page.keyboard.press('Enter')
    await page.getByLabel('Name').waitFor()
    await expectAccessible(page)
    await page.keyboard.type(HOSTILE)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: HOSTILE }).waitFor()
    await person('oskar').waitFor()
    expect(await page.title()).toBe(`Members · ${HOSTILE} · Satchel`)
    await expectAccessible(page)
  })

  it('is renamed in its settings, and its URL changes', async () => {
    await tab('Settings').click()
    await page.getByLabel('Name', { exact: true }).fill('  ')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('Orchestra')
    await page.getByLabel('Name in URLs').fill('orchestra')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL(/\/workspaces\/orchestra\/settings$/)
    await page.getByRole('heading', { name: 'Orchestra' }).waitFor()
    await settled(page)
    await expectAccessible(page)
    await pictures(page, 'console-workspace-settings')
  })

  it('has files beside its other screens', async () => {
    await tab('Files').click()
    await page.getByRole('heading', { name: 'This folder is empty' }).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-workspace-files')
    await page.goto(`${w.service.url}/workspaces/orchestra`)
    await page.waitForURL(/\/workspaces\/orchestra\/files$/)
  })

  it('looks like a missing one to people who are not members', async () => {
    hers = await emma.open('/workspaces/orchestra/members')
    await hers.getByRole('heading', { name: 'Workspace not found' }).waitFor()
    await expectAccessible(hers)
    await emma.open('/workspaces/nothing-at-all/settings')
    await hers.getByRole('heading', { name: 'Workspace not found' }).waitFor()
  })
})

describe('Two people side by side', () => {
  it('invite each other: the invite appears without a reload', async () => {
    hers = await emma.open('/workspaces')
    await hers.getByRole('heading', { name: 'No workspaces yet' }).waitFor()
    await tab('Members').click()
    await page.getByRole('button', { name: 'Invite', exact: true }).click()
    await page.getByLabel('E-mail address').fill('emma@example.com')
    await page.getByLabel('Viewer').check()
    await expectAccessible(page)
    await pictures(page, 'console-workspace-invite')
    await dialog().getByRole('button', { name: 'Send the invite' }).click()
    await said('Invite to emma@example.com sent')
    await listed('Pending invites').filter({ hasText: 'emma@example.com' }).waitFor()
    await expectAccessible(page)

    const invite = listed('Invites for you', hers).filter({ hasText: 'Orchestra' })
    await invite.waitFor()
    expect(await invite.textContent()).toMatch(/Viewer.*oskar invites you/)
    await hers.getByRole('link', { name: /^Workspaces.*1 new/ }).waitFor()
    await expectAccessible(hers)
    await pictures(hers, 'console-workspaces-invite')
  })

  it('withdraw an invite: it disappears, and a new one appears', async () => {
    await page.getByRole('button', { name: 'Revoke the invite to emma@example.com' }).click()
    await gone(listed('Pending invites'))
    await hers.getByRole('button', { name: 'Accept the invite to Orchestra' }).click()
    await hers.getByRole('region', { name: 'Notifications' }).locator('.error').waitFor()
    for (const address of ['emma@example.com', 'finn@example.com']) {
      await page.getByRole('button', { name: 'Invite', exact: true }).click()
      await page.getByLabel('E-mail address').fill(address)
      await page.keyboard.press('Enter')
      await said(`Invite to ${address} sent`)
    }
    await page.getByRole('button', { name: 'Send again to finn@example.com' }).click()
    await said('Invite to finn@example.com sent again')
    expect(await listed('Pending invites').count()).toBe(2)
    await pictures(page, 'console-workspace-members')
  })

  it('accept: the inviter sees it without a reload', async () => {
    await hers.reload()
    await hers.getByRole('button', { name: 'Accept the invite to Orchestra' }).focus()
    await hers.keyboard.press('Enter')
    await said('You are now a member of “Orchestra”', hers)
    await listed('Your workspaces', hers).filter({ hasText: 'Editor · 2 members' }).waitFor()
    await gone(listed('Invites for you', hers))
    await person('emma').waitFor()
    expect(await listed('Pending invites').count()).toBe(1)
  })

  it('decline: the invite disappears for both', async () => {
    const finn = await w.person('finn')
    const his = await finn.open('/workspaces')
    await his.getByRole('button', { name: 'Decline the invite to Orchestra' }).click()
    await gone(listed('Invites for you', his))
    await his.getByRole('heading', { name: 'No workspaces yet' }).waitFor()
    await gone(listed('Pending invites'))
    expectQuiet(finn)
  })
})

it('open the files after accepting on the page of an invite', async () => {
  const gerd = await w.person('gerd')
  const { workspace } = await oskar.ask<{ workspace: { id: string } }>(
    '{ workspace(slug: "orchestra") { id } }',
  )
  await oskar.ask(
    'mutation ($id: ID!) { createInvite(input: { workspace: $id, email: "gerd@example.com", role: VIEWER }) { invite { id } } }',
    workspace,
  )
  const { me } = await gerd.ask<{ me: { invites: { nodes: { token: string }[] } } }>(
    '{ me { invites { nodes { token } } } }',
  )
  await gerd.page.goto(`${w.service.url}/invite/${me.invites.nodes[0]?.token}`)
  await gerd.page.getByRole('button', { name: 'Accept' }).click()
  await gerd.page.getByRole('link', { name: 'Open the workspace' }).click()
  await gerd.page.waitForURL(/\/workspaces\/orchestra\/files$/)
  await gerd.page.getByRole('heading', { name: 'This folder is empty' }).waitFor()
})

describe('Roles', () => {
  it("are offered up to the person's own role", async () => {
    // The navigation has a link to it, too.
    await hers
      .getByRole('list', { name: 'Your workspaces' })
      .getByRole('link', { name: 'Orchestra' })
      .click()
    await tab('Members', hers).click()
    await person('oskar', hers).waitFor()
    // An editor may only leave, and see what is shared with each member.
    expect(await hers.getByRole('combobox').count()).toBe(0)
    const buttons = hers.getByRole('main').getByRole('button')
    expect((await buttons.allTextContents()).filter(label => label !== '')).toEqual(['Leave'])
    await hers.getByRole('button', { name: 'What oskar can see' }).waitFor()
    expect(await tab('API keys', hers).count()).toBe(0)
    await tab('Settings', hers).click()
    await hers.getByRole('heading', { name: 'Storage' }).waitFor()
    expect(await hers.getByRole('main').getByRole('button').count()).toBe(0)
    await expectAccessible(hers)
    await emma.open('/workspaces/orchestra/keys')
    await hers.getByText('Only owners and admins see the keys.').waitFor()
  })

  it('are changed by keyboard, and take effect for the other person at once', async () => {
    await tab('Members', hers).click()
    await person('oskar', hers).waitFor()
    const role = page.getByLabel('Role of emma')
    await role.selectOption('Admin')
    await said('emma is now Admin')
    await hers.getByRole('button', { name: 'Invite', exact: true }).waitFor()
    // Changes that cannot be undone easily ask first.
    await role.selectOption('Owner')
    await dialog().getByRole('heading', { name: 'Make emma an owner?' }).waitFor()
    await expectAccessible(page)
    await dialog().getByRole('button', { name: 'Cancel' }).click()
    expect(await role.inputValue()).toBe('ADMIN')
    await hers.getByLabel('Role of emma').selectOption('Viewer')
    await dialog(hers).getByRole('heading', { name: 'Change your own role?' }).waitFor()
    await dialog(hers).getByRole('button', { name: 'Cancel' }).click()
    // An admin can neither change an owner nor appoint one.
    expect(await hers.getByLabel('Role of oskar').count()).toBe(0)
    expect(await hers.getByLabel('Role of emma').locator('option').allTextContents()).toEqual([
      'Admin',
      'Editor',
      'Viewer',
    ])
    await tab('API keys', hers).waitFor()
    await hers.reload()
    await settled(hers)
    await expectAccessible(hers)
  })

  it('prevent the last owner of a workspace from leaving', async () => {
    await page.getByRole('button', { name: 'Leave' }).click()
    await expectAccessible(page)
    await dialog().getByRole('button', { name: 'Leave' }).click()
    await page.getByRole('region', { name: 'Notifications' }).locator('.error').waitFor()
    await person('oskar').waitFor()
  })
})

describe('Keys of a workspace', () => {
  it('work on it until they are revoked', async () => {
    await tab('API keys').click()
    await page.getByRole('button', { name: 'Create a key' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Concert list')
    await page.getByLabel('Read files').check()
    await expectAccessible(page)
    await dialog().getByRole('button', { name: 'Create a key' }).click()
    const secret = await page.getByLabel('Secret').inputValue()
    await page.getByRole('button', { name: 'Done' }).click()
    await listed('API keys').filter({ hasText: 'by oskar' }).waitFor()
    await expectAccessible(page)
    const ask = () =>
      fetch(`${w.service.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': secret },
        body: JSON.stringify({ query: '{ workspace { name drive { root { fileCount } } } }' }),
      }).then(answer => answer.text())
    expect(await ask()).toContain('"name":"Orchestra"')
    await page.getByRole('button', { name: 'Revoke Concert list' }).click()
    await dialog().getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('heading', { name: 'No keys yet' }).waitFor()
    expect(await ask()).toContain('UNAUTHENTICATED')
  })
})

describe('Leaving and deleting a workspace', () => {
  it('works for members themselves and by removal', async () => {
    await tab('Members').click()
    await hers.getByRole('button', { name: 'Leave' }).click()
    await dialog(hers).getByRole('button', { name: 'Leave' }).click()
    await hers.waitForURL(/\/workspaces$/)
    await hers.getByRole('heading', { name: 'No workspaces yet' }).waitFor()
    await gone(person('emma'))

    const { workspace } = await oskar.ask<{ workspace: { id: string } }>(
      '{ workspace(slug: "orchestra") { id } }',
    )
    await oskar.ask(
      'mutation ($id: ID!) { createInvite(input: { workspace: $id, email: "emma@example.com", role: EDITOR }) { invite { id } } }',
      workspace,
    )
    await hers.getByRole('button', { name: 'Accept the invite to Orchestra' }).click()
    await page.getByRole('button', { name: 'Remove emma' }).click()
    await expectAccessible(page)
    await dialog().getByRole('button', { name: 'Remove' }).click()
    await gone(person('emma'))
    // Only the person can come back, by accepting an invite with the same role.
    await page.getByRole('button', { name: 'Invite again' }).click()
    await page.getByRole('status').getByText('Invite to emma@example.com sent').waitFor()
    const { workspace: invited } = await oskar.ask<{
      workspace: { invites: { nodes: { email: string; role: string }[] } }
    }>('{ workspace(slug: "orchestra") { invites { nodes { email role } } } }')
    expect(invited.invites.nodes).toEqual([{ email: 'emma@example.com', role: 'EDITOR' }])
    await emma.open('/workspaces/orchestra/files')
    await expect(emma.ask('{ workspace(slug: "orchestra") { id } }')).rejects.toThrow('FORBIDDEN')
    expectQuiet(oskar)
  })
})

it('needs the typed name for deletion', async () => {
  await tab('Settings').click()
  await page.getByRole('button', { name: 'Delete the workspace…' }).click()
  const go = dialog().getByRole('button', { name: 'Delete permanently' })
  await dialog()
    .getByLabel(/^To confirm/)
    .fill('Orchestr')
  expect(await go.isDisabled()).toBe(true)
  await expectAccessible(page)
  await dialog()
    .getByLabel(/^To confirm/)
    .fill('Orchestra')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/workspaces$/)
  await page.getByRole('heading', { name: 'No workspaces yet' }).waitFor()
  const { me } = await oskar.ask<{ me: { workspaces: { nodes: unknown[] } } }>(
    '{ me { workspaces { nodes { id } } } }',
  )
  expect(me.workspaces.nodes).toEqual([])
})

it('fits a phone, and speaks German', async () => {
  const tara = await w.person('tara', { ...telephone, locale: 'de-DE' })
  await tara.ask(
    `mutation ($name: String!) { createWorkspace(input: { name: $name, slug: "kapelle" }) { workspace { id } } }`,
    { name: `Kapelle ${HOSTILE}` },
  )
  for (const path of [
    '',
    '/kapelle/files',
    '/kapelle/members',
    '/kapelle/keys',
    '/kapelle/settings',
  ]) {
    const small = await tara.open(`/workspaces${path}`)
    await small.getByRole('main').getByText('Kapelle').first().waitFor()
    expect(await small.evaluate('document.documentElement.scrollWidth')).toBe(390)
    if (path) await isInView(small.locator('.tab.active'))
    await expectAccessible(small)
    await pictures(small, `console-workspaces${path.replaceAll('/', '-')}-telephone`)
  }
  expectQuiet(tara)
})
