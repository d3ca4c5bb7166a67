import { hash } from 'node:crypto'
import { DAY_MS } from '../../src/values/duration.ts'
import type { TextFormat } from '../../src/values/text-format.ts'
import type { Db, Tx } from '../index.ts'
import { FILE } from '../models/entry.ts'
import { GIVEN_UP } from './job.ts'
import { inParts, placeholders } from './sql.ts'

/** The text of a content that was read in one format, whichever and however many files have it. */
export interface ContentText {
  /** Of the SHA-256 of its bytes and of the format: `textKeyOf`. */
  digest: string
  /** failed: there is none until it is read again. */
  state: 'made' | 'failed'
  /** Why there is none. */
  reason: string | null
  characters: number
  /** Compressed with Brotli. */
  body: Buffer | null
}

/** How long a failure counts. After that, the text is read again. */
const FAILED_MS = 7 * DAY_MS

/**
 * The key of the text of a content. People choose names and media types, so a text belongs to the
 * format that it was read as, too: otherwise the first owner of some bytes would decide for all.
 */
export const textKeyOf = (sha256: string, format: TextFormat): string =>
  hash('sha256', `${sha256} ${format}`)

/** A text, or a failure that still counts. */
export const contentText = (
  db: Db,
  digest: string,
): Promise<Pick<ContentText, 'state'> | undefined> =>
  db.row("SELECT state FROM content_text WHERE digest = ? AND (state = 'made' OR created_at > ?)", [
    digest,
    Date.now() - FAILED_MS,
  ])

/** Records the content of a blob and the key of its text. @returns whether the blob is live */
export const setTextKey = (
  db: Db,
  { id, sha256, textKey }: { id: string; sha256: string; textKey: string },
  tx: Tx,
): Promise<boolean> =>
  db.changed(
    "UPDATE blobs SET sha256 = ?, text_key = ? WHERE id = ? AND state = 'live'",
    [sha256, textKey, id],
    tx,
  )

/** The keys of the texts of some blobs, as far as they have any. */
export async function textKeysOf(db: Db, ids: readonly string[]): Promise<string[]> {
  const sql = `SELECT DISTINCT text_key AS textKey FROM blobs WHERE id IN (${placeholders(ids)}) AND text_key IS NOT NULL`
  return (await db.rows<{ textKey: string }>(sql, [...ids])).map(({ textKey }) => textKey)
}

/** Files whose texts could not be made, and whose failure no longer counts. */
export const expiredFailures = (db: Db, limit: number): Promise<TextFile[]> =>
  db.rows(
    `SELECT e.blob_id AS blobId, e.name, e.file_type AS fileType, e.total_bytes AS size
     FROM content_text c JOIN blobs b ON b.text_key = c.digest JOIN entry e ON e.blob_id = b.id
     WHERE c.state = 'failed' AND c.created_at <= ? LIMIT ${limit}`,
    [Date.now() - FAILED_MS],
  )

/** Some texts, compressed. */
export const textBodies = async (
  db: Db,
  digests: readonly string[],
): Promise<Map<string, Buffer>> => {
  const bodies = new Map<string, Buffer>()
  for (const some of inParts([...new Set(digests)], 100)) {
    const rows = await db.rows<{ digest: string; body: Uint8Array | null }>(
      `SELECT digest, body FROM content_text WHERE state = 'made' AND digest IN (${placeholders(some)})`,
      some,
    )
    for (const { digest, body } of rows) if (body) bodies.set(digest, Buffer.from(body))
  }
  return bodies
}

/** How many characters some texts have, those left out that were not made. */
export async function textSizes(db: Db, digests: readonly string[]): Promise<Map<string, number>> {
  const rows: { digest: string; characters: number }[] = []
  for (const some of inParts([...new Set(digests)], 500))
    rows.push(
      ...(await db.rows<(typeof rows)[number]>(
        `SELECT digest, characters FROM content_text WHERE state = 'made' AND digest IN (${placeholders(some)})`,
        some,
      )),
    )
  return new Map(rows.map(({ digest, characters }) => [digest, characters]))
}

