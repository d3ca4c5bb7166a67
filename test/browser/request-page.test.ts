import { createHash, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Route } from 'playwright-core'
import { visit } from './browser.ts'
import { expectAccessible, pictures } from './console.ts'
import { startWorld, until, type World } from './share-world.ts'

const PASSWORD = 'päss wörd 🦊'
const MiB = 1024 * 1024

let w: World

beforeAll(async () => {
  w = await startWorld({ process: true })
}, 120_000)
afterAll(() => w?.stop())

/** A person who opens a link in a new browser profile. */
const stranger = (options = {}) => visit(w.browser, w.service.url, options)

const file = (name: string, bytes: Buffer | string = 'x') => ({
  name,
  mimeType: 'application/octet-stream',
  buffer: Buffer.from(bytes),
})

/** A file on disk with the same contents each time. */
async function onDisk(name: string, bytes: Buffer): Promise<string> {
  const path = join(w.service.dataDir, name)
  await writeFile(path, bytes)
  return path
}

/** The files in Alice's root: name and size. */
async function filesOfAlice(): Promise<Record<string, number>> {
  const answer = await w.alice.context.request.get(`${w.service.url}/api/files/tree`)
  const { files } = (await answer.json()).response
  return Object.fromEntries(
    files.map(({ name, size }: { name: string; size: number }) => [name, size]),
  )
}

