import { flag, longText, moment, type Row, table, uuid } from './columns.ts'

/**
 * A lock of a WebDAV client (RFC 4918, section 6) on a file or folder. Its id is what its token
 * names.
 */
export const DavLock = table({
  tableName: 'dav_lock',
  columns: {
    id: uuid.key(),
    bucketId: uuid,
    entryId: uuid.ownedBy('entry'),
    userId: uuid.ownedBy('user'),
    /** The share by which its maker may write there; null for the owner of a drive and members. */
    shareId: uuid.ownedBy('share').nullable(),
    /** Whether others may lock the same, too. */
    isShared: flag,
    /** Whether it is a lock of all that is in the folder, at any depth. */
    isDeep: flag,
    /** What the client says of its owner: XML. */
    owner: longText,
    expiresAt: moment,
    createdAt: moment,
  },
  indexes: [['bucketId', 'expiresAt'], ['userId'], ['entryId']],
})

export type DavLock = Row<typeof DavLock>
