import type { Db, Tx } from '../../db/index.ts'
import { placeholders } from './entry-path.ts'

/**
 * Marks a staged blob for deletion and releases its reservation, exactly once. Locks the bucket before the blob, as everywhere.
 * @param overAt does nothing if its lease is not over at this time
 */
export async function releaseStaged(
  db: Db,
  bucketId: string,
  id: string,
  tx: Tx,
  overAt = Number.MAX_SAFE_INTEGER,
): Promise<boolean> {
  await db.rows(`SELECT id FROM bucket WHERE id = ?${db.forUpdate}`, [bucketId], tx)
  const [staged] = await db.rows<{ bytes: number }>(
    `SELECT reserved_bytes AS bytes FROM blobs${db.byKey} WHERE id = ? AND state = 'staged' AND lease_until < ?${db.forUpdate}`,
    [id, overAt],
    tx,
  )
  if (!staged) return false
  await db.run(
    "UPDATE blobs SET state = 'deleting', reserved_bytes = 0, lease_until = ? WHERE id = ?",
    [Date.now(), id],
    tx,
  )
  await db.run(
    'UPDATE bucket SET reserved_bytes = reserved_bytes - ?, reserved_files = reserved_files - 1 WHERE id = ?',
    [staged.bytes, bucketId],
    tx,
  )
  return true
}

/** Marks live blobs for deletion, in the transaction that deletes their entries. */
export async function markBlobsForDeletion(db: Db, ids: string[], tx: Tx): Promise<void> {
  if (ids.length === 0) return
  await db.run(
    `UPDATE blobs SET state = 'deleting', lease_until = ? WHERE id IN (${placeholders(ids)})`,
    [Date.now(), ...ids],
    tx,
  )
}
