import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { v7 as newId } from 'uuid'
import { type Db, openDatabase } from '../../db/index.ts'
import type { Finding } from '../../src/doctor/check.ts'
import type { BlobStore } from '../../src/storage/store.ts'
import { launch, runBuilt, startBuilt } from '../support/built-service.ts'
import { expectConsistent, expectWhole, findingsOf, outlive } from '../support/consistency.ts'
import { type Person, signInTo, startApp, type TestApp } from '../support/harness.ts'
import { stagePart } from '../support/stage-part.ts'
import { restUploader } from '../support/uploader.ts'

declare const engine: 'sqlite' | 'mysql'

const HOUR = 3600_000

let t: TestApp
let db: Db
let store: BlobStore
let alice: Person
let bucketId: string

beforeAll(async () => {
  t = await startApp({ TRASH_DAYS: '0' })
  ;({ db, store } = t.app)
  alice = await t.signIn('alice')
  const [bucket] = await db.rows<{ id: string }>('SELECT id FROM bucket WHERE user_id = ?', [
    alice.userId,
  ])
  bucketId = bucket?.id ?? ''
  await alice.upload('docs/deep/a.txt', 'alpha')
  await alice.upload('docs/deep/b.txt', 'beta!!')
  await alice.upload('docs/c.txt', 'gamma gamma')
  await alice.rest('POST', '/api/folders', { json: { path: 'empty/folder' } })
})
afterAll(() => t.stop())

const find = () => findingsOf(t.app)
const repair = () => findingsOf(t.app, { repair: true })

interface EntryRow {
  id: string
  blobId: string
  parentId: string
}

async function entry(name: string): Promise<EntryRow> {
  const [row] = await db.rows<EntryRow>(
    'SELECT id, blob_id AS blobId, parent_id AS parentId FROM entry WHERE name = ?',
    [name],
  )
  if (!row) throw new Error(`There is no ${name}.`)
  return row
}

const put = (key: string, text: string) =>
  store.put(key, Readable.from([Buffer.from(text)]), {
    contentType: 'text/plain',
    admit: async () => {},
  })

const has = async (key: string) => (await store.look(key)) !== null

const insertBlob = (id: string, state: string, { reserved = 0, size = 0, lease = 0 } = {}) =>
  db.run(
    'INSERT INTO blobs (id, bucket_id, state, reserved_bytes, size, lease_until, created_at) VALUES (?, ?, ?, ?, ?, ?, 0)',
    [id, bucketId, state, reserved, size, lease],
  )

const what = (findings: Finding[]) => findings.map(({ kind, id, repaired }) => [kind, id, repaired])

/**
 * Expects exactly these findings, the same findings during the repair, and a consistent instance
 * afterwards.
 */
async function expectMended(...expected: [string, string][]): Promise<void> {
  expect(what(await find())).toEqual(expected.map(([kind, id]) => [kind, id, false]))
  expect(what(await repair())).toEqual(expected.map(([kind, id]) => [kind, id, true]))
  await t.settle()
  await expectWhole(t.app)
}

/** Expects exactly these findings, and that the doctor leaves them alone. */
async function expectLeft(...expected: [string, string][]): Promise<void> {
  expect(what(await repair())).toEqual(expected.map(([kind, id]) => [kind, id, false]))
  expect(what(await find())).toEqual(expected.map(([kind, id]) => [kind, id, false]))
}

it('finds nothing in a consistent instance', () => expectConsistent(t))

