import { flag, longText, moment, type Row, table, uuid } from './columns.ts'

/**
 * A lock of a WebDAV client (RFC 4918, section 6) on a file or folder. Its token contains its id.
 */
export const DavLock = table({
  tableName: 'dav_lock',
  columns: {
    id: uuid.key(),
    bucketId: uuid,
    entryId: uuid.ownedBy('entry'),
    userId: uuid.ownedBy('user'),
    /**
     * The share that lets its maker write there; null for the owner of the drive and for members.
     */
    shareId: uuid.ownedBy('share').nullable(),
    /** Whether others may also lock the entry. */
    isShared: flag,
    /** Whether it also locks everything in the folder, at any depth. */
    isDeep: flag,
    /** The owner as the client describes them, in XML. */
    owner: longText,
    expiresAt: moment,
    createdAt: moment,
  },
  indexes: [['bucketId', 'expiresAt'], ['userId'], ['entryId']],
})

export type DavLock = Row<typeof DavLock>
