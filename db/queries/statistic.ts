import { DAY_MS } from '../../src/values/duration.ts'
import type { Db } from '../index.ts'
import { FILE } from '../models/entry.ts'
import { liveCount } from './share.ts'
import { firstIdAt } from './sql.ts'

/** The number of rows created per day since a time, by day number. */
async function perDay(
  db: Db,
  rows: string,
  id: string,
  since: number,
): Promise<Map<number, number>> {
  const day = db.dialect === 'mysql' ? `created_at DIV ${DAY_MS}` : `created_at / ${DAY_MS}`
  const counts = await db.rows<{ day: number; n: number }>(
    `SELECT ${day} AS day, COUNT(*) AS n FROM ${rows} AND id >= ? GROUP BY day`,
    [id, firstIdAt(since)],
  )
  return new Map(counts.map(({ day, n }) => [Number(day), Number(n)]))
}

export const uploadsPerDay = (
  db: Db,
  bucketId: string,
  since: number,
): Promise<Map<number, number>> =>
  perDay(
    db,
    `entry WHERE bucket_id = ? AND kind = ${FILE} AND parent_id IS NOT NULL`,
    bucketId,
    since,
  )

export const sharesPerDay = (db: Db, userId: string, since: number): Promise<Map<number, number>> =>
  perDay(db, 'share WHERE user_id = ?', userId, since)

/** All shares that a user made, and the number of live ones. */
export async function sentShares(
  db: Db,
  userId: string,
): Promise<{ total: number; targeted: number; active: number }> {
  const row = await db.row<{ total: number; targeted: number | null; active: number | null }>(
    `SELECT COUNT(*) AS total, SUM(CASE WHEN recipient IS NULL THEN 0 ELSE 1 END) AS targeted,
       ${liveCount('s.user_id = ?')} AS active
     FROM share
     WHERE user_id = ?`,
    [userId, Date.now(), userId],
  )
  return { total: Number(row?.total), targeted: Number(row?.targeted), active: Number(row?.active) }
}

/**
 * The numbers of things that a user received and owns.
 * @param address their verified e-mail address
 */
export async function ownedCounts(
  db: Db,
  userId: string,
  address: string | null,
): Promise<{ received: number; workspaces: number; apiKeys: number }> {
  const row = await db.row<{ received: number; workspaces: number; apiKeys: number }>(
    `SELECT (SELECT COUNT(*) FROM share WHERE recipient = ?) AS received,
       (SELECT COUNT(*) FROM workspace WHERE owner_id = ?) AS workspaces,
       (SELECT COUNT(*) FROM api_key WHERE created_by = ? AND workspace_id IS NOT NULL) AS apiKeys`,
    [address ?? '', userId, userId],
  )
  return {
    received: Number(row?.received),
    workspaces: Number(row?.workspaces),
    apiKeys: Number(row?.apiKeys),
  }
}
