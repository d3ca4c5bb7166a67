import type { Db, Tx } from '../index.ts'
import type { Entry } from '../models/entry.ts'
import { TrashItem } from '../models/trash-item.ts'
import { lockBucket } from './bucket.ts'
import type { Node } from './entry-path.ts'
import { driveLimitOf, withDriveLimits } from './limit.ts'
import { type Page, pageOf } from './page.ts'
import { besideKeys, contentRevisionOf, inParts, insertion, placeholders } from './sql.ts'

/**
 * A deleted file or folder that can be restored. Sizes are in bytes, times in milliseconds since
 * 1970.
 */
export type TrashItemRow = Pick<
  TrashItem,
  'id' | 'bucketId' | 'path' | 'bytes' | 'files' | 'deletedBy' | 'deletedAt' | 'endedShares'
> &
  Pick<Entry, 'kind' | 'fileType'>

/** A deleted entry with the columns needed to restore it. */
export interface TrashedNode extends Node {
  itemId: string
  parentId: string
  path: string
}

const VIEW = `t.id, t.bucket_id AS bucketId, e.kind, e.file_type AS fileType, t.path, t.bytes,
    t.files, t.deleted_by AS deletedBy, t.deleted_at AS deletedAt,
    t.ended_shares AS endedShares
  FROM trash_item t
  JOIN entry e ON e.id = t.entry_id`

const AT_ONCE = 200

export async function insertTrashItems(db: Db, items: TrashItem[], tx: Tx): Promise<void> {
  for (const some of inParts(items, AT_ONCE)) await db.run(...insertion(TrashItem, some), tx)
}

/**
 * The trash of a bucket, newest first.
 * @param after the id of the last item on the previous page
 */
export async function pageOfTrash(
  db: Db,
  bucketId: string,
  limit: number,
  after: string | null,
): Promise<Page<TrashItemRow>> {
  const rows = await db.rows<TrashItemRow>(
    `SELECT ${VIEW}
     WHERE t.bucket_id = ?${after === null ? '' : ' AND t.id < ?'}
     ORDER BY t.id DESC
     LIMIT ${limit + 1}`,
    [bucketId, ...(after === null ? [] : [after])],
  )
  return pageOf(rows, limit)
}

/** Some items of any buckets by id. */
export function trashItems(db: Db, ids: readonly string[]): Promise<TrashItemRow[]> {
  return db.rows(`SELECT ${VIEW} WHERE t.id IN (${placeholders(ids)})`, [...ids])
}

const NODE = `t.id AS itemId, t.parent_id AS parentId, t.path, e.id, e.kind, e.blob_id AS blobId,
    e.total_bytes AS bytes,
    e.total_files AS files, e.total_folders AS folders, e.levels_below AS levelsBelow,
    e.bytes_below AS bytesBelow, e.revision,
    ${contentRevisionOf('e')} AS contentRevision, e.change_stamp AS changeStamp
  FROM trash_item t
  JOIN entry e ON e.id = t.entry_id`

/** Some deleted entries of a locked bucket. */
export function trashedNodes(
  db: Db,
  bucketId: string,
  itemIds: readonly string[],
  tx: Tx,
): Promise<TrashedNode[]> {
  return db.rows(
    `SELECT ${NODE} WHERE ${besideKeys('t.bucket_id')} = ? AND t.id IN (${placeholders(itemIds)})`,
    [bucketId, ...itemIds],
    tx,
  )
}

/** The oldest deleted entries of a locked bucket. */
export function oldestTrashed(
  db: Db,
  bucketId: string,
  limit: number,
  tx: Tx,
): Promise<TrashedNode[]> {
  return db.rows(
    `SELECT ${NODE} WHERE t.bucket_id = ? ORDER BY t.id LIMIT ${limit}`,
    [bucketId],
    tx,
  )
}

export async function deleteTrashItems(db: Db, ids: readonly string[], tx: Tx): Promise<void> {
  await db.run(`DELETE FROM trash_item WHERE id IN (${placeholders(ids)})`, [...ids], tx)
}

/** Some items deleted before a time, oldest first. */
export function trashBefore(
  db: Db,
  time: number,
  limit: number,
): Promise<{ id: string; bucketId: string }[]> {
  return db.rows(
    `SELECT id, bucket_id AS bucketId
     FROM trash_item
     WHERE deleted_at < ?
     ORDER BY deleted_at
     LIMIT ${limit}`,
    [time],
  )
}

/** The number of bytes that buckets keep beyond their allowed part of the limits. */
const EXCESS = `SELECT id, kept - allowed AS excess
  FROM (
    SELECT b.id, b.kept_bytes AS kept,
      ${driveLimitOf('maxTotalStorageBytes', 'b')} * ? / 100 AS allowed
    FROM bucket b
    ${withDriveLimits('b')}
    WHERE b.kept_bytes > 0
  ) kept
  WHERE kept > allowed`

/** Some buckets that keep more than allowed. */
export const overfullBuckets = (
  db: Db,
  percent: number,
  limit: number,
): Promise<{ id: string }[]> => db.rows(`${EXCESS} LIMIT ${limit}`, [percent])

/** The number of bytes that a locked bucket keeps beyond its allowance, or 0. */
export async function excessOf(db: Db, percent: number, id: string, tx: Tx): Promise<number> {
  const row = await db.row<{ excess: number }>(`${EXCESS} AND id = ?`, [percent, id], tx)
  return Number(row?.excess ?? 0)
}

/** Moves the trash of a bucket below its root, to be purged together. */
export async function returnTrash(
  db: Db,
  { bucketId, rootId }: { bucketId: string; rootId: string },
  tx: Tx,
): Promise<void> {
  await lockBucket(db, bucketId, tx)
  // No user-visible name contains a slash.
  await db.run(
    `UPDATE entry
     SET parent_id = ?, name = REPLACE(id, '-', '/')
     WHERE id IN (SELECT entry_id FROM trash_item WHERE bucket_id = ?)`,
    [rootId, bucketId],
    tx,
  )
  await db.run('DELETE FROM trash_item WHERE bucket_id = ?', [bucketId], tx)
}
