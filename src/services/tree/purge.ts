import type { Db } from '../../../db/index.ts'
import { FILE } from '../../../db/models/entry.ts'
import { releaseBlobs } from '../../../db/queries/blob.ts'
import { addPurging, lockBucket } from '../../../db/queries/bucket.ts'
import { childrenToPurge, deleteEntries, lockFiles } from '../../../db/queries/entry.ts'
import { removeLog } from '../../../db/queries/event.ts'
import { returnTrash } from '../../../db/queries/trash-item.ts'
import { blobsOf, releaseFiles, versionsOf } from '../../../db/queries/version.ts'
import { createPace } from '../../runtime/pace.ts'
import { FOREVER, type Job, USUAL_AT_A_TIME } from '../job.ts'
import { endUploadSessions } from '../uploads/upload-end.ts'

/** Purges a deleted folder. */
export const purgeFolderJob: Job<
  'purge-folder',
  { folderId: string; bucketId: string },
  { db: Db }
> = {
  kind: 'purge-folder',
  changesFiles: true,
  atATime: USUAL_AT_A_TIME,
  patienceMs: FOREVER,
  leastTries: 1,
  run: ({ db }, folder, { requireRunning }) => purgeFolder(db, folder, requireRunning),
}

/** Purges the tree of a deleted workspace or account. */
export const purgeBucketJob: Job<'purge-bucket', { rootId: string; bucketId: string }, { db: Db }> =
  {
    kind: 'purge-bucket',
    changesFiles: true,
    atATime: USUAL_AT_A_TIME,
    patienceMs: FOREVER,
    leastTries: 1,
    run: ({ db }, bucket, { requireRunning }) => purgeBucket(db, bucket, requireRunning),
  }

/**
 * Deletes the content of a deleted folder, in batches from the bottom up. The content is no longer
 * reachable, so only its rows are locked. The bucket is locked as well if versions are deleted,
 * because it counts them. The tree itself records the progress, so a killed purge resumes.
 * @param beforeStep called before each batch; may throw to pause the purge
 */
export async function purgeFolder(
  db: Db,
  { folderId, bucketId }: { folderId: string; bucketId: string },
  beforeStep = () => {},
): Promise<void> {
  const path = [folderId]
  const pace = createPace()
  const step = async (current: string, size: number): Promise<void> => {
    const children = await childrenToPurge(db, current, size)
    const ids = children.filter(c => c.kind === FILE).map(file => file.id)
    if (ids.length > 0) {
      // No new versions can be added.
      const hasVersions = (await versionsOf(db, ids)).length > 0
      await db.transaction(async tx => {
        if (hasVersions) await lockBucket(db, bucketId, tx)
        // Excludes files that another worker has deleted meanwhile, together with their references.
        const files = await lockFiles(db, ids, tx)
        if (hasVersions) await releaseFiles(db, bucketId, files, tx)
        else await releaseBlobs(db, blobsOf(files), tx)
        await deleteEntries(db, ids, tx)
      })
    } else if (children.length > 0) {
      for (const { id } of children) path.push(id)
    } else {
      path.pop()
      await db.transaction(async tx => {
        const deleted = await deleteEntries(db, [current], tx)
        // Decremented once, together with the row that it was incremented for.
        if (current === folderId && deleted === 1) await addPurging(db, bucketId, -1, tx)
      })
    }
  }
  for (let current = path.at(-1); current !== undefined; current = path.at(-1)) {
    const folder = current
    beforeStep()
    await pace.batch(size => step(folder, size))
  }
}

/** Deletes the whole tree of a deleted workspace or account, and its bucket. */
export async function purgeBucket(
  db: Db,
  { rootId, bucketId }: { rootId: string; bucketId: string },
  beforeStep = () => {},
): Promise<void> {
  await db.transaction(tx => returnTrash(db, { bucketId, rootId }, tx))
  await purgeFolder(db, { folderId: rootId, bucketId }, beforeStep)
  await endUploadSessions(db, bucketId)
  await db.transaction(async transaction => {
    await db.Note.destroy({ where: { bucketId }, transaction })
    await removeLog(db, bucketId, transaction)
    await db.Bucket.destroy({ where: { id: bucketId }, transaction })
  })
}
