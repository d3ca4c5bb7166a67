import type { Db, Tx } from '../index.ts'
import type { Blob } from '../models/blob.ts'
import type { Version } from '../models/version.ts'
import { insertBlob, releaseBlobs } from './blob.ts'

/**
 * An object in the ledger, with a file and a version that refer to it. If there are several, one
 * whose size differs from the ledger.
 */
export interface LedgerRow
  extends Pick<Blob, 'id' | 'bucketId' | 'state' | 'size' | 'leaseUntil' | 'refCount'> {
  entryId: string | null
  versionId: string | null
  /** The digest of the content whose preview it is. */
  previewId: string | null
  /** The size according to the file or the version. */
  entrySize: number | null
  versionSize: number | null
  /** The number of files and versions that refer to it. */
  named: number
}

const counted = (blob: string) =>
  `((SELECT COUNT(*)
     FROM entry
     WHERE blob_id = ${blob}) + (SELECT COUNT(*)
     FROM version
     WHERE blob_id = ${blob}) + (SELECT COUNT(*) FROM preview WHERE blob_id = ${blob}))`

const ledger = `SELECT b.id, b.bucket_id AS bucketId, b.state, b.size, b.lease_until AS leaseUntil,
    b.ref_count AS refCount,
    e.id AS entryId, e.total_bytes AS entrySize, v.id AS versionId, v.bytes AS versionSize,
    p.digest AS previewId, ${counted('b.id')} AS named
  FROM blobs b
  LEFT JOIN entry e ON e.id = (SELECT x.id
    FROM entry x
    WHERE x.blob_id = b.id
    ORDER BY x.total_bytes = b.size, x.id
    LIMIT 1)
  LEFT JOIN preview p ON p.blob_id = b.id
  LEFT JOIN version v ON v.id = (SELECT x.id
    FROM version x
    WHERE x.blob_id = b.id
    ORDER BY x.bytes = b.size, x.id
    LIMIT 1)`

/** The ledger in the order of its keys. */
export const ledgerAfter = (db: Db, id: string, limit: number): Promise<LedgerRow[]> =>
  db.rows(`${ledger} WHERE b.id > ? ORDER BY b.id LIMIT ${limit}`, [id])

export const ledgerOf = (db: Db, id: string): Promise<LedgerRow | undefined> =>
  db.row(`${ledger} WHERE b.id = ?`, [id])

const users = `SELECT id
  FROM entry
  WHERE blob_id = ?
  UNION ALL
  SELECT id
  FROM version
  WHERE blob_id = ?
  UNION ALL
  SELECT digest
  FROM preview
  WHERE blob_id = ?`

/** Whether the ledger, a file or a version refers to an object. */
export const isNamed = (db: Db, id: string): Promise<boolean> =>
  db.exists(`SELECT id FROM blobs WHERE id = ? UNION ALL ${users}`, [id, id, id, id])

/** Whether a file or a version refers to an object. */
export const isUsed = (db: Db, id: string): Promise<boolean> => db.exists(users, [id, id, id])

/** The files that refer to an object. */
export async function filesOfBlob(db: Db, id: string): Promise<{ id: string; bucketId: string }[]> {
  return db.rows('SELECT id, bucket_id AS bucketId FROM entry WHERE blob_id = ?', [id])
}

/** The storage areas of the versions that refer to an object. */
export async function bucketsOfVersions(db: Db, blobId: string): Promise<string[]> {
  const sql = 'SELECT DISTINCT bucket_id AS bucketId FROM version WHERE blob_id = ?'
  return (await db.rows<{ bucketId: string }>(sql, [blobId])).map(row => row.bucketId)
}

/**
 * Counts the references of files and versions to a live object again, and marks it for deletion if
 * there are none. Others change the count under the lock of the row.
 */
export async function recountReferences(db: Db, id: string, tx: Tx): Promise<void> {
  const live = `SELECT id FROM blobs${db.byKey} WHERE id = ? AND state = 'live'${db.forUpdate}`
  if (!(await db.exists(live, [id], tx))) return
  const row = await db.row<{ named: number }>(`SELECT ${counted('?')} AS named`, [id, id, id], tx)
  const named = Number(row?.named ?? 0)
  await db.run('UPDATE blobs SET ref_count = ? WHERE id = ?', [named, id], tx)
  if (named === 0) await releaseBlobs(db, [id], tx)
}

/** Corrects the size of a live object and of the files and versions that refer to it. */
export async function setSize(
  db: Db,
  { id, size }: { id: string; size: number },
  tx: Tx,
): Promise<void> {
  await db.run("UPDATE blobs SET size = ? WHERE id = ? AND state = 'live'", [size, id], tx)
  await db.run('UPDATE entry SET total_bytes = ? WHERE blob_id = ?', [size, id], tx)
  await db.run('UPDATE version SET bytes = ? WHERE blob_id = ?', [size, id], tx)
}

/** Makes the row of an object live, or inserts it. */
export async function reviveRow(
  db: Db,
  blob: { id: string; bucketId: string; size: number },
  tx: Tx,
): Promise<void> {
  const sql = "UPDATE blobs SET state = 'live', size = ?, lease_until = 0 WHERE id = ?"
  const changed = await db.run(sql, [blob.size, blob.id], tx)
  if (changed === 0) await insertBlob(db, { ...blob, state: 'live', leaseUntil: 0, store: 0 }, tx)
  await recountReferences(db, blob.id, tx)
}

/** A version that refers to a missing row. */
export interface BrokenVersion extends Pick<Version, 'id' | 'bucketId' | 'blobId'> {
  blobState: string | null
  /** The id of its file; null if it does not exist. */
  entryId: string | null
}

const broken = `SELECT v.id, v.bucket_id AS bucketId, v.blob_id AS blobId, b.state AS blobState,
    e.id AS entryId
  FROM version v
  LEFT JOIN entry e ON e.id = v.entry_id AND e.blob_id IS NOT NULL
  LEFT JOIN blobs b ON b.id = v.blob_id
  WHERE (e.id IS NULL OR b.state IS NULL OR b.state <> 'live')`

export const brokenVersionsAfter = (db: Db, id: string, limit: number): Promise<BrokenVersion[]> =>
  db.rows(`${broken} AND v.id > ? ORDER BY v.id LIMIT ${limit}`, [id])

export const brokenVersion = (db: Db, id: string, tx: Tx): Promise<BrokenVersion | undefined> =>
  db.row(`${broken} AND v.id = ?`, [id], tx)
