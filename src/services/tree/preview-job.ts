import { DAY_MS } from '../../values/duration.ts'
import type { Job, JobRun } from '../job.ts'

/** What the maker of a preview needs to know about the run of its job. */
export type PreviewRun = Pick<JobRun, 'attempts' | 'requireRunning'>

/** Makes the thumbnails of the content of a blob. */
export const previewJob: Job<
  'preview',
  { blobId: string; fileType: string },
  {
    previews: {
      atATime: number
      make(content: { blobId: string; fileType: string }, run: PreviewRun): Promise<void>
    }
  }
> = {
  kind: 'preview',
  changesFiles: true,
  atATime: ({ previews }) => previews.atATime,
  patienceMs: DAY_MS,
  // After a large upload, thousands of jobs may wait.
  leastTries: 3,
  run: ({ previews }, content, run) => previews.make(content, run),
}
