import { type Row, table, text, uuid } from './columns.ts'

/** A folder that a copy has created and not yet filled. */
export const EntryCopyFolder = table({
  tableName: 'entry_copy_folder',
  columns: {
    /** The new folder. */
    id: uuid.key(),
    copyId: uuid.ownedBy('entry_copy'),
    /** The original folder, and the entry named in the request that contains it. */
    sourceId: uuid,
    topId: uuid,
    /** The last name in it that was copied; empty before the first. */
    lastName: text(255),
  },
  indexes: [['copyId', 'id']],
})

export type EntryCopyFolder = Row<typeof EntryCopyFolder>
