import { randomBytes, randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ROOMY, UNHURRIED } from '../support/builders.ts'
import { expectConsistent } from '../support/consistency.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { gateOf, type StoreGate, type StoreRequest } from '../support/store-gate.ts'
import {
  checksumOf,
  countedOf,
  createUpload,
  metadataOf,
  offsetOf,
  patch,
  storedBytes,
  type Tus,
  tusOf,
  tusOfPerson,
} from '../support/tus-client.ts'
import { until } from '../support/until.ts'

const PART = 64 * 1024
const APP = 'https://app.example.com'
const CHUNK = { 'content-type': 'application/offset+octet-stream' }

let t: TestApp
let gate: StoreGate
let alice: Person
let tus: Tus
beforeAll(async () => {
  // A single worker, whose store has the gate.
  t = await startApp({
    ...UNHURRIED,
    WORKERS: '1',
    UPLOAD_PART_BYTES: String(PART),
    CORS_ORIGINS: APP,
  })
  await t.limit(ROOMY)
  gate = gateOf(t.app.store)
  alice = await t.signIn('alice')
  tus = tusOfPerson(t.url, alice)
})
afterAll(() => t.stop())

const named = () => `${randomUUID()}.bin`
const idOf = (url: string) => url.split('/').at(-1) ?? ''
const stored = (path: string) => storedBytes(t.url, alice, path)
const counted = () => countedOf(t, alice)
const isWriting = () => t.app.db.rows('SELECT id FROM upload_stream WHERE writer IS NOT NULL')

/** Blocks requests of one kind to the store for an upload until they are released. */
function holdBack(kind: StoreRequest, url: string) {
  let count = 0
  let letGo = () => {}
  const open = new Promise<void>(resolve => {
    letGo = resolve
  })
  gate.interfere = (asked, key) => {
    if (asked !== kind || key !== idOf(url)) return
    count += 1
    return open
  }
  return {
    count: () => count,
    letGo() {
      gate.interfere = () => {}
      letGo()
    },
  }
}

/** A body that sends its first bytes immediately, and the rest when it is ended. */
function slowly(bytes: Uint8Array) {
  let feed: ReadableStreamDefaultController | undefined
  const body = new ReadableStream({
    start(controller) {
      feed = controller
      controller.enqueue(bytes)
    },
  })
  const end = () => {
    try {
      feed?.close()
    } catch {}
  }
  return { body, end }
}

describe('While a tus upload receives bytes', () => {
  it('no other request can write, however slow the store is', async () => {
    const bytes = randomBytes(2 * PART)
    const name = named()
    const url = await createUpload(tus, bytes.length, { filename: name })
    const store = holdBack('part', url)
    const slow = patch(tus, url, 0, bytes.subarray(0, PART))
    await until(() => store.count() > 0)
    const second = await patch(tus, url, 0, randomBytes(PART))
    expect([second.status, second.body.response.code]).toEqual([423, 'UPLOAD_BUSY'])
    expect(store.count()).toBe(1)
    store.letGo()
    expect(offsetOf(await slow)).toBe(PART)
    expect((await patch(tus, url, PART, bytes.subarray(PART))).status).toBe(204)
    expect(await stored(name)).toEqual(bytes)
    await expectConsistent(t)
  })

  it('a disconnected client can resume immediately, at the reported offset', async () => {
    const bytes = randomBytes(3 * PART)
    const name = named()
    const url = await createUpload(tus, bytes.length, { filename: name })
    const headers = {
      ...CHUNK,
      'tus-resumable': '1.0.0',
      cookie: alice.cookie,
      'content-length': bytes.length,
    }
    const req = request(`${t.url}${url}`, {
      method: 'PATCH',
      headers: { ...headers, 'upload-offset': '0' },
    })
    req.on('error', () => {})
    await new Promise<void>(resolve => req.write(bytes.subarray(0, PART + 999), () => resolve()))
    await until(async () => (await isWriting()).length > 0)
    req.destroy()
    const at = offsetOf(await tus('HEAD', url)) ?? -1
    expect(at).toBeLessThanOrEqual(PART + 999)
    expect((await patch(tus, url, at, bytes.subarray(at))).status).toBe(204)
    expect(await stored(name)).toEqual(bytes)
    await expectConsistent(t)
  })

  it('termination removes everything, even while the store writes a part', async () => {
    const before = await counted()
    const url = await createUpload(tus, 5 * PART, { filename: named() })
    const { body, end } = slowly(randomBytes(500))
    const sending = patch(tus, url, 0, body)
    await until(async () => (await isWriting()).length > 0)
    expect((await tus('DELETE', url)).status).toBe(204)
    expect((await sending).status).toBe(404)
    end()

    const other = await createUpload(tus, 5 * PART, { filename: named() })
    const store = holdBack('part', other)
    const late = patch(tus, other, 0, randomBytes(PART))
    await until(() => store.count() > 0)
    expect((await tus('DELETE', other)).status).toBe(204)
    store.letGo()
    expect((await late).status).toBe(404)
    expect((await t.app.store.partsOf(idOf(other))).size).toBe(0)
    expect(await counted()).toEqual(before)
    await expectConsistent(t)
  })

  it('expiry ends the request, and removes everything', async () => {
    const before = await counted()
    const url = await createUpload(tus, 5 * PART, { filename: named() })
    const { body, end } = slowly(randomBytes(500))
    const sending = patch(tus, url, 0, body)
    await until(async () => (await isWriting()).length > 0)
    await t.app.db.run("UPDATE blobs SET lease_until = 1 WHERE state = 'staged'")
    expect((await sending).status).toBe(410)
    end()
    await t.settle()
    expect((await tus('HEAD', url)).status).toBe(404)
    expect(await counted()).toEqual(before)
    await expectConsistent(t)
  })
})

