import type { Db } from '../../db/index.ts'
import type { Log } from '../log.ts'
import { releaseStaged } from '../services/blob.ts'
import { marks } from '../services/entry-path.ts'
import { GIVEN_UP, promise } from '../services/outbox.ts'
import type { BlobStore } from '../storage/azure.ts'

const BATCH = 200
const RETRY_MS = 60_000
/** Links that have ended are still told apart from those that never were, and jobs that were given up are told of, for so long. */
const KEEP_ENDED_MS = 30 * 86_400_000

/**
 * Removes what has ended: reservations whose uploader died, objects that no entry names, sessions and shares of long ago.
 * Any number of instances may run it.
 */
export function createSweeper({ db, store, log, everyMs }: { db: Db; store: BlobStore; log: Log; everyMs: number }) {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined

  /** An upload whose lease is over has nobody behind it: its reservation goes back, its object is doomed. */
  async function endDeadUploads(): Promise<void> {
    const dead = await db.rows<{ id: string; bucketId: string }>(
      `SELECT id, bucket_id AS bucketId FROM blobs WHERE state = 'staged' AND lease_until < ? ORDER BY lease_until LIMIT ${BATCH}`,
      [Date.now()],
    )
    for (const { id, bucketId } of dead) await db.transaction(tx => releaseStaged(db, bucketId, id, tx))
    if (dead.length > 0) log.info({ uploads: dead.length }, 'gave back the reservations of uploads that died')
  }

  /** First the object, then its row: a crash in between leaves a row that is swept again, never an object that nobody knows. */
  async function removeDoomed(): Promise<void> {
    for (;;) {
      const now = Date.now()
      const doomed = await db.rows<{ id: string }>(
        `SELECT id FROM blobs WHERE state = 'doomed' AND lease_until <= ? ORDER BY lease_until LIMIT ${BATCH}`,
        [now],
      )
      if (doomed.length === 0) return
      const ids = doomed.map(b => b.id)
      // Other instances leave these alone for a while; this one comes back to them if the store fails now.
      await db.run(`UPDATE blobs SET lease_until = ? WHERE state = 'doomed' AND id IN (${marks(ids)})`, [
        now + RETRY_MS,
        ...ids,
      ])
      await store.remove(ids)
      await db.run(`DELETE FROM blobs WHERE state = 'doomed' AND id IN (${marks(ids)})`, ids)
    }
  }

  async function forgetEnded(): Promise<void> {
    const now = Date.now()
    await db.run('DELETE FROM session WHERE expires_at < ?', [now])
    await db.run('DELETE FROM share WHERE expires_at < ?', [now - KEEP_ENDED_MS])
    await db.run('DELETE FROM outbox WHERE due_at = ? AND created_at < ?', [GIVEN_UP, now - KEEP_ENDED_MS])
  }

  /** Data of deleted accounts that nobody has come back for. */
  async function endKept(): Promise<void> {
    const over = await db.rows<{ bucketId: string; rootId: string }>(
      `SELECT id AS bucketId, root_id AS rootId FROM bucket WHERE kept_until < ? LIMIT ${BATCH}`,
      [Date.now()],
    )
    for (const bucket of over)
      await db.transaction(async tx => {
        const ended = await db.run(
          'UPDATE bucket SET kept_for = NULL, kept_until = NULL WHERE id = ? AND kept_until < ?',
          [bucket.bucketId, Date.now()],
          tx,
        )
        if (ended === 1) await promise(db, 'purge-bucket', bucket, tx)
      })
  }

  async function sweep(): Promise<void> {
    for (const work of [endDeadUploads, removeDoomed, forgetEnded, endKept]) {
      try {
        await work()
      } catch (error) {
        log.warn({ err: error }, 'the sweeper could not finish; it will try again')
      }
    }
  }

  /** Sweeps now; one sweep at a time. */
  async function run(): Promise<void> {
    running ??= sweep().finally(() => {
      running = undefined
    })
    await running
  }

  return {
    run,
    start(): void {
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

export type Sweeper = ReturnType<typeof createSweeper>
