import type { Locator, Page } from 'playwright-core'

/**
 * Counts the clicks and keys that a job takes. Typing takes none, because the text is the content.
 */
export class Hands {
  count = 0

  async click(what: Locator, options: Parameters<Locator['click']>[0] = {}): Promise<void> {
    this.count++
    await what.click(options)
  }

  /** Clicks a field and types into it. */
  async fill(what: Locator, text: string): Promise<void> {
    await this.click(what)
    await what.fill(text)
  }

  async press(page: Page, key: string): Promise<void> {
    this.count++
    await page.keyboard.press(key)
  }
}
