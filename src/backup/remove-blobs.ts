import { type BlobStore, BlobsKept } from '../storage/store.ts'
import type { Progress } from './progress.ts'

/**
 * Removes unneeded blobs. Those that cannot be removed are only reported, because they do no harm.
 * @returns how many were removed
 */
export async function removeBlobs(
  store: BlobStore,
  keys: string[],
  progress: Progress,
): Promise<number> {
  try {
    await store.remove(keys)
    return keys.length
  } catch (error) {
    if (!(error instanceof BlobsKept)) throw error
    progress.warn(
      `${error.message} They are of no use, and are kept: ${error.keys.slice(0, 3).join(', ')}`,
    )
    return keys.length - error.keys.length
  }
}
