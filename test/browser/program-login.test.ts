import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Browser, Page } from 'playwright-core'
import { ended, openShell, type Shell } from '../support/command-line.ts'
import { until } from '../support/until.ts'
import { fillInSignIn, openBrowser, screenshot, visit } from './browser.ts'
import { expectAccessible } from './console.ts'
import { type Service, startService } from './service.ts'

let service: Service
let browser: Browser
let shell: Shell

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startService(), openBrowser()])
  shell = openShell()
}, 120_000)
afterAll(async () => {
  shell?.close()
  await browser?.close()
  await service?.stop()
})

/**
 * Starts a login.
 *
 * @returns the URL to open, and the result
 */
async function begin(...args: string[]) {
  const child = shell.begin(['login', service.url, '--no-open', ...args])
  child.stdin.end()
  let said = ''
  child.stderr.on('data', chunk => {
    said += chunk
  })
  const end = ended(child)
  return {
    url: await until(() => /http:\S+(?:authorize|device)\?\S+/.exec(said)?.[0]),
    end,
    said: () => said,
  }
}

async function look(page: Page, name: string): Promise<void> {
  await expectAccessible(page)
  await screenshot(page, name)
  const size = page.viewportSize()
  await page.setViewportSize({ width: 390, height: 844 })
  const overflow = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
  expect(overflow).toBe(0)
  await screenshot(page, `${name}-390`)
  if (size) await page.setViewportSize(size)
}

describe('A person who signs in to the command line', () => {
  it('signs in, sees the requesting program, approves, and returns to it', async () => {
    const { url, end } = await begin('--browser', '--for', '30d')
    const { page, errors } = await visit(browser, service.url, { colorScheme: 'dark' })
    await page.goto(url)
    await page.getByRole('link', { name: 'Continue on this computer' }).click()
    await fillInSignIn(page, service.url, 'alice@example.com')
    await page.getByRole('heading', { name: /^Let satchel on .+ in\?$/ }).waitFor()
    await page
      .getByText(new URL(new URL(url).searchParams.get('redirect_uri') ?? '').host)
      .waitFor()
    expect(await page.getByLabel('Its access ends after').inputValue()).toBe(`${30 * 86_400}s`)
    await look(page, 'login-approve')
    await page.getByRole('button', { name: 'Approve' }).press('Enter')
    await page.getByRole('heading', { name: 'You are signed in' }).waitFor()
    expect(new URL(page.url()).hostname).toBe('127.0.0.1')
    expect(await end).toMatchObject({
      code: 0,
      out: `Signed in to ${service.url} as alice@example.com (own files).\n`,
    })
    expect(errors).toEqual([])
    expect((await shell.json('whoami')).email).toBe('alice@example.com')
    expect((await shell.satchel(['logout'])).out).toContain('has been deleted')
    await page.context().close()
  })

  it('compares the code of another computer, and approves it', async () => {
    const { url, end, said } = await begin('--device')
    const code = new URL(url).searchParams.get('user_code') ?? ''
    const { page, errors } = await visit(browser, service.url)
    await page.goto(url)
    await page.getByRole('link', { name: 'Continue on this computer' }).click()
    await fillInSignIn(page, service.url, 'bob@example.com')
    const field = page.getByLabel('Code', { exact: true })
    expect(await field.inputValue()).toBe(code)
    expect(said()).toContain(code)
    await field.fill('bcdf-ghjk')
    await field.press('Enter')
    await page.getByRole('alert').getByText('No program waits with this code').waitFor()
    await look(page, 'login-code')
    await field.fill(code.toLowerCase())
    await field.press('Enter')
    await page.getByRole('heading', { name: /^Let satchel on .+ in\?$/ }).waitFor()
    await page.getByText(code).waitFor()
    await look(page, 'login-device')
    await page.getByLabel('Its access ends after').selectOption('1 day')
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    expect((await end).code).toBe(0)
    const { email, credentials } = await shell.json('whoami')
    expect(email).toBe('bob@example.com')
    expect(Date.parse(credentials[0].expires_at) - Date.now()).toBeLessThanOrEqual(86_400_000)
    // A wrong code returns a page with status 404.
    expect(errors.filter(error => !error.startsWith('Failed to load resource'))).toEqual([])
    await page.context().close()
  })
})
