import { md5, moment, number, type Row, table, text, uuid } from './columns.ts'

/**
 * A previous content of a file. Ids are ordered by the time of the replacement.
 */
export const Version = table({
  tableName: 'version',
  columns: {
    id: uuid.key(),
    bucketId: uuid,
    /** The file, which may be in the trash. */
    entryId: uuid,
    blobId: uuid,
    fileType: text(127),
    md5,
    bytes: number,
    /** Who made this content, and when. */
    createdBy: uuid.nullable(),
    createdAt: moment,
    /**
     * The modification time that the client reported, or null.
     */
    modifiedAt: moment.nullable(),
    replacedAt: moment,
  },
  indexes: [['blobId'], ['entryId', 'id'], ['bucketId', 'id'], ['replacedAt']],
})

export type Version = Row<typeof Version>
