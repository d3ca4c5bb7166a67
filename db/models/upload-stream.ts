import { flag, longText, moment, number, type Row, table, uuid, word } from './columns.ts'

/**
 * What becomes of a stream: a file of its own, a piece of one that is joined later, or what such
 * pieces are joined to.
 */
export const streamKinds = ['whole', 'partial', 'joined'] as const
export type StreamKind = (typeof streamKinds)[number]

/** An upload in parts whose bytes come in order, however they are cut. */
export const UploadStream = table({
  tableName: 'upload_stream',
  columns: {
    id: uuid.key().ownedBy('upload_session'),
    kind: word<StreamKind>(7),
    /**
     * Bytes from the start of the file that are durable; never all of a file that is not there yet.
     */
    arrived: number,
    /** What the client says of it, as it has said it. */
    metadata: longText,
    /**
     * The token of the request that is writing, and until when it holds the upload unless it says
     * that it goes on.
     */
    writer: uuid.nullable(),
    writerUntil: moment,
    /** Whether another request waits for it to end. */
    isWanted: flag,
    /**
     * Whether the client has yet to say how long the file is. Until then the size of the session is
     * what is reserved.
     */
    isDeferred: flag.default(false),
    /** The ids of those that are joined to it, in order; null for others. */
    parts: longText.nullable(),
  },
})

export type UploadStream = Row<typeof UploadStream>
