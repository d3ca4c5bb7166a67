import { type Browser, type BrowserContext, firefox, type Page } from 'playwright-core'
import { openBrowser, PATIENCE_MS } from './browser.ts'

/**
 * Actions of a person in a tab of any browser. Elements are found by accessibility role and the
 * beginning of their name; the first match counts.
 */
export interface Tab {
  open(url: string): Promise<void>
  url(): Promise<string>
  click(role: string, name: string): Promise<void>
  /** Clicks a field, and replaces its text by typing. */
  type(role: string, name: string, text: string): Promise<void>
  /** Presses a key. */
  press(key: 'Enter' | 'Escape' | 'Delete'): Promise<void>
  isThere(role: string, name: string): Promise<boolean>
  /** Clicks a button that opens the system's file picker, and chooses a file. */
  choose(role: string, name: string, path: string): Promise<void>
  /** Evaluates an expression in the page; resolves to its value. */
  evaluate<T>(expression: string): Promise<T>
  screenshot(): Promise<Buffer>
}

/** A browser with separate profiles. */
export interface TestBrowser {
  tab(): Promise<Tab>
  close(): Promise<void>
}

/** Playwright misparses patterns that contain a quote. */
const escaped = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`
/** Escapes a name for use in a pattern. */
export const literal = (name: string): string => name.replace(/[^\p{L}\p{N} ]/gu, escaped)
const beginning = (name: string) => new RegExp(`^${literal(name)}`)

function tabOf(page: Page): Tab {
  const find = (role: string, name: string) =>
    page.getByRole(role as Parameters<Page['getByRole']>[0], { name: beginning(name) }).first()
  return {
    open: async url => void (await page.goto(url)),
    url: async () => page.url(),
    click: (role, name) => find(role, name).click(),
    async type(role, name, text) {
      await find(role, name).selectText()
      await page.keyboard.type(text)
    },
    press: key => page.keyboard.press(key),
    isThere: (role, name) => find(role, name).isVisible(),
    async choose(role, name, path) {
      const [chooser] = await Promise.all([
        page.waitForEvent('filechooser'),
        find(role, name).click(),
      ])
      await chooser.setFiles(path)
    },
    evaluate: expression => page.evaluate(expression),
    screenshot: () => page.screenshot(),
  }
}

const withPlaywright = (browser: Browser): TestBrowser => ({
  async tab() {
    const context: BrowserContext = await browser.newContext({
      locale: 'en-GB',
      viewport: { width: 1280, height: 800 },
    })
    // Tests can fill in an input, but not the picker that some browsers have instead.
    await context.addInitScript('delete window.showOpenFilePicker')
    const page = await context.newPage()
    page.setDefaultTimeout(PATIENCE_MS)
    return tabOf(page)
  },
  close: () => browser.close(),
})

export const openChromium = async (): Promise<TestBrowser> =>
  withPlaywright(await openBrowser('whole'))

/**
 * The part of Playwright's internals that is used here, for a browser over WebDriver BiDi in this
 * process.
 */
interface BidiConnection {
  rawSend(message: { id: number; method: string }): void
  _dispatchMessage(message: object): void
}
interface Internals {
  _connection: { toImpl(browser: Browser): { _connection: BidiConnection } }
}

/** The system's Firefox, over WebDriver BiDi. */
export async function openFirefox(): Promise<TestBrowser> {
  const browser = await firefox.launch({
    channel: 'moz-firefox',
    executablePath: process.env.TEST_FIREFOX ?? '',
    firefoxUserPrefs: {
      'ui.prefersReducedMotion': 1,
      'layout.css.prefers-color-scheme.content-override': 1,
      // axe uses Element.ariaLabelledByElements, which crashes Firefox 153 ESR.
      'accessibility.ARIAElementReflection.enabled': false,
    },
  })
  // Playwright sets the colour scheme of new profiles with a command that Firefox 153 ESR does not
  // support.
  const connection = (browser as unknown as Internals)._connection.toImpl(browser)._connection
  const send = connection.rawSend.bind(connection)
  connection.rawSend = message => {
    if (message.method !== 'emulation.setMediaFeaturesOverride') return send(message)
    queueMicrotask(() =>
      connection._dispatchMessage({ id: message.id, type: 'success', result: {} }),
    )
  }
  return withPlaywright(browser)
}
