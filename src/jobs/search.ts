import type { Db } from '../../db/index.ts'
import { deleteSearchDrive, goneSearchDrives, wordsInOrder } from '../../db/queries/search-drive.ts'
import type { Log } from '../runtime/log.ts'
import type { PubSub } from '../services/notices/pub-sub.ts'
import type { SearchIndexService } from '../services/search/search-index.ts'
import type { ContentsService } from '../services/search/search-text.ts'
import { deleteDriveIndex, deleteStaleWords } from '../services/search/stale-word.ts'
import { silent, type Telemetry } from '../telemetry/telemetry.ts'
import { createPace } from './pace.ts'

/**
 * The indexing delay. A search updates the drives that it covers itself, so nobody waits for this.
 */
const CALM_MS = 500
/** Milliseconds per turn, after which requests run. */
const TURN_MS = 50
const LOGS_AT_ONCE = 20
/** Index rows that one run checks for deleted entries. */
const WORDS_AT_ONCE = 500
const WORDS_OF_RUN = 10_000
/** Batches of texts that one run checks. */
const TEXT_RUNS = 10

/**
 * Keeps the search index up to date, and removes deleted entries from it. Any number of instances
 * may run it.
 */
export function createSearchIndexer({
  db,
  log,
  pubSub,
  searchIndex,
  contents,
  isPaused,
  pollMs,
  calmMs = CALM_MS,
  telemetry = silent,
}: {
  db: Db
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
  let stopped = false
  let stopListening = () => {}
  let wordPlace = { drive: 0, word: '', entryId: '' }

  async function work(): Promise<void> {
    const pace = createPace()
    while ((all || grown.size > 0) && !stopped) {
      const logIds = [...grown].slice(0, LOGS_AT_ONCE)
      for (const id of logIds) grown.delete(id)
      if (logIds.length > 0)
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

  async function forgetDrives(): Promise<void> {
    for (const { bucketId, number } of await goneSearchDrives(db, 10)) {
      if (!(await deleteDriveIndex(db, number, () => stopped))) return
      await deleteSearchDrive(db, bucketId)
    }
  }

  /** Removes words of deleted entries, and of former names and notes. */
  async function forgetWords(): Promise<void> {
    for (let looked = 0; looked < WORDS_OF_RUN && !stopped; looked += WORDS_AT_ONCE) {
      const rows = await wordsInOrder(db, wordPlace, WORDS_AT_ONCE)
      await deleteStaleWords(db, rows)
      wordPlace =
        rows.length < WORDS_AT_ONCE
          ? { drive: 0, word: '', entryId: '' }
          : (rows.at(-1) ?? wordPlace)
      if (rows.length < WORDS_AT_ONCE) return
    }
  }

  /** Removes texts of deleted contents, or all texts if content search is off. */
  async function forgetTexts(): Promise<void> {
    for (let runs = 0; runs < TEXT_RUNS && !stopped; runs++)
      if (await contents.forgetUnused()) break
    while (!stopped && (await contents.settle()));
    if (!stopped) await contents.retryFailed()
    const pace = createPace()
    while (
      !stopped &&
      (await contents.merge({ isStopped: () => stopped || isPaused(), step: pace.batch }))
    );
  }

  function lookAtAll(): void {
    all = true
    wake()
  }

  async function clear(): Promise<void> {
    try {
      await forgetDrives()
      await forgetWords()
      await forgetTexts()
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
