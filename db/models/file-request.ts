import {
  counter,
  flag,
  longText,
  moment,
  number,
  type Row,
  table,
  text,
  uuid,
  word,
} from './columns.ts'

/**
 * Whether a request accepts files, and if not, why. `suspended`: its folder is in the trash,
 * or its maker may not write there now.
 */
export const requestStates = ['open', 'full', 'expired', 'closed', 'suspended'] as const
export type RequestState = (typeof requestStates)[number]

/**
 * Where the name of a sender becomes part of the place of a file: nowhere, before its name, or as a
 * folder.
 */
export const senderPlaces = ['none', 'prefix', 'folder'] as const
export type SenderPlace = (typeof senderPlaces)[number]

/**
 * A link with which others send files into one folder of a drive. Its token is derived from its id,
 * not stored. It is open while its maker may write there. This one row counts the received and the
 * reserved bytes and files, so that one conditional UPDATE checks the limits.
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
    /** The maximum bytes of one file and of all files. Null means unlimited. */
    maxFiles: number.nullable(),
    maxFileBytes: number.nullable(),
    maxBytes: number.nullable(),
    /**
     * The extensions and media types that it accepts, separated by spaces; empty for all.
     */
    kinds: text(1000),
    /** Whether senders must give a name. */
    asksName: flag,
    /** The names of the expected senders, one a line; null for none. */
    expected: longText.nullable(),
    senderPlace: word<SenderPlace>(8, 'none'),
    /** Whether its maker gets mails about new files. */
    notifies: flag,
    /** The received files. */
    files: counter,
    bytes: counter,
    /** Reserved by arriving files; included in the bucket's reservation. */
    reservedFiles: counter,
    reservedBytes: counter,
    /**
     * The time up to which received files were reported to the maker, and whether the next mail is
     * scheduled.
     */
    notifiedAt: counter,
    mailWaits: flag,
    createdAt: moment,
    /** Null if it never expires. */
    expiresAt: moment.nullable(),
    closedAt: moment.nullable(),
  },
  indexes: [['userId', 'id'], ['folderId']],
})

export type FileRequest = Row<typeof FileRequest>
