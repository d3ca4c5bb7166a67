import type { Db } from '../../db/index.ts'
import {
  deleteSearchDrive,
  deleteWord,
  deleteWords,
  goneSearchDrives,
  wordsInOrder,
} from '../../db/queries/search-drive.ts'
import type { Log } from '../runtime/log.ts'
import type { PubSub } from '../services/notices/pub-sub.ts'
import type { SearchIndexService } from '../services/search/search-index.ts'
import { silent, type Telemetry } from '../telemetry/telemetry.ts'
import { createPace } from './pace.ts'

/** A search brings the drives that it goes through up to date itself: nobody waits for this. */
const CALM_MS = 500
/** Milliseconds of one turn, after which requests have theirs. */
const TURN_MS = 50
/** Rows of the index that one run looks at, for what is gone. */
const WORDS_AT_ONCE = 500
const WORDS_OF_RUN = 10_000

/** Keeps the index of the search up to date, and free of what is gone. Any number of instances may run it. */
export function createSearchIndexer({
  db,
  log,
  pubSub,
  searchIndex,
  pollMs,
  calmMs = CALM_MS,
  telemetry = silent,
}: {
  db: Db
  log: Log
  pubSub: PubSub
  searchIndex: SearchIndexService
  pollMs: number
  /** Milliseconds from a change until it is indexed. */
  calmMs?: number | undefined
  telemetry?: Telemetry
}) {
  let timer: NodeJS.Timeout | undefined
  let calm: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let again = false
  let stopped = false
  let stopListening = () => {}
  let wordPlace = { drive: 0, word: '', entryId: '' }

  async function work(): Promise<void> {
    const pace = createPace()
    while (again && !stopped) {
      again = false
      while (!stopped && (await pace.batch(() => searchIndex.advance(TURN_MS))));
    }
  }

  function wake(): void {
    again = true
    if (stopped || running) return
    running = telemetry
      .detached(work)
      .catch(error => log.warn({ err: error }, 'could not update the index of the search; it will be tried again'))
      .finally(() => {
        running = undefined
      })
  }

  /** Several changes are indexed together. */
  function soon(): void {
    calm ??= setTimeout(() => {
      calm = undefined
      wake()
    }, calmMs).unref()
  }

  async function forgetDrives(): Promise<void> {
    for (const { bucketId, number } of await goneSearchDrives(db, 10)) {
      while ((await deleteWords(db, number, WORDS_AT_ONCE)) > 0);
      await deleteSearchDrive(db, bucketId)
    }
  }

  /** Words of entries that are gone. Those of former names stay, which no search takes for one of now. */
  async function forgetWords(): Promise<void> {
    for (let looked = 0; looked < WORDS_OF_RUN && !stopped; looked += WORDS_AT_ONCE) {
      const rows = await wordsInOrder(db, wordPlace, WORDS_AT_ONCE)
      const gone = rows.filter(({ name }) => name === null)
      if (gone.length > 0)
        await db.transaction(async tx => {
          for (const row of gone) await deleteWord(db, row, tx)
        })
      wordPlace = rows.length < WORDS_AT_ONCE ? { drive: 0, word: '', entryId: '' } : (rows.at(-1) ?? wordPlace)
      if (rows.length < WORDS_AT_ONCE) return
    }
  }

  async function poll(): Promise<void> {
    wake()
    try {
      await forgetDrives()
      await forgetWords()
    } catch (error) {
      log.warn({ err: error }, 'could not clear the index of the search; it will be tried again')
    }
  }

  return {
    poll,
    /** Resolves when everything is indexed; for tests. */
    async idle(): Promise<void> {
      wake()
      while (running) await running
    },
    start(): void {
      stopListening = pubSub.hear(topic => {
        if (topic === 'logged') soon()
      })
      timer = setInterval(() => void poll(), pollMs)
      timer.unref()
      soon()
    },
    async stop(): Promise<void> {
      stopped = true
      stopListening()
      clearInterval(timer)
      clearTimeout(calm)
      await running
    },
  }
}
