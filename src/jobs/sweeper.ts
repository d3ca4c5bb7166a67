import type { Db } from '../../db/index.ts'
import {
  deleteMarked,
  endCopies,
  leaseMarked,
  liveAmong,
  markedBlobs,
  overdueUploads,
} from '../../db/queries/blob.ts'
import { endKeep, expiredKeeps } from '../../db/queries/bucket.ts'
import { textKeysOf } from '../../db/queries/content-text.ts'
import { GRACE_MS } from '../../db/queries/ended-share.ts'
import { oldEvents, purgeEvents } from '../../db/queries/event.ts'
import { deleteEnded } from '../../db/queries/expiry.ts'
import { digestsOf, endUnusedPreview } from '../../db/queries/preview.ts'
import type { Log } from '../runtime/log.ts'
import { createPace } from '../runtime/pace.ts'
import { enqueue } from '../services/job.ts'
import type { ContentsService } from '../services/search/search-text.ts'
import type { KeptService } from '../services/tree/kept.ts'
import { purgeBucketJob } from '../services/tree/purge.ts'
import { endOverdue } from '../services/uploads/upload-end.ts'
import { type BlobStore, BlobsKept } from '../storage/store.ts'
import { silent, type Telemetry } from '../telemetry/telemetry.ts'
import { DAY_MS, HOUR_MS } from '../values/duration.ts'

const BATCH = 200
const RETRY_MS = 60_000
/**
 * The interval for enforcing retention limits, because checking reads every drive with retained
 * data.
 */
const TRIM_MS = 10 * 60_000
/**
 * How long an expired link is distinguished from one that never existed, and how long the doctor
 * reports failed jobs.
 */
const KEEP_ENDED_MS = 30 * DAY_MS

/**
 * Deletes expired data: reservations of abandoned uploads, unreferenced objects, old sessions,
 * shares and file requests. Any number of instances may run it.
 */
