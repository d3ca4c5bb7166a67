import type { Db, Tx } from '../index.ts'
import { type Entry, FOLDER } from '../models/entry.ts'
import type { Job } from '../models/job.ts'
import type { Totals } from './bucket.ts'
import { GIVEN_UP } from './job.ts'
import { changedNow, placeholders, stampChange } from './sql.ts'

/** Upload sessions without a staged blob, except those that report a background completion. */
export const endedSessionsAfter = (db: Db, id: string, limit: number): Promise<{ id: string }[]> =>
  db.rows(
    `SELECT s.id
     FROM upload_session s
     LEFT JOIN blobs b ON b.id = s.id AND b.state = 'staged'
     WHERE s.id > ?
       AND b.id IS NULL
       AND (s.state IS NULL OR s.state <> 'completed')
     ORDER BY s.id
     LIMIT ${limit}`,
    [id],
  )

export const deleteEndedSession = (db: Db, id: string): Promise<number> =>
  db.run(
    `DELETE FROM upload_session
     WHERE id = ?
       AND NOT EXISTS (SELECT 1 FROM blobs WHERE id = ? AND state = 'staged')`,
    [id, id],
  )

/** An entry with the rows that it refers to, if they exist. */
export interface EntryReferences
  extends Pick<Entry, 'id' | 'bucketId' | 'parentId' | 'kind' | 'name' | 'blobId'> {
  parent: string | null
  blobState: string | null
  rootId: string | null
  trashId: string | null
}

export const entriesAfter = (db: Db, id: string, limit: number): Promise<EntryReferences[]> =>
  db.rows(
    `SELECT e.id, e.bucket_id AS bucketId, e.parent_id AS parentId, e.kind, e.name,
       e.blob_id AS blobId, p.id AS parent,
       b.state AS blobState, k.root_id AS rootId, t.id AS trashId
     FROM entry e
     LEFT JOIN entry p ON p.id = e.parent_id AND p.kind = ${FOLDER} AND p.bucket_id = e.bucket_id
     LEFT JOIN blobs b ON b.id = e.blob_id
     LEFT JOIN bucket k ON k.id = e.bucket_id
     LEFT JOIN trash_item t ON t.entry_id = e.id
     WHERE e.id > ?
     ORDER BY e.id
     LIMIT ${limit}`,
    [id],
  )

/** An entry and the folders above it, with their buckets. */
export const upWithBuckets = (
  db: Db,
  id: string,
  tx?: Tx,
): Promise<{ id: string; parentId: string | null; bucketId: string }[]> =>
  db.rows(
    `WITH RECURSIVE up (id, parent_id, bucket_id) AS (
       SELECT id, parent_id, bucket_id
       FROM entry
       WHERE id = ?
       UNION
       SELECT p.id, p.parent_id, p.bucket_id
       FROM up
       JOIN entry p ON p.id = up.parent_id
     )
     SELECT id, parent_id AS parentId, bucket_id AS bucketId
     FROM up`,
    [id],
    tx,
  )

/** An entry that lacks a valid parent folder. Undefined if it has one, or does not exist. */
export type Orphan = Totals & Pick<Entry, 'kind' | 'name' | 'levelsBelow' | 'bytesBelow'>

export const findOrphan = (db: Db, id: string, tx: Tx): Promise<Orphan | undefined> =>
  db.row(
    `SELECT e.kind, e.name, e.total_bytes AS bytes, e.total_files AS files,
       e.total_folders AS folders, e.levels_below AS levelsBelow, e.bytes_below AS bytesBelow
     FROM entry e
     LEFT JOIN entry p ON p.id = e.parent_id AND p.kind = ${FOLDER} AND p.bucket_id = e.bucket_id
     WHERE e.id = ?
       AND p.id IS NULL`,
    [id],
    tx,
  )

/** The totals of the direct children of a folder, for a join as `c`. */
const sums = `COALESCE(SUM(c.total_bytes), 0) AS bytes, COALESCE(SUM(c.total_files), 0) AS files,
  COALESCE(SUM(c.total_folders + CASE WHEN c.kind = ${FOLDER} THEN 1 ELSE 0 END), 0) AS folders`

/** MySQL returns sums as text. */
const toTotals = ({ bytes, files, folders }: Record<keyof Totals, unknown>): Totals => ({
  bytes: Number(bytes),
  files: Number(files),
  folders: Number(folders),
})

