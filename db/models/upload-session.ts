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

/** What became of a completion that outlives its request. */
export const completionStates = ['completing', 'completed', 'failed'] as const
export type CompletionState = (typeof completionStates)[number]

/**
 * An unfinished upload in parts. Its id is that of a staged blob, which holds the reservation and
 * whose lease is the session's lifetime; only the store records which parts have arrived. One that
 * was completed in the background is kept for a while, to tell its outcome.
 */
export const UploadSession = table({
  tableName: 'upload_session',
  columns: {
    id: uuid.key().ownedBy('blobs'),
    bucketId: uuid,
    /**
     * The user who started it. Refers to no row: this one must outlive the user, because it stores
     * until when parts of a direct upload are writable.
     */
    userId: uuid,
    /**
     * The share by which its maker writes, whose entry the path leads down from; null for those who
     * write by a right of their own.
     */
    shareId: uuid.nullable(),
    /** Path of the future file. */
    path: text(1024),
    fileType: text(127),
    /** Bytes of the whole, as declared. */
    size: number,
    /** Bytes of every part but the last. */
    partSize: number,
    /** Whether clients send the parts to signed URLs. */
    direct: flag,
    /** Until when clients can write directly to the store; 0 if they never can. */
    writableUntil: moment,
    /**
     * The token of the request that is completing it, and until when its claim lasts. Without a
     * token: until when a completion in the background waits for another attempt, and until when
     * one that has ended is kept.
     */
    claim: uuid.nullable(),
    claimUntil: moment,
    /** What to do when something of this name is there at the end. */
    onConflict: word<OnConflict>(9).default('fail'),
    /** When the file was last modified, as its client says; null where it says nothing. */
    modifiedAt: moment.nullable(),
    createdAt: moment,
    /** Of its completion in the background; null as long as none was asked for. */
    state: word<CompletionState>(10).nullable(),
    /** What such a completion is to do, as JSON. */
    completion: longText.nullable(),
    /** Why it failed, as JSON. */
    failure: longText.nullable(),
    /** Bytes that it has read again. */
    checked: counter,
    /** The file that it has made. */
    fileId: uuid.nullable(),
    /** Of the bytes that it has stored there: the file may have been replaced since. */
    md5: md5.nullable(),
  },
  indexes: [['bucketId'], ['state', 'claimUntil']],
})

export type UploadSession = Row<typeof UploadSession>
