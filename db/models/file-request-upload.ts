import { moment, number, type Row, table, text, uuid, word } from './columns.ts'

/** A file that a file request is receiving or has received. It has the id of its blob. */
export const FileRequestUpload = table({
  tableName: 'file_request_upload',
  columns: {
    id: uuid.key(),
    requestId: uuid.ownedBy('file_request'),
    /** One browser or program. */
    senderId: uuid,
    /** The name that the sender gave; not verified. */
    senderName: text(100),
    /** The name of the file as it was sent. It may have another name in the folder. */
    fileName: text(255),
    /** Its reservation while it arrives, then its size. */
    bytes: number,
    /** The /24 or /48 of the client. */
    network: word(64),
    /** What the client calls itself, such as "Firefox on Linux". */
    client: text(200),
    startedAt: moment,
    /** Null while it is arriving. */
    receivedAt: moment.nullable(),
    /** The resulting file. Refers to no row: the file may be deleted. */
    entryId: uuid.nullable(),
  },
  indexes: [['receivedAt'], ['requestId', 'receivedAt'], ['requestId', 'senderId'], ['entryId']],
})

export type FileRequestUpload = Row<typeof FileRequestUpload>
