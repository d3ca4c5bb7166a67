import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { open, readdir, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Unavailable } from '../../src/runtime/errors.ts'
import { takeBlock } from '../../src/storage/blocks.ts'
import { chunksOf, joined, readSize } from '../../src/storage/chunks.ts'
import { createDiskStore } from '../../src/storage/disk.ts'
import type { BlobStore, PutOptions } from '../../src/storage/store.ts'
import { describeContract } from '../stores/contract.ts'

const root = mkdtempSync(join(tmpdir(), 'satchel-disk-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

async function started(dir: string): Promise<BlobStore> {
  const store = createDiskStore({ dir })
  await store.prepare()
  await store.bind('a test', false)
  return store
}

describe('The disk store', () => {
  const dir = join(root, 'contract')
  let others = 0
  describeContract(async () => ({
    store: await started(dir),
    isOnDisk: true,
    another: () => started(join(root, `other-${others++}`)),
    async leftovers(key) {
      const there = await stat(join(dir, 'drafts', key)).catch(() => undefined)
      return there?.isDirectory() ? (await readdir(join(dir, 'drafts', key))).length : there ? 1 : 0
    },
  }))
})

it('A file with unreadable chunks is reported as an unavailable store, and is closed', async () => {
  // A folder can be opened like a file, but not read.
  const file = await open(root, 'r')
  await expect(chunksOf(file, 0, 10).next()).rejects.toThrow(Unavailable)
  expect(file.fd).toBe(-1)
})

it('A file that is larger than expected yields one byte more', async () => {
  const path = join(root, 'larger')
  await writeFile(path, Buffer.alloc(2 * readSize + 1))
  const bytesOf = async (count: number) => joined(chunksOf(await open(path, 'r'), 0, count, 1))
  for (const count of [5, readSize, readSize + 5, 2 * readSize])
    expect(await bytesOf(count)).toHaveLength(count + 1)
  expect(await bytesOf(2 * readSize + 1)).toHaveLength(2 * readSize + 1)
})

describe('The buffers of a file that is read in chunks', () => {
  const path = join(root, 'chunks')
  /** Buffers in the pool that have been used. New ones are empty. */
  const takeUsed = () =>
    Array.from({ length: 8 }, () => takeBlock(readSize)).filter(
      memory => new Uint8Array(memory)[0] !== 0,
    )
  const begin = async () => chunksOf(await open(path, 'r'), 0, 4 * readSize)
  type Reader = Awaited<ReturnType<typeof begin>>
  const turn = () => sleep(20)
  beforeAll(() => writeFile(path, Buffer.alloc(4 * readSize, 'x')))

  it.each<[string, number, (reader: Reader) => unknown]>([
    ['closed during the first read', 1, () => {}],
    ['closed after the first read', 1, turn],
    ['closed while a chunk is in use and the next one is being read', 2, r => r.next()],
    ['closed while a chunk is in use and the next one has been read', 2, r => r.next().then(turn)],
    ['closed while the reader waits for a chunk', 1, r => void r.next()],
    ['closed twice', 2, r => r.next().then(() => r.return?.())],
    [
      'read to its end',
      2,
      async r => {
        for await (const chunk of r) expect(chunk).toHaveLength(readSize)
      },
    ],
  ])('are given back once when it is %s', async (_when, count, use) => {
    takeUsed()
    const reader = await begin()
    await use(reader)
    await Promise.all([reader.return?.(), turn()])
    const used = takeUsed()
    expect([used.length, new Set(used).size]).toEqual([count, count])
  })
})

it('reports a full disk as NO_SPACE, and keeps nothing of the upload', async () => {
  const dir = join(root, 'full')
  const store = await started(dir)
  const key = '0198c6a0-0000-7000-8000-000000000001'
  symlinkSync('/dev/full', join(dir, 'drafts', key))
  await expect(
    store.put(key, Readable.from([Buffer.alloc(10)]), {
      contentType: 'text/plain',
      admit: async () => {},
    } as unknown as PutOptions),
  ).rejects.toMatchObject({ code: 'NO_SPACE', details: { retry_after: 300 } })
  expect(await readdir(join(dir, 'drafts'))).toEqual([])
  expect(await store.look(key)).toBeNull()
})
