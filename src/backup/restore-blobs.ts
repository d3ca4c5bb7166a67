import { BlobMissing, type BlobStore } from '../storage/store.ts'
import { BlobDamaged, BlobUnreadable, copyBlobs, digestOfBlob, eachAtOnce } from './copy.ts'
import type { BackupFolder } from './folder.ts'
import { listOf, presentIn } from './list.ts'
import type { ListedBlob, Manifest } from './manifest.ts'
import type { Progress } from './progress.ts'
import { batches, cursorOver } from './sorted.ts'

const AT_A_TIME = { count: 512, bytes: 1024 ** 3 }

/**
 * Copies the blobs of a backup into a store that may already have some of them. Reports and skips
 * blobs that are missing or damaged in the backup, because a partial restore is better than none.
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
    // A listed blob without bytes may be an aborted upload.
    if (size === 0 && !(await store.look(id))) return false
    if (!verify) return true
    const found256 = await digestOfBlob(store, id).catch(error => {
      if (error instanceof BlobMissing || error instanceof BlobUnreadable) return undefined
      throw error
    })
    return found256 === sha256
  }
  const lose = (id: string, why: string) => {
    sums.lost += 1
    progress.warn(`The blob ${id} ${why}`)
  }
  for await (const some of batches(listOf(folder, backup), AT_A_TIME)) {
    const work: { blob: ListedBlob; found: number | undefined }[] = []
    for (const blob of some) {
      const [found] = await present.at(blob.id)
      if (blob.problem) lose(blob.id, `was ${blob.problem} when the backup was made.`)
      if (blob.sha256 !== undefined) work.push({ blob, found: found?.size })
    }
    const copies = await eachAtOnce(work, async ({ blob, found }) => {
      const { id, size, sha256 } = blob
      if (!(await isThere(blob, found))) return [{ id, size, expected: sha256 }]
      sums.there += 1
      progress.add(1, size)
      return []
    })
    const outcomes = await copyBlobs(folder.blobs, store, copies.flat(), size =>
      progress.add(1, size),
    )
    for (const [id, outcome] of outcomes)
      if (outcome instanceof BlobMissing)
        lose(id, 'is missing in the backup, so it was not restored.')
      else if (outcome instanceof BlobDamaged)
        lose(id, 'is damaged in the backup, so it was not restored.')
      else if (outcome instanceof BlobUnreadable)
        lose(id, `cannot be read in the backup (${outcome.code}), so it was not restored.`)
      else sums.copied += 1
  }
  await present.end()
  return sums
}
