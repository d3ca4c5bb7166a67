import { integer, type Row, table, uuid } from './columns.ts'

/**
 * An entry of a share of several entries. A share of one entry has no such row: its own row names
 * the entry.
 */
export const ShareEntry = table({
  tableName: 'share_entry',
  columns: {
    shareId: uuid.key().ownedBy('share'),
    entryId: uuid.key(),
    /** Its position in the order of selection. */
    position: integer,
  },
  indexes: [['entryId']],
})

export type ShareEntry = Row<typeof ShareEntry>