describe('An object in the store', () => {
  it('without a row is removed once it is too old for an upload in progress', async () => {
    const key = newId()
    await put(key, 'stray')
    expect(await findingsOf(t.app, { graceMs: HOUR, repair: true })).toEqual([])
    expect(await has(key)).toBe(true)
    await expectMended(['object-unknown', key])
    expect(await has(key)).toBe(false)
  })

  it('of another program is left alone', async () => {
    await put('backup-of-the-operator.tar', 'precious')
    await expectLeft(['object-unknown', 'backup-of-the-operator.tar'])
    expect(await has('backup-of-the-operator.tar')).toBe(true)
    await store.remove(['backup-of-the-operator.tar'])
  })

  it('referenced by a file is never removed, whatever the ledger says', async () => {
    const { id, blobId } = await entry('a.txt')
    await db.run("UPDATE blobs SET state = 'deleting' WHERE id = ?", [blobId])
    expect(what(await repair())).toEqual([
      ['removal-overdue', blobId, false],
      ['file-without-blob', id, true],
    ])
    await expectWhole(t.app)
    await db.run('DELETE FROM blobs WHERE id = ?', [blobId])
    await expectMended(['file-without-blob', id])
    await db.run("UPDATE blobs SET state = 'staged', lease_until = ? WHERE id = ?", [
      Date.now() + HOUR,
      blobId,
    ])
    await db.run('UPDATE bucket SET reserved_files = 1')
    await expectMended(['file-without-blob', id])
    expect(await has(blobId)).toBe(true)
  })

  it('that is missing cannot be repaired', async () => {
    const { id, blobId } = await entry('a.txt')
    await store.remove([blobId])
    await expectLeft(['object-missing', blobId])
    await db.run('DELETE FROM blobs WHERE id = ?', [blobId])
    await expectLeft(['file-without-blob', id])
    await put(blobId, 'alpha')
    await expectMended(['file-without-blob', id])
  })

  it('determines the correct size if another source agrees', async () => {
    const { id, blobId } = await entry('b.txt')
    await db.run('UPDATE blobs SET size = 7 WHERE id = ?', [blobId])
    await expectMended(['size-differs', blobId])
    await db.run('UPDATE blobs SET size = 6 WHERE id = ?', [blobId])
    await db.run('UPDATE entry SET total_bytes = 5 WHERE id = ?', [id])
    const { id: deep } = await entry('deep')
    // The totals of the folders above were right, and this repair changes them.
    expect(what(await find())).toEqual([
      ['size-differs', blobId, false],
      ['folder-totals', deep, false],
    ])
    expect(what(await repair())).toEqual([['size-differs', blobId, true]])
    await expectWhole(t.app)
    await db.run('UPDATE blobs SET size = 5 WHERE id = ?', [blobId])
    await db.run('UPDATE entry SET total_bytes = 5 WHERE id = ?', [id])
    expect(what(await repair())[0]).toEqual(['size-differs', blobId, false])
    await db.run('UPDATE blobs SET size = 6 WHERE id = ?', [blobId])
    await repair()
    await expectWhole(t.app)
  })
})

