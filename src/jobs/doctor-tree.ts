import type { Db } from '../../db/index.ts'
import { FILE, FOLDER } from '../../db/models/entry.ts'
import { placeholders } from '../services/entry-path.ts'
import { enqueue, GIVEN_UP } from '../services/outbox.ts'
import { type Installation, type Problem, pages } from './doctor-check.ts'
import {
  type Counts,
  climb,
  lockBucket,
  reattach,
  recount,
  retotal,
  reviveBlob,
  same,
  sums,
  toCounts,
} from './doctor-repair.ts'

const PAGE = 500
const BUCKETS = 100
/** Tries after which a job is reported: by then it has failed for more than a minute. */
const MANY_TRIES = 5

interface EntryRow {
  id: string
  bucketId: string
  parentId: string | null
  kind: number
  name: string
  blobId: string | null
  parent: string | null
  blobState: string | null
  rootId: string | null
}

const say = ({ bytes, files, folders }: Counts) => `${files} files, ${folders} folders and ${bytes} bytes`

/** Every entry has a parent or is a root, every file a living blob, every folder the totals of what is in it. */
export async function* checkEntries(installation: Installation): AsyncGenerator<Problem> {
  const { db } = installation
  const page = (last: EntryRow | undefined) =>
    db.rows<EntryRow>(
      `SELECT e.id, e.bucket_id AS bucketId, e.parent_id AS parentId, e.kind, e.name, e.blob_id AS blobId, p.id AS parent,
         b.state AS blobState, k.root_id AS rootId
       FROM entry e LEFT JOIN entry p ON p.id = e.parent_id AND p.kind = ${FOLDER} AND p.bucket_id = e.bucket_id
         LEFT JOIN blobs b ON b.id = e.blob_id LEFT JOIN bucket k ON k.id = e.bucket_id
       WHERE e.id > ? ORDER BY e.id LIMIT ${PAGE}`,
      [last?.id ?? ''],
    )
  for await (const rows of pages(page)) {
    for (const row of rows) yield* judgeEntry(installation, row)
    yield* judgeTotals(
      db,
      rows.filter(row => row.kind === FOLDER && row.parentId !== null),
    )
  }
}

async function* judgeEntry({ db, store }: Installation, row: EntryRow): AsyncGenerator<Problem> {
  const { id, bucketId, parentId, kind, blobId } = row
  const [what, deleted] = [kind === FILE ? 'file' : 'folder', parentId === null && kind === FOLDER && row.name !== '']
  if (row.rootId === null && !(await isBelowDeleted(db, id)))
    yield { kind: 'bucket-missing', id, message: `The storage area of this ${what} does not exist.` }
  if (row.parent === null && id !== row.rootId && !deleted && row.rootId !== null)
    yield {
      kind: 'parent-missing',
      id,
      message: `The folder of this ${what} does not exist, so it cannot be opened.`,
      repair: () => db.transaction(tx => reattach(db, id, bucketId, tx)),
    }
  if (kind !== FILE || row.blobState === 'live') return
  yield {
    kind: 'file-without-blob',
    id,
    message: `This file names the object ${blobId ?? '(none)'}, which ${row.blobState ? `is ${row.blobState}` : 'has no row in the ledger'}.`,
    repair: async () => {
      const object = blobId === null ? null : await store.look(blobId)
      if (!object || blobId === null) return false
      await db.transaction(tx => reviveBlob(db, bucketId, blobId, object.size, tx))
      return true
    },
  }
}

/** A purge deletes the bucket of a workspace while other purges in it may still be running. */
async function isBelowDeleted(db: Db, id: string): Promise<boolean> {
  const { top } = await climb(db, id)
  return (
    top?.parentId === null && (await db.rows("SELECT id FROM entry WHERE id = ? AND name > ''", [top.id])).length > 0
  )
}

