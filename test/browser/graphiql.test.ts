import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { fillInWord, openBrowser, run, screenshot, signIn, type, visit } from './browser.ts'
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

describe('Signing in, GraphiQL, signing out', () => {
  it('works in a browser, without other origins', async () => {
    const alice = await visit(browser, service.url)
    const { page, context } = alice

    await page.goto(`${service.url}/auth/oauth?return_to=/graphql`)
    await screenshot(page, 'sign-in')
    await signIn(alice, service.url, 'alice@example.com', '/graphql')
    const session = (await context.cookies(service.url)).find(
      cookie => cookie.name === 'session_id',
    )
    expect(session).toMatchObject({
      httpOnly: true,
      sameSite: 'Lax',
      path: '/',
      domain: 'localhost',
    })

    await run(page, '"alice@example.com"')
    await screenshot(page, 'graphiql')
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click()
    await page.getByText('All Schema Types').waitFor()
    await screenshot(page, 'graphiql-schema')
    // All operations have the same name, because GraphiQL is slow to notice another.
    await type(
      page,
      'mutation Home { createFolder(input: { at: { path: "photos" } }) { folder { path } } }',
    )
    await run(page, '"photos"')
    await type(page, 'query Home { me { drive { root { entries { nodes { name } } } } } }')
    await run(page, '"photos"')
    expect(alice).toMatchObject({ foreign: [], errors: [] })

    await page.goto(`${service.url}/auth/logout`)
    expect(await page.locator('body').textContent()).toContain('"logout_successful":true')
    expect((await context.cookies()).map(cookie => cookie.name)).not.toContain('session_id')
    await page.goto(`${service.url}/graphql`)
    await run(page, '"UNAUTHENTICATED"')
    // The session itself has ended, so a copy of the cookie is worthless.
    if (session) await context.addCookies([session])
    await page.goto(`${service.url}/auth/is_valid`)
    expect(await page.locator('body').textContent()).toContain('"authenticated":false')

    expect(alice.foreign).toEqual([])
  })

  it('redirects from 127.0.0.1 to the public name, where the cookie is valid', async () => {
    const bob = await visit(browser, service.url)
    const other = service.url.replace('localhost', '127.0.0.1')
    await bob.page.goto(`${other}/auth/oauth?return_to=/api/user/data`)
    await fillInWord(bob.page, service.url)
    await bob.page.getByLabel('E-mail address', { exact: true }).fill('bob@example.com')
    await bob.page.keyboard.press('Enter')
    await bob.page.waitForURL(`${service.url}/api/user/data`)
    expect(await bob.page.locator('body').textContent()).toContain('bob@example.com')
  })

  it('rejects an invalid email address, and leads back on Cancel', async () => {
    const { page, foreign, errors } = await visit(browser, service.url)
    await page.goto(`${service.url}/auth/oauth?return_to=/graphql`)
    await page.getByLabel('E-mail address', { exact: true }).fill('carol@example,com')
    await page.getByRole('button', { name: 'Sign in' }).click()
    expect(await page.locator('#email:invalid').count()).toBe(1)
    expect(page.url()).toContain('/sign-in/interaction/')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.waitForURL(`${service.url}/graphql?error=auth_failed`)
    expect({ foreign, errors }).toEqual({ foreign: [], errors: [] })
  })
})

describe('GET /graphql of a browser', () => {
  it('is sent once, compressed, with a policy that allows only its own script', async () => {
    const headers = { accept: 'text/html' }
    const first = await fetch(`${service.url}/graphql`, { headers })
    expect(first.status).toBe(200)
    expect(first.headers.get('content-encoding')).toBe('gzip')
    const policy = first.headers.get('content-security-policy')
    expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[\w+/]{43}='; /)
    expect(await first.text()).toContain('renderYogaGraphiQL')
    const etag = first.headers.get('etag') ?? ''
    // Not fetch: with custom conditional headers, it bypasses the cache.
    const { context } = await visit(browser, service.url)
    const again = await context.request.get(`${service.url}/graphql`, {
      headers: { ...headers, 'if-none-match': etag },
    })
    expect(again.status()).toBe(304)
    const plain = await fetch(`${service.url}/graphql`, {
      headers: { ...headers, 'accept-encoding': 'identity' },
    })
    expect(plain.headers.get('content-encoding')).toBeNull()
    expect((await plain.arrayBuffer()).byteLength).toBe(Number(plain.headers.get('content-length')))
  })
})
