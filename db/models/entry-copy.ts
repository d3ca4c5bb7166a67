import { counter, longText, mediumText, moment, type Row, table, uuid, word } from './columns.ts'

/** The states of a background copy. */
export const copyStates = ['copying', 'done', 'failed', 'cancelled'] as const
export type CopyState = (typeof copyStates)[number]

/**
 * A copy that is made in the background, because it is large. What is copied waits in a folder that
 * no tree holds, and is placed at the end, all at once. Until then it holds a reservation of the
 * bucket.
 */
export const EntryCopy = table({
  tableName: 'entry_copy',
  columns: {
    id: uuid.key(),
    /**
     * Its maker. Refers to no row: this one must outlive the user, because it says what is to be
     * purged.
     */
    userId: uuid,
    bucketId: uuid,
    /** The folder that no tree holds; null once the copy has ended. */
    stageId: uuid.nullable(),
    state: word<CopyState>(10),
    /** What is to be done, and by what right, as JSON. */
    plan: mediumText,
    /** What was counted when it began: files and folders, and bytes. */
    entries: counter,
    bytes: counter,
    /** What is there so far. */
    copiedFiles: counter,
    copiedFolders: counter,
    copiedBytes: counter,
    /** A part of the reservation of the bucket. */
    reservedFiles: counter,
    reservedBytes: counter,
    /** The ids of the copies, as JSON. */
    result: mediumText.nullable(),
    /** Why it failed, as JSON. */
    failure: longText.nullable(),
    createdAt: moment,
    endedAt: moment.nullable(),
  },
  indexes: [['userId', 'id'], ['bucketId'], ['endedAt']],
})

export type EntryCopy = Row<typeof EntryCopy>
