import { MAX_EMAIL } from '../../src/limits.ts'
import { counter, moment, number, type Row, table, text, uuid } from './columns.ts'

/** A file given to one e-mail address (direct) or to everyone with the link (public). Its token is derived from its id, not stored. */
export const Share = table({
  tableName: 'share',
  columns: {
    id: uuid.key(),
    entryId: uuid,
    bucketId: uuid,
    /** The sharer. */
    userId: uuid,
    /** Lower-case e-mail address of the recipient; null for a public share. */
    recipient: text(MAX_EMAIL).nullable(),
    passwordHash: text(255).nullable(),
    maxDownloads: number.nullable(),
    downloads: counter,
    seenAt: moment.nullable(),
    createdAt: moment,
    expiresAt: moment,
  },
  indexes: [['entryId', 'recipient'], ['userId', 'id'], ['recipient', 'id'], ['expiresAt']],
})

export type Share = Row<typeof Share>
