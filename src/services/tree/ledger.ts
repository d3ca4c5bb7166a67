import type { Db, Tx } from '../../../db/index.ts'
import { lockOverdue, markForDeletion } from '../../../db/queries/blob.ts'
import { lockBucket } from '../../../db/queries/bucket.ts'
import { releaseRequested } from '../../../db/queries/file-request-upload.ts'
import { unreserve } from '../../../db/queries/reservation.ts'

/**
 * Marks a staged blob for deletion and releases its reservation, exactly once. Locks the bucket
 * before the blob, like all code.
 * @param overAt does nothing unless the lease has expired by this time
 */
export async function releaseStaged(
  db: Db,
  bucketId: string,
  id: string,
  tx: Tx,
  overAt = Number.MAX_SAFE_INTEGER,
): Promise<boolean> {
  await lockBucket(db, bucketId, tx)
  const reserved = await lockOverdue(db, id, overAt, tx)
  if (reserved === undefined) return false
  await markForDeletion(db, id, 'staged', Date.now(), tx)
  await unreserve(db, bucketId, { bytes: reserved, files: 1 }, tx)
  await releaseRequested(db, id, tx)
  return true
}
