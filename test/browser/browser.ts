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

// Turns off background network requests: the machine may have no network.
const quiet = [
  ...['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync'],
]

/**
 * How long to wait for something on a page. Like the timeout of a test, it must not be reached on a
 * machine with ten times the load of its cores.
 */
export const PATIENCE_MS = 120_000

/** @param which the full browser, or its headless shell, which renders pages the same */
export const openBrowser = (which: 'whole' | 'shell' = 'shell'): Promise<Browser> => {
  const { TEST_CHROMIUM = '', TEST_CHROMIUM_SHELL = TEST_CHROMIUM } = process.env
  return chromium.launch({
    executablePath: which === 'whole' ? TEST_CHROMIUM : TEST_CHROMIUM_SHELL,
    args: quiet,
  })
}

/** A browser profile with one page, and what the page has requested and logged. */
export interface Visit {
  page: Page
  context: BrowserContext
  /** Requested URLs of other origins than the given one. */
  foreign: string[]
  /** Console errors and uncaught exceptions. */
  errors: string[]
}

export async function visit(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  // Without animations, screenshots never show a transition. The headless shell would take its
  // language from this process, which may have none.
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
  page.setDefaultTimeout(PATIENCE_MS)
  return { page, context, foreign, errors }
}

/**
 * Signs in with the HTTP requests of the embedded sign-in, without opening its pages. `signIn`
 * opens them.
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

/** Fills in the embedded sign-in, starting at the service's own URL. Ends at `returnTo`. */
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

/** Fills in the embedded sign-in that is on the screen. */
export async function fillInSignIn(page: Page, url: string, email: string): Promise<void> {
  await fillInWord(page, url)
  await page.getByLabel('E-mail address', { exact: true }).fill(email)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Enters the setup word, which the embedded sign-in asks of each new browser once. */
export async function fillInWord(page: Page, url: string): Promise<void> {
  const field = page.getByLabel('Sign-in word')
  if (await field.count()) await field.fill(wordOf(url))
}

/** Replaces the text of the GraphiQL editor by typing. */
export async function type(page: Page, query: string): Promise<void> {
  await page.locator('.graphiql-query-editor').click({ position: { x: 100, y: 150 } })
  await page.keyboard.press('Control+A')
  // The editor adds closing brackets while typing.
  await page.keyboard.insertText(query)
}

/** Replaces the text of the GraphiQL editor by pasting. */
export async function paste({ page, context }: Visit, query: string): Promise<void> {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(query)})`)
  await type(page, '')
  await page.keyboard.press('Control+V')
}

/** Runs the operation in the GraphiQL editor, and waits until the result contains a text. */
export async function run(page: Page, expected: string): Promise<void> {
  await page.getByRole('button', { name: /Execute query/ }).click()
  await page.locator('.graphiql-response').getByText(expected).first().waitFor()
}

/** Whether to save screenshots for people. Nobody looks at them in CI. */
export const isLookedAt = process.env.CI !== 'true'

/** Saves a screenshot of the page for people. */
export async function screenshot(
  page: Page,
  name: string,
  options: { fullPage?: boolean } = {},
): Promise<void> {
  const path = join(process.env.TEST_SCREENSHOTS ?? '', `${name}.png`)
  if (isLookedAt) await page.screenshot({ ...options, path })
}

/** The axe rules that depend on colours. In dark mode, only these can differ. */
export const ofColours = ['color-contrast', 'link-in-text-block']

const kept = fileURLToPath(new URL('screenshots/', import.meta.url))

/** A screenshot for the README. UPDATE_SCREENSHOTS=1 updates it. Returns its bytes. */
export async function keepPicture(page: Page, name: string): Promise<number> {
  const path = join(kept, `${name}.jpg`)
  if (process.env.UPDATE_SCREENSHOTS) await page.screenshot({ path, type: 'jpeg', quality: 80 })
  return statSync(path).size
}
