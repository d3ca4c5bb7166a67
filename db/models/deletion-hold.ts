import { moment, type Row, table, uuid } from './columns.ts'

/**
 * A backup that needs all blobs of its snapshot: as long as there is a row that has not expired,
 * none is deleted from the store.
 */
export const DeletionHold = table({
  tableName: 'deletion_hold',
  columns: {
    id: uuid.key(),
    /** The backup extends it while it runs: if it dies, deletions go on soon. */
    expiresAt: moment,
  },
})

export type DeletionHold = Row<typeof DeletionHold>
