import type { Db } from '../index.ts'
import { FILE, FOLDER } from '../models/entry.ts'
import { type PlacedRow, placedColumns } from './entry-list.ts'
import { unionPart } from './page.ts'
import { besideKeys, byId, inParts, placeholders } from './sql.ts'

/** Drives of one union that reads whole rows. */
const DRIVES = 64

/**
 * Identifies the state of the database that search indexes are made of. An index that belongs to
 * another epoch is made again.
 */
export async function searchEpoch(db: Db): Promise<string> {
  return (await db.row<{ id: string }>('SELECT id FROM search_epoch'))?.id ?? ''
}

/** Makes all instances build their search indexes again. */
export const newSearchEpoch = (db: Db, id: string): Promise<number> =>
  db.run('UPDATE search_epoch SET id = ?', [id])

/** The end of a drive's log, for a search index. */
export interface LogEnd {
  bucketId: string
  /** The number of its last event. */
  head: number
  /** When the event with the given number was written; null if it is gone. */
  stamp: number | null
  epoch: string
}

/**
 * The ends of the logs of drives. Drives that do not exist are missing.
 * @param drives with the number of the event up to which each is indexed
 */
export async function logEnds(
  db: Db,
  drives: readonly { bucketId: string; seq: number }[],
): Promise<LogEnd[]> {
  const found: LogEnd[] = []
  for (const some of inParts(drives, 200)) {
    const rows = await db.rows<LogEnd>(
      `SELECT id AS bucketId,
         COALESCE((SELECT MAX(seq) FROM event WHERE log_id = bucket.id),
           (SELECT purged_seq FROM event_log WHERE log_id = bucket.id), 0) AS head,
         (SELECT at FROM event WHERE log_id = bucket.id AND seq = ${byId(some.length)}) AS stamp,
         (SELECT id FROM search_epoch) AS epoch
       FROM bucket
       WHERE id IN (${placeholders(some)})`,
      [...some.flatMap(({ bucketId, seq }) => [bucketId, seq]), ...some.map(one => one.bucketId)],
    )
    for (const row of rows)
      found.push({
        ...row,
        head: Number(row.head),
        stamp: row.stamp === null ? null : Number(row.stamp),
      })
  }
  return found
}

/** The drives with an owner, in the order of their ids. */
export const bucketsAfter = (db: Db, after: string, limit: number): Promise<{ id: string }[]> =>
  db.rows(
    `SELECT id
     FROM bucket
     WHERE id > ?
       AND (user_id IS NOT NULL OR workspace_id IS NOT NULL)
     ORDER BY id
     LIMIT ${limit}`,
    [after],
  )

/** Those of some drives that exist. */
export async function existingBuckets(db: Db, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const sql = `SELECT id FROM bucket WHERE id IN (${placeholders(ids)})`
  return new Set((await db.rows<{ id: string }>(sql, [...ids])).map(({ id }) => id))
}

/** The number of drives with an owner. */
export async function countBuckets(db: Db): Promise<number> {
  const sql =
    'SELECT COUNT(*) AS n FROM bucket WHERE user_id IS NOT NULL OR workspace_id IS NOT NULL'
  return Number((await db.row<{ n: number }>(sql))?.n)
}

/** Folders and files of a drive in the order of their ids. */
export async function entriesInOrder(
  db: Db,
  bucketId: string,
  after: string,
  limit: number,
): Promise<PlacedRow[]> {
  // The index has the kind before the id.
  const one = [FOLDER, FILE].map(kind =>
    unionPart(
      db,
      `SELECT ${placedColumns}
       FROM entry
       WHERE bucket_id = ?
         AND kind = ${kind}
         AND id > ?
       ORDER BY id
       LIMIT ${limit}`,
    ),
  )
  return db.rows(`${one.join(' UNION ALL ')} ORDER BY id LIMIT ${limit}`, [
    bucketId,
    after,
    bucketId,
    after,
  ])
}

/** Some entries with their places, in any order. */
export async function placedEntries(db: Db, ids: readonly string[]): Promise<PlacedRow[]> {
  const rows: PlacedRow[] = []
  for (const some of inParts(ids, 1000))
    rows.push(
      ...(await db.rows<PlacedRow>(
        `SELECT ${placedColumns} FROM entry WHERE id IN (${placeholders(some)})`,
        some,
      )),
    )
  return rows
}

