import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { restSchema } from '../../schema/rest/index.ts'
import { createApiDocument } from '../../src/openapi/document.ts'
import { routesOf } from '../../src/rest/routes.ts'
import { doorListener } from '../support/door-listener.ts'

let server: Server
let address = ''
const api = createApiDocument(routesOf(restSchema), () => address, { proxied: false })
const withConsole = createApiDocument([], () => address, { proxied: false, hasConsole: true })
const get = (path: string, init?: RequestInit) => fetch(address + path, init)

beforeAll(async () => {
  const [json, page] = api.doors.map(door => doorListener(door))
  const [, pageWithConsole] = withConsole.doors.map(door => doorListener(door))
  server = createServer((req, res) => {
    if (req.url === '/api/openapi.json') json?.(req, res)
    else (req.headers['x-with-console'] ? pageWithConsole : page)?.(req, res)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => new Promise(resolve => server.close(resolve)))

describe('GET /api/openapi.json', () => {
  it('returns the plain JSON document', async () => {
    const res = await get('/api/openapi.json')
    expect(res.status).toBe(200)
    expect(res.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(res.headers.get('cache-control')).toBe('no-store')
    expect(await res.json()).toEqual(JSON.parse(JSON.stringify(api.document())))
  })

  it('responds to HEAD, and refuses other methods', async () => {
    const head = await get('/api/openapi.json', { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    const post = await get('/api/openapi.json', { method: 'POST' })
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    expect(await post.json()).toMatchObject({ response: { code: 'METHOD_NOT_ALLOWED' } })
  })
})

describe('GET /api/docs', () => {
  it('redirects to the developer screen if there is one', async () => {
    const link = '<a href="/developers">For developers</a>'
    expect(await (await get('/api/docs')).text()).not.toContain(link)
    expect(
      await (await get('/api/docs', { headers: { 'x-with-console': 'yes' } })).text(),
    ).toContain(link)
  })

  it.each(['/api/docs', '/api/docs/'])('%s is a page without inline scripts', async path => {
    const res = await get(path)
    expect(res.status).toBe(200)
    expect(res.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = res.headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self'")
    expect(policy).not.toContain('unsafe')
    const html = await res.text()
    expect(html).not.toMatch(/<script[^>]*>[^<]|<style|\sstyle=|\son\w+=/)
  })

  it('refers only to existing files of this service', async () => {
    const html = await (await get('/api/docs')).text()
    const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].flatMap(([, file]) => file ?? [])
    expect(files).toEqual(
      expect.arrayContaining(['/api/docs/swagger-ui-bundle.js', '/api/docs/style.css']),
    )
    for (const file of files) expect(file).toMatch(/^\/(?!\/)/)
    for (const file of files.filter(file => file.startsWith('/api/'))) {
      const res = await get(file, { headers: { 'accept-encoding': 'identity' } })
      expect([file, res.status, res.headers.get('content-encoding')]).toEqual([file, 200, null])
      const packed = await get(file)
      expect(packed.headers.get('content-encoding')).toBe('gzip')
      expect((await packed.arrayBuffer()).byteLength).toBe(
        Number(res.headers.get('content-length')),
      )
      expect((await res.arrayBuffer()).byteLength).toBe(Number(res.headers.get('content-length')))
    }
  })

  it.each([
    ['swagger-ui.css', 'text/css; charset=utf-8'],
    ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
    ['start.js', 'text/javascript; charset=utf-8'],
    ['style.css', 'text/css; charset=utf-8'],
  ])('%s is %s', async (name, type) => {
    const res = await get(`/api/docs/${name}`, { method: 'HEAD' })
    expect([res.status, res.headers.get('content-type'), await res.text()]).toEqual([200, type, ''])
  })

  it('makes its files cacheable, with 304 for unchanged ones', async () => {
    const first = await get('/api/docs/swagger-ui.css', { method: 'HEAD' })
    expect(first.headers.get('cache-control')).toBe('public, max-age=86400')
    const etag = first.headers.get('etag') ?? ''
    const again = await get('/api/docs/swagger-ui.css', {
      headers: { 'if-none-match': etag, 'cache-control': '' },
    })
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
  })

  it.each([
    'package.json',
    'swagger-initializer.js',
    'index.html',
    'oauth2-redirect.html',
    'constructor',
    '__proto__',
    '%2e%2e/package.json',
    '/swagger-ui.css',
    'swagger-ui.css/',
  ])('404 for %s', async name => {
    const res = await get(`/api/docs/${name}`)
    expect(await res.json()).toMatchObject({ status: 404, response: { code: 'ROUTE_NOT_FOUND' } })
  })

  it('405 for a POST', async () => {
    const res = await get('/api/docs', { method: 'POST' })
    expect([res.status, res.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })
})
