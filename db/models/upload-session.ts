import type { OnConflict } from '../../src/values/on-conflict.ts'
import {
  counter,
  flag,
  longText,
  md5,
  moment,
  number,
  type Row,
  table,
  text,
  uuid,
  word,
} from './columns.ts'

/** The state of a background completion. */
export const completionStates = ['completing', 'completed', 'failed'] as const
export type CompletionState = (typeof completionStates)[number]

/**
 * An unfinished upload in parts. Its id is that of a staged blob, which holds the reservation and
 * whose lease is the session's lifetime; only the store records which parts have arrived. After a
 * background completion, the row is kept for a while to report the outcome.
 */
export const UploadSession = table({
  tableName: 'upload_session',
  columns: {
    id: uuid.key().ownedBy('blobs'),
    bucketId: uuid,
    /**
     * The user who started it. Refers to no row: this row must outlive the user, because it stores
     * until when parts of a direct upload are writable.
     */
    userId: uuid,
    /**
     * The share that lets its maker write. The path then begins at the shared entry. Null if the
     * maker has their own right to write.
     */
    shareId: uuid.nullable(),
    /** Path of the future file. */
    path: text(1024),
    fileType: text(127),
    /** The declared size of the whole file. */
    size: number,
    /** The size of every part except the last. */
    partSize: number,
    /** Whether clients send the parts to signed URLs. */
    direct: flag,
    /** Until when clients can write directly to the store; 0 if they never can. */
    writableUntil: moment,
    /**
     * The token of the completing request, and when its claim expires. Without a token: the time of
     * the next attempt of a background completion, or the time when an ended one is deleted.
     */
    claim: uuid.nullable(),
    claimUntil: moment,
    /** What to do if the name is taken at the end. */
    onConflict: word<OnConflict>(9).default('fail'),
    /** The modification time that the client reported, or null. */
    modifiedAt: moment.nullable(),
    createdAt: moment,
    /** The state of its background completion; null if none was requested. */
    state: word<CompletionState>(10).nullable(),
    /** The plan of the completion, as JSON. */
    completion: longText.nullable(),
    /** Why it failed, as JSON. */
    failure: longText.nullable(),
    /** The number of bytes that it has verified. */
    checked: counter,
    /** The resulting file. */
    fileId: uuid.nullable(),
    /** MD5 of the stored bytes. The file may have been replaced since. */
    md5: md5.nullable(),
  },
  indexes: [['bucketId'], ['state', 'claimUntil']],
})

export type UploadSession = Row<typeof UploadSession>