/** The stored and the actual totals of some folders. */
export async function totalsOfFolders(
  db: Db,
  ids: string[],
): Promise<{ id: string; counted: Totals; there: Totals }[]> {
  const rows = await db.rows<
    Totals & { id: string; countedBytes: number; countedFiles: number; countedFolders: number }
  >(
    `SELECT f.id, f.total_bytes AS countedBytes, f.total_files AS countedFiles,
       f.total_folders AS countedFolders, ${sums}
     FROM entry f
     LEFT JOIN entry c ON c.parent_id = f.id
     WHERE f.id IN (${placeholders(ids)})
     GROUP BY f.id, f.total_bytes, f.total_files, f.total_folders`,
    ids,
  )
  return rows.map(({ id, countedBytes, countedFiles, countedFolders, ...there }) => ({
    id,
    counted: { bytes: countedBytes, files: countedFiles, folders: countedFolders },
    there: toTotals(there),
  }))
}

/** Counts the contents of a folder again. A root has no totals; its bucket does. */
export async function retotalFolder(db: Db, id: string, tx: Tx): Promise<void> {
  const row = await db.row<Totals>(`SELECT ${sums} FROM entry c WHERE c.parent_id = ?`, [id], tx)
  if (!row) return
  const { bytes, files, folders } = toTotals(row)
  await db.run(
    `UPDATE entry
     SET total_bytes = ?, total_files = ?, total_folders = ?, ${stampChange}
     WHERE id = ?
       AND kind = ${FOLDER}
       AND parent_id IS NOT NULL`,
    [bytes, files, folders, ...changedNow(), id],
    tx,
  )
}

/**
 * The stored and the actual counts of a bucket: contents, reservations of uploads and copies, kept
 * bytes, and deleted folders that are not purged yet.
 */
export interface BucketCounts {
  id: string
  used: Totals
  there: Totals
  reserved: { bytes: number; files: number }
  held: { bytes: number; files: number }
  purging: number
  purges: number
  /** The number of trash items, and the bytes of trash items and versions. */
  counted: { bytes: number; items: number }
  kept: { bytes: number; items: number }
}

/** A condition on `entry d`: a folder that waits to be purged. */
const TO_PURGE = `d.parent_id IS NULL
    AND d.name > ''
    AND NOT EXISTS (SELECT 1 FROM trash_item t WHERE t.entry_id = d.id)`

/**
 * The counts of some buckets.
 * @param which a condition on `bucket`, with order and limit
 */
async function countBuckets(db: Db, which: string, id: string, tx?: Tx): Promise<BucketCounts[]> {
  const columns =
    'id, root_id, used_bytes, used_files, used_folders, reserved_bytes, reserved_files, purging, trash_count, kept_bytes'
  const of = columns.split(', ').map(column => `k.${column}`)
  const rows = await db.rows<Totals & Record<string, number> & { id: string }>(
    `SELECT k.id, k.used_bytes AS usedBytes, k.used_files AS usedFiles,
       k.used_folders AS usedFolders,
       k.reserved_bytes AS reservedBytes, k.reserved_files AS reservedFiles, k.purging,
       k.trash_count AS trashCount, k.kept_bytes AS keptBytes, ${sums},
       (SELECT COALESCE(SUM(s.reserved_bytes), 0)
         FROM blobs s
         WHERE s.state = 'staged'
           AND s.bucket_id = k.id) AS uploadBytes,
       (SELECT COUNT(*)
         FROM blobs s
         WHERE s.state = 'staged'
           AND s.bucket_id = k.id) AS uploadFiles,
       (SELECT COALESCE(SUM(y.reserved_bytes), 0)
         FROM entry_copy y
         WHERE y.bucket_id = k.id) AS copyBytes,
       (SELECT COALESCE(SUM(y.reserved_files), 0)
         FROM entry_copy y
         WHERE y.bucket_id = k.id) AS copyFiles,
       (SELECT COUNT(*) FROM trash_item i WHERE i.bucket_id = k.id) AS trashItems,
       (SELECT COALESCE(SUM(i.bytes), 0) FROM trash_item i WHERE i.bucket_id = k.id) AS trashBytes,
       (SELECT COALESCE(SUM(v.bytes), 0) FROM version v WHERE v.bucket_id = k.id) AS versionBytes,
       (SELECT COUNT(*) FROM entry d WHERE ${TO_PURGE} AND d.bucket_id = k.id) AS purges
     FROM (SELECT ${columns} FROM bucket WHERE ${which}) k
     LEFT JOIN entry c ON c.parent_id = k.root_id
     GROUP BY ${of.join(', ')}
     ORDER BY k.id`,
    [id],
    tx,
  )
  return rows.map(row => ({
    id: row.id,
    used: toTotals({ bytes: row.usedBytes, files: row.usedFiles, folders: row.usedFolders }),
    there: toTotals(row),
    reserved: { bytes: Number(row.reservedBytes), files: Number(row.reservedFiles) },
    held: {
      bytes: Number(row.uploadBytes) + Number(row.copyBytes),
      files: Number(row.uploadFiles) + Number(row.copyFiles),
    },
    purging: Number(row.purging),
    purges: Number(row.purges),
    counted: { bytes: Number(row.keptBytes), items: Number(row.trashCount) },
    kept: {
      bytes: Number(row.trashBytes) + Number(row.versionBytes),
      items: Number(row.trashItems),
    },
  }))
}

