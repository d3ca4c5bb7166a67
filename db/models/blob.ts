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
 * made; live: files, versions or a preview refer to it; deleting: the sweeper deletes the object,
 * then the row.
 */
export const Blob = table({
  tableName: 'blobs',
  columns: {
    id: uuid.key(),
    bucketId: uuid,
    state: text<'staged' | 'copied' | 'live' | 'deleting'>(8),
    /** While it is staged, its share of the bucket's reservation, in bytes. */
    reservedBytes: counter,
    size: counter,
    /** CRC-32 of its bytes in lower-case hex, for archives; null while unknown. */
    crc32: word(8).nullable(),
    /** SHA-256 of its bytes, which identifies its content; null while unknown. */
    sha256: digest.nullable(),
    /** The key of its text (content_text): its SHA-256 and the format as which it was read. */
    textKey: digest.nullable(),
    /**
     * The number of files and versions that refer to a live blob. Copies of files increment it. The
     * transaction that removes the last reference marks the blob for deletion.
     */
    refCount: number.default(1),
    /**
     * Until when its uploader holds the lease (staged, copied), or when the sweeper may next try
     * (deleting).
     */
    leaseUntil: moment,
    /** The number of the store that contains it: `StoreMove`. */
    store: integer.default(0),
    createdAt: moment,
  },
  // Includes the size, so that the bytes to be deleted can be summed from the index alone. SQLite
  // reads in the thread that serves requests.
  indexes: [['state', 'leaseUntil', 'size'], ['sha256'], ['textKey']],
})

export type Blob = Row<typeof Blob>