/** Adds the text of a content, also in place of a failure. A text that is there stays. */
export async function insertContentText(
  db: Db,
  { digest, state, reason, characters, body }: ContentText,
  tx: Tx,
): Promise<void> {
  await db.run("DELETE FROM content_text WHERE digest = ? AND state = 'failed'", [digest], tx)
  await db.run(
    `${db.dialect === 'mysql' ? 'INSERT IGNORE' : 'INSERT OR IGNORE'} INTO content_text (digest, state, reason, characters, body, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
    [digest, state, reason, characters, body, Date.now()],
    tx,
  )
}

/** A live blob that has a text; undefined if there is none. */
export const liveBlobWith = (db: Db, digest: string, tx: Tx): Promise<{ id: string } | undefined> =>
  db.row("SELECT id FROM blobs WHERE text_key = ? AND state = 'live' LIMIT 1", [digest], tx)

/** A live file that has a text, as far as reading it again takes; undefined if there is none. */
export const liveFileWith = (db: Db, digest: string, tx: Tx): Promise<TextFile | undefined> =>
  db.row(
    `SELECT b.id AS blobId, e.name, e.file_type AS fileType, e.total_bytes AS size
     FROM blobs b JOIN entry e ON e.blob_id = b.id WHERE b.text_key = ? AND b.state = 'live' LIMIT 1`,
    [digest],
    tx,
  )

/** Deletes a text that no live blob has. @returns whether it is gone */
export async function endUnusedText(db: Db, digest: string, tx: Tx): Promise<boolean> {
  await db.rows(`SELECT digest FROM content_text WHERE digest = ?${db.forUpdate}`, [digest], tx)
  if (await liveBlobWith(db, digest, tx)) return false
  await db.run('DELETE FROM content_text WHERE digest = ?', [digest], tx)
  return true
}

/** A file, as far as deciding whether it has a text takes. */
export interface TextFile {
  blobId: string
  name: string
  fileType: string
  size: number
}

/** Those of some blobs whose texts are not there, or not indexed in a drive. */
export async function blobsToIndex(
  db: Db,
  drive: number,
  blobIds: readonly string[],
): Promise<Set<string>> {
  const found = new Set<string>()
  for (const some of inParts([...new Set(blobIds)], 500)) {
    const rows = await db.rows<{ id: string }>(
      `SELECT b.id FROM blobs b LEFT JOIN content_text c ON c.digest = b.text_key
         LEFT JOIN search_text t ON t.digest = b.text_key AND t.drive = ?
       WHERE b.id IN (${placeholders(some)}) AND (c.digest IS NULL OR (c.state = 'made' AND (t.doc IS NULL OR t.is_ready = 0)))`,
      [drive, ...some],
    )
    for (const { id } of rows) found.add(id)
  }
  return found
}

/**
 * Files in the order of their ids whose content has no text, or is not indexed in their drive,
 * though that has been looked through.
 */
export const filesWithoutTextAfter = (
  db: Db,
  { after, before }: { after: string; before: number },
  limit: number,
): Promise<(TextFile & { id: string })[]> =>
  db.rows(
    `SELECT e.id, e.blob_id AS blobId, e.name, e.file_type AS fileType, e.total_bytes AS size
     FROM entry e JOIN search_drive d ON d.bucket_id = e.bucket_id JOIN blobs b ON b.id = e.blob_id
       LEFT JOIN content_text c ON c.digest = b.text_key LEFT JOIN search_text t ON t.digest = b.text_key AND t.drive = d.number
     WHERE e.kind = ${FILE} AND e.id > ? AND e.updated_at <= ? AND d.has_texts = 1 AND d.place IS NULL
       AND (c.digest IS NULL OR (c.state = 'made' AND (t.doc IS NULL OR t.is_ready = 0)))
     ORDER BY e.id LIMIT ${limit}`,
    [after, before],
  )

/** The blobs that jobs are about to read the texts of. */
export async function waitingTexts(db: Db): Promise<Set<string>> {
  const rows = await db.rows<{ payload: string }>(
    "SELECT payload FROM outbox WHERE kind = 'contents' AND due_at < ?",
    [GIVEN_UP],
  )
  return new Set(rows.map(({ payload }) => (JSON.parse(payload) as { blobId: string }).blobId))
}

/** How many texts there are, how many characters they have, and how many contents have none. */
export async function countTexts(
  db: Db,
): Promise<{ made: number; characters: number; failed: number; waiting: number }> {
  const row = await db.row<Record<'made' | 'characters' | 'failed', number | null>>(
    "SELECT SUM(state = 'made') AS made, SUM(characters) AS characters, SUM(state = 'failed') AS failed FROM content_text",
  )
  const jobs = await db.row<{ n: number }>(
    "SELECT COUNT(*) AS n FROM outbox WHERE kind = 'contents' AND due_at < ?",
    [GIVEN_UP],
  )
  return {
    made: Number(row?.made ?? 0),
    characters: Number(row?.characters ?? 0),
    failed: Number(row?.failed ?? 0),
    waiting: Number(jobs?.n ?? 0),
  }
}

/**
 * Texts in the order of their digests that no blob has: the sweeper would have deleted them with
 * the last one.
 */
export const unusedTextsAfter = (db: Db, after: string, limit: number): Promise<{ id: string }[]> =>
  db.rows(
    `SELECT c.digest AS id FROM content_text c WHERE c.digest > ? AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.text_key = c.digest)
     ORDER BY c.digest LIMIT ${limit}`,
    [after],
  )

/**
 * Deletes some texts, whichever. @param onlyFailed those that could not be made @returns how many
 */
export async function deleteTexts(db: Db, limit: number, onlyFailed = false): Promise<number> {
  const which = onlyFailed ? " WHERE state = 'failed'" : ''
  if (db.dialect === 'mysql') return db.run(`DELETE FROM content_text${which} LIMIT ${limit}`)
  return db.run(
    `DELETE FROM content_text WHERE digest IN (SELECT digest FROM content_text${which} LIMIT ${limit})`,
  )
}
