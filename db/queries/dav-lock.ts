import type { Db, Tx } from '../index.ts'
import { DavLock } from '../models/dav-lock.ts'
import { USER_OR_SHARE_MAY_WRITE } from './caller.ts'
import { insertion, placeholders, selection } from './sql.ts'

const columns = selection(DavLock, 's')

/**
 * A row of a lock. Flags are numbers in rows. `sharedId` is the entry of the share through which it
 * was made.
 */
export type LockRow = Omit<DavLock, 'isShared' | 'isDeep'> & {
  isShared: number
  isDeep: number
  sharedId: string | null
}

/** The unexpired locks of a drive whose creators may still write there. */
export const locksIn = (db: Db, bucketId: string, now: number, tx?: Tx): Promise<LockRow[]> =>
  db.rows(
    `SELECT ${columns}, (SELECT h.entry_id FROM share h WHERE h.id = s.share_id) AS sharedId
     FROM dav_lock s
     WHERE s.bucket_id = ?
       AND s.expires_at > ?
       AND ${USER_OR_SHARE_MAY_WRITE}`,
    [bucketId, now, now],
    tx,
  )

export async function countLocks(db: Db, userId: string, now: number, tx?: Tx): Promise<number> {
  const sql = 'SELECT COUNT(*) AS n FROM dav_lock WHERE user_id = ? AND expires_at > ?'
  return Number((await db.row<{ n: number }>(sql, [userId, now], tx))?.n ?? 0)
}

export const insertLock = (db: Db, lock: DavLock, tx: Tx) =>
  db.run(...insertion(DavLock, [lock]), tx)

/** Deletes expired locks of a drive, and of a person anywhere. */
export const deleteEndedLocks = (
  db: Db,
  { bucketId, userId }: { bucketId: string; userId: string },
  now: number,
  tx: Tx,
) =>
  db.run(
    'DELETE FROM dav_lock WHERE (bucket_id = ? OR user_id = ?) AND expires_at <= ?',
    [bucketId, userId, now],
    tx,
  )

export const deleteLocks = (db: Db, ids: readonly string[], tx: Tx) =>
  db.run(`DELETE FROM dav_lock WHERE id IN (${placeholders(ids)})`, [...ids], tx)

export const extendLock = (db: Db, id: string, expiresAt: number, tx: Tx): Promise<boolean> =>
  db.changed('UPDATE dav_lock SET expires_at = ? WHERE id = ?', [expiresAt, id], tx)
