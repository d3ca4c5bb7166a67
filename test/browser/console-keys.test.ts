import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import {
  type ConsoleWorld,
  expectAccessible,
  expectQuiet,
  listening,
  type Person,
  pictures,
  rowOf,
  startConsole,
  telephone,
} from './console.ts'

let w: ConsoleWorld

beforeAll(async () => {
  w = await startConsole()
}, 120_000)
afterAll(() => w?.stop())

const gone = (name: string, on: Page) => rowOf(name, on).waitFor({ state: 'detached' })
const selected = (page: Page) => page.locator('[aria-selected=true] .name').allTextContents()

async function withFiles(who: Person): Promise<Page> {
  for (const name of ['apple.txt', 'banana.txt', 'cherry.txt', 'date.txt']) await who.upload(name, name)
  await who.upload('folder/inside.txt', 'x')
  const page = await who.open('/files')
  await rowOf('apple', page).waitFor()
  return page
}

/** A workspace of somebody that somebody else may look at, with a folder in a folder. Answers its slug. */
async function gardenFor(owner: Person, viewer: Person): Promise<string> {
  type Made = { createWorkspace: { workspace: { id: string; slug: string; drive: { id: string } } } }
  const { createWorkspace } = await owner.ask<Made>(
    'mutation { createWorkspace(input: { name: "Garden" }) { workspace { id slug drive { id } } } }',
  )
  const { id, slug, drive } = createWorkspace.workspace
  await owner.ask('mutation ($input: CreateFolderInput!) { createFolder(input: $input) { folder { id } } }', {
    input: { at: { drive: drive.id, path: 'beds/roses' } },
  })
  await owner.ask('mutation ($input: CreateInviteInput!) { createInvite(input: $input) { invite { id } } }', {
    input: { workspace: id, email: viewer.email, role: 'VIEWER' },
  })
  type Invited = { me: { invites: { nodes: { token: string }[] } } }
  const { me } = await viewer.ask<Invited>('{ me { invites(first: 1) { nodes { token } } } }')
  await viewer.ask('mutation ($input: AcceptInviteInput!) { acceptInvite(input: $input) { acceptedId } }', {
    input: { token: me.invites.nodes[0]?.token },
  })
  return slug
}

