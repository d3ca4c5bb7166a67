import { moment, type Row, table, uuid } from './columns.ts'

/**
 * A backup that needs all blobs of its snapshot: while an unexpired row exists, no blob is deleted
 * from the store.
 */
export const DeletionHold = table({
  tableName: 'deletion_hold',
  columns: {
    id: uuid.key(),
    /** The running backup extends it. If the backup dies, deletions soon resume. */
    expiresAt: moment,
  },
})

export type DeletionHold = Row<typeof DeletionHold>
