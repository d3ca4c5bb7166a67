import { number, type Row, table, uuid } from './columns.ts'

/**
 * Bytes of an incomplete part. They are a separate blob until the rest of the part arrives.
 */
export const UploadPiece = table({
  tableName: 'upload_piece',
  columns: {
    id: uuid.key().ownedBy('blobs'),
    uploadId: uuid.ownedBy('upload_session'),
    /** The offset of its bytes in the file. */
    position: number,
    size: number,
  },
  indexes: [['uploadId', 'position']],
})

export type UploadPiece = Row<typeof UploadPiece>
