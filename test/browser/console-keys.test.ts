import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type ConsoleWorld, expectAccessible, expectQuiet, rowOf, startConsole } from './console.ts'
import { expectSelected, gardenFor, gone, withFiles } from './drive-world.ts'

let w: ConsoleWorld

beforeAll(async () => {
  w = await startConsole()
}, 120_000)
afterAll(() => w?.stop())

describe('By keyboard alone', () => {
  it('selects, cuts, pastes, renames, deletes and undoes', async () => {
    const alice = await w.person('alice')
    const page = await withFiles(alice)
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key)
    }
    // Tab reaches the list.
    for (let i = 0; i < 30 && (await page.evaluate('document.activeElement.role')) !== 'grid'; i++)
      await press('Tab')
    await press('Home', 'ArrowDown', 'Shift+ArrowDown')
    await expectSelected(page, 'apple.txt', 'banana.txt')
    await press('Control+ArrowDown', 'Control+ArrowDown', 'Space')
    await expectSelected(page, 'apple.txt', 'banana.txt', 'date.txt')
    const cursor = await page.getByRole('grid').getAttribute('aria-activedescendant')
    expect(await page.locator(`#${cursor} .name`).textContent()).toBe('date.txt')

    await press('Control+x', 'f', 'Enter')
    await page.waitForURL(/\/files\/folder/)
    await rowOf('inside', page).waitFor()
    await page.getByRole('grid').focus()
    await press('Control+v')
    await rowOf('apple', page).waitFor()
    await rowOf('date', page).waitFor()
    // The list updates before the toast appears, which has the Undo.
    await page.getByText('3 items moved').waitFor()
    await press('Control+z')
    await gone('apple', page)
    await press('Alt+ArrowUp')
    await rowOf('apple', page).waitFor()

    await page.getByRole('grid').focus()
    await page.keyboard.type('ch')
    await expectSelected(page, 'cherry.txt')
    await press('F2')
    await page.keyboard.type('quince')
    await press('Enter')
    await rowOf('quince.txt', page).waitFor()
    await page.getByText('Renamed to').waitFor()
    await press('Control+a')
    await expectSelected(page, 'folder', 'apple.txt', 'banana.txt', 'date.txt', 'quince.txt')
    await press('Escape')
    await expectSelected(page)
    await page.keyboard.type('date')
    await press('Delete')
    await gone('date', page)
    await press('Control+z')
    await rowOf('date', page).waitFor()

    await press('?')
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor()
    await expectAccessible(page)
    await press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await press('Alt+n')
    await page.getByLabel('Name', { exact: true }).waitFor()
    await page.keyboard.type('new')
    await press('Enter')
    await rowOf('new', page).waitFor()
    expectQuiet(alice)
  })
})

describe('Copies by keyboard alone', () => {
  it('are pasted repeatedly, and undone', async () => {
    const carla = await w.person('carla')
    const page = await withFiles(carla)
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key)
    }
    await rowOf('apple', page).click()
    await press('Control+c')
    await page.getByText('1 item copied. Go to a folder and paste.').waitFor()
    await press('Control+v')
    await rowOf('apple (2).txt', page).waitFor()
    await page.getByText('1 item copied to “My files”').waitFor()
    await press('Control+z')
    await gone('apple (2).txt', page)
    await page.getByRole('grid').focus()
    await press('f', 'Enter')
    await page.waitForURL(/\/files\/folder/)
    await rowOf('inside', page).waitFor()
    await page.getByRole('grid').focus()
    await press('Control+v')
    await rowOf('apple', page).waitFor()
    await press('Alt+ArrowUp')
    await rowOf('apple', page).waitFor()
    await page.getByRole('grid').focus()
    await page.keyboard.type('banana')
    await press('Alt+c')
    const picker = page.getByRole('dialog', { name: 'Copy 1 item' })
    await picker.getByRole('button', { name: 'folder', exact: true }).click()
    await expectAccessible(page)
    await picker.getByRole('button', { name: 'Copy here' }).click()
    await page.getByText('1 item copied to “folder”').waitFor()
    await rowOf('banana', page).waitFor()
    expectQuiet(carla)
  })
})

describe('Early key presses', () => {
  const held = ['query Folder(', 'query Me ']
  const body = 'document.activeElement === document.body'

  it('reach the screen while nothing has the focus', async () => {
    const page = await withFiles(await w.person('greta'))
    await page.evaluate('document.activeElement.blur()')
    expect(await page.evaluate(body)).toBe(true)
    await page.keyboard.press('Alt+n')
    await page.getByLabel('Name', { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await rowOf('apple', page).click()
    await page.evaluate('document.activeElement.blur()')
    expect(await page.evaluate(body)).toBe(true)
    await page.keyboard.press('F2')
    await page.getByLabel('New name').waitFor()
  })

  it.each([
    { keys: 'Alt+n', opens: 'New folder' },
    { keys: 'Control+k', opens: 'Search and commands' },
  ])('open with $keys the same targets as later', async ({ keys, opens }) => {
    const { page } = await w.person('hugo')
    let release = () => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    await page.route('**/graphql', async route => {
      if (held.some(query => route.request().postData()?.includes(query))) await released
      return route.fallback()
    })
    await page.goto(`${w.service.url}/files`)
    await page.locator('main .skeleton').first().waitFor()
    await page.keyboard.press(keys)
    release()
    await page.getByRole('dialog', { name: opens }).waitFor()
  })
})

describe('A key press before the screen has loaded', () => {
  it.each([
    { keys: 'Alt+n', opens: 'New folder' },
    { keys: 'Control+k', opens: 'Search and commands' },
  ])('opens with $keys the same target as later', async ({ keys, opens }) => {
    const { page } = await w.person('kurt')
    // Not guaranteed to be early: a screen may load within a tenth of a second.
    for (let i = 0; i < 5; i++) {
      await page.goto(`${w.service.url}/files`, { waitUntil: 'domcontentloaded' })
      await page.keyboard.press(keys)
      await page.getByRole('dialog', { name: opens }).waitFor()
    }
  })
})

describe('An early key press', () => {
  it('does nothing without write permission, or after leaving the screen', async () => {
    const ida = await w.person('ida')
    const jon = await w.person('jon')
    const slug = await gardenFor(ida, jon)
    const { page } = jon
    let release = () => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    await page.route('**/graphql', async route => {
      if (route.request().postData()?.includes('query Folder(')) await released
      return route.fallback()
    })
    await page.goto(`${w.service.url}/workspaces/${slug}/files`)
    await page.locator('main .skeleton').first().waitFor()
    await page.keyboard.press('Alt+n')
    release()
    await page.getByRole('heading', { name: 'Garden' }).waitFor()
    await page.getByRole('link', { name: 'My files' }).click()
    await page.getByRole('button', { name: 'New', exact: true }).waitFor()
    await page.waitForTimeout(500)
    expect(await page.getByRole('dialog').count()).toBe(0)
  })
})

describe('A message with Undo', () => {
  it('stays while the pointer is on it', async () => {
    const page = await withFiles(await w.person('carol'))
    await page.getByRole('grid').focus()
    await page.keyboard.type('date')
    await page.keyboard.press('Delete')
    const undo = page.getByRole('button', { name: 'Undo' })
    await undo.hover()
    // Without the pointer, it stays for six seconds.
    await page.waitForTimeout(8000)
    expect(await undo.isVisible()).toBe(true)
    await page.mouse.move(0, 0)
    await undo.waitFor({ state: 'hidden' })
  })
})