export function createSweeper({
  db,
  store,
  log,
  everyMs,
  kept,
  contents,
  eventDays,
  isPaused = () => false,
  telemetry = silent,
}: {
  db: Db
  store: BlobStore
  log: Log
  everyMs: number
  kept: KeptService
  contents: Pick<ContentsService, 'forget'>
  eventDays: number
  /** Whether changes are paused. Expired data then waits for the end of the maintenance. */
  isPaused?: () => boolean
  telemetry?: Telemetry
}) {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined

  /**
   * Ends abandoned uploads, whose lease has expired: releases the reservation and marks the object
   * for deletion.
   */
  async function endDeadUploads(): Promise<void> {
    const now = Date.now()
    const dead = await overdueUploads(db, now, BATCH)
    // `endOverdue` checks the lease again, because the client may have renewed it meanwhile.
    for (const { id, bucketId } of dead)
      await db.transaction(tx => endOverdue(db, bucketId, id, tx, now))
    await endCopies(db, { before: now })
    if (dead.length > 0)
      log.info({ uploads: dead.length }, 'released the reservations of abandoned uploads')
  }

  /**
   * Removes each object before its row. After a crash in between, the row is swept again, and no
   * object is left without a row.
   */
  async function removeMarked(): Promise<void> {
    const pace = createPace()
    const removeSome = async (limit: number): Promise<number> => {
      const now = Date.now()
      const ids = await markedBlobs(db, now, limit)
      if (ids.length === 0) return 0
      // The lease keeps other instances away for a while. If the store fails now, the objects are
      // swept again when the lease expires.
      await leaseMarked(db, ids, now + RETRY_MS)
      // Read before the rows that lead to the digests are deleted.
      const digests = await digestsOf(db, ids)
      for (const digest of digests) await db.transaction(tx => endUnusedPreview(db, digest, tx))
      await contents.forget(await textKeysOf(db, ids))
      const gone = await removeObjects(ids)
      // Rows that have changed since are swept again.
      if (gone.length > 0) await deleteMarked(db, gone, now + RETRY_MS)
      return ids.length
    }
    while ((await pace.batch(removeSome)) > 0);
  }

  /**
   * @returns the removed ids; objects that the store cannot remove yet must not delay the rows of
   * the others
   */
  async function removeObjects(ids: string[]): Promise<string[]> {
    try {
      await store.remove(ids)
      return ids
    } catch (error) {
      if (!(error instanceof BlobsKept)) throw error
      log.warn(
        { err: error },
        'the store could not delete objects that are marked for deletion; the sweeper will try again',
      )
      return ids.filter(id => !error.keys.includes(id))
    }
  }

  async function forgetEnded(): Promise<void> {
    const now = Date.now()
    await deleteEnded(db, 'session', now, BATCH)
    await deleteEnded(db, 'share_use', now, BATCH)
    // For a while, a polling program still learns that its code has expired.
    await deleteEnded(db, 'login_request', now - HOUR_MS, BATCH)
    await deleteEnded(db, 'oauth_token', now, BATCH)
    await deleteEnded(db, 'oauth_client', now, BATCH)
    await deleteEnded(db, 'login_link', now - DAY_MS, BATCH)
    await deleteEnded(db, 'sign_in_state', now, BATCH)
    await deleteEnded(db, 'upload_session', now, BATCH)
    await deleteEnded(db, 'deletion_hold', now, BATCH)
    await deleteEnded(db, 'share', now - KEEP_ENDED_MS, BATCH)
    await deleteEnded(db, 'ended_share', now - GRACE_MS, BATCH)
    await deleteEnded(db, 'ended_share_entry', now - GRACE_MS, BATCH)
    await deleteEnded(db, 'file_request', now - KEEP_ENDED_MS, BATCH)
    await deleteEnded(db, 'mail_notice', now - DAY_MS, BATCH)
    await deleteEnded(db, 'entry_copy', now - DAY_MS, BATCH)
    await deleteEnded(db, 'outbox', now - KEEP_ENDED_MS, BATCH)
  }

  async function forgetEvents(): Promise<void> {
    const before = Date.now() - eventDays * DAY_MS
    await deleteEnded(db, 'share_event', before, BATCH)
    await deleteEnded(db, 'file_request_upload', before, BATCH)
    for (;;) {
      const logs = await oldEvents(db, before, BATCH)
      if (logs.length === 0) return
      for (const { logId, seq } of logs) await purgeEvents(db, logId, seq)
    }
  }

  /** Purges the data of deleted accounts after their grace period. */
  async function endKept(): Promise<void> {
    const over = await expiredKeeps(db, Date.now(), BATCH)
    for (const bucket of over)
      await db.transaction(async tx => {
        if (await endKeep(db, bucket.bucketId, Date.now(), tx))
          await enqueue(db, purgeBucketJob, bucket, tx)
      })
  }

  let trimmedAt = 0

  async function endKeptContent(): Promise<void> {
    await kept.purgeExpired()
    if (Date.now() - trimmedAt < TRIM_MS) return
    await kept.trimOverfull()
    trimmedAt = Date.now()
  }

  /** An instance may die after assembling a file from parts, and before removing the parts. */
  const tidyStore = () => store.tidy(keys => liveAmong(db, keys.slice(0, BATCH)))

  /**
   * The start counts as a success, so the delay of a failing sweeper is measured from the start.
   */
  let lastSuccess: number | undefined
  telemetry.read(() => (lastSuccess === undefined ? {} : { lastSweep: lastSuccess / 1000 }))

  /** @throws the first error, after sweeping everything else */
  async function sweep(): Promise<void> {
    const errors: unknown[] = []
    if (isPaused()) {
      lastSuccess = Date.now()
      return
    }
    for (const work of [
      endDeadUploads,
      endKeptContent,
      removeMarked,
      forgetEnded,
      forgetEvents,
      endKept,
      tidyStore,
    ]) {
      try {
        await work()
      } catch (error) {
        log.warn({ err: error }, 'the sweeper could not finish; it will try again')
        errors.push(error)
      }
    }
    if (errors.length > 0) throw errors[0]
    lastSuccess = Date.now()
  }

  /** Sweeps now. Only one sweep runs at a time. */
  async function run(): Promise<void> {
    running ??= telemetry
      .observe(
        {
          span: { name: 'sweep', isRoot: true },
          note: outcome => telemetry.timer('sweep', { outcome }),
        },
        sweep,
      )
      // The error has been logged, and the next run tries again.
      .catch(() => {})
      .finally(() => {
        running = undefined
      })
    await running
  }

  return {
    run,
    start(): void {
      lastSuccess = Date.now()
      timer = setInterval(run, everyMs)
      timer.unref()
      void run()
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      await running
    },
  }
}