async function* judgeTotals(db: Db, folders: EntryRow[]): AsyncGenerator<Problem> {
  if (folders.length === 0) return
  const ids = folders.map(f => f.id)
  const rows = await db.rows<Counts & { id: string; saidBytes: number; saidFiles: number; saidFolders: number }>(
    `SELECT f.id, f.total_bytes AS saidBytes, f.total_files AS saidFiles, f.total_folders AS saidFolders, ${sums}
     FROM entry f LEFT JOIN entry c ON c.parent_id = f.id WHERE f.id IN (${placeholders(ids)})
     GROUP BY f.id, f.total_bytes, f.total_files, f.total_folders`,
    ids,
  )
  for (const { id, saidBytes, saidFiles, saidFolders, ...have } of rows) {
    const said = { bytes: saidBytes, files: saidFiles, folders: saidFolders }
    const there = toCounts(have)
    if (same(said, there)) continue
    const { top, chain } = await climb(db, id)
    if (chain.length === 0) continue
    if (!top) yield { kind: 'folder-loop', id, message: 'This folder is inside itself, so it cannot be opened.' }
    else if (top.parentId === null && (await isKept(db, top.id, top.bucketId)))
      yield {
        kind: 'folder-totals',
        id,
        message: `This folder counts ${say(said)}; it contains ${say(there)}.`,
        repair: () =>
          db.transaction(async tx => {
            await lockBucket(db, top.bucketId, tx)
            await retotal(db, id, tx)
            return true
          }),
      }
  }
}

/** Whether an entry is the root of a bucket that is not being purged. What is purged is not counted any more. */
async function isKept(db: Db, rootId: string, bucketId: string): Promise<boolean> {
  const buckets = await db.rows('SELECT id FROM bucket WHERE id = ? AND root_id = ?', [bucketId, rootId])
  return buckets.length > 0 && !(await isEnding(db, bucketId))
}

/** Whether a whole bucket is being purged. Such jobs are few, so scanning them is cheap. */
async function isEnding(db: Db, bucketId: string): Promise<boolean> {
  const jobs = await db.rows("SELECT id FROM outbox WHERE kind = 'purge-bucket' AND payload LIKE ?", [`%${bucketId}%`])
  return jobs.length > 0
}

interface BucketRow extends Counts {
  id: string
  usedBytes: number
  usedFiles: number
  usedFolders: number
  reservedBytes: number
  reservedFiles: number
  purging: number
  heldBytes: number
  heldFiles: number
  purges: number
}

/** A bucket counts what is below its root, what its uploads reserve, and the deleted folders that are not purged yet. */
export async function* checkBuckets({ db }: Installation): AsyncGenerator<Problem> {
  const page = (last: BucketRow | undefined) =>
    db.rows<BucketRow>(
      `SELECT k.id, k.used_bytes AS usedBytes, k.used_files AS usedFiles, k.used_folders AS usedFolders,
         k.reserved_bytes AS reservedBytes, k.reserved_files AS reservedFiles, k.purging, ${sums},
         (SELECT COALESCE(SUM(s.reserved_bytes), 0) FROM blobs s WHERE s.state = 'staged' AND s.bucket_id = k.id) AS heldBytes,
         (SELECT COUNT(*) FROM blobs s WHERE s.state = 'staged' AND s.bucket_id = k.id) AS heldFiles,
         (SELECT COUNT(*) FROM entry d WHERE d.parent_id IS NULL AND d.name > '' AND d.bucket_id = k.id) AS purges
       FROM (SELECT id, root_id, used_bytes, used_files, used_folders, reserved_bytes, reserved_files, purging FROM bucket WHERE id > ? ORDER BY id LIMIT ${BUCKETS}) k
         LEFT JOIN entry c ON c.parent_id = k.root_id GROUP BY k.id, k.used_bytes, k.used_files, k.used_folders, k.reserved_bytes, k.reserved_files, k.purging ORDER BY k.id`,
      [last?.id ?? ''],
    )
  for await (const rows of pages(page)) for (const row of rows) yield* judgeBucket(db, row)
}

