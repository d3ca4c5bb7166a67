import type { Db } from '../../db/index.ts'
import { FILE } from '../../db/models/entry.ts'
import type { Caller } from '../auth/caller.ts'
import { liveCount } from './share.ts'

const DAY_MS = 86_400_000

export interface DailyCount {
  /** Date in UTC, such as 2026-01-31. */
  day: string
  count: number
}

/** Statistics of the caller's files and shares. Sizes in bytes. */
export interface UserStats {
  totalFiles: number
  totalBytes: number
  filesToday: number
  filesLast7d: number
  filesLast30d: number
  totalSharesSent: number
  sharesToday: number
  targetedShares: number
  publicShares: number
  activeShares: number
  totalReceived: number
  ownedWorkspaces: number
  workspaceApiKeys: number
  /** The last seven days, oldest first, without gaps. */
  dailyUploads: DailyCount[]
  dailyShares: DailyCount[]
}

/** The smallest id of a row created at a time: ids are UUIDv7, which start with the time, so their index is one of times. */
const firstIdAt = (time: number): string => {
  const hex = Math.max(0, time).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

const dayOf = (time: number) => Math.floor(time / DAY_MS)

export function statisticService({ db }: { db: Db }) {
  /** The number of rows created on each of the last 30 days, by day number. */
  async function perDay(
    table: 'entry' | 'share',
    where: string,
    values: string[],
    since: number,
  ): Promise<Map<number, number>> {
    const rows = await db.rows<{ day: number; n: number }>(
      `SELECT ${db.dialect === 'mysql' ? `created_at DIV ${DAY_MS}` : `created_at / ${DAY_MS}`} AS day, COUNT(*) AS n
       FROM ${table} WHERE ${where} AND id >= ? GROUP BY day`,
      [...values, firstIdAt(since)],
    )
    return new Map(rows.map(({ day, n }) => [Number(day), Number(n)]))
  }

  return {
    async read(caller: Caller): Promise<UserStats> {
      const now = Date.now()
      const today = dayOf(now)
      const { bucketId } = caller.bucket
      const [usage, uploads, shares, sent, other] = await Promise.all([
        db.rows<{ files: number; bytes: number }>(
          'SELECT used_files AS files, used_bytes AS bytes FROM bucket WHERE id = ?',
          [bucketId],
        ),
        perDay('entry', `bucket_id = ? AND kind = ${FILE}`, [bucketId], (today - 29) * DAY_MS),
        perDay('share', 'user_id = ?', [caller.userId], (today - 6) * DAY_MS),
        db.rows<{ total: number; targeted: number | null; active: number | null }>(
          `SELECT COUNT(*) AS total, SUM(CASE WHEN recipient IS NULL THEN 0 ELSE 1 END) AS targeted,
             ${liveCount('s.user_id = ?')} AS active
           FROM share WHERE user_id = ?`,
          [caller.userId, now, caller.userId],
        ),
        db.rows<{ received: number; workspaces: number; apiKeys: number }>(
          `SELECT (SELECT COUNT(*) FROM share WHERE recipient = ?) AS received, (SELECT COUNT(*) FROM workspace WHERE owner_id = ?) AS workspaces,
             (SELECT COUNT(*) FROM api_key WHERE created_by = ? AND workspace_id IS NOT NULL) AS apiKeys`,
          [caller.verifiedEmail ?? '', caller.userId, caller.userId],
        ),
      ])
      const lastDays = (counts: Map<number, number>, days: number) =>
        Array.from({ length: days }, (_, i) => counts.get(today - i) ?? 0).reduce((sum, n) => sum + n, 0)
      const week = (counts: Map<number, number>): DailyCount[] =>
        Array.from({ length: 7 }, (_, i) => today - 6 + i).map(day => ({
          day: new Date(day * DAY_MS).toISOString().slice(0, 10),
          count: counts.get(day) ?? 0,
        }))
      const total = Number(sent[0]?.total ?? 0)
      const targeted = Number(sent[0]?.targeted ?? 0)
      return {
        totalFiles: usage[0]?.files ?? 0,
        totalBytes: usage[0]?.bytes ?? 0,
        filesToday: lastDays(uploads, 1),
        filesLast7d: lastDays(uploads, 7),
        filesLast30d: lastDays(uploads, 30),
        totalSharesSent: total,
        sharesToday: lastDays(shares, 1),
        targetedShares: targeted,
        publicShares: total - targeted,
        activeShares: Number(sent[0]?.active ?? 0),
        totalReceived: Number(other[0]?.received ?? 0),
        ownedWorkspaces: Number(other[0]?.workspaces ?? 0),
        workspaceApiKeys: Number(other[0]?.apiKeys ?? 0),
        dailyUploads: week(uploads),
        dailyShares: week(shares),
      }
    },
  }
}

export type StatisticService = ReturnType<typeof statisticService>
