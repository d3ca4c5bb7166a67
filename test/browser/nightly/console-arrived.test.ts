import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { SMALL } from '../../../src/upload-engine/upload.ts'
import { eventually, until } from '../../support/until.ts'
import { fillInSignIn } from '../browser.ts'
import {
  type ConsoleWorld,
  expectAccessible,
  expectQuiet,
  keepsFolder,
  type Person,
  pictures,
  settled,
  startConsole,
  telephone,
} from '../console.ts'

let w: ConsoleWorld
let count = 0

beforeAll(async () => {
  w = await startConsole({}, { serviceWorkers: 'allow' }, { proxied: true })
}, 120_000)
afterAll(() => w?.stop())

type Shared = [name: string, text: string]
interface ShareTarget {
  action: string
  params: { files: { name: string }[] }
}

/** Sends files like the system's share menu: with the form from the manifest. */
async function share(page: Page, files: readonly Shared[]): Promise<void> {
  const answer = await page.context().request.get(`${w.service.url}/manifest.webmanifest`)
  const { action, params } = (await answer.json()).share_target as ShareTarget
  const field = params.files[0]?.name
  const loaded = page.waitForNavigation({ waitUntil: 'load' })
  await page.evaluate(`(() => {
    const transfer = new DataTransfer()
    for (const [name, text] of ${JSON.stringify(files)}) transfer.items.add(new File([text], name, { type: 'text/plain' }))
    const form = document.createElement('form')
    const input = document.createElement('input')
    Object.assign(form, { method: 'post', enctype: 'multipart/form-data', action: '${action}' })
    Object.assign(input, { type: 'file', name: '${field}', multiple: true, files: transfer.files })
    form.append(input)
    document.body.append(form)
    form.submit()
  })()`)
  await loaded
}

const dialog = (page: Page) => page.getByRole('dialog', { name: /^Upload \d+ shared files?$/ })
const keptIn = (page: Page): Promise<number> =>
  page.evaluate(
    `caches.has('arrived').then(async has => has ? (await (await caches.open('arrived')).keys()).length : 0)`,
  )
const dock = (page: Page) => page.getByRole('region', { name: 'Uploads' })

async function filesOf({ ask }: Person, path: string): Promise<string[]> {
  const { me } = await ask<{
    me: { drive: { entry: { entries: { nodes: { name: string }[] } } } }
  }>(
    'query ($path: String!) { me { drive { entry(path: $path) { ... on Folder { entries(first: 50) { nodes { name } } } } } } }',
    { path },
  )
  return me.drive.entry.entries.nodes.map(({ name }) => name).sort()
}

/** A person whose browser has installed the service worker. */
async function installed(options = {}): Promise<Person> {
  const person = await w.person(`alice-${++count}`, options)
  await person.upload('journeys/alps.txt', 'snow')
  const page = await person.open('/files')
  await page.evaluate(`navigator.serviceWorker.ready.then(() => navigator.serviceWorker.controller ||
    new Promise(resolve => navigator.serviceWorker.addEventListener('controllerchange', resolve)))`)
  return person
}

/** Another person signs in to the browser after the session has ended. */
async function signInAsMallory({ page, context }: Person): Promise<void> {
  await context.clearCookies()
  await page.goto(`${w.service.url}/files`).catch(() => {})
  await page.waitForURL(/\/login\?/)
  await page.getByRole('link', { name: /^Continue/ }).click()
  await fillInSignIn(page, w.service.url, `mallory-${count}@example.com`)
  await page.waitForURL(`${w.service.url}/files`)
  await settled(page)
}

