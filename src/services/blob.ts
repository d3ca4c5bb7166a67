import { v7 as newId } from 'uuid'
import type { Db, Tx } from '../../db/index.ts'
import type { Caller } from '../auth/caller.ts'
import { AppError, isDatabaseDown } from '../errors.ts'
import type { Log } from '../log.ts'
import { type BlobStore, StoreRefusal } from '../storage/store.ts'
import { lockTree, open } from './entry.ts'
import { placeholders, type Tree } from './entry-path.ts'
import { releaseStaged } from './ledger.ts'
import { type BucketLimits, fileTooLarge, quotaExceeded, take } from './quota.ts'
import { mayWriteNow, rightEnded } from './right.ts'

/** An object that is in the store and in the ledger, but that no entry names yet. */
export interface StagedBlob {
  id: string
  reservedBytes: number
  size: number
  md5: string
  /** Set for bytes that were copied from a staged blob, which holds the reservation. */
  copied?: boolean
}

export interface StageOptions {
  limits: BucketLimits
  contentType: string
  /** Upper bound of the size in bytes, if the sender declared one. */
  bound?: number | undefined
  signal?: AbortSignal | undefined
}

const MiB = 1024 * 1024
const STEP = 64 * MiB
const NO_LIMIT = Number.MAX_SAFE_INTEGER

/**
 * The ledger of the store: reserve, stream, commit; a crash at any point leaves garbage that the ledger knows, never a lie.
 */
