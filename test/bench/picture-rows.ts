import { v7 as newId } from 'uuid'
import { Entry, FILE, FOLDER } from '../../db/models/entry.ts'
import { TrashItem } from '../../db/models/trash-item.ts'
import { inParts, insertion } from '../../db/queries/sql.ts'
import type { Bench } from './service.ts'

const YEARS_MS = 15 * 365 * 86_400_000

/**
 * Inserts pictures in folders, over 15 years, directly into the database. One folder in twenty is
 * in the trash.
 * @param blobId the content of all pictures. Without it, each has its own content, which has no
 * bytes.
 */
export async function insertPictures(
  { db, bucketId, rootId, userId: createdBy }: Bench,
  pictures: number,
  { folders: count, blobId }: { folders: number; blobId?: string },
): Promise<void> {
  const now = Date.now()
  const common = { bucketId, createdBy, createdAt: now, updatedAt: now }
  const folders = Array.from({ length: count }, (_, i) => ({ id: newId(), isGone: i % 20 === 0 }))
  await db.transaction(async tx => {
    for (const some of inParts([...folders.entries()], 400))
      await db.run(
        ...insertion(
          Entry,
          some.map(([i, { id, isGone }]) => ({
            ...common,
            id,
            parentId: isGone ? null : rootId,
            kind: FOLDER,
            name: `album ${i}`,
            fileType: '',
            md5: '',
          })),
        ),
        tx,
      )
    const gone = folders.filter(({ isGone }) => isGone)
    const item = { bucketId, parentId: rootId, path: 'album', deletedBy: createdBy, deletedAt: now }
    for (const some of inParts(gone, 400))
      await db.run(
        ...insertion(
          TrashItem,
          some.map(({ id }) => ({ ...item, id: newId(), entryId: id })),
        ),
        tx,
      )
  })
  const each = Array.from({ length: pictures }, (_, i) => i)
  for (const some of inParts(each, 20_000))
    await db.transaction(async tx => {
      for (const part of inParts(some, 500))
        await db.run(
          ...insertion(
            Entry,
            part.map(i => ({
              ...common,
              id: newId(),
              parentId: folders[Math.floor((i * count) / pictures)]?.id ?? rootId,
              kind: FILE,
              name: `IMG_${i}.jpg`,
              blobId: blobId ?? newId(),
              fileType: 'image/jpeg',
              md5: '0'.repeat(32),
              totalBytes: 4_000_000,
              totalFiles: 1,
              picturedAt: now - Math.floor((i * YEARS_MS) / pictures),
            })),
          ),
          tx,
        )
    })
  if (db.dialect === 'mysql') await db.run('ANALYZE TABLE entry')
}
