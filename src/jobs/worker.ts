import type { Db } from '../../db/index.ts'
import { dueJobs, GIVEN_UP, type JobRow, moveJob } from '../../db/queries/job.ts'
import type { Log } from '../runtime/log.ts'
import { Hopeless, type Job, type JobKind, Paused } from '../services/job.ts'
import { silent, type Telemetry } from '../telemetry/telemetry.ts'

/** The maximum length of a job's stored last error. */
const MAX_ERROR = 500

const FIRST_RETRY_MS = 5000
const LAST_RETRY_MS = 3600_000

/** The retry delay in milliseconds, by the number of failures: 5 s, 10 s, 20 s, up to an hour. */
export const backoff = (attempts: number): number =>
  Math.min(FIRST_RETRY_MS * 2 ** Math.max(attempts - 1, 0), LAST_RETRY_MS)

export interface WorkerOptions<Needs> {
  db: Db
  log: Log
  /** The kinds of jobs that it runs. */
  jobs: readonly Job<JobKind, never, Needs>[]
  /** What these jobs need to run. */
  needs: Needs
  pollMs: number
  /** Milliseconds after which other workers may claim a job whose lease was not renewed. */
  leaseMs: number
  /** Milliseconds until the next try, by the number of tries. Tests shorten it. */
  retryMs?: (attempts: number) => number
  telemetry?: Telemetry
  /** Whether jobs that change data must wait. */
  isPaused?: () => boolean
}

/**
 * Runs the jobs of the outbox. Any number of instances may run it. A worker claims a job, or renews
 * its claim, by atomically moving the due time ahead. Jobs of a dead worker become due again.
 */
export function createWorker<Needs>({ pollMs, jobs, ...options }: WorkerOptions<Needs>) {
  // One queue per kind, so that a slow mail server does not delay purges, nor a large purge the
  // mails.
  const queues = jobs.map(job => createQueue(job, { ...options, wake }))
  let timer: NodeJS.Timeout | undefined

  /** Polls the outbox now. */
  function wake(): void {
    for (const queue of queues) queue.wake()
  }

  return {
    /** The kinds of jobs that this worker runs. */
    kinds: jobs.map(({ kind }) => kind),
    wake,
    start(): void {
      timer = setInterval(wake, pollMs)
      timer.unref()
      wake()
    },
    /** Resolves when no job is due. Used by tests and for a clean stop. */
    async idle(): Promise<void> {
      await Promise.all(queues.map(queue => queue.idle()))
    },
    /** Stops polling, and waits for the running jobs. */
    async stop(): Promise<void> {
      clearInterval(timer)
      await Promise.all(queues.map(queue => queue.stop()))
    },
  }
}

export type Worker = ReturnType<typeof createWorker>