describe('A row of the ledger', () => {
  it('of a dead upload releases its reservation, long after its lease', async () => {
    const id = newId()
    await insertBlob(id, 'staged', { reserved: 100, lease: Date.now() - HOUR / 2 })
    await db.run('UPDATE bucket SET reserved_bytes = 100, reserved_files = 1 WHERE id = ?', [
      bucketId,
    ])
    expect(await findingsOf(t.app, { graceMs: HOUR, repair: true })).toEqual([])
    await expectMended(['upload-overdue', id])
  })

  it('of a live upload is left alone', async () => {
    const id = newId()
    await insertBlob(id, 'staged', { reserved: 100, lease: Date.now() + HOUR })
    await db.run('UPDATE bucket SET reserved_bytes = 100, reserved_files = 1 WHERE id = ?', [
      bucketId,
    ])
    expect(await repair()).toEqual([])
    await db.run('UPDATE blobs SET lease_until = 0 WHERE id = ?', [id])
    await expectConsistent(t)
  })

  it('that should be deleted is deleted with its object', async () => {
    const id = newId()
    await put(id, 'deleting')
    await insertBlob(id, 'deleting', { lease: Date.now() - 1000 })
    await expectMended(['removal-overdue', id])
    expect(await has(id)).toBe(false)
  })

  it('without a file is marked for deletion', async () => {
    const id = newId()
    await put(id, 'unnamed')
    await insertBlob(id, 'live', { size: 7 })
    await expectMended(['blob-unnamed', id])
    expect(await has(id)).toBe(false)
  })

  it('gets the correct number of files and versions', async () => {
    const { blobId } = await entry('a.txt')
    for (const count of [0, 2]) {
      await db.run('UPDATE blobs SET ref_count = ? WHERE id = ?', [count, blobId])
      await expectMended(['blob-references', blobId])
    }
  })

  it('with a wrong size for all its files is corrected for all of them', async () => {
    const [{ blobId, id }, other] = [await entry('a.txt'), await entry('c.txt')]
    await db.run('UPDATE entry SET blob_id = ?, total_bytes = 5 WHERE id = ?', [blobId, other.id])
    await db.run('UPDATE blobs SET ref_count = 2, size = 5 WHERE id = ?', [blobId])
    await db.run("UPDATE blobs SET state = 'deleting', lease_until = 0 WHERE id = ?", [
      other.blobId,
    ])
    expect(what(await repair())).toContainEqual(['removal-overdue', other.blobId, true])
    await repair()
    await repair()
    await expectWhole(t.app)
    await db.run('UPDATE entry SET total_bytes = 4 WHERE id = ?', [other.id])
    expect(what(await repair())[0]).toEqual(['size-differs', blobId, true])
    await repair()
    await expectWhole(t.app)
    await db.run('UPDATE entry SET total_bytes = 4 WHERE blob_id = ?', [blobId])
    await db.run('UPDATE blobs SET size = 4 WHERE id = ?', [blobId])
    expect(what(await find())[0]).toEqual(['size-differs', blobId, false])
    await db.run('UPDATE blobs SET size = 5 WHERE id = ?', [blobId])
    await repair()
    await repair()
    await expectWhole(t.app)
    expect(
      await db.rows('SELECT total_bytes AS bytes FROM entry WHERE id IN (?, ?)', [id, other.id]),
    ).toEqual([{ bytes: 5 }, { bytes: 5 }])
  })
})

