import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type Db, openDatabase } from '../../db/index.ts'
import { migrate } from '../../db/migrate.ts'
import { lastMove, storesOf } from '../../db/queries/store-move.ts'
import { beginMove, moveBlobs } from '../../src/admin/mover.ts'
import { createDiskStore } from '../../src/storage/disk.ts'
import type { BlobStore } from '../../src/storage/store.ts'
import { hexOfCrc32 } from '../../src/upload-engine/crc32.ts'

const dir = mkdtempSync(join(tmpdir(), 'satchel-mover-'))
const bytes = Buffer.alloc(100_000, 'whole')
const key = randomUUID()
let db: Db

async function newStore(name: string): Promise<BlobStore> {
  const store = createDiskStore({ dir: join(dir, name) })
  await store.prepare()
  await store.bind(randomUUID(), false)
  return store
}

beforeAll(async () => {
  db = openDatabase({ dialect: 'sqlite', file: join(dir, 'db.sqlite') }, { pool: 1 })
  await migrate(db)
  await db.run(
    "INSERT INTO blobs (id, bucket_id, state, reserved_bytes, size, crc32, lease_until, created_at) VALUES (?, ?, 'live', 0, ?, ?, 0, 0)",
    [key, randomUUID(), bytes.length, hexOfCrc32(crc32(bytes))],
  )
})
afterAll(async () => {
  await db.close()
  rmSync(dir, { recursive: true, force: true })
})

const progress = { step() {}, add() {}, warn() {} }
const options = { atOnce: 2, waitMs: 0, progress }

it('A move does not begin from a store without the files, and takes no bytes that were only read wrongly', async () => {
  const [from, to, stranger] = [await newStore('from'), await newStore('to'), await newStore('stranger')]
  await from.put(key, Readable.from([bytes]), { contentType: 'text/plain', admit: async () => {} })

  await expect(beginMove({ db, from: stranger, to, number: 1 })).rejects.toThrow(/none of the files.*MOVE_FROM_/)
  expect(await lastMove(db)).toBeUndefined()

  await beginMove({ db, from, to, number: 1 })
  let reads = 0
  const flaky: BlobStore = {
    ...from,
    open: async (...given) => (reads++ === 0 ? Readable.from([bytes.subarray(0, 70_000)]) : from.open(...given)),
  }
  await expect(moveBlobs({ db, from: flaky, to, number: 1 }, options)).rejects.toThrow(/same bytes twice/)
  expect(await storesOf(db, [key])).toEqual(new Map([[key, 0]]))

  const moved = await moveBlobs({ db, from: flaky, to, number: 1 }, options)
  expect(moved).toMatchObject({ count: 1, damaged: 0, isFinished: true })
  expect(await buffer(await to.open(key))).toEqual(bytes)

  // What is stored in the old store after the end, by an instance that was not restarted, is moved by the next run.
  await db.run('UPDATE blobs SET store = 0 WHERE id = ?', [key])
  expect(await moveBlobs({ db, from, to, number: 1 }, options)).toMatchObject({ count: 1, isFinished: true })
  expect(await storesOf(db, [key])).toEqual(new Map([[key, 1]]))
})
