import { digest, moment, type Row, table, uuid } from './columns.ts'

/** A mail that a user caused. It is kept for a day, because it counts towards the mail limits. */
export const MailNotice = table({
  tableName: 'mail_notice',
  columns: {
    id: uuid.key(),
    recipientId: uuid,
    senderId: uuid,
    /** A hash of its subjects, to recognize a repetition. */
    about: digest,
    sentAt: moment,
  },
  indexes: [['recipientId', 'sentAt'], ['sentAt']],
})

export type MailNotice = Row<typeof MailNotice>
