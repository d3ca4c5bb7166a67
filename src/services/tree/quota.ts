import type { Db, Tx } from '../../../db/index.ts'
import { reserve, unreserve, usedAndReserved } from '../../../db/queries/reservation.ts'
import { AppError } from '../../runtime/errors.ts'
import type { BucketLimits, Tree } from '../../values/tree.ts'
import { planExceeded, shareFull } from '../bound.ts'
import { treeGone } from './entry.ts'
import { shareEnded } from './trunk.ts'

/** The limits of a bucket and other bounds of an upload. */
export interface UploadLimits extends BucketLimits {
  /** Releases what the upload replaces, in the transaction that first reserves space for it. */
  before?: (tx: Tx) => Promise<void>
  /**
   * The bytes that a stream of unknown length reserves in advance, by the number of arrived bytes;
   * 64 MiB by default.
   */
  bytesAhead?: (arrived: number) => number
  /**
   * Reserves space for an upload elsewhere, in the same transaction.
   * @returns the reason why it cannot, or null
   */
  alsoReserve?: (
    blobId: string,
    more: { bytes: number; files: number },
    tx: Tx,
  ) => Promise<AppError | null>
  /** Releases this many bytes reserved by `alsoReserve`, in the same transaction. */
  alsoRelease?: (blobId: string, bytes: number, tx: Tx) => Promise<void>
}

/**
 * Reserves space for an upload in the drive, and with `alsoReserve`.
 * @returns the reason why it cannot, or null
 */
export async function reserveUpload(
  db: Db,
  tree: Tree,
  limits: UploadLimits,
  { blobId, ...more }: { blobId: string; bytes: number; files: number },
  tx: Tx,
): Promise<AppError | null> {
  if (!(await reserve(db, tree.bucketId, more, limits, tx)))
    return quotaExceeded(db, tree, limits, more, tx)
  const refused = await limits.alsoReserve?.(blobId, more, tx)
  if (!refused) return null
  await unreserve(db, tree.bucketId, more, tx)
  return refused
}

/** The error for an exceeded limit. */
export async function quotaExceeded(
  db: Db,
  tree: Tree,
  limits: BucketLimits,
  { bytes, files }: { bytes: number; files: number },
  tx: Tx,
): Promise<AppError> {
  const now = await usedAndReserved(db, tree.bucketId, tx)
  if (!now) return tree.share ? shareEnded() : treeGone()
  if (tree.share) return shareFull()
  // The smaller value, because the limits may have shrunk since the request began.
  const maxFiles = Math.min(limits.maxFiles ?? Infinity, now.maxFiles ?? Infinity)
  const maxBytes = Math.min(limits.maxTotalStorageBytes, now.maxTotalStorageBytes)
  const ofWhat = now.workspaceId === null ? '' : '_workspace'
  if (now.files + files > maxFiles)
    return planExceeded('files', { limit: `max_files${ofWhat}`, max: maxFiles, used: now.files })
  return new AppError(
    'QUOTA_EXCEEDED',
    `The plan allows ${maxBytes} bytes, of which ${now.bytes} are used; there is not enough space for ${bytes} more. Delete something, or ask for a larger plan.`,
    { limit: `max_total_storage_bytes${ofWhat}`, max: maxBytes, used: now.bytes },
  )
}

/**
 * @param tree the destination; an editor of a share does not see the numbers of another person's
 * plan
 */
export function fileTooLarge(
  limits: Pick<BucketLimits, 'maxFileSizeBytes'>,
  tree?: Tree,
): AppError {
  if (tree?.share)
    return new AppError(
      'FILE_TOO_LARGE',
      'This file is too large for this folder. Send a smaller file.',
    )
  return new AppError(
    'FILE_TOO_LARGE',
    `A file may have up to ${limits.maxFileSizeBytes} bytes. Send a smaller file, or ask for a larger plan.`,
    {
      limit: 'max_file_size_bytes',
      max: limits.maxFileSizeBytes,
    },
  )
}
