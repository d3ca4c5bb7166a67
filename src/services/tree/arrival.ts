import type { Db, Tx } from '../../../db/index.ts'
import { settleRequested } from '../../../db/queries/file-request-upload.ts'
import type { Sender } from '../../access/caller.ts'
import { scheduleUseMail } from '../notices/use-mail.ts'
import { requestClosed } from '../sharing/file-request-term.ts'

/**
 * Records a file that a file request received, in the transaction that creates the file.
 * @throws FILE_REQUEST_CLOSED when the request no longer exists
 */
export async function noteArrival(
  db: Db,
  { credentialId: requestId }: Sender,
  file: { blobId: string; id: string; size: number },
  tx: Tx,
): Promise<void> {
  if (!(await settleRequested(db, file, tx))) throw requestClosed()
  await scheduleUseMail(db, { requestId }, tx)
}