describe('Somebody who is asked for files', () => {
  it('drops several files, sees their progress, and after a reload only their own uploads', async () => {
    const link = await w.request('Pictures')
    const { page, errors } = await stranger()
    await page.goto(link)
    await page.getByRole('heading', { name: 'Pictures' }).waitFor()
    const big = Buffer.alloc(9 * MiB, 'z')
    await page
      .locator('input[type=file]')
      .setInputFiles([file('big.bin', big), file('small.txt'), file('empty.txt', '')])
    for (const name of ['big.bin', 'small.txt', 'empty.txt'])
      await page.locator('li.done', { hasText: name }).getByText('Sent').waitFor()
    expect(await filesOfAlice()).toMatchObject({
      'big.bin': 9 * MiB,
      'small.txt': 1,
      'empty.txt': 0,
    })
    await page.reload()
    const sent = page.getByRole('region', { name: 'What you have sent' }).getByRole('listitem')
    expect(await sent.count()).toBe(3)
    expect(errors).toEqual([])
    const { page: other } = await stranger()
    await other.goto(link)
    expect(await other.getByText('small.txt').count()).toBe(0)
  })

  it('loads a cached script, even if only another version exists', async () => {
    const { page, context } = await stranger()
    await page.goto(await w.request('Kept'))
    const script = (await page.locator('form.send').getAttribute('data-module')) ?? ''
    const headersOf = async (path: string) =>
      (await context.request.get(w.service.url + path)).headers()
    expect((await headersOf(script))['cache-control']).toBe('public, max-age=31536000, immutable')
    const other = await headersOf(script.replace(/-.{8}\.js$/, '-xxxxxxxx.js'))
    expect([other['cache-control'], other['content-type']]).toEqual([
      'no-cache',
      'text/javascript; charset=utf-8',
    ])
    expect((await context.request.get(`${w.service.url}/pages/manifest.json`)).status()).toBe(404)
  })

  it('can send one file with password and name without JavaScript', async () => {
    const link = await w.request('Contracts', {
      password: PASSWORD,
      asks_name: true,
      kinds: ['.pdf'],
    })
    const { page } = await stranger({ javaScriptEnabled: false })
    await page.goto(link)
    await page.getByLabel('Your name').fill('Carol')
    await page.getByLabel('Password', { exact: true }).fill('wrong')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('This is not the password.').waitFor()
    await page.getByLabel('Your name').fill('Carol')
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('You send as Carol.').waitFor()
    const choose = page.getByLabel('Choose a file to send')
    await choose.setInputFiles(file('contract.txt'))
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('Files of this kind are not accepted.').waitFor()
    await choose.setInputFiles(file('contract.pdf', 'signed'))
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByRole('listitem').getByText('contract.pdf').waitFor()
    expect(page.url()).toBe(link)
    expect(await filesOfAlice()).toMatchObject({ 'contract.pdf': 6 })
  })

  it('resumes after a broken connection, and can cancel', async () => {
    const link = await w.request('Films')
    const { page, context } = await stranger()
    await page.goto(link)
    let broken = 0
    await context.route('**/parts/2', route => (broken++ < 1 ? route.abort() : route.continue()))
    await page
      .locator('input[type=file]')
      .setInputFiles(await onDisk('film.bin', Buffer.alloc(9 * MiB)))
    await page.getByText('The connection is lost.').waitFor()
    await page.locator('li.done', { hasText: 'film.bin' }).waitFor()
    expect(broken).toBe(2)
    expect(await filesOfAlice()).toMatchObject({ 'film.bin': 9 * MiB })

    await context.route('**/parts/1', route => route.abort())
    await page
      .locator('input[type=file]')
      .setInputFiles(await onDisk('never.bin', Buffer.alloc(9 * MiB)))
    await page.getByText('The connection is lost.').waitFor()
    await page.getByRole('button', { name: 'Cancel never.bin' }).click()
    await page.locator('li', { hasText: 'never.bin' }).getByText('Cancelled').waitFor()
    const reserved = () =>
      w.db.row<{ n: number }>('SELECT MAX(reserved_files) AS n FROM file_request')
    for (let i = 0; i < 100 && (await reserved())?.n !== 0; i++) await until(page, 'true')
    expect((await reserved())?.n).toBe(0)
  })

  it('pauses and resumes, also after a reload when the file is chosen again', async () => {
    const link = await w.request('Long films')
    const { page, context } = await stranger()
    await page.goto(link)
    const sent: string[] = []
    let isHeld = true
    await context.route('**/parts/*', async route => {
      const number = route.request().url().split('/').at(-1) ?? ''
      if (number !== '1' && isHeld) return route.abort()
      sent.push(number)
      return route.continue()
    })
    const film = await onDisk('long.bin', Buffer.alloc(17 * MiB, 'y'))
    await page.locator('input[type=file]').setInputFiles(film)
    const row = page.locator('.sent li', { hasText: 'long.bin' })
    await row.getByText('The connection is lost.').waitFor()
    while (!sent.includes('1')) await page.waitForTimeout(20)
    await row.getByRole('button', { name: 'Pause long.bin' }).click()
    await row.getByText(/^Paused at .* of 17 MiB/).waitFor()
    expect(
      await row
        .getByRole('button', { name: 'Resume long.bin' })
        .evaluate('document.activeElement.textContent'),
    ).toBe('Resume long.bin')
    await page.setViewportSize({ width: 390, height: 844 })
    await pictures(page, 'request-paused-390')
    await expectAccessible(page)
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await page.keyboard.press('Enter')
    await row.getByText('The connection is lost.').waitFor()
    await page.reload()
    await row.getByText('Choose this file again to continue the upload.').waitFor()
    isHeld = false
    await page.locator('input[type=file]').setInputFiles(film)
    await page.locator('li.done', { hasText: 'long.bin' }).waitFor()
    expect(sent.sort()).toEqual(['1', '2', '3', '4', '5'])
    expect(await page.locator('.sent li').count()).toBe(1)
    expect(await filesOfAlice()).toMatchObject({ 'long.bin': 17 * MiB })
    await page.reload()
    expect(await page.getByText('Choose this file again').count()).toBe(0)
  })

  it('resumes after the service was killed, and the file arrives intact', async () => {
    const link = await w.request('While it falls')
    const { page, context } = await stranger()
    await page.goto(link)
    const devtools = await context.newCDPSession(page)
    const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 8 * MiB }
    await devtools.send('Network.emulateNetworkConditions', slow)
    const bytes = randomBytes(26 * MiB)
    const begun = page.waitForResponse(answer => answer.url().endsWith('/parts/1'))
    await page.locator('input[type=file]').setInputFiles(await onDisk('fallen.bin', bytes))
    await begun
    await w.service.kill()
    await page
      .locator('.sent li', { hasText: 'fallen.bin' })
      .getByText('The connection is lost.')
      .waitFor()
    await w.service.revive()
    await page.locator('li.done', { hasText: 'fallen.bin' }).waitFor()
    const { request } = w.alice.context
    const stored = await request.get(`${w.service.url}/api/files/info?path=fallen.bin`)
    expect((await stored.json()).response).toMatchObject({
      size: bytes.length,
      md5_checksum: createHash('md5').update(bytes).digest('hex'),
    })
  })

  it('sees a file as sent only after it has arrived', async () => {
    const link = await w.request('Lost answers')
    const { page, context } = await stranger()
    await page.goto(link)
    /**
     * Sends a file, but drops the response of its first completion.
     *
     * @param instead the replacement for the response
     */
    const sendThrough = async (name: string, instead: (completion: Route) => Promise<unknown>) => {
      const lose = async (route: Route) => {
        await instead(route)
        await route.abort()
      }
      await context.route('**/complete', lose, { times: 1 })
      await page.locator('input[type=file]').setInputFiles(file(name, 'four'))
    }
    await sendThrough('arrived.txt', completion => completion.fetch())
    await page.locator('li.done', { hasText: 'arrived.txt' }).getByText('Sent').waitFor()
    const uploadOf = (completion: Route) => completion.request().url().replace('/complete', '')
    await sendThrough('ended.txt', completion =>
      completion.fetch({ method: 'DELETE', url: uploadOf(completion) }),
    )
    // The upload is retried once.
    await page.locator('li.done', { hasText: 'ended.txt' }).getByText('Sent').waitFor()
    const arrived = await filesOfAlice()
    expect(Object.keys(arrived).filter(name => /arrived|ended/.test(name))).toEqual([
      'arrived.txt',
      'ended.txt',
    ])
    expect([arrived['arrived.txt'], arrived['ended.txt']]).toEqual([4, 4])
  })

  it('gets an explanation if a file is too large, the drive is full or the request was closed', async () => {
    const link = await w.request('Notes', { max_file_size: 10, max_files: 1 })
    const { page } = await stranger()
    await page.goto(link)
    const input = page.locator('input[type=file]')
    await input.setInputFiles(file('large.txt', 'x'.repeat(11)))
    await page
      .locator('li.failed', { hasText: 'large.txt' })
      .getByText('larger than 10 bytes')
      .waitFor()
    await input.setInputFiles(file('one.txt'))
    await page.locator('li.done', { hasText: 'one.txt' }).waitFor()
    await input.setInputFiles(file('two.txt'))
    await page
      .locator('li.failed', { hasText: 'two.txt' })
      .getByText('The limit of this file request')
      .waitFor()
    await w.db.run(
      'UPDATE file_request SET closed_at = 1 WHERE id = (SELECT MAX(id) FROM file_request)',
    )
    await input.setInputFiles(file('three.txt'))
    await page
      .locator('li.failed', { hasText: 'three.txt' })
      .getByText('no longer accepted here')
      .waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Closed' }).waitFor()
  })
})
