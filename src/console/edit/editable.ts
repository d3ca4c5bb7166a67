import { isText, kindOf, type NamedFile } from '../../formats/viewer.ts'

/** Larger texts make browsers on phones slow, and are seldom written by hand. */
export const MAX_TEXT_BYTES = 2 * 1024 * 1024

interface Permitted {
  canWrite: boolean
  /** Replacing a file needs it, because only some versions are kept. */
  canDelete: boolean
}

/** Whether to offer the editor: the person may replace the file, and its format is a text. */
export const mayEditText = (permitted: Permitted | undefined, file: NamedFile): boolean =>
  Boolean(permitted?.canWrite && permitted.canDelete) && isText(kindOf(file))