/** The files of a bucket that have these contents: so many at most. */
export async function entriesOfContents(
  db: Db,
  bucketId: string,
  md5s: readonly string[],
  limit: number,
): Promise<PlacedRow[]> {
  if (md5s.length === 0) return []
  return db.rows(
    `SELECT ${placedColumns}
     FROM entry
     WHERE bucket_id = ?
       AND md5 IN (${placeholders(md5s)})
     LIMIT ${limit}`,
    [bucketId, ...md5s],
  )
}

/** The newest entries of some buckets. @param before an id, exclusive */
export async function newestEntries(
  db: Db,
  bucketIds: readonly string[],
  limit: number,
  before: string | null,
): Promise<PlacedRow[]> {
  // The index has the kind before the id.
  const one = [FOLDER, FILE].map(kind =>
    unionPart(
      db,
      `SELECT ${placedColumns}
       FROM entry
       WHERE bucket_id = ?
         AND kind = ${kind}${before === null ? '' : ' AND id < ?'}
       ORDER BY id DESC
       LIMIT ${limit}`,
    ),
  )
  const rows: PlacedRow[] = []
  // One after the other: a search takes no more than one connection.
  for (const some of inParts(bucketIds, DRIVES)) {
    const values = some.flatMap(id => one.flatMap(() => [id, ...(before === null ? [] : [before])]))
    const union = some.flatMap(() => one).join(' UNION ALL ')
    rows.push(...(await db.rows<PlacedRow>(`${union} ORDER BY id DESC LIMIT ${limit}`, values)))
  }
  return rows.sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit)
}

/** What is in some folders: so many at most. */
export const childrenOfFolders = (
  db: Db,
  folderIds: readonly string[],
  limit: number,
): Promise<PlacedRow[]> =>
  db.rows(
    `SELECT ${placedColumns}
     FROM entry
     WHERE parent_id IN (${placeholders(folderIds)})
     LIMIT ${limit}`,
    [...folderIds],
  )

/** The entries that have any of some tags, newest first. @param before an id, exclusive */
export const entriesWithTags = (
  db: Db,
  tagIds: readonly string[],
  limit: number,
  before: string | null,
): Promise<PlacedRow[]> =>
  db.rows(
    `SELECT ${placedColumns}
     FROM entry
     WHERE id IN (SELECT entry_id FROM entry_tag WHERE tag_id IN (${placeholders(tagIds)}))
     ${before === null ? '' : 'AND id < ?'}
     ORDER BY id DESC
     LIMIT ${limit}`,
    [...tagIds, ...(before === null ? [] : [before])],
  )

/** The keys of the texts of some blobs that have been made. */
export async function textKeysByBlob(
  db: Db,
  blobIds: readonly string[],
): Promise<Map<string, string>> {
  const keys = new Map<string, string>()
  for (const some of inParts([...new Set(blobIds)], 1000)) {
    const rows = await db.rows<{ id: string; textKey: string }>(
      `SELECT b.id, b.text_key AS textKey
       FROM blobs b
       JOIN content_text c ON c.digest = b.text_key
       WHERE b.id IN (${placeholders(some)})
         AND c.state = 'made'`,
      some,
    )
    for (const { id, textKey } of rows) keys.set(id, textKey)
  }
  return keys
}

/** A file with a text, by its place in the order of texts. */
export interface TextFileRow {
  id: string
  bucketId: string
  textKey: string
}

/** The files with some texts, by id after a given one. */
export const filesOfTexts = (
  db: Db,
  keys: readonly string[],
  after: string,
  limit: number,
): Promise<TextFileRow[]> =>
  db.rows(
    `SELECT e.id, e.bucket_id AS bucketId, b.text_key AS textKey
     FROM blobs b
     JOIN entry e ON e.blob_id = b.id
     WHERE b.text_key IN (${placeholders(keys)})
       AND ${besideKeys('e.id')} > ?
     ORDER BY e.id
     LIMIT ${limit}`,
    [...keys, after],
  )
