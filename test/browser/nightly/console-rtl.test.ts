import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
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
} from '../console.ts'
import { makeMedia } from '../media.ts'

/** Right-to-left English: the language of the browser sets the direction. */
const locale = 'en-Arab'
let w: ConsoleWorld
let alice: Person
let page: Page

const screens = [
  ['files', '/files'],
  ['grid', '/files?view=grid'],
  ['folder', '/files/Projects/Garden'],
  ['pictures', '/pictures'],
  ['home', '/start'],
  ['shared', '/shared'],
  ['links', '/links'],
  ['members', '/workspaces/team/members'],
  ['trash', '/trash'],
  ['search', '/search?q=type%3Atext%20plan'],
  ['activity', '/activity'],
  ['account', '/account'],
  ['keys', '/account/keys'],
  ['developers', '/developers'],
] as const

beforeAll(async () => {
  w = await startConsole()
  alice = await w.person('alice', { locale })
  page = alice.page
  const { png } = await makeMedia(w.browser)
  await alice.upload('Projects/Garden/plan.md', '# Plan')
  await alice.upload('a.png', png, 'image/png')
  await alice.upload('b.png', png, 'image/png')
  await alice.upload('תוכנית.txt', 'one')
  await alice.ask('mutation { createWorkspace(input: { name: "Team" }) { workspace { id } } }')
}, 120_000)
afterAll(() => w?.stop())

const widthOf = (on: Page) => on.evaluate('document.documentElement.scrollWidth')

/** The right-to-left start of an element: its distance from the right edge of its container. */
const startOf = (on: Page, selector: string, around: string) =>
  on.evaluate(`(() => {
    const words = document.createRange()
    words.selectNodeContents(document.querySelector(${JSON.stringify(selector)}))
    return document.querySelector(${JSON.stringify(around)}).getBoundingClientRect().right - words.getBoundingClientRect().right
  })()`)

describe('From right to left', () => {
  it.each(screens)('%s fits a window, and passes axe', async (name, path) => {
    await alice.open(path)
    expect([await page.evaluate('document.dir'), await widthOf(page)]).toEqual(['rtl', 1280])
    await expectAccessible(page)
    await pictures(page, `rtl-${name}`)
    expectQuiet(alice)
  })

  it.each(screens)('%s fits a phone', async (name, path) => {
    const context = await w.browser.newContext({
      ...telephone,
      locale,
      reducedMotion: 'reduce',
      storageState: await alice.context.storageState(),
    })
    try {
      const small = await context.newPage()
      await small.goto(w.service.url + path)
      await settled(small)
      expect([await small.evaluate('document.dir'), await widthOf(small)]).toEqual(['rtl', 390])
      await expectAccessible(small)
      await pictures(small, `rtl-${name}-telephone`)
    } finally {
      await context.close()
    }
  })

  it('names align with the start of the line, whatever their script', async () => {
    await alice.open('/workspaces/team/members')
    expect(await startOf(page, 'main h1', 'main')).toBeLessThan(40)
    await alice.open('/files')
    const names = page.locator('.row .name')
    expect(await names.count()).toBe(4)
    const edges = await names.evaluateAll(all =>
      (all as unknown as { getBoundingClientRect(): { right: number } }[]).map(
        one => one.getBoundingClientRect().right,
      ),
    )
    expect(new Set(edges.map(Math.round)).size).toBe(1)
  })

  it('directional icons are mirrored', async () => {
    await alice.open('/files/Projects/Garden')
    const turned =
      "[...document.querySelectorAll('.crumb-sign')].map(sign => getComputedStyle(sign).transform)"
    const mirrored = 'matrix(-1, 0, 0, 1, 0, 0)'
    expect(await page.evaluate(turned)).toEqual([mirrored, mirrored])
  })

  it('arrow keys move in their visual direction', async () => {
    await alice.open('/files?view=grid')
    await rowOf('Projects', page).click()
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('Enter')
    const viewer = page.getByRole('dialog')
    await viewer.getByText('a.png').first().waitFor()
    await page.keyboard.press('ArrowLeft')
    await viewer.getByText('b.png').first().waitFor()
    await page.keyboard.press('ArrowRight')
    await viewer.getByText('a.png').first().waitFor()
  })

  it('dialogs and menus fit, too', async () => {
    await alice.open('/files')
    await rowOf('a.png', page).click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Rename' }).waitFor()
    await pictures(page, 'rtl-menu')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Alt+s')
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).waitFor()
    await expectAccessible(page)
    await pictures(page, 'rtl-share')
    await page.keyboard.press('Escape')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await pictures(page, 'rtl-shortcuts')
    expect(await widthOf(page)).toBe(1280)
  })
})
