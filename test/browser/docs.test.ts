import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { openBrowser, screenshot, signIn, visit } from './browser.ts'
import { expectAccessible } from './console.ts'
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

describe('/api/docs', () => {
  it('shows every operation and runs one, without other origins', async () => {
    const alice = await visit(browser, service.url)
    const { page } = alice
    await signIn(alice, service.url, 'alice@example.com', '/api/docs')

    await page.locator('.opblock').first().waitFor()
    await screenshot(page, 'docs')
    const { paths } = (await (await fetch(`${service.url}/api/openapi.json`)).json()) as {
      paths: object
    }
    const described = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map(method => `${method.toUpperCase()} ${path}`),
    )
    // A long list only renders its visible part.
    const shown = new Set<string>()
    const look = async () => {
      const names = await page.locator('.opblock-summary').evaluateAll(blocks =>
        blocks.map(block => {
          const text = (part: string) =>
            block.querySelector(part)?.textContent?.replaceAll('\u200b', '').trim()
          return `${text('.opblock-summary-method')} ${text('.opblock-summary-path')}`
        }),
      )
      for (const name of names) shown.add(name)
    }
    /** Scrolls down until the text is in the page. */
    const scrollTo = async (done: () => Promise<boolean>) => {
      await page.evaluate('scrollTo(0, 0)')
      for (let i = 0; i < 100 && !(await done()); i++) {
        await page.mouse.wheel(0, 400)
        await page.waitForTimeout(100)
      }
    }
    await scrollTo(async () => {
      await look()
      return shown.size === described.length
    })
    expect(described.length).toBeGreaterThan(20)
    expect([...shown].sort()).toEqual(described.sort())

    const operation = page.locator('.opblock').filter({ hasText: '/api/user/data' })
    await scrollTo(async () => (await operation.count()) > 0)
    await operation.locator('.opblock-summary-control').click()
    await operation.getByRole('button', { name: 'Try it out' }).click()
    await operation.getByRole('button', { name: 'Execute' }).click()
    const answer = operation.locator('.live-responses-table')
    await answer.getByText('alice@example.com').first().waitFor()
    expect(await answer.locator('.response-col_status').last().textContent()).toBe('200')
    await operation.scrollIntoViewIfNeeded()
    await screenshot(page, 'docs-executed')

    expect(alice.foreign).toEqual([])
    const upload = page.locator('.opblock-post').filter({ hasText: '/api/files/upload' }).first()
    await scrollTo(async () => (await upload.count()) > 0)
    await upload.locator('.opblock-summary-control').click()
    await upload.getByRole('button', { name: 'Try it out' }).click()
    await upload.getByLabel('on_conflict').waitFor()
    await expectAccessible(page)
    await page.evaluate('scrollTo(0, 0)')
    await page.getByRole('button', { name: 'Authorize' }).first().click()
    await page.getByRole('dialog', { name: 'Authorize' }).waitFor()
    await expectAccessible(page)
    await screenshot(page, 'docs-authorize')
    await page.getByRole('button', { name: 'Close' }).first().click()

    expect(alice).toMatchObject({ foreign: [], errors: [] })
  }, 300_000)

  it('links to the other pages for developers, and back to the console', async () => {
    const bob = await visit(browser, service.url)
    const { page } = bob
    await signIn(bob, service.url, 'bob@example.com', '/developers')
    await page.getByRole('link', { name: 'Open the reference' }).click()
    await page.getByRole('link', { name: 'For developers' }).click()
    await page.waitForURL(`${service.url}/developers`)
    await page.getByRole('link', { name: 'Open GraphiQL' }).click()
    await page.getByRole('link', { name: 'For developers' }).waitFor()
    expect(await page.title()).toBe('GraphQL · Satchel')
    await screenshot(page, 'graphiql-links')
    await page.getByRole('link', { name: 'For developers' }).click()
    await page.getByRole('heading', { name: 'For developers' }).waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'Satchel', exact: true }).click()
    await page.getByRole('heading', { name: 'My files' }).waitFor()
    expect(bob).toMatchObject({ foreign: [], errors: [] })
  })

  it('has the theme of the console, else that of the system', async () => {
    const { page } = await visit(browser, service.url)
    const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.goto(`${service.url}/api/docs`)
    const dark = await ground()
    await page.evaluate(`localStorage.setItem('satchel.theme', 'light')`)
    await page.reload()
    const light = await ground()
    expect([dark, light]).toEqual(['rgb(14, 19, 27)', 'rgb(243, 245, 250)'])
    await page.emulateMedia({ colorScheme: 'light' })
    await page.evaluate(`localStorage.setItem('satchel.theme', 'dark')`)
    await page.reload()
    expect(await ground()).toBe(dark)
  })

  it('fits a phone without horizontal scrolling', async () => {
    const { page } = await visit(browser, service.url, { viewport: { width: 390, height: 844 } })
    await page.goto(`${service.url}/api/docs`)
    await page.locator('.opblock').first().waitFor()
    await screenshot(page, 'docs-narrow')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  })
})
