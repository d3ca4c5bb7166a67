import { hash } from 'node:crypto'
import { DAY_MS } from '../../src/values/duration.ts'
import { TEXT_VERSION, type TextFormat } from '../../src/values/text-format.ts'
import type { Db, Tx } from '../index.ts'
import { FILE } from '../models/entry.ts'
import { GIVEN_UP } from './job.ts'
import { inParts, placeholders } from './sql.ts'

/** The text of a content, extracted in one format, for all files with that content. */
export interface ContentText {
  /** The key made of the SHA-256 of the bytes, the format and the version; see `textKeyOf`. */
  digest: string
  /** `failed`: there is no text until the content is read again. */
  state: 'made' | 'failed'
  /** The reason for a failure. */
  reason: string | null
  characters: number
  /** Compressed with Brotli. */
  body: Buffer | null
}

/** The time after which a failed content is read again, in milliseconds. */
const FAILED_MS = 7 * DAY_MS
/** The failures that do not pass: the same reader would fail again. */
const LASTING = "'unsupported', 'too-large'"

/**
 * The key of a content's text. It includes the format, because people choose names and media types.
 * Otherwise the first owner of some bytes would decide the format for everyone. It includes the
 * version of the reader, so that no text of an earlier version is taken for one of this version.
 */
export const textKeyOf = (sha256: string, format: TextFormat): string =>
  hash('sha256', `${sha256} ${format} ${TEXT_VERSION}`)

/** A text, or a failure that is still valid. */
export const contentText = (
  db: Db,
  digest: string,
): Promise<Pick<ContentText, 'state'> | undefined> =>
  db.row(
    `SELECT state
     FROM content_text
     WHERE digest = ?
       AND (state = 'made' OR created_at > ? OR reason IN (${LASTING}))`,
    [digest, Date.now() - FAILED_MS],
  )

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

/** The text keys of those blobs that have one. */
export async function textKeysOf(db: Db, ids: readonly string[]): Promise<string[]> {
  const sql = `SELECT DISTINCT text_key AS textKey
    FROM blobs
    WHERE id IN (${placeholders(ids)})
      AND text_key IS NOT NULL`
  return (await db.rows<{ textKey: string }>(sql, [...ids])).map(({ textKey }) => textKey)
}

/** Files whose text extraction failed and is due again. */
export const expiredFailures = (db: Db, limit: number): Promise<TextFile[]> =>
  db.rows(
    `SELECT e.blob_id AS blobId, e.name, e.file_type AS fileType, e.total_bytes AS size
     FROM content_text c
     JOIN blobs b ON b.text_key = c.digest
     JOIN entry e ON e.blob_id = b.id
     WHERE c.state = 'failed'
       AND c.created_at <= ?
       AND (c.reason IS NULL OR c.reason NOT IN (${LASTING}))
     LIMIT ${limit}`,
    [Date.now() - FAILED_MS],
  )

/** Some compressed texts. */
export const textBodies = async (
  db: Db,
  digests: readonly string[],
): Promise<Map<string, Buffer>> => {
  const bodies = new Map<string, Buffer>()
  for (const some of inParts([...new Set(digests)], 100)) {
    const rows = await db.rows<{ digest: string; body: Uint8Array | null }>(
      `SELECT digest, body
       FROM content_text
       WHERE state = 'made'
         AND digest IN (${placeholders(some)})`,
      some,
    )
    for (const { digest, body } of rows) if (body) bodies.set(digest, Buffer.from(body))
  }
  return bodies
}

/**
 * Stores the text of a content. Replaces a failure but not a text, which is noted again, because
 * another blob has it now.
 */
export async function insertContentText(
  db: Db,
  { digest, state, reason, characters, body }: ContentText,
  tx: Tx,
): Promise<void> {
  await db.run("DELETE FROM content_text WHERE digest = ? AND state = 'failed'", [digest], tx)
  const now = Date.now()
  const again =
    db.dialect === 'mysql'
      ? 'ON DUPLICATE KEY UPDATE noted_at = VALUES(noted_at)'
      : 'ON CONFLICT (digest) DO UPDATE SET noted_at = excluded.noted_at'
  await db.run(
    `INSERT INTO content_text (digest, state, reason, characters, body, created_at, noted_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)
     ${again}`,
    [digest, state, reason, characters, body, now, now],
    tx,
  )
}

/** Records that another blob has a text, so that search indexes look for its files again. */
export const noteText = (db: Db, digest: string, tx: Tx): Promise<number> =>
  db.run('UPDATE content_text SET noted_at = ? WHERE digest = ?', [Date.now(), digest], tx)

/** A text in the order in which texts were made, or found to belong to another blob. */
export interface NotedText {
  notedAt: number
  digest: string
}

