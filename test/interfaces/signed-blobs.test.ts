import { createHash, randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { found } from '../support/builders.ts'
import { expectConsistent, outlive } from '../support/consistency.ts'
import { type Person, rest, startApp, type TestApp } from '../support/harness.ts'
import { faces, restUploader, type Uploader } from '../support/uploader.ts'

const PART = 1024
const APP = 'https://app.example.com'

let t: TestApp
let alice: Person
let garden: string
let up: Uploader

beforeAll(async () => {
  t = await startApp({ UPLOAD_PART_BYTES: String(PART), CORS_ORIGINS: APP })
  alice = await t.signIn('alice')
  garden = await found(alice)
  up = restUploader(alice)
})
afterAll(async () => {
  await expectConsistent(t)
  await outlive(t)
  await expectConsistent(t)
  expect(await t.app.db.rows("SELECT id FROM blobs WHERE state <> 'live'")).toEqual([])
  expect(t.failures()).toEqual([])
  await t.stop()
})

const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex')
const bytes = randomBytes(2 * PART + 7)
const partOf = (n: number) => bytes.subarray((n - 1) * PART, n * PART)
let files = 0

async function begun(by = up) {
  const filename = `direct-${++files}.bin`
  const { value, msg } = await by.start({ filename, size: bytes.length, direct: true })
  if (!value) throw new Error(msg)
  return {
    id: value.upload_id as string,
    filename,
    urls: value.parts.map((p: { url: string }) => p.url) as string[],
  }
}

/** Sent without a credential, because the address itself grants the right. */
const put = (
  url: string,
  body: Uint8Array | ReadableStream,
  headers: Record<string, string> = {},
) => rest(t.url, 'PUT', url.slice(t.url.length), { body, headers })

describe('The signed addresses of upload parts', () => {
  it.each(faces)('accept the parts in any order and concurrently, $face', async ({ by }) => {
    const mine = by(alice, garden)
    const { id, urls } = await begun(mine)
    expect(urls.every(url => url.startsWith(`${t.url}/api/blobs/`))).toBe(true)
    const sent = await Promise.all([3, 1, 2].map(n => put(urls[n - 1] ?? '', partOf(n))))
    expect(sent.map(({ status, text }) => [status, text])).toEqual(Array(3).fill([201, '']))
    expect((await mine.look(id)).value.received).toEqual([1, 2, 3])
    expect((await mine.complete(id, { md5: md5(bytes) })).value.md5_checksum).toBe(md5(bytes))
    expect(await put(urls[0] ?? '', partOf(1))).toMatchObject({
      status: 404,
      response: { code: 'UPLOAD_NOT_FOUND' },
    })
    expect(Buffer.concat(await (await t.app.store.open(id)).toArray()).equals(bytes)).toBe(true)
  })

  it('accept only the signed size and the signed part number', async () => {
    const { id, urls } = await begun()
    const [first = ''] = urls
    const endless = new ReadableStream({ pull: control => control.enqueue(Buffer.alloc(PART)) })
    for (const body of [partOf(1).subarray(1), Buffer.alloc(PART + 1), endless])
      expect(await put(first, body)).toMatchObject({
        status: 400,
        response: { code: 'INVALID_INPUT' },
      })
    for (const number of ['0', '4', '01', '-1', 'x', '999999', ''])
      expect((await put(first.replace(/1$/, number), partOf(1))).status).toBe(400)
    expect((await up.look(id)).value.received).toEqual([])
    expect((await up.abort(id)).status).toBe(200)
  })

  it('cannot be used to read, to delete, or for another upload', async () => {
    const [one, other] = [await begun(), await begun()]
    const [url = ''] = one.urls
    await put(url, partOf(1))
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE', 'PATCH'])
      expect((await rest(t.url, method, url.slice(t.url.length))).status).toBe(405)
    for (const path of [
      url.replace(/\/1$/, ''),
      url.replace(/.(?=\/1$)/, '~'),
      `${t.url}/api/blobs/${one.id}/1`,
    ])
      expect((await rest(t.url, 'GET', path.slice(t.url.length))).status).toBeGreaterThanOrEqual(
        404,
      )
    expect((await up.look(other.id)).value.received).toEqual([])
    for (const { id } of [one, other]) await up.abort(id)
    expect(await put(url, partOf(1))).toMatchObject({
      status: 404,
      response: { code: 'UPLOAD_NOT_FOUND' },
    })
  })

  it('verify the Content-MD5 of a part', async () => {
    const { id, urls } = await begun()
    const sum = (part: Uint8Array) => ({
      'content-md5': createHash('md5').update(part).digest('base64'),
    })
    const wrong = await put(urls[0] ?? '', partOf(1), sum(partOf(2)))
    expect(wrong).toMatchObject({ status: 400, response: { code: 'CHECKSUM_MISMATCH' } })
    expect((await put(urls[1] ?? '', partOf(2), sum(partOf(2)))).status).toBe(201)
    expect((await up.look(id)).value.received).toEqual([2])
    await up.abort(id)
  })

  it('are available to pages of allowed origins only', async () => {
    const { id, urls } = await begun()
    const preflight = (origin: string) =>
      fetch(urls[0] ?? '', {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'PUT',
          'access-control-request-headers': 'content-md5',
        },
      })
    const allowed = await preflight(APP)
    expect(allowed.headers.get('access-control-allow-origin')).toBe(APP)
    expect(allowed.headers.get('access-control-allow-methods')).toContain('PUT')
    expect(
      (await preflight('https://evil.example.com')).headers.get('access-control-allow-origin'),
    ).toBeNull()
    const sent = await put(urls[0] ?? '', partOf(1), { origin: APP })
    expect([sent.status, sent.headers.get('access-control-allow-origin')]).toEqual([201, APP])
    await up.abort(id)
  })
})

