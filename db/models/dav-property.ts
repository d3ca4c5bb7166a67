import { digest, integer, mediumText, type Row, table, uuid } from './columns.ts'

/**
 * A dead property (RFC 4918, section 4) that a WebDAV client has given a file or folder. It is kept
 * while the entry is in the trash, and deleted with the entry.
 */
export const DavProperty = table({
  tableName: 'dav_property',
  columns: {
    entryId: uuid.key().ownedBy('entry'),
    bucketId: uuid.default(''),
    /** SHA-256 of namespace and name, which are too long for a key. */
    nameHash: digest.key(),
    /** The XML element of the property, with all namespaces that it uses. */
    content: mediumText,
    /** Bytes of the content. */
    bytes: integer.default(0),
  },
  indexes: [['bucketId', 'bytes']],
})

export type DavProperty = Row<typeof DavProperty>
