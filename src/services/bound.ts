import type { Db, Tx } from '../../db/index.ts'
import type { Caller } from '../auth/caller.ts'
import { AppError } from '../errors.ts'

const NO_LIMIT = Number.MAX_SAFE_INTEGER

/** The error for a limit of the plan. */
export const planExceeded = (what: string, { limit, max, used }: { limit: string; max: number; used: number }) =>
  new AppError('QUOTA_EXCEEDED', `The plan allows ${max} ${what}. Delete some, or ask for a larger plan.`, {
    limit,
    max,
    used,
  })

/** Increments a counter of the caller's storage area if its limit allows. One conditional UPDATE, which locks the row, keeps it exact. */
async function raise(db: Db, caller: Caller, counter: string, max: number | null, tx: Tx): Promise<boolean> {
  const raised = await db.run(
    `UPDATE bucket SET ${counter} = ${counter} + 1 WHERE id = ? AND ${counter} < ?`,
    [caller.bucket.bucketId, max ?? NO_LIMIT],
    tx,
  )
  return raised === 1
}

/** Counts a note that is about to be written for the first time, with the tree locked. @throws QUOTA_EXCEEDED */
export async function takeNote(db: Db, caller: Caller, tx: Tx): Promise<void> {
  const max = caller.bounds.maxNotes
  if (await raise(db, caller, 'note_count', max, tx)) return
  const [row] = await db.rows<{ used: number }>(
    'SELECT note_count AS used FROM bucket WHERE id = ?',
    [caller.bucket.bucketId],
    tx,
  )
  if (max !== null) throw planExceeded('notes', { limit: 'max_notes', max, used: row?.used ?? max })
}

/**
 * Counts a public link that is about to be created, with the tree locked. Links expire, so the counter may be too high but never too low: when it reaches the limit,
 * the live links are counted and the counter is corrected. The amortized cost of that is small.
 * @throws QUOTA_EXCEEDED
 */
export async function takeLink(db: Db, caller: Caller, tx: Tx): Promise<void> {
  const max = caller.bounds.maxPublicLinks
  if (await raise(db, caller, 'link_count', max, tx)) return
  const [row] = await db.rows<{ live: number }>(
    `SELECT COUNT(*) AS live FROM share WHERE user_id = ? AND recipient IS NULL AND expires_at > ?
       AND (max_downloads IS NULL OR downloads < max_downloads)`,
    [caller.userId, Date.now()],
    tx,
  )
  const live = Number(row?.live)
  if (max !== null && live >= max)
    throw planExceeded('public links at a time', { limit: 'max_public_links', max, used: live })
  await db.run('UPDATE bucket SET link_count = ? WHERE id = ?', [live + 1, caller.bucket.bucketId], tx)
}
