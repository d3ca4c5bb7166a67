import { type Row, table, text, uuid } from './columns.ts'

/** A folder that was made for a copy, and that is still to be filled. */
export const EntryCopyFolder = table({
  tableName: 'entry_copy_folder',
  columns: {
    /** The folder that was made. */
    id: uuid.key(),
    copyId: uuid.ownedBy('entry_copy'),
    /** The folder that it is a copy of, and the entry that was named, in which that is. */
    sourceId: uuid,
    topId: uuid,
    /** The last name in it that was copied; empty before the first. */
    lastName: text(255),
  },
  indexes: [['copyId', 'id']],
})

export type EntryCopyFolder = Row<typeof EntryCopyFolder>
