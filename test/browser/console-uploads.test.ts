import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { BrowserContextOptions, CDPSession, Page, Request } from 'playwright-core'
import { until } from '../support/until.ts'
import { signIn } from './browser.ts'
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

const PART = 256 * 1024
/** Larger than one upload request. */
const LARGE = 10 * 1024 * 1024 + 17
const PARTS = Math.ceil(LARGE / PART)

let w: ConsoleWorld
let alice: Person
let folder: string

beforeAll(async () => {
  w = await startConsole({ UPLOAD_PART_BYTES: String(PART) }, {}, { process: true })
}, 120_000)
afterAll(() => w?.stop())

/**
 * A person whose browser lets tests choose files. Tests cannot use the picker that some browsers
 * have instead of an input.
 */
async function personWithFiles(name: string, options?: BrowserContextOptions): Promise<Person> {
  const person = await w.person(name, options)
  await person.context.addInitScript(
    'delete window.showOpenFilePicker; delete window.showDirectoryPicker',
  )
  return person
}

let count = 0
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'satchel-uploads-'))
  alice = await personWithFiles(`alice-${++count}`)
})
afterEach(async () => {
  await alice.context.close()
  rmSync(folder, { recursive: true, force: true })
})

/** A local file. */
function local(name: string, bytes: Buffer | string = randomBytes(1000)): string {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, bytes)
  return path
}

const md5 = (bytes: Buffer | string) => createHash('md5').update(bytes).digest('hex')

async function choose(
  page: Page,
  item: 'Upload files' | 'Upload a folder',
  paths: string | string[],
): Promise<void> {
  await page.locator('.screen-head').getByRole('button', { name: 'Upload' }).click()
  const picker = page.waitForEvent('filechooser')
  await page.getByRole('menuitem', { name: item }).click()
  await (await picker).setFiles(paths)
}

const sessions = new WeakMap<Page, CDPSession>()

/** Throttles the upload rate of the page; null for no limit, 0 for no network. */
async function throttle(page: Page, bytesPerSecond: number | null): Promise<void> {
  const session = sessions.get(page) ?? (await page.context().newCDPSession(page))
  sessions.set(page, session)
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', {
    offline: bytesPerSecond === 0,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: bytesPerSecond ?? -1,
  })
}

/** Counts the upload requests, of parts or small files. */
function countForms(page: Page): { sent: number; accepted: number } {
  const forms = { sent: 0, accepted: 0 }
  const isForm = (request: Request) =>
    request.headers()['content-type']?.startsWith('multipart/') ?? false
  page.on('request', request => {
    if (isForm(request)) forms.sent++
  })
  page.on('response', answer => {
    if (isForm(answer.request()) && answer.ok()) forms.accepted++
  })
  return forms
}

/** Drops local files and folders on the page, like an operating system. */
async function drop(page: Page, files: string[]): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const data = { items: [], files, dragOperationsMask: 1 }
  const drag = (type: 'dragEnter' | 'dragOver' | 'drop') =>
    session.send('Input.dispatchDragEvent', { type, x: 600, y: 400, data })
  await drag('dragEnter')
  await until(async () => {
    await drag('dragOver')
    return page.locator('.drop-hint').isVisible()
  })
  await pictures(page, 'uploads-drop')
  await drag('drop')
}

/** The number of stored uploads, as an expression for the page. */
const KEPT_UPLOADS = `new Promise(resolve => {
  const opening = indexedDB.open('satchel-uploads')
  opening.onsuccess = () => {
    const counting = opening.result.transaction('uploads').objectStore('uploads').count()
    counting.onsuccess = () => resolve(counting.result)
  }
})`

const title = (page: Page, name: string | RegExp) =>
  dock(page).getByRole('heading', { name, exact: true })
const row = (page: Page, name: string) => dock(page).getByRole('listitem').filter({ hasText: name })
const press = (page: Page, name: string) =>
  dock(page).getByRole('button', { name, exact: true }).click()

/** Waits until this much of one upload, or of all, was sent. */
async function sentMoreThan(page: Page, share: number, of = 'all uploads'): Promise<void> {
  const bar = dock(page).getByRole('progressbar', { name: `Progress of ${of}` })
  await until(async () => Number(await bar.getAttribute('value')) > share)
}

const dock = (page: Page) => page.getByRole('region', { name: 'Uploads' })

