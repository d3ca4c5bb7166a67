import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { openShell } from '../support/command-line.ts'
import { fillInWord, signIn, type Visit, visit } from './browser.ts'
import { makeArchive } from './media.ts'
import { startWorld, tryPassword, until, type World } from './share-world.ts'

const PASSWORD = 'päss wörd 🦊'
/** The attack of every hostile file and name, on whatever page it ends up: acting as the person. */
const attack =
  `document.title = 'pwned'; fetch('/api/folders', ` +
  `{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"path":"pwned"}' })`

let w: World

beforeAll(async () => {
  w = await startWorld()
}, 120_000)
afterAll(() => w?.stop())

/** A person who opens a link in a new browser profile. */
const stranger = (options = {}) => visit(w.browser, w.service.url, options)

async function download({ page }: Visit): Promise<{ name: string; bytes: Buffer }> {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download' }).click(),
  ])
  return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) }
}

const isShown = (page: Page) =>
  until(page, `document.querySelector('.preview img')?.naturalWidth === 1200`)
/** Browsers also log responses with an error status. */
const mishaps = ({ errors }: Visit) =>
  errors.filter(error => !error.startsWith('Failed to load resource'))

describe('Somebody who follows a link', () => {
  it('mistypes the password, corrects it, sees the picture and downloads it byte for byte', async () => {
    const who = await stranger({ permissions: ['clipboard-read', 'clipboard-write'] })
    const { page } = who
    const link = await w.share('Über den Wolken.png', w.media.png, 'image/png', {
      password: PASSWORD,
    })
    await page.goto(link)
    await page.getByRole('heading', { name: 'Protected by a password' }).waitFor()
    expect(await page.content()).not.toContain('Wolken')

    let loads = 0
    page.on('load', () => {
      loads++
    })
    await tryPassword(page, 'päss wörd')
    const alert = page.getByRole('alert')
    await alert.waitFor()
    expect(await alert.textContent()).toBe('This is not the password. Check it and try again.')
    const field = page.getByLabel('Password', { exact: true })
    expect(await field.evaluate('document.activeElement.id')).toBe('password')
    await field.fill(PASSWORD)
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    expect(await field.getAttribute('type')).toBe('text')
    await page.getByRole('button', { name: 'Hide', exact: true }).click()
    await field.press('Enter')
    await isShown(page)
    expect(loads).toBe(0)

    await page.getByRole('button', { name: 'Copy the link' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(link)
    const told: (string | undefined)[] = []
    who.context.on('request', request => {
      if (!request.url().startsWith(w.service.url)) told.push(request.headers().referer)
    })
    const { name, bytes } = await download(who)
    // The store does not learn the URL of the share.
    expect(told).toEqual([undefined])
    expect(name).toBe('Über den Wolken.png')
    expect(bytes.equals(w.media.png)).toBe(true)

    await page.reload()
    await isShown(page)
    expect(page.url()).toBe(link)
    expect(mishaps(who)).toEqual([])
    const [cookie] = await who.context.cookies(link)
    expect(cookie).toMatchObject({
      name: 'share_pass',
      httpOnly: true,
      sameSite: 'Strict',
      path: new URL(link).pathname,
    })
    // Another profile has to enter the password again.
    const { page: other } = await stranger()
    await other.goto(link)
    expect(await other.getByLabel('Password', { exact: true }).count()).toBe(1)
  })

  it('downloads a file that was uploaded and shared by the command line', async () => {
    const scopes = ['private_files:read', 'private_files:write', 'private_files:share']
    const data = { name: 'laptop', scopes }
    const made = await w.alice.context.request.post(
      `${w.service.url}/api/api_keys/private/create`,
      { data },
    )
    const { key } = (await made.json()).response.api_key
    const shell = openShell({ SATCHEL_URL: w.service.url, SATCHEL_KEY: key })
    try {
      await writeFile(join(shell.home, 'ridge.png'), w.media.png)
      expect(await shell.satchel(['put', 'ridge.png'])).toMatchObject({ code: 0 })
      const shared = await shell.satchel(['quick-share', 'ridge.png', '--password'], {
        stdin: `${PASSWORD}\n`,
      })
      const who = await stranger()
      await who.page.goto(shared.out.trim())
      await tryPassword(who.page, 'mistyped')
      await who.page.getByText('This is not the password.').waitFor()
      await tryPassword(who.page, PASSWORD)
      await isShown(who.page)
      expect((await download(who)).bytes.equals(w.media.png)).toBe(true)
    } finally {
      shell.close()
    }
  })

  it('can do all of it without JavaScript', async () => {
    const who = await stranger({ javaScriptEnabled: false })
    const { page } = who
    const link = await w.share('a.png', w.media.png, 'image/png', { password: PASSWORD })
    await page.goto(link)
    await page.getByText('UTC').waitFor()
    expect(await page.getByRole('button', { name: 'Show', exact: true }).count()).toBe(0)
    await tryPassword(page, 'wrong')
    await page.getByText('This is not the password.').waitFor()
    await tryPassword(page, PASSWORD)
    await page.locator('.preview img').waitFor()
    expect(page.url()).toBe(link)
    expect((await download(who)).bytes.equals(w.media.png)).toBe(true)
  })

  it('sees times in the local time zone', async () => {
    const { page } = await stranger({ timezoneId: 'Asia/Tokyo' })
    await page.goto(await w.share('a.txt', 'x', 'text/plain'))
    const time = page.locator('time')
    const iso = (await time.getAttribute('datetime')) ?? ''
    const hour = new Date(Date.parse(iso) + 9 * 3_600_000).toISOString().slice(11, 16)
    expect(await time.textContent()).toMatch(new RegExp(` at ${hour}$`))
  })

  it('can use the page by keyboard alone', async () => {
    const { page } = await stranger()
    await page.goto(await w.share('a.zip', 'x', 'application/zip', { password: PASSWORD }))
    const focused = () =>
      page.evaluate(`(({ ariaLabel, textContent, id }) => ariaLabel ?? (textContent.trim() || id))(
        document.activeElement)`)
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Skip to the content')
    expect(await page.locator('.skip').boundingBox()).toMatchObject({ y: 12 })
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('password')
    await page.keyboard.insertText(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Download' }).waitFor()
    expect(await page.evaluate('document.activeElement.tagName')).toBe('MAIN')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Download a.zip')
  })

  it('sees documents, texts and videos in the page', async () => {
    const who = await stranger()
    const { page } = who
    await page.goto(await w.share('a.txt', 'line one\nline <b>two</b>', 'text/plain'))
    const text = page.frameLocator('iframe').locator('pre')
    expect(await text.textContent()).toBe('line one\nline <b>two</b>')
    // Right-to-left lines are right-aligned.
    expect(await text.evaluate('getComputedStyle(document.querySelector("pre")).unicodeBidi')).toBe(
      'plaintext',
    )
    // The page's style also applies in the sandbox.
    expect(
      await text.evaluate(
        'document.body.className && getComputedStyle(document.querySelector("pre")).tabSize',
      ),
    ).toBe('4')
    await page.goto(await w.share('a.webm', w.media.webm, 'video/webm'))
    await until(page, `document.querySelector('video').videoWidth === 320`)
    await page.evaluate(`document.querySelector('video').play()`)
    await until(page, `document.querySelector('video').currentTime > 0`)
    await page.goto(await w.share('a.pdf', w.media.pdf, 'application/pdf'))
    await page
      .frameLocator('.preview iframe')
      .locator('.textLayer', { hasText: 'We agreed' })
      .waitFor()
    await page.goto(await w.share('a.md', '# Tea\n\n<b>green</b>', 'text/markdown'))
    await page.locator('.preview').getByRole('heading', { name: 'Tea' }).waitFor()
    expect(await page.locator('.preview b').count()).toBe(0)
    await page.goto(await w.share('a.csv', 'name,amount\nTea,3', 'text/csv'))
    await page.getByRole('columnheader', { name: 'amount' }).waitFor()
    await page.goto(await w.share('a.py', 'print("tea")', 'application/octet-stream'))
    await page.locator('.preview .hljs-string').waitFor()
    await page.goto(
      await w.share('a.zip', await makeArchive({ 'tea/green.txt': 'leaf' }), 'application/zip'),
    )
    await page.getByText('tea/green.txt').waitFor()
    expect(mishaps(who)).toEqual([])
  })
})

describe('Somebody with whom a file is shared', () => {
  it('signs in first', async () => {
    const who = await stranger()
    const { page } = who
    const link = await w.send('Letter.txt', 'Dear Bob', 'text/plain', 'bob@example.com')
    await page.goto(link)
    await page.getByRole('link', { name: 'Sign in to receive it' }).click()
    await page.getByText('After that, you see the file').waitFor()
    await page.getByRole('link', { name: 'Continue on this computer' }).click()
    await fillInWord(page, w.service.url)
    await page.getByLabel('E-mail address', { exact: true }).fill('carol@example.com')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(link)
    // With the wrong account at first.
    await page.getByText('This was shared with another person').waitFor()
    await page.getByRole('button', { name: 'Sign in with another address' }).click()
    await page.getByRole('link', { name: 'Continue on this computer' }).click()
    await fillInWord(page, w.service.url)
    await page.getByLabel('E-mail address', { exact: true }).fill('bob@example.com')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(link)
    expect(await page.frameLocator('iframe').locator('pre').textContent()).toBe('Dear Bob')
    expect((await download(who)).bytes.toString()).toBe('Dear Bob')
    expect(mishaps(who)).toEqual([])
  })

  it('finds it on the start page, gets a notification, and signs out', async () => {
    const who = await stranger()
    const { page } = who
    await w.send('News.txt', 'new', 'text/plain', 'dora@example.com')
    await signIn(who, w.service.url, 'dora@example.com', '/')
    await page.getByText('1 new').waitFor()
    await page.getByRole('link', { name: 'News.txt' }).click()
    await page.getByRole('link', { name: 'Download' }).waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'News.txt' }).waitFor()
    expect(await page.locator('.badge').count()).toBe(0)
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('heading', { name: 'Your files, safely shared' }).waitFor()
    expect((await who.context.cookies()).map(cookie => cookie.name)).not.toContain('session_id')
    expect(mishaps(who)).toEqual([])
  })
})

describe('Somebody who is invited', () => {
  it('signs in and accepts', async () => {
    const link = await w.invite(w.carol, 'carol@example.com', 'editor', 'Glacier')
    const who = await stranger()
    const { page } = who
    await page.goto(link)
    await page.getByRole('heading', { name: 'Join Glacier' }).waitFor()
    await page.getByRole('link', { name: 'Sign in to answer' }).click()
    await page.getByRole('link', { name: 'Continue on this computer' }).click()
    await fillInWord(page, w.service.url)
    await page.getByLabel('E-mail address', { exact: true }).fill('carol@example.com')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(link)
    await page.getByRole('button', { name: 'Accept' }).click()
    await page.getByRole('heading', { name: 'Welcome to Glacier' }).waitFor()
    await page.getByRole('link', { name: 'Open the workspace' }).click()
    await page.getByRole('heading', { name: 'Glacier' }).waitFor()
    expect(mishaps(who)).toEqual([])
  })
})

describe('A hostile file cannot act on our origin', () => {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="${attack.replaceAll('"', '&quot;')}"><script>${attack}</script></svg>`
  const html = `<!doctype html><script>${attack}</script><img src=x onerror='${attack.replaceAll("'", '&#39;')}'>`
  const files: [name: string, type: string, bytes: string][] = [
    ['evil.svg', 'image/svg+xml', svg],
    ['evil.html', 'text/html', html],
    [
      'evil.xhtml',
      'application/xhtml+xml',
      `<html xmlns="http://www.w3.org/1999/xhtml"><script>${attack}</script></html>`,
    ],
    ['picture.png', 'image/png', html],
    ['picture.png', 'image/png', svg],
    ['song.mp3', 'audio/mpeg', html],
    ['paper.pdf', 'application/pdf', html],
    ['notes.txt', 'text/plain', html],
    ['data.json', 'application/json', html],
    [`"><script>${attack.replaceAll('/', '\u2215')}<script>.txt`, 'text/plain', 'x'],
    [`' onmouseover='alert(1)' x='<%= 1 %>.png`, 'image/png', 'x'],
  ]

  async function folders(): Promise<string[]> {
    const answer = await w.alice.context.request.get(`${w.service.url}/api/folders`)
    return (await answer.json()).response.folders
  }

  it.each(files)('%s of type %s', async (name, type, bytes) => {
    // Alice views it herself, so that an attack would get her session.
    const who = w.alice
    const { page } = who
    const dialogs: string[] = []
    page.on('dialog', dialog => {
      dialogs.push(dialog.message())
      void dialog.dismiss()
    })
    const link = await w.share(name, bytes, type)
    // A player may wait forever for more of a broken audio file.
    const settled = () => page.waitForLoadState('networkidle', { timeout: 3000 }).catch(() => {})
    for (const address of [link, `${link}/preview`]) {
      // An attachment does not open as a page.
      await page.goto(address).catch(() => {})
      await settled()
      expect(await page.title()).not.toBe('pwned')
    }
    await page.goto(link)
    await settled()
    for (const element of await page.locator('main a, main img, main audio, main iframe').all())
      await element.hover()
    await page.getByRole('link', { name: 'Download' }).click()
    await settled()
    expect(await folders()).not.toContain('pwned')
    expect(dialogs).toEqual([])
  })

  it('while the same script works on our own page', async () => {
    await w.alice.page.goto(`${w.service.url}/`)
    await w.alice.page.evaluate(attack)
    expect(await w.alice.page.title()).toBe('pwned')
    expect(await folders()).toContain('pwned')
  })
})
