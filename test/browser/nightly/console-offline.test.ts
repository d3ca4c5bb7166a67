import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { signIn } from '../browser.ts'
import {
  type ConsoleWorld,
  expectAccessible,
  keepsFolder,
  type Person,
  pictures,
  rowOf,
  settled,
  startConsole,
  telephone,
} from '../console.ts'

let w: ConsoleWorld
let alice: Person

beforeAll(async () => {
  w = await startConsole({}, { serviceWorkers: 'allow' }, { process: true, proxied: true })
  alice = await w.person('alice')
  await alice.upload('journeys/alps.txt', 'snow')
  await alice.upload('journeys/sea.txt', 'salt')
}, 120_000)
afterAll(() => w?.stop())
beforeEach(() => w.service.revive(), 60_000)

/** The content security policy blocks Playwright's polling in the page, which evaluates strings. */
async function until(page: Page, expression: string): Promise<void> {
  for (
    const end = Date.now() + 30_000;
    Date.now() < end;
    await new Promise(resolve => setTimeout(resolve, 100))
  )
    if (await page.evaluate(expression)) return
  throw new Error(`It has never become true: ${expression}`)
}

const kept = (page: Page): Promise<string[]> => page.evaluate('caches.keys()')
const NOTHING_KEPT = `caches.keys().then(names => names.every(name => name.startsWith('console-')))`

/** Opens a folder, and waits until the browser has stored the console and the folder. */
async function openKept(who: Person, path: string): Promise<Page> {
  const page = await who.open(path)
  await until(page, 'navigator.serviceWorker.controller !== null')
  await until(page, keepsFolder(path.replace('/files/', '')))
  return page
}

describe('Without the service', () => {
  it('the console opens, shows stored data with its age, and reconnects', async () => {
    const page = await openKept(alice, '/files/journeys')
    await w.service.kill()
    await page.reload()
    await rowOf('alps.txt', page).waitFor()
    const banner = page.getByRole('status').filter({ hasText: 'Offline:' })
    expect(await banner.textContent()).toMatch(/this is the state of \d/)
    await expectAccessible(page)
    await pictures(page, 'console-offline')
    await page.getByRole('link', { name: 'Shared by me' }).click()
    await page.getByText('The service cannot be reached.').first().waitFor()
    await page.goBack()
    await rowOf('sea.txt', page).waitFor()
    // A folder that cannot be loaded is never shown as empty, whatever was tried before.
    await page.getByRole('link', { name: 'Trash' }).click()
    await page.getByRole('heading', { name: 'This could not be loaded' }).waitFor()
    await page.goBack()
    await rowOf('sea.txt', page).waitFor()
    await page.waitForTimeout(500)
    expect(await rowOf('sea.txt', page).count()).toBe(1)

    // Until somebody else changes something.
    await page.route('**/healthz', route => route.abort())
    await w.service.restart()
    await alice.upload('journeys/desert.txt', 'sand')
    // Pressed at once, because the console also retries by itself.
    await banner.getByRole('button', { name: 'Try again' }).focus()
    await page.unroute('**/healthz')
    await page.keyboard.press('Enter')
    await banner.waitFor({ state: 'detached' })
    await rowOf('desert.txt', page).waitFor()
  })

  it('a revisited screen shows its earlier data', async () => {
    const page = await alice.open('/account')
    await page.getByText('Name and address come from').waitFor()
    await page.getByRole('link', { name: 'Workspaces' }).click()
    await page.getByRole('heading', { name: 'No workspaces yet' }).waitFor()
    await w.service.disconnect()
    await page.goBack()
    await page.getByText('Offline:').waitFor()
    await page.waitForTimeout(500)
    expect(await page.locator('.skeleton').count()).toBe(0)
    await page.getByText('Name and address come from').waitFor()
    await w.service.connect()
  })

  it('a change fails with an explanation, and leaves no trace', async () => {
    const page = await openKept(alice, '/files/journeys')
    await w.service.disconnect()
    await rowOf('alps.txt', page).click()
    await page.keyboard.press('F2')
    await page.getByRole('textbox', { name: 'New name' }).fill('andes.txt')
    await page.keyboard.press('Enter')
    await page.getByText('This needs the connection').waitFor()
    await page.getByRole('button', { name: 'Actions for alps.txt' }).waitFor()
    await page.getByText('Offline:').waitFor()
  })

  it('an upload waits, and resumes when the service is back', async () => {
    const page = await openKept(alice, '/files/journeys')
    await page.locator('.uploads-status').waitFor({ state: 'attached' })
    await w.service.disconnect()
    await page.evaluate(`(() => {
      const transfer = new DataTransfer()
      transfer.items.add(new File(['dunes'], 'dunes.txt', { type: 'text/plain' }))
      document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData: transfer, bubbles: true }))
    })()`)
    await page.getByRole('region', { name: 'Uploads' }).getByText('dunes.txt').waitFor()
    await w.service.connect()
    await rowOf('dunes.txt', page).waitFor()
  })

  it('works the same without a network, on a phone', async () => {
    const dora = await w.person('dora', telephone)
    await dora.upload('notes/rain.txt', 'rain')
    const page = await openKept(dora, '/files/notes')
    await dora.context.setOffline(true)
    await page.reload()
    await page.getByText('rain.txt').waitFor()
    await page.getByText('Offline:').waitFor()
    await pictures(page, 'console-offline-telephone')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await dora.context.setOffline(false)
    await page.getByText('Offline:').waitFor({ state: 'detached' })
  })
})

