import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { openBrowser, screenshot, signIn, type, visit } from './browser.ts'
import { type Service, startService } from './service.ts'

let service: Service
let browser: Browser

beforeAll(async () => {
  service = await startService()
  browser = await openBrowser()
})

afterAll(async () => {
  await browser?.close()
  await service?.stop()
})

describe('GraphiQL', () => {
  it('shows the events of a subscription as they arrive, until it is stopped', async () => {
    const alice = await visit(browser, service.url)
    const { page, context } = alice
    await signIn(alice, service.url, 'alice@example.com', '/graphql')
    await type(page, 'subscription Home { driveChanged { usage { folderCount } } }')
    const stream = page.waitForResponse(response =>
      /^text\/event-stream/.test(response.headers()['content-type'] ?? ''),
    )
    await page.getByRole('button', { name: /Execute query/ }).click()
    expect((await stream).status()).toBe(200)
    const makeFolder = (path: string) =>
      context.request.post(`${service.url}/api/folders`, { data: { path } })
    const shown = (text: string) =>
      page.locator('.graphiql-response').getByText(text, { exact: false }).first()
    for (const count of [1, 2, 3]) {
      expect((await makeFolder(`folder ${count}`)).status()).toBe(200)
      await shown(`"folderCount": ${count}`).waitFor()
    }
    await screenshot(page, 'subscription')
    await page.getByRole('button', { name: /Stop query/ }).click()
    await makeFolder('one more')
    await page.getByRole('button', { name: /Execute query/ }).waitFor()
    expect(await shown('"folderCount": 4').count()).toBe(0)
    expect({ foreign: alice.foreign, errors: alice.errors }).toEqual({ foreign: [], errors: [] })
  })
})
