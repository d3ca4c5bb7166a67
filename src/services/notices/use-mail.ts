import type { Db, Tx } from '../../../db/index.ts'
import { beginMail } from '../../../db/queries/use-mail.ts'
import { HOUR_MS } from '../../values/duration.ts'
import { enqueueAt, FOREVER, type Job, USUAL_AT_A_TIME } from '../job.ts'

/** A mail reports the uses of one minute, at the earliest an hour after the previous mail. */
const MAIL_MS = 60_000
const MAIL_EVERY_MS = HOUR_MS

/** Enqueues the mail to the creator of a file request about received files. */
export const fileRequestMailJob: Job<
  'file-request-mail',
  { requestId: string },
  { fileRequests: { tellArrivals(of: { requestId: string }): Promise<void> } }
> = {
  kind: 'file-request-mail',
  changesFiles: false,
  atATime: USUAL_AT_A_TIME,
  patienceMs: FOREVER,
  leastTries: 1,
  async run({ fileRequests }, of, { wake }) {
    await fileRequests.tellArrivals(of)
    wake()
  },
}

/** Enqueues the mail to a sharer about uses of a share. */
export const shareMailJob: Job<
  'share-mail',
  { shareId: string },
  { shareNotices: { tellUses(of: { shareId: string }): Promise<void> } }
> = {
  kind: 'share-mail',
  changesFiles: false,
  atATime: USUAL_AT_A_TIME,
  patienceMs: FOREVER,
  leastTries: 1,
  async run({ shareNotices }, of, { wake }) {
    await shareNotices.tellUses(of)
    wake()
  },
}

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
  if (isRequest) await enqueueAt(db, fileRequestMailJob, { payload: of, dueAt }, tx)
  else await enqueueAt(db, shareMailJob, { payload: of, dueAt }, tx)
}
