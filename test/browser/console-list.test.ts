import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  type ConsoleWorld,
  expectAccessible,
  expectQuiet,
  listening,
  pictures,
  rowOf,
  startConsole,
  telephone,
} from './console.ts'
import { expectSelected, gardenFor, gone, withFiles } from './drive-world.ts'

let w: ConsoleWorld

beforeAll(async () => {
  w = await startConsole()
}, 120_000)
afterAll(() => w?.stop())

describe('On a phone', () => {
  it('opens, selects, moves and deletes by touch', async () => {
    const bob = await w.person('bob', telephone)
    const page = await withFiles(bob)
    await pictures(page, 'console-telephone')
    await expectAccessible(page)
    await rowOf('banana', page).getByRole('button').tap()
    await page.getByRole('menuitem', { name: 'Details' }).waitFor()
    // Touch devices have no keyboard shortcuts.
    expect(await page.getByRole('menu').locator('kbd:visible').count()).toBe(0)
    await page.getByRole('menuitem', { name: 'Details' }).tap()
    await page.getByRole('complementary').getByText('banana.txt').first().waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-telephone-details')
    await page.getByRole('button', { name: 'Close the details' }).tap()
    await rowOf('cherry', page).tap()
    await expectSelected(page, 'banana.txt', 'cherry.txt')
    await expectAccessible(page)
    await pictures(page, 'console-telephone-selected')
    await page.getByRole('button', { name: 'Delete' }).tap()
    await gone('cherry', page)
    await page.getByRole('button', { name: 'Undo' }).tap()
    await rowOf('cherry', page).waitFor()
    await rowOf('folder', page).tap()
    await rowOf('inside', page).waitFor()
    await bob.upload('folder/A rather long name of a folder in it/deeper/last.txt', 'x')
    await page.goto(`${w.service.url}/files/folder/A rather long name of a folder in it/deeper`)
    await rowOf('last', page).waitFor()
    // Shows the parent folder, and as much of the path as fits.
    const path = page.getByRole('navigation', { name: 'Path' })
    expect(await path.getByRole('link').allInnerTexts()).toEqual([
      'A rather long name of a folder in it',
    ])
    await pictures(page, 'console-telephone-deep')
    await path.getByRole('link').tap()
    await path.getByRole('heading', { name: 'A rather long name of a folder in it' }).waitFor()
    await path.getByRole('link', { name: 'folder' }).tap()
    await rowOf('inside', page).waitFor()
    await rowOf('inside', page).tap()
    await page.getByRole('dialog').getByText('x', { exact: true }).waitFor()
    await page.goBack()
    await rowOf('inside', page).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    expectQuiet(bob)
  })
})

describe('Side by side', () => {
  it('shows changes by another browser at once', async () => {
    const carol = await w.person('carol')
    const page = await withFiles(carol)
    const other = await w.person('carol')
    const [there] = await Promise.all([other.open('/files'), listening(other.page)])
    await rowOf('apple', there).waitFor()
    await rowOf('apple', page).click()
    await page.keyboard.press('F2')
    await page.keyboard.type('pear')
    await page.keyboard.press('Enter')
    await rowOf('pear.txt', there).waitFor()
    expectQuiet(other)
  })

  it('shares workspace files, and hides actions that a role does not allow', async () => {
    const dora = await w.person('dora')
    const emil = await w.person('emil')
    const slug = await gardenFor(dora, emil)
    const page = await dora.open(`/workspaces/${slug}/files`)
    await page.getByRole('heading', { name: 'Garden' }).waitFor()
    await rowOf('beds', page).dblclick()
    await rowOf('roses', page).waitFor()
    await page.getByRole('button', { name: 'New', exact: true }).waitFor()
    const theirs = await emil.open(`/workspaces/${slug}/files/beds`)
    await rowOf('roses', theirs).click()
    await expectSelected(theirs, 'roses')
    expect(await theirs.getByRole('button', { name: /^New$|Upload|Delete|Rename/ }).count()).toBe(0)
    await rowOf('roses', theirs).click({ button: 'right' })
    await theirs.getByRole('menuitem', { name: 'Details' }).waitFor()
    expect(await theirs.getByRole('menuitem', { name: /Rename|Move|Delete/ }).count()).toBe(0)
    expectQuiet(emil)
  })
})

describe('A hostile name', () => {
  const hostile = [
    `"><img src=x onerror="document.title='pwned'">.txt`,
    `<script>document.title='pwned'</script>.txt`,
    `\u202Egpj.exe.txt`,
    `${'x'.repeat(240)}.txt`,
    `100% #1?&=.txt`,
  ]

  it('is shown as plain text everywhere', async () => {
    const frank = await w.person('frank')
    for (const name of hostile)
      await frank.ask(
        'mutation ($input: CreateFolderInput!) { createFolder(input: $input) { folder { id } } }',
        {
          input: { at: { path: name.replaceAll('/', '∕') } },
        },
      )
    await frank.upload(
      'pwned.svg',
      `<svg xmlns="http://www.w3.org/2000/svg"><script>top.document.title='pwned'</script></svg>`,
      'image/svg+xml',
    )
    const page = await frank.open('/files?details=true')
    await rowOf('pwned.svg', page).waitFor()
    for (const name of hostile) {
      // A character that reverses text is shown as a mark.
      const shown = name.replaceAll('/', '∕').replaceAll('\u202E', '\uFFFD')
      const entry = page.getByRole('row').filter({ hasText: shown.slice(0, 12) })
      await entry.click()
      await page.getByRole('complementary').getByText('0 files').waitFor()
      await entry.dblclick()
      await page.getByRole('heading', { name: 'This folder is empty' }).waitFor()
      await page.reload()
      await page.getByRole('heading', { name: 'This folder is empty' }).waitFor()
      expect(await page.locator('h1').textContent()).toBe(shown)
      await page.goto(`${w.service.url}/files?details=true`)
      await rowOf('pwned.svg', page).waitFor()
    }
    await rowOf('pwned.svg', page).dblclick()
    // It is drawn as an image, in which no script runs.
    await page.getByRole('dialog').getByRole('img', { name: 'pwned.svg' }).waitFor()
    expect(await page.title()).toBe('pwned.svg · Satchel')
    expectQuiet(frank)
  })
})
