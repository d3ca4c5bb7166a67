import {
  counter,
  digest,
  integer,
  moment,
  number,
  type Row,
  table,
  text,
  uuid,
  word,
} from './columns.ts'

/**
 * The ledger of every object in the store; the id is the object's key. staged: reserved, upload in
 * progress; copied: a copy of a staged one, which holds the reservation, or a preview that is being
 * made; live: files, versions or a preview refer to it; deleting: the object is deleted next, then
 * the row.
 */
export const Blob = table({
  tableName: 'blobs',
  columns: {
    id: uuid.key(),
    bucketId: uuid,
    state: text<'staged' | 'copied' | 'live' | 'deleting'>(8),
    /** Its part of the bucket's reservation while it is staged, in bytes. */
    reservedBytes: counter,
    size: counter,
    /** CRC-32 of its bytes in lower-case hex, for archives; null while it is not known. */
    crc32: word(8).nullable(),
    /** SHA-256 of its bytes, which identifies its content; null while it is not known. */
    sha256: digest.nullable(),
    /** The key of its text (content_text): its SHA-256 and the format that it was read as. */
    textKey: digest.nullable(),
    /**
     * How many files and versions have these bytes, once it is live. Copies of files add to it; who
     * takes the last one marks it for deletion.
     */
    refCount: number.default(1),
    /**
     * Until when its uploader holds the lease (staged, copied), or when the sweeper may next try
     * (deleting).
     */
    leaseUntil: moment,
    /** The number of the store that has it: `StoreMove`. */
    store: integer.default(0),
    createdAt: moment,
  },
  // With the size, so that the bytes still to be deleted are summed in the index: SQLite reads in
  // the thread that serves.
  indexes: [['state', 'leaseUntil', 'size'], ['sha256'], ['textKey']],
})

export type Blob = Row<typeof Blob>
