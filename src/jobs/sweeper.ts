import type { Db } from '../../db/index.ts'
import type { Log } from '../log.ts'
import { placeholders } from '../services/entry-path.ts'
import { enqueue, GIVEN_UP } from '../services/outbox.ts'
import { endOverdue } from '../services/upload-session.ts'
import { type BlobStore, BlobsKept } from '../storage/store.ts'

const BATCH = 200
const RETRY_MS = 60_000
const DAY_MS = 86_400_000
/** For so long an expired link is answered differently from one that never existed, and the doctor reports jobs that were given up. */
const KEEP_ENDED_MS = 30 * 86_400_000

/**
 * Removes expired data: reservations of abandoned uploads, objects that no entry references, old sessions and shares.
 * Any number of instances may run it.
 */
export function createSweeper({ db, store, log, everyMs }: { db: Db; store: BlobStore; log: Log; everyMs: number }) {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined

  /** An upload whose lease has expired is abandoned: its reservation is released, its object is marked for deletion. */
  async function endDeadUploads(): Promise<void> {
    const now = Date.now()
    const dead = await db.rows<{ id: string; bucketId: string }>(
      `SELECT id, bucket_id AS bucketId FROM blobs WHERE state = 'staged' AND lease_until < ? ORDER BY lease_until LIMIT ${BATCH}`,
      [now],
    )
    // `endOverdue` checks the lease again: the client may have renewed it meanwhile.
    for (const { id, bucketId } of dead) await db.transaction(tx => endOverdue(db, bucketId, id, tx, now))
    await db.run("UPDATE blobs SET state = 'deleting' WHERE state = 'copied' AND lease_until < ?", [now])
    if (dead.length > 0) log.info({ uploads: dead.length }, 'released the reservations of abandoned uploads')
  }

  /** Removes the object before its row: a crash in between leaves a row that is swept again, never an object without a row. */
  async function removeMarked(): Promise<void> {
    for (;;) {
      const now = Date.now()
      const marked = await db.rows<{ id: string }>(
        `SELECT id FROM blobs WHERE state = 'deleting' AND lease_until <= ? ORDER BY lease_until LIMIT ${BATCH}`,
        [now],
      )
      if (marked.length === 0) return
      const ids = marked.map(b => b.id)
      // The lease keeps other instances away for a while; if the store fails now, the objects are swept again after it.
      await db.run(`UPDATE blobs SET lease_until = ? WHERE state = 'deleting' AND id IN (${placeholders(ids)})`, [
        now + RETRY_MS,
        ...ids,
      ])
      const gone = await removeObjects(ids)
      if (gone.length === 0) continue
      // Rows that have changed since are swept again.
      await db.run(`DELETE FROM blobs WHERE state = 'deleting' AND lease_until = ? AND id IN (${placeholders(gone)})`, [
        now + RETRY_MS,
        ...gone,
      ])
    }
  }

  /** @returns the removed ids: an object that the store keeps for now must not hold back the rows of the others */
  async function removeObjects(ids: string[]): Promise<string[]> {
    try {
      await store.remove(ids)
      return ids
    } catch (error) {
      if (!(error instanceof BlobsKept)) throw error
      log.warn({ err: error }, 'the store keeps objects that are marked for deletion; the sweeper will try again')
      return ids.filter(id => !error.keys.includes(id))
    }
  }

  /** Deletes in batches and by primary key: locks along an index of times could deadlock with a sign-out. */
  async function forget(table: string, key: string, ended: string, values: number[]): Promise<void> {
    for (;;) {
      const rows = await db.rows<{ id: string }>(
        `SELECT ${key} AS id FROM ${table} WHERE ${ended} LIMIT ${BATCH}`,
        values,
      )
      if (rows.length === 0) return
      const ids = rows.map(row => row.id)
      // The condition is checked again: a share may have been renewed meanwhile.
      const sql = `DELETE FROM ${table} WHERE ${key} IN (${placeholders(ids)}) AND ${ended}`
      await db.transaction(tx => db.run(sql, [...ids, ...values], tx))
    }
  }

  async function forgetEnded(): Promise<void> {
    const now = Date.now()
    await forget('session', 'hash', 'expires_at <= ?', [now])
    await forget('share_use', 'id', 'expires_at <= ?', [now])
    await forget('share', 'id', 'expires_at < ?', [now - KEEP_ENDED_MS])
    await forget('mail_notice', 'id', 'sent_at < ?', [now - DAY_MS])
    await forget('outbox', 'id', 'due_at = ? AND created_at < ?', [GIVEN_UP, now - KEEP_ENDED_MS])
  }

  /** Purges the data of deleted accounts after their grace period. */
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
        if (ended === 1) await enqueue(db, 'purge-bucket', bucket, tx)
      })
  }

  /** An instance may die between making a file of an upload in parts and forgetting the parts. */
  const tidyStore = () =>
    store.tidy(async keys => {
      const rows = await db.rows<{ id: string }>(
        `SELECT id FROM blobs WHERE state = 'live' AND id IN (${placeholders(keys.slice(0, BATCH))})`,
        keys.slice(0, BATCH),
      )
      return rows.map(row => row.id)
    })

  async function sweep(): Promise<void> {
    for (const work of [endDeadUploads, removeMarked, forgetEnded, endKept, tidyStore]) {
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
