import { v7 as newId } from 'uuid'
import type { Tx } from '../../../db/index.ts'
import {
  announceBlob,
  deleteAgain,
  extendLease,
  insertBlob,
  isKnown,
  lockReservation,
  makeLive,
  markForDeletion,
  setLeases,
  setReservation,
} from '../../../db/queries/blob.ts'
import { lockOpenBucket, settle } from '../../../db/queries/bucket.ts'
import { unreserve } from '../../../db/queries/reservation.ts'
import { isLeft } from '../../../db/queries/store-move.ts'
import type { Writer } from '../../access/caller.ts'
import type { Config } from '../../config/config.ts'
import { AppError, Busy, isDatabaseDown } from '../../runtime/errors.ts'
import { StoreRefusal } from '../../storage/store.ts'
import type { Tree } from '../../values/tree.ts'
import type { Core } from '../core.ts'
import { rightEnded } from '../workspaces/right.ts'
import { lockTree } from './entry.ts'
import { releaseStaged } from './ledger.ts'
import { fileTooLarge, reserveUpload, type UploadLimits } from './quota.ts'

/** An object in the store and in the ledger that no entry refers to yet. */
export interface StagedBlob {
  id: string
  reservedBytes: number
  size: number
  md5: string
  /** In lower-case hex, if the store has computed it. */
  crc32: string | undefined
  /** Set when the bytes were copied from a staged blob, which holds the reservation. */
  copied?: boolean
}

export interface StageOptions {
  limits: UploadLimits
  contentType: string
  /** Upper bound of the size in bytes, if the sender declared one. */
  bound?: number | undefined
  signal?: AbortSignal | undefined
}

const BYTES_AHEAD = 64 * 1024 * 1024
const NO_LIMIT = Number.MAX_SAFE_INTEGER

/**
 * The ledger of the store: reserve, stream, commit. A crash at any point leaves only garbage that
 * the ledger records.
 */