/** MD5 of a person's file; null if there is none. */
async function stored({ ask }: Person, path: string): Promise<string | null> {
  const query =
    'query ($path: String!) { me { drive { entry(path: $path) { ... on File { md5 } } } } }'
  const { me } = await ask<{ me: { drive: { entry: { md5: string } | null } } }>(query, { path })
  return me.drive.entry?.md5 ?? null
}

describe('Uploads', () => {
  it('of picked files appear in the list at once', async () => {
    const page = await alice.open('/files')
    const [a, b] = [randomBytes(1000), randomBytes(2000)]
    await choose(page, 'Upload files', [local('b.txt', b), local('a.txt', a)])
    await dock(page).getByRole('heading', { name: '2 files uploaded', exact: true }).waitFor()
    expect([await stored(alice, 'a.txt'), await stored(alice, 'b.txt')]).toEqual([md5(a), md5(b)])
    const names = await page
      .locator('main')
      .getByText(/^[ab]\.txt$/)
      .allInnerTexts()
    expect(names).toEqual(['a.txt', 'b.txt'])
    await expectAccessible(page)
    await pictures(page, 'uploads-done')
    await dock(page).getByRole('button', { name: 'Close' }).click()
    await dock(page).waitFor({ state: 'detached' })
    expectQuiet(alice)
  })

  it('of a folder keep its subfolders, whatever their names', async () => {
    const page = await alice.open('/files')
    const hostile = '"><img src=x onerror=window.hit=1>'
    const names = [
      `${hostile}.txt`,
      'a "quoted" name.txt',
      '100%25.txt',
      '\u202egnp.exe',
      "it's; filename=x.txt",
      'ünï 🎒.txt',
    ]
    const paths = names.map(name => `Tour ${hostile}/one/${name}`)
    for (const path of paths) local(path, path)
    local('Tour/empty.txt', '')
    await choose(page, 'Upload a folder', join(folder, `Tour ${hostile}`))
    await title(page, `${names.length} files uploaded`).waitFor()
    for (const path of paths) expect(await stored(alice, path)).toBe(md5(path))
    // The size of the folder follows, although the files are deeper.
    const line = page
      .locator('main')
      .getByRole('row')
      .filter({ hasText: `Tour ${hostile}` })
    const bytes = paths.reduce((sum, path) => sum + Buffer.byteLength(path), 0)
    await line.getByRole('gridcell', { name: `${bytes} bytes` }).waitFor()
    expect(await page.evaluate('window.hit')).toBeUndefined()
    await pictures(page, 'uploads-hostile')
    await press(page, 'Close')
  })

  it('accept dropped files and folders, even empty ones', async () => {
    const page = await alice.open('/files')
    local('Trip/day 1/a.txt', 'a')
    mkdirSync(join(folder, 'Trip/nothing yet'), { recursive: true })
    await drop(page, [local('dropped.txt', 'dropped'), join(folder, 'Trip')])
    await title(page, '2 files uploaded').waitFor()
    expect([await stored(alice, 'dropped.txt'), await stored(alice, 'Trip/day 1/a.txt')]).toEqual([
      md5('dropped'),
      md5('a'),
    ])
    const { me } = await alice.ask<{ me: { drive: { entry: { __typename: string } } } }>(
      '{ me { drive { entry(path: "Trip/nothing yet") { __typename } } } }',
    )
    expect(me.drive.entry.__typename).toBe('Folder')
    await page.locator('main').getByText('Trip', { exact: true }).waitFor()
    await press(page, 'Close')
  })

  it('accept pasted files', async () => {
    const page = await alice.open('/files')
    await page.locator('.uploads-status').waitFor({ state: 'attached' })
    await page.evaluate(`{
      const data = new DataTransfer()
      data.items.add(new File(['pasted'], 'pasted.txt', { type: 'text/plain' }))
      document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }))
    }`)
    await title(page, '1 file uploaded').waitFor()
    expect(await stored(alice, 'pasted.txt')).toBe(md5('pasted'))
    await press(page, 'Close')
  })

  it('explain a rejection, and continue with the other files', async () => {
    const page = await alice.open('/files')
    await choose(page, 'Upload files', [local('back\\slash.txt', 'x'), local('fine.txt', 'x')])
    await title(page, '1 file could not be uploaded').waitFor()
    await row(page, 'slash.txt').getByText('A name cannot contain a backslash').first().waitFor()
    expect(await stored(alice, 'fine.txt')).toBe(md5('x'))
    await expectAccessible(page)
    await pictures(page, 'uploads-failed')
    await row(page, 'slash.txt').getByRole('button', { name: 'Upload as back-slash.txt' }).click()
    await title(page, '2 files uploaded').waitFor()
    expect(await stored(alice, 'back-slash.txt')).toBe(md5('x'))
    await press(page, 'Close')
  })

  it('ask once about a single taken name', async () => {
    await alice.upload('taken.txt', 'before')
    const page = await alice.open('/files')
    await choose(page, 'Upload files', [local('taken.txt', 'after')])
    await dock(page).getByRole('button', { name: 'Keep both', exact: true }).waitFor()
    expect(await dock(page).getByRole('button', { name: 'Keep both' }).count()).toBe(1)
    await expectAccessible(page)
    await pictures(page, 'uploads-taken-one')
    await press(page, 'Keep both')
    await title(page, '1 file uploaded').waitFor()
    expect(await stored(alice, 'taken (2).txt')).toBe(md5('after'))
    await press(page, 'Close')
  })

  it('ask once about several taken names', async () => {
    for (const name of ['taken 1.txt', 'taken 2.txt', 'taken 3.txt'])
      await alice.upload(name, 'before')
    const page = await alice.open('/files')
    await choose(
      page,
      'Upload files',
      [1, 2, 3, 4].map(n => local(`taken ${n}.txt`, 'after')),
    )
    await dock(page).getByRole('button', { name: 'Keep both of all' }).waitFor()
    await expectAccessible(page)
    await pictures(page, 'uploads-taken')
    await press(page, 'Decide about taken 3.txt')
    await page.getByRole('menuitem', { name: 'Skip' }).click()
    await press(page, 'Keep both of all')
    await title(page, '3 files uploaded').waitFor()
    expect(
      await Promise.all(
        ['taken 1.txt', 'taken 1 (2).txt', 'taken 2 (2).txt', 'taken 3 (2).txt', 'taken 4.txt'].map(
          path => stored(alice, path),
        ),
      ),
    ).toEqual([...[md5('before'), md5('after'), md5('after'), null, md5('after')]])
    await page.locator('main').getByText('taken 2 (2).txt').waitFor()
    await press(page, 'Close')
  })

  it('replace existing files, which stay as versions', async () => {
    const large = 9 * 1024 * 1024
    await alice.upload('plan.txt', 'before')
    await alice.upload('film.bin', Buffer.alloc(large, 1))
    await alice.upload('folder/inside.txt', 'inside')
    const page = await alice.open('/files')
    const film = Buffer.alloc(large, 2)
    await choose(page, 'Upload files', [
      local('plan.txt', 'after'),
      local('film.bin', film),
      local('folder', 'no file'),
    ])
    await dock(page).getByRole('button', { name: 'Replace all' }).waitFor()
    await page.getByText('3 files have a name that is taken').first().waitFor()
    await page.getByText('Replaced files are kept as versions').waitFor()
    await expectAccessible(page)
    await pictures(page, 'uploads-replace')
    await press(page, 'Decide about plan.txt')
    await expectAccessible(page)
    await page.getByRole('menuitem', { name: 'Replace' }).click()
    await until(async () => (await stored(alice, 'plan.txt')) === md5('after'))
    await press(page, 'Replace all')
    // A file never replaces a folder.
    await dock(page).getByText('1 file has a name that is taken').waitFor()
    await until(async () => (await stored(alice, 'film.bin')) === md5(film))
    await press(page, 'Keep both')
    await title(page, '3 files uploaded').waitFor()
    expect(await stored(alice, 'folder (2)')).toBe(md5('no file'))
    expect(await stored(alice, 'folder/inside.txt')).toBe(md5('inside'))
    await press(page, 'Close')
    await rowOf('plan.txt', page).click()
    await page.getByRole('button', { name: 'Details' }).click()
    await page.getByRole('list', { name: 'Versions' }).getByRole('listitem').nth(1).waitFor()
  })

  it('report files that do not fit, before sending the first byte', async () => {
    const page = await alice.open('/files')
    const forms = countForms(page)
    const sparse = (name: string, gibibytes: number) => {
      const path = local(name, '')
      truncateSync(path, Math.floor(gibibytes * 2 ** 30))
      return path
    }
    await choose(page, 'Upload files', [
      sparse('huge.bin', 3),
      ...[1, 2, 3].map(n => sparse(`big ${n}.bin`, 1.9)),
    ])
    const dialog = page.getByRole('dialog', { name: 'Not everything fits' })
    await dialog.getByText('These files need 5.7 GiB').waitFor()
    await dialog.getByText('huge.bin').waitFor()
    await expectAccessible(page)
    await pictures(page, 'uploads-tight')
    await dialog.getByRole('button', { name: 'Upload the 2 files that fit' }).waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect([forms.sent, await dock(page).count()]).toEqual([0, 0])
  })

  it('do not return after a cancellation that the service has yet to process', async () => {
    const page = await alice.open('/files')
    await throttle(page, 2_000_000)
    await choose(page, 'Upload files', [
      local('large.bin', randomBytes(LARGE)),
      local('other.bin', randomBytes(LARGE)),
    ])
    await sentMoreThan(page, 0.05)
    await page.route('**/graphql', route =>
      route.request().postData()?.includes('mutation AbortUpload')
        ? new Promise(() => {})
        : route.fallback(),
    )
    await press(page, 'Cancel other.bin')
    await row(page, 'other.bin').waitFor({ state: 'detached' })
    await press(page, 'Cancel all')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel all' }).click()
    await dock(page).waitFor({ state: 'detached' })
    await page.reload()
    await settled(page)
    await page.locator('.uploads-status').waitFor({ state: 'attached' })
    // By then, the browser has read the stored uploads.
    await choose(page, 'Upload files', [local('next.txt', 'next')])
    await title(page, '1 file uploaded').waitFor()
  })

  it('release their space after an offline cancellation when the network is back', async () => {
    const page = await alice.open('/files')
    await throttle(page, 2_000_000)
    await choose(page, 'Upload files', local('large.bin', randomBytes(LARGE)))
    await sentMoreThan(page, 0.05)
    await throttle(page, 0)
    const isAbort = (request: Request) =>
      request.postData()?.includes('mutation AbortUpload') ?? false
    let missed = 0
    page.on('requestfailed', request => {
      if (isAbort(request)) missed++
    })
    await press(page, 'Cancel large.bin')
    await dock(page).waitFor({ state: 'detached' })
    // The request is retried for as long as necessary.
    await until(() => missed > 3)
    const heard = page.waitForResponse(answer => isAbort(answer.request()))
    await throttle(page, null)
    expect((await (await heard).json()).data.abortUpload.abortedId).toBeTruthy()
  })

  it('release their space at the next visit if the page was closed while offline', async () => {
    const page = await alice.open('/files')
    await throttle(page, 2_000_000)
    await choose(page, 'Upload files', local('large.bin', randomBytes(LARGE)))
    await sentMoreThan(page, 0.05)
    await throttle(page, 0)
    await press(page, 'Cancel large.bin')
    await dock(page).waitFor({ state: 'detached' })
    await page.close()
    const next = await alice.context.newPage()
    const heard = next.waitForResponse(
      answer => answer.request().postData()?.includes('mutation AbortUpload') ?? false,
    )
    await next.goto(`${w.service.url}/files`)
    expect((await (await heard).json()).data.abortUpload.abortedId).toBeTruthy()
    expect(await dock(next).count()).toBe(0)
    // Once aborted, the record is deleted.
    await until(async () => (await next.evaluate(KEPT_UPLOADS)) === 0)
  })

  it('of a closed tab are taken over by exactly one of two new tabs', async () => {
    const eve = await personWithFiles('eve')
    const page = await eve.open('/files')
    await throttle(page, 2_000_000)
    await choose(page, 'Upload files', local('large.bin', randomBytes(LARGE)))
    await sentMoreThan(page, 0.05)
    await page.close()
    // Each tab reads the records before the other can take one.
    await eve.context.addInitScript(`{
      const { locks } = navigator
      const query = locks.query.bind(locks)
      locks.query = () => new Promise(resolve => setTimeout(resolve, 1000)).then(query)
    }`)
    const tabs = await Promise.all([eve.context.newPage(), eve.context.newPage()])
    await Promise.all(tabs.map(tab => tab.goto(`${w.service.url}/files`)))
    await Promise.any(tabs.map(tab => dock(tab).waitFor()))
    await Promise.all(tabs.map(tab => tab.waitForTimeout(2500)))
    expect((await Promise.all(tabs.map(tab => dock(tab).count()))).sort()).toEqual([0, 1])
    await eve.context.close()
  })

  it('are cancelled one by one, however fast the clicks are', async () => {
    const finn = await personWithFiles('finn')
    const page = await finn.open('/files')
    await throttle(page, 1_000_000)
    // More than fit: the next row moves up into the place of the cancelled one.
    const names = Array.from({ length: 12 }, (_, at) => `${at}.bin`)
    await choose(
      page,
      'Upload files',
      names.map(name => local(name, randomBytes(3_000_000))),
    )
    const at = await dock(page)
      .getByRole('button', { name: 'Cancel 0.bin', exact: true })
      .boundingBox()
    const click = () => page.mouse.click((at?.x ?? 0) + 10, (at?.y ?? 0) + 10)
    const count = () => dock(page).getByRole('listitem').first().getAttribute('aria-setsize')
    // Both clicks happen at the same moment, however slow the machine is.
    const now = Date.now()
    await page.clock.setFixedTime(now)
    await click()
    await until(async () => (await count()) === '11')
    await click()
    await page.waitForTimeout(500)
    expect(await count()).toBe('11')
    // A click at another place is intended.
    await press(page, 'Cancel 3.bin')
    await until(async () => (await count()) === '10')
    await page.clock.setFixedTime(now + 10_000)
    await click()
    await until(async () => (await count()) === '9')
    await finn.context.close()
  })

  it('pause, resume and can be cancelled', async () => {
    const page = await alice.open('/files')
    const [bytes, forms] = [randomBytes(LARGE), countForms(page)]
    await throttle(page, 2_000_000)
    await choose(page, 'Upload files', [
      local('large.bin', bytes),
      local('other.bin', randomBytes(LARGE)),
    ])
    await sentMoreThan(page, 0.05)
    await pictures(page, 'uploads-running')
    await press(page, 'Cancel other.bin')
    await sentMoreThan(page, 0.3, 'large.bin')
    await press(page, 'Pause large.bin')
    await title(page, /Paused/).waitFor()
    await row(page, 'large.bin')
      .getByText(/^Paused/)
      .waitFor()
    await expectAccessible(page)
    await pictures(page, 'uploads-paused')
    await throttle(page, null)
    const before = forms.sent
    await press(page, 'Resume large.bin')
    await title(page, '1 file uploaded').waitFor()
    expect([await stored(alice, 'large.bin'), await stored(alice, 'other.bin')]).toEqual([
      md5(bytes),
      null,
    ])
    // Parts in transit are sent again, but no received part is.
    expect(forms.sent - before).toBeGreaterThan(0)
    expect(forms.sent - before).toBeLessThan(PARTS * 0.8)
    await press(page, 'Close')
  })

  it('resume after a reload with the same file, and send only the missing parts', async () => {
    const page = await alice.open('/files')
    const bytes = randomBytes(LARGE)
    const path = local('reloaded.bin', bytes)
    await throttle(page, 4_000_000)
    await choose(page, 'Upload files', path)
    await sentMoreThan(page, 0.4)
    const asked = page.waitForEvent('dialog')
    const [dialog] = await Promise.all([asked, page.reload(), asked.then(one => one.accept())])
    expect(dialog.type()).toBe('beforeunload')
    await settled(page)
    await throttle(page, null)
    await title(page, 'Your decision is needed').waitFor()
    await expectAccessible(page)
    await pictures(page, 'uploads-interrupted')
    const forms = countForms(page)
    const chooseAgain = async (path: string) => {
      const picker = page.waitForEvent('filechooser')
      await press(page, 'Choose the file')
      await (await picker).setFiles(path)
    }
    await chooseAgain(local('something else.bin', 'x'))
    await page.getByText('1 file does not belong to an interrupted upload').waitFor()
    await chooseAgain(path)
    await title(page, '1 file uploaded').waitFor()
    expect(await stored(alice, 'reloaded.bin')).toBe(md5(bytes))
    expect(forms.sent).toBeGreaterThan(0)
    expect(forms.sent).toBeLessThan(PARTS * 0.7)
    await press(page, 'Close')
  })

  it('resume after a reload by themselves if the browser keeps file handles', async () => {
    const page = await alice.open('/files')
    await page.evaluate(`(async () => {
      const root = await navigator.storage.getDirectory()
      const file = await root.getFileHandle('found again.bin', { create: true })
      const writable = await file.createWritable()
      await writable.write(new Uint8Array(${LARGE}).map((_, i) => i * 7919 + (i >> 8)))
      await writable.close()
    })()`)
    const picker =
      'window.showOpenFilePicker = async () => [await (await navigator.storage.getDirectory()).getFileHandle("found again.bin")]'
    await page.evaluate(picker)
    const forms = countForms(page)
    await throttle(page, 4_000_000)
    await page.locator('.screen-head').getByRole('button', { name: 'Upload' }).click()
    await page.getByRole('menuitem', { name: 'Upload files' }).click()
    await sentMoreThan(page, 0.4)
    const before = forms.sent
    // Nothing would be lost, so no question is asked.
    const questions: string[] = []
    page.on('dialog', async dialog => {
      questions.push(dialog.type())
      await dialog.accept()
    })
    await page.reload()
    await throttle(page, null)
    await title(page, '1 file uploaded').waitFor()
    const expected = Uint8Array.from({ length: LARGE }, (_, i) => i * 7919 + (i >> 8))
    expect(await stored(alice, 'found again.bin')).toBe(md5(Buffer.from(expected)))
    expect(questions).toEqual([])
    expect(forms.sent - before).toBeGreaterThan(0)
    expect(forms.sent - before).toBeLessThan(PARTS * 0.7)
    await press(page, 'Close')
  })

  it('resume when the network returns, and after the service was killed', async () => {
    const page = await alice.open('/files')
    const [bytes, forms] = [randomBytes(LARGE), countForms(page)]
    await throttle(page, 4_000_000)
    await choose(page, 'Upload files', local('survivor.bin', bytes))
    await sentMoreThan(page, 0.2)
    await throttle(page, 0)
    await dock(page)
      .getByText('Waiting for the connection. The uploads will continue automatically.')
      .waitFor()
    await row(page, 'survivor.bin').getByText('Trying again').waitFor()
    await pictures(page, 'uploads-offline')
    await throttle(page, 4_000_000)
    await sentMoreThan(page, 0.4)
    await w.service.restart()
    await title(page, '1 file uploaded').waitFor()
    expect(await stored(alice, 'survivor.bin')).toBe(md5(bytes))
    // It resumes from the same state each time.
    expect(forms.accepted).toBeLessThan(PARTS * 1.1)
    await press(page, 'Close')
  })

  it('survive the end of the session', async () => {
    const bob = await personWithFiles('bob')
    const page = await bob.open('/files')
    const bytes = randomBytes(LARGE)
    const path = local('bobs.bin', bytes)
    await throttle(page, 4_000_000)
    await choose(page, 'Upload files', path)
    await sentMoreThan(page, 0.2)
    page.once('dialog', dialog => dialog.accept())
    await bob.context.clearCookies()
    await page.waitForURL(/\/login\?return_to=/)
    await throttle(page, null)
    // Uploads belong to a person, so the next person at this browser sees none of them.
    await signIn(bob, w.service.url, 'carol@example.com', '/files')
    await choose(page, 'Upload files', local('carols.txt', 'mine'))
    await title(page, '1 file uploaded').waitFor()
    expect(await dock(page).getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringContaining('carols.txt'),
    ])
    await bob.context.clearCookies()
    await signIn(bob, w.service.url, bob.email, '/files')
    const picker = page.waitForEvent('filechooser')
    await press(page, 'Choose the file')
    await (await picker).setFiles(path)
    await title(page, '1 file uploaded').waitFor()
    expect(await stored(bob, 'bobs.bin')).toBe(md5(bytes))
    await bob.context.close()
  })

  it('fit a phone, and can be cancelled together', async () => {
    const dora = await personWithFiles('dora', telephone)
    const page = await dora.open('/files')
    await throttle(page, 1_000_000)
    await choose(
      page,
      'Upload files',
      [1, 2, 3].map(n => local(`photo ${n}.jpg`, randomBytes(4 * 1024 * 1024))),
    )
    await sentMoreThan(page, 0.05)
    await expectAccessible(page)
    await pictures(page, 'uploads-telephone')
    await press(page, 'Show less')
    await pictures(page, 'uploads-telephone-closed')
    await press(page, 'Cancel all')
    await page
      .getByRole('dialog', { name: 'Cancel all uploads?' })
      .getByRole('button', { name: 'Cancel all' })
      .click()
    await dock(page).waitFor({ state: 'detached' })
    expect(await stored(dora, 'photo 1.jpg')).toBeNull()
    await dora.context.close()
  })
})
