import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type Db, openDatabase } from '../../../db/index.ts'
import { migrate } from '../../../db/migrate.ts'
import { announceBlob } from '../../../db/queries/blob.ts'
import { noteInstance } from '../../../db/queries/health.ts'
import { lastMove, storesOf } from '../../../db/queries/store-move.ts'
import { beginMove } from '../../../src/admin/begin-move.ts'
import { deleteSource } from '../../../src/admin/delete-source.ts'
import { moveBlobs } from '../../../src/admin/mover.ts'
import { Unavailable } from '../../../src/runtime/errors.ts'
import { bindStore, installationOf } from '../../../src/services/installation.ts'
import { storePlaces } from '../../../src/services/store-place.ts'
import { createDiskStore } from '../../../src/storage/disk.ts'
import { createMovingStore } from '../../../src/storage/moving.ts'
import { type BlobStore, type Marker, StoreRefusal } from '../../../src/storage/store.ts'
import { hexOfCrc32 } from '../../../src/upload-engine/crc32.ts'

let dir: string
let db: Db
let from: BlobStore
let to: BlobStore
/** The blobs recorded in the first store that really exist there. */
let blobs: Map<string, Buffer>

const folder = (name: string): BlobStore => createDiskStore({ dir: join(dir, name) })

/** A store that has no label until it receives one, like an Azure container. */
function unlabelled(store: BlobStore): BlobStore {
  let label: Marker | undefined
  return {
    ...store,
    marker: async () => label,
    async bind(installation, _inUse, number = 0, isKnown = false) {
      await store.bind(installation, false, number)
      if (isKnown || number > 0) label = { installation, number }
    },
  }
}

const put = (store: BlobStore, key: string, bytes: Buffer) =>
  store.put(key, Readable.from([bytes]), { contentType: 'text/plain', admit: async () => {} })
const read = async (store: BlobStore, key: string) => buffer(await store.open(key))

async function record(key: string, bytes: Buffer): Promise<void> {
  await db.run(
    "INSERT INTO blobs (id, bucket_id, state, reserved_bytes, size, crc32, lease_until, created_at) VALUES (?, ?, 'live', 0, ?, ?, 0, 0)",
    [key, randomUUID(), bytes.length, hexOfCrc32(crc32(bytes))],
  )
}

const both = (first = from) => createMovingStore({ from: first, to, places: storePlaces(db) })
const bind = (first = from) => bindStore(db, both(first))

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'satchel-mover-'))
  db = openDatabase({ dialect: 'sqlite', file: join(dir, 'db.sqlite') }, { pool: 1 })
  await migrate(db)
  from = unlabelled(folder('from'))
  to = folder('to')
  for (const store of [from, to]) await store.prepare()
  await bindStore(db, from)
  blobs = new Map(Array.from({ length: 5 }, () => [randomUUID(), randomBytes(100_000)]))
  for (const [key, bytes] of blobs) {
    await put(from, key, bytes)
    await record(key, bytes)
  }
})
afterEach(async () => {
  await db.close()
  rmSync(dir, { recursive: true, force: true })
})

const warnings: string[] = []
const progress = { step() {}, add() {}, warn: (message: string) => warnings.push(message) }
const options = { atOnce: 2, waitMs: 0, settledMs: 0, progress }
const moving = (more: Partial<{ from: BlobStore; to: BlobStore }> = {}) => ({
  db,
  from,
  to,
  number: 1,
  ...more,
})
const numberOf = async (key: string) => (await storesOf(db, [key])).get(key)

async function begin(): Promise<void> {
  await bind()
  await beginMove(moving())
}

/** A store that fails for one blob, or for all blobs while `isDown`. */
function failing(store: BlobStore, key: string, error: Error): BlobStore & { isDown: boolean } {
  const faulty = {
    ...store,
    isDown: false,
    ping: async () => {
      if (faulty.isDown) throw new Unavailable('blob store')
      return store.ping()
    },
    open: async (...given: Parameters<BlobStore['open']>) => {
      if (faulty.isDown || given[0] === key) throw error
      return store.open(...given)
    },
  }
  const { readMany: _, ...alone } = faulty
  return Object.assign(faulty, alone)
}