describe('A multipart upload', () => {
  const begin = async (direct: boolean) => {
    const up = restUploader(alice)
    const { value } = await up.start({ filename: 'in-parts.bin', size: 6, direct })
    const id: string = value.upload_id
    await up.part(id, 1, { bytes: 'parts!' })
    return { up, id }
  }
  const ageOf = (id: string, lease: number) =>
    db.run('UPDATE blobs SET lease_until = ? WHERE id = ?', [lease, id])
  const day = 100_000_000

  it.each([false, true])('in progress is left alone, direct: %s', async direct => {
    const { up, id } = await begin(direct)
    expect(await repair()).toEqual([])
    await expectWhole(t.app)
    expect((await up.look(id)).value.received).toEqual([1])
    await up.abort(id)
    await t.settle()
    expect(await repair()).toEqual([])
    await outlive(t)
    await expectWhole(t.app)
  })

  it.each([false, true])('that is dead releases everything, direct: %s', async direct => {
    const { id } = await begin(direct)
    await ageOf(id, Date.now() - HOUR / 2)
    await db.run('UPDATE upload_session SET created_at = created_at - ?', [day])
    expect(await findingsOf(t.app, { graceMs: HOUR, repair: true })).toEqual([])
    await expectMended(['upload-overdue', id])
    expect(await db.rows('SELECT id FROM upload_session')).toEqual([])
    expect(await db.rows('SELECT id FROM blobs WHERE id = ?', [id])).toEqual([])
  })

  it('whose signed addresses are still valid keeps what can be written to them', async () => {
    const { id } = await begin(true)
    // Simulates a store that clients reach directly.
    await db.run('UPDATE upload_session SET writable_until = ? WHERE id = ?', [
      Date.now() + 24 * HOUR,
      id,
    ])
    await ageOf(id, Date.now() - 1000)
    await expectMended(['upload-overdue', id])
    const [row] = await db.rows<{ leaseUntil: number }>(
      'SELECT lease_until AS leaseUntil FROM blobs WHERE id = ?',
      [id],
    )
    expect(row?.leaseUntil).toBeGreaterThan(Date.now() + 23 * HOUR)
    await outlive(t)
  })

  it('left behind after its end is deleted', async () => {
    const { id } = await begin(false)
    await db.run("UPDATE blobs SET state = 'deleting', reserved_bytes = 0 WHERE id = ?", [id])
    await db.run('UPDATE bucket SET reserved_bytes = 0, reserved_files = 0 WHERE id = ?', [
      bucketId,
    ])
    expect(what(await find())).toEqual([['upload-ended', id, false]])
    expect(what(await repair())).toEqual([['upload-ended', id, true]])
    await outlive(t)
    await expectWhole(t.app)
  })

  it('drops a copy that is no longer needed', async () => {
    const id = newId()
    await put(id, 'copied')
    await insertBlob(id, 'copied', { lease: Date.now() - HOUR / 2 })
    expect(await findingsOf(t.app, { graceMs: HOUR, repair: true })).toEqual([])
    await expectMended(['copy-overdue', id])
    expect(await has(id)).toBe(false)
  })

  it('with only unknown parts left is removed', async () => {
    const id = newId()
    await stagePart(store, id, 1, Buffer.from('part'))
    expect(await findingsOf(t.app, { graceMs: HOUR, repair: true })).toEqual([])
    await expectMended(['object-unknown', id])
    await stagePart(store, id, 2, Buffer.from('part'))
    expect([...(await store.partsOf(id)).keys()]).toEqual([2])
    await store.remove([id])
  })
})

