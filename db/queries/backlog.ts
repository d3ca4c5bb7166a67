import type { Db } from '../index.ts'
import { GIVEN_UP } from './job.ts'
import { driveLimitOf, withDriveLimits } from './limit.ts'
import { MAY_NOW, RIGHTFUL } from './webhook.ts'

/** The waiting jobs of a kind. */
export interface JobBacklog {
  kind: string
  due: number
  /** The time since the oldest of them was due, in milliseconds; 0 if there is none. */
  oldestMs: number
  /** The number of failed jobs that will be retried. */
  retrying: number
  givenUp: number
}

export async function jobBacklog(db: Db, now: number): Promise<JobBacklog[]> {
  type Row = Record<'due' | 'retrying' | 'givenUp' | 'oldestAt', number | string | null> & {
    kind: string
  }
  const rows = await db.rows<Row>(
    `SELECT kind, SUM(CASE WHEN due_at <= ? THEN 1 ELSE 0 END) AS due,
       MIN(CASE WHEN due_at <= ? THEN due_at END) AS oldestAt,
       SUM(CASE WHEN due_at < ? AND last_error <> '' THEN 1 ELSE 0 END) AS retrying,
       SUM(CASE WHEN due_at = ? THEN 1 ELSE 0 END) AS givenUp
     FROM outbox
     GROUP BY kind`,
    [now, now, GIVEN_UP, GIVEN_UP],
  )
  return rows.map(({ kind, due, oldestAt, retrying, givenUp }) => ({
    kind,
    // MySQL returns sums as text.
    due: Number(due),
    oldestMs: oldestAt === null ? 0 : Math.max(0, now - Number(oldestAt)),
    retrying: Number(retrying),
    givenUp: Number(givenUp),
  }))
}

/**
 * The backlog of webhooks: those with due events, the time since the first of these was due, and
 * those whose last delivery failed. A webhook without events keeps the time of its last attempt,
 * because its next event is due when it happens.
 */
export async function webhookBacklog(
  db: Db,
  now: number,
): Promise<{ due: number; oldestMs: number; failing: number }> {
  type Row = Record<'due' | 'oldestAt' | 'failing', number | string | null>
  const row = await db.row<Row>(
    `SELECT SUM(CASE WHEN due_at <= ? AND first_at IS NOT NULL THEN 1 ELSE 0 END) AS due,
       MIN(CASE
         WHEN due_at > ? OR first_at IS NULL THEN NULL
         WHEN first_at > due_at THEN first_at
         ELSE due_at
       END) AS oldestAt,
       SUM(CASE WHEN attempts > 0 THEN 1 ELSE 0 END) AS failing
     FROM (SELECT h.due_at, h.attempts,
         (SELECT e.at
           FROM event e
           WHERE e.log_id = h.log_id
             AND e.seq > h.seq
           ORDER BY e.seq
           LIMIT 1) AS first_at
       ${RIGHTFUL}
       WHERE ${MAY_NOW}) AS active`,
    [now, now],
  )
  const oldestAt = row?.oldestAt ?? null
  return {
    due: Number(row?.due ?? 0),
    oldestMs: oldestAt === null ? 0 : Math.max(0, now - Number(oldestAt)),
    failing: Number(row?.failing ?? 0),
  }
}

/** The totals of all drives: used, kept, allowed and reserved, in bytes and counts. */
export interface StorageSums {
  used: number
  files: number
  kept: number
  uploadBytes: number
  uploads: number
  allowed: number
  deleting: number
}

export async function storageSums(db: Db): Promise<StorageSums> {
  const row = await db.row<Record<keyof StorageSums, number | string | null>>(
    `SELECT *
     FROM (SELECT SUM(used_bytes) AS used, SUM(used_files) AS files, SUM(kept_bytes) AS kept,
           SUM(reserved_bytes) AS uploadBytes,
           SUM(reserved_files) AS uploads
         FROM bucket) AS sums,
       (SELECT COUNT(*) AS deleting FROM blobs WHERE state = 'deleting') AS marked,
       (SELECT SUM(${driveLimitOf('maxTotalStorageBytes', 'b')}) AS allowed
         FROM bucket b
         ${withDriveLimits('b')}) AS drives`,
  )
  const of = (name: keyof StorageSums) => Number(row?.[name] ?? 0)
  return {
    used: of('used'),
    files: of('files'),
    kept: of('kept'),
    uploadBytes: of('uploadBytes'),
    uploads: of('uploads'),
    allowed: of('allowed'),
    deleting: of('deleting'),
  }
}
