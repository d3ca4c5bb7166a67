import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { eventually, until } from '../support/until.ts'
import { fillInSignIn, visit } from './browser.ts'
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

const isDark = "getComputedStyle(document.documentElement).colorScheme === 'dark'"

let w: ConsoleWorld
let alice: Person

beforeAll(async () => {
  w = await startConsole({}, { serviceWorkers: 'allow' })
  alice = await w.person('alice')
}, 120_000)
afterAll(() => w?.stop())

describe('The console', () => {
  it('redirects to sign-in, and back to the same place', async () => {
    const who = await visit(w.browser, w.service.url)
    await who.page.goto(`${w.service.url}/files/none%20here?sort=size`)
    await who.page.waitForURL(/\/login\?return_to=/)
    await who.page.getByRole('main').locator('.providers a').first().click()
    await fillInSignIn(who.page, w.service.url, 'zoe@example.com')
    await who.page.waitForURL(`${w.service.url}/files/none%20here?sort=size`)
    await who.page.getByRole('heading', { name: 'This folder does not exist' }).waitFor()
  })

  it('opens at the files, without a browser error', async () => {
    const page = await alice.open('/')
    await page.waitForURL(/\/files$/)
    await page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: 'My files' })
      .waitFor()
    await settled(page)
    await expectAccessible(page)
    await pictures(page, 'console-empty')
    expectQuiet(alice)
  })

  it('shows its frame before its scripts have arrived, and then only the console', async () => {
    const fay = await w.person('fay')
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
    await fay.page.route('**/*.js', async route => {
      await arrived
      await route.continue()
    })
    await fay.page.goto(`${w.service.url}/files`, { waitUntil: 'commit' })
    const frame = fay.page.locator('.frame')
    await frame.getByText('Satchel').waitFor()
    const { x, y } = (await frame.locator('.brand').boundingBox()) ?? {}
    arrive()
    await settled(fay.page)
    expect(await frame.count()).toBe(0)
    // The console appears in the same place.
    expect(await fay.page.locator('.brand').boundingBox()).toMatchObject({ x, y })
    expect(fay.errors).toEqual([])
  })

  it('explains itself without scripts', async () => {
    const options = { javaScriptEnabled: false, storageState: await alice.context.storageState() }
    const context = await w.browser.newContext(options)
    const page = await context.newPage()
    await page.goto(`${w.service.url}/files`)
    await page.locator('noscript p', { hasText: 'needs JavaScript' }).waitFor({ timeout: 10_000 })
    expect(await page.locator('.frame').isVisible()).toBe(false)
    await context.close()
  })

  it('shows an error for an unknown URL', async () => {
    const page = await alice.open('/account/nowhere')
    await page.getByRole('heading', { name: 'There is nothing here' }).waitFor()
  })

  it('shows the current place in the title', async () => {
    const page = await alice.open('/account')
    await alice.upload('docs/plan.txt', 'plan')
    await alice.ask('mutation { createWorkspace(input: { name: "Team" }) { workspace { id } } }')
    const titles: [path: string, title: string][] = [
      ['/files', 'My files'],
      ['/files/docs', 'docs'],
      ['/start', 'Home'],
      ['/pictures', 'Pictures'],
      ['/shared', 'Shared with me'],
      ['/links', 'Shared by me'],
      ['/workspaces', 'Workspaces'],
      ['/workspaces/team/files', 'Team'],
      ['/workspaces/team/members', 'Members · Team'],
      ['/workspaces/team/settings', 'Settings · Team'],
      ['/workspaces/team/trash', 'Trash of Team'],
      ['/trash', 'Trash'],
      ['/activity', 'Activity'],
      ['/account/keys', 'API keys · Account'],
      ['/developers', 'For developers'],
      ['/account/nowhere', 'There is nothing here'],
    ]
    for (const [path, title] of titles) {
      await alice.open(path)
      await eventually(async () =>
        expect([path, await page.title()]).toEqual([path, `${title} · Satchel`]),
      )
    }
    await alice.open('/files/docs')
    await rowOf('plan.txt', page).dblclick()
    await page.getByRole('dialog', { name: 'plan.txt' }).waitFor()
    expect(await page.title()).toBe('plan.txt · Satchel')
    await page.keyboard.press('Escape')
    await eventually(async () => expect(await page.title()).toBe('docs · Satchel'))
    const icon = await page.locator('link[rel="apple-touch-icon"]').getAttribute('href')
    const answer = await alice.context.request.get(w.service.url + icon)
    expect([answer.status(), answer.headers()['content-type']]).toEqual([200, 'image/png'])
  })

  it('opens its menu by keyboard, and changes theme and language', async () => {
    const page = await alice.open('/files')
    await page.getByRole('button', { name: 'Account menu' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitemradio', { name: 'Same as system', checked: true }).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-account-menu')
    await page.getByRole('menuitemradio', { name: 'Dark' }).click()
    await until(() => page.evaluate(isDark))
    await page.getByRole('button', { name: 'Account menu' }).click()
    await page.getByRole('menuitemradio', { name: 'Dark', checked: true }).waitFor()
    await page.getByRole('menuitemradio', { name: 'Same as system' }).click()
    await page.getByRole('button', { name: 'Account menu' }).click()
    await page.getByRole('menuitem', { name: 'Deutsch' }).click()
    await page.getByRole('link', { name: 'Meine Dateien' }).waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe('de')
    await page.getByRole('button', { name: 'Kontomenü' }).click()
    await page.getByRole('menuitem', { name: 'English' }).click()
    await page.getByRole('link', { name: 'My files' }).waitFor()
    expectQuiet(alice)
  })

  it('works without browser storage, as in private windows', async () => {
    const pam = await w.person('pam')
    await pam.context.addInitScript(`
      const refuse = () => { throw new DOMException('Access is denied.', 'SecurityError') }
      const refuseLater = async () => refuse()
      for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { get: refuse })
      IDBFactory.prototype.open = refuse
      for (const name of ['keys', 'open', 'has', 'match', 'delete']) CacheStorage.prototype[name] = refuseLater
      for (const name of ['request', 'query']) LockManager.prototype[name] = refuseLater
      for (const name of ['register', 'getRegistration']) ServiceWorkerContainer.prototype[name] = refuseLater
    `)
    const page = await pam.open('/files')
    await page.getByRole('button', { name: 'Account menu' }).click()
    await page.getByRole('menuitemradio', { name: 'Dark' }).click()
    await until(() => page.evaluate(isDark))
    await page.locator('.uploads-status').waitFor({ state: 'attached' })
    await page.evaluate(`(() => {
      const transfer = new DataTransfer()
      transfer.items.add(new File(['dunes'], 'dunes.txt', { type: 'text/plain' }))
      document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData: transfer, bubbles: true }))
    })()`)
    await rowOf('dunes.txt', page).waitFor()
    expectQuiet(pam)
    await page.getByRole('button', { name: 'Account menu' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Your files, safely shared' }).waitFor()
    await page.goto(`${w.service.url}/api/docs`)
    await page.locator('.opblock').first().waitFor()
    expectQuiet(pam)
  })

  it('fits a phone', async () => {
    const dora = await w.person('dora', telephone)
    const page = await dora.open('/files')
    await expectAccessible(page)
    await pictures(page, 'console-empty-telephone')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  })

  it.each(['en-GB', 'de-DE'])(
    'shows full labels in the bottom bar of the smallest screen, in %s',
    async locale => {
      const olga = await w.person('olga', {
        ...telephone,
        viewport: { width: 320, height: 640 },
        locale,
      })
      const page = await olga.open('/admin')
      const labels = page.locator('.destination .short-label')
      await labels.last().waitFor()
      const cut = await labels.evaluateAll(all =>
        all
          .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
          .map(({ textContent }) => textContent),
      )
      await pictures(page, `console-smallest-${locale}`)
      expect(cut).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
      const colour = `getComputedStyle(document.querySelector('input[type=search]'), '::placeholder').color`
      expect(await page.evaluate(colour)).toBe(
        await page.evaluate(`getComputedStyle(document.querySelector('.soft, .hint, .sub')).color`),
      )
      await olga.context.close()
    },
  )

  it('signs out', async () => {
    const zoe = await w.person('zoe')
    const page = await zoe.open('/files')
    await page.getByRole('button', { name: 'Account menu' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Your files, safely shared' }).waitFor()
  })
})
