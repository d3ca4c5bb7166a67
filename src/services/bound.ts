import type { Db, Tx } from '../../db/index.ts'
import { lockBucket, raiseCount } from '../../db/queries/bucket.ts'
import { countRequests } from '../../db/queries/file-request.ts'
import { countLinks } from '../../db/queries/share.ts'
import type { Caller } from '../access/caller.ts'
import { AppError } from '../runtime/errors.ts'

/** The error for a limit of the plan. */
export const planExceeded = (
  what: string,
  bound: { limit: string; max: number | null; used: number | null },
) =>
  new AppError(
    'QUOTA_EXCEEDED',
    `The plan allows ${bound.max} ${what}. Delete some, or ask for a larger plan.`,
    bound,
  )

/** The error for another person's drive, without details about it. */
export const shareFull = () =>
  new AppError(
    'SHARE_FULL',
    'There is not enough space for this in the drive of the shared folder. Ask the person who shared it.',
  )

/**
 * Counts a note about to be written for the first time, with the tree locked.
 * @throws QUOTA_EXCEEDED
 */
export async function takeNote(db: Db, caller: Caller, tx: Tx): Promise<void> {
  const [max, id] = [caller.bounds.maxNotes, caller.bucket.bucketId]
  if (await raiseCount(db, id, 'note_count', max, tx)) return
  const bucket = await db.Bucket.findByPk(id, {
    attributes: ['noteCount'],
    raw: true,
    transaction: tx,
  })
  if (max !== null)
    throw planExceeded('notes', { limit: 'max_notes', max, used: bucket?.noteCount ?? max })
}

/**
 * Locks the caller's tree, and counts a new public link or file request. Links expire, so the
 * counter may be too high but never too low. When it reaches the limit, the live links are counted
 * and the counter is corrected, which is cheap on average.
 * @throws QUOTA_EXCEEDED
 */
export async function takeLink(db: Db, caller: Caller, tx: Tx): Promise<void> {
  const [max, id] = [caller.bounds.maxPublicLinks, caller.bucket.bucketId]
  if (await raiseCount(db, id, 'link_count', max, tx)) return
  // An UPDATE that matches no row locks nothing.
  await lockBucket(db, id, tx)
  const live =
    (await countLinks(db, caller.userId, tx)) + (await countRequests(db, caller.userId, tx))
  if (max !== null && live >= max)
    throw planExceeded('public links and file requests at a time', {
      limit: 'max_public_links',
      max,
      used: live,
    })
  await db.Bucket.update({ linkCount: live + 1 }, { where: { id }, transaction: tx })
}
