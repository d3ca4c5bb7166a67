import type { Db, Tx } from '../../../db/index.ts'
import { beginMail } from '../../../db/queries/use-mail.ts'
import { HOUR_MS } from '../../values/duration.ts'
import { enqueueAt } from './outbox.ts'

/** A mail reports the uses of one minute, at the earliest an hour after the previous mail. */
const MAIL_MS = 60_000
const MAIL_EVERY_MS = HOUR_MS

/**
 * Schedules the mail about the use of a link to its creator, unless one is already scheduled or the
 * creator does not want it.
 */
export async function scheduleUseMail(
  db: Db,
  of: { requestId: string } | { shareId: string },
  tx: Tx,
): Promise<void> {
  const isRequest = 'requestId' in of
  const toldAt = isRequest
    ? await beginMail(db, 'file_request', of.requestId, tx)
    : await beginMail(db, 'share', of.shareId, tx)
  if (toldAt === undefined) return
  const dueAt = Math.max(Date.now() + MAIL_MS, toldAt + MAIL_EVERY_MS)
  if (isRequest) await enqueueAt(db, 'file-request-mail', { payload: of, dueAt }, tx)
  else await enqueueAt(db, 'share-mail', { payload: of, dueAt }, tx)
}
