import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { expectConsistent, outlive } from '../support/consistency.ts'
import { randomFrom } from '../support/fuzz.ts'
import { type Person, signInTo, startApp, type TestApp } from '../support/harness.ts'
import {
  type HttpProxy,
  type Passing,
  startHttpProxy,
  startStoreProxy,
} from '../support/http-proxy.ts'
import { restUploader } from '../support/uploader.ts'

declare const storeUnderTest: 'disk' | 'azure' | 's3'

const PART = 2048
const AT_ONCE = 5

let t: TestApp
let beforeService: HttpProxy
let beforeStore: HttpProxy
let alice: Person

/** The bit to flip once in transit, by the part at the end of an address. */
const flips = new Map<string, number>()
let flipped = 0

function flip({ method, path, body }: Passing): Buffer | undefined {
  const [part] = [...flips.keys()].filter(each => method === 'PUT' && path.includes(each))
  const bit = part === undefined ? undefined : flips.get(part)
  if (part === undefined || bit === undefined) return undefined
  flips.delete(part)
  flipped++
  const other = Buffer.from(body)
  const at = (bit >> 3) % other.length
  other[at] = (other[at] ?? 0) ^ (1 << (bit & 7))
  return other
}

beforeAll(async () => {
  const atStore = storeUnderTest === 'disk' ? undefined : await startStoreProxy()
  t = await startApp({
    UPLOAD_PART_BYTES: String(PART),
    ...(atStore ? { BLOB_PUBLIC_URL: atStore.url } : {}),
  })
  beforeService = await startHttpProxy(Number(new URL(t.url).port))
  beforeStore = atStore ?? beforeService
  beforeService.interfere = flip
  beforeStore.interfere = flip
  alice = await signInTo(t.app.db, beforeService.url, 'alice')
})
afterAll(async () => {
  await beforeService.close()
  await t.stop()
  if (beforeStore !== beforeService) await beforeStore.close()
})

const crc32Of = (bytes: Uint8Array) => crc32(bytes).toString(16).padStart(8, '0')
const hash = (algorithm: string, bytes: Uint8Array) =>
  algorithm === 'crc32' ? crc32Of(bytes) : createHash(algorithm).update(bytes).digest('hex')

interface Transfer {
  filename: string
  bytes: Buffer
  /** The part with the flipped bit. */
  damaged: number
  bit: number
  /** What detects the damage: the checksum of the part, or a checksum of the whole file. */
  given: 'content-md5' | 'md5' | 'sha256' | 'crc32'
}

function transfers(
  name: string,
  count: number,
  given: (n: number) => Transfer['given'],
): Transfer[] {
  const random = randomFrom(count)
  const whole = (below: number) => Math.floor(random() * below)
  return Array.from({ length: count }, (_, n) => {
    const bytes = Buffer.from(Array.from({ length: 1 + whole(3 * PART) }, () => whole(256)))
    const parts = Math.ceil(bytes.length / PART)
    return {
      filename: `${name}-${n}`,
      bytes,
      damaged: 1 + whole(parts),
      bit: whole(8 * PART),
      given: given(n),
    }
  })
}

/** The visible state of Alice's files. */
const seen = async () => {
  const { response } = await alice.rest('GET', '/api/user/bucket')
  return response.bucket_data.objects.map((o: { name: string }) => o.name) as string[]
}

/**
 * Carries out a transfer that is damaged in transit. Returns how it was refused, and then completes
 * it.
 */
async function damaged({ filename, bytes, damaged: n, bit, given }: Transfer, direct: boolean) {
  const up = restUploader(alice)
  const { value } = await up.start({ filename, size: bytes.length, direct })
  const { upload_id: id, parts } = value
  const partOf = (number: number) => bytes.subarray((number - 1) * PART, number * PART)
  /** Sends a part with a checksum, if its sender has one. Returns how it was refused. */
  const put = async (number: number): Promise<string | undefined> => {
    const part = partOf(number)
    const sum =
      given === 'content-md5' ? createHash('md5').update(part).digest('base64') : undefined
    if (!direct) {
      const { code, value } = await up.part(id, number, {
        bytes: part,
        ...(sum ? { contentMd5: sum } : {}),
      })
      if (code === undefined && value.crc32 !== crc32Of(part)) noticed.push(number)
      return code
    }
    const { pathname, search } = new URL(parts[number - 1].url)
    const { status } = await fetch(`${beforeStore.url}${pathname}${search}`, {
      method: 'PUT',
      body: new Uint8Array(part),
      headers: sum ? { 'content-md5': sum } : {},
    })
    return status === (storeUnderTest === 's3' ? 200 : 201) ? undefined : `the store says ${status}`
  }
  const key = direct
    ? new URL(parts[n - 1].url).pathname + new URL(parts[n - 1].url).search
    : `${id}/parts/${n}`
  flips.set(key, bit)
  const codes: (string | undefined)[] = []
  /** Parts whose sender detects the damage by the response. */
  const noticed: number[] = []
  for (let number = 1; number <= Math.ceil(bytes.length / PART); number++)
    codes.push(await put(number))
  const digests = given === 'content-md5' ? {} : { [given]: hash(given, bytes) }
  if (given === 'content-md5') expect((await up.look(id)).value.received).not.toContain(n)
  else codes.push((await up.complete(id, digests)).code)
  expect(noticed).toEqual(direct || given === 'content-md5' ? [] : [n])
  expect(await seen()).not.toContain(filename)
  expect(await put(n)).toBeUndefined()
  expect((await up.complete(id, digests)).value).toMatchObject({ md5_checksum: hash('md5', bytes) })
  return codes.filter(code => code !== undefined)
}

async function refusalsOf(all: Transfer[], direct: boolean): Promise<unknown[]> {
  const refusals: unknown[] = []
  const rest = all.values()
  const work = async () => {
    for (const transfer of rest) refusals.push(...(await damaged(transfer, direct)))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return refusals
}

describe('A bit that is flipped in transit', () => {
  it('is detected in each of 50 uploads through the service, and no file appears', async () => {
    flipped = 0
    const all = transfers(
      'through',
      50,
      n => (['content-md5', 'md5', 'sha256', 'crc32'] as const)[n % 4] ?? 'md5',
    )
    expect(await refusalsOf(all, false)).toEqual(Array(50).fill('CHECKSUM_MISMATCH'))
    expect(flipped).toBe(50)
    await expectConsistent(t)
  })

  it('is detected in each of 50 uploads straight to the store, and no file appears', async () => {
    flipped = 0
    const all = transfers('direct', 50, n => (['md5', 'sha256', 'crc32'] as const)[n % 3] ?? 'md5')
    expect(await refusalsOf(all, true)).toEqual(Array(50).fill('CHECKSUM_MISMATCH'))
    expect(flipped).toBe(50)
    await expectConsistent(t)
  })

  it('is detected by the store itself when the part has a checksum', async () => {
    const all = transfers('summed', 10, () => 'content-md5')
    expect(await refusalsOf(all, true)).toEqual(Array(10).fill('the store says 400'))
  })

  it('leaves only intact files behind', async () => {
    await outlive(t)
    await expectConsistent(t)
    expect(await seen()).toHaveLength(110)
    expect(await t.app.db.rows("SELECT id FROM blobs WHERE state <> 'live'")).toEqual([])
    expect(t.failures()).toEqual([])
  })
})
