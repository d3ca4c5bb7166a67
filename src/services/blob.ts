import { v7 as newId } from 'uuid'
import type { Db, Tx } from '../../db/index.ts'
import { AppError, isDatabaseDown } from '../errors.ts'
import type { Log } from '../log.ts'
import type { BlobStore } from '../storage/azure.ts'
import { open, treeGone } from './entry.ts'
import { marks, type Tree } from './entry-path.ts'

/** What a bucket may hold, from the plan of its user or of its workspace's owner. Null means unlimited. */
export interface BucketLimits {
  maxFileSizeBytes: number
  maxTotalStorageBytes: number
  maxFiles: number | null
}

/** An object that is in the store and in the ledger, but that no entry names yet. */
export interface StagedBlob {
  id: string
  reservedBytes: number
  size: number
  md5: string
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
      db.run(`UPDATE blobs SET lease_until = ? WHERE state = 'staged' AND id IN (${marks(ids)})`, [
        leaseUntil(),
        ...ids,
      ]).catch(error => log.warn({ err: error }, 'could not renew the leases of running uploads'))
    },
    (leaseSeconds * 1000) / 4,
  )
  heartbeat.unref()

  /** Takes `bytes` (and `files`) of the quota; answers whether they were to be had. Exact: one conditional UPDATE of one row. */
  async function take(tree: Tree, limits: BucketLimits, bytes: number, files: number, tx: Tx): Promise<boolean> {
    const changed = await db.run(
      `UPDATE bucket SET reserved_bytes = reserved_bytes + ?, reserved_files = reserved_files + ?
       WHERE id = ? AND ${open} AND used_bytes + reserved_bytes + ? <= ? AND used_files + reserved_files + ? <= ?`,
      [bytes, files, tree.bucketId, bytes, limits.maxTotalStorageBytes, files, limits.maxFiles ?? NO_LIMIT],
      tx,
    )
    return changed === 1
  }

  /** Reserves the first that is to be had of `wanted` sizes. */
  async function reserve(tree: Tree, limits: BucketLimits, id: string, wanted: number[]): Promise<number> {
    return db.transaction(async tx => {
      for (const bytes of wanted) {
        if (!(await take(tree, limits, bytes, 1, tx))) continue
        await db.run(
          "INSERT INTO blobs (id, bucket_id, state, reserved_bytes, size, lease_until, created_at) VALUES (?, ?, 'staged', ?, 0, ?, ?)",
          [id, tree.bucketId, bytes, leaseUntil(), Date.now()],
          tx,
        )
        return bytes
      }
      throw await quotaExceeded(tree, limits, wanted.at(-1) ?? 0, tx)
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
        if (!(await take(tree, limits, bytes - reserved, 0, tx))) continue
        const changed = await db.run(
          "UPDATE blobs SET reserved_bytes = ? WHERE id = ? AND state = 'staged'",
          [bytes, id],
          tx,
        )
        if (changed !== 1) throw leaseLost()
        return bytes
      }
      throw await quotaExceeded(tree, limits, (wanted.at(-1) ?? reserved) - reserved, tx)
    })
  }

  /** A sweeper that took the upload for dead has removed what was there then; what arrived after it is in nobody's books. */
  async function doomForgotten(bucketId: string, id: string, tx: Tx): Promise<void> {
    const known = await db.rows('SELECT id FROM blobs WHERE id = ?', [id], tx)
    if (known.length > 0) return
    const now = Date.now()
    await db.run(
      "INSERT INTO blobs (id, bucket_id, state, reserved_bytes, size, lease_until, created_at) VALUES (?, ?, 'doomed', 0, 0, ?, ?)",
      [id, bucketId, now, now],
      tx,
    )
  }

  async function quotaExceeded(tree: Tree, limits: BucketLimits, bytes: number, tx: Tx): Promise<AppError> {
    const [now] = await db.rows<{ bytes: number; files: number; workspaceId: string | null }>(
      `SELECT used_bytes + reserved_bytes AS bytes, used_files + reserved_files AS files, workspace_id AS workspaceId
       FROM bucket WHERE id = ? AND ${open}`,
      [tree.bucketId],
      tx,
    )
    if (!now) return treeGone()
    const ofWhat = now.workspaceId === null ? '' : '_workspace'
    if (limits.maxFiles !== null && Number(now.files) + 1 > limits.maxFiles)
      return new AppError(
        'QUOTA_EXCEEDED',
        `The plan allows ${limits.maxFiles} files. Delete some, or ask for a larger plan.`,
        {
          limit: `max_files${ofWhat}`,
          max: limits.maxFiles,
          used: Number(now.files),
        },
      )
    return new AppError(
      'QUOTA_EXCEEDED',
      `The plan allows ${limits.maxTotalStorageBytes} bytes, of which ${now.bytes} are used; there is no room for ${bytes} more. Delete something, or ask for a larger plan.`,
      { limit: `max_total_storage_bytes${ofWhat}`, max: limits.maxTotalStorageBytes, used: Number(now.bytes) },
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
        // Before the reservation there is nothing to give back, unless nobody knows whether it was made.
        if (reserved !== undefined || isDatabaseDown(error)) await this.abandon(tree, id, error)
        else running.delete(id)
        throw error
      }
    },

    /** Refuses early what cannot fit, before its bytes are read. `declared` may include what wraps the file. */
    refuseLarger(declared: number | undefined, limits: BucketLimits): void {
      if (declared !== undefined && declared > limits.maxFileSizeBytes + MiB) throw fileTooLarge(limits)
    },

    /** Part of the transaction that makes the entry: the reservation becomes usage. This locks the tree. */
    async settle(tree: Tree, blob: StagedBlob, tx: Tx): Promise<void> {
      const counted = await db.run(
        `UPDATE bucket SET reserved_bytes = reserved_bytes - ?, reserved_files = reserved_files - 1,
           used_bytes = used_bytes + ?, used_files = used_files + 1 WHERE id = ? AND ${open}`,
        [blob.reservedBytes, blob.size, tree.bucketId],
        tx,
      )
      if (counted !== 1) throw treeGone()
      const changed = await db.run(
        "UPDATE blobs SET state = 'live', size = ?, reserved_bytes = 0, lease_until = 0 WHERE id = ? AND state = 'staged'",
        [blob.size, blob.id],
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
          if (!(await releaseStaged(db, tree.bucketId, id, tx))) await doomForgotten(tree.bucketId, id, tx)
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

/** Dooms a staged blob and returns its reservation, once only, whoever comes first. Locks the bucket before the blob, as everybody does. */
export async function releaseStaged(db: Db, bucketId: string, id: string, tx: Tx): Promise<boolean> {
  await db.rows(`SELECT id FROM bucket WHERE id = ?${db.forUpdate}`, [bucketId], tx)
  const [staged] = await db.rows<{ bytes: number }>(
    `SELECT reserved_bytes AS bytes FROM blobs WHERE id = ? AND state = 'staged'${db.forUpdate}`,
    [id],
    tx,
  )
  if (!staged) return false
  await db.run(
    "UPDATE blobs SET state = 'doomed', reserved_bytes = 0, lease_until = ? WHERE id = ?",
    [Date.now(), id],
    tx,
  )
  await db.run(
    'UPDATE bucket SET reserved_bytes = reserved_bytes - ?, reserved_files = reserved_files - 1 WHERE id = ?',
    [staged.bytes, bucketId],
    tx,
  )
  return true
}

/** Dooms live blobs, in the transaction that ends their entries. */
export async function doomBlobs(db: Db, ids: string[], tx: Tx): Promise<void> {
  if (ids.length === 0) return
  await db.run(
    `UPDATE blobs SET state = 'doomed', lease_until = ? WHERE id IN (${marks(ids)})`,
    [Date.now(), ...ids],
    tx,
  )
}

function fileTooLarge(limits: BucketLimits): AppError {
  return new AppError(
    'FILE_TOO_LARGE',
    `The plan allows ${limits.maxFileSizeBytes} bytes a file. Send a smaller file, or ask for a larger plan.`,
    {
      limit: 'max_file_size_bytes',
      max: limits.maxFileSizeBytes,
    },
  )
}

function leaseLost(): AppError {
  return new AppError('UNAVAILABLE', 'The upload was interrupted for too long. Send the file again.', {
    retry_after: 1,
  })
}
