import type { Db, Tx } from '../index.ts'
import type { Job } from '../models/job.ts'

/**
 * The due time of a job that is no longer retried. Its row is kept for a while, so that it can be
 * reported.
 */
export const GIVEN_UP = Number.MAX_SAFE_INTEGER

export type JobRow = Omit<Job, 'kind' | 'lastError'>

/** The queue of mails. */
export interface MailQueue {
  /** Not attempted yet. */
  waiting: number
  /** Failed at least once, to be retried. */
  retrying: number
  /** Abandoned; only retryMails sends them again. */
  givenUp: number
  /** The time at which the oldest unsent mail was queued, in milliseconds since 1970. */
  oldestAt: number | null
}

/** The due jobs of a kind, longest waiting first. */
export const dueJobs = (db: Db, kind: string, now: number, limit: number): Promise<JobRow[]> =>
  db.rows(
    `SELECT id, payload, attempts, created_at AS createdAt, due_at AS dueAt
     FROM outbox
     WHERE kind = ?
       AND due_at <= ?
     ORDER BY due_at
     LIMIT ${limit}`,
    [kind, now],
  )

/**
 * Moves the due time of a job, unless another worker has moved it.
 * @param attempts to add
 * @returns whether it was moved
 */
export const moveJob = (
  db: Db,
  { id, dueAt }: Pick<JobRow, 'id' | 'dueAt'>,
  to: number,
  attempts: 0 | 1,
): Promise<boolean> =>
  db.changed('UPDATE outbox SET due_at = ?, attempts = attempts + ? WHERE id = ? AND due_at = ?', [
    to,
    attempts,
    id,
    dueAt,
  ])

/**
 * Makes abandoned mails due.
 * @returns their number
 */
export const requeueMails = (db: Db, now: number, tx: Tx): Promise<number> =>
  db.run(
    `UPDATE outbox
     SET due_at = ?, attempts = 0, last_error = '', created_at = ?
     WHERE kind = 'mail'
       AND due_at = ?`,
    [now, now, GIVEN_UP],
    tx,
  )

export async function readMailQueue(db: Db): Promise<MailQueue> {
  const row = await db.row<Record<keyof MailQueue, number | null>>(
    `SELECT SUM(CASE WHEN due_at < ? AND attempts = 0 THEN 1 ELSE 0 END) AS waiting,
       SUM(CASE WHEN due_at < ? AND attempts > 0 THEN 1 ELSE 0 END) AS retrying,
       SUM(CASE WHEN due_at = ? THEN 1 ELSE 0 END) AS givenUp,
       MIN(CASE WHEN due_at < ? THEN created_at END) AS oldestAt
     FROM outbox
     WHERE kind = 'mail'`,
    [GIVEN_UP, GIVEN_UP, GIVEN_UP, GIVEN_UP],
  )
  return {
    waiting: Number(row?.waiting),
    retrying: Number(row?.retrying),
    givenUp: Number(row?.givenUp),
    oldestAt: row?.oldestAt ? Number(row.oldestAt) : null,
  }
}
