import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ROOMY, UNHURRIED } from '../support/builders.ts'
import { expectConsistent } from '../support/consistency.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import {
  checksumOf,
  countedOf,
  metadataOf,
  offsetOf,
  patch,
  storedBytes,
  type Tus,
  tusOfPerson,
} from '../support/tus-client.ts'

const PART = 64 * 1024

let t: TestApp
let alice: Person
let tus: Tus
beforeAll(async () => {
  t = await startApp({ ...UNHURRIED, UPLOAD_PART_BYTES: String(PART) })
  await t.limit(ROOMY)
  alice = await t.signIn('alice')
  tus = tusOfPerson(t.url, alice)
})
afterAll(() => t.stop())

const DEFER = { 'upload-defer-length': '1' }

/** Creates an upload with a deferred length. Returns its URL. */
async function begin(filename?: string, headers: Record<string, string> = {}): Promise<string> {
  const metadata = filename ? { 'upload-metadata': metadataOf({ filename }) } : {}
  const made = await tus('POST', '', { ...DEFER, ...metadata, ...headers })
  expect([made.status, offsetOf(made)]).toEqual([201, 0])
  return made.headers.get('location') ?? ''
}

const told = async (url: string) => {
  const { headers } = await tus('HEAD', url)
  return ['upload-offset', 'upload-length', 'upload-defer-length'].map(name => headers.get(name))
}

const reserved = async () => (await countedOf(t, alice))?.reserved

