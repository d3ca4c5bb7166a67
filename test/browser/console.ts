import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect } from '@jest/globals'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import {
  enter,
  isLookedAt,
  ofColours,
  openBrowser,
  screenshot,
  type Visit,
  visit,
} from './browser.ts'
import { type Running, type Service, startService } from './service.ts'
import { literal } from './tab.ts'

/** Runs in the page under its own policy, which does not apply to the browser's tools. */
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** A phone in portrait orientation. */
export const telephone: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
}

/** A person in the console, with GraphQL and REST for preparing data. */
export interface Person extends Visit {
  email: string
  /** Opens a path of the console, and waits until it shows something. */
  open(path: string): Promise<Page>
  /**
   * A query or mutation as this person.
   *
   * @throws with its errors
   */
  ask<Data>(query: string, variables?: object): Promise<Data>
  /** Creates a file and its missing parent folders. */
  upload(path: string, bytes: Buffer | string, mimeType?: string): Promise<void>
}

/** A service with its console, and a browser. */
export interface ConsoleWorld {
  service: Service
  browser: Browser
  /**
   * Signs in a person with a browser profile of their own, without a service worker. Tests of the
   * service worker enable it.
   */
  person(name: string, options?: BrowserContextOptions, inBrowser?: Browser): Promise<Person>
  stop(): Promise<void>
}

const roomy = {
  RATE_WORKSPACES: '1000',
  RATE_SHARING: '1000',
  RATE_INVITES: '1000',
  RATE_FOLDERS: '100000',
  RATE_LINKS: '1000',
  RATE_NOTES: '1000',
  OPERATORS: 'olga@example.com',
}

/** @param profiles options for every profile */
export async function startConsole(
  settings: Record<string, string> = {},
  profiles: BrowserContextOptions = {},
  running: Running = {},
): Promise<ConsoleWorld> {
  const [service, browser] = await Promise.all([
    startService({ ...roomy, ...settings }, running),
    openBrowser(),
  ])

  async function person(
    name: string,
    options: BrowserContextOptions = {},
    inBrowser: Browser = browser,
  ): Promise<Person> {
    const own = { locale: 'en-GB', serviceWorkers: 'block', ...profiles, ...options } as const
    const who = await visit(inBrowser, service.url, own)
    const email = `${name}@example.com`
    await enter(who, service.url, email)
    const { request } = who.context
    return {
      ...who,
      email,
      async open(path) {
        await who.page.goto(service.url + path)
        await settled(who.page)
        return who.page
      },
      async ask(query, variables = {}) {
        const answer = await request.post(`${service.url}/graphql`, { data: { query, variables } })
        const { data, errors } = await answer.json()
        if (errors) throw new Error(JSON.stringify(errors))
        return data
      },
      async upload(path, bytes, mimeType = 'text/plain') {
        const cut = path.lastIndexOf('/')
        const file = { name: path.slice(cut + 1), mimeType, buffer: Buffer.from(bytes) }
        const folder = path.slice(0, Math.max(0, cut))
        const answer = await request.post(`${service.url}/api/files/upload`, {
          multipart: { folder, file },
        })
        if (!answer.ok()) throw new Error(await answer.text())
      },
    }
  }

  return {
    service,
    browser,
    person,
    async stop() {
      await browser.close()
      await service.stop()
    },
  }
}

/** Waits until the screen is rendered and nothing is loading. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main').waitFor()
  await page.locator('.skeleton').waitFor({ state: 'detached' })
}

/**
 * The row of an entry by its full name without the extension. The date that follows in the row does
 * not match.
 */
export const rowOf = (name: string, on: Page) =>
  on
    .getByRole('row')
    .filter({ has: on.locator('.name', { hasText: new RegExp(`^${literal(name)}(\\.\\w+)?$`) }) })

/**
 * The entry of an open menu that has the focus. A menu is visible before it focuses its first
 * entry, and keys that are pressed in between are lost.
 */
