import { counter, longText, mediumText, moment, type Row, table, uuid, word } from './columns.ts'

/** The states of a background copy. */
export const copyStates = ['copying', 'done', 'failed', 'cancelled'] as const
export type CopyState = (typeof copyStates)[number]

/**
 * A large copy, made in the background. The copied entries wait in a detached folder and are moved
 * to their destination all at once at the end. Until then, the copy holds a reservation of the
 * bucket.
 */
export const EntryCopy = table({
  tableName: 'entry_copy',
  columns: {
    id: uuid.key(),
    /**
     * Its maker. Refers to no row: this row must outlive the user, because it names the folder to
     * purge.
     */
    userId: uuid,
    bucketId: uuid,
    /** The detached folder; null once the copy has ended. */
    stageId: uuid.nullable(),
    state: word<CopyState>(10),
    /** The plan of the copy, and the right under which it runs, as JSON. */
    plan: mediumText,
    /** The totals when it began: files and folders, and bytes. */
    entries: counter,
    bytes: counter,
    /** The totals copied so far. */
    copiedFiles: counter,
    copiedFolders: counter,
    copiedBytes: counter,
    /** Its share of the bucket's reservation. */
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