export const bucketCountsAfter = (db: Db, id: string, limit: number): Promise<BucketCounts[]> =>
  countBuckets(db, `id > ? ORDER BY id LIMIT ${limit}`, id)

/**
 * Counts a bucket again: contents, reservations of uploads and copies, kept bytes, and active
 * purges. The bucket must be locked.
 */
export async function recount(db: Db, bucketId: string, tx: Tx): Promise<void> {
  const [counts] = await countBuckets(db, 'id = ?', bucketId, tx)
  if (!counts) return
  const { there, held, purges, kept } = counts
  await db.run(
    `UPDATE bucket
     SET used_bytes = ?, used_files = ?, used_folders = ?, reserved_bytes = ?, reserved_files = ?,
       purging = ?,
       trash_count = ?, kept_bytes = ?
     WHERE id = ?`,
    [
      there.bytes,
      there.files,
      there.folders,
      held.bytes,
      held.files,
      purges,
      kept.items,
      kept.bytes,
      bucketId,
    ],
    tx,
  )
}

/** Some deleted folders that are not purged yet, sorted by their unique names. */
export const detachedAfter = (
  db: Db,
  name: string,
  limit: number,
): Promise<{ id: string; bucketId: string; name: string }[]> =>
  db.rows(
    `SELECT d.id, d.bucket_id AS bucketId, d.name
     FROM entry d
     WHERE ${TO_PURGE}
       AND d.name > ?
     ORDER BY d.name
     LIMIT ${limit}`,
    [name],
  )

/** Whether an entry is the root of a bucket, or in its trash. */
export const isTop = (db: Db, id: string, bucketId: string): Promise<boolean> =>
  db.exists(
    `SELECT id
     FROM bucket
     WHERE id = ?
       AND (root_id = ? OR id IN (SELECT bucket_id FROM trash_item WHERE entry_id = ?))`,
    [bucketId, id, id],
  )

/** Trash items without a restorable entry. */
export const emptyTrashItemsAfter = (
  db: Db,
  id: string,
  limit: number,
): Promise<{ id: string; bucketId: string }[]> =>
  db.rows(
    `SELECT t.id, t.bucket_id AS bucketId
     FROM trash_item t
     LEFT JOIN entry e ON e.id = t.entry_id AND e.parent_id IS NULL
     WHERE t.id > ?
       AND e.id IS NULL
     ORDER BY t.id
     LIMIT ${limit}`,
    [id],
  )

/** Whether a folder is detached from its tree and not purged yet. */
export const isDetached = (db: Db, id: string): Promise<boolean> =>
  db.exists("SELECT id FROM entry WHERE id = ? AND parent_id IS NULL AND name > ''", [id])

/** The payloads among these with a job that purges a folder. */
export async function purgesAmong(db: Db, payloads: string[]): Promise<Set<string>> {
  const jobs = await db.rows<{ payload: string }>(
    `SELECT payload
     FROM outbox
     WHERE kind = 'purge-folder'
       AND payload IN (${placeholders(payloads)})`,
    payloads,
  )
  return new Set(jobs.map(job => job.payload))
}

/** Whether a whole bucket is being purged. Such jobs are few, so a scan is cheap. */
export const isEnding = (db: Db, bucketId: string): Promise<boolean> =>
  db.exists("SELECT id FROM outbox WHERE kind = 'purge-bucket' AND payload LIKE ?", [
    `%${bucketId}%`,
  ])

/** A job that fails repeatedly or was abandoned. */
export type TroubledJob = Pick<Job, 'id' | 'kind' | 'attempts' | 'dueAt' | 'lastError'>

export const troubledJobsAfter = (
  db: Db,
  id: string,
  minAttempts: number,
  limit: number,
): Promise<TroubledJob[]> =>
  db.rows(
    `SELECT id, kind, attempts, due_at AS dueAt, last_error AS lastError
     FROM outbox
     WHERE id > ?
       AND ((attempts >= ${minAttempts} AND last_error <> '') OR due_at = ?)
     ORDER BY id
     LIMIT ${limit}`,
    [id, GIVEN_UP],
  )
