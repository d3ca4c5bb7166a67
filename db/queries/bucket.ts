import type { Writer } from '../../src/access/caller.ts'
import { keyById } from '../../src/values/key-by-id.ts'
import type { Db, Tx } from '../index.ts'
import { Bucket } from '../models/bucket.ts'
import { keepCredential, mayWriteNow } from './caller.ts'
import { changedNow, inParts, insertion, placeholders, stampChange } from './sql.ts'

/** A change of the usage of a bucket or the totals of a folder, in bytes, files and folders. */
export interface Totals {
  bytes: number
  files: number
  folders: number
}

/**
 * A condition on `bucket`: it has an owner. The bucket of a deleted workspace or account accepts no
 * changes.
 */
export const OPEN = '(user_id IS NOT NULL OR workspace_id IS NOT NULL)'
/** Replaces NULL in comparisons. */
export const NO_LIMIT = Number.MAX_SAFE_INTEGER

export async function insertBucket(
  db: Db,
  bucket: Pick<Bucket, 'id' | 'userId' | 'workspaceId' | 'rootId' | 'createdAt'>,
  tx: Tx,
): Promise<void> {
  await db.run(...insertion(Bucket, [bucket]), tx)
}

/**
 * Locks a bucket until the transaction ends, even without an owner, and marks its tree as changed.
 * The write is the lock: it also keeps out transactions of other nodes of a cluster.
 * @returns its root; undefined if it does not exist
 */
export async function lockBucket(
  db: Db,
  id: string,
  tx: Tx,
): Promise<{ rootId: string } | undefined> {
  await db.run(`UPDATE bucket SET ${stampChange} WHERE id = ?`, [...changedNow(), id], tx)
  return db.row<{ rootId: string }>(
    `SELECT root_id AS rootId FROM bucket WHERE id = ?${db.forUpdate}`,
    [id],
    tx,
  )
}

/**
 * Locks a bucket with an owner until the transaction ends, and marks its tree as changed.
 * @returns whether it exists
 */
export const lockOpenBucket = (db: Db, id: string, tx: Tx): Promise<boolean> =>
  db.changed(`UPDATE bucket SET ${stampChange} WHERE id = ? AND ${OPEN}`, [...changedNow(), id], tx)

/**
 * Changes the usage of a bucket.
 * @returns false if it would exceed `maxFolders`
 */
export async function changeUsage(
  db: Db,
  id: string,
  by: Totals,
  maxFolders: number | null,
  tx: Tx,
): Promise<boolean> {
  const changed = await db.run(
    `UPDATE bucket
     SET used_bytes = used_bytes + ?,
       used_files = used_files + ?,
       used_folders = used_folders + ?,
       ${stampChange}
     WHERE id = ?${maxFolders === null ? '' : ' AND used_folders + ? <= ?'}`,
    [
      by.bytes,
      by.files,
      by.folders,
      ...changedNow(),
      id,
      ...(maxFolders === null ? [] : [by.folders, maxFolders]),
    ],
    tx,
  )
  return maxFolders === null || changed === 1
}

export async function folderCount(db: Db, id: string, tx: Tx): Promise<number | undefined> {
  const row = await db.row<{ used: number }>(
    'SELECT used_folders AS used FROM bucket WHERE id = ?',
    [id],
    tx,
  )
  return row?.used
}

/** Moves usage to the bytes kept for the trash. */
export async function moveUsageToTrash(
  db: Db,
  id: string,
  by: Totals,
  items: number,
  tx: Tx,
): Promise<void> {
  await db.run(
    `UPDATE bucket
     SET used_bytes = used_bytes - ?,
       used_files = used_files - ?,
       used_folders = used_folders - ?,
       kept_bytes = kept_bytes + ?,
       trash_count = trash_count + ?,
       ${stampChange}
     WHERE id = ?`,
    [by.bytes, by.files, by.folders, by.bytes, items, ...changedNow(), id],
    tx,
  )
}

/** Subtracts permanently deleted trash items. */
export async function uncountTrash(
  db: Db,
  id: string,
  { items, bytes }: { items: number; bytes: number },
  tx: Tx,
): Promise<void> {
  await db.run(
    'UPDATE bucket SET kept_bytes = kept_bytes - ?, trash_count = trash_count - ? WHERE id = ?',
    [bytes, items, id],
    tx,
  )
}

/** Adds deleted folders whose contents must still be purged. */
export async function addPurging(db: Db, id: string, by: number, tx: Tx): Promise<void> {
  await db.run('UPDATE bucket SET purging = purging + ? WHERE id = ?', [by, id], tx)
}

/**
 * Turns the reservation of a file into usage, if the bucket has an owner and the caller may still
 * write to it.
 * @param shareId the locked share that grants the right
 * @returns whether it did
 */
