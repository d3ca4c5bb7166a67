import type { Db } from '../../db/index.ts'
import { FILE } from '../../db/models/entry.ts'
import { placeholders } from '../services/entry-path.ts'
import { markBlobsForDeletion } from '../services/ledger.ts'
import { endUploadSessions } from '../services/upload-session.ts'

const BATCH = 500

/**
 * Deletes the content of a deleted folder, in batches from the bottom up. It cannot be reached any more, so only the rows are locked.
 * The tree itself records the progress: a purge that is killed resumes where it was.
 */
export async function purgeFolder(
  db: Db,
  { folderId, bucketId }: { folderId: string; bucketId: string },
): Promise<void> {
  const path = [folderId]
  for (;;) {
    const current = path.at(-1)
    if (current === undefined) break
    const children = await db.rows<{ id: string; kind: number; blobId: string | null }>(
      `SELECT id, kind, blob_id AS blobId FROM entry WHERE parent_id = ? ORDER BY kind DESC LIMIT ${BATCH}`,
      [current],
    )
    const files = children.filter(c => c.kind === FILE)
    if (files.length > 0) {
      const ids = files.map(f => f.id)
      await db.transaction(async tx => {
        await markBlobsForDeletion(
          db,
          files.flatMap(f => f.blobId ?? []),
          tx,
        )
        await db.run(`DELETE FROM share WHERE entry_id IN (${placeholders(ids)})`, ids, tx)
        await db.run(`DELETE FROM entry WHERE id IN (${placeholders(ids)})`, ids, tx)
      })
    } else if (children.length > 0) {
      for (const { id } of children) path.push(id)
    } else {
      path.pop()
      await db.transaction(async tx => {
        const changed = await db.run('DELETE FROM entry WHERE id = ?', [current], tx)
        // Counted down once, with the row that was counted up for.
        if (current === folderId && changed === 1)
          await db.run('UPDATE bucket SET purging = purging - 1 WHERE id = ?', [bucketId], tx)
      })
    }
  }
}

/** Ends the whole tree of a deleted workspace or account, and its bucket with it. */
export async function purgeBucket(db: Db, { rootId, bucketId }: { rootId: string; bucketId: string }): Promise<void> {
  await purgeFolder(db, { folderId: rootId, bucketId })
  await endUploadSessions(db, bucketId)
  await db.run('DELETE FROM note WHERE bucket_id = ?', [bucketId])
  await db.run('DELETE FROM bucket WHERE id = ?', [bucketId])
}
