import { type ChildProcess, execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Browser, chromium, type Page } from 'playwright-core'
import { launch } from '../support/built-service.ts'
import { freePort } from '../support/free-port.ts'
import { startNginx } from '../support/nginx.ts'
import { PASSWORD } from '../support/own-accounts.ts'
import { makeCa, type PrivateCa } from '../support/private-ca.ts'
import { until } from '../support/until.ts'
import { visit } from './browser.ts'
import { newFolder } from './drive-world.ts'

const HOST = 'files.example.com'
const BOB = 'bob@example.com'
const hasNginx =
  spawnSync('nginx', ['-v']).status === 0 && spawnSync('certutil', ['-H']).error === undefined

let ca: PrivateCa
let dir: string
let service: ChildProcess
let nginx: ChildProcess
let browser: Browser
let url: string
let said = ''

/** Chromium, which trusts the authority, and finds the host on this machine. */
async function openTrusting(): Promise<Browser> {
  const store = join(dir, 'home/.pki/nssdb')
  mkdirSync(store, { recursive: true })
  const certutil = (...args: string[]) => execFileSync('certutil', ['-d', `sql:${store}`, ...args])
  certutil('-N', '--empty-password')
  certutil('-A', '-t', 'C,,', '-n', 'walk', '-i', ca.file)
  return chromium.launch({
    executablePath: process.env.TEST_CHROMIUM ?? '',
    env: { ...process.env, HOME: join(dir, 'home') },
    args: [
      ...['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
      ...['--disable-component-update', '--disable-sync'],
      `--host-resolver-rules=MAP ${HOST} 127.0.0.1`,
    ],
  })
}

async function create(page: Page, link: string, email: string): Promise<void> {
  await page.goto(link)
  const field = page.getByLabel('E-mail address')
  if (await field.isEditable()) await field.fill(email)
  await page.getByLabel('New password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('button', { name: 'Account menu' }).waitFor()
}

;(hasNginx ? describe : describe.skip)('A new server behind nginx, with TLS', () => {
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'satchel-first-server-'))
    ca = makeCa()
    const { cert, key } = ca.issue(HOST, [`DNS:${HOST}`])
    const [port, inner] = [await freePort(), await freePort()]
    url = `https://${HOST}:${port}`
    const data = join(dir, 'data')
    const site = join(dir, 'nginx')
    for (const folder of [data, site]) mkdirSync(folder)
    service = launch('main.ts', [], {
      NODE_ENV: 'production',
      DATA_DIR: data,
      PORT: String(inner),
      PUBLIC_URL: url,
      TRUST_PROXY: 'loopback',
      SECRET_KEY: 'a secret key of the tests, long enough',
    })
    for (const stream of [service.stdout, service.stderr])
      stream?.on('data', chunk => {
        said += chunk
      })
    nginx = await startNginx({
      dir: site,
      host: HOST,
      port,
      inner: `127.0.0.1:${inner}`,
      cert,
      key,
    })
    browser = await openTrusting()
    await until(() => said.includes('/sign-in/first/'), 120_000)
  }, 180_000)
  afterAll(async () => {
    await browser?.close()
    for (const child of [nginx, service]) {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
    ca.remove()
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
  })

  it('lets its operator invite a second person, and both share a folder', async () => {
    const olivia = await visit(browser, url)
    const first = /https:\S+\/sign-in\/first\/\S+/.exec(said)?.[0] ?? ''
    await create(olivia.page, first, 'olivia@example.com')

    await olivia.page.getByRole('link', { name: 'Administration' }).click()
    await olivia.page.getByRole('link', { name: 'Invite people' }).click()
    await olivia.page.getByLabel('E-mail address').fill(BOB)
    await olivia.page.getByRole('button', { name: 'Invite' }).click()
    const link = await olivia.page.getByRole('textbox', { name: 'Link' }).inputValue()

    const bob = await visit(browser, url)
    await create(bob.page, link, BOB)

    const { page } = olivia
    await page.goto(`${url}/files`)
    await newFolder(page)
    await page.getByRole('dialog').getByRole('textbox').fill('Holidays')
    await page.keyboard.press('Enter')
    await page.getByRole('row').filter({ hasText: 'Holidays' }).click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Share' }).click()
    const people = page.getByRole('dialog')
    await people.getByLabel('E-mail address').fill(BOB)
    await people.getByRole('button', { name: 'Share', exact: true }).click()
    await people.getByText(BOB).waitFor()

    await bob.page.goto(`${url}/shared`)
    await bob.page.getByRole('link', { name: 'Holidays' }).click()
    await bob.page.getByRole('heading', { name: 'Holidays' }).waitFor()
    expect([...olivia.foreign, ...bob.foreign]).toEqual([])
  }, 120_000)
})
