import { createHash, randomBytes, randomInt } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { expectConsistent, outlive, quiet } from '../support/consistency.ts'
import { type FlakyProxy, startFlakyProxy } from '../support/flaky-proxy.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { until } from '../support/until.ts'
import { restUploader } from '../support/uploader.ts'
import { head, openWire, type Wire } from '../support/wire.ts'
import { serverOf } from './s3/server.ts'

declare const storeUnderTest: 'disk' | 'azure' | 's3'
const onDisk = storeUnderTest === 'disk'
const overNetwork = onDisk ? it.skip : it

const KiB = 1024
const PART = 2048 * KiB

let t: TestApp
let alice: Person
/** The proxy before the store, if the store is reached over a network. */
let proxy: FlakyProxy | undefined

async function startDisk(): Promise<void> {
  t = await startApp({ UPLOAD_PART_BYTES: String(PART) })
  alice = await t.signIn('alice')
}

beforeAll(async () => {
  if (onDisk) return startDisk()
  const [name, url] =
    storeUnderTest === 's3'
      ? ['S3_ENDPOINT', serverOf().endpoint]
      : ['AZURE_STORAGE_CONNECTION_STRING', process.env.TEST_AZURE ?? '']
  const port = Number(/http:\/\/127\.0\.0\.1:(\d+)/.exec(url)?.[1])
  proxy = await startFlakyProxy({ host: '127.0.0.1', port })
  t = await startApp({
    UPLOAD_PART_BYTES: String(PART),
    [name]: url.replace(`:${port}`, `:${proxy.port}`),
  })
  alice = await t.signIn('alice')
})
afterAll(async () => {
  await t.stop()
  await proxy?.close()
})

const md5Of = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex')

/** A multipart upload, and a way to send one of its parts in pieces. */
async function begin(count = 1) {
  const up = restUploader(alice)
  const bytes = randomBytes(count * PART)
  const { value } = await up.start({
    filename: `${randomBytes(6).toString('hex')}.bin`,
    size: bytes.length,
  })
  const id: string = value.upload_id
  const partOf = (n: number) => bytes.subarray((n - 1) * PART, n * PART)
  return {
    up,
    id,
    bytes,
    partOf,
    whole: async (n: number) =>
      expect((await up.part(id, n, { bytes: partOf(n) })).status).toBe(200),
    takes: async (n: number) => {
      const { status } = await up.part(id, n, { bytes: partOf(n) })
      expect([200, 503]).toContain(status)
      return status === 200
    },
    received: async () => (await up.look(id)).value.received as number[],
    async slowly(
      n: number,
      headers: Record<string, string | number> = { 'content-length': PART },
    ): Promise<Wire> {
      const wire = await openWire(t.url)
      await wire.send(head(alice, `PUT /api/files/uploads/${id}/parts/${n}`, headers))
      return wire
    },
    async finish() {
      const { status, value } = await up.complete(id)
      expect([status, value.md5_checksum]).toEqual([200, md5Of(bytes)])
      const sent = await t.app.store.open(id)
      expect(md5Of(Buffer.concat(await sent.toArray()))).toBe(md5Of(bytes))
    },
  }
}

/**
 * Waits until the store has received some bytes of a client, before all of them can have arrived.
 */
async function reachStore(send: () => Promise<unknown>): Promise<void> {
  const before = bytesAtStore()
  await send()
  await until(() => bytesAtStore() - before > 300 * KiB)
}

/**
 * The number of bytes that the store has received: over the network, or in its files for incomplete
 * parts.
 */