export const focusedEntry = (name: string, on: Page) =>
  on.locator('[role^=menuitem]:focus', { hasText: name })

/**
 * Waits until the page that is loading has subscribed.
 *
 * @param subscription name of the operation
 */
export const listening = (page: Page, subscription = 'DriveChanged') =>
  page.waitForResponse(
    answer =>
      answer.headers()['content-type']?.startsWith('text/event-stream') === true &&
      (answer.request().postData() ?? '').includes(`subscription ${subscription}`),
  )

/**
 * Whether the browser has stored the console and the contents of a folder, as an expression for the
 * page.
 */
export const keepsFolder = (path: string) => `(async folder => {
  const names = await caches.keys()
  const shell = names.find(name => name.startsWith('shell-'))
  const name = names.find(name => name.startsWith('read-'))
  const answers = name ? await (await caches.open(name)).matchAll() : []
  const reads = await Promise.all(answers.map(one => one.json()))
  const isFolder = ({ query, variables }) => {
    const { path } = JSON.parse(variables ?? '{}')
    return query.startsWith('query Folder(') && path === folder
  }
  return shell !== undefined && reads.some(isFolder)
})(${JSON.stringify(path)})`

/** Changes the theme of the page. Even the shortest transition takes a frame. */
export async function paint(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  await page.evaluate(`new Promise(requestAnimationFrame).then(() =>
    Promise.allSettled(document.getAnimations().filter(one => one instanceof CSSTransition).map(one => one.finished)))`)
}

const controls =
  /^(button|checkbox|combobox|link|listbox|menuitem\w*|option|radio|searchbox|slider|spinbutton|switch|tab|textbox|treeitem)$/i

/** Controls without an accessible name in Chromium. */
async function unnamedControls(page: Page): Promise<string[]> {
  const devtools = await page.context().newCDPSession(page)
  try {
    const { nodes } = await devtools.send('Accessibility.getFullAXTree')
    const found = nodes.filter(({ ignored, role }) => !ignored && controls.test(role?.value))
    expect(found).not.toEqual([])
    return found
      .filter(({ name }) => !name?.value?.trim())
      .map(({ role, nodeId }) => `${role?.value} ${nodeId}`)
  } finally {
    await devtools.detach()
  }
}

/** The axe violations of the current page, in light and dark, and controls without a name. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await unnamedControls(page)).toEqual([])
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe)
  // While a modal dialog is open, the page and its landmarks are hidden from everyone.
  const isCovered = (await page.getByRole('dialog').count()) > 0
  const ofPages = ['landmark-one-main', 'page-has-heading-one', 'region']
  const rules = Object.fromEntries(ofPages.map(rule => [rule, { enabled: !isCovered }]))
  for (const colorScheme of ['light', 'dark'] as const) {
    await paint(page, colorScheme)
    // Otherwise axe describes every passing element, which takes longer than the rules.
    const resultTypes = ['violations']
    // By default, axe also loads and parses all style sheets, for rules that are off.
    const preload = { assets: ['media'] }
    const options =
      colorScheme === 'light'
        ? { rules, resultTypes, preload }
        : { runOnly: ofColours, resultTypes, preload }
    // Returns only the violations, because the full result is as long as the page.
    const violations = await page.evaluate(
      `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations.map(({ id, nodes }) =>
        [id, nodes.map(node => node.failureSummary + node.html)]))`,
    )
    expect([colorScheme, violations]).toEqual([colorScheme, []])
  }
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
}

/** Screenshots of the page in light and dark, for people. */
export async function pictures(page: Page, name: string): Promise<void> {
  if (!isLookedAt) return
  for (const colorScheme of ['dark', 'light'] as const) {
    await paint(page, colorScheme)
    await screenshot(page, colorScheme === 'light' ? name : `${name}-dark`)
  }
}

/** Expects no requests to other origins and no browser errors. */
export function expectQuiet({ foreign, errors }: Visit): void {
  expect(foreign).toEqual([])
  expect(errors).toEqual([])
}
