import type { Log } from '../runtime/log.ts'
import { createPace } from '../runtime/pace.ts'
import type { PubSub } from '../services/notices/pub-sub.ts'
import type { SearchIndexService } from '../services/search/search-index.ts'
import type { ContentsService } from '../services/search/search-text.ts'
import { silent, type Telemetry } from '../telemetry/telemetry.ts'

/**
 * The indexing delay. A search updates the drives that it covers itself, so nobody waits for this.
 */
const CALM_MS = 500
/** Milliseconds per turn, after which requests run. */
const TURN_MS = 50
const LOGS_AT_ONCE = 20
/** Parts of the index that one run compares with the database. */
const PARTS_OF_RUN = 20

/**
 * Keeps the search index up to date, and removes deleted entries from it. Any number of instances
 * may run it.
 */
export function createSearchIndexer({
  log,
  pubSub,
  searchIndex,
  contents,
  isPaused,
  pollMs,
  calmMs = CALM_MS,
  telemetry = silent,
}: {
  log: Log
  pubSub: PubSub
  searchIndex: SearchIndexService
  contents: ContentsService
  /** Whether writes are paused. */
  isPaused: () => boolean
  pollMs: number
  /** Milliseconds from a change to its indexing. */
  calmMs?: number | undefined
  telemetry?: Telemetry
}) {
  let timer: NodeJS.Timeout | undefined
  let calm: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let polling: Promise<void> | undefined
  /** Logs that have new events. */
  const grown = new Set<string>()
  /** Whether to check all drives. */
  let all = false
  /** Whether texts were made. */
  let hasTexts = false
  let stopped = false
  let stopListening = () => {}

  async function work(): Promise<void> {
    const pace = createPace()
    while ((all || grown.size > 0 || hasTexts) && !stopped) {
      hasTexts = false
      const logIds = [...grown].slice(0, LOGS_AT_ONCE)
      for (const id of logIds) grown.delete(id)
      for (const id of await pace.batch(() => searchIndex.follow(logIds, TURN_MS))) grown.add(id)
      if (!all) continue
      all = false
      while (!stopped && (await pace.batch(() => searchIndex.advance(TURN_MS))));
    }
  }

  function wake(): void {
    if (stopped || running) return
    running = telemetry
      .detached(work)
      .catch(error =>
        log.warn(
          { err: error },
          'could not update the index of the search; it will be tried again',
        ),
      )
      .finally(() => {
        running = undefined
      })
  }

  /** Schedules a run, so that several changes are indexed together. */
  function soon(): void {
    calm ??= setTimeout(() => {
      calm = undefined
      wake()
    }, calmMs).unref()
  }

  /** Removes deleted entries, and all texts if content search is off. */
  async function sweep(): Promise<void> {
    const pace = createPace()
    for (let parts = 0; parts < PARTS_OF_RUN && !stopped; parts++)
      if (await pace.batch(() => searchIndex.sweep())) break
    while (!stopped && (await contents.settle()));
    if (!stopped) await contents.retryFailed()
  }

  function lookAtAll(): void {
    all = true
    wake()
  }

  async function clear(): Promise<void> {
    try {
      await sweep()
    } catch (error) {
      log.warn({ err: error }, 'could not clear the index of the search; it will be tried again')
    }
  }

  /** Finds changes without an event, and removes deleted entries from the index. */
  async function poll(): Promise<void> {
    if (isPaused() || stopped || polling) return
    lookAtAll()
    polling = telemetry.detached(clear).finally(() => {
      polling = undefined
    })
    await polling
  }

  return {
    poll,
    /** Resolves when everything is indexed. For tests. */
    async idle(): Promise<void> {
      lookAtAll()
      while (running) await running
    },
    start(): void {
      stopListening = pubSub.hear((topic, to) => {
        if (topic !== 'logged') return
        // Checking all drives for each event would cost more with each drive.
        grown.add(to)
        soon()
      })
      contents.onText(() => {
        hasTexts = true
        soon()
      })
      timer = setInterval(() => void poll(), pollMs)
      timer.unref()
      all = true
      soon()
    },
    async stop(): Promise<void> {
      stopped = true
      stopListening()
      clearInterval(timer)
      clearTimeout(calm)
      await running
      await polling
    },
  }
}