describe('A tree', () => {
  it('gets its totals recounted at any depth', async () => {
    const [docs, deep, folder] = [await entry('docs'), await entry('deep'), await entry('folder')]
    await db.run(
      'UPDATE entry SET total_bytes = 1, total_files = 2, total_folders = 3 WHERE id = ?',
      [deep.id],
    )
    const findings = await find()
    expect(what(findings)).toEqual([
      ['folder-totals', docs.id, false],
      ['folder-totals', deep.id, false],
    ])
    expect(findings[1]?.message).toBe(
      'The totals of this folder are 2 files, 3 folders and 1 bytes; it contains 2 files, 0 folders and 11 bytes.',
    )
    await repair()
    expect(await repair()).toEqual([])
    await expectWhole(t.app)
    await db.run('UPDATE entry SET total_files = 7 WHERE id = ?', [folder.id])
    await repair()
    expect(await repair()).toEqual([])
    await expectWhole(t.app)
  })

  it.each([
    'used_bytes',
    'used_files',
    'used_folders',
    'reserved_bytes',
    'reserved_files',
    'purging',
  ])('gets the %s of its bucket recounted', async column => {
    await db.run(`UPDATE bucket SET ${column} = ${column} + 3 WHERE id = ?`, [bucketId])
    await expectMended(['bucket-counts', bucketId])
  })

  it('gets entries without a folder moved to where their owner finds them', async () => {
    await alice.upload('lost/sub/file.txt', 'found again')
    const { id: sub } = await entry('sub')
    const { id: lost } = await entry('lost')
    await db.run('DELETE FROM entry WHERE id = ?', [lost])
    expect(what(await find())).toEqual([
      ['parent-missing', sub, false],
      ['bucket-counts', bucketId, false],
    ])
    expect(what(await repair())[0]).toEqual(['parent-missing', sub, true])
    await repair()
    await expectWhole(t.app)
    const { response } = await alice.rest('GET', '/api/folders?path=lost%2Bfound')
    const path = `lost%2Bfound/${response.folders[0]}/sub`
    const tree = await alice.rest('GET', `/api/files/tree?path=${path}`)
    expect(tree.response.files).toEqual([expect.objectContaining({ size: 11 })])
    await alice.rest('DELETE', '/api/folders?path=lost%2Bfound&recursive=true')
    await expectConsistent(t)
  })

  it('with a cycle or without a bucket is left to the operator', async () => {
    const [docs, deep] = [await entry('docs'), await entry('deep')]
    await db.run('UPDATE entry SET parent_id = ? WHERE id = ?', [deep.id, docs.id])
    const loops = (await find()).filter(({ kind }) => kind === 'folder-loop')
    expect(loops.length).toBeGreaterThan(0)
    await db.run('UPDATE entry SET parent_id = ? WHERE id = ?', [docs.parentId, docs.id])
    await expectWhole(t.app)
    const { id } = await entry('folder')
    await db.run("UPDATE entry SET bucket_id = 'none' WHERE id = ?", [id])
    expect(what(await repair())).toEqual([['bucket-missing', id, false]])
    await db.run('UPDATE entry SET bucket_id = ? WHERE id = ?', [bucketId, id])
    await expectWhole(t.app)
  })

  it('that was deleted is purged although its job was lost', async () => {
    await alice.upload('deleted/file.txt', 'deleted')
    const { id } = await entry('deleted')
    await db.run('UPDATE entry SET parent_id = NULL, name = ? WHERE id = ?', [newId(), id])
    await db.run(
      'UPDATE bucket SET purging = 1, used_files = used_files - 1, used_folders = used_folders - 1, used_bytes = used_bytes - 7 WHERE id = ?',
      [bucketId],
    )
    await expectMended(['purge-forgotten', id])
  })

  it('that is about to be purged is consistent', async () => {
    await alice.upload('deleted/sub/file.txt', 'deleted')
    const { id } = await entry('deleted')
    await db.run('UPDATE entry SET parent_id = NULL, name = ? WHERE id = ?', [newId(), id])
    await db.run(
      'UPDATE bucket SET purging = 1, used_files = used_files - 1, used_folders = used_folders - 2, used_bytes = used_bytes - 7 WHERE id = ?',
      [bucketId],
    )
    await db.run(
      "INSERT INTO outbox (id, kind, payload, attempts, due_at, last_error, created_at) VALUES (?, 'purge-folder', ?, 0, ?, '', 0)",
      [newId(), JSON.stringify({ folderId: id, bucketId }), Date.now()],
    )
    // Half of it is purged already, so the rest does not add up.
    await db.run("UPDATE entry SET total_files = 5 WHERE name = 'sub'")
    expect(await repair()).toEqual([])
    await expectConsistent(t)
  })

  it('of a deleted account is consistent during its purge', async () => {
    const dave = await t.signIn('dave')
    for (const name of ['of-dave/one.txt', 'of-dave/two.txt', 'three.txt'])
      await dave.upload(name, 'dave')
    // The worker is paused, so the job is due later.
    const { id, blobId } = await entry('three.txt')
    await db.transaction(async tx => {
      const [tree] = await db.rows<{ bucketId: string; rootId: string }>(
        'SELECT id AS bucketId, root_id AS rootId FROM bucket WHERE user_id = ?',
        [dave.userId],
        tx,
      )
      await db.run('UPDATE bucket SET user_id = NULL WHERE user_id = ?', [dave.userId], tx)
      await db.run(
        "INSERT INTO outbox (id, kind, payload, attempts, due_at, last_error, created_at) VALUES (?, 'purge-bucket', ?, 0, ?, '', 0)",
        [newId(), JSON.stringify(tree), Date.now() + HOUR],
        tx,
      )
      await db.run('DELETE FROM entry WHERE id = ?', [id], tx)
      await db.run(
        "UPDATE blobs SET state = 'deleting', lease_until = ? WHERE id = ?",
        [Date.now() + HOUR, blobId],
        tx,
      )
    })
    expect(await repair()).toEqual([])
    await db.run('UPDATE outbox SET due_at = 0')
    await db.run('UPDATE blobs SET lease_until = 0')
    await expectConsistent(t)
  })
})

