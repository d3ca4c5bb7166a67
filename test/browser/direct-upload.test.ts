import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { openBrowser, signIn, type Visit, visit } from './browser.ts'
import { type Service, startService } from './service.ts'

const PART = 256 * 1024
const SIZE = 8 * PART + 5

let service: Service
let browser: Browser
let alice: Visit
const pages: Server[] = []

/** An empty page on an origin of its own. */
async function startPage(): Promise<string> {
  const server = createServer((_req, res) => {
    res.setHeader('content-type', 'text/html').end('<!doctype html><title>A page</title>')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  pages.push(server)
  return `http://localhost:${(server.address() as AddressInfo).port}`
}

let friend: string
let stranger: string

beforeAll(async () => {
  ;[friend, stranger] = [await startPage(), await startPage()]
  service = await startService({ CORS_ORIGINS: friend, UPLOAD_PART_BYTES: String(PART) })
  browser = await openBrowser()
  alice = await visit(browser, service.url)
  await signIn(alice, service.url, 'alice@example.com', '/api/user/data')
})
afterAll(async () => {
  await browser?.close()
  for (const page of pages) page.close()
  await service?.stop()
})

/** Bytes that a page and a test can both generate. */
const byteAt = '(i * 7919 + (i >> 8) * 104729) & 255'
const expected = () => {
  const make = new Function('i', `return ${byteAt}`) as (i: number) => number
  return Buffer.from(Array.from({ length: SIZE }, (_, i) => make(i)))
}

/**
 * The steps of a page that uploads directly to the store: start, send all parts at once, complete.
 */
const upload = (filename: string) => `(async () => {
  const bytes = new Uint8Array(${SIZE}).map((_, i) => ${byteAt})
  const call = async (path, body) => {
    const answer = await fetch(${JSON.stringify(service.url)} + path, {
      method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body),
    })
    return (await answer.json()).response
  }
  const begun = await call('/api/files/uploads', { filename: ${JSON.stringify(filename)}, size: bytes.length, direct: true })
  const size = begun.chunk_size
  const puts = await Promise.all(begun.parts.map(({ part_number: n, url }) =>
    fetch(url, { method: 'PUT', headers: { 'content-type': 'application/octet-stream' }, body: bytes.slice((n - 1) * size, n * size) })
      .then(answer => answer.status)))
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  const sha256 = [...digest].map(b => b.toString(16).padStart(2, '0')).join('')
  return { puts, done: await call('/api/files/uploads/' + begun.upload_id + '/complete', { sha256 }) }
})()`

describe('A page that uploads directly to the store', () => {
  it.each([
    ['of an allowed origin', () => friend],
    ['of the service itself', () => service.url],
  ])('%s sends all parts at once, and gets its file', async (what, origin) => {
    const { page, context } = alice
    await page.goto(`${origin()}/healthz`)
    const filename = `${what}.bin`
    const { puts, done } = await page.evaluate<{ puts: number[]; done: Record<string, unknown> }>(
      upload(filename),
    )
    const bytes = expected()
    expect(puts).toEqual(Array(9).fill(201))
    const md5 = createHash('md5').update(bytes).digest('hex')
    expect(done).toMatchObject({ file_name: filename, size: SIZE, md5_checksum: md5 })
    const { response } = await (
      await context.request.post(`${service.url}/api/user/private/download_token?file=${filename}`)
    ).json()
    const download = await context.request.get(
      `${service.url}/api/d/private/${response.private_download_token}`,
    )
    expect(bytes.equals(await download.body())).toBe(true)
  })

  it('of another origin fails, even with the signed URL', async () => {
    const { page, context } = alice
    const begun = await context.request.post(`${service.url}/api/files/uploads`, {
      data: { filename: 'theirs.bin', size: 5, direct: true },
    })
    const { upload_id, parts } = (await begun.json()).response
    await page.goto(stranger)
    const put = `fetch(${JSON.stringify(parts[0].url)}, { method: 'PUT', body: 'bytes' }).then(a => a.status, e => e.name)`
    expect(await page.evaluate(put)).toBe('TypeError')
    const { response } = await (
      await context.request.get(`${service.url}/api/files/uploads/${upload_id}`)
    ).json()
    expect(response.received).toEqual([])
    await page.goto(friend)
    expect(await page.evaluate(put)).toBe(201)
  })
})
