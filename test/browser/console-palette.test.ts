import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { until } from '../support/until.ts'
import {
  type ConsoleWorld,
  expectAccessible,
  expectQuiet,
  type Person,
  pictures,
  rowOf,
  startConsole,
  telephone,
} from './console.ts'

let w: ConsoleWorld
let alice: Person

beforeAll(async () => {
  w = await startConsole()
  alice = await w.person('alice')
  await alice.upload('work/plans/budget 2026.csv', 'a,b\n1,2\n', 'text/csv')
  await alice.upload('work/<img src=x onerror=alert(1)>.txt', 'hostile')
  await alice.upload('work/readme.txt', 'read me')
  const { createWorkspace } = await alice.ask<{
    createWorkspace: { workspace: { drive: { id: string } } }
  }>(
    'mutation ($input: CreateWorkspaceInput!) { createWorkspace(input: $input) { workspace { id drive { id } } } }',
    { input: { name: 'Rivers & <b>Roads</b>', slug: 'rivers' } },
  )
  await alice.ask(
    'mutation ($input: CreateFolderInput!) { createFolder(input: $input) { folder { id } } }',
    {
      input: { at: { drive: createWorkspace.workspace.drive.id, path: 'budget of the bridge' } },
    },
  )
}, 120_000)
afterAll(() => w?.stop())

/** Uses the keyboard, as intended. */
async function openPalette(page: Page) {
  await page.getByRole('button', { name: 'Search and commands' }).waitFor()
  await page.keyboard.press('ControlOrMeta+k')
  const dialog = page.getByRole('dialog', { name: 'Search and commands' })
  await dialog.waitFor()
  // The palette listens to keys and outside clicks once it has the focus, after its first paint.
  await until(() => page.evaluate("document.activeElement?.type === 'search'"))
  return dialog
}

