import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { v7 as newId } from 'uuid'
import { type Db, openDatabase } from '../../../db/index.ts'
import { readConfig } from '../../../src/config/config.ts'
import type { FindingKind } from '../../../src/doctor/check.ts'
import { openStoreOf } from '../../../src/services/installation.ts'
import type { BlobStore } from '../../../src/storage/store.ts'
import { type BuiltService, startBuilt } from '../../support/built-service.ts'
import { expectHealed, findingsOf } from '../../support/consistency.ts'
import { newDatabase, type Person, rest, signInTo } from '../../support/harness.ts'
import { rounds } from '../../support/rounds.ts'
import { newStoreSettings } from '../../support/store-settings.ts'
import { until } from '../../support/until.ts'
import { file, form, formType, head, openWire, type Wire } from '../../support/wire.ts'

declare const engine: 'sqlite' | 'mysql'

declare const storeUnderTest: 'disk' | 'azure' | 's3'

const MiB = 1024 * 1024
// Runs on one store, because only the database matters.
const itOnDisk = storeUnderTest === 'disk' ? it : it.skip

/**
 * A service that can be killed and restarted, with the test's own access to its database and store.
 */
let service: BuiltService
let settings: Record<string, string>
let db: Db
let store: BlobStore
let alice: Person
let tidyUp: () => Promise<void>

beforeAll(async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'satchel-kill-'))
  const database = engine === 'mysql' ? await newDatabase() : { url: '', drop: async () => {} }
  settings = {
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    TRASH_DAYS: '0',
    LEASE_SECONDS: '2',
    SWEEP_SECONDS: '1',
    ...newStoreSettings(),
  }
  service = await startBuilt(settings)
  db = openDatabase(readConfig(settings).database, { pool: 4 })
  await look()
  tidyUp = async () => {
    await service.end('SIGKILL')
    await db.close()
    await database.drop()
    rmSync(dataDir, { recursive: true, force: true })
  }
})
afterAll(() => tidyUp())

/** Connects to a service that has just started. */
async function look(): Promise<void> {
  alice = await signInTo(db, service.url, 'alice')
  store = await openStoreOf(readConfig(settings), db)
}

async function kill(): Promise<void> {
  await service.end('SIGKILL')
}

async function comeBack(): Promise<void> {
  service = await startBuilt(settings)
  await look()
}

const count = async (sql: string, values: string[] = []) =>
  Number((await db.rows<{ n: number }>(`SELECT COUNT(*) AS n FROM ${sql}`, values))[0]?.n)

const expectSound = () => expectHealed({ db, store })

interface Usage {
  bytes: number
  files: number
}

async function usage(): Promise<Usage> {
  const [row] = await db.rows<Usage>(
    'SELECT used_bytes AS bytes, used_files AS files FROM bucket WHERE user_id = ?',
    [alice.userId],
  )
  return row ?? { bytes: -1, files: -1 }
}

async function namesIn(folder: string): Promise<string[]> {
  const { response } = await alice.rest('GET', `/api/files/tree?path=${folder}`)
  return response.files.map((f: { name: string }) => f.name)
}

async function download(path: string): Promise<Buffer> {
  const { response } = await alice.rest('POST', `/api/user/private/download_token?file=${path}`)
  const { headers } = await alice.rest('GET', `/api/d/private/${response.private_download_token}`)
  return Buffer.from(await (await fetch(headers.get('location') ?? '')).arrayBuffer())
}

/** The first half of an upload. The connection is open, and the service has accepted the upload. */
async function halfUpload(
  name: string,
  bytes: Buffer,
): Promise<{ wire: Wire; rest: Buffer; blobId: string }> {
  const before = await db.rows<{ id: string }>('SELECT id FROM blobs')
  const wire = await openWire(service.url)
  const body = form([file(name, bytes)])
  await wire.send(
    head(alice, 'POST /api/files/upload', {
      'content-type': formType,
      'content-length': body.length,
    }),
  )
  await wire.send(body.subarray(0, body.length / 2))
  let blobId: string | undefined
  await until(async () => {
    const rows = await db.rows<{ id: string }>("SELECT id FROM blobs WHERE state = 'staged'")
    blobId = rows.find(row => !before.some(({ id }) => id === row.id))?.id
    return blobId !== undefined
  })
  return { wire, rest: body.subarray(body.length / 2), blobId: blobId ?? '' }
}

