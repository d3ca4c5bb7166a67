import type { Db, Tx } from '../index.ts'
import { type Page, pageOf } from './page.ts'
import { inParts, placeholders } from './sql.ts'

/** The notes of a bucket on some contents, by checksum. One statement for up to 1,000. */
export async function notesOf(
  db: Db,
  bucketId: string,
  checksums: string[],
  tx?: Tx,
): Promise<Map<string, string>> {
  const notes = new Map<string, string>()
  for (const some of inParts(checksums, 1000)) {
    const rows = await db.rows<{ checksum: string; content: string }>(
      `SELECT checksum, content
       FROM note
       WHERE bucket_id = ?
         AND checksum IN (${placeholders(some)})`,
      [bucketId, ...some],
      tx,
    )
    for (const { checksum, content } of rows) notes.set(checksum, content)
  }
  return notes
}

/** Whether a bucket has a file with this content, in its tree or its trash. */
export const hasContent = (db: Db, bucketId: string, md5: string, tx: Tx): Promise<boolean> =>
  db.exists('SELECT id FROM entry WHERE bucket_id = ? AND md5 = ? LIMIT 1', [bucketId, md5], tx)

/**
 * The notes of a bucket sorted by checksum.
 * @param after a checksum, or empty
 */
export async function pageOfNotes(
  db: Db,
  bucketId: string,
  limit: number,
  after: string,
): Promise<Page<{ checksum: string; content: string; updatedAt: number }>> {
  const sql = `SELECT checksum, content, updated_at AS updatedAt
    FROM note
    WHERE bucket_id = ?
      AND checksum > ?
    ORDER BY checksum
    LIMIT ${limit + 1}`
  return pageOf(await db.rows(sql, [bucketId, after]), limit)
}
