import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { PassThrough, Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { sourceOf } from '../../src/storage/source.ts'
import {
  BlobMissing,
  type BlobStore,
  BytesDiffer,
  ForeignStore,
  type PutOptions,
  StoreRefusal,
} from '../../src/storage/store.ts'
import type { Uploaded } from '../../src/storage/upload.ts'
import { hexOfCrc32 } from '../../src/upload-engine/crc32.ts'
import { stagePart } from '../support/stage-part.ts'
import { until } from '../support/until.ts'

const MiB = 1024 * 1024

const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex')

/** In chunks of different sizes, like a network. */
export async function* pieces(bytes: Uint8Array, size = 60_001) {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
}

export function put(
  store: BlobStore,
  key: string,
  source: AsyncIterable<Uint8Array>,
  options: Partial<PutOptions> = {},
): Promise<Uploaded> {
  return store.put(key, source, { contentType: 'text/plain', admit: async () => {}, ...options })
}

/** A store under test. */
export interface Subject {
  store: BlobStore
  /** Whether orphaned parts reappear after a removal. They do in Azurite, but not in Azure. */
  forgetsNothing?: boolean
  /** The size of the blocks that the store sends. */
  blockSize?: number
  /** Whether its space is limited by a disk. */
  isOnDisk?: boolean
  /** A second, empty store of the same kind. */
  another(): Promise<BlobStore>
  /** The amount of data under a key that a broken upload has left. 0 if there is none. */
  leftovers(key: string): Promise<number>
}

/** The contract of every store. */
export function describeContract(start: () => Promise<Subject>): void {
  let store: BlobStore
  let another: Subject['another']
  let leftovers: Subject['leftovers']
  let forgetsNothing: boolean | undefined
  let isOnDisk: boolean
  let block: number

  const bytesOf = async (key: string, options?: Parameters<BlobStore['open']>[1]) =>
    Buffer.concat(await (await store.open(key, options)).toArray())
  const keysOf = async (of: BlobStore) => {
    const keys: [string, number][] = []
    for await (const { key, size } of of.list()) keys.push([key, size])
    return keys
  }

  beforeAll(async () => {
    ;({
      store,
      another,
      leftovers,
      forgetsNothing,
      isOnDisk = false,
      blockSize: block = 4 * MiB,
    } = await start())
    await store.prepare()
    await store.prepare()
    await store.ping()
  })

  it('knows its number among the stores of its installation, and rejects an abandoned store', async () => {
    const own = await another()
    const id = randomUUID()
    // Neither the first store of an installation whose blobs were moved, nor an empty store.
    await expect(own.bind(randomUUID(), true, 1)).rejects.toThrow(ForeignStore)
    // Blobs are moved to this store.
    if ((await own.marker()) === undefined) await own.bind(id, false)
    // Before blobs are moved, a container gets a label only if it is known to be the right one.
    if ((await own.marker()) === undefined) {
      await own.bind(id, true, 0, true)
      expect(await own.marker()).toEqual({ installation: id, number: 0 })
    }
    const installation = (await own.marker())?.installation ?? ''
    await own.bind(installation, false, 2)
    expect(await own.marker()).toEqual({ installation, number: 2 })
    expect(await own.current()).toBe(2)
    await own.bind(installation, true, 2)
    await expect(own.bind(installation, true, 1)).rejects.toThrow(/being moved to/)
    await expect(own.bind(installation, true, 3)).rejects.toThrow(/moved to another store/)
    await expect(own.bind(randomUUID(), false, 2)).rejects.toThrow(ForeignStore)
  })

  it('reports its free space, or that it has no limit', async () => {
    const space = await store.space()
    expect(space !== null).toBe(isOnDisk)
    if (!space) return
    expect(space.freeBytes).toBeGreaterThan(0)
    expect(space.totalBytes).toBeGreaterThanOrEqual(space.freeBytes)
  })

  it('provides the source for derived data: a file or a stream', async () => {
    const bytes = randomBytes(300_000)
    await put(store, 'source', pieces(bytes))
    const source = sourceOf(store, { id: 'source', size: bytes.length })
    expect('path' in source).toBe(isOnDisk)
    const read =
      'path' in source
        ? await readFile(source.path)
        : Buffer.concat(await (await source.open()).toArray())
    expect(bytes.equals(read)).toBe(true)
  })

  describe('put', () => {
    it.each([
      0,
      1,
      65_536,
      65_537,
      512 * 1024 + 1,
      4 * MiB - 1,
      4 * MiB,
      4 * MiB + 1,
      8 * MiB,
      9 * MiB + 12_345,
    ])('stores %i bytes, and returns their size, MD5 and CRC-32', async size => {
      const bytes = randomBytes(size)
      const key = `size-${size}`
      expect(await put(store, key, pieces(bytes))).toEqual({
        size,
        md5: md5(bytes),
        crc32: hexOfCrc32(crc32(bytes)),
      })
      expect(bytes.equals(await bytesOf(key))).toBe(true)
      expect(await store.look(key)).toEqual({ size })
    })

    it('accepts a chunk that spans blocks, and empty chunks', async () => {
      const bytes = randomBytes(9 * MiB)
      const source = Readable.from([bytes.subarray(0, 0), bytes, bytes.subarray(0, 0)])
      expect(await put(store, 'chunk', source)).toEqual({
        size: bytes.length,
        md5: md5(bytes),
        crc32: hexOfCrc32(crc32(bytes)),
      })
      expect(bytes.equals(await bytesOf('chunk'))).toBe(true)
    })

    it('keeps many concurrent blobs apart', async () => {
      const files = Array.from({ length: 12 }, (_, n) => randomBytes(n * MiB + n))
      const results = await Promise.all(
        files.map((bytes, n) => put(store, `many-${n}`, pieces(bytes, 200_003))),
      )
      expect(results.map(result => result.md5)).toEqual(files.map(md5))
      for (const [n, bytes] of files.entries())
        expect(bytes.equals(await bytesOf(`many-${n}`))).toBe(true)
    })

    it.each([
      ['no bytes', []],
      ['one chunk', [300_000]],
      ['chunks of different sizes', [1, 2, 20_000, 0, 3, 4, 16_384, 16_383, 60_000, 5]],
      ['many small chunks', Array.from({ length: 30_000 }, (_, n) => 1 + (n % 60))],
      ['the largest source that is not copied', Array.from({ length: 17 }, () => 64 * 1024)],
    ])('stores %s of a source with a known bound', async (title, sizes) => {
      const total = sizes.reduce((sum, size) => sum + size, 0)
      const bytes = randomBytes(total)
      const source = Readable.from(
        (function* () {
          let at = 0
          for (const size of sizes) {
            yield bytes.subarray(at, at + size)
            at += size
          }
        })(),
      )
      const asked: [number, boolean][] = []
      const admit = async (...given: [number, boolean]) => void asked.push(given)
      const key = `bound-${title.replaceAll(' ', '-')}`
      expect(await put(store, key, source, { bound: total, admit })).toEqual({
        size: total,
        md5: md5(bytes),
        crc32: hexOfCrc32(crc32(bytes)),
      })
      expect(asked).toEqual([[total, true]])
      expect(bytes.equals(await bytesOf(key))).toBe(true)
    })

    it('stores nothing of a small source that fails, is refused or exceeds its bound', async () => {
      const bytes = randomBytes(100_000)
      const hungUp = new Error('hung up')
      const broken = async function* () {
        yield bytes
        throw hungUp
      }
      await expect(put(store, 'small', broken(), { bound: 200_000 })).rejects.toBe(hungUp)
      const full = new Error('over the limit')
      const admit = () => Promise.reject(full)
      await expect(put(store, 'small', pieces(bytes), { bound: 100_000, admit })).rejects.toBe(full)
      const larger = Readable.from(pieces(bytes))
      await expect(put(store, 'small', larger, { bound: 99_999 })).rejects.toThrow('larger')
      expect(larger.destroyed).toBe(true)
      const abort = new AbortController()
      const silent = new PassThrough()
      const aborted = put(store, 'small', silent, { bound: 10, signal: abort.signal })
      abort.abort(hungUp)
      await expect(aborted).rejects.toBe(hungUp)
      expect(await store.look('small')).toBeNull()
      expect(await leftovers('small')).toBe(0)
    })

    it('asks before each block is sent, and reports the end of the source', async () => {
      const asked: [number, boolean][] = []
      const admit = async (total: number, ended: boolean) => {
        asked.push([total, ended])
        // The first block is sent when the second is requested, at the earliest.
        if (asked.length === 1) expect(await leftovers('asked')).toBe(0)
      }
      await put(store, 'asked', pieces(new Uint8Array(2 * block + 5)), { admit })
      expect(asked).toEqual([
        [block, false],
        [2 * block, false],
        [2 * block + 5, true],
      ])
      asked.length = 1
      await put(store, 'asked', pieces(new Uint8Array(block)), { admit })
      await put(store, 'asked', pieces(new Uint8Array(0)), { admit })
      expect(asked.slice(1)).toEqual([
        [block, true],
        [0, true],
      ])
    })

    it.each([1, 3])('leaves nothing behind when block %i is refused', async refused => {
      const key = `refused-${refused}`
      const source = Readable.from(pieces(randomBytes(3 * block + MiB)))
      let asked = 0
      const admit = async () => {
        asked += 1
        if (asked === refused) throw new Error('over the limit')
      }
      await expect(put(store, key, source, { admit })).rejects.toThrow('over the limit')
      expect(source.destroyed).toBe(true)
      expect(await store.look(key)).toBeNull()
      await store.remove([key])
      expect(await leftovers(key)).toBe(0)
    })

    it('rejects with the reason of an abort even if the source is silent', async () => {
      const abort = new AbortController()
      const source = new PassThrough({ highWaterMark: 4 * block })
      source.write(randomBytes(2 * block + MiB))
      const reason = new Error('the client has left')
      until(async () => (await leftovers('aborted')) > 0).then(() => abort.abort(reason))
      await expect(put(store, 'aborted', source, { signal: abort.signal })).rejects.toBe(reason)
      expect(await store.look('aborted')).toBeNull()
      await store.remove(['aborted'])
      expect(await leftovers('aborted')).toBe(0)
      await expect(
        put(store, 'aborted', pieces(randomBytes(1)), { signal: abort.signal }),
      ).rejects.toBe(reason)
      expect(await store.look('aborted')).toBeNull()
    })

    it('rejects with the error of the source', async () => {
      const hungUp = new Error('hung up')
      const source = async function* () {
        yield* pieces(randomBytes(2 * block + 2 * MiB))
        throw hungUp
      }
      await expect(put(store, 'hung-up', source())).rejects.toBe(hungUp)
      expect(await store.look('hung-up')).toBeNull()
      const broken = new PassThrough()
      broken.write('start')
      setTimeout(() => broken.destroy(hungUp), 50)
      await expect(put(store, 'hung-up', broken)).rejects.toBe(hungUp)
      expect(await store.look('hung-up')).toBeNull()
    })
  })

  describe('open', () => {
    const bytes = randomBytes(3 * MiB)
    beforeAll(async () => {
      await put(store, 'opened', pieces(bytes))
    })

    it('returns all bytes, or a range', async () => {
      expect(bytes.equals(await bytesOf('opened'))).toBe(true)
      expect(await bytesOf('opened', { offset: 10 })).toHaveLength(bytes.length - 10)
      expect(
        bytes.subarray(MiB, MiB + 7).equals(await bytesOf('opened', { offset: MiB, count: 7 })),
      ).toBe(true)
      expect(await bytesOf('opened', { offset: 5, count: 0 })).toHaveLength(0)
      await put(store, 'nothing', pieces(bytes.subarray(0, 0)))
      expect(await bytesOf('nothing')).toHaveLength(0)
    })

    it('fails recognizably for a blob with an unexpected size', async () => {
      await put(store, 'small', pieces(bytes.subarray(0, 1000)))
      expect(await bytesOf('small', { size: 1000 })).toEqual(bytes.subarray(0, 1000))
      expect((await bytesOf('small', { size: 999 })).length).toBeGreaterThan(999)
      expect(await bytesOf('small', { size: 1001 })).toHaveLength(1000)
    })

    it('yields chunks in memory that is reused', async () => {
      const chunksOf = async (offset: number, count: number) => {
        const copies: Buffer[] = []
        for await (const chunk of await store.chunks('opened', { offset, count }))
          copies.push(Buffer.from(chunk))
        return Buffer.concat(copies)
      }
      // In parallel: neither reader writes into the memory of the other.
      const ranges: [offset: number, count: number][] = [
        [0, bytes.length],
        [MiB - 1, 2],
        [5, MiB],
        [5, 0],
        [bytes.length - 3, 100],
      ]
      const read = await Promise.all(ranges.map(range => chunksOf(...range)))
      for (const [i, [offset, count]] of ranges.entries())
        expect(read[i]?.equals(bytes.subarray(offset, offset + count))).toBe(true)
      // A reader that stops early leaves nothing open.
      const left = await store.chunks('opened', { size: bytes.length })
      const steps = left[Symbol.asyncIterator]()
      await steps.next()
      await steps.return?.()
      expect(await steps.next()).toMatchObject({ done: true })
      await expect(store.chunks('missing', { count: 1 })).rejects.toThrow(BlobMissing)
    })

    it('throws BlobMissing for an unknown key', async () => {
      await expect(store.open('missing')).rejects.toThrow(BlobMissing)
      await expect(store.open('missing')).rejects.toMatchObject({ key: 'missing' })
    })

    it('stops at a signal, before and during a read', async () => {
      const abort = new AbortController()
      const stream = await store.open('opened', { signal: abort.signal })
      abort.abort()
      await expect(stream.toArray()).rejects.toThrow(/aborted/)
      await expect(store.open('opened', { signal: abort.signal })).rejects.toThrow(/aborted/)
    })
  })

  describe('remove and list', () => {
    it('removes existing blobs, and ignores missing ones', async () => {
      await put(store, 'gone-1', pieces(randomBytes(10)))
      await put(store, 'gone-2', pieces(randomBytes(5 * MiB)))
      const keys = ['gone-1', 'never', 'gone-2', 'gone-1']
      await store.remove(keys)
      await store.remove(keys)
      await store.remove([])
      await expect(store.open('gone-1')).rejects.toThrow(BlobMissing)
      await expect(store.open('gone-2')).rejects.toThrow(BlobMissing)
    })

    it('lists the key, size and time of every blob', async () => {
      const own = await another()
      const start = Date.now() - 2000
      for (const size of [0, 1, 2]) await put(own, `listed-${size}`, pieces(new Uint8Array(size)))
      const found = []
      for await (const each of own.list()) found.push(each)
      expect(found.map(({ key, size }) => [key, size])).toEqual([
        ['listed-0', 0],
        ['listed-1', 1],
        ['listed-2', 2],
      ])
      for (const { createdAt } of found) expect(createdAt.getTime()).toBeGreaterThan(start)
    })
  })

  describe('copy', () => {
    it('copies the bytes to another key, where they stay when the first is removed', async () => {
      const bytes = randomBytes(5 * MiB)
      await put(store, 'original', pieces(bytes))
      await store.copy('original', 'copied')
      await store.remove(['original'])
      expect(bytes.equals(await bytesOf('copied'))).toBe(true)
      await expect(store.copy('original', 'never')).rejects.toThrow(BlobMissing)
    })
  })

  describe('parts', () => {
    /** Parts of 10 bytes, unless a test says otherwise. */
    const SIZE = 10
    let own: BlobStore
    const stage = (key: string, number: number, bytes: Buffer = randomBytes(SIZE)) =>
      stagePart(own, key, number, bytes, { offset: (number - 1) * SIZE })
    const contentOf = async (key: string) => Buffer.concat(await (await own.open(key)).toArray())
    const commit = (key: string, count: number) =>
      own.commitParts(key, count, { contentType: 'text/plain' })
    beforeAll(async () => {
      own = await another()
    })

    it('are listed by number until they become a blob', async () => {
      expect(await own.partsOf('whole')).toEqual(new Map())
      const bytes = randomBytes(25)
      const partOf = (n: number) => bytes.subarray((n - 1) * SIZE, n * SIZE)
      for (const n of [3, 1, 3]) await stage('whole', n, partOf(n))
      expect(await own.partsOf('whole')).toEqual(
        new Map([
          [1, 10],
          [3, 5],
        ]),
      )
      expect(await keysOf(own)).toEqual([['whole', 0]])
      expect(await own.look('whole')).toBeNull()
      await expect(commit('whole', 3)).rejects.toThrow(StoreRefusal)
      await stage('whole', 2, partOf(2))
      await commit('whole', 3)
      expect(await keysOf(own)).toEqual([['whole', 25]])
      expect(bytes.equals(await contentOf('whole'))).toBe(true)
      await expect(commit('whole', 4)).rejects.toThrow(StoreRefusal)
      await own.remove(['whole'])
      expect(await keysOf(own)).toEqual([])
    })

    it('replace earlier parts, even after those have become a blob', async () => {
      const [old, other, last] = [1, 2, 3].map(() => randomBytes(2 * SIZE))
      if (!old || !other || !last) throw new Error('Nothing is random.')
      const halfOf = (bytes: Buffer, n: number) =>
        Buffer.from(bytes.subarray((n - 1) * SIZE, n * SIZE))
      for (const n of [1, 2, 1]) await stage('again', n, halfOf(old, n))
      await stage('again', 2, halfOf(other, 2))
      await commit('again', 2)
      expect(await contentOf('again')).toEqual(Buffer.concat([halfOf(old, 1), halfOf(other, 2)]))
      await stage('again', 1, halfOf(last, 1))
      expect(await own.partsOf('again')).toEqual(
        new Map([
          [1, SIZE],
          [2, SIZE],
        ]),
      )
      await commit('again', 2)
      await commit('again', 2)
      expect(await contentOf('again')).toEqual(Buffer.concat([halfOf(last, 1), halfOf(other, 2)]))
      await own.endParts('again')
      expect(await contentOf('again')).toEqual(Buffer.concat([halfOf(last, 1), halfOf(other, 2)]))
      await own.remove(['again'])
    })

    it('that arrive at once are each stored whole', async () => {
      const LARGE = 300_000
      const versions = Array.from({ length: 6 }, () => randomBytes(LARGE))
      const send = (n: number, bytes: Buffer) =>
        stagePart(own, 'at-once', n, bytes, { offset: (n - 1) * LARGE })
      const sent = await Promise.allSettled(
        versions.flatMap((bytes, i) => [send(1 + (i % 2), bytes), send(3, bytes)]),
      )
      // A slow attempt gives way to a newer one.
      const refused = sent.flatMap(one => (one.status === 'rejected' ? [one.reason.code] : []))
      expect(refused).toEqual(refused.map(() => 'UNAVAILABLE'))
      await commit('at-once', 3)
      const content = await contentOf('at-once')
      expect(content).toHaveLength(3 * LARGE)
      for (const n of [0, 1, 2])
        expect(
          versions.some(bytes => bytes.equals(content.subarray(n * LARGE, (n + 1) * LARGE))),
        ).toBe(true)
      await own.remove(['at-once'])
    })

    it('become an empty blob if there are none', async () => {
      await commit('empty', 0)
      expect(await own.look('empty')).toEqual({ size: 0 })
      await own.remove(['empty'])
    })

    it.each([
      ['before it was a blob', async () => {}],
      [
        'after it was a blob, with parts that came later',
        async (key: string) => {
          await commit(key, 2)
          await stage(key, 2)
        },
      ],
    ])('are gone for ever after a removal %s', async (_when, meanwhile) => {
      const key = randomUUID()
      for (const n of [1, 2]) await stage(key, n)
      await meanwhile(key)
      await own.remove([key])
      expect(await keysOf(own)).toEqual([])
      if (forgetsNothing) return
      // A later part would make the forgotten ones reappear.
      await stage(key, 3)
      expect([...(await own.partsOf(key)).keys()]).toEqual([3])
      await own.remove([key])
    })

    it.each([1, SIZE, 300_000])(
      'return the CRC-32 of the stored bytes, for %i bytes and when sent again',
      async size => {
        const sent = [1, 2].map(() => randomBytes(size))
        for (const bytes of sent)
          expect(await stagePart(own, 'summed', 1, bytes)).toBe(
            crc32(bytes).toString(16).padStart(8, '0'),
          )
        await own.remove(['summed'])
      },
    )

    it('are refused if their checksum is wrong', async () => {
      await expect(
        stagePart(own, 'wrong', 1, randomBytes(10), { md5: md5(randomBytes(10)) }),
      ).rejects.toThrow(BytesDiffer)
      expect(await own.partsOf('wrong')).toEqual(new Map())
    })
  })

  describe('an incomplete part', () => {
    const half = randomBytes(MiB)
    /** Yields one half, and the other half when it is released. */
    function halves() {
      let goOn = () => {}
      let fail = (_error: Error) => {}
      const told = new Promise<void>((resolve, reject) => {
        goOn = resolve
        fail = reject
      })
      let left = false
      async function* source() {
        try {
          yield* pieces(half)
          await told
          yield* pieces(half)
        } finally {
          left = true
        }
      }
      return { source: source(), goOn, fail, wasLeft: () => left }
    }
    const size = 2 * MiB

    it('leaves nothing when its source fails, and reports the reason', async () => {
      const { source, fail } = halves()
      const staged = store.stagePart('failing', 1, source, { size, offset: 0 })
      setTimeout(() => fail(new Error('no more')), 50)
      await expect(staged).rejects.toThrow('no more')
      expect(await store.partsOf('failing')).toEqual(new Map())
      await store.remove(['failing'])
    })
  })
}
