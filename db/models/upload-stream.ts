import { flag, longText, moment, number, type Row, table, uuid, word } from './columns.ts'

/**
 * What a stream becomes: a file of its own, a piece that is joined later, or the result of joining
 * pieces.
 */
export const streamKinds = ['whole', 'partial', 'joined'] as const
export type StreamKind = (typeof streamKinds)[number]

/** A multipart upload whose bytes arrive in order, in requests of any size. */
export const UploadStream = table({
  tableName: 'upload_stream',
  columns: {
    id: uuid.key().ownedBy('upload_session'),
    kind: word<StreamKind>(7),
    /**
     * The number of durable bytes from the start of the file. Always less than the size until the
     * file exists.
     */
    arrived: number,
    /** The client's metadata, verbatim. */
    metadata: longText,
    /**
     * The token of the writing request, and when its claim expires unless renewed.
     */
    writer: uuid.nullable(),
    writerUntil: moment,
    /** Whether another request waits for this request to stop. */
    isWanted: flag,
    /**
     * Whether the length of the file is still unknown. Until it is known, the size of the session
     * is the reservation.
     */
    isDeferred: flag.default(false),
    /** The ids of the uploads that it joins, in order; null for others. */
    parts: longText.nullable(),
  },
})

export type UploadStream = Row<typeof UploadStream>
