import type { Config } from '../../config.ts'
import { backgroundCompletionService } from './background-completion.ts'
import { uploadCompletionService } from './upload-completion.ts'
import { uploadSessionService } from './upload-session.ts'

type Sessions = Parameters<typeof uploadSessionService>[0]
type Completions = Parameters<typeof uploadCompletionService>[0]
type Background = Parameters<typeof backgroundCompletionService>[0]

interface Deps
  extends Omit<Sessions, 'partSize' | 'direct'>,
    Pick<Completions, 'change'>,
    Pick<Background, 'findCaller'> {
  config: Pick<Config, 'uploadPartBytes' | 'directUploads' | 'leaseSeconds' | 'sweepSeconds'>
}

/** Uploads in parts. */
export function uploadServices({ config, change, findCaller, ...deps }: Deps) {
  const { uploadPartBytes: partSize, directUploads: direct, leaseSeconds: claimSeconds } = config
  const uploadSessions = uploadSessionService({ ...deps, partSize, direct })
  const uploadCompletions = uploadCompletionService({ ...deps, change, sessions: uploadSessions, claimSeconds })
  const { db, log } = deps
  const backgroundCompletions = backgroundCompletionService({
    ...{ db, log, findCaller, completions: uploadCompletions, sessions: uploadSessions },
    everyMs: config.sweepSeconds * 1000,
  })
  return { uploadSessions, uploadCompletions, backgroundCompletions }
}
