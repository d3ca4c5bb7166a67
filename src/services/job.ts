import { v7 as newId } from 'uuid'
import type { Db, Tx } from '../../db/index.ts'

/**
 * The kinds of jobs. Their names are stored in the outbox: a renamed kind loses its waiting jobs.
 * The registry (`src/jobs/registry.ts`) has the job of each.
 */
export type JobKind =
  | 'purge-folder'
  | 'purge-bucket'
  | 'copy-entries'
  | 'preview'
  | 'contents'
  | 'mail'
  | 'file-request-mail'
  | 'share-mail'
  | 'webhook'

/**
 * Everything about a kind of background jobs, declared beside its noun. A job is enqueued in the
 * transaction of the change that causes it, and run later by the worker.
 * @template Payload stored as JSON
 * @template Needs the services that `run` uses
 */
export interface Job<Kind extends JobKind = JobKind, Payload = never, Needs = never> {
  readonly kind: Kind
  /** Whether the job changes files or their derived content. Such jobs wait during maintenance. */
  readonly changesFiles: boolean
  /** The number of concurrent jobs of this kind in an instance. */
  readonly atATime: number | ((needs: Needs) => number)
  /** The age in milliseconds after which a failing job is given up. */
  readonly patienceMs: number
  /** The minimum number of tries, however long the job has waited. */
  readonly leastTries: number
  /**
   * Must be idempotent: it may run twice for one job when a worker dies. A job that throws is
   * retried.
   * @throws Hopeless if retries cannot succeed
   * @throws Paused if a maintenance stopped the job
   */
  readonly run: (needs: Needs, payload: Payload, run: JobRun) => Promise<void>
}

/** One run of a job. */
export interface JobRun {
  id: string
  /** The number of this try, from 1. */
  attempts: number
  /**
   * Must be called before each write of a job that changes files.
   * @throws Paused during maintenance
   */
  requireRunning(): void
  /** Wakes the worker for the jobs that this job has enqueued. */
  wake(): void
}

/** The usual number of concurrent jobs of a kind. */
export const USUAL_AT_A_TIME = 5
/** The patience with a job that must succeed some day. */
export const FOREVER = Number.POSITIVE_INFINITY

/** Thrown by a job when retries cannot succeed. */
export class Hopeless extends Error {}

/** Thrown by a job that stops because of maintenance. The job resumes afterwards. */
export class Paused extends Error {}

/**
 * Enqueues jobs in the transaction of the change that causes them. They run if and only if that
 * change commits.
 */
export async function enqueueAll<Kind extends JobKind, Payload>(
  db: Db,
  { kind }: Job<Kind, Payload>,
  payloads: readonly NoInfer<Payload>[],
  tx: Tx,
): Promise<void> {
  const now = Date.now()
  const row = { kind, attempts: 0, dueAt: now, lastError: '', createdAt: now }
  await db.Job.bulkCreate(
    payloads.map(payload => ({ ...row, id: newId(), payload: JSON.stringify(payload) })),
    { transaction: tx },
  )
}

/** Enqueues a job that is not due before a time. */
export async function enqueueAt<Kind extends JobKind, Payload>(
  db: Db,
  { kind }: Job<Kind, Payload>,
  { payload, dueAt }: { payload: NoInfer<Payload>; dueAt: number },
  tx: Tx,
): Promise<void> {
  const row = { id: newId(), kind, attempts: 0, dueAt, lastError: '', createdAt: Date.now() }
  await db.Job.create({ ...row, payload: JSON.stringify(payload) }, { transaction: tx })
}

export const enqueue = <Kind extends JobKind, Payload>(
  db: Db,
  job: Job<Kind, Payload>,
  payload: NoInfer<Payload>,
  tx: Tx,
): Promise<void> => enqueueAll(db, job, [payload], tx)
