import { counter, integer, longText, moment, type Row, table, uuid } from './columns.ts'

/**
 * A deleted file or folder that can be restored: its entry no longer has a parent, and its contents
 * are unchanged. Ids are ordered by the time of the deletion.
 */
export const TrashItem = table({
  tableName: 'trash_item',
  columns: {
    id: uuid.key(),
    bucketId: uuid,
    entryId: uuid,
    /** The folder that it was in. The folder may have been deleted, too. */
    parentId: uuid,
    /** Its former path: the names from the root down, joined by slashes. */
    path: longText,
    /** The totals of its subtree when it was deleted, including the entry itself. */
    bytes: counter,
    files: counter,
    folders: counter,
    deletedBy: uuid.nullable(),
    deletedAt: moment,
    /** How many shares ended, or lost an entry, with the deletion. */
    endedShares: integer.default(0),
  },
  unique: [['entryId']],
  indexes: [['bucketId', 'id'], ['deletedAt']],
})

export type TrashItem = Row<typeof TrashItem>