describe('The command palette', () => {
  it('finds entries in all drives, and opens a file in its folder, by keyboard alone', async () => {
    const page = await alice.open('/links')
    const dialog = await openPalette(page)
    await page.keyboard.type('budget')
    await dialog.getByRole('menuitem', { name: 'budget of the bridge' }).waitFor()
    const file = dialog.getByRole('menuitem', { name: 'budget 2026.csv' })
    await file.waitFor()
    expect(await file.textContent()).toContain('My files / work / plans')
    await dialog.getByRole('menuitem', { name: 'All results for “budget”' }).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-palette')
    await dialog.getByRole('searchbox').fill('budget 2026')
    await until(() => page.evaluate("document.querySelectorAll('.palette-item').length === 2"))
    await until(async () => {
      await page.keyboard.press('ArrowDown')
      return (await dialog.locator('.palette-item[data-focused]').textContent())?.startsWith(
        'budget 2026.csv',
      )
    })
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    await page.waitForURL(/\/files\/work\/plans\?.*open=/)
    await page.getByRole('dialog').getByText('budget 2026.csv').first().waitFor()
    expectQuiet(alice)
  })

  it('opens a folder of a workspace, and lists it as a recent place afterwards', async () => {
    const page = await alice.open('/files')
    let dialog = await openPalette(page)
    await page.keyboard.type('bridge')
    await dialog.getByRole('menuitem', { name: 'budget of the bridge' }).click()
    await page.waitForURL(/\/workspaces\/rivers\/files\/budget%20of%20the%20bridge$/)
    await page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: 'Trash' })
      .click()
    await page.waitForURL(/\/trash$/)
    dialog = await openPalette(page)
    const recent = dialog.getByRole('group', { name: 'Recent places' }).getByRole('menuitem')
    await expect(recent.first().textContent()).resolves.toContain(
      'budget of the bridgeRivers & <b>Roads</b>',
    )
    await recent.first().click()
    await page.waitForURL(/budget%20of%20the%20bridge$/)
    expectQuiet(alice)
  })

  it('finds a name in any Unicode normalization', async () => {
    await alice.upload('Übung.txt'.normalize('NFC'), 'one')
    const page = await alice.open('/files')
    const dialog = await openPalette(page)
    await page.keyboard.insertText('Übung'.normalize('NFD'))
    await dialog.getByRole('menuitem', { name: 'Übung.txt'.normalize('NFC') }).waitFor()
  })

  it('opens screens and workspaces, escapes hostile names, and reports that nothing matches', async () => {
    const page = await alice.open('/files')
    let dialog = await openPalette(page)
    await page.keyboard.type('onerror')
    await dialog.getByRole('menuitem', { name: '<img src=x onerror=alert(1)>.txt' }).waitFor()
    expect(await dialog.locator('img').count()).toBe(0)
    await dialog.getByRole('searchbox').fill('no such thing')
    await dialog.getByText('Nothing found for “no such thing”.').waitFor()
    await dialog.getByRole('searchbox').fill('rivers')
    await dialog.getByRole('menuitem', { name: 'Rivers & <b>Roads</b>' }).click()
    await page.waitForURL(/\/workspaces\/rivers\/files$/)
    dialog = await openPalette(page)
    await page.keyboard.type('api keys')
    await dialog.getByRole('menuitem', { name: 'API keys' }).click()
    await page.waitForURL(/\/account\/keys$/)
    expectQuiet(alice)
  })

  it('runs commands for the selection, and commands of other screens', async () => {
    const page = await alice.open('/files/work')
    await rowOf('readme.txt', page).click()
    let dialog = await openPalette(page)
    await page.keyboard.type('link')
    await dialog.getByRole('menuitem', { name: 'Share…' }).click()
    await page.getByRole('dialog', { name: 'Share “readme.txt”' }).waitFor()
    await page.keyboard.press('Escape')
    await alice.open('/links')
    dialog = await openPalette(page)
    await dialog.getByRole('menuitem', { name: 'New folder in my files' }).click()
    const creation = page.getByRole('dialog', { name: 'New folder' })
    await creation.getByLabel('Name').fill('from the palette')
    await creation.getByRole('button', { name: 'Create' }).click()
    await rowOf('from the palette', page).waitFor()
    dialog = await openPalette(page)
    await dialog.getByRole('menuitem', { name: 'Create a key' }).click()
    await page.getByRole('dialog', { name: /key/i }).waitFor()
    expectQuiet(alice)
  })

  it('changes theme and language, and signs out', async () => {
    const zoe = await w.person('zoe')
    const page = await zoe.open('/files')
    let dialog = await openPalette(page)
    await page.keyboard.type('theme')
    await dialog.getByRole('menuitem', { name: 'Dark' }).click()
    await until(() =>
      page.evaluate("getComputedStyle(document.documentElement).colorScheme === 'dark'"),
    )
    dialog = await openPalette(page)
    await page.keyboard.type('language')
    await dialog.getByRole('menuitem', { name: 'Deutsch' }).click()
    await page.getByRole('link', { name: 'Meine Dateien' }).waitFor()
    await page.getByRole('button', { name: 'Suche und Befehle' }).click()
    dialog = page.getByRole('dialog', { name: 'Suche und Befehle' })
    await dialog.getByRole('menuitem', { name: 'Abmelden' }).click()
    await page.getByRole('heading', { name: 'Deine Dateien, sicher geteilt' }).waitFor()
    expect(await page.evaluate("localStorage.getItem('satchel.recent')")).toBeNull()
    expectQuiet(zoe)
  })

  it('shows the newest results in any order of responses, and retries after a failure', async () => {
    const page = await alice.open('/links')
    const held: (() => void)[] = []
    let isDown = false
    await page.route('**/graphql', async route => {
      const body = route.request().postDataJSON() as { variables?: { query?: string } } | null
      const query = body?.variables?.query
      if (isDown && query) return route.abort()
      if (query === 'read') await new Promise<void>(resolve => held.push(resolve))
      return route.continue()
    })
    const dialog = await openPalette(page)
    const asked = page.waitForRequest(request => Boolean(request.postData()?.includes('"read"')))
    await page.keyboard.type('read')
    await asked
    await dialog.getByRole('searchbox').fill('budget')
    await dialog.getByRole('menuitem', { name: 'budget 2026.csv' }).waitFor()
    const late = page.waitForResponse(answer =>
      Boolean(answer.request().postData()?.includes('"read"')),
    )
    for (const go of held) go()
    await (await late).finished()
    await page.waitForTimeout(200)
    expect(await dialog.getByRole('menuitem', { name: 'readme.txt' }).count()).toBe(0)
    expect(await dialog.getByRole('menuitem', { name: 'budget 2026.csv' }).count()).toBe(1)

    isDown = true
    await dialog.getByRole('searchbox').fill('readme')
    await dialog.getByRole('alert').getByText('The search failed.').waitFor()
    await expectAccessible(page)
    isDown = false
    await dialog.getByRole('button', { name: 'Try again' }).click()
    await dialog.getByRole('menuitem', { name: 'readme.txt' }).waitFor()
    await page.unroute('**/graphql')
  })

  it('closes by shortcut, Escape or a click outside, and returns the focus', async () => {
    const page = await alice.open('/links')
    const button = page.getByRole('button', { name: 'Search and commands' })
    await button.focus()
    // The focus returns in the next frame, unless the palette was reopened before.
    const isBack = () =>
      until(() =>
        page.evaluate("document.activeElement?.textContent.startsWith('Search and commands')"),
      )
    const dialog = await openPalette(page)
    await page.keyboard.press('ControlOrMeta+k')
    await dialog.waitFor({ state: 'detached' })
    await isBack()
    await openPalette(page)
    await page.keyboard.type('budget')
    await dialog.getByRole('menuitem', { name: 'budget 2026.csv' }).waitFor()
    await page.keyboard.press('Escape')
    await until(async () => (await dialog.getByRole('searchbox').inputValue()) === '')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await isBack()
    await openPalette(page)
    await page.mouse.click(10, 700)
    await dialog.waitFor({ state: 'detached' })
    await alice.open('/files')
    await rowOf('work', page).click()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Ctrl K').waitFor()
  })

  it('differs from the list of shortcuts, which ? opens on every screen except in text fields', async () => {
    const page = await alice.open('/links')
    const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await page.getByRole('heading', { name: 'Shared by me' }).waitFor()
    await page.keyboard.press('?')
    await shortcuts.getByText('Ctrl K').waitFor()
    await page.keyboard.press('Escape')
    await shortcuts.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Trash' }).focus()
    await page.keyboard.press('?')
    await shortcuts.waitFor()
    await page.keyboard.press('Escape')
    await shortcuts.waitFor({ state: 'detached' })
    await until(() => page.evaluate("document.activeElement?.textContent.startsWith('Trash')"))

    const palette = await openPalette(page)
    await page.keyboard.type('?')
    await until(async () => (await palette.getByRole('searchbox').inputValue()) === '?')
    await page.keyboard.press('Backspace')
    await page.keyboard.type('shortcuts')
    await palette.getByRole('menuitem', { name: 'Keyboard shortcuts' }).waitFor()
    expect(await shortcuts.count()).toBe(0)
    await palette.getByRole('menuitem', { name: 'Keyboard shortcuts' }).click()
    await shortcuts.waitFor()
    await alice.open('/files')
    await page.getByRole('searchbox').first().focus()
    await page.keyboard.type('what?')
    await page.getByRole('heading', { name: /^Nothing found for .*what\?/ }).waitFor()
    expect(await shortcuts.count()).toBe(0)
  })

  it('opens by touch on a phone', async () => {
    const dora = await w.person('dora', telephone)
    await dora.upload('notes/a long walk along the river in the rain.txt', 'rain')
    const page = await dora.open('/files')
    await page.getByRole('button', { name: 'Search and commands' }).tap()
    const dialog = page.getByRole('dialog', { name: 'Search and commands' })
    await dialog.waitFor()
    await pictures(page, 'console-palette-telephone')
    await dialog.getByRole('searchbox').fill('rain')
    const found = dialog.getByRole('menuitem', { name: /in the rain/ })
    await found.waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-palette-telephone-found')
    await found.tap()
    await page.waitForURL(/\/files\/notes\?/)
    await dora.open('/links')
    await pictures(page, 'console-palette-telephone-button')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    expectQuiet(dora)
  })
})
