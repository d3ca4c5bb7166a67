import type { Db } from '../../db/index.ts'
import type { Log } from '../log.ts'
import { GIVEN_UP, type JobKind, type Jobs } from '../services/outbox.ts'

interface JobRow {
  id: string
  payload: string
  attempts: number
  createdAt: number
  dueAt: number
}

/** How each kind of job is done. A handler may run twice for one job (a worker died in between), so it must bear that. */
export type Handlers = { [K in JobKind]: (payload: Jobs[K], job: { id: string }) => Promise<void> }

/** Thrown by a handler when no further try can succeed. */
export class Hopeless extends Error {}

const DAY_MS = 86_400_000
const BATCH = 5

/** What is not worth a try any more after some time. A mail waits as long as mail servers let it wait: RFC 5321, 4.5.4.1. */
const patienceMs: Partial<Record<JobKind, number>> = { mail: 5 * DAY_MS }

/** When a job that failed so often may be tried again: 5 s, 10 s, 20 s, up to an hour. */
export const backoff = (attempts: number): number => Math.min(5000 * 2 ** Math.max(attempts - 1, 0), 3600_000)

export interface WorkerOptions {
  db: Db
  log: Log
  handlers: Handlers
  pollMs: number
  /** How long a job is left alone by others when the worker that took it says nothing any more. */
  leaseMs: number
  /** Milliseconds until the next try, after so many. Tests shorten it. */
  retryMs?: (attempts: number) => number
}

/**
 * Carries out the outbox. Any number of instances may run it: a job is taken by moving its due time ahead, which one of them manages,
 * and kept by moving it again and again; a worker that dies gives it back by letting that time pass.
 */
export function createWorker({ pollMs, ...options }: WorkerOptions) {
  // A line each: neither does a mail server that is slow hold up a purge, nor a large purge the mails.
  const lines = (Object.keys(options.handlers) as JobKind[]).map(kind => createLine(kind, options))
  let timer: NodeJS.Timeout | undefined

  /** Looks for work now. */
  function wake(): void {
    for (const line of lines) line.wake()
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
      await Promise.all(lines.map(line => line.idle()))
    },
    /** Waits for what was begun. */
    async stop(): Promise<void> {
      clearInterval(timer)
      await Promise.all(lines.map(line => line.stop()))
    },
  }
}

export type Worker = ReturnType<typeof createWorker>

/** Carries out the jobs of one kind, some at a time. */
function createLine<K extends JobKind>(
  kind: K,
  { db, log, handlers, leaseMs, retryMs = backoff }: Omit<WorkerOptions, 'pollMs'>,
) {
  let stopped = false
  let running: Promise<void> | undefined
  let again = false

  /** Moves the due time of a job; only one who knows it can. */
  async function move({ id, dueAt }: JobRow, to: number, attempts: 0 | 1): Promise<boolean> {
    const changed = await db.run('UPDATE outbox SET due_at = ?, attempts = attempts + ? WHERE id = ? AND due_at = ?', [
      to,
      attempts,
      id,
      dueAt,
    ])
    return changed === 1
  }

  /** Takes jobs that are due; answers whether there were any, also when others were faster. */
  async function take(): Promise<{ any: boolean; mine: JobRow[] }> {
    const now = Date.now()
    const due = await db.rows<JobRow>(
      `SELECT id, payload, attempts, created_at AS createdAt, due_at AS dueAt FROM outbox WHERE kind = ? AND due_at <= ? ORDER BY due_at LIMIT ${BATCH}`,
      [kind, now],
    )
    const mine: JobRow[] = []
    for (const job of due) {
      const dueAt = now + leaseMs
      if (await move(job, dueAt, 1)) mine.push({ ...job, attempts: job.attempts + 1, dueAt })
    }
    return { any: due.length > 0, mine }
  }

  /** Keeps a job from others, until what it returns is called; that answers the due time that the job has by then. */
  function hold(job: JobRow): () => Promise<number> {
    let { dueAt } = job
    let beat = Promise.resolve()
    const renew = async () => {
      const next = Date.now() + leaseMs
      if (await move({ ...job, dueAt }, next, 0)) dueAt = next
    }
    const heartbeat = setInterval(() => {
      beat = beat
        .then(renew)
        .catch(error => log.warn({ err: error, job: job.id, kind }, 'could not renew the lease of a job'))
    }, leaseMs / 4)
    heartbeat.unref()
    return async () => {
      clearInterval(heartbeat)
      await beat
      return dueAt
    }
  }

  async function carryOut(job: JobRow): Promise<void> {
    const { id, payload, attempts, createdAt } = job
    const release = hold(job)
    try {
      await handlers[kind](JSON.parse(payload), { id })
      await release()
      await db.run('DELETE FROM outbox WHERE id = ?', [id])
    } catch (error) {
      const over = error instanceof Hopeless || Date.now() - createdAt > (patienceMs[kind] ?? Number.POSITIVE_INFINITY)
      const facts = { err: error, job: id, kind, attempts }
      if (over) log.error(facts, 'a job failed and is given up; the doctor tells of it')
      else log.warn(facts, 'a job failed; it will be tried again')
      // Whoever has taken it for abandoned meanwhile decides about it.
      await db.run('UPDATE outbox SET due_at = ?, last_error = ? WHERE id = ? AND due_at = ?', [
        over ? GIVEN_UP : Date.now() + retryMs(attempts),
        String(error instanceof Error ? error.message : error).slice(0, 500),
        id,
        await release(),
      ])
    }
  }

  async function drain(): Promise<void> {
    for (let any = true; (any || again) && !stopped; ) {
      again = false
      const taken = await take()
      await Promise.all(taken.mine.map(carryOut))
      any = taken.any
    }
  }

  /** One look at a time. */
  function wake(): void {
    again = true
    if (stopped || running) return
    running = drain()
      .catch(error => log.warn({ err: error, kind }, 'the worker could not look for jobs'))
      .finally(() => {
        running = undefined
      })
  }

  return {
    wake,
    async idle(): Promise<void> {
      wake()
      while (running) await running
    },
    async stop(): Promise<void> {
      stopped = true
      await running
    },
  }
}