describe('A move of blobs', () => {
  it('starts only from the current store, which is labelled from then on', async () => {
    const stranger = unlabelled(folder('stranger'))
    await stranger.prepare()
    await expect(bind(stranger)).rejects.toThrow(/none of the files.*MOVE_FROM_/)
    expect(await stranger.marker()).toBeUndefined()
    expect(await to.marker()).toBeUndefined()

    await begin()
    expect(await from.marker()).toEqual({ installation: await installationOf(db), number: 0 })
    // A start with another store would now report all files as missing.
    await expect(bind(stranger)).rejects.toThrow(
      /not the store that the files are being moved from/,
    )
    expect(await stranger.marker()).toBeUndefined()
    await bind()
  })

  it('skips an unreadable blob, which remains available and is moved by the next run', async () => {
    await begin()
    const [bad = ''] = blobs.keys()
    const refusal = new StoreRefusal(403, '403 AccessDenied')
    const run = await moveBlobs(moving({ from: failing(from, bad, refusal) }), options)
    expect(run).toMatchObject({
      count: 4,
      failed: 1,
      isFinished: false,
      left: { files: 1, uploads: 0 },
    })
    expect(run.failures).toEqual([{ id: bad, reason: expect.stringContaining('403 AccessDenied') }])
    expect(warnings.filter(line => line.includes(bad))).toHaveLength(1)
    for (const key of blobs.keys()) expect(await numberOf(key)).toBe(key === bad ? 0 : 1)
    expect(await read(both(), bad)).toEqual(blobs.get(bad))

    expect(await moveBlobs(moving(), options)).toMatchObject({
      count: 1,
      failed: 0,
      isFinished: true,
    })
    for (const [key, bytes] of blobs) expect(await read(to, key)).toEqual(bytes)
  })

  it('skips a blob that the new store refuses', async () => {
    await begin()
    const [bad = ''] = blobs.keys()
    const picky: BlobStore = {
      ...to,
      put: async (key, ...given) => {
        if (key === bad) throw new StoreRefusal(400, '400 EntityTooLarge')
        return to.put(key, ...given)
      },
    }
    expect(await moveBlobs(moving({ to: picky }), options)).toMatchObject({
      count: 4,
      failed: 1,
      isFinished: false,
    })
    expect(await numberOf(bad)).toBe(0)
  })

  it('stops when a store is down or full', async () => {
    await begin()
    const down = failing(from, '', new Unavailable('blob store'))
    down.isDown = true
    await expect(moveBlobs(moving({ from: down }), options)).rejects.toThrow(Unavailable)
    const full: BlobStore = {
      ...to,
      put: () => Promise.reject(Object.assign(new Error('no space'), { code: 'ENOSPC' })),
    }
    await expect(moveBlobs(moving({ to: full }), options)).rejects.toThrow('no space')
    for (const key of blobs.keys()) expect(await numberOf(key)).toBe(0)
  })

  it('rejects bytes that were corrupted while reading', async () => {
    await begin()
    let reads = 0
    const flaky: BlobStore = {
      ...from,
      open: async (...given) =>
        reads++ === 0 ? Readable.from([randomBytes(100_000)]) : from.open(...given),
    }
    expect(await moveBlobs(moving({ from: flaky }), options)).toMatchObject({
      count: 5,
      damaged: 0,
      isFinished: true,
    })
    for (const [key, bytes] of blobs) expect(await read(to, key)).toEqual(bytes)
  })

  it('does not finish while blobs are missing, unless told to, and moves them if they return', async () => {
    await begin()
    const [lost = ''] = blobs.keys()
    const bytes = blobs.get(lost) ?? Buffer.alloc(0)
    await from.remove([lost])
    const run = await moveBlobs(moving(), options)
    expect(run).toMatchObject({ count: 4, failed: 1, isFinished: false })
    expect(run.failures).toEqual([{ id: lost, reason: 'it is in neither store' }])
    expect(await numberOf(lost)).toBe(0)

    expect(await moveBlobs(moving(), { ...options, leaveBehind: true })).toMatchObject({
      failed: 1,
      isFinished: true,
    })
    expect((await lastMove(db))?.finishedAt).not.toBeNull()
    expect(await numberOf(lost)).toBe(0)

    // A store may return bytes that differ from the uploaded ones, even with the same size.
    await put(to, lost, randomBytes(bytes.length))
    expect(await moveBlobs(moving(), options)).toMatchObject({ count: 0, failed: 1 })
    expect(await numberOf(lost)).toBe(0)

    await put(from, lost, bytes)
    expect(await moveBlobs(moving(), options)).toMatchObject({
      count: 1,
      failed: 0,
      isFinished: true,
    })
    expect(await read(to, lost)).toEqual(bytes)
  })

  it('leaves no blob behind after a single failure', async () => {
    await begin()
    const [shaky = ''] = blobs.keys()
    let failures = 0
    const flaky: BlobStore = {
      ...from,
      open: async (key, ...given) => {
        if (key === shaky && failures++ === 0) throw new Error('The connection was lost.')
        return from.open(key, ...given)
      },
    }
    const run = await moveBlobs(moving({ from: flaky }), { ...options, leaveBehind: true })
    expect(run).toMatchObject({ count: 5, failed: 0, isFinished: true })
  })

  it('does not finish before all blobs recorded at its start are moved', async () => {
    await begin()
    const began = Date.now()
    expect(await moveBlobs(moving(), { ...options, settledMs: 1500 })).toMatchObject({
      isFinished: true,
    })
    expect(Date.now() - began).toBeGreaterThan(1000)
  })

  it('does not start while an outdated instance runs, and keeps such instances from storing blobs', async () => {
    await bind()
    const seen = { name: 'old:3000', startedAt: 0, seenAt: Date.now(), alarms: '[]' }
    await noteInstance(db, { ...seen, store: 0 })
    await expect(beginMove(moving())).rejects.toThrow(/old:3000/)
    expect(await lastMove(db)).toBeUndefined()
    await noteInstance(db, { ...seen, store: 1 })
    await beginMove(moving())

    const announce = (store: number, newest: number) => {
      const blob = {
        id: randomUUID(),
        bucketId: randomUUID(),
        state: 'staged',
        store,
        leaseUntil: 0,
      } as const
      return db.transaction(tx => announceBlob(db, blob, newest, tx))
    }
    expect(await announce(0, 0)).toBe(false)
    // An instance that knows both stores has asked for the store a moment ago.
    expect(await announce(0, 1)).toBe(true)
    expect(await announce(1, 1)).toBe(true)
  })
})

