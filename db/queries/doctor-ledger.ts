import type { Db, Tx } from '../index.ts'
import type { Blob } from '../models/blob.ts'
import type { Version } from '../models/version.ts'
import { insertBlob } from './blob.ts'

/** An object of the ledger, with the file or the version that names it. */
export interface LedgerRow extends Pick<Blob, 'id' | 'bucketId' | 'state' | 'size' | 'leaseUntil'> {
  entryId: string | null
  versionId: string | null
  /** The bytes that the file or the version says. */
  namedSize: number | null
}

const ledger = `SELECT b.id, b.bucket_id AS bucketId, b.state, b.size, b.lease_until AS leaseUntil, e.id AS entryId, v.id AS versionId,
    COALESCE(e.total_bytes, v.bytes) AS namedSize
  FROM blobs b LEFT JOIN entry e ON e.blob_id = b.id LEFT JOIN version v ON v.blob_id = b.id`

/** The ledger in the order of its keys. */
export const ledgerAfter = (db: Db, id: string, limit: number): Promise<LedgerRow[]> =>
  db.rows(`${ledger} WHERE b.id > ? ORDER BY b.id LIMIT ${limit}`, [id])

export const ledgerOf = (db: Db, id: string): Promise<LedgerRow | undefined> => db.row(`${ledger} WHERE b.id = ?`, [id])

const users = 'SELECT id FROM entry WHERE blob_id = ? UNION ALL SELECT id FROM version WHERE blob_id = ?'

/** Whether the ledger, a file or a version names an object. */
export const isNamed = (db: Db, id: string): Promise<boolean> =>
  db.exists(`SELECT id FROM blobs WHERE id = ? UNION ALL ${users}`, [id, id, id])

/** Whether a file or a version names an object. */
export const isUsed = (db: Db, id: string, tx?: Tx): Promise<boolean> => db.exists(users, [id, id], tx)

/** Corrects the size of a live object, and of the file or the version that names it. */
export async function setSize(db: Db, { id, size }: { id: string; size: number }, tx: Tx): Promise<void> {
  await db.run("UPDATE blobs SET size = ? WHERE id = ? AND state = 'live'", [size, id], tx)
  await db.run('UPDATE entry SET total_bytes = ? WHERE blob_id = ?', [size, id], tx)
  await db.run('UPDATE version SET bytes = ? WHERE blob_id = ?', [size, id], tx)
}

/** Makes the row of an object live, or inserts it. */
export async function reviveRow(db: Db, blob: { id: string; bucketId: string; size: number }, tx: Tx): Promise<void> {
  const sql = "UPDATE blobs SET state = 'live', size = ?, lease_until = 0 WHERE id = ?"
  const changed = await db.run(sql, [blob.size, blob.id], tx)
  if (changed === 0) await insertBlob(db, { ...blob, state: 'live', leaseUntil: 0 }, tx)
}

/** A version that refers to something that is not there. */
export interface BrokenVersion extends Pick<Version, 'id' | 'bucketId' | 'blobId'> {
  blobState: string | null
  /** Its file; null when it is gone. */
  entryId: string | null
}

const broken = `SELECT v.id, v.bucket_id AS bucketId, v.blob_id AS blobId, b.state AS blobState, e.id AS entryId
  FROM version v LEFT JOIN entry e ON e.id = v.entry_id AND e.blob_id IS NOT NULL LEFT JOIN blobs b ON b.id = v.blob_id
  WHERE (e.id IS NULL OR b.state IS NULL OR b.state <> 'live')`

export const brokenVersionsAfter = (db: Db, id: string, limit: number): Promise<BrokenVersion[]> =>
  db.rows(`${broken} AND v.id > ? ORDER BY v.id LIMIT ${limit}`, [id])

export const brokenVersion = (db: Db, id: string, tx: Tx): Promise<BrokenVersion | undefined> =>
  db.row(`${broken} AND v.id = ?`, [id], tx)