it('reports jobs that fail repeatedly', async () => {
  const id = newId()
  await db.run(
    "INSERT INTO outbox (id, kind, payload, attempts, due_at, last_error, created_at) VALUES (?, 'mail', '{}', 5, ?, 'refused', 0)",
    [id, Date.now() + HOUR],
  )
  const [finding] = await repair()
  expect(finding).toEqual({
    kind: 'job-failing',
    id,
    message: 'A job "mail" has failed 5 times: refused',
    repaired: false,
  })
  await db.run('DELETE FROM outbox WHERE id = ?', [id])
})

it('neither finds nor breaks anything while the service runs', async () => {
  let busy = true
  const work = async (n: number) => {
    for (let round = 0; busy; round++) {
      const at = `busy-${n}/${round}`
      await alice.upload(`${at}/file.txt`, `${n} ${round}`)
      await alice.rest('POST', '/api/folders/move', {
        json: { source: at, destination: `busy/${n}/${round}` },
      })
      await alice.upload(`${at}/file.txt`, `${n} ${round} again`)
      if (round % 2) await alice.rest('DELETE', `/api/folders?path=busy/${n}&recursive=true`)
      const up = restUploader(alice)
      const { value } = await up.start({
        filename: 'parts.bin',
        folder: at,
        size: 5,
        direct: n % 2 === 0,
      })
      await up.part(value.upload_id, 1, { bytes: '12345' })
      await (round % 3 ? up.complete(value.upload_id) : up.abort(value.upload_id))
    }
  }
  const workers = [1, 2, 3, 4].map(work)
  const settling = (async () => {
    while (busy) await t.settle()
  })()
  const findings: Finding[] = []
  try {
    for (let round = 0; round < 40; round++)
      findings.push(...(await findingsOf(t.app, { graceMs: 60_000, repair: true })))
  } finally {
    busy = false
    await Promise.all([...workers, settling])
  }
  expect(findings).toEqual([])
  await expectConsistent(t)
})

it('holds at most one page of rows in memory, like a purge', async () => {
  const bob = await t.signIn('bob')
  const [bucket] = await db.rows<{ id: string; rootId: string }>(
    'SELECT id, root_id AS rootId FROM bucket WHERE user_id = ?',
    [bob.userId],
  )
  const FILES = 3000
  await bob.rest('POST', '/api/folders', { json: { path: 'large' } })
  const { id: folder } = await entry('large')
  await db.transaction(async tx => {
    for (let n = 0; n < FILES; n++)
      await db.run(
        `INSERT INTO entry (id, bucket_id, parent_id, kind, name, md5, blob_id, total_files, created_at, updated_at) VALUES (?, ?, ?, 1, ?, 'x', ?, 1, 0, 0)`,
        [newId(), bucket?.id ?? '', folder, `file-${n}`, newId()],
        tx,
      )
    await db.run('UPDATE entry SET total_files = ? WHERE id = ?', [FILES, folder], tx)
    await db.run('UPDATE bucket SET used_files = ? WHERE id = ?', [FILES, bucket?.id ?? ''], tx)
  })
  let most = 0
  const watchedRows = async <T>(...args: Parameters<Db['rows']>) => {
    const rows = await db.rows<T>(...args)
    most = Math.max(most, rows.length)
    return rows
  }
  const watched: Db = {
    ...db,
    rows: watchedRows,
    row: async <T>(...args: Parameters<Db['row']>) => (await watchedRows<T>(...args))[0],
    exists: async (...args) => (await watchedRows(...args)).length > 0,
  }
  const findings = await findingsOf({ db: watched, store })
  expect(findings.map(({ kind }) => kind)).toEqual(Array(FILES).fill('file-without-blob'))
  expect(most).toBeLessThanOrEqual(1000)

  t.statements()
  expect(
    (await bob.rest('DELETE', '/api/folders?path=large&recursive=true')).response.files_deleted,
  ).toBe(FILES)
  await expectConsistent(t)
  const purge = t.statements().filter(sql => /FROM entry WHERE parent_id = \? ORDER BY/.test(sql))
  expect(purge.length).toBeGreaterThanOrEqual(FILES / 512)
  expect(purge.every(sql => Number(/LIMIT (\d+)$/.exec(sql)?.[1]) <= 512)).toBe(true)
})