describe('A killed service', () => {
  it('loses no acknowledged upload, and keeps no incomplete one, after many kills', async () => {
    const sent = new Map<string, Buffer>()
    const acknowledged = new Set<string>()
    const large = randomBytes(9 * MiB)
    for (let round = 0; round < rounds(engine === 'mysql' ? 1 : 2, 3); round++) {
      let alive = true
      const work = async (worker: number) => {
        for (let n = 0; alive; n++) {
          const name = `uploads/${round}-${worker}-${n}`
          const bytes =
            worker === 0
              ? large.subarray(round + n)
              : randomBytes(1 + ((n * 7919 + worker * 104_729) % 90_000))
          sent.set(name, bytes)
          try {
            if ((await alice.upload(name, bytes)).status === 200) acknowledged.add(name)
          } catch {
            // The service was killed before it responded.
          }
        }
      }
      const [workers, known] = [[0, 1, 2, 3, 4, 5].map(work), acknowledged.size]
      await until(async () => acknowledged.size > known + 5)
      await sleep(Math.random() * 400)
      await kill()
      alive = false
      await Promise.all(workers)
      await comeBack()
    }
    await expectSound()

    const there = await namesIn('uploads')
    expect([...acknowledged].filter(name => !there.includes(name))).toEqual([])
    let bytes = 0
    for (const name of there) {
      const wanted = sent.get(name)
      bytes += wanted?.length ?? 0
      expect((await download(name)).equals(wanted ?? Buffer.alloc(0))).toBe(true)
    }
    expect(await usage()).toEqual({ bytes, files: there.length })
  }, 300_000)

  it('keeps nothing of an upload of several blocks that a kill interrupts', async () => {
    const before = await usage()
    const { blobId, wire } = await halfUpload('half', randomBytes(20 * MiB))
    await kill()
    wire.socket.destroy()
    await comeBack()
    // Its reservation remains until its lease expires, because another process might continue the
    // upload.
    expect(await namesIn('')).toEqual([])
    await expectSound()
    expect(await store.look(blobId)).toBeNull()
    expect(await usage()).toEqual(before)
    expect((await alice.upload('half', 'whole')).status).toBe(200)
    await alice.rest('DELETE', '/api/files/delete?file=half')
  })

  it('keeps neither the object nor its row after a kill between the two writes', async () => {
    const before = await usage()
    const { blobId, wire, rest: second } = await halfUpload('between', randomBytes(12 * MiB))
    // A lock on this row blocks the commit of the upload.
    await db.transaction(async tx => {
      await db.rows(`SELECT id FROM bucket WHERE user_id = ?${db.forUpdate}`, [alice.userId], tx)
      await wire.send(second)
      await until(async () => (await store.look(blobId)) !== null, 3000)
      // The service is about to write the row.
      await sleep(100)
      expect(await db.rows('SELECT state FROM blobs WHERE id = ?', [blobId], tx)).toEqual([
        { state: 'staged' },
      ])
      await service.end('SIGKILL')
    })
    expect(await wire.answer()).toBeUndefined()
    await comeBack()
    expect(await namesIn('')).toEqual([])
    await expectSound()
    expect(await store.look(blobId)).toBeNull()
    expect(await usage()).toEqual(before)
  })

  itOnDisk(
    'during the deletion of a folder of 5,000 files, and while it is purged, deletes all or nothing',
    async () => {
      const FILES = 5000
      const STORED = 60
      await alice.rest('POST', '/api/folders', { json: { path: 'big/sub' } })
      const [folder] = await db.rows<{ id: string; parentId: string; bucketId: string }>(
        "SELECT id, parent_id AS parentId, bucket_id AS bucketId FROM entry WHERE name = 'sub'",
      )
      const { id = '', parentId = '', bucketId = '' } = folder ?? {}
      const real = Array.from({ length: STORED }, (_, n) => `big/sub/stored-${n}`)
      for (let n = 0; n < STORED; n += 20)
        await Promise.all(real.slice(n, n + 20).map(name => alice.upload(name, 'bytes')))
      await db.transaction(async tx => {
        const row = '(?, ?, ?, 1, ?, ?, 1, 0, 0)'
        for (let n = STORED; n < FILES; n += 100) {
          const values = Array.from({ length: 100 }, (_, i) => [
            newId(),
            bucketId,
            id,
            `file-${n + i}`,
            'x',
          ])
          await db.run(
            `INSERT INTO entry (id, bucket_id, parent_id, kind, name, md5, total_files, created_at, updated_at) VALUES ${values.map(() => row).join(', ')}`,
            values.flat(),
            tx,
          )
        }
        for (const each of [id, parentId])
          await db.run(
            'UPDATE entry SET total_files = total_files + ? WHERE id = ?',
            [FILES - STORED, each],
            tx,
          )
        await db.run(
          'UPDATE bucket SET used_files = used_files + ? WHERE id = ?',
          [FILES - STORED, bucketId],
          tx,
        )
      })
      const before = await usage()
      const after = { bytes: before.bytes - 5 * STORED, files: before.files - FILES }

      for (let [gone, round] = [false, 0]; !gone; round++) {
        const answer = alice.rest('DELETE', '/api/folders?path=big&recursive=true').then(
          ({ status }) => status,
          () => 'killed',
        )
        // The purge may already be finished. The kills are meant for the time before that.
        await Promise.race([answer, sleep(5 * rounds(4, 2) ** round * (1 + Math.random()))])
        await kill()
        const said = await answer
        gone = (await usage()).files === after.files
        expect(await usage()).toEqual(gone ? after : before)
        if (said === 200) expect(gone).toBe(true)
        await comeBack()
        const { response } = await alice.rest('GET', '/api/folders')
        expect(response.folders.includes('big')).toBe(!gone)
      }

      // In the middle of the purge: some rows are deleted, and some remain.
      const left = () => count('entry WHERE parent_id = ?', [id])
      for (const limit of [4500, 2000]) {
        await db.run('UPDATE outbox SET due_at = 0')
        await until(async () => (await left()) <= limit, 60_000, 1)
        await kill()
        // The rest of the tree is consistent meanwhile. The bytes do not matter here.
        const ofBytes: FindingKind[] = ['file-without-blob', 'object-missing', 'removal-overdue']
        const findings = await findingsOf({ db, store })
        expect(findings.filter(({ kind }) => !ofBytes.includes(kind))).toEqual([])
        await comeBack()
        expect(await usage()).toEqual(after)
      }
      await expectSound()
      expect(await usage()).toEqual(after)
      expect(await count('entry WHERE parent_id = ? OR id IN (?, ?)', [id, id, parentId])).toBe(0)
    },
    300_000,
  )
})

describe('A service that is asked to stop', () => {
  it('finishes a running upload, accepts no new one, and then exits', async () => {
    const bytes = randomBytes(12 * MiB)
    const { wire, rest: second } = await halfUpload('last', bytes)
    const ended = service.end('SIGTERM')
    const refused = () =>
      rest(service.url, 'GET', '/healthz').then(
        () => false,
        () => true,
      )
    await until(refused)
    await wire.send(second)
    expect((await wire.answer())?.status).toBe(200)
    const answered = Date.now()
    expect(await ended).toBe(0)
    expect(Date.now() - answered).toBeLessThan(6000)
    await comeBack()
    expect((await download('last')).equals(bytes)).toBe(true)
    await expectSound()
  })
})