describe('By keyboard alone', () => {
  it('selects, cuts, pastes, renames, deletes and undoes', async () => {
    const alice = await w.person('alice')
    const page = await withFiles(alice)
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key)
    }
    // The list is reached by Tab.
    for (let i = 0; i < 30 && (await page.evaluate('document.activeElement.role')) !== 'grid'; i++) await press('Tab')
    await press('Home', 'ArrowDown', 'Shift+ArrowDown')
    expect(await selected(page)).toEqual(['apple.txt', 'banana.txt'])
    await press('Control+ArrowDown', 'Control+ArrowDown', 'Space')
    expect(await selected(page)).toEqual(['apple.txt', 'banana.txt', 'date.txt'])
    const cursor = await page.getByRole('grid').getAttribute('aria-activedescendant')
    expect(await page.locator(`#${cursor} .name`).textContent()).toBe('date.txt')

    await press('Control+x', 'f', 'Enter')
    await page.waitForURL(/\/files\/folder/)
    await rowOf('inside', page).waitFor()
    await page.getByRole('grid').focus()
    await press('Control+v')
    await rowOf('apple', page).waitFor()
    await rowOf('date', page).waitFor()
    // The list hears of a change before its toast is there, which undoes it.
    await page.getByText('3 items moved').waitFor()
    await press('Control+z')
    await gone('apple', page)
    await press('Alt+ArrowUp')
    await rowOf('apple', page).waitFor()

    await page.getByRole('grid').focus()
    await page.keyboard.type('ch')
    expect(await selected(page)).toEqual(['cherry.txt'])
    await press('F2')
    await page.keyboard.type('quince')
    await press('Enter')
    await rowOf('quince.txt', page).waitFor()
    await page.getByText('Renamed to').waitFor()
    await press('Control+a')
    expect((await selected(page)).length).toBe(5)
    await press('Escape')
    expect(await selected(page)).toEqual([])
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

describe('Keys that are pressed early', () => {
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
  ])('open with $keys what they open once the service has answered', async ({ keys, opens }) => {
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

describe('A key that is pressed early', () => {
  it('means nothing where one may not write, nor in the place that one goes to', async () => {
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
    await page.getByRole('button', { name: 'New folder' }).waitFor()
    await page.waitForTimeout(500)
    expect(await page.getByRole('dialog').count()).toBe(0)
  })
})

describe('With a finger, on a telephone', () => {
  it('opens, marks, moves and deletes', async () => {
    const bob = await w.person('bob', telephone)
    const page = await withFiles(bob)
    await pictures(page, 'console-telephone')
    await expectAccessible(page)
    await rowOf('banana', page).getByRole('button').tap()
    // Keys are of no use to a finger.
    expect(await page.getByRole('menu').locator('kbd:visible').count()).toBe(0)
    await page.getByRole('menuitem', { name: 'Details' }).tap()
    await page.getByRole('complementary').getByText('banana.txt').first().waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-telephone-details')
    await page.getByRole('button', { name: 'Close the details' }).tap()
    await rowOf('cherry', page).tap()
    expect(await selected(page)).toEqual(['banana.txt', 'cherry.txt'])
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
    // The way up, and no more of the path than has room.
    const path = page.getByRole('navigation', { name: 'Path' })
    expect(await path.getByRole('link').allInnerTexts()).toEqual(['A rather long name of a folder in it'])
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
  it('sees at once what happens in another browser', async () => {
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

  it('shares the files of a workspace, and offers nobody what their role may not do', async () => {
    const dora = await w.person('dora')
    const emil = await w.person('emil')
    const slug = await gardenFor(dora, emil)
    const page = await dora.open(`/workspaces/${slug}/files`)
    await page.getByRole('heading', { name: 'Garden' }).waitFor()
    await rowOf('beds', page).dblclick()
    await rowOf('roses', page).waitFor()
    await page.getByRole('button', { name: 'New folder' }).waitFor()
    const theirs = await emil.open(`/workspaces/${slug}/files/beds`)
    await rowOf('roses', theirs).click()
    expect(await theirs.getByRole('button', { name: /New folder|Upload|Delete|Rename/ }).count()).toBe(0)
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

  it('is a name and nothing else, wherever it is shown', async () => {
    const frank = await w.person('frank')
    for (const name of hostile)
      await frank.ask('mutation ($input: CreateFolderInput!) { createFolder(input: $input) { folder { id } } }', {
        input: { at: { path: name.replaceAll('/', '∕') } },
      })
    await frank.upload(
      'pwned.svg',
      `<svg xmlns="http://www.w3.org/2000/svg"><script>top.document.title='pwned'</script></svg>`,
      'image/svg+xml',
    )
    const page = await frank.open('/files?details=true')
    await rowOf('pwned.svg', page).waitFor()
    for (const name of hostile) {
      const entry = page.getByRole('row').filter({ hasText: name.replaceAll('/', '∕').slice(0, 12) })
      await entry.click()
      await page.getByRole('complementary').getByText('0 files').waitFor()
      await entry.dblclick()
      await page.getByRole('heading', { name: 'This folder is empty' }).waitFor()
      await page.reload()
      await page.getByRole('heading', { name: 'This folder is empty' }).waitFor()
      expect(await page.locator('h1').textContent()).toBe(name.replaceAll('/', '∕'))
      await page.goto(`${w.service.url}/files?details=true`)
      await rowOf('pwned.svg', page).waitFor()
    }
    await rowOf('pwned.svg', page).dblclick()
    await page.getByRole('dialog').getByText('There is no preview').waitFor()
    expect(await page.title()).toBe('pwned.svg · Satchel')
    expectQuiet(frank)
  })
})