function bytesAtStore(): number {
  if (proxy) return proxy.sent()
  const drafts = join(blobDir(), 'drafts')
  return readdirSync(drafts, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.in'))
    .reduce(
      (sum, name) => sum + (statSync(join(drafts, name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    )
}
const blobDir = () => t.app.store.label.replace('files in ', '')

describe('An upload part', () => {
  it('streams to the store as it arrives, and counts once its last byte has arrived', async () => {
    const { slowly, partOf, received, finish } = await begin()
    const wire = await slowly(1)
    await reachStore(() => wire.send(partOf(1).subarray(0, PART / 2)))
    await wire.send(partOf(1).subarray(PART / 2, -1))
    await sleep(200)
    expect(await received()).toEqual([])
    await wire.send(partOf(1).subarray(-1))
    expect(await wire.answer()).toMatchObject({
      status: 200,
      response: { part_number: 1, size: PART },
    })
    wire.socket.destroy()
    expect(await received()).toEqual([1])
    await finish()
  })

  it('leaves nothing when it breaks off, and does not affect concurrent parts', async () => {
    const uploads = await Promise.all(Array.from({ length: 4 }, () => begin(3)))
    let broken = 0
    const breakOff = async ({ slowly, partOf }: (typeof uploads)[number], n: number) => {
      const wire = await slowly(n)
      await wire.send(partOf(n).subarray(0, randomInt(PART)))
      await sleep(randomInt(30))
      wire.cut()
      broken += 1
    }
    await Promise.all(
      uploads.map(async upload => {
        for (const n of [1, 2, 3]) {
          for (let i = 0; i < 4; i++) await breakOff(upload, n)
          // The service takes two parts of an upload at a time, and may not have noticed yet that
          // earlier ones were cut off.
          await Promise.all([breakOff(upload, n), until(() => upload.takes(n))])
        }
      }),
    )
    expect(broken).toBe(4 * 3 * 5)
    for (const { received, finish } of uploads) {
      expect(await received()).toEqual([1, 2, 3])
      await finish()
    }
  })

  it('is not stored when it was cut off, and can be sent again', async () => {
    const { slowly, partOf, received, whole, finish } = await begin()
    const wire = await slowly(1)
    await reachStore(() => wire.send(partOf(1).subarray(0, -1)))
    wire.cut()
    await quiet(t)
    expect(await received()).toEqual([])
    await whole(1)
    await finish()
  })

  it.each([
    ['longer', PART + 1],
    ['shorter', PART - 1],
  ])('that is %s than declared is refused', async (_what, size) => {
    const { slowly, received, partOf, whole, finish } = await begin()
    await whole(1)
    const wire = await slowly(1, { 'transfer-encoding': 'chunked' })
    await reachStore(() => wire.send(`${(PART / 2).toString(16)}\r\n${'x'.repeat(PART / 2)}\r\n`))
    const rest = size - PART / 2
    await wire.send(`${rest.toString(16)}\r\n${'x'.repeat(rest)}\r\n0\r\n\r\n`)
    expect(await wire.answer()).toMatchObject({
      status: 400,
      response: { code: 'INVALID_INPUT', field: 'part' },
    })
    wire.socket.destroy()
    expect(await received()).toEqual([1])
    expect(partOf(1)).toHaveLength(PART)
    await finish()
  })

  it('with a wrong Content-MD5 is refused, and the earlier part stays', async () => {
    const { up, id, whole, finish } = await begin()
    await whole(1)
    const other = {
      bytes: randomBytes(PART),
      contentMd5: createHash('md5').update('other').digest('base64'),
    }
    expect(await up.part(id, 1, other)).toMatchObject({ status: 400, code: 'CHECKSUM_MISMATCH' })
    await finish()
  })

  it('does not become part of a file that is completed while the part arrives', async () => {
    const { slowly, id, whole, finish } = await begin()
    await whole(1)
    const wire = await slowly(1)
    const other = randomBytes(PART)
    await reachStore(() => wire.send(other.subarray(0, PART / 2)))
    await finish()
    await sleep(1100)
    await wire.send(other.subarray(PART / 2))
    expect(await wire.answer()).toMatchObject({
      status: 404,
      response: { code: 'UPLOAD_NOT_FOUND' },
    })
    wire.socket.destroy()
    // Only Azure still knows the parts of a blob after they have become a file.
    expect(await t.app.store.partsOf(id)).toEqual(
      new Map(storeUnderTest === 'azure' ? [[1, PART]] : []),
    )
    expect((await t.app.store.look(id))?.size).toBe(PART)
  })

  overNetwork('is to be sent again when the store breaks off in the middle', async () => {
    const { slowly, id, partOf, received, whole, finish } = await begin()
    const wire = await slowly(1)
    await reachStore(() => wire.send(partOf(1).subarray(0, PART / 2)))
    proxy?.cut()
    expect(await wire.answer()).toMatchObject({ status: 503, response: { code: 'UNAVAILABLE' } })
    // A client that sends everything before it reads must lose neither the response nor the
    // connection.
    await wire.send(partOf(1).subarray(PART / 2))
    await wire.send(head(alice, `GET /api/files/uploads/${id}`))
    expect(await wire.answer()).toMatchObject({ status: 200, response: { received: [] } })
    wire.socket.destroy()
    expect(await received()).toEqual([])
    await whole(1)
    await finish()
  })

  overNetwork('waits for a store that comes back', async () => {
    const { whole, finish } = await begin()
    await proxy?.refuse()
    const sent = whole(1)
    await sleep(300)
    await proxy?.heal()
    await sent
    await finish()
  })
})

it('No temporary data is left at the end', async () => {
  await expectConsistent(t)
  await outlive(t)
  await expectConsistent(t)
  expect(await t.app.db.rows("SELECT id FROM blobs WHERE state <> 'live'")).toEqual([])
})