describe('A tus upload with a deferred length', () => {
  it('is announced as an extension', async () => {
    const { headers } = await tus('OPTIONS', '')
    expect(headers.get('tus-extension')?.split(',')).toContain('creation-defer-length')
  })

  it('reserves only received bytes, and becomes a file with the last byte', async () => {
    const name = randomUUID()
    const bytes = randomBytes(3 * PART + 100)
    const url = await begin(name)
    expect(await reserved()).toBe(0)
    let offset = 0
    for (const end of [5, PART - 1, PART + 7, 3 * PART]) {
      expect(offsetOf(await patch(tus, url, offset, bytes.subarray(offset, end)))).toBe(end)
      expect(await reserved()).toBe(end)
      expect(await told(url)).toEqual([String(end), null, '1'])
      offset = end
    }
    const length = { 'upload-length': String(bytes.length) }
    const halfway = offset + 50
    await patch(tus, url, offset, bytes.subarray(offset, halfway), length)
    expect(await reserved()).toBe(bytes.length)
    expect(await told(url)).toEqual([String(halfway), String(bytes.length), null])
    const done = await patch(tus, url, halfway, bytes.subarray(halfway))
    expect([done.status, offsetOf(done)]).toEqual([204, bytes.length])
    expect(done.headers.get('satchel-file-id')).toMatch(/-/)
    expect(await storedBytes(t.url, alice, name)).toEqual(bytes)
    expect(await reserved()).toBe(0)
    await expectConsistent(t)
  })

  it.each([0, 1, PART - 1, PART, PART + 1, 2 * PART])(
    'may declare its end when all of its %d bytes have arrived',
    async size => {
      const name = randomUUID()
      const bytes = randomBytes(size)
      const url = await begin(name)
      for (let at = 0; at < size; at += 40_000)
        await patch(tus, url, at, bytes.subarray(at, at + 40_000))
      expect(await told(url)).toEqual([String(size), null, '1'])
      const end = () => patch(tus, url, size, '', { 'upload-length': String(size) })
      const done = await end()
      expect([done.status, offsetOf(done)]).toEqual([204, size])
      // The response to it may have been lost.
      expect((await end()).status).toBe(204)
      expect(await told(url)).toEqual([String(size), String(size), null])
      expect(await storedBytes(t.url, alice, name)).toEqual(bytes)
      expect(await reserved()).toBe(0)
      await expectConsistent(t)
    },
  )

  it('may send its first bytes in the creation request', async () => {
    const name = randomUUID()
    const begun = await tus(
      'POST',
      '',
      {
        ...DEFER,
        'content-type': 'application/offset+octet-stream',
        'upload-metadata': metadataOf({ filename: name }),
      },
      'hello ',
    )
    expect([begun.status, offsetOf(begun)]).toEqual([201, 6])
    const url = begun.headers.get('location') ?? ''
    expect((await patch(tus, url, 6, 'world', { 'upload-length': '11' })).status).toBe(204)
    expect((await storedBytes(t.url, alice, name)).toString()).toBe('hello world')
  })

  it('reaches its full offset only when its file exists', async () => {
    const name = randomUUID()
    const url = await begin(`${name}-other`)
    await patch(tus, url, 0, 'bytes')
    await alice.upload(`${name}-other`, 'there before the end')
    const end = () => patch(tus, url, 5, '', { 'upload-length': '5' })
    expect((await end()).status).toBe(409)
    expect(await told(url)).toEqual(['5', null, '1'])
    await alice.rest('DELETE', `/api/files/delete?file=${name}-other`)
    // More bytes may follow, which makes the last part larger.
    expect((await patch(tus, url, 5, ' and more')).status).toBe(204)
    const later = await patch(tus, url, 14, '', { 'upload-length': '14' })
    expect([later.status, later.body]).toEqual([204, undefined])
    expect((await storedBytes(t.url, alice, `${name}-other`)).toString()).toBe('bytes and more')
    await expectConsistent(t)
  })

  it('discards a chunk with a wrong checksum, and frees its reservation in the end', async () => {
    const name = randomUUID()
    const url = await begin(name)
    const wrong = await patch(tus, url, 0, randomBytes(2 * PART), checksumOf('sha1', 'other'))
    expect(wrong.status).toBe(460)
    expect((await told(url))[0]).toBe('0')
    const right = checksumOf('sha1', 'some')
    expect((await patch(tus, url, 0, 'some', right)).status).toBe(204)
    expect((await patch(tus, url, 4, '', { 'upload-length': '4' })).status).toBe(204)
    expect((await storedBytes(t.url, alice, name)).toString()).toBe('some')
    expect(await reserved()).toBe(0)
    await expectConsistent(t)
  })

  it('can be concatenated once its length is known', async () => {
    const name = randomUUID()
    const partial = { 'upload-concat': 'partial' }
    const [a, b] = [randomBytes(PART + 10), randomBytes(PART)]
    const urls = [await begin(undefined, partial), await begin(undefined, partial)]
    const [first = '', second = ''] = urls
    await patch(tus, first, 0, a)
    await patch(tus, second, 0, b.subarray(0, 9))
    const join = () =>
      tus('POST', '', {
        'upload-concat': `final;${urls.join(' ')}`,
        'upload-metadata': metadataOf({ filename: name }),
      })
    expect((await join()).status).toBe(400)
    const lengthOf = (bytes: Uint8Array) => ({ 'upload-length': String(bytes.length) })
    expect((await patch(tus, first, a.length, '', lengthOf(a))).status).toBe(204)
    expect((await patch(tus, second, 9, b.subarray(9), lengthOf(b))).status).toBe(204)
    expect((await join()).status).toBe(201)
    expect(await storedBytes(t.url, alice, name)).toEqual(Buffer.concat([a, b]))
    expect(await reserved()).toBe(0)
    await expectConsistent(t)
  })

  it('can be terminated or expire, and frees its reservation', async () => {
    const url = await begin(randomUUID())
    await patch(tus, url, 0, randomBytes(PART + 5))
    expect(await reserved()).toBe(PART + 5)
    expect((await tus('DELETE', url)).status).toBe(204)
    expect(await reserved()).toBe(0)
    await expectConsistent(t)
  })

  it('rejects an invalid, too small or changed length', async () => {
    const named = { 'upload-metadata': metadataOf({ filename: randomUUID() }) }
    const post = async (headers: Record<string, string>) =>
      (await tus('POST', '', { ...named, ...headers })).status
    expect(await post({ ...DEFER, 'upload-length': '5' })).toBe(400)
    expect(await post({ 'upload-defer-length': '0' })).toBe(400)
    expect(await post({})).toBe(400)
    const url = await begin(randomUUID())
    await patch(tus, url, 0, 'hello')
    const say = async (length: string, bytes = '') =>
      (await patch(tus, url, 5, bytes, { 'upload-length': length })).status
    expect(await say('4')).toBe(400)
    expect(await say('many')).toBe(400)
    expect(await say('5', 'more')).toBe(413)
    expect(await say('7', 'more')).toBe(413)
    expect(await say('10')).toBe(204)
    expect(await say('11')).toBe(400)
    expect(await told(url)).toEqual(['5', '10', null])
    expect(await say('10', 'world')).toBe(204)
    await expectConsistent(t)
  })

  it('stops at the limits of the plan, and continues after an upgrade', async () => {
    const name = randomUUID()
    const url = await begin(name)
    const room = ((await countedOf(t, alice))?.used ?? 0) + 2 * PART
    await t.limit({ maxTotalStorageBytes: room })
    const bytes = randomBytes(3 * PART)
    const full = await patch(tus, url, 0, bytes)
    expect([full.status, full.body.response.code]).toEqual([413, 'QUOTA_EXCEEDED'])
    expect(await told(url)).toEqual([String(2 * PART), null, '1'])
    const long = { 'upload-length': String(3 * PART) }
    expect((await patch(tus, url, 2 * PART, '', long)).status).toBe(413)
    await t.limit({ maxTotalStorageBytes: 5 * 2 ** 30, maxFileSizeBytes: 2 * PART + 5 })
    const large = await patch(tus, url, 2 * PART, bytes.subarray(0, 6))
    expect([large.status, large.body.response.code]).toEqual([413, 'FILE_TOO_LARGE'])
    await t.limit({ maxTotalStorageBytes: 5 * 2 ** 30, maxFileSizeBytes: 2 ** 31 })
    expect((await patch(tus, url, 2 * PART, bytes.subarray(2 * PART), long)).status).toBe(204)
    expect(await storedBytes(t.url, alice, name)).toEqual(bytes)
    await expectConsistent(t)
  })
})
