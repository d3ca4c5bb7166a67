import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { found } from '../support/builders.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { faces } from '../support/uploader.ts'

declare const storeUnderTest: 'disk' | 'azure' | 's3'
/** The response of a store to a part. */
const stored = storeUnderTest === 's3' ? 200 : 201

const KiB = 1024
const PART = 4 * KiB

let t: TestApp
let alice: Person
let garden: string
beforeAll(async () => {
  t = await startApp({ UPLOAD_PART_BYTES: String(PART) })
  alice = await t.signIn('alice')
  garden = await found(alice)
})
afterAll(() => t.stop())

const md5 = (bytes: Uint8Array | string) => createHash('md5').update(bytes).digest('hex')
const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex')
const partOf = (bytes: Buffer, n: number) => bytes.subarray((n - 1) * PART, n * PART)

describe.each(faces)('$face', ({ face: name, front, by }) => {
  const uploader = () => by(alice, garden)
  const path = (file: string) => `${front}${name}/${file}`

  test('assembles parts that arrive in any order', async () => {
    const up = uploader()
    const bytes = randomBytes(3 * PART + 5)
    const begun = await up.start({
      filename: 'a.bin',
      size: bytes.length,
      folder: name,
      content_type: 'application/x-thing',
    })
    expect(begun).toMatchObject({
      status: 200,
      value: { chunk_size: PART, part_count: 4, parts: null },
    })
    const { upload_id: id } = begun.value
    for (const n of [4, 2, 3]) {
      const contentMd5 = createHash('md5').update(partOf(bytes, n)).digest('base64')
      expect(await up.part(id, n, { bytes: partOf(bytes, n), contentMd5 })).toMatchObject({
        status: 200,
        value: { part_number: n, size: partOf(bytes, n).length },
      })
    }
    expect((await up.look(id)).value).toEqual({
      upload_id: id,
      filename: 'a.bin',
      folder: front + name,
      size: bytes.length,
      chunk_size: PART,
      received: [2, 3, 4],
      expires_at: expect.any(String),
    })
    expect(await up.complete(id)).toMatchObject({ code: 'UPLOAD_INCOMPLETE' })
    expect(await up.part(id, 1, { bytes: randomBytes(PART) })).toMatchObject({ status: 200 })
    expect(await up.complete(id, { md5: md5(bytes) })).toMatchObject({ code: 'CHECKSUM_MISMATCH' })
    expect(await up.part(id, 1, { bytes: partOf(bytes, 1) })).toMatchObject({ status: 200 })
    expect(await up.complete(id, { md5: md5(bytes), sha256: sha256(bytes) })).toMatchObject({
      status: 200,
      value: {
        upload_id: id,
        file_name: path('a.bin'),
        md5_checksum: md5(bytes),
        size: bytes.length,
        file: { path: path('a.bin'), file_type: 'application/x-thing' },
      },
    })
    expect(await up.look(id)).toMatchObject({ code: 'UPLOAD_NOT_FOUND' })
  })

  test('accepts parts that are sent straight to the store', async () => {
    const up = uploader()
    const bytes = randomBytes(2 * PART + 7)
    const begun = await up.start({
      filename: 'direct.bin',
      size: bytes.length,
      folder: name,
      direct: true,
    })
    expect(begun.value.parts).toHaveLength(3)
    const { upload_id: id, parts } = begun.value
    for (const { part_number: n, url } of parts)
      expect(
        (await fetch(url, { method: 'PUT', body: partOf(bytes, n) as Uint8Array<ArrayBuffer> }))
          .status,
      ).toBe(stored)
    expect((await up.look(id)).value.received).toEqual([1, 2, 3])
    expect(await up.complete(id, { md5: md5(bytes) })).toMatchObject({
      status: 200,
      value: { md5_checksum: md5(bytes) },
    })
  })

  test('accepts an empty file', async () => {
    const up = uploader()
    const begun = await up.start({ filename: 'empty', size: 0, folder: name })
    expect(begun.value).toMatchObject({ part_count: 1 })
    expect(await up.part(begun.value.upload_id, 1, { bytes: '' })).toMatchObject({
      value: { part_number: 1, size: 0, crc32: '00000000' },
    })
    expect(await up.complete(begun.value.upload_id)).toMatchObject({
      value: { size: 0, md5_checksum: md5('') },
    })
  })

  test('releases everything when an upload is aborted', async () => {
    const up = uploader()
    const begun = await up.start({ filename: 'gone', size: PART, folder: name })
    await up.part(begun.value.upload_id, 1, { bytes: randomBytes(PART) })
    expect(await up.abort(begun.value.upload_id)).toMatchObject({ status: 200, value: null })
    expect(await up.abort(begun.value.upload_id)).toMatchObject({ code: 'UPLOAD_NOT_FOUND' })
  })
})
