import type { LimitFunction } from 'p-limit'
import type { OnConflict } from '../generated.ts'
import type { FilesPlace } from '../place.ts'
import type { Progress } from '../progress.ts'

/** The target of a file upload. */
export interface Target {
  place: FilesPlace
  /** Path within the place. */
  folder: string
  name: string
  /** What to do about an existing file of that name. */
  onConflict: OnConflict
  /** The revision of the file to replace. */
  expectedRevision?: number | undefined
  progress: Progress
  /** Limits concurrent requests that send file content, across all files. */
  parts: LimitFunction
}
