import { usagesOf } from '../../../db/queries/bucket.ts'
import {
  ownedCounts,
  sentShares,
  sharesPerDay,
  uploadsPerDay,
} from '../../../db/queries/statistic.ts'
import type { Caller } from '../../access/caller.ts'
import { DAY_MS } from '../../values/duration.ts'
import type { Core } from '../core.ts'

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

export function statisticService({ db }: Core<'db'>) {
  return {
    async read(caller: Caller): Promise<UserStats> {
      const today = Math.floor(Date.now() / DAY_MS)
      const { userId, verifiedEmail, bucket } = caller
      const [usage, uploads, shares, sent, owned] = await Promise.all([
        usagesOf(db, [bucket.bucketId]),
        uploadsPerDay(db, bucket.bucketId, (today - 29) * DAY_MS),
        sharesPerDay(db, userId, (today - 6) * DAY_MS),
        sentShares(db, userId),
        ownedCounts(db, userId, verifiedEmail),
      ])
      const lastDays = (counts: Map<number, number>, days: number) =>
        Array.from({ length: days }, (_, i) => counts.get(today - i) ?? 0).reduce(
          (sum, n) => sum + n,
          0,
        )
      const week = (counts: Map<number, number>): DailyCount[] =>
        Array.from({ length: 7 }, (_, i) => today - 6 + i).map(day => ({
          day: new Date(day * DAY_MS).toISOString().slice(0, 10),
          count: counts.get(day) ?? 0,
        }))
      return {
        totalFiles: usage.get(bucket.bucketId)?.fileCount ?? 0,
        totalBytes: usage.get(bucket.bucketId)?.usedBytes ?? 0,
        filesToday: lastDays(uploads, 1),
        filesLast7d: lastDays(uploads, 7),
        filesLast30d: lastDays(uploads, 30),
        totalSharesSent: sent.total,
        sharesToday: lastDays(shares, 1),
        targetedShares: sent.targeted,
        publicShares: sent.total - sent.targeted,
        activeShares: sent.active,
        totalReceived: owned.received,
        ownedWorkspaces: owned.workspaces,
        workspaceApiKeys: owned.apiKeys,
        dailyUploads: week(uploads),
        dailyShares: week(shares),
      }
    },
  }
}
