import { randomBytes, randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { expectConsistent, quiet } from '../support/consistency.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import {
  countedOf,
  createUpload,
  metadataOf,
  offsetOf,
  patch,
  storedBytes,
  type Tus,
  tusOfPerson,
} from '../support/tus-client.ts'

const PART = 64 * 1024
const CHUNK = { 'content-type': 'application/offset+octet-stream' }

let t: TestApp
let alice: Person
let tus: Tus
beforeAll(async () => {
  t = await startApp({ UPLOAD_PART_BYTES: String(PART) })
  alice = await t.signIn('alice')
  tus = tusOfPerson(t.url, alice)
})
afterAll(() => t.stop())

const named = () => `${randomUUID()}.bin`
const stored = (person: Person, path: string) => storedBytes(t.url, person, path)
const counted = (person: Person) => countedOf(t, person)

describe('The bytes of a tus upload', () => {
  it('arrive in chunks of any size, with the durable offset, and become a file with the last byte', async () => {
    const bytes = randomBytes(3 * PART + 1234)
    const name = named()
    const url = await createUpload(tus, bytes.length, {
      filename: name,
      filetype: 'text/csv',
      folder: 'in/tus',
    })
    let at = 0
    for (const size of [1, 10, 100, 5000, PART, 3, 2 * PART, bytes.length]) {
      const chunk = bytes.subarray(at, at + size)
      const { status, headers } = await patch(tus, url, at, chunk)
      expect([status, offsetOf({ headers })]).toEqual([204, at + chunk.length])
      at += chunk.length
      const seen = await tus('HEAD', url)
      expect([seen.status, offsetOf(seen), seen.headers.get('upload-length')]).toEqual([
        200,
        at,
        String(bytes.length),
      ])
      expect(seen.headers.get('cache-control')).toBe('no-store')
      expect(seen.headers.get('upload-metadata')).toContain(
        `filename ${Buffer.from(name).toString('base64')}`,
      )
      if (at < bytes.length)
        expect(Date.parse(seen.headers.get('upload-expires') ?? '')).toBeGreaterThan(Date.now())
      else {
        expect(headers.get('satchel-file-id')).toMatch(/^[0-9a-f-]{36}$/)
        expect(seen.headers.get('satchel-file-id')).toBe(headers.get('satchel-file-id'))
      }
      if (at === bytes.length) break
    }
    expect(await stored(alice, `in/tus/${name}`)).toEqual(bytes)
    // Sent again, as if its response was lost.
    expect((await patch(tus, url, bytes.length, '')).status).toBe(204)
    expect((await patch(tus, url, 5, 'x')).status).toBe(409)
    expect((await tus('DELETE', url)).status).toBe(403)
    await expectConsistent(t)
  })

  it('need few blobs and little copying, even from a slow client', async () => {
    const bytes = randomBytes(900)
    const name = named()
    const url = await createUpload(tus, bytes.length, { filename: name })
    let most = 0
    for (let at = 0; at < bytes.length; at += 7) {
      await patch(tus, url, at, bytes.subarray(at, at + 7))
      most = Math.max(most, (await t.app.db.rows('SELECT id FROM upload_piece')).length)
    }
    expect(most).toBeGreaterThan(1)
    expect(most).toBeLessThanOrEqual(9)
    expect(await stored(alice, name)).toEqual(bytes)
    await expectConsistent(t)
  })

  it('are kept when the connection breaks', async () => {
    const bytes = randomBytes(2 * PART)
    const url = await createUpload(tus, bytes.length, { filename: named() })
    const sent = PART + 1000
    await new Promise<void>(resolve => {
      const req = request(`${t.url}${url}`, {
        method: 'PATCH',
        headers: {
          ...CHUNK,
          'tus-resumable': '1.0.0',
          cookie: alice.cookie,
          'upload-offset': '0',
          'content-length': bytes.length,
        },
      })
      req.on('error', () => resolve())
      req.write(bytes.subarray(0, sent), () => setTimeout(() => req.destroy(), 300))
    })
    await quiet(t)
    expect(offsetOf(await tus('HEAD', url))).toBe(sent)
    expect((await patch(tus, url, sent, bytes.subarray(sent))).status).toBe(204)
    await expectConsistent(t)
  })

  it('of partial uploads are joined once, in the requested order', async () => {
    const bytes = randomBytes(3 * PART + 999)
    const cuts = [0, PART + 11, PART + 11, 2 * PART + 500, bytes.length]
    const urls: string[] = []
    const partial = { 'upload-concat': 'partial' }
    for (const [i, from] of cuts.slice(0, -1).entries()) {
      const chunk = bytes.subarray(from, cuts[i + 1])
      const url = await createUpload(tus, chunk.length, {}, partial)
      if (chunk.length > 0) expect((await patch(tus, url, 0, chunk)).status).toBe(204)
      const seen = await tus('HEAD', url)
      expect([offsetOf(seen), seen.headers.get('upload-concat')]).toEqual([chunk.length, 'partial'])
      urls.push(url)
    }
    const before = await counted(alice)
    const name = named()
    const final = {
      'upload-concat': `final;${urls.map(url => t.url + url).join(' ')}`,
      'upload-metadata': metadataOf({ filename: name, filetype: 'text/plain' }),
    }
    const [made, again] = await Promise.all([tus('POST', '', final), tus('POST', '', final)])
    const statuses = [made.status, again.status].sort()
    expect(statuses[0]).toBe(201)
    const whole = made.status === 201 ? made : again
    expect(whole.headers.get('satchel-file-id')).toMatch(/-/)
    expect(await stored(alice, name)).toEqual(bytes)
    const url = whole.headers.get('location') ?? ''
    const seen = await tus('HEAD', url)
    expect([offsetOf(seen), seen.headers.get('upload-length')]).toEqual([
      bytes.length,
      String(bytes.length),
    ])
    expect(seen.headers.get('upload-concat')).toMatch(/^final;/)
    expect((await patch(tus, url, bytes.length, '')).status).toBe(403)
    const repeated = await tus('POST', '', final)
    expect([repeated.status, repeated.headers.get('location')]).toEqual([201, url])
    expect((await counted(alice))?.reserved).toBe((before?.reserved ?? 0) - bytes.length)
    for (const part of urls) expect((await tus('HEAD', part)).status).toBe(404)
    await expectConsistent(t)
  })
})
