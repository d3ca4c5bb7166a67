import { digest, integer, longText, moment, type Row, table, uuid, word } from './columns.ts'

/**
 * Small pictures of a content, whichever and however many blobs have it: made once, and deleted
 * with the last of these. making: a process works on it, until its lease ends; failed: there will
 * be none.
 */
export const Preview = table({
  tableName: 'preview',
  columns: {
    /** The SHA-256 of the content. */
    digest: digest.key(),
    state: word<'making' | 'made' | 'failed'>(8),
    /** Why there is none. */
    reason: word(16).nullable(),
    leaseUntil: moment,
    /** The object with the pictures, the large one first. */
    blobId: uuid.nullable(),
    largeBytes: integer.default(0),
    smallBytes: integer.default(0),
    /** Of the original, upright, in pixels. */
    width: integer.nullable(),
    height: integer.nullable(),
    /** As its Exif data says, 1 to 8. */
    orientation: integer.nullable(),
    /** A ThumbHash in base64. */
    placeholder: word(64).nullable(),
    /** When a camera took it. */
    takenAt: moment.nullable(),
    /** Camera, lens, exposure and place, in JSON: for those who may download the file. */
    details: longText.nullable(),
    createdAt: moment,
    /** The version of the code that has read the content; see READER. */
    reader: integer.default(0),
  },
  indexes: [['blobId']],
})

export type Preview = Row<typeof Preview>
