import { v7 as newId } from 'uuid'
import type { Db, Tx } from '../index.ts'
import type { MailNotice } from '../models/mail-notice.ts'
import type { MailRecipient } from '../models/mail-recipient.ts'

type Recipient = Pick<MailRecipient, 'id' | 'stoppedAt'>

/**
 * Locks the row of an e-mail address until the transaction ends, so that its mails are counted one
 * at a time. Inserts a missing row.
 */
export async function lockRecipient(db: Db, addressHash: string, tx: Tx): Promise<Recipient> {
  const keep =
    db.dialect === 'mysql'
      ? 'ON DUPLICATE KEY UPDATE id = id'
      : 'ON CONFLICT (address_hash) DO UPDATE SET id = id'
  await db.run(
    `INSERT INTO mail_recipient (id, address_hash, stopped_at, created_at)
     VALUES (?, ?, NULL, ?) ${keep}`,
    [newId(), addressHash, Date.now()],
    tx,
  )
  const sql = 'SELECT id, stopped_at AS stoppedAt FROM mail_recipient WHERE address_hash = ?'
  const row = await db.row<Recipient>(sql, [addressHash], tx)
  if (!row) throw new Error('The row of the recipient is missing.')
  return row
}

/** The mails sent to a recipient since a time. */
export const noticesSince = (
  db: Db,
  recipientId: string,
  since: number,
  tx: Tx,
): Promise<Pick<MailNotice, 'senderId' | 'about' | 'sentAt'>[]> =>
  db.rows(
    `SELECT sender_id AS senderId, about, sent_at AS sentAt
     FROM mail_notice
     WHERE recipient_id = ?
       AND sent_at > ?`,
    [recipientId, since],
    tx,
  )
