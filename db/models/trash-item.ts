import { counter, longText, moment, type Row, table, uuid } from './columns.ts'

/**
 * A deleted file or folder that can be restored: its entry no longer has a parent, and what is in
 * it is as it was. Ids are ordered by the time of the deletion.
 */
export const TrashItem = table({
  tableName: 'trash_item',
  columns: {
    id: uuid.key(),
    bucketId: uuid,
    entryId: uuid,
    /** The folder that it was in, which may be gone as well. */
    parentId: uuid,
    /** Where it was: the names from the root down, its own last, joined by slashes. */
    path: longText,
    /** The totals of its subtree at the deletion, itself included. */
    bytes: counter,
    files: counter,
    folders: counter,
    deletedBy: uuid.nullable(),
    deletedAt: moment,
  },
  unique: [['entryId']],
  indexes: [['bucketId', 'id'], ['deletedAt']],
})

export type TrashItem = Row<typeof TrashItem>
