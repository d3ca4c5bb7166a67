import { BlobMissing, type BlobStore } from '../storage/store.ts'
import { BlobDamaged, copyBlob, digestOfBlob, eachAtOnce } from './copy.ts'
import type { BackupFolder } from './folder.ts'
import { listOf, presentIn } from './list.ts'
import type { ListedBlob, Manifest } from './manifest.ts'
import type { Progress } from './progress.ts'
import { batches, cursorOver } from './sorted.ts'

const AT_A_TIME = { count: 1000, bytes: 1024 ** 3 }

/**
 * Copies the blobs of a backup into a store that may have some of them. One that the backup does not have intact is reported and left
 * out: the rest is worth more than none.
 */
export async function restoreBlobs(
  folder: BackupFolder,
  backup: string,
  store: BlobStore,
  { blobs, verify, progress }: { blobs: Manifest['blobs']; verify: boolean; progress: Progress },
): Promise<{ copied: number; there: number; lost: number }> {
  progress.step('Restoring files', { items: blobs.count, bytes: blobs.bytes })
  const sums = { copied: 0, there: 0, lost: 0 }
  const present = cursorOver(presentIn(store))

  const isThere = async ({ id, size, sha256 }: ListedBlob, found: number | undefined) => {
    if (found !== size) return false
    // What is listed without bytes may be an upload that was broken off.
    if (size === 0 && !(await store.look(id))) return false
    return !verify || (await digestOfBlob(store, id)) === sha256
  }
  const restore = async ({ blob, found }: { blob: ListedBlob; found: number | undefined }) => {
    const { id, size, sha256, problem } = blob
    try {
      if (problem) {
        sums.lost += 1
        progress.warn(`The blob ${id} was ${problem} when the backup was made.`)
      }
      if (sha256 === undefined) return
      if (await isThere(blob, found)) sums.there += 1
      else {
        await copyBlob(folder.blobs, store, id, sha256)
        sums.copied += 1
      }
    } catch (error) {
      if (!(error instanceof BlobDamaged || error instanceof BlobMissing)) throw error
      sums.lost += 1
      progress.warn(
        `The blob ${id} is ${error instanceof BlobMissing ? 'missing' : 'damaged'} in the backup, so it was not restored.`,
      )
    } finally {
      progress.add(1, size)
    }
  }
  for await (const some of batches(listOf(folder, backup), AT_A_TIME)) {
    const work: { blob: ListedBlob; found: number | undefined }[] = []
    for (const blob of some) work.push({ blob, found: (await present.at(blob.id))[0]?.size })
    await eachAtOnce(work, restore)
  }
  await present.end()
  return sums
}
