import type { Db, Tx } from '../../../db/index.ts'
import { usedAndReserved } from '../../../db/queries/bucket.ts'
import { AppError } from '../../errors.ts'
import { planExceeded } from '../bound.ts'
import { treeGone } from './entry.ts'
import type { Tree } from './entry-path.ts'

/** The limits of a bucket, from the plan of its user or of its workspace's owner. Null means unlimited. */
export interface BucketLimits {
  maxFileSizeBytes: number
  maxTotalStorageBytes: number
  maxFiles: number | null
}

/** The error for the limit that was reached. */
export async function quotaExceeded(
  db: Db,
  tree: Tree,
  limits: BucketLimits,
  { bytes, files }: { bytes: number; files: number },
  tx: Tx,
): Promise<AppError> {
  const now = await usedAndReserved(db, tree.bucketId, tx)
  if (!now) return treeGone()
  const ofWhat = now.workspaceId === null ? '' : '_workspace'
  if (limits.maxFiles !== null && now.files + files > limits.maxFiles)
    return planExceeded('files', { limit: `max_files${ofWhat}`, max: limits.maxFiles, used: now.files })
  return new AppError(
    'QUOTA_EXCEEDED',
    `The plan allows ${limits.maxTotalStorageBytes} bytes, of which ${now.bytes} are used; there is no room for ${bytes} more. Delete something, or ask for a larger plan.`,
    { limit: `max_total_storage_bytes${ofWhat}`, max: limits.maxTotalStorageBytes, used: now.bytes },
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