describe('A file that the system shares with the installed console', () => {
  let alice: Person
  beforeEach(async () => {
    alice = await installed()
  })

  it('goes to the folder that the person chooses', async () => {
    const { page } = alice
    await share(page, [
      ['sea.txt', 'salt'],
      ['desert.txt', 'sand'],
    ])
    await dialog(page).getByText('sea.txt').waitFor()
    await expectAccessible(page)
    await pictures(page, 'arrived')
    await dialog(page).getByRole('button', { name: 'journeys' }).click()
    await dialog(page).getByRole('button', { name: 'Upload here' }).click()
    await dock(page).getByRole('heading', { name: '2 files uploaded', exact: true }).waitFor()
    expect(await filesOf(alice, 'journeys')).toEqual(['alps.txt', 'desert.txt', 'sea.txt'])
    await page.reload()
    await settled(page)
    expect([await keptIn(page), await dialog(page).count()]).toEqual([0, 0])
    expectQuiet(alice)
  })

  it('is uploaded even after a reload and an outage', async () => {
    const { page } = alice
    await share(page, [['sea.txt', 'salt']])
    await dialog(page).getByRole('button', { name: 'journeys' }).waitFor()
    await until(() => page.evaluate(keepsFolder('')))
    await w.service.disconnect()
    await dialog(page).getByRole('button', { name: 'Upload here' }).click()
    await dock(page).getByText('sea.txt').waitFor()
    await page.reload()
    await dock(page).getByText('sea.txt').waitFor()
    await w.service.connect()
    await dock(page).getByRole('heading', { name: '1 file uploaded', exact: true }).waitFor()
    expect(await filesOf(alice, '')).toContain('sea.txt')
    expect(await keptIn(page)).toBe(0)
  })

  it('is removed from the service when its upload is cancelled, even if the browser cannot clean up', async () => {
    const { page } = alice
    const network = await page.context().newCDPSession(page)
    await share(page, [['sea.txt', 'salt'.repeat(SMALL / 4 + 1)]])
    await network.send('Network.enable')
    await network.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: 500_000,
    })
    const isBegun = page.waitForRequest(
      request => request.headers()['content-type']?.startsWith('multipart/') ?? false,
    )
    await dialog(page).getByRole('button', { name: 'Upload here' }).click()
    await isBegun
    await page.evaluate(
      `CacheStorage.prototype.open = () => Promise.reject(new Error('There is no room.'))`,
    )
    const isAborted = page.waitForRequest(
      request => request.postData()?.includes('mutation AbortUpload') ?? false,
    )
    await dock(page).getByRole('button', { name: 'Cancel sea.txt' }).click()
    await isAborted
    await dock(page).waitFor({ state: 'detached' })
  })

  it('waits for a decision, and is discarded on request', async () => {
    const { page } = alice
    await share(page, [['sea.txt', 'salt']])
    await dialog(page).waitFor()
    await page.goto(`${w.service.url}/links`)
    await dialog(page).waitFor()
    await page.keyboard.press('Escape')
    const confirm = page.getByRole('dialog', { name: 'Discard 1 shared file?' })
    await confirm.getByRole('button', { name: 'Cancel' }).click()
    await dialog(page).getByText('sea.txt').waitFor()
    await page.keyboard.press('Escape')
    await confirm.getByRole('button', { name: 'Discard' }).click()
    await confirm.waitFor({ state: 'detached' })
    await page.reload()
    await settled(page)
    expect([await keptIn(page), await dialog(page).count()]).toEqual([0, 0])
  })

  it('keeps hostile names harmless', async () => {
    const { page } = alice
    const names = [
      '../../journeys/up.txt',
      'C:\\evil\\back.txt',
      '<img src=x onerror=alert(1)>.txt',
      '"; a=b.txt',
      '\u202etxt.exe',
    ]
    await share(
      page,
      names.map(name => [name, name]),
    )
    // Browsers encode a backslash in different ways.
    for (const shown of ['up.txt', '<img src=x onerror=alert(1)>.txt'])
      await dialog(page).getByText(shown, { exact: true }).waitFor()
    await dialog(page).getByRole('button', { name: 'Upload here' }).click()
    await dock(page).getByRole('heading', { name: '5 files uploaded', exact: true }).waitFor()
    expect(await filesOf(alice, '')).toEqual(
      expect.arrayContaining(['up.txt', '<img src=x onerror=alert(1)>.txt']),
    )
    expect(await filesOf(alice, 'journeys')).toEqual(['alps.txt'])
    expectQuiet(alice)
  })

  it('is available after a sign-in to the previous account', async () => {
    const { page, context, email } = alice
    await context.clearCookies()
    await share(page, [['sea.txt', 'salt']])
    await page.waitForURL(/\/login\?/)
    await page.getByRole('link', { name: /^Continue/ }).click()
    await fillInSignIn(page, w.service.url, email)
    await dialog(page).getByText('sea.txt').waitFor()
  })

  it('is not shown to another account', async () => {
    const { page } = alice
    await share(page, [['sea.txt', 'salt']])
    await dialog(page).waitFor()
    await signInAsMallory(alice)
    await eventually(async () => expect(await keptIn(page)).toBe(0))
    expect(await dialog(page).count()).toBe(0)
  })

  it('is deleted when another account signs in, even with an unfinished upload', async () => {
    const { page } = alice
    await share(page, [['sea.txt', 'salt']])
    await dialog(page).getByRole('button', { name: 'journeys' }).waitFor()
    await until(() => page.evaluate(keepsFolder('')))
    await w.service.disconnect()
    await dialog(page).getByRole('button', { name: 'Upload here' }).click()
    await dock(page).getByText('sea.txt').waitFor()
    await page.goto('about:blank')
    await w.service.connect()
    await signInAsMallory(alice)
    await eventually(async () => expect(await keptIn(page)).toBe(0))
    expect(await dialog(page).count()).toBe(0)
  })

  it('is deleted at sign-out', async () => {
    const { page } = alice
    await share(page, [['sea.txt', 'salt']])
    await dialog(page).waitFor()
    await page.goto(`${w.service.url}/logout/confirm`)
    await page.getByRole('region', { name: 'Log out?' }).getByRole('button').click()
    await page.waitForURL(`${w.service.url}/`)
    expect(await keptIn(page)).toBe(0)
  })
})

it('fits a phone', async () => {
  const { page } = await installed(telephone)
  await share(
    page,
    Array.from({ length: 8 }, (_, at) => [
      `A holiday by the sea, with everything that was seen there ${at}.txt`,
      'salt',
    ]),
  )
  await dialog(page).getByText('… and 3 more').waitFor()
  await expectAccessible(page)
  await pictures(page, 'arrived-telephone')
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  const close = await dialog(page).getByRole('button', { name: 'Close' }).boundingBox()
  expect((close?.x ?? 390) + (close?.width ?? 0)).toBeLessThan(390)
})

describe('Without a service worker', () => {
  it('the console reports that shared files were not kept', async () => {
    const ben = await w.person(`ben-${++count}`, { serviceWorkers: 'block' })
    const page = await ben.open('/files')
    await share(page, [['sea.txt', 'x'.repeat(2_000_000)]])
    await page.getByText('The shared files could not be received').waitFor()
    await page.waitForURL(`${w.service.url}/files`)
  })

  it('the console reports it after the sign-in', async () => {
    const ben = await w.person(`ben-${++count}`, { serviceWorkers: 'block' })
    const page = await ben.open('/files')
    await ben.context.clearCookies()
    // The console may also notice by itself, and redirect to the sign-in.
    await page.goto(`${w.service.url}/login`).catch(() => {})
    await page.waitForURL(/\/login/)
    await share(page, [['sea.txt', 'salt']])
    await page.getByRole('link', { name: /^Continue/ }).click()
    await fillInSignIn(page, w.service.url, ben.email)
    await page.getByText('The shared files could not be received').waitFor()
  })
})
