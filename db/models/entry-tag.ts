import { type Row, table, uuid } from './columns.ts'

/**
 * Assigns a tag of a drive to a file or folder. The row is kept while the entry is in the trash,
 * and deleted with the entry or the tag.
 */
export const EntryTag = table({
  tableName: 'entry_tag',
  columns: {
    tagId: uuid.key().ownedBy('tag'),
    entryId: uuid.key().ownedBy('entry'),
  },
  indexes: [['entryId']],
})

export type EntryTag = Row<typeof EntryTag>