export function blobService({
  db,
  store,
  log,
  leaseSeconds,
}: Core<'db' | 'store' | 'log'> & Pick<Config, 'leaseSeconds'>) {
  const running = new Set<string>()
  const leaseUntil = () => Date.now() + leaseSeconds * 1000

  // One heartbeat renews the leases of all uploads of this instance; when the instance dies, they
  // expire.
  const heartbeat = setInterval(
    () => {
      if (running.size === 0) return
      setLeases(db, [...running], leaseUntil()).catch(error =>
        log.warn({ err: error }, 'could not renew the leases of running uploads'),
      )
    },
    (leaseSeconds * 1000) / 4,
  )
  heartbeat.unref()

  /**
   * Records an object, which must not go to a store that has been left, or that others are leaving.
   * @throws UNAVAILABLE
   */
  async function insert(blob: Parameters<typeof insertBlob>[1], tx: Tx): Promise<void> {
    const newest = store.newest()
    if (!(await announceBlob(db, blob, newest, tx))) {
      log.error(
        'the files are moved to a store that this instance does not know: restart it with both stores',
      )
      throw new Busy('This instance of the service must be restarted before it can store files.')
    }
    if (blob.store < newest && (await isLeft(db, blob.store, tx))) throw leaseLost()
  }

  /** Reserves the first of the `wanted` sizes (bytes) that the quota allows. */
  async function reserve(
    tree: Tree,
    limits: UploadLimits,
    { id, store: at }: { id: string; store: number },
    wanted: number[],
  ): Promise<number> {
    return db.transaction(async tx => {
      await limits.before?.(tx)
      let refused: AppError | null = null
      for (const bytes of wanted) {
        refused = await reserveUpload(db, tree, limits, { blobId: id, bytes, files: 1 }, tx)
        if (refused) continue
        const { bucketId } = tree
        const lease = { reservedBytes: bytes, leaseUntil: leaseUntil() }
        await insert({ id, bucketId, state: 'staged', store: at, ...lease }, tx)
        return bytes
      }
      throw refused ?? new Error('There was nothing to reserve.')
    })
  }

  /**
   * Raises a reservation by the first step that the quota allows. @returns the new reservation in
   * bytes
   */
  async function extend(
    tree: Tree,
    limits: UploadLimits,
    id: string,
    reserved: number,
    wanted: number[],
  ): Promise<number> {
    return db.transaction(async tx => {
      let refused: AppError | null = null
      for (const bytes of wanted) {
        refused = await reserveUpload(
          db,
          tree,
          limits,
          { blobId: id, bytes: bytes - reserved, files: 0 },
          tx,
        )
        if (refused) continue
        if (!(await setReservation(db, id, bytes, tx))) throw leaseLost()
        return bytes
      }
      throw refused ?? new Error('There was nothing to reserve.')
    })
  }

  async function changeReservation(
    tree: Tree,
    limits: UploadLimits,
    { id, from, to }: { id: string; from: number; to: number },
    tx: Tx,
  ): Promise<void> {
    if (to > from) {
      const more = { blobId: id, bytes: to - from, files: 0 }
      const refused = await reserveUpload(db, tree, limits, more, tx)
      if (refused) throw refused
    } else {
      await unreserve(db, tree.bucketId, { bytes: from - to, files: 0 }, tx)
      await limits.alsoRelease?.(id, from - to, tx)
    }
    await setReservation(db, id, to, tx)
  }

  /**
   * The sweeper may have removed an upload whose lease expired; records the bytes that arrived
   * afterwards, so that they are deleted.
   */
  async function markForgottenForDeletion(bucketId: string, id: string, tx: Tx): Promise<void> {
    if ((await deleteAgain(db, id, tx)) || (await isKnown(db, id, tx))) return
    await insertBlob(db, { id, bucketId, state: 'deleting', store: 0, leaseUntil: Date.now() }, tx)
  }

  return {
    /**
     * Streams bytes into the store under a new key. Bytes are reserved before they are sent to the
     * store. A body of up to one block reserves its exact size; a longer stream reserves its
     * declared bound, or grows in steps.
     * @throws FILE_TOO_LARGE, QUOTA_EXCEEDED, UNAVAILABLE, or what the source throws; nothing stays
     * reserved then
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
        // `admit` writes the blob to the ledger before its first byte is sent to the store.
        const at = await store.current()
        const sums = await store.put(id, source, {
          store: at,
          contentType,
          bound,
          ...(signal ? { signal } : {}),
          async admit(total, ended) {
            if (total > limits.maxFileSizeBytes) throw fileTooLarge(limits, tree)
            if (reserved !== undefined && total <= reserved) return
            const ahead = Math.min(
              bound === undefined
                ? total + (limits.bytesAhead?.(total) ?? BYTES_AHEAD)
                : Math.max(bound, total),
              Math.max(largest, total),
            )
            const wanted = ended ? [total] : [ahead, total]
            if (reserved === undefined) {
              running.add(id)
              reserved = await reserve(tree, limits, { id, store: at }, wanted)
            } else reserved = await extend(tree, limits, id, reserved, wanted)
          },
        })
        if (reserved === undefined)
          throw new Error('The store accepted bytes that were not admitted.')
        return { id, reservedBytes: reserved, ...sums }
      } catch (error) {
        // If the lease expired, the sweeper has removed the staged blocks.
        const lost =
          error instanceof StoreRefusal && !(await this.renew(id, Date.now()).catch(() => true))
        // Before the reservation there is nothing to release, unless its commit is uncertain.
        if (reserved !== undefined || isDatabaseDown(error)) await this.abandon(tree, id, error)
        else running.delete(id)
        throw lost ? leaseLost() : error
      }
    },

    /**
     * Reserves the full size of an upload in parts. Its lease is not renewed by this instance.
     * @throws FILE_TOO_LARGE, QUOTA_EXCEEDED
     */
    async reserve(
      tree: Tree,
      limits: UploadLimits,
      blob: { id: string; bytes: number; leaseUntil: number; at: number },
      tx: Tx,
    ): Promise<void> {
      if (blob.bytes > limits.maxFileSizeBytes) throw fileTooLarge(limits, tree)
      const { id, bytes, leaseUntil } = blob
      const { bucketId } = tree
      const refused = await reserveUpload(db, tree, limits, { blobId: id, bytes, files: 1 }, tx)
      if (refused) throw refused
      await insert(
        { id, bucketId, state: 'staged', store: blob.at, reservedBytes: bytes, leaseUntil },
        tx,
      )
    },

    /**
     * Releases the reservation of a new upload, which only checked that the bytes fit. The bytes
     * are reserved again as they arrive. The reservation must be from the same transaction.
     */
    async reserveLater(
      tree: Tree,
      limits: UploadLimits,
      { id, bytes }: { id: string; bytes: number },
      tx: Tx,
    ): Promise<void> {
      if (bytes > 0) await changeReservation(tree, limits, { id, from: bytes, to: 0 }, tx)
    },

    /**
     * Raises the reservation of an upload by some bytes that are about to arrive, up to its size.
     * @returns the number of added bytes; 0 for an upload that has ended
     * @throws QUOTA_EXCEEDED
     */
    reserveMore: (
      tree: Tree,
      limits: UploadLimits,
      { id, bytes, size }: { id: string; bytes: number; size: number },
    ): Promise<number> =>
      db.transaction(async tx => {
        await lockOpenBucket(db, tree.bucketId, tx)
        const from = await lockReservation(db, id, tx)
        if (from === undefined) return 0
        const to = Math.min(size, from + bytes)
        if (to > from) await changeReservation(tree, limits, { id, from, to }, tx)
        return Math.max(0, to - from)
      }),

    /** Releases the reservation of bytes that have not arrived. */
    reserveLess: (
      tree: Tree,
      limits: UploadLimits,
      { id, bytes }: { id: string; bytes: number },
    ): Promise<void> =>
      db.transaction(async tx => {
        await lockOpenBucket(db, tree.bucketId, tx)
        const from = await lockReservation(db, id, tx)
        if (from === undefined || bytes === 0) return
        const to = Math.max(0, from - bytes)
        await changeReservation(tree, limits, { id, from, to }, tx)
      }),

    /**
     * Extends the lease of a staged blob to at least this time (milliseconds since 1970). @returns
     * whether it is still staged
     */
    renew: (id: string, until: number): Promise<boolean> => extendLease(db, id, until),

    /**
     * Records a copy that is about to be made of a staged blob, with a lease that this instance
     * renews. @returns the key of the copy
     */
    async announceCopy(tree: Pick<Tree, 'bucketId'>): Promise<string> {
      const id = newId()
      const { bucketId } = tree
      const copy = {
        id,
        bucketId,
        state: 'copied',
        store: await store.current(),
        leaseUntil: leaseUntil(),
      } as const
      await db.transaction(tx => insert(copy, tx))
      running.add(id)
      return id
    },

    /**
     * Marks a copy that no entry will refer to for deletion. Never throws: its lease expires
     * anyway.
     */
    async abandonCopy(tree: Pick<Tree, 'bucketId'>, id: string): Promise<void> {
      running.delete(id)
      await db
        .transaction(async tx => {
          if (!(await markForDeletion(db, id, 'copied', Date.now(), tx)))
            await markForgottenForDeletion(tree.bucketId, id, tx)
        })
        .catch(error =>
          log.warn(
            { err: error, blob: id },
            'could not mark a copy for deletion; the sweeper will',
          ),
        )
    },

    /** Marks a blob for deletion unless the ledger has a row of it. Never throws. */
    async abandonForgotten(tree: Tree, id: string): Promise<void> {
      await db
        .transaction(tx => markForgottenForDeletion(tree.bucketId, id, tx))
        .catch(error =>
          log.warn(
            { err: error, blob: id },
            'could not mark a blob for deletion; the doctor will find it',
          ),
        )
    },

    /**
     * Part of the transaction that creates the entry: turns the reservation into usage if the
     * writer may still write. Locks the tree.
     * @throws UNAUTHENTICATED, FORBIDDEN, FOLDER_NOT_FOUND when the storage area is gone
     */
    async settle(tree: Tree, blob: StagedBlob, caller: Writer, tx: Tx): Promise<void> {
      if (!(await settle(db, tree.bucketId, blob, { caller, shareId: tree.share?.id }, tx))) {
        await lockTree(db, tree, tx)
        throw await rightEnded(db, caller, tx)
      }
      if (!(await makeLive(db, blob, blob.copied ? 'copied' : 'staged', tx))) throw leaseLost()
    },

    /** Stops renewing the lease of a blob, because its entry is committed. */
    settled(id: string): void {
      running.delete(id)
    },

    /**
     * Releases the reservation of a blob that no entry will refer to, and leaves the object to the
     * sweeper. Never throws, because the lease expires anyway. Waits for the database, except after
     * a failure of the database, because then the client has waited long enough.
     */
    async abandon(tree: Pick<Tree, 'bucketId'>, id: string, because: unknown): Promise<void> {
      running.delete(id)
      const released = db
        .transaction(async tx => {
          if (!(await releaseStaged(db, tree.bucketId, id, tx)))
            await markForgottenForDeletion(tree.bucketId, id, tx)
        })
        .catch(error =>
          log.warn({ err: error, blob: id }, 'could not release a reservation; the sweeper will'),
        )
      if (!isDatabaseDown(because)) await released
    },

    stop(): void {
      clearInterval(heartbeat)
    },
  }
}

export type BlobService = ReturnType<typeof blobService>

function leaseLost(): AppError {
  return new AppError(
    'UNAVAILABLE',
    'The upload was interrupted for too long. Send the file again.',
    {
      retry_after: 1,
    },
  )
}