export async function settle(
  db: Db,
  id: string,
  { reservedBytes, size }: { reservedBytes: number; size: number },
  { caller, shareId }: { caller: Writer; shareId?: string | undefined },
  tx: Tx,
): Promise<boolean> {
  const may = mayWriteNow(db, caller, shareId)
  const changed = await db.run(
    `UPDATE bucket
     SET reserved_bytes = reserved_bytes - ?,
       reserved_files = reserved_files - 1,
       used_bytes = used_bytes + ?,
       used_files = used_files + 1,
       ${stampChange}
     WHERE id = ?
       AND ${OPEN}
       AND ${may.sql}`,
    [reservedBytes, size, ...changedNow(), id, ...may.values],
    tx,
  )
  if (changed !== 1) return false
  await keepCredential(db, caller, tx)
  return true
}

/** Subtracts a removed note. */
export async function uncountNote(db: Db, id: string, tx: Tx): Promise<void> {
  await db.run('UPDATE bucket SET note_count = note_count - 1 WHERE id = ?', [id], tx)
}

/**
 * Increments a counter of a bucket with an owner unless it has reached its limit. One conditional
 * UPDATE, which locks the row, keeps the counter exact.
 * @returns whether it was incremented
 */
export const raiseCount = (
  db: Db,
  id: string,
  counter: 'note_count' | 'link_count' | 'used_folders',
  max: number | null,
  tx: Tx,
): Promise<boolean> =>
  db.changed(
    `UPDATE bucket
     SET ${counter} = ${counter} + 1, ${stampChange}
     WHERE id = ?
       AND ${OPEN}
       AND ${counter} < ?`,
    [...changedNow(), id, max ?? NO_LIMIT],
    tx,
  )

/** The usage of a bucket, in bytes and counts. */
export interface Usage {
  id: string
  createdAt: number
  usedBytes: number
  fileCount: number
  folderCount: number
  /** The bytes that trash and versions keep beyond the usage. */
  keptBytes: number
}

export async function usagesOf(db: Db, ids: readonly string[]): Promise<Map<string, Usage>> {
  const rows = await db.rows<Usage>(
    `SELECT id, created_at AS createdAt, used_bytes AS usedBytes, used_files AS fileCount,
       used_folders AS folderCount,
       kept_bytes AS keptBytes
     FROM bucket
     WHERE id IN (${placeholders(ids)})`,
    [...ids],
  )
  return keyById(rows)
}

/**
 * The buckets of some entries, trash items, versions or unfinished uploads, by the ids of the
 * latter. For an upload through a share, also that share.
 */
export async function bucketsOf(
  db: Db,
  table:
    | 'entry'
    | 'file_request'
    | 'upload_session'
    | 'trash_item'
    | 'version'
    | 'tag'
    | 'dav_lock',
  ids: readonly string[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const place = table === 'upload_session' ? 'COALESCE(share_id, bucket_id)' : 'bucket_id'
  for (const some of inParts(ids, 1000)) {
    const rows = await db.rows<{ id: string; bucketId: string }>(
      `SELECT id, ${place} AS bucketId FROM ${table} WHERE id IN (${placeholders(some)})`,
      some,
    )
    for (const { id, bucketId } of rows) found.set(id, bucketId)
  }
  return found
}

/** Some buckets of deleted accounts whose grace period is over by this time. */
export const expiredKeeps = (
  db: Db,
  at: number,
  limit: number,
): Promise<{ bucketId: string; rootId: string }[]> =>
  db.rows(
    `SELECT id AS bucketId, root_id AS rootId FROM bucket WHERE kept_until < ? LIMIT ${limit}`,
    [at],
  )

/**
 * Abandons a kept bucket, unless its owner has come back.
 * @returns whether it was kept until before this time
 */
export const endKeep = (db: Db, id: string, at: number, tx: Tx): Promise<boolean> =>
  db.changed(
    'UPDATE bucket SET kept_for = NULL, kept_until = NULL WHERE id = ? AND kept_until < ?',
    [id, at],
    tx,
  )

/**
 * Locks the data that deleted accounts left for a verified e-mail address, latest first, with the
 * names of the providers that may confirm the address. Null if it was kept before these were
 * recorded.
 */
export const lockKept = (
  db: Db,
  address: string,
  tx: Tx,
): Promise<{ id: string; providers: string | null }[]> =>
  db.rows(
    `SELECT id, kept_providers AS providers
     FROM bucket
     WHERE kept_for = ?
     ORDER BY kept_until DESC${db.forUpdate}`,
    [address],
    tx,
  )

/** Locks the bucket of a user if it is empty and no upload into it is active. */
export const lockEmptyBucket = (
  db: Db,
  userId: string,
  tx: Tx,
): Promise<{ id: string; rootId: string } | undefined> =>
  db.row(
    `SELECT id, root_id AS rootId
     FROM bucket
     WHERE user_id = ?
       AND used_files = 0
       AND used_folders = 0
       AND reserved_files = 0
       AND purging = 0
       AND trash_count = 0${db.forUpdate}`,
    [userId],
    tx,
  )

/** The root folders of some buckets. */
export async function rootsOfBuckets(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await db.rows<{ id: string; rootId: string }>(
    `SELECT id, root_id AS rootId FROM bucket WHERE id IN (${placeholders(ids)})`,
    [...ids],
  )
  return new Map(rows.map(({ id, rootId }) => [id, rootId]))
}
