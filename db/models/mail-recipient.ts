import { digest, moment, type Row, table, uuid } from './columns.ts'

/**
 * An e-mail address that mails were sent to, stored only as a keyed hash. Its row is the lock for
 * counting its mails.
 */
export const MailRecipient = table({
  tableName: 'mail_recipient',
  columns: {
    /** The unsubscribe link is derived from it. */
    id: uuid.key(),
    addressHash: digest,
    /** When the recipient unsubscribed from mails that users cause; null when subscribed. */
    stoppedAt: moment.nullable(),
    createdAt: moment,
  },
  unique: [['addressHash']],
})

export type MailRecipient = Row<typeof MailRecipient>
