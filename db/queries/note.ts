import type { Db } from '../index.ts'
import { placeholders } from './sql.ts'

/** The notes of a bucket on some contents, by checksum; one statement for up to 1,000. */
export async function notesOf(db: Db, bucketId: string, checksums: string[]): Promise<Map<string, string>> {
  const notes = new Map<string, string>()
  for (let i = 0; i < checksums.length; i += 1000) {
    const some = checksums.slice(i, i + 1000)
    const rows = await db.rows<{ checksum: string; content: string }>(
      `SELECT checksum, content FROM note WHERE bucket_id = ? AND checksum IN (${placeholders(some)})`,
      [bucketId, ...some],
    )
    for (const { checksum, content } of rows) notes.set(checksum, content)
  }
  return notes
}
