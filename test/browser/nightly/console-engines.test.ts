import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { until } from '../../support/until.ts'
import { isLookedAt, ofColours } from '../browser.ts'
import { keepsFolder } from '../console.ts'
import { type Service, startService, wordOf } from '../service.ts'
import { openChromium, openFirefox, type Tab, type TestBrowser } from '../tab.ts'
import { openWebKit } from '../webkit.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const HOSTILE = `<img src=x onerror="document.title='pwned'">.txt`
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAF0lEQVR4nGNgYPhPIhrVQAwa1UAMGlkaAMEr/wHaVbE6AAAAAElFTkSuQmCC'

const browsers: [string, () => Promise<TestBrowser>][] = []
if (process.env.TEST_FIREFOX) browsers.push(['Firefox', openFirefox])
if (process.env.TEST_WEBKIT) browsers.push(['WebKit', openWebKit])
// All other console tests run in Chromium and cover these flows, too.
if (browsers.length === 0) browsers.push(['Chromium', openChromium])

describe.each(browsers)('In %s', (engine, openBrowser) => {
  let service: Service
  let browser: TestBrowser
  let tab: Tab
  let folder: string

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'satchel-engines-'))
    ;[service, browser] = await Promise.all([startService({}, { proxied: true }), openBrowser()])
    tab = await browser.tab()
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await service?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const sees = (role: string, name: string) => until(() => tab.isThere(role, name), 20_000, 50)
  const misses = (role: string, name: string) =>
    until(async () => !(await tab.isThere(role, name)), 20_000, 50)
  const select = (name: string) => tab.click('row', name)
  const text = () => tab.evaluate<string>('document.body.innerText')
  const reads = (some: string) => until(async () => (await text()).includes(some), 20_000, 50)
  const path = async () => new URL(await tab.url()).pathname

  /** The data of the service, whatever the screen shows. */
  const ask = <Data>(query: string) =>
    tab.evaluate<{ data: Data }>(`fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: ${JSON.stringify(JSON.stringify({ query }))},
    }).then(answer => answer.json())`)
  /** Waits until the service has these entries in a folder, because the screen updates first. */
  async function holds(folder: string, names: string[]): Promise<void> {
    const at = folder
      ? `entry(path: ${JSON.stringify(folder)}) { ... on Folder`
      : 'root { ... on Folder'
    let stored: string[] = []
    const isSo = async () => {
      const { data } = await ask<{
        me: { drive: { at: { entries: { nodes: { name: string }[] } } } }
      }>(`{ me { drive { at: ${at} { entries { nodes { name } } } } } } }`)
      stored = data.me.drive.at.entries.nodes.map(({ name }) => name).sort()
      return stored.join('/') === names.join('/')
    }
    await until(isSo, 20_000, 100).catch(() => expect(stored).toEqual(names))
  }

  /** Saves a screenshot, and runs axe in both themes. */
  async function look(name: string): Promise<void> {
    if (isLookedAt)
      writeFileSync(
        join(process.env.TEST_SCREENSHOTS ?? '', `${engine}-${name}.png`),
        await tab.screenshot(),
      )
    await tab.evaluate(`(${`() => { ${axe} }`})()`)
    for (const theme of ['light', 'dark']) {
      const found = await tab.evaluate<string[][]>(`(async () => {
        document.documentElement.style.colorScheme = '${theme}'
        await new Promise(requestAnimationFrame)
        await Promise.allSettled(document.getAnimations().map(one => one.finished))
        const { violations } = await axe.run(${theme === 'light' ? '{}' : JSON.stringify({ runOnly: ofColours })})
        return violations.map(({ id, nodes }) => [id, ...nodes.map(one => one.html)])
      })()`)
      expect([theme, found]).toEqual([theme, []])
    }
    await tab.evaluate(`document.documentElement.style.removeProperty('color-scheme')`)
  }

  /** Drops a file on the page. */
  const drop = (name: string, content: string, type: string) =>
    tab.evaluate(`(() => {
      const bytes = Uint8Array.from(atob('${content}'), one => one.charCodeAt(0))
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File([bytes], ${JSON.stringify(name)}, { type: '${type}' }))
      for (const type of ['dragover', 'drop'])
        document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }))
    })()`)

  it('signs in', async () => {
    await tab.open(`${service.url}/auth/oauth?return_to=/files`)
    await tab.type('textbox', 'Sign-in word', wordOf(service.url))
    await tab.type('textbox', 'E-mail address', 'alice@example.com')
    await tab.click('button', 'Sign in')
    await sees('heading', 'This folder is empty')
    expect(await path()).toBe('/files')
  })

  it('creates a folder, and uploads by file picker and by drag and drop', async () => {
    await tab.click('button', 'New')
    await tab.click('menuitem', 'New folder')
    await tab.type('textbox', 'Name', 'Letters')
    await tab.click('button', 'Create')
    await sees('row', 'Letters')
    const notes = join(folder, 'notes.txt')
    writeFileSync(notes, 'one two')
    await tab.click('button', 'Upload')
    await tab.choose('menuitem', 'Upload files', notes)
    await sees('row', 'notes.txt')
    await drop('Sunrise.png', PNG, 'image/png')
    await sees('row', 'Sunrise.png')
    await drop(HOSTILE, 'eA==', 'text/plain')
    await sees('row', HOSTILE)
    await holds('', [HOSTILE, 'Letters', 'Sunrise.png', 'notes.txt'])
    expect(await tab.evaluate('document.title')).toBe('My files · Satchel')
    await tab.click('button', 'Close')
    await look('files')
  })

  it('renames, moves, and opens the target folder', async () => {
    await select('notes.txt')
    await tab.click('button', 'Rename')
    await tab.type('textbox', 'New name', 'To the council.txt')
    await tab.press('Enter')
    await sees('row', 'To the council.txt')
    await holds('', [HOSTILE, 'Letters', 'Sunrise.png', 'To the council.txt'])
    await tab.click('button', 'Move to…')
    await tab.click('button', 'Letters')
    await tab.click('button', 'Move here')
    await misses('row', 'To the council.txt')
    await holds('Letters', ['To the council.txt'])
    await select('Letters')
    await tab.press('Enter')
    await sees('row', 'To the council.txt')
    expect(await path()).toBe('/files/Letters')
  })

  it('views a text and a picture', async () => {
    await select('To the council.txt')
    await tab.press('Enter')
    await sees('dialog', 'To the council.txt')
    await reads('one two')
    await look('text')
    await tab.press('Escape')
    await misses('dialog', 'To the council.txt')
    await tab.open(`${service.url}/files`)
    await select('Sunrise.png')
    await tab.press('Enter')
    await sees('img', 'Sunrise.png')
    await until(() => tab.evaluate(`document.querySelector('[role=dialog] img').naturalWidth > 0`))
    await tab.press('Escape')
    await misses('dialog', 'Sunrise.png')
  })

  it('searches with the field at the top', async () => {
    await tab.type('searchbox', 'Search', 'council')
    await sees('row', 'To the council.txt')
    await misses('row', 'Sunrise.png')
    await tab.open(`${service.url}/files`)
    await sees('row', 'Sunrise.png')
  })

  it('deletes, undoes, and restores from the trash', async () => {
    await select('Sunrise.png')
    await tab.press('Delete')
    await misses('row', 'Sunrise.png')
    await holds('', [HOSTILE, 'Letters'])
    await tab.click('button', 'Undo')
    await sees('row', 'Sunrise.png')
    await holds('', [HOSTILE, 'Letters', 'Sunrise.png'])
    await select('Sunrise.png')
    await tab.click('button', 'Delete')
    await misses('row', 'Sunrise.png')
    await tab.click('link', 'Trash')
    await select('Sunrise.png')
    await look('trash')
    await tab.click('button', 'Restore')
    await sees('heading', 'The trash is empty')
    await holds('', [HOSTILE, 'Letters', 'Sunrise.png'])
  })

  it('creates a link that others open without an account', async () => {
    await tab.click('link', 'My files')
    await select(HOSTILE)
    await tab.click('button', 'Share')
    await tab.click('button', 'Create link')
    await sees('button', 'Actions for Everyone')
    await reads('Link created and copied')
    await look('share')
    const { data } = await ask<{ me: { shares: { nodes: { url: string }[] } } }>(
      '{ me { shares { nodes { url } } } }',
    )
    await tab.press('Escape')
    await tab.open(data.me.shares.nodes[0]?.url ?? '')
    await sees('heading', HOSTILE)
    expect(await tab.evaluate('document.title')).toContain(HOSTILE)
    await sees('link', 'Download')
  })

  it('works offline, and reconnects', async () => {
    const letters = `${service.url}/files/Letters`
    await tab.open(letters)
    await sees('row', 'To the council.txt')
    await until(() => tab.evaluate('navigator.serviceWorker.controller !== null'))
    await tab.open(letters)
    await until(() => tab.evaluate(keepsFolder('Letters')))
    await service.disconnect()
    await tab.open(letters)
    await reads('Offline')
    await sees('row', 'To the council.txt')
    await look('offline')
    await service.connect()
    // The console also retries by itself. If it was faster, the button is gone.
    const isBack = async () => !(await text()).includes('Offline')
    await Promise.race([
      tab.click('button', 'Try again').catch(() => {}),
      until(isBack, 20_000, 50),
    ])
    await until(isBack)
  }, 90_000)

  it('signs out, and then redirects to sign-in', async () => {
    await tab.click('button', 'Account menu')
    await tab.click('menuitem', 'Sign out')
    await sees('heading', 'Your files, safely shared')
    await tab.open(`${service.url}/files`)
    expect(await path()).toBe('/login')
  })
})
