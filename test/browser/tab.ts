import { type Browser, type BrowserContext, firefox, type Page } from 'playwright-core'
import { openBrowser } from './browser.ts'

/**
 * What a person does in a tab, in whichever browser. What is pressed is found as assistive
 * technology finds it: the first that has this role, and a name that begins so.
 */
export interface Tab {
  open(url: string): Promise<void>
  url(): Promise<string>
  click(role: string, name: string): Promise<void>
  /** Clicks a field, and types in place of what it holds. */
  type(role: string, name: string, text: string): Promise<void>
  /** Presses a key of the keyboard. */
  press(key: 'Enter' | 'Escape' | 'Delete'): Promise<void>
  isThere(role: string, name: string): Promise<boolean>
  /** Clicks what opens the system's dialog for files, and chooses one there. */
  choose(role: string, name: string, path: string): Promise<void>
  /** Runs an expression in the page; answers what it, or its promise, comes to. */
  evaluate<T>(expression: string): Promise<T>
  screenshot(): Promise<Buffer>
}

/** A browser with profiles of their own. */
export interface TestBrowser {
  tab(): Promise<Tab>
  close(): Promise<void>
}

/** Playwright reads a pattern with a quote in it wrong. */
const escaped = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`
/** A pattern for a name as it stands. */
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
    // A test can fill in an input, and not what some browsers have in its place.
    await context.addInitScript('delete window.showOpenFilePicker')
    const page = await context.newPage()
    page.setDefaultTimeout(20_000)
    return tabOf(page)
  },
  close: () => browser.close(),
})

export const openChromium = async (): Promise<TestBrowser> =>
  withPlaywright(await openBrowser('whole'))

/**
 * What is used here of what Playwright has behind a browser of WebDriver BiDi, in this same
 * process.
 */
interface BidiConnection {
  rawSend(message: { id: number; method: string }): void
  _dispatchMessage(message: object): void
}
interface Internals {
  _connection: { toImpl(browser: Browser): { _connection: BidiConnection } }
}

/** The Firefox of the system, over WebDriver BiDi. */
export async function openFirefox(): Promise<TestBrowser> {
  const browser = await firefox.launch({
    channel: 'moz-firefox',
    executablePath: process.env.TEST_FIREFOX ?? '',
    firefoxUserPrefs: {
      'ui.prefersReducedMotion': 1,
      'layout.css.prefers-color-scheme.content-override': 1,
      // axe asks for Element.ariaLabelledByElements, at which Firefox 153 ESR crashes.
      'accessibility.ARIAElementReflection.enabled': false,
    },
  })
  // Playwright sets the colour scheme of every new profile by a command that Firefox 153 ESR does
  // not know yet.
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
