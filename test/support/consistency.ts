import { deepEqual } from 'node:assert'
import type { Db } from '../../db/index.ts'
import type { Finding } from '../../src/doctor/check.ts'
import { examine } from '../../src/doctor/run.ts'
import type { BlobStore } from '../../src/storage/store.ts'
import type { TestApp } from './harness.ts'
import { until } from './until.ts'

/** The findings of the doctor at this moment, without a grace period for work in progress. */
export async function findingsOf(
  installation: { db: Db; store: BlobStore },
  { repair = false, graceMs = 0 } = {},
): Promise<Finding[]> {
  const findings: Finding[] = []
  await examine(
    { ...installation, graceMs },
    { repair, onFinding: finding => findings.push(finding) },
  )
  return findings
}

/** Waits until no request is running. A client that has disconnected cannot know this. */
export async function quiet(t: TestApp): Promise<void> {
  await until(() => t.app.gateway.running === 0)
}

/**
 * Expects that database and store agree after all background work is done, both by the doctor and
 * by an independent count.
 */
export async function expectConsistent(t: TestApp): Promise<void> {
  await quiet(t)
  await t.settle()
  await expectWhole(t.app)
}

/** Like `expectConsistent`, for a database and a store that no instance uses. */
export async function expectWhole(installation: { db: Db; store: BlobStore }): Promise<void> {
  // Not strict equality: objects from native modules belong to another realm in a sandbox.
  deepEqual(await findingsOf(installation), [])
  deepEqual(await recount(installation), await remembered(installation))
}

/**
 * Moves all multipart uploads a day into the past, so that they and their signed addresses expire,
 * and runs the sweeper.
 */
export async function outlive(t: TestApp): Promise<void> {
  await quiet(t)
  await t.app.db.run(
    `UPDATE upload_session SET claim_until = 0,
       writable_until = CASE WHEN writable_until > 0 THEN writable_until - 100000000 ELSE 0 END`,
  )
  await t.app.db.run("UPDATE blobs SET lease_until = 0 WHERE state <> 'live'")
  await t.settle()
}

/**
 * Like `expectWhole`, for a database and a store that instances still use, some of which were
 * killed. Waits until leases have expired, the sweeper has run and jobs are done.
 */
export async function expectHealed({ db, store }: { db: Db; store: BlobStore }): Promise<void> {
  // Work claimed by a sweeper that died is released only after a minute.
  const later = Date.now() + 4000
  await db.run("UPDATE blobs SET lease_until = 0 WHERE state = 'deleting' AND lease_until > ?", [
    later,
  ])
  const count = async (from: string) =>
    Number((await db.rows<{ n: number }>(`SELECT COUNT(*) AS n FROM ${from}`))[0]?.n)
  await until(
    async () => (await count("blobs WHERE state <> 'live'")) + (await count('outbox')) === 0,
    30_000,
    100,
  )
  await expectWhole({ db, store })
}

interface Row {
  id: string
  bucketId: string
  parentId: string | null
  kind: number
  blobId: string | null
  bytes: number
  files: number
  folders: number
}

const key = (id: string, { bytes, files, folders }: Pick<Row, 'bytes' | 'files' | 'folders'>) =>
  `${id}: ${bytes} bytes, ${files} files, ${folders} folders`

const entriesOf = (db: Db) =>
  db.rows<Row>(
    `SELECT id, bucket_id AS bucketId, parent_id AS parentId, kind, blob_id AS blobId, total_bytes AS bytes,
       total_files AS files, total_folders AS folders FROM entry ORDER BY id`,
  )

const bucketsOf = (db: Db) =>
  db.rows<
    Record<'id' | 'rootId', string> &
      Record<
        'bytes' | 'files' | 'folders' | 'reserved' | 'held' | 'purging' | 'items' | 'kept',
        number
      >
  >(
    `SELECT id, root_id AS rootId, used_bytes AS bytes, used_files AS files, used_folders AS folders,
       reserved_bytes AS reserved, reserved_files AS held, purging,
       trash_count AS items, kept_bytes AS kept FROM bucket ORDER BY id`,
  )

/** The entries in each trash. */
const trashOf = (db: Db) =>
  db.rows<{ bucketId: string; entryId: string }>(
    'SELECT bucket_id AS bucketId, entry_id AS entryId FROM trash_item ORDER BY id',
  )

/** The versions of files. */
const versionsOf = (db: Db) =>
  db.rows<{ bucketId: string; entryId: string; blobId: string; bytes: number }>(
    'SELECT bucket_id AS bucketId, entry_id AS entryId, blob_id AS blobId, bytes FROM version ORDER BY id',
  )

/** The thumbnails of contents. Both thumbnails of a content share one object. */
const previewsOf = (db: Db) =>
  db.rows<{ blobId: string; bytes: number }>(
    "SELECT blob_id AS blobId, large_bytes + small_bytes AS bytes FROM preview WHERE state = 'made' ORDER BY digest",
  )

/**
 * Multipart uploads in progress. Each reserves its declared size, and its object belongs to no file
 * yet.
 */
