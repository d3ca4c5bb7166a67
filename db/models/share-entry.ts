import { integer, type Row, table, uuid } from './columns.ts'

/**
 * One of the entries of a share of several. A share of one entry has no such row: it names that
 * itself.
 */
export const ShareEntry = table({
  tableName: 'share_entry',
  columns: {
    shareId: uuid.key().ownedBy('share'),
    entryId: uuid.key(),
    /** In which order they were chosen. */
    position: integer,
  },
  indexes: [['entryId']],
})

export type ShareEntry = Row<typeof ShareEntry>
