import { counter, flag, moment, number, type Row, table, text, uuid } from './columns.ts'

/**
 * Whether a request takes files; where it does not, why. `suspended`: its folder is in the trash,
 * or its maker may not write there now.
 */
export const requestStates = ['open', 'full', 'expired', 'closed', 'suspended'] as const
export type RequestState = (typeof requestStates)[number]

/**
 * A link with which others send files into one folder of a drive. Its token is derived from its id,
 * not stored. It is open as long as its maker may write there; what it has received and what is
 * arriving stands in this one row, so that one conditional UPDATE bounds both.
 */
export const FileRequest = table({
  tableName: 'file_request',
  columns: {
    id: uuid.key(),
    /** Its maker. */
    userId: uuid.ownedBy('user'),
    bucketId: uuid,
    folderId: uuid,
    label: text(100),
    message: text(1000),
    passwordHash: text(255).nullable(),
    /** Null where it is not bounded. Bytes of one file and of all. */
    maxFiles: number.nullable(),
    maxFileBytes: number.nullable(),
    maxBytes: number.nullable(),
    /**
     * Extensions and media types of the files that it takes, separated by spaces; all of them when
     * empty.
     */
    kinds: text(1000),
    /** Whether senders have to give a name. */
    asksName: flag,
    /** Whether its maker gets mails about new files. */
    notifies: flag,
    /** What was received. */
    files: counter,
    bytes: counter,
    /** What is arriving, a part of the reservation of the bucket. */
    reservedFiles: counter,
    reservedBytes: counter,
    /**
     * The time up to which received files were reported to the maker, and whether the next mail is
     * scheduled.
     */
    notifiedAt: counter,
    mailWaits: flag,
    createdAt: moment,
    /** Null when it never does. */
    expiresAt: moment.nullable(),
    closedAt: moment.nullable(),
  },
  indexes: [['userId', 'id'], ['folderId']],
})

export type FileRequest = Row<typeof FileRequest>
