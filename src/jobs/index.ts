import type { Db } from '../../db/index.ts'
import type { Config } from '../config/config.ts'
import type { Log } from '../runtime/log.ts'
import type { Tokens } from '../runtime/tokens.ts'
import type { ChangeRunner } from '../services/history/event.ts'
import type { EventFeedService } from '../services/history/event-feed.ts'
import type { PubSub } from '../services/notices/pub-sub.ts'
import type { MayReach } from '../services/notices/webhook-address.ts'
import type { SearchIndexService } from '../services/search/search-index.ts'
import type { ContentsService } from '../services/search/search-text.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { type JobNeeds, jobs } from './registry.ts'
import { createSearchIndexer } from './search.ts'
import { type ResolveName, webhookRequests } from './webhook-request.ts'
import { createWebhooks } from './webhooks.ts'
import { createWorker } from './worker.ts'

/** Name resolution, timeouts, retry delays and turn lengths of webhooks. Tests pass their own. */
export interface WebhookHabits {
  resolveName?: ResolveName
  timeoutMs?: number
  retryMs?: (attempts: number) => number
  turnMs?: number
}

interface Deps extends Omit<JobNeeds, 'deliveries'> {
  db: Db
  log: Log
  config: Pick<Config, 'sweepSeconds' | 'leaseSeconds'>
  tokens: Tokens
  change: ChangeRunner
  pubSub: PubSub
  eventFeeds: EventFeedService
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
  mayReach,
  habits = {},
  searchIndex,
  indexAfterMs,
  ...deps
}: Deps) {
  const { db, log, telemetry, isPaused, contents } = deps
  const pollMs = config.sweepSeconds * 1000
  const webhooks = createWebhooks({
    ...deps,
    pollMs,
    retryMs: habits.retryMs,
    turnMs: habits.turnMs,
    send: webhookRequests({ ...habits, mayReach, traceHeaders: telemetry.headers }),
    wakeWorker: () => worker.wake(),
  })
  const worker = createWorker({
    db,
    log,
    jobs: Object.values(jobs),
    needs: { ...deps, deliveries: webhooks },
    pollMs,
    telemetry,
    isPaused,
    leaseMs: config.leaseSeconds * 1000,
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