export function blobService({
  db,
  store,
  log,
  leaseSeconds,
}: {
  db: Db
  store: BlobStore
  log: Log
  leaseSeconds: number
}) {
  const running = new Set<string>()
  const leaseUntil = () => Date.now() + leaseSeconds * 1000

  // One statement for all uploads of this instance says that they live. An instance that dies stops saying so.
  const heartbeat = setInterval(
    () => {
      if (running.size === 0) return
      const ids = [...running]
      db.run(
        `UPDATE blobs${db.byKey} SET lease_until = ? WHERE state IN ('staged', 'copied') AND id IN (${placeholders(ids)})`,
        [leaseUntil(), ...ids],
      ).catch(error => log.warn({ err: error }, 'could not renew the leases of running uploads'))
    },
    (leaseSeconds * 1000) / 4,
  )
  heartbeat.unref()

  async function insert(
    tree: Tree,
    blob: { id: string; state: 'staged' | 'copied'; reservedBytes: number; leaseUntil: number },
    tx: Tx,
  ): Promise<void> {
    await db.run(
      'INSERT INTO blobs (id, bucket_id, state, reserved_bytes, size, lease_until, created_at) VALUES (?, ?, ?, ?, 0, ?, ?)',
      [blob.id, tree.bucketId, blob.state, blob.reservedBytes, blob.leaseUntil, Date.now()],
      tx,
    )
  }

  /** Reserves the first that is to be had of `wanted` sizes. */
  async function reserve(tree: Tree, limits: BucketLimits, id: string, wanted: number[]): Promise<number> {
    return db.transaction(async tx => {
      for (const bytes of wanted) {
        if (!(await take(db, tree, limits, bytes, 1, tx))) continue
        await insert(tree, { id, state: 'staged', reservedBytes: bytes, leaseUntil: leaseUntil() }, tx)
        return bytes
      }
      throw await quotaExceeded(db, tree, limits, wanted.at(-1) ?? 0, tx)
    })
  }

  /** Raises a reservation by the first step that is to be had; answers the new reservation. */
  async function extend(
    tree: Tree,
    limits: BucketLimits,
    id: string,
    reserved: number,
    wanted: number[],
  ): Promise<number> {
    return db.transaction(async tx => {
      for (const bytes of wanted) {
        if (!(await take(db, tree, limits, bytes - reserved, 0, tx))) continue
        const changed = await db.run(
          `UPDATE blobs${db.byKey} SET reserved_bytes = ? WHERE id = ? AND state = 'staged'`,
          [bytes, id],
          tx,
        )
        if (changed !== 1) throw leaseLost()
        return bytes
      }
      throw await quotaExceeded(db, tree, limits, (wanted.at(-1) ?? reserved) - reserved, tx)
    })
  }

  /** A sweeper that took the upload for dead has removed what was there then; what arrived after it is in nobody's books. */
  async function markForgottenForDeletion(bucketId: string, id: string, tx: Tx): Promise<void> {
    // One that is removing it at this moment comes back for what it may have missed.
    const marked = await db.run(
      "UPDATE blobs SET lease_until = lease_until + 1 WHERE id = ? AND state = 'deleting'",
      [id],
      tx,
    )
    if (marked === 1 || (await db.rows('SELECT id FROM blobs WHERE id = ?', [id], tx)).length > 0) return
    const now = Date.now()
    await db.run(
      "INSERT INTO blobs (id, bucket_id, state, reserved_bytes, size, lease_until, created_at) VALUES (?, ?, 'deleting', 0, 0, ?, ?)",
      [id, bucketId, now, now],
      tx,
    )
  }

  return {
    /**
     * Streams bytes into the store under a new key, with its reservation taken before they leave.
     * What fits in one block is reserved to the byte; a longer stream reserves its declared bound, or grows in steps.
     * @throws FILE_TOO_LARGE, QUOTA_EXCEEDED, UNAVAILABLE, or whatever the source throws; nothing stays reserved then
     */
    async stage(
      tree: Tree,
      source: AsyncIterable<Uint8Array>,
      { limits, contentType, bound, signal }: StageOptions,
    ): Promise<StagedBlob> {
      const id = newId()
      const largest = Math.min(bound ?? NO_LIMIT, limits.maxFileSizeBytes)
      let reserved: number | undefined
      try {
        const { size, md5 } = await store.put(id, source, {
          contentType,
          ...(signal ? { signal } : {}),
          async admit(total, ended) {
            if (total > limits.maxFileSizeBytes) throw fileTooLarge(limits)
            if (reserved !== undefined && total <= reserved) return
            const ahead = Math.min(
              bound === undefined ? total + STEP : Math.max(bound, total),
              Math.max(largest, total),
            )
            const wanted = ended ? [total] : [ahead, total]
            if (reserved === undefined) {
              running.add(id)
              reserved = await reserve(tree, limits, id, wanted)
            } else reserved = await extend(tree, limits, id, reserved, wanted)
          },
        })
        if (reserved === undefined) throw new Error('The store took bytes that were not admitted.')
        return { id, reservedBytes: reserved, size, md5 }
      } catch (error) {
        // A sweeper that has taken it for dead has removed what was to be put together.
        const lost = error instanceof StoreRefusal && !(await this.renew(id, Date.now()).catch(() => true))
        // Before the reservation there is nothing to give back, unless nobody knows whether it was made.
        if (reserved !== undefined || isDatabaseDown(error)) await this.abandon(tree, id, error)
        else running.delete(id)
        throw lost ? leaseLost() : error
      }
    },

    /**
     * Reserves all of an upload whose bytes come later, part by part. Its lease is not renewed by this instance.
     * @throws FILE_TOO_LARGE, QUOTA_EXCEEDED
     */
    async reserve(
      tree: Tree,
      limits: BucketLimits,
      blob: { id: string; bytes: number; leaseUntil: number },
      tx: Tx,
    ): Promise<void> {
      if (blob.bytes > limits.maxFileSizeBytes) throw fileTooLarge(limits)
      if (!(await take(db, tree, limits, blob.bytes, 1, tx)))
        throw await quotaExceeded(db, tree, limits, blob.bytes, tx)
      await insert(tree, { id: blob.id, state: 'staged', reservedBytes: blob.bytes, leaseUntil: blob.leaseUntil }, tx)
    },

    /** Makes the lease of a staged blob last until then at least; answers whether it is staged still. */
    async renew(id: string, until: number): Promise<boolean> {
      const sql = `UPDATE blobs${db.byKey} SET lease_until = CASE WHEN lease_until < ? THEN ? ELSE lease_until END WHERE id = ? AND state = 'staged'`
      return (await db.run(sql, [until, until, id])) === 1
    },

    /** Knows of bytes that are about to be copied from a staged blob, for as long as this instance lives. Answers their key. */
    async announceCopy(tree: Tree): Promise<string> {
      const id = newId()
      await db.transaction(tx => insert(tree, { id, state: 'copied', reservedBytes: 0, leaseUntil: leaseUntil() }, tx))
      running.add(id)
      return id
    },

    /** Leaves a copy that no entry will name to the sweeper. Never throws: its lease ends by itself. */
    async abandonCopy(tree: Tree, id: string): Promise<void> {
      running.delete(id)
      await db
        .transaction(async tx => {
          const marked = await db.run(
            `UPDATE blobs${db.byKey} SET state = 'deleting', lease_until = ? WHERE id = ? AND state = 'copied'`,
            [Date.now(), id],
            tx,
          )
          if (marked !== 1) await markForgottenForDeletion(tree.bucketId, id, tx)
        })
        .catch(error => log.warn({ err: error, blob: id }, 'could not give up a copy; the sweeper will'))
    },

    /** Leaves what nobody has in their books any more to the sweeper; what somebody has stays. Never throws. */
    async abandonForgotten(tree: Tree, id: string): Promise<void> {
      await db
        .transaction(tx => markForgottenForDeletion(tree.bucketId, id, tx))
        .catch(error => log.warn({ err: error, blob: id }, 'could not look after a blob; the doctor will find it'))
    },

    /** Refuses early what cannot fit, before its bytes are read. `declared` may include what wraps the file. */
    refuseLarger(declared: number | undefined, limits: BucketLimits): void {
      if (declared !== undefined && declared > limits.maxFileSizeBytes + MiB) throw fileTooLarge(limits)
    },

    /**
     * Part of the transaction that makes the entry: the reservation becomes usage, if the caller may still write. This locks the tree.
     * @throws UNAUTHENTICATED, FORBIDDEN, FOLDER_NOT_FOUND when the storage area is gone
     */
    async settle(tree: Tree, blob: StagedBlob, caller: Caller, tx: Tx): Promise<void> {
      const may = mayWriteNow(db, caller)
      const counted = await db.run(
        `UPDATE bucket SET reserved_bytes = reserved_bytes - ?, reserved_files = reserved_files - 1,
           used_bytes = used_bytes + ?, used_files = used_files + 1 WHERE id = ? AND ${open} AND ${may.sql}`,
        [blob.reservedBytes, blob.size, tree.bucketId, ...may.values],
        tx,
      )
      if (counted !== 1) {
        await lockTree(db, tree, tx)
        throw await rightEnded(db, caller, tx)
      }
      const changed = await db.run(
        `UPDATE blobs${db.byKey} SET state = 'live', size = ?, reserved_bytes = 0, lease_until = 0 WHERE id = ? AND state = ?`,
        [blob.size, blob.id, blob.copied ? 'copied' : 'staged'],
        tx,
      )
      if (changed !== 1) throw leaseLost()
    },

    /** No more heartbeats for this one: its entry is there. */
    settled(id: string): void {
      running.delete(id)
    },

    /**
     * Gives back what a blob that no entry will name had reserved, and leaves the object to the sweeper. Never throws: the lease ends by itself.
     * Waits for the database, unless that is what failed: then whoever waits for an answer has waited long enough.
     */
    async abandon(tree: Tree, id: string, because: unknown): Promise<void> {
      running.delete(id)
      const released = db
        .transaction(async tx => {
          if (!(await releaseStaged(db, tree.bucketId, id, tx))) await markForgottenForDeletion(tree.bucketId, id, tx)
        })
        .catch(error => log.warn({ err: error, blob: id }, 'could not give back a reservation; the sweeper will'))
      if (!isDatabaseDown(because)) await released
    },

    stop(): void {
      clearInterval(heartbeat)
    },
  }
}

export type BlobService = ReturnType<typeof blobService>

function leaseLost(): AppError {
  return new AppError('UNAVAILABLE', 'The upload was interrupted for too long. Send the file again.', {
    retry_after: 1,
  })
}