const onSqlite = engine === 'sqlite' ? describe : describe.skip

onSqlite('npm run doctor', () => {
  let dataDir: string
  const doctor = (...args: string[]) => runBuilt('doctor.ts', args, { DATA_DIR: dataDir })
  const lines = (out: string) =>
    out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))

  beforeAll(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'satchel-doctor-'))
  })
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

  it('reports missing parts of an installation, and creates nothing', async () => {
    const { code, err } = await doctor()
    expect(code).toBe(2)
    expect(err).toMatch(/There is no database .*satchel\.sqlite\. Start the service once/)
    expect((await runBuilt('doctor.ts', [], { DATA_DIR: dataDir, PORT: 'x' })).code).toBe(2)
    const unknown = await doctor('--mend')
    expect([unknown.code, unknown.err]).toEqual([
      2,
      expect.stringMatching(/unknown option '--mend'/),
    ])
    const help = await doctor('--help')
    expect(help.code).toBe(0)
    for (const word of ['--repair', '--json', '--grace', 'Exit code'])
      expect(help.out).toContain(word)
  })

  it('exits quietly when its reader closes the pipe', async () => {
    const child = launch('doctor.ts', ['--help'], { DATA_DIR: dataDir })
    child.stdout?.destroy()
    const [said] = await Promise.all([
      text(child.stderr ?? Readable.from([])),
      once(child, 'close'),
    ])
    expect(said).toBe('')
  })

  it('finds and repairs problems with a running service, and without', async () => {
    const service = await startBuilt({ DATA_DIR: dataDir })
    const file = join(dataDir, 'satchel.sqlite')
    const ledger = openDatabase({ dialect: 'sqlite', file }, { pool: 1 })
    try {
      const carol = await signInTo(ledger, service.url, 'carol')
      expect((await carol.upload('folder/file.txt', 'bytes')).status).toBe(200)
      expect(statSync(join(dataDir, 'blobs', 'installation')).mode & 0o777).toBe(0o600)
      expect(await doctor()).toEqual({ code: 0, out: 'All is well.\n', err: '' })

      await ledger.run('UPDATE bucket SET used_files = 9')
      const found = await doctor()
      expect(found).toEqual({
        code: 1,
        out: expect.stringMatching(/^bucket-counts [\w-]+\n {2}This storage area counts 9 files/),
        err: '',
      })
      expect(found.out).toMatch(/1 difference found\. Run with --repair to repair .*\.\n$/)

      await service.end('SIGKILL')
      const json = await doctor('--json')
      expect(json.code).toBe(1)
      expect(lines(json.out)).toEqual([
        {
          kind: 'bucket-counts',
          id: expect.any(String),
          message: expect.any(String),
          repaired: false,
        },
        { findings: 1, repaired: 0 },
      ])
      const repaired = await doctor('--json', '--repair')
      expect(repaired.code).toBe(0)
      expect(lines(repaired.out).slice(1)).toEqual([
        { findings: 1, repaired: 1 },
        { findings: 0, repaired: 0 },
      ])
    } finally {
      await service.end('SIGKILL')
      await ledger.close()
    }
    expect((await doctor()).code).toBe(0)
  })
})