/** The queue of one kind of job, with a limited number of concurrent jobs. */
function createQueue<Needs>(
  { kind, changesFiles, atATime, patienceMs, leastTries, run }: Job<JobKind, never, Needs>,
  {
    db,
    log,
    needs,
    leaseMs,
    retryMs = backoff,
    telemetry = silent,
    isPaused = () => false,
    wake: wakeAll,
  }: Omit<WorkerOptions<Needs>, 'pollMs' | 'jobs'> & { wake: () => void },
) {
  const most = typeof atATime === 'number' ? atATime : atATime(needs)
  let stopped = false
  let running: Promise<void> | undefined
  let again = false
  /** Wakes the drain, which waits for its jobs or for new ones. */
  let rouse = () => {}

  function requireRunning(): void {
    if (isPaused()) throw new Paused('A maintenance has begun.')
  }

  /** Claims due jobs. `due` includes jobs that other workers claimed at the same time. */
  async function claim(room: number): Promise<{ due: number; mine: JobRow[] }> {
    if (isPaused() && changesFiles) return { due: 0, mine: [] }
    const now = Date.now()
    const due = await dueJobs(db, kind, now, room)
    const mine: JobRow[] = []
    for (const job of due) {
      const dueAt = now + leaseMs
      if (await moveJob(db, job, dueAt, 1)) mine.push({ ...job, attempts: job.attempts + 1, dueAt })
    }
    return { due: due.length, mine }
  }

  /**
   * Renews the lease of a job until the returned function is called, which resolves to the latest
   * due time.
   */
  function hold(job: JobRow): () => Promise<number> {
    let { dueAt } = job
    let beat = Promise.resolve()
    const renew = async () => {
      const next = Date.now() + leaseMs
      if (await moveJob(db, { id: job.id, dueAt }, next, 0)) dueAt = next
    }
    const heartbeat = setInterval(() => {
      beat = beat
        .then(renew)
        .catch(error =>
          log.warn({ err: error, job: job.id, kind }, 'could not renew the lease of a job'),
        )
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
    const isOver = (error: unknown) =>
      error instanceof Hopeless || (attempts >= leastTries && Date.now() - createdAt > patienceMs)
    const outcome = (error: unknown) =>
      error === undefined ? 'done' : isOver(error) ? 'given_up' : 'retried'
    const note = (ended: string) => telemetry.timer('job', { kind, outcome: ended })
    const work = { span: { name: `job ${kind}`, isRoot: true }, note, outcome }
    try {
      const turn = { id, attempts, requireRunning, wake: wakeAll }
      // The payload was enqueued for this kind of job.
      await telemetry.observe(work, () => run(needs, JSON.parse(payload) as never, turn))
      await release()
      await db.Job.destroy({ where: { id } })
    } catch (error) {
      if (error instanceof Paused) {
        const resumed = { dueAt: Date.now(), attempts: attempts - 1 }
        await db.Job.update(resumed, { where: { id, dueAt: await release() } })
        return
      }
      const over = isOver(error)
      const facts = { err: error, job: id, kind, attempts }
      if (over)
        log.error(facts, 'a job failed for the last time and was given up; the doctor reports it')
      else log.warn(facts, 'a job failed; it will be tried again')
      const lastError = String(error instanceof Error ? error.message : error).slice(0, MAX_ERROR)
      const dueAt = over ? GIVEN_UP : Date.now() + retryMs(attempts)
      // If another worker has claimed the job meanwhile, that worker records the outcome.
      await db.Job.update({ dueAt, lastError }, { where: { id, dueAt: await release() } })
    }
  }

  /**
   * Runs due jobs until none is left. New jobs start beside running ones, so that a slow job does
   * not delay others.
   */
  async function drain(): Promise<void> {
    const inFlight = new Set<Promise<void>>()
    const start = (job: JobRow) => {
      const work: Promise<void> = carryOut(job)
        .catch(error =>
          log.warn({ err: error, job: job.id, kind }, 'could not record the outcome of a job'),
        )
        .finally(() => {
          inFlight.delete(work)
          rouse()
        })
      inFlight.add(work)
    }
    // Whether more jobs may be due than were last claimed.
    let more = true
    try {
      while (!stopped) {
        const room = most - inFlight.size
        // While many jobs wait, one statement claims enough for half of the slots.
        if (room > 0 && (again || (more && room * 2 >= most))) {
          again = false
          const { due, mine } = await claim(room)
          more = due === room || due > mine.length
          mine.forEach(start)
        } else if (inFlight.size > 0) {
          await new Promise<void>(resolve => {
            rouse = resolve
          })
          // Jobs may have become due while the last one ran.
          more ||= inFlight.size === 0
        } else return
      }
    } finally {
      await Promise.all(inFlight)
    }
  }

  /** Starts one drain at a time. */
  function wake(): void {
    again = true
    rouse()
    if (stopped || running) return
    running = telemetry
      .detached(drain)
      .catch(error => log.warn({ err: error, kind }, 'the worker could not read its jobs'))
      .finally(() => {
        running = undefined
        // `wake` was called while the drain was ending.
        if (again) wake()
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
      rouse()
      await running
    },
  }
}
