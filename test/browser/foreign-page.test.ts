import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { openBrowser, signIn, type Visit, visit } from './browser.ts'
import { type Service, startService } from './service.ts'

let service: Service
let browser: Browser
let elsewhere: Server
let port: number
let alice: Visit

beforeAll(async () => {
  service = await startService()
  browser = await openBrowser()
  elsewhere = createServer((_req, res) => {
    res.setHeader('content-type', 'text/html').end('<!doctype html><title>Elsewhere</title>')
  })
  await new Promise<void>(resolve => elsewhere.listen(0, '127.0.0.1', resolve))
  const address = elsewhere.address()
  port = typeof address === 'object' && address ? address.port : 0
  alice = await visit(browser, service.url)
  await signIn(alice, service.url, 'alice@example.com', '/api/user/data')
})

afterAll(async () => {
  await browser?.close()
  elsewhere?.close()
  await service?.stop()
})

/** Requests that a script can send with fetch. The first three need no CORS permission. */
const attempts = {
  'a form with a file': `{ method: 'POST', path: '/api/files/upload', body: form({ file: new File(['evil'], 'evil.txt') }) }`,
  'JSON as text/plain': `{ method: 'POST', path: '/api/folders', body: '{"path":"evil"}', type: 'text/plain' }`,
  'GraphQL as text/plain': `{ method: 'POST', path: '/graphql', body: MUTATION, type: 'text/plain' }`,
  'GraphQL as a form': `{ method: 'POST', path: '/graphql', body: form({ operations: MUTATION, map: '{}' }) }`,
  JSON: `{ method: 'POST', path: '/api/folders', body: '{"path":"evil"}', type: 'application/json' }`,
  GraphQL: `{ method: 'POST', path: '/graphql', body: MUTATION, type: 'application/json' }`,
  'a DELETE': `{ method: 'DELETE', path: '/api/folders?path=mine' }`,
}

const script = (attempt: string) => `(async () => {
  const MUTATION = JSON.stringify({ query: 'mutation { createFolder(input: { at: { path: "evil" } }) { folder { path } } }' })
  const form = fields => { const f = new FormData(); for (const k in fields) f.append(k, fields[k]); return f }
  const { method, path, body, type } = ${attempt}
  const headers = type ? { 'content-type': type } : {}
  return fetch(${JSON.stringify(service.url)} + path, { method, body, headers, credentials: 'include' })
    .then(async response => response.status + await response.text(), error => error.name)
})()`

const folders = async () => {
  const answer = await alice.context.request.get(`${service.url}/api/files/tree`)
  const { response } = await answer.json()
  return [...response.folders, ...response.files]
}

describe.each([
  // The same site, so that the cookie is sent. Only the origin differs.
  ['of another port', 'localhost'],
  ['of another host', '127.0.0.1'],
])('A page %s', (_what, host) => {
  beforeAll(async () => {
    await alice.context.request.post(`${service.url}/api/folders`, {
      data: { path: 'mine' },
      failOnStatusCode: false,
    })
    await alice.page.goto(`http://${host}:${port}/`)
  })

  it.each(Object.entries(attempts))(
    'can do nothing with %s of a script',
    async (_name, attempt) => {
      expect(await alice.page.evaluate(script(attempt))).toBe('TypeError')
      expect(await folders()).toEqual(['mine'])
    },
  )

  it("cannot read the person's data", async () => {
    expect(await alice.page.evaluate(script(`{ method: 'GET', path: '/api/user/data' }`))).toBe(
      'TypeError',
    )
  })

  it.each(['multipart/form-data', 'text/plain', 'application/x-www-form-urlencoded'])(
    'can do nothing with a form of %s',
    async enctype => {
      const { page } = alice
      for (const [path, name, value] of [
        ['/api/folders', '{"path":"evil","x":"', '"}'],
        ['/api/files/upload', 'folder', 'evil'],
        [
          '/graphql',
          'query',
          'mutation { createFolder(input: { at: { path: "evil" } }) { folder { path } } }',
        ],
      ]) {
        await page.goto(`http://${host}:${port}/`)
        await page.evaluate(`
          document.body.innerHTML = '<form method="post" action="${service.url}${path}" enctype="${enctype}"><input></form>'
          document.querySelector('input').name = ${JSON.stringify(name)}
          document.querySelector('input').value = ${JSON.stringify(value)}
          document.querySelector('form').submit()`)
        await page.waitForURL(`${service.url}${path}`)
        // Without the cookie, it fails like an anonymous request.
        const refused =
          host === 'localhost' ? /"code":"FORBIDDEN"/ : /"code":"(UNAUTHENTICATED|INVALID_\w+)"/
        expect(await page.locator('body').textContent()).toMatch(refused)
        expect(await folders()).toEqual(['mine'])
      }
    },
  )

  it('cannot sign the person out with an image', async () => {
    const { page, context } = alice
    await page.goto(`http://${host}:${port}/`)
    await page.evaluate(`new Promise(done => {
      const picture = new Image()
      picture.onload = picture.onerror = done
      picture.src = ${JSON.stringify(`${service.url}/auth/logout`)}
    })`)
    expect(await (await context.request.get(`${service.url}/auth/is_valid`)).text()).toContain(
      'alice@example.com',
    )
  })
})