it('A part that breaks off or is repeated uses no more disk than the upload has reserved', async () => {
  const { id, urls } = await begun()
  for (let n = 0; n < 5; n++) await put(urls[0] ?? '', randomBytes(PART))
  await expect(
    put(
      urls[1] ?? '',
      new ReadableStream({
        async pull(control) {
          control.enqueue(randomBytes(10))
          await sleep(50)
          control.error(new Error('The line is cut.'))
        },
      }),
    ),
  ).rejects.toThrow()
  const { execFileSync } = await import('node:child_process')
  const dir = `${t.app.store.label.replace('files in ', '')}/drafts/${id}`
  const listing = () => execFileSync('ls', ['-A', dir], { encoding: 'utf8' }).trim().split('\n')
  for (const end = Date.now() + 5000; listing().length > 3 && Date.now() < end; ) await sleep(20)
  expect(listing()).toEqual(['data', 'index', 'replaced'])
  expect(Number(execFileSync('stat', ['-c', '%s', `${dir}/data`], { encoding: 'utf8' }))).toBe(PART)
  expect((await up.abort(id)).status).toBe(200)
  expect(() => execFileSync('ls', [dir], { stdio: 'ignore' })).toThrow()
})

it('The next sweep deletes the parts of a file when the instance died before cleaning up', async () => {
  const { id, urls } = await begun()
  for (const n of [1, 2, 3]) await put(urls[n - 1] ?? '', partOf(n))
  const { endParts } = t.app.store
  t.app.store.endParts = async () => {}
  expect((await up.complete(id)).status).toBe(200)
  t.app.store.endParts = endParts
  const drafts = () => readdirSync(`${t.app.store.label.replace('files in ', '')}/drafts`)
  expect(drafts()).toContain(id)
  await t.app.sweeper.run()
  expect(drafts()).not.toContain(id)
  expect(Buffer.concat(await (await t.app.store.open(id)).toArray()).equals(bytes)).toBe(true)
})

describe('The signed address of a file', () => {
  const url = async (name: string) => {
    const { response } = await alice.rest('POST', '/api/files/quick_share', {
      json: { object: name },
    })
    const { status, headers } = await rest(t.url, 'GET', `/api/d/${response.sharing_token}`)
    expect(status).toBe(302)
    return headers.get('location') ?? ''
  }
  const content = randomBytes(300_000)
  beforeAll(async () => {
    await alice.upload('thing.bin', content)
  })

  it('starts with /api, and supports concurrent resumed downloads', async () => {
    const address = await url('thing.bin')
    expect(address.startsWith(`${t.url}/api/blobs/`)).toBe(true)
    const whole = await fetch(address)
    const etag = whole.headers.get('etag') ?? ''
    expect(whole.headers.get('content-security-policy')).toMatch(/^sandbox;/)
    expect(Buffer.from(await whole.arrayBuffer()).equals(content)).toBe(true)
    const pieces = await Promise.all(
      Array.from({ length: 10 }, async (_, n) => {
        const range = `bytes=${n * 30_000}-${(n + 1) * 30_000 - 1}`
        const answer = await fetch(address, { headers: { range, 'if-range': etag } })
        expect(answer.status).toBe(206)
        return Buffer.from(await answer.arrayBuffer())
      }),
    )
    expect(Buffer.concat(pieces).equals(content)).toBe(true)
    expect((await fetch(address, { headers: { 'if-none-match': etag } })).status).toBe(304)
    expect((await fetch(address, { headers: { range: 'bytes=300000-' } })).status).toBe(416)
    const other = await fetch(address, { headers: { range: 'bytes=0-1', 'if-range': '"other"' } })
    expect([other.status, (await other.arrayBuffer()).byteLength]).toEqual([200, content.length])
  })

  it('expires with its share, even between two ranges', async () => {
    const { response } = await alice.rest('POST', '/api/files/quick_share', {
      json: { object: 'thing.bin' },
    })
    const { headers } = await rest(t.url, 'GET', `/api/d/${response.sharing_token}`)
    const address = headers.get('location') ?? ''
    expect((await fetch(address, { headers: { range: 'bytes=0-9' } })).status).toBe(206)
    await alice.rest('POST', `/api/share/revoke/${response.sharing_token}`)
    expect((await fetch(address, { headers: { range: 'bytes=10-19' } })).status).toBe(404)
  })
})
