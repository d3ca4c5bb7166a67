import { digest, integer, longText, moment, type Row, table, uuid, word } from './columns.ts'

/**
 * The thumbnails of a content, shared by all blobs with this content: made once, and deleted with
 * the last of these blobs. making: a process is making it until its lease expires; failed: it
 * cannot be made.
 */
export const Preview = table({
  tableName: 'preview',
  columns: {
    /** The SHA-256 of the content. */
    digest: digest.key(),
    state: word<'making' | 'made' | 'failed'>(8),
    /** Why it failed. */
    reason: word(16).nullable(),
    leaseUntil: moment,
    /** The object with the pictures, the large one first. */
    blobId: uuid.nullable(),
    largeBytes: integer.default(0),
    smallBytes: integer.default(0),
    /** Of the original, upright, in pixels. */
    width: integer.nullable(),
    height: integer.nullable(),
    /** The Exif orientation, 1 to 8. */
    orientation: integer.nullable(),
    /** A ThumbHash in base64. */
    placeholder: word(64).nullable(),
    /** When a camera took it. */
    takenAt: moment.nullable(),
    /** Camera, lens, exposure and place, as JSON. Only for those who may download the file. */
    details: longText.nullable(),
    createdAt: moment,
    /** The version of the code that read the content; see READER. */
    reader: integer.default(0),
  },
  indexes: [['blobId']],
})

export type Preview = Row<typeof Preview>