describe('While tus uploads are concatenated', () => {
  const sent = async (size: number) => {
    const url = await createUpload(tus, size, {}, { 'upload-concat': 'partial' })
    expect((await patch(tus, url, 0, randomBytes(size))).status).toBe(204)
    return url
  }
  const final = (urls: string[]) =>
    tus('POST', '', {
      'upload-concat': `final;${urls.join(' ')}`,
      'upload-metadata': metadataOf({ filename: named() }),
    })

  it.each([
    { how: 'terminated', end: (url: string) => tus('DELETE', url) },
    {
      how: 'expired',
      async end(url: string) {
        await t.app.db.run('UPDATE blobs SET lease_until = 1 WHERE id = ?', [idOf(url)])
        await t.settle()
      },
    },
  ])('one of them may be $how: no file is created, and nothing is left', async ({ end }) => {
    const before = await counted()
    const urls = [await sent(2 * PART), await sent(PART), await sent(10)]
    const [first = '', second = ''] = urls
    const store = holdBack('commit', first)
    const joining = final(urls)
    await until(() => store.count() > 0)
    await end(second)
    store.letGo()
    expect((await joining).status).toBe(404)
    for (const url of urls) expect((await tus('HEAD', url)).status).toBe(404)
    expect((await final(urls)).status).toBe(404)
    expect(await counted()).toEqual(before)
    await expectConsistent(t)
  })

  it('the partial uploads do not expire before the final upload', async () => {
    const url = await sent(PART)
    const soon = Date.now() + 60_000
    await t.app.db.run('UPDATE blobs SET lease_until = ? WHERE id = ?', [soon, idOf(url)])
    const store = holdBack('commit', url)
    const joining = final([url])
    await until(() => store.count() > 0)
    const [row] = await t.app.db.rows<{ at: number }>(
      'SELECT lease_until AS at FROM blobs WHERE id = ?',
      [idOf(url)],
    )
    expect(row?.at).toBeGreaterThan(soon + 80_000_000)
    store.letGo()
    expect((await joining).status).toBe(201)
    await expectConsistent(t)
  })
})

