import { type Row, table, uuid } from './columns.ts'

/**
 * That a file or folder has a tag of its drive. It stays in the trash, and goes with either of
 * them.
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
