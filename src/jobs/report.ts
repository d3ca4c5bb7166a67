import type { Db } from '../../db/index.ts'
import {
  forgetBackups,
  forgetInstance,
  forgetSilentInstances,
  forgetStorageDays,
  noteInstance,
  noteStorageDay,
} from '../../db/queries/health.ts'
import type { Log } from '../runtime/log.ts'
import { DAY_MS, HOUR_MS, KNOWN_DAYS, MINUTE_MS, SEEN_EVERY_MS } from '../services/finding.ts'
import type { BlobStore } from '../storage/store.ts'
import type { History } from '../telemetry/recorder.ts'

interface Options {
  db: Db
  history: History
  /** The name of the instance. */
  name: string
  store: Pick<BlobStore, 'newest'>
  log: Log
}

/**
 * Records the state of an instance for other instances and for `admin status`, and daily storage
 * figures. Writes seldom, so that the disk of an idle machine can rest.
 */
export function createReport({ db, history, name, store, log }: Options) {
  const startedAt = Date.now()
  let timer: NodeJS.Timeout | undefined
  let told = { alarms: '', at: 0 }
  let dayNotedAt = 0
  let running: Promise<void> | undefined

  async function report(now: number): Promise<void> {
    const { alarms, now: levels } = await history.read('hour')
    const text = JSON.stringify(alarms)
    const kinds = alarms.map(alarm => alarm.name).join()
    if (kinds !== told.alarms || now - told.at >= SEEN_EVERY_MS) {
      await noteInstance(db, { name, startedAt, seenAt: now, alarms: text, store: store.newest() })
      told = { alarms: kinds, at: now }
    }
    const { usedBytes, keptBytes } = levels
    if (usedBytes === undefined || keptBytes === undefined || now - dayNotedAt < HOUR_MS) return
    const day = Math.floor(now / DAY_MS)
    await noteStorageDay(db, { day, usedBytes, keptBytes, at: now })
    await forgetStorageDays(db, day - KNOWN_DAYS)
    await forgetSilentInstances(db, now - DAY_MS)
    await forgetBackups(db, now - 400 * DAY_MS)
    dayNotedAt = now
  }

  /** Reports now. Only one report runs at a time. */
  async function run(now = Date.now()): Promise<void> {
    running ??= report(now)
      // The database may be down. The metrics show that.
      .catch(error => log.debug({ err: error }, 'the state of this instance could not be written'))
      .finally(() => {
        running = undefined
      })
    await running
  }

  return {
    run,
    start(): void {
      timer = setInterval(run, MINUTE_MS / 2)
      timer.unref()
      void run()
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      await running
      if (told.at > 0) await forgetInstance(db, name)
    },
  }
}
