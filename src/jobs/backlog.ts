import type { Db } from '../../db/index.ts'
import { jobBacklog, storageSums, webhookBacklog } from '../../db/queries/backlog.ts'
import { within } from '../runtime/within.ts'
import type { Measures, Reading, Readings } from '../telemetry/telemetry.ts'

/**
 * How long sums are cached: they read the rows of all drives, and scrapes come every few seconds.
 */
const FRESH_MS = 5000
const STORAGE_FRESH_MS = 300_000

/** A database that has not responded by then counts as down. */
const PATIENCE_MS = 1500

async function soon(reading: Promise<Readings>): Promise<Readings> {
  let read: Readings = { databaseUp: 0 }
  const noted = reading.then(
    found => {
      read = found
    },
    () => {},
  )
  await within(noted, PATIENCE_MS)
  return read
}

/**
 * Reads the backlog of the database, and the stored amounts. They are the same for all workers, so
 * the leader reads them.
 * @param kinds the kinds of jobs that are reported even if there are none, because a series that
 * starts above 0 shows no increase
 */
export function createBacklog(db: Db, measures: Measures, kinds: readonly string[]) {
  let reads = false
  let stored: { at: number; sums: Readings } | undefined

  async function waiting(): Promise<Readings> {
    const now = Date.now()
    const [found, webhooks] = await Promise.all([jobBacklog(db, now), webhookBacklog(db, now)])
    const none = kinds.map(kind => ({ kind, due: 0, oldestMs: 0, retrying: 0, givenUp: 0 }))
    const jobs = [...none.filter(({ kind }) => !found.some(job => job.kind === kind)), ...found]
    const byKind = (of: 'due' | 'retrying' | 'givenUp' | 'oldestMs'): Reading =>
      jobs.map(job => [{ kind: job.kind }, of === 'oldestMs' ? job.oldestMs / 1000 : job[of]])
    return {
      databaseUp: 1,
      jobsDue: byKind('due'),
      jobsOldest: byKind('oldestMs'),
      jobsRetrying: byKind('retrying'),
      jobsGivenUp: byKind('givenUp'),
      webhooksDue: webhooks.due,
      webhooksOldest: webhooks.oldestMs / 1000,
      webhooksFailing: webhooks.failing,
    }
  }

  /** Cached here so that a new leader can report it immediately. */
  async function storage(): Promise<Readings> {
    if (stored && Date.now() - stored.at < STORAGE_FRESH_MS) return stored.sums
    const sums = await storageSums(db)
    stored = { at: Date.now(), sums }
    return sums
  }

  measures.read(async () => (reads ? soon(waiting()) : {}), FRESH_MS)
  measures.read(async () => (reads ? storage() : {}), FRESH_MS)

  return {
    start(): void {
      reads = true
    },
    async stop(): Promise<void> {
      reads = false
    },
  }
}
