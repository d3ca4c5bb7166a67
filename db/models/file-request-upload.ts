import { moment, number, type Row, table, text, uuid, word } from './columns.ts'

/** A file that is sent to a file request, or was received by it. Its id is that of its blob. */
export const FileRequestUpload = table({
  tableName: 'file_request_upload',
  columns: {
    id: uuid.key(),
    requestId: uuid.ownedBy('file_request'),
    /** One browser or program. */
    senderId: uuid,
    /** The name that they gave: a claim. */
    senderName: text(100),
    /** The name of the file as it was sent; in the folder it may have another one. */
    fileName: text(255),
    /** What it reserves while it arrives, then what it has. */
    bytes: number,
    /** The /24 or /48 of the client. */
    network: word(64),
    /** What the client calls itself, such as "Firefox on Linux". */
    client: text(200),
    startedAt: moment,
    /** Null while it is arriving. */
    receivedAt: moment.nullable(),
    /** The file that was made of it. Refers to no row: the file may be deleted. */
    entryId: uuid.nullable(),
  },
  indexes: [['receivedAt'], ['requestId', 'receivedAt'], ['requestId', 'senderId']],
})

export type FileRequestUpload = Row<typeof FileRequestUpload>
