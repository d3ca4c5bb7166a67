import { number, type Row, table, uuid } from './columns.ts'

/**
 * Bytes of an upload that are no whole part yet: a blob of their own until the rest of the part has
 * come.
 */
export const UploadPiece = table({
  tableName: 'upload_piece',
  columns: {
    id: uuid.key().ownedBy('blobs'),
    uploadId: uuid.ownedBy('upload_session'),
    /** Where its bytes begin in the file. */
    position: number,
    size: number,
  },
  indexes: [['uploadId', 'position']],
})

export type UploadPiece = Row<typeof UploadPiece>