describe('Stored data', () => {
  it('is deleted at sign-out with the shell, and never enters the HTTP cache', async () => {
    const zoe = await w.person('zoe')
    await zoe.upload('secret/plan.txt', 'plan')
    const page = await openKept(zoe, '/files/secret')
    const answer = await page.reload()
    expect(answer?.headers()['cache-control']).toBe('no-store')
    await page.getByRole('button', { name: 'Account menu' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Your files, safely shared' }).waitFor()
    expect((await kept(page)).filter(name => !name.startsWith('console-'))).toEqual([])
    await w.service.disconnect()
    await expect(page.goto(`${w.service.url}/files/secret`)).rejects.toThrow(
      /ERR_CONNECTION_REFUSED|ERR_FAILED/,
    )
  })

  it('is deleted when a server-rendered page signs out, and when another account signs in', async () => {
    const yann = await w.person('yann')
    await yann.upload('yann/own.txt', 'own')
    const page = await openKept(yann, '/files/yann')
    await page.goto(`${w.service.url}/logout/confirm`)
    await page.getByRole('region', { name: 'Log out?' }).getByRole('button').click()
    await until(page, NOTHING_KEPT)

    await signIn(yann, w.service.url, 'yann@example.com', '/identities')
    await openKept(yann, '/files/yann')
    const before = (await kept(page)).find(name => name.startsWith('read-'))
    await yann.context.clearCookies()
    await signIn(yann, w.service.url, 'xena@example.com', '/files')
    await settled(page)
    await until(
      page,
      `caches.keys().then(names => !names.includes('${before}') && names.some(name => name.startsWith('read-')))`,
    )
  })
})

describe('After a session has ended', () => {
  it('nothing stays when the service redirects to sign-in', async () => {
    const una = await w.person('una')
    await una.upload('una/own.txt', 'own')
    const page = await openKept(una, '/files/una')
    await una.context.clearCookies()
    // The open page may go to sign-in first.
    await page.goto(`${w.service.url}/files/una`).catch(() => {})
    await page.waitForURL(/\/login\?/)
    await until(page, NOTHING_KEPT)
  })

  it('the console does not open without the service', async () => {
    const vera = await w.person('vera')
    await vera.upload('vera/own.txt', 'own')
    const page = await openKept(vera, '/files/vera')
    await page.evaluate(`(async () => {
      const name = (await caches.keys()).find(name => name.startsWith('shell-'))
      const cache = await caches.open(name)
      const html = await (await cache.match('/')).text()
      const end = Number(/name="session-end" content="([0-9]+)"/.exec(html)[1])
      if (!(end > Date.now())) throw new Error(html)
      await cache.put('/', new Response(html.replace(String(end), String(Date.now() - 1)), { headers: { 'content-type': 'text/html' } }))
    })()`)
    await w.service.kill()
    // Aborts if the console reloads at the same moment, because it misses the service.
    await expect(page.goto(`${w.service.url}/files/vera`)).rejects.toThrow(
      /ERR_CONNECTION_REFUSED|ERR_FAILED|ERR_ABORTED/,
    )
    await page.getByText('own.txt').waitFor({ state: 'detached' })
    await w.service.restart()
    await page.goto(`${w.service.url}/home`)
    expect((await kept(page)).filter(name => !name.startsWith('console-'))).toEqual([])
  })

  it('every page closes when another account signs in in another tab', async () => {
    const walt = await w.person('walt')
    await walt.upload('walt/own.txt', 'own')
    const page = await openKept(walt, '/files/walt')
    await walt.context.clearCookies()
    const other = await walt.context.newPage()
    await signIn({ ...walt, page: other }, w.service.url, 'wilma@example.com', '/files')
    await page.waitForURL(/\/login\?/)
  })
})

describe('Signed URLs', () => {
  it('are never stored, not even those of versions', async () => {
    const vic = await w.person('vic')
    await vic.upload('vic/plan.txt', 'first')
    const file = { name: 'plan.txt', mimeType: 'text/plain', buffer: Buffer.from('second') }
    const url = `${w.service.url}/api/files/upload`
    const multipart = { folder: 'vic', on_conflict: 'replace', file }
    expect((await vic.context.request.post(url, { multipart })).status()).toBe(200)
    await openKept(vic, '/files/vic')
    const page = await vic.open('/files/vic?details=true')
    await rowOf('plan.txt', page).click()
    const details = page.getByRole('complementary', { name: 'Details' })
    await details.getByRole('button', { name: /^Actions for the version/ }).click()
    await page.getByRole('menuitem', { name: 'Preview' }).click()
    await page.getByRole('dialog', { name: 'plan.txt' }).getByText('first').waitFor()
    // Later responses are stored later.
    await page
      .getByRole('dialog', { name: 'plan.txt' })
      .getByRole('button', { name: 'Close' })
      .click()
    await page.getByRole('link', { name: 'Shared by me' }).click()
    const read = `(async () => {
      const name = (await caches.keys()).find(name => name.startsWith('read-'))
      return Promise.all((await (await caches.open(name)).matchAll()).map(one => one.text()))
    })()`
    await until(page, `${read}.then(texts => texts.some(text => text.includes('query MyShares')))`)
    expect(
      ((await page.evaluate(read)) as string[]).filter(text => text.includes('/api/blobs/')),
    ).toEqual([])
  })
})

describe('The service worker', () => {
  it('has the colours of the operator without the service', async () => {
    await w.service.restart({ BRAND_COLOUR: '#e91e63' })
    const page = await openKept(alice, '/files/journeys')
    const href = `document.querySelector('link[href^="/brand/"]').href`
    await until(page, `caches.match(${href}).then(Boolean)`)
    await w.service.kill()
    const style = await page.evaluate(
      `fetch(${href}, { cache: 'no-store' }).then(answer => answer.text())`,
    )
    expect(style).toContain('--accent')
  })

  it('unregisters when the service no longer has a console', async () => {
    const ned = await w.person('ned')
    await ned.upload('ned/note.txt', 'note')
    const page = await openKept(ned, '/files/ned')
    await w.service.restart({ CONSOLE: 'false' })
    await page.goto(`${w.service.url}/home`)
    await page.evaluate('navigator.serviceWorker.getRegistration().then(one => one?.update())')
    await until(page, 'navigator.serviceWorker.getRegistrations().then(all => all.length === 0)')
    expect(await kept(page)).toEqual([])
  })

  it('is revalidated each time, and lists every file of the console', async () => {
    const { request } = alice.context
    const answer = await request.get(`${w.service.url}/service-worker.js`)
    expect(answer.headers()).toMatchObject({
      'cache-control': 'no-cache',
      'content-security-policy': "default-src 'none'; connect-src 'self'",
    })
    const built = JSON.parse(/^self\.built=(.*);\n/.exec(await answer.text())?.[1] ?? '') as {
      assets: string[]
    }
    for (const asset of built.assets.slice(0, 5))
      expect((await request.get(w.service.url + asset)).status()).toBe(200)
    const manifest = await (await request.get(`${w.service.url}/manifest.webmanifest`)).json()
    expect(manifest).toMatchObject({ start_url: '/files', display: 'standalone' })
    for (const { src } of manifest.icons) {
      const icon = await request.get(w.service.url + src)
      expect([icon.status(), icon.headers()['content-type']]).toEqual([200, 'image/png'])
    }
  })
})
