import type { LimitFunction } from 'p-limit'
import type { OnConflict } from '../generated.ts'
import type { FilesPlace } from '../place.ts'
import type { Progress } from '../progress.ts'

/** Where a file is uploaded to. */
export interface Target {
  place: FilesPlace
  /** In the place. */
  folder: string
  name: string
  /** What happens if something of that name is there. */
  onConflict: OnConflict
  /** The revision of the file that is replaced. */
  expectedRevision?: number | undefined
  progress: Progress
  /** Limits parallel requests that send bytes, across all files. */
  parts: LimitFunction
}
