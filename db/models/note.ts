import { longText, md5, moment, type Row, table, uuid } from './columns.ts'

/**
 * Belongs to (storage area, checksum): it follows the content, is shared by equal copies, and is
 * kept with the data of a deleted account.
 */
export const Note = table({
  tableName: 'note',
  columns: {
    bucketId: uuid.key(),
    checksum: md5.key(),
    content: longText,
    updatedAt: moment,
  },
})

export type Note = Row<typeof Note>
