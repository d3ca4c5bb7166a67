import {
  counter,
  integer,
  md5,
  moment,
  number,
  type Row,
  small,
  table,
  text,
  uuid,
} from './columns.ts'

/** Folders sort before files in every listing. */
export const FOLDER = 0
export const FILE = 1

/**
 * A file or a folder. Paths are never stored: the path of an entry is its chain of parents. A
 * folder carries the totals of its whole subtree (without itself), a file its own, so that moving
 * and deleting cost O(depth).
 */
export const Entry = table({
  tableName: 'entry',
  columns: {
    id: uuid.key(),
    bucketId: uuid,
    /** Null for a root, and for a deleted folder that is not purged yet. */
    parentId: uuid.nullable(),
    kind: small<typeof FOLDER | typeof FILE>(),
    name: text(255),
    blobId: uuid.nullable(),
    fileType: text(127),
    md5,
    totalBytes: counter,
    totalFiles: counter,
    totalFolders: counter,
    /**
     * Upper bounds for the subtree of a folder: its levels, and the bytes of its longest relative
     * path. Deletions do not lower them.
     */
    levelsBelow: integer.default(0),
    bytesBelow: integer.default(0),
    createdBy: uuid.nullable(),
    createdAt: moment,
    updatedAt: moment,
    /**
     * Who uploaded the current content, and when; null while the file has its first content.
     */
    contentBy: uuid.nullable(),
    contentAt: moment.nullable(),
    /**
     * The modification time that the client reported; null if it reported none, and for folders.
     */
    modifiedAt: moment.nullable(),
    /**
     * When a picture or film was taken, by the clock of its camera; otherwise, when it was modified
     * or uploaded. Null for other files.
     */
    picturedAt: moment.nullable(),
    /** Grows with each change of its content, its name or its place. */
    revision: number.default(1),
    /**
     * The part of the revision that changes of name or place made. See `contentRevisionOf` in
     * db/queries/sql.ts.
     */
    moves: number.default(0),
    /**
     * Of a folder: grows with each change of anything below it. See `stampChange` in
     * db/queries/sql.ts. A root keeps its stamp in the row of its bucket.
     */
    changeStamp: number.default(0),
  },
  unique: [['parentId', 'name']],
  indexes: [
    ['blobId'],
    ['parentId', 'kind', 'name'],
    ['parentId', 'totalBytes', 'id'],
    ['parentId', 'updatedAt', 'id'],
    ['bucketId', 'kind', 'id'],
    ['bucketId', 'md5'],
    // Includes the folder, so that pictures are counted from the index alone.
    ['bucketId', 'picturedAt', 'id', 'parentId'],
  ],
})

export type Entry = Row<typeof Entry>
