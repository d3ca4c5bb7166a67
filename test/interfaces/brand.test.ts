import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ownBrand } from '../../src/config/brand.ts'
import { coloursOf } from '../../src/config/brand-colours.ts'
import { writeMail } from '../../src/jobs/mail-text.ts'
import { startApp, type TestApp } from '../support/harness.ts'

const NAME = `Müller & "Söhne" {version}`
const LOGO = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'

describe('A branded service', () => {
  let dir: string
  let t: TestApp
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'satchel-brand-'))
    writeFileSync(join(dir, 'logo.svg'), LOGO)
    t = await startApp({
      BRAND_NAME: NAME,
      BRAND_COLOUR: '#e91e63',
      BRAND_LOGO: join(dir, 'logo.svg'),
      HELP_URL: 'mailto:help@example.com',
      IMPRINT_URL: 'https://example.com/imprint?a=1&b=2',
      PRIVACY_URL: 'https://example.com/privacy',
      SIGN_IN: 'accounts',
      CONSOLE: 'true',
    })
  })
  afterAll(async () => {
    await t.stop()
    rmSync(dir, { recursive: true, force: true })
  })
  const get = async (path: string, cookie = '') => {
    const headers = { accept: 'text/html', cookie }
    const response = await fetch(`${t.url}${path}`, { headers, redirect: 'manual' })
    return { response, text: await response.text() }
  }
  const shown = 'Müller &amp; &quot;Söhne&quot; {version}'

  it.each(['/', '/nowhere'])('shows its name, logo, colours and links on %s', async path => {
    const { text } = await get(path)
    expect(text).toContain(`· ${shown}</title>`)
    expect(text).toMatch(/<a class="brand" href="\/"><img src="\/brand\/logo\?v=\w{16}" alt="">/)
    expect(text).toMatch(/<link rel="stylesheet" href="\/brand\/style\.css\?v=\w{16}">/)
    expect(text).toContain('<a href="mailto:help@example.com">Help</a>')
    expect(text).toContain('<a href="https://example.com/imprint?a=1&amp;b=2">Imprint</a>')
    expect(text).toContain('<a href="https://example.com/privacy">Privacy</a>')
    expect(text).not.toContain('Satchel')
  })

  it('shows them on the pages of its accounts', async () => {
    const { response, text } = await get('/account/confirm')
    expect([200, 303, 403]).toContain(response.status)
    const page = response.status === 303 ? await get('/sign-in/first/none') : { text }
    expect(page.text).toContain(`· ${shown}</title>`)
    expect(page.text).toContain('Imprint')
    expect(page.text).not.toContain('Satchel')
  })

  it('gives them to the console', async () => {
    const { cookie } = await t.signIn('brand')
    const { text } = await get('/', cookie)
    // The console has placeholders of its own, which a name must not use.
    const inConsole = shown.replace('{', '&#123;')
    expect(text).toContain(`<meta name="brand" content="${inConsole}">`)
    expect(text).toContain(`<span>${inConsole}</span>`)
    expect(text).toMatch(/<img class="logo" src="\/brand\/logo\?v=\w{16}" alt="">/)
    expect(text).not.toMatch(/\{brand/)
    const manifest = await (await fetch(`${t.url}/manifest.webmanifest`)).json()
    expect(manifest).toMatchObject({ name: NAME, short_name: NAME })
    const worker = await get('/service-worker.js')
    expect(worker.text).toContain('/brand/logo?v=')
  })

  it('serves the logo so that it cannot run scripts, also as the icon', async () => {
    for (const path of ['/brand/logo', '/brand/logo?v=old', '/favicon.svg', '/favicon.ico']) {
      const { response, text } = await get(path)
      const headers = ['content-type', 'content-security-policy', 'x-content-type-options']
      expect([path, text, ...headers.map(name => response.headers.get(name))]).toEqual([
        path,
        LOGO,
        'image/svg+xml',
        "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        'nosniff',
      ])
    }
    const tag = (await get('/brand/logo')).response.headers.get('etag') ?? ''
    const again = await fetch(`${t.url}/brand/logo`, {
      headers: { 'if-none-match': tag, 'cache-control': 'max-age=0' },
    })
    expect(again.status).toBe(304)
  })

  it('serves a style sheet with its colours', async () => {
    const { response, text } = await get('/brand/style.css')
    expect(response.headers.get('content-type')).toBe('text/css; charset=utf-8')
    expect(text).toMatch(/--accent: light-dark\(#[\da-f]{6}, #[\da-f]{6}\);/)
  })

  it('names itself in apps', async () => {
    const status = await (await fetch(`${t.url}/status.php`)).json()
    expect(status).toMatchObject({ productname: NAME })
    const capabilities = `${t.url}/ocs/v2.php/cloud/capabilities?format=json`
    const { ocs } = await (
      await fetch(capabilities, { headers: { 'ocs-apirequest': 'true' } })
    ).json()
    expect(ocs.data.capabilities.theming).toMatchObject({
      name: NAME,
      logo: expect.stringContaining('/brand/logo?v='),
      color: expect.stringMatching(/^#[\da-f]{6}$/),
    })
  })

  it('names itself in mails, in its colours', () => {
    const brand = { ...ownBrand, name: NAME, colours: coloursOf('#7a1f5f') }
    const values = { about: 'reset', link: 'https://files.example/x' } as const
    const mail = writeMail({ template: 'account-link', to: 'a@b.example', values }, 'de', brand)
    expect(mail.subject).toBe(`Setze dein Passwort bei ${NAME} zurück`)
    expect(mail.html).toContain('color:#7a1f5f">Müller &amp; &quot;Söhne&quot; {version}</td>')
    expect(mail.html).not.toMatch(/Satchel|#1f5fbf/)
  })
})

describe('A service without a brand', () => {
  let t: TestApp
  beforeAll(async () => {
    t = await startApp()
  })
  afterAll(() => t.stop())

  it('is called Satchel, and has no files of a brand', async () => {
    const text = await (await fetch(t.url)).text()
    expect(text).toContain('· Satchel</title>')
    expect(text).not.toContain('/brand/')
    expect(text).not.toContain('Imprint')
    expect((await fetch(`${t.url}/brand/logo`)).status).toBe(404)
  })
})
