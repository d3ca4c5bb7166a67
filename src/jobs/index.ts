import type { Db } from '../../db/index.ts'
import type { Config } from '../config/config.ts'
import type { Log } from '../runtime/log.ts'
import type { Tokens } from '../runtime/tokens.ts'
import type { ChangeRunner } from '../services/history/event.ts'
import type { EventFeedService } from '../services/history/event-feed.ts'
import type { MailingService } from '../services/notices/mailing.ts'
import type { PubSub } from '../services/notices/pub-sub.ts'
import type { MayReach } from '../services/notices/webhook-address.ts'
import type { SearchIndexService } from '../services/search/search-index.ts'
import type { ContentsService } from '../services/search/search-text.ts'
import type { FileRequestService } from '../services/sharing/file-request.ts'
import type { ShareNoticeService } from '../services/sharing/share-notice.ts'
import type { BackgroundCopyService } from '../services/tree/background-copy.ts'
import type { PreviewService } from '../services/tree/preview.ts'
import { byWord, type Telemetry } from '../telemetry/telemetry.ts'
import { copyEntries } from './copy.ts'
import { type createMailer, mailOutcome, mailOutcomes } from './mail.ts'
import { purgeBucket, purgeFolder } from './purge.ts'
import { createSearchIndexer } from './search.ts'
import { type ResolveName, webhookRequests } from './webhook-request.ts'
import { createWebhooks } from './webhooks.ts'
import { createWorker, Paused } from './worker.ts'

/** Name resolution, timeouts, retry delays and turn lengths of webhooks. Tests pass their own. */
export interface WebhookHabits {
  resolveName?: ResolveName
  timeoutMs?: number
  retryMs?: (attempts: number) => number
  turnMs?: number
}

interface Deps {
  db: Db
  log: Log
  config: Pick<Config, 'sweepSeconds' | 'leaseSeconds'>
  tokens: Tokens
  change: ChangeRunner
  pubSub: PubSub
  eventFeeds: EventFeedService
  mailer: ReturnType<typeof createMailer>
  mailings: MailingService
  fileRequests: FileRequestService
  backgroundCopies: BackgroundCopyService
  shareNotices: ShareNoticeService
  previews: PreviewService
  contents: ContentsService
  mayReach: MayReach
  telemetry: Telemetry
  /** Whether changes to files are paused. */
  isPaused: () => boolean
  habits?: WebhookHabits | undefined
  searchIndex: SearchIndexService
  indexAfterMs?: number | undefined
}

/** Creates the workers for the outbox and the event logs. */
export function createJobs({
  config,
  mailer,
  mailings,
  fileRequests,
  backgroundCopies,
  shareNotices,
  previews,
  contents,
  mayReach,
  habits = {},
  searchIndex,
  indexAfterMs,
  ...deps
}: Deps) {
  const { db, log, telemetry, isPaused } = deps
  const requireRunning = () => {
    if (isPaused()) throw new Paused('A maintenance has begun.')
  }
  const pollMs = config.sweepSeconds * 1000
  const webhooks = createWebhooks({
    ...deps,
    pollMs,
    retryMs: habits.retryMs,
    turnMs: habits.turnMs,
    send: webhookRequests({ ...habits, mayReach, traceHeaders: telemetry.headers }),
    wakeWorker: () => worker.wake(),
  })
  const noteMail = byWord(outcome => telemetry.timer('mail', { outcome }))
  mailOutcomes.forEach(noteMail)
  const worker = createWorker({
    db,
    log,
    pollMs,
    telemetry,
    isPaused,
    leaseMs: config.leaseSeconds * 1000,
    atATime: { preview: previews.atATime, contents: contents.atATime },
    handlers: {
      'purge-folder': folder => purgeFolder(db, folder, requireRunning),
      'copy-entries': ({ copyId }) => copyEntries(db, backgroundCopies, copyId),
      'purge-bucket': bucket => purgeBucket(db, bucket, requireRunning),
      preview: (content, { attempts }) => previews.make(content, { attempts, requireRunning }),
      contents: (content, { attempts }) => contents.make(content, { attempts, requireRunning }),
      mail: async (mail, job) => {
        if (!(await mailings.isWanted(mail))) return
        const language = await mailings.languageOf(mail)
        const span = { name: `mail ${mail.template}`, kind: 'client' } as const
        await telemetry.observe({ span, note: noteMail, outcome: mailOutcome }, () =>
          mailer.send(mail, { id: job.id, language }),
        )
      },
      webhook: webhooks.sendOne,
      'file-request-mail': async request => {
        await fileRequests.tellArrivals(request)
        worker.wake()
      },
      'share-mail': async share => {
        await shareNotices.tellUses(share)
        worker.wake()
      },
    },
  })
  const searchIndexer = createSearchIndexer({
    log,
    pubSub: deps.pubSub,
    searchIndex,
    contents,
    isPaused,
    telemetry,
    pollMs,
    calmMs: indexAfterMs,
  })
  return { worker, webhooks, searchIndexer }
}