/** The texts after a text, the oldest first. */
export const textsNotedAfter = async (
  db: Db,
  { notedAt, digest }: NotedText,
  limit: number,
): Promise<NotedText[]> =>
  (
    await db.rows<NotedText>(
      `SELECT digest, noted_at AS notedAt
       FROM content_text
       WHERE noted_at >= ?
         AND (noted_at > ? OR digest > ?)
         AND state = 'made'
       ORDER BY noted_at, digest
       LIMIT ${limit}`,
      [notedAt, notedAt, digest],
    )
  ).map(row => ({ ...row, notedAt: Number(row.notedAt) }))

/** A live blob with this text, or undefined. */
export const liveBlobWith = (db: Db, digest: string, tx: Tx): Promise<{ id: string } | undefined> =>
  db.row("SELECT id FROM blobs WHERE text_key = ? AND state = 'live' LIMIT 1", [digest], tx)

/** A live file with this text and the columns needed to read it again, or undefined. */
export const liveFileWith = (db: Db, digest: string, tx: Tx): Promise<TextFile | undefined> =>
  db.row(
    `SELECT b.id AS blobId, e.name, e.file_type AS fileType, e.total_bytes AS size
     FROM blobs b
     JOIN entry e ON e.blob_id = b.id
     WHERE b.text_key = ?
       AND b.state = 'live'
     LIMIT 1`,
    [digest],
    tx,
  )

/**
 * Deletes a text that no live blob has.
 * @returns whether it was deleted
 */
export async function endUnusedText(db: Db, digest: string, tx: Tx): Promise<boolean> {
  await db.rows(`SELECT digest FROM content_text WHERE digest = ?${db.forUpdate}`, [digest], tx)
  if (await liveBlobWith(db, digest, tx)) return false
  await db.run('DELETE FROM content_text WHERE digest = ?', [digest], tx)
  return true
}

/** The columns of a file that decide whether it has a text. */
export interface TextFile {
  blobId: string
  name: string
  fileType: string
  size: number
}

/** The blobs among these whose texts have not been made, and have not failed. */
export async function blobsWithoutText(db: Db, blobIds: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>()
  for (const some of inParts([...new Set(blobIds)], 500)) {
    const rows = await db.rows<{ id: string }>(
      `SELECT b.id
       FROM blobs b
       LEFT JOIN content_text c ON c.digest = b.text_key
       WHERE b.id IN (${placeholders(some)})
         AND c.digest IS NULL`,
      some,
    )
    for (const { id } of rows) found.add(id)
  }
  return found
}

/** Files, by id, whose content has no text. */
export const filesWithoutTextAfter = (
  db: Db,
  { after, before }: { after: string; before: number },
  limit: number,
): Promise<(TextFile & { id: string })[]> =>
  db.rows(
    `SELECT e.id, e.blob_id AS blobId, e.name, e.file_type AS fileType, e.total_bytes AS size
     FROM entry e
     JOIN bucket u ON u.id = e.bucket_id
     JOIN blobs b ON b.id = e.blob_id
     LEFT JOIN content_text c ON c.digest = b.text_key
     WHERE e.kind = ${FILE}
       AND e.id > ?
       AND e.updated_at <= ?
       AND (u.user_id IS NOT NULL OR u.workspace_id IS NOT NULL)
       AND c.digest IS NULL
     ORDER BY e.id
     LIMIT ${limit}`,
    [after, before],
  )

/** The blobs whose texts are about to be extracted by jobs. */
export async function waitingTexts(db: Db): Promise<Set<string>> {
  const rows = await db.rows<{ payload: string }>(
    "SELECT payload FROM outbox WHERE kind = 'contents' AND due_at < ?",
    [GIVEN_UP],
  )
  return new Set(rows.map(({ payload }) => (JSON.parse(payload) as { blobId: string }).blobId))
}

/** The number of texts, their characters, and the number of contents without a text. */
export async function countTexts(
  db: Db,
): Promise<{ made: number; characters: number; failed: number; waiting: number }> {
  const row = await db.row<Record<'made' | 'characters' | 'failed', number | null>>(
    `SELECT SUM(state = 'made') AS made, SUM(characters) AS characters,
       SUM(state = 'failed') AS failed
     FROM content_text`,
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

/** Texts, by digest, that no blob has. Normally the sweeper deletes a text with its last blob. */
export const unusedTextsAfter = (db: Db, after: string, limit: number): Promise<{ id: string }[]> =>
  db.rows(
    `SELECT c.digest AS id
     FROM content_text c
     WHERE c.digest > ?
       AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.text_key = c.digest)
     ORDER BY c.digest
     LIMIT ${limit}`,
    [after],
  )

/**
 * Deletes some texts of any content.
 * @param onlyFailed only failures
 * @returns the number of deleted rows
 */
export async function deleteTexts(db: Db, limit: number, onlyFailed = false): Promise<number> {
  const which = onlyFailed ? " WHERE state = 'failed'" : ''
  if (db.dialect === 'mysql') return db.run(`DELETE FROM content_text${which} LIMIT ${limit}`)
  return db.run(
    `DELETE FROM content_text
     WHERE digest IN (SELECT digest FROM content_text${which} LIMIT ${limit})`,
  )
}