describe('The headers of a tus client', () => {
  it('are rejected when malformed, repeated or out of range', async () => {
    const url = await createUpload(tus, 10, { filename: named() })
    for (const offset of ['-1', '1.0', '0x1', '9'.repeat(30), '0, 0', ' '])
      expect([
        offset,
        (await tus('PATCH', url, { ...CHUNK, 'upload-offset': offset }, 'x')).status,
      ]).toEqual([offset, 400])
    for (const offset of ['1', '9007199254740991'])
      expect([
        offset,
        (await tus('PATCH', url, { ...CHUNK, 'upload-offset': offset }, 'x')).status,
      ]).not.toEqual([offset, 204])
    expect(
      (
        await tus(
          'PATCH',
          url,
          { ...CHUNK, 'upload-offset': '0', 'tus-resumable': '1.0.0, 1.0.0' },
          'x',
        )
      ).status,
    ).toBe(412)
    for (const type of [
      'application/octet-stream',
      'application/offset+octet-stream; charset=utf-8',
      '',
    ])
      expect([
        type,
        (await tus('PATCH', url, { 'content-type': type, 'upload-offset': '0' }, 'x')).status,
      ]).toEqual([type, 415])
    const twice = { 'upload-length': '1, 1', 'upload-metadata': metadataOf({ filename: 'a' }) }
    expect((await tus('POST', '', twice)).status).toBe(400)
    expect(offsetOf(await tus('HEAD', url))).toBe(0)
  })

  it('can override the method of a POST, and of no other method', async () => {
    const url = await createUpload(tus, 3, { filename: named() })
    const as = (method: string, headers: Record<string, string> = {}) =>
      tus(
        'POST',
        url,
        { 'x-http-method-override': method, ...headers },
        headers['upload-offset'] ? 'abc' : undefined,
      )
    expect(offsetOf(await as('head'))).toBe(0)
    for (const unknown of ['GET', 'OPTIONS', 'constructor', '__proto__'])
      expect((await as(unknown)).status).toBe(405)
    // Other methods ignore the header.
    expect((await tus('HEAD', url, { 'x-http-method-override': 'DELETE' })).status).toBe(200)
    expect((await as('DELETE')).status).toBe(204)
    expect((await as('HEAD')).status).toBe(404)
  })

  it('are allowed from other origins, which can read every response header', async () => {
    const from: Tus = (method, path, headers, body) =>
      tus(method, path, { origin: APP, ...headers }, body)
    const sentByClients =
      'tus-resumable,upload-length,upload-offset,upload-metadata,upload-checksum,upload-concat,x-api-key'
    for (const method of ['POST', 'HEAD', 'PATCH', 'DELETE']) {
      const { status, headers } = await tusOf(t.url)('OPTIONS', '/some', {
        origin: APP,
        'access-control-request-method': method,
        'access-control-request-headers': sentByClients,
      })
      expect(status).toBe(204)
      expect(headers.get('access-control-allow-methods')).toContain(method)
      const allowed = headers.get('access-control-allow-headers')?.toLowerCase().split(',')
      expect(allowed).toEqual(expect.arrayContaining(sentByClients.split(',')))
    }
    const length = { 'upload-length': '3', 'upload-metadata': metadataOf({ filename: named() }) }
    const made = await from('POST', '', length)
    const url = made.headers.get('location') ?? ''
    // Behind a proxy, and from another origin, the Location is next to the URL of the request.
    expect(url).toMatch(/^\/api\/tus\/[0-9a-f-]{36}$/)
    const answers = [
      made,
      await tusOf(t.url)('OPTIONS', '', { origin: APP }),
      await from('HEAD', url),
      await from('HEAD', '/nothing'),
      await from('PUT', url),
      await from('HEAD', url, { 'tus-resumable': '0.2.2' }),
      await patch(from, url, 2, 'x'),
      await patch(from, url, 0, 'abcd'),
      await from('PATCH', url, { 'content-type': 'text/plain' }, 'x'),
      await patch(from, url, 0, 'a', checksumOf('md5', 'b')),
      await tusOf(t.url)('HEAD', url, { origin: APP }),
      await patch(from, url, 0, 'abc'),
      await from('DELETE', url),
    ]
    expect(answers.map(({ status }) => status)).toEqual([
      201, 204, 200, 404, 405, 412, 409, 413, 415, 460, 401, 204, 403,
    ])
    for (const { headers } of answers) {
      expect(headers.get('access-control-allow-origin')).toBe(APP)
      expect(headers.get('access-control-allow-credentials')).toBe('true')
      expect(headers.get('tus-resumable')).toBe('1.0.0')
      const exposed = headers.get('access-control-expose-headers')?.toLowerCase().split(',') ?? []
      expect(exposed).toEqual(
        expect.arrayContaining(['location', 'upload-offset', 'upload-length', 'tus-resumable']),
      )
      const ofTus = [...headers.keys()].filter(name =>
        /^(upload|tus|satchel)-|^location$/.test(name),
      )
      expect(exposed).toEqual(expect.arrayContaining(ofTus))
    }
    await expectConsistent(t)
  })
})