const sessionsOf = (db: Db) =>
  db.rows<{ id: string; bucketId: string; size: number }>(
    `SELECT s.id, s.bucket_id AS bucketId, COALESCE(q.bytes, s.size) AS size
     FROM upload_session s LEFT JOIN file_request_upload q ON q.id = s.id
     WHERE s.state IS NULL OR s.state <> 'completed' ORDER BY s.id`,
  )

/** Leftovers of direct uploads, until nobody can write to them any more. */
const waitingOf = async (db: Db) => {
  const sql = "SELECT id FROM blobs WHERE state = 'deleting' AND lease_until > ?"
  return new Set((await db.rows<{ id: string }>(sql, [Date.now() + 120_000])).map(b => b.id))
}

/** The counters stored in rows. */
async function remembered({ db }: { db: Db }) {
  const entries = await entriesOf(db)
  const buckets = await bucketsOf(db)
  const roots = new Set(buckets.map(b => b.rootId))
  const waiting = await waitingOf(db)
  const all = await db.rows<{ id: string; state: string; size: number; refs: number }>(
    "SELECT id, state, size, CASE WHEN state = 'live' THEN ref_count ELSE 0 END AS refs FROM blobs ORDER BY id",
  )
  const blobs = all.filter(b => !waiting.has(b.id))
  return {
    reachable: entries.length,
    folders: entries.filter(e => e.kind === 0 && !roots.has(e.id)).map(e => key(e.id, e)),
    buckets: buckets.map(
      b =>
        `${key(b.id, b)}, reserved ${b.reserved} for ${b.held}, purging ${b.purging}, keeps ${b.kept} bytes in ${b.items}`,
    ),
    ledger: blobs.map(b => `${b.id} ${b.state} ${b.size}, referred to ${b.refs} times`),
    objects: blobs.filter(b => b.state !== 'staged').map(b => `${b.id} ${b.size}`),
  }
}

/**
 * The actual usage, counted from the leaves of each tree and from the objects, without code of the
 * service.
 */
async function recount({ db, store }: { db: Db; store: BlobStore }) {
  const entries = await entriesOf(db)
  const children = new Map<string | null, Row[]>()
  for (const e of entries) children.set(e.parentId, [...(children.get(e.parentId) ?? []), e])
  const folders: string[] = []
  let reachable = 0
  const count = (id: string): Pick<Row, 'bytes' | 'files' | 'folders'> => {
    reachable++
    const sum = { bytes: 0, files: 0, folders: 0 }
    for (const child of children.get(id) ?? []) {
      const below = child.kind === 0 ? count(child.id) : undefined
      sum.bytes += below?.bytes ?? child.bytes
      sum.files += below?.files ?? 1
      if (below) {
        sum.folders += below.folders + 1
        folders.push(key(child.id, below))
      } else reachable++
    }
    return sum
  }
  const sessions = await sessionsOf(db)
  const reservedIn = (bucketId: string) => {
    const own = sessions.filter(s => s.bucketId === bucketId)
    return `reserved ${own.reduce((sum, s) => sum + s.size, 0)} for ${own.length}`
  }
  const trash = await trashOf(db)
  const versions = await versionsOf(db)
  const files = new Set(entries.filter(e => e.kind === 1).map(e => e.id))
  if (versions.some(v => !files.has(v.entryId))) throw new Error('A version has no file.')
  const keptIn = (bucketId: string) => {
    const tops = trash
      .filter(t => t.bucketId === bucketId)
      .map(t => entries.find(e => e.id === t.entryId))
    const bytes = tops.map(top => {
      if (!top || top.parentId !== null)
        throw new Error('A trash item has nothing that could be restored.')
      if (top.kind === 1) {
        reachable++
        return top.bytes
      }
      const below = count(top.id)
      folders.push(key(top.id, below))
      return below.bytes
    })
    bytes.push(...versions.filter(v => v.bucketId === bucketId).map(v => v.bytes))
    return `keeps ${bytes.reduce((sum, n) => sum + n, 0)} bytes in ${tops.length}`
  }
  const buckets = (await bucketsOf(db)).map(
    b => `${key(b.id, count(b.rootId))}, ${reservedIn(b.id)}, purging 0, ${keptIn(b.id)}`,
  )
  const named = [...entries.filter(e => e.kind === 1), ...versions, ...(await previewsOf(db))]
  const ledger = [
    ...Array.from(
      Map.groupBy(named, ({ blobId, bytes }) => `${blobId} live ${bytes}`),
      ([blob, all]) => `${blob}, referred to ${all.length} times`,
    ),
    ...sessions.map(s => `${s.id} staged 0, referred to 0 times`),
  ]
  const underWay = new Set([...sessions.map(s => s.id), ...(await waitingOf(db))])
  const objects: string[] = []
  for await (const { key: id, size } of store.list())
    if (!underWay.has(id)) objects.push(`${id} ${size}`)
  return { reachable, folders: folders.sort(), buckets, ledger: ledger.sort(), objects }
}
