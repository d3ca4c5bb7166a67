import type { Job, JobKind } from '../services/job.ts'
import { mailJob } from '../services/notices/mail.ts'
import { fileRequestMailJob, shareMailJob } from '../services/notices/use-mail.ts'
import { webhookJob } from '../services/notices/webhook.ts'
import { contentsJob } from '../services/search/search-text.ts'
import { copyEntriesJob } from '../services/tree/background-copy.ts'
import { previewJob } from '../services/tree/preview-job.ts'
import { purgeBucketJob, purgeFolderJob } from '../services/tree/purge.ts'

type NeedsOf<Kind extends JobKind> =
  (typeof jobs)[Kind] extends Job<Kind, never, infer Needs> ? (needs: Needs) => void : never

/** What all jobs together need to run. */
export type JobNeeds = NeedsOf<JobKind> extends (needs: infer Needs) => void ? Needs : never

/** The job of every kind. */
export const jobs = {
  'purge-folder': purgeFolderJob,
  'purge-bucket': purgeBucketJob,
  'copy-entries': copyEntriesJob,
  preview: previewJob,
  contents: contentsJob,
  mail: mailJob,
  'file-request-mail': fileRequestMailJob,
  'share-mail': shareMailJob,
  webhook: webhookJob,
} satisfies { [Kind in JobKind]: Job<Kind> }
