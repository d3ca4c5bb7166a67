import type { Db, Tx } from '../../db/index.ts'
import { AppError } from '../errors.ts'
import { open, treeGone } from './entry.ts'
import type { Tree } from './entry-path.ts'

/** The limits of a bucket, from the plan of its user or of its workspace's owner. Null means unlimited. */
export interface BucketLimits {
  maxFileSizeBytes: number
  maxTotalStorageBytes: number
  maxFiles: number | null
}

const NO_LIMIT = Number.MAX_SAFE_INTEGER

/** Reserves `bytes` (and `files`) of the quota. @returns false if a limit would be exceeded. One conditional UPDATE keeps it exact. */
export async function take(
  db: Db,
  tree: Tree,
  limits: BucketLimits,
  bytes: number,
  files: number,
  tx: Tx,
): Promise<boolean> {
  const changed = await db.run(
    `UPDATE bucket SET reserved_bytes = reserved_bytes + ?, reserved_files = reserved_files + ?
     WHERE id = ? AND ${open} AND used_bytes + reserved_bytes + ? <= ? AND used_files + reserved_files + ? <= ?`,
    [bytes, files, tree.bucketId, bytes, limits.maxTotalStorageBytes, files, limits.maxFiles ?? NO_LIMIT],
    tx,
  )
  return changed === 1
}

/** The error for the limit that was reached. */
export async function quotaExceeded(
  db: Db,
  tree: Tree,
  limits: BucketLimits,
  bytes: number,
  tx: Tx,
): Promise<AppError> {
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

export function fileTooLarge(limits: BucketLimits): AppError {
  return new AppError(
    'FILE_TOO_LARGE',
    `A file may have up to ${limits.maxFileSizeBytes} bytes. Send a smaller file, or ask for a larger plan.`,
    {
      limit: 'max_file_size_bytes',
      max: limits.maxFileSizeBytes,
    },
  )
}
