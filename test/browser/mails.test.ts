import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Browser, Page } from 'playwright-core'
import { ownBrand } from '../../src/config/brand.ts'
import { writeMail } from '../../src/jobs/mail-text.ts'
import type { Mail } from '../../src/services/notices/mail.ts'
import { openBrowser, screenshot } from './browser.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const url = 'https://files.example'
const token = 'x'.repeat(43)
const sender = { by: 'Alice Miller', address: 'alice@example.com' }
const caused = { to: 'bob@example.com', stop: `${url}/unsubscribe/${token}` }
const share = {
  ...sender,
  expires: '2030-06-03T16:30:00.000Z',
  protected: false,
  all: `${url}/shared`,
  files: ['Minutes of May.pdf'],
  links: [`${url}/share/${token}`],
  sizes: [1_234_567],
}

const mails: Record<string, Mail> = {
  share: {
    ...caused,
    template: 'share',
    values: {
      ...share,
      message: 'Dear Bob,\n\nplease read page 3 before Sunday.\nSee you on the ridge!',
    },
  },
  'share-several': {
    ...caused,
    template: 'share',
    values: {
      ...share,
      protected: true,
      files: ['Ridge walk in May', 'Sunrise above the ridge.png', 'דוח שנתי 2026 (סופי).pdf'],
      links: [1, 2, 3].map(n => `${url}/share/${n}${token}`),
      sizes: [null, 3_400_000, 12],
    },
  },
  'share-long': {
    ...caused,
    template: 'share',
    values: {
      ...share,
      by: 'Wolfeschlegelstein'.repeat(4),
      address: `${'long-'.repeat(12)}name@${'deep.'.repeat(20)}example`,
      files: [`${'x'.repeat(200)}.pdf`],
      message: `${'W'.repeat(300)}\nשלום עולם (1)`,
    },
  },
  invite: {
    ...caused,
    template: 'invite',
    values: {
      ...sender,
      workspace: 'Mountain Rescue',
      role: 'editor',
      link: `${url}/invite/${token}`,
    },
  },
  'invite-right-to-left': {
    ...caused,
    template: 'invite',
    values: {
      ...sender,
      by: 'שרה כהן',
      workspace: 'גן ירוק (2)',
      role: 'viewer',
      link: `${url}/invite/${token}`,
    },
  },
  'files-received': {
    template: 'files-received',
    to: 'alice@example.com',
    values: {
      label: 'Pictures of the summit',
      files: 12,
      bytes: 45_678_901,
      link: `${url}/requests`,
    },
  },
  'share-used': {
    template: 'share-used',
    to: 'alice@example.com',
    values: { name: 'Minutes of May.pdf', opened: 3, downloaded: 1, link: `${url}/links` },
  },
  'sign-in': {
    template: 'sign-in',
    to: 'alice@example.com',
    values: {
      device: 'Firefox on Linux',
      address: '192.0.2.0/24',
      at: '2030-06-03T16:30:00Z',
      link: `${url}/sessions`,
    },
  },
  'webhook-disabled': {
    template: 'webhook-disabled',
    to: 'alice@example.com',
    values: { host: 'hooks.example.org', since: '2030-06-03T16:30:00.000Z' },
  },
  'over-quota': {
    template: 'over-quota',
    to: 'alice@example.com',
    values: {
      workspace: null,
      usedBytes: 3 * 1024 ** 3,
      usedFiles: 12_000,
      usedFolders: 3,
      maxBytes: 1024 ** 3,
      maxFiles: 10_000,
      maxFolders: null,
      link: url,
    },
  },
  'over-quota-workspace': {
    template: 'over-quota',
    to: 'alice@example.com',
    values: {
      workspace: 'Mountain Rescue',
      usedBytes: 3 * 1024 ** 3,
      usedFiles: 3,
      usedFolders: 3,
      maxBytes: 1024 ** 3,
      maxFiles: null,
      maxFolders: null,
      link: url,
    },
  },
  'address-changed': {
    template: 'address-changed',
    to: 'alice@example.com',
    values: { provider: 'Google' },
  },
}

let browser: Browser
let page: Page

beforeAll(async () => {
  browser = await openBrowser()
  page = await browser.newPage()
})
afterAll(() => browser?.close())

describe('Every mail, on phone and desktop, light and dark', () => {
  it.each(Object.keys(mails))('%s', async name => {
    const mail = mails[name]
    if (!mail) throw new Error(`There is no mail ${name}.`)
    const { html } = writeMail(mail, 'en', ownBrand)
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme })
      for (const [width, height] of [
        [390, 760],
        [800, 700],
      ] as const) {
        await page.setViewportSize({ width, height })
        await page.setContent(html)
        await screenshot(page, `mail-${name}-${width}-${colorScheme}`)
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
        await page.evaluate(axe)
        const rules = { region: { enabled: false }, 'landmark-one-main': { enabled: false } }
        const of = {
          rules: { ...rules, 'page-has-heading-one': { enabled: false } },
          resultTypes: ['violations'],
        }
        const found = await page.evaluate(
          `axe.run(${JSON.stringify(of)}).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(node => node.html)]))`,
        )
        expect(found).toEqual([])
      }
    }
  })

  it('is readable with inline styles only', async () => {
    await page.emulateMedia({ colorScheme: 'dark' })
    const { html } = writeMail(mails.share as Mail, 'en', ownBrand)
    await page.setContent(html.replace(/<style>[^<]*<\/style>/, '').replace(/ class="[^"]*"/g, ''))
    await screenshot(page, 'mail-inline-styles')
    const colors = await page.evaluate(
      `[...document.querySelectorAll('p, a, strong')].every(one => getComputedStyle(one).color !== 'rgb(255, 255, 255)' || one.closest('td')?.style.backgroundColor === 'rgb(31, 95, 191)')`,
    )
    expect(colors).toBe(true)
  })
})
