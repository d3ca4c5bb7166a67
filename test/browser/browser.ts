import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core'
import { wordOf } from './service.ts'

// Nothing that a browser does on its own: the machine may have no network.
const quiet = [
  ...['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync'],
]

/** @param which the browser that people have, or its shell, which is the same for a page */
export const openBrowser = (which: 'whole' | 'shell' = 'shell'): Promise<Browser> => {
  const { TEST_CHROMIUM = '', TEST_CHROMIUM_SHELL = TEST_CHROMIUM } = process.env
  return chromium.launch({
    executablePath: which === 'whole' ? TEST_CHROMIUM : TEST_CHROMIUM_SHELL,
    args: quiet,
  })
}

/** Somebody's browser profile, with one page, and what it has met so far. */
export interface Visit {
  page: Page
  context: BrowserContext
  /** Addresses asked for that are not of the given origin. */
  foreign: string[]
  /** What the console calls an error, and exceptions that no script has caught. */
  errors: string[]
}

export async function visit(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  // Without motion, a picture shows nothing half way. The shell would take the language of this
  // process, which may be no language.
  const look = {
    locale: 'en-US',
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
  } as const
  const context = await browser.newContext({ ...look, ...options })
  const foreign: string[] = []
  const errors: string[] = []
  context.on('request', request => {
    const url = new URL(request.url())
    if (url.origin !== origin && !['data:', 'blob:'].includes(url.protocol)) foreign.push(url.href)
  })
  context.on('console', message => {
    if (message.type() === 'error')
      errors.push(`${message.text()} (${message.location().url.slice(0, 200)})`)
  })
  context.on('weberror', error => errors.push(String(error.error())))
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  return { page, context, foreign, errors }
}

/**
 * Signs in with the requests that the embedded sign-in takes of this browser, and shows none of its
 * pages: `signIn` does.
 */
export async function enter(
  { page, context: { request } }: Visit,
  url: string,
  email: string,
): Promise<void> {
  const [agent, languages] = (await page.evaluate(
    '[navigator.userAgent, navigator.languages.join()]',
  )) as string[]
  const headers = { 'user-agent': agent ?? '', 'accept-language': languages ?? '' }
  const shown = await request.get(`${url}/auth/oauth?return_to=/healthz`, { headers })
  const word = (await shown.text()).includes('name="word"') ? { word: wordOf(url) } : {}
  const answer = await request.post(shown.url(), {
    headers,
    form: { email, verified: 'yes', ...word },
  })
  if (answer.url() !== `${url}/healthz`)
    throw new Error(`${email} cannot sign in: ${await answer.text()}`)
}

/**
 * Fills in the embedded sign-in, from the service's own address on. Ends where `returnTo` leads.
 */
export async function signIn(
  { page }: Visit,
  url: string,
  email: string,
  returnTo: string,
): Promise<void> {
  await page.goto(`${url}/auth/oauth?return_to=${encodeURIComponent(returnTo)}`)
  await fillInSignIn(page, url, email)
  await page.waitForURL(url + returnTo)
}

/** Fills in the embedded sign-in where it is on the screen. */
export async function fillInSignIn(page: Page, url: string, email: string): Promise<void> {
  await fillInWord(page, url)
  await page.getByLabel('E-mail address', { exact: true }).fill(email)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Fills in the word of the machine, which the embedded sign-in asks each browser for once. */
export async function fillInWord(page: Page, url: string): Promise<void> {
  const field = page.getByLabel('Sign-in word')
  if (await field.count()) await field.fill(wordOf(url))
}

/** Replaces what stands in the editor of GraphiQL. */
export async function type(page: Page, query: string): Promise<void> {
  await page.locator('.graphiql-query-editor').click({ position: { x: 100, y: 150 } })
  await page.keyboard.press('Control+A')
  // The editor closes brackets by itself for whoever types them.
  await page.keyboard.insertText(query)
}

/** Replaces what stands in the editor of GraphiQL by what somebody has copied elsewhere. */
export async function paste({ page, context }: Visit, query: string): Promise<void> {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(query)})`)
  await type(page, '')
  await page.keyboard.press('Control+V')
}

/** Runs what stands in the editor of GraphiQL, and waits until the answer shows a text. */
export async function run(page: Page, expected: string): Promise<void> {
  await page.getByRole('button', { name: /Execute query/ }).click()
  await page.locator('.graphiql-response').getByText(expected).first().waitFor()
}

/** Whether somebody may look at the pictures: nobody does where CI runs. */
export const isLookedAt = process.env.CI !== 'true'

/** A picture of the page, to be looked at. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (isLookedAt)
    await page.screenshot({ path: join(process.env.TEST_SCREENSHOTS ?? '', `${name}.png`) })
}

/** The rules of axe that colours decide: in dark the page is otherwise the same. */
export const ofColours = ['color-contrast', 'link-in-text-block']

const kept = fileURLToPath(new URL('screenshots/', import.meta.url))

/** A picture of the README; UPDATE_SCREENSHOTS=1 takes it anew. Answers its bytes. */
export async function keepPicture(page: Page, name: string): Promise<number> {
  const path = join(kept, `${name}.jpg`)
  if (process.env.UPDATE_SCREENSHOTS) await page.screenshot({ path, type: 'jpeg', quality: 80 })
  return statSync(path).size
}
