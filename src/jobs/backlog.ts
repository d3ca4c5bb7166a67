import type { Db } from '../../db/index.ts'
import { jobBacklog, storageSums, webhookBacklog } from '../../db/queries/backlog.ts'
import { within } from '../runtime/within.ts'
import type { Measures, Reading, Readings } from '../telemetry/telemetry.ts'

/** The sums read the rows of all drives; scrapes come every few seconds. */
const FRESH_MS = 5000
const STORAGE_FRESH_MS = 300_000

/** A database that has not answered by then is down. */
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
 * Reads what waits in the database, and what is stored. It is the same for all workers: the one
 * that leads reads it.
 * @param kinds of jobs that are told also while there are none: a series that begins with a number
 * above 0 shows no increase
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

  /**
   * Kept here, so that a worker that begins to lead tells it at once, and not when what it did not
   * know is no longer fresh.
   */
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
