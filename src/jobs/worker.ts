import type { Db } from '../../db/index.ts'
import type { Log } from '../log.ts'
import type { JobKind, Jobs } from '../services/outbox.ts'

interface JobRow {
  id: string
  kind: JobKind
  payload: string
  attempts: number
}

/** How each kind of job is done. A handler may run twice for one job (a worker died in between), so it must bear that. */
export type Handlers = { [K in JobKind]: (payload: Jobs[K], job: { id: string }) => Promise<void> }

const LEASE_MS = 5 * 60_000
const BATCH = 10

/** When a job that failed so often may be tried again: 5 s, 10 s, 20 s, up to an hour. */
export const backoff = (attempts: number): number => Math.min(5000 * 2 ** Math.max(attempts - 1, 0), 3600_000)

/**
 * Carries out the outbox. Any number of instances may run it: a job is taken by moving its due time ahead, which one of them manages;
 * a worker that dies gives it back by letting that time pass.
 */
export function createWorker({ db, log, handlers, pollMs }: { db: Db; log: Log; handlers: Handlers; pollMs: number }) {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let again = false

  async function take(): Promise<JobRow[]> {
    const now = Date.now()
    const due = await db.rows<JobRow & { dueAt: number }>(
      `SELECT id, kind, payload, attempts, due_at AS dueAt FROM outbox WHERE due_at <= ? ORDER BY due_at LIMIT ${BATCH}`,
      [now],
    )
    const mine: JobRow[] = []
    for (const { dueAt, ...job } of due) {
      const changed = await db.run(
        'UPDATE outbox SET due_at = ?, attempts = attempts + 1 WHERE id = ? AND due_at = ?',
        [now + LEASE_MS, job.id, dueAt],
      )
      if (changed === 1) mine.push({ ...job, attempts: job.attempts + 1 })
    }
    return mine
  }

  async function carryOut(job: JobRow): Promise<void> {
    const handle = handlers[job.kind] as ((payload: unknown, job: { id: string }) => Promise<void>) | undefined
    try {
      if (!handle) throw new Error(`There is no handler for ${job.kind}.`)
      await handle(JSON.parse(job.payload), job)
      await db.run('DELETE FROM outbox WHERE id = ?', [job.id])
    } catch (error) {
      log.warn(
        { err: error, job: job.id, kind: job.kind, attempts: job.attempts },
        'a job failed; it will be tried again',
      )
      await db.run('UPDATE outbox SET due_at = ?, last_error = ? WHERE id = ?', [
        Date.now() + backoff(job.attempts),
        String(error instanceof Error ? error.message : error).slice(0, 500),
        job.id,
      ])
    }
  }

  async function drain(): Promise<void> {
    for (;;) {
      again = false
      const jobs = await take()
      for (const job of jobs) {
        if (stopped) return
        await carryOut(job)
      }
      if (jobs.length === 0 && !again) return
    }
  }

  /** Looks for work now; one look at a time. */
  function wake(): void {
    again = true
    if (stopped || running) return
    running = drain()
      .catch(error => log.warn({ err: error }, 'the worker could not look for jobs'))
      .finally(() => {
        running = undefined
      })
  }

  return {
    wake,
    start(): void {
      timer = setInterval(wake, pollMs)
      timer.unref()
      wake()
    },
    /** Resolves when nothing is left to do now; for tests and for a tidy stop. */
    async idle(): Promise<void> {
      wake()
      while (running) await running
    },
    async stop(): Promise<void> {
      stopped = true
      clearInterval(timer)
      await running
    },
  }
}

export type Worker = ReturnType<typeof createWorker>