describe('Deleting the old store', () => {
  const remove = (more: Parameters<typeof moving>[0] = {}) =>
    deleteSource(moving(more), { graceSeconds: 0, progress })
  const left = async () => {
    const keys: string[] = []
    for await (const { key } of from.list()) keys.push(key)
    return keys
  }

  it('requires a finished move of a minimum age', async () => {
    await begin()
    await expect(remove()).rejects.toThrow(/Not all files have been moved/)
    await moveBlobs(moving(), options)
    await expect(deleteSource(moving(), { graceSeconds: 3600, progress })).rejects.toThrow(
      /--grace/,
    )
    expect(await left()).toHaveLength(5)
  })

  it('deletes nothing from a wrong store, or while an instance still reads the store', async () => {
    await begin()
    await moveBlobs(moving(), options)
    const stranger = folder('stranger')
    await stranger.prepare()
    await stranger.bind(randomUUID(), false)
    const theirs = randomUUID()
    await put(stranger, theirs, Buffer.from('theirs'))
    const nameless = unlabelled(stranger)
    for (const wrong of [stranger, nameless, to])
      await expect(remove({ from: wrong })).rejects.toThrow(/not a store that/)
    expect(await stranger.look(theirs)).not.toBeNull()

    await noteInstance(db, {
      name: 'old:3000',
      startedAt: 0,
      seenAt: Date.now(),
      alarms: '[]',
      store: 0,
    })
    await expect(remove()).rejects.toThrow(/old:3000/)
    expect(await left()).toHaveLength(5)
  })

  it('keeps objects that the new store lacks, and objects that are not blobs', async () => {
    await begin()
    await moveBlobs(moving(), options)
    const [gone = '', cut = '', unmoved = ''] = blobs.keys()
    await to.remove([gone, cut])
    await put(to, cut, Buffer.from('cut'))
    await db.run('UPDATE blobs SET store = 0 WHERE id = ?', [unmoved])
    const foreign = join(dir, 'from', 'notes.txt')
    writeFileSync(foreign, 'mine')
    // No row refers to it any longer.
    const orphan = randomUUID()
    await put(from, orphan, Buffer.from('orphan'))

    const { removed, kept } = await remove()
    expect([removed, kept.sort()]).toEqual([3, [gone, cut, unmoved].sort()])
    expect((await left()).sort()).toEqual([gone, cut, unmoved].sort())
    expect(readdirSync(join(dir, 'from'))).toEqual(
      expect.arrayContaining(['notes.txt', 'installation']),
    )
    for (const key of [gone, cut, unmoved]) expect(await read(from, key)).toEqual(blobs.get(key))
  })

  it('continues after an interruption', async () => {
    await begin()
    await moveBlobs(moving(), options)
    const [first = ''] = blobs.keys()
    const dying: BlobStore = {
      ...from,
      async remove() {
        await from.remove([first])
        throw new Unavailable('blob store')
      },
    }
    await expect(remove({ from: dying })).rejects.toThrow(Unavailable)
    expect(await remove()).toEqual({ removed: 4, kept: [] })
    expect(await left()).toEqual([])
    for (const [key, bytes] of blobs) expect(await read(to, key)).toEqual(bytes)
  })
})
