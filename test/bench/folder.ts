import { v7 as newId } from 'uuid'
import type { Db } from '../../db/index.ts'
import { FILE, FOLDER } from '../../db/models/entry.ts'

const ROWS = 1000
const BYTES = 10

/**
 * Inserts a folder of many files into the root of a drive, with its totals but without blobs,
 * directly into the database.
 * @returns its id
 */
export async function insertFolder(
  db: Db,
  { bucketId, rootId, userId }: { bucketId: string; rootId: string; userId: string },
  name: string,
  files: number,
): Promise<string> {
  const id = newId()
  const now = Date.now()
  const common = {
    bucketId,
    totalFolders: 0,
    levelsBelow: 0,
    bytesBelow: 0,
    createdBy: userId,
    createdAt: now,
    updatedAt: now,
  }
  const totals = { totalBytes: files * BYTES, totalFiles: files }
  await db.Entry.create({
    ...common,
    ...totals,
    id,
    parentId: rootId,
    kind: FOLDER,
    name,
    blobId: null,
    fileType: '',
    md5: '',
  })
  for (let from = 0; from < files; from += ROWS)
    await db.Entry.bulkCreate(
      Array.from({ length: Math.min(ROWS, files - from) }, (_, i) => ({
        ...common,
        id: newId(),
        parentId: id,
        kind: FILE,
        name: `file-${String(from + i).padStart(6, '0')}.txt`,
        blobId: newId(),
        fileType: 'text/plain',
        md5: 'd41d8cd98f00b204e9800998ecf8427e',
        totalBytes: BYTES,
        totalFiles: 1,
      })),
    )
  await db.Entry.increment({ ...totals, totalFolders: 1 }, { where: { id: rootId } })
  await db.Bucket.increment(
    { usedBytes: totals.totalBytes, usedFiles: files, usedFolders: 1 },
    { where: { id: bucketId } },
  )
  return id
}