async function* judgeBucket(db: Db, row: BucketRow): AsyncGenerator<Problem> {
  const { id, usedBytes, usedFiles, usedFolders, reservedBytes, reservedFiles, purging, purges } = row
  const used = { bytes: usedBytes, files: usedFiles, folders: usedFolders }
  const [there, held] = [toCounts(row), { bytes: Number(row.heldBytes), files: Number(row.heldFiles) }]
  const wrong = [
    same(used, there) ? '' : `counts ${say(used)}, and ${say(there)} are there`,
    reservedBytes === held.bytes && reservedFiles === held.files
      ? ''
      : `reserves ${reservedBytes} bytes for ${reservedFiles} files, and its uploads hold ${held.bytes} for ${held.files}`,
    purging === Number(purges) ? '' : `counts ${purging} folders to be purged, and there are ${purges}`,
  ].filter(Boolean)
  if (wrong.length === 0 || (await isEnding(db, id))) return
  yield {
    kind: 'bucket-counts',
    id,
    message: `This storage area ${wrong.join('; ')}.`,
    repair: () =>
      db.transaction(async tx => {
        await lockBucket(db, id, tx)
        await recount(db, id, tx)
        return true
      }),
  }
}

/** For every deleted folder there is a job that purges it. */
export async function* checkPurges({ db }: Installation): AsyncGenerator<Problem> {
  interface Deleted {
    id: string
    bucketId: string
    name: string
  }
  const page = (last: Deleted | undefined) =>
    db.rows<Deleted>(
      `SELECT id, bucket_id AS bucketId, name FROM entry WHERE parent_id IS NULL AND name > ? ORDER BY name LIMIT ${PAGE}`,
      [last?.name ?? ''],
    )
  for await (const rows of pages(page)) {
    const jobs = rows.map(({ id, bucketId }) => ({ folderId: id, bucketId }))
    const payloads = jobs.map(job => JSON.stringify(job))
    const enqueued = await db.rows<{ payload: string }>(
      `SELECT payload FROM outbox WHERE kind = 'purge-folder' AND payload IN (${placeholders(payloads)})`,
      payloads,
    )
    const known = new Set(enqueued.map(job => job.payload))
    for (const job of jobs) {
      // The row is deleted before its job, so a row without a job has been forgotten.
      if (known.has(JSON.stringify(job)) || !(await isThere(db, job.folderId))) continue
      yield {
        kind: 'purge-forgotten',
        id: job.folderId,
        message: 'This deleted folder waits to be purged, but no job does it.',
        repair: async () => {
          await db.transaction(tx => enqueue(db, 'purge-folder', job, tx))
          return true
        },
      }
    }
  }
}

async function isThere(db: Db, id: string): Promise<boolean> {
  return (await db.rows('SELECT id FROM entry WHERE id = ? AND parent_id IS NULL', [id])).length > 0
}

/** Jobs that fail repeatedly need an operator. */
export async function* checkJobs({ db }: Installation): AsyncGenerator<Problem> {
  interface JobRow {
    id: string
    kind: string
    attempts: number
    dueAt: number
    lastError: string
  }
  const page = (last: JobRow | undefined) =>
    db.rows<JobRow>(
      `SELECT id, kind, attempts, due_at AS dueAt, last_error AS lastError FROM outbox
       WHERE id > ? AND ((attempts >= ${MANY_TRIES} AND last_error <> '') OR due_at = ?) ORDER BY id LIMIT ${PAGE}`,
      [last?.id ?? '', GIVEN_UP],
    )
  for await (const rows of pages(page))
    for (const { id, kind, attempts, dueAt, lastError } of rows)
      yield dueAt === GIVEN_UP
        ? {
            kind: 'job-given-up',
            id,
            message: `A job "${kind}" is given up after ${attempts === 1 ? '1 try' : `${attempts} tries`}: ${lastError}`,
          }
        : { kind: 'job-failing', id, message: `A job "${kind}" has failed ${attempts} times: ${lastError}` }
}
