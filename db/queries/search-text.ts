import type { Db, Tx } from '../index.ts'
import { type PlacedRow, placedColumns } from './entry-list.ts'
import { besideKeys, inParts, placeholders } from './sql.ts'

/** A content of a drive whose words are indexed, or are being indexed. */
export interface SearchedText {
  drive: number
  /** Its number in the drive. */
  doc: number
  digest: string
  isReady: boolean
}

const read = (rows: (Omit<SearchedText, 'isReady'> & { isReady: number })[]): SearchedText[] =>
  rows.map(row => ({ ...row, isReady: Boolean(row.isReady) }))

const columns = 'drive, doc, digest, is_ready AS isReady'

/** The drives in which a content is indexed. */
export const textsOfDigest = async (db: Db, digest: string): Promise<SearchedText[]> =>
  read(await db.rows(`SELECT ${columns} FROM search_text WHERE digest = ?`, [digest]))

/**
 * The indexed drives that have files with a content, without drives where its words are already
 * indexed.
 */
export async function drivesToIndex(db: Db, digest: string): Promise<number[]> {
  const rows = await db.rows<{ number: number }>(
    `SELECT DISTINCT d.number FROM blobs b JOIN entry e ON e.blob_id = b.id JOIN search_drive d ON d.bucket_id = e.bucket_id
       LEFT JOIN search_text t ON t.drive = d.number AND t.digest = b.text_key
     WHERE b.text_key = ? AND (t.doc IS NULL OR t.is_ready = 0)`,
    [digest],
  )
  return rows.map(({ number }) => number)
}

/**
 * The numbers of some contents in a drive, by digest. Assigns numbers to contents without one. Null
 * if the drive is gone.
 * @param newId makes ids while the drive is locked, so that ids and numbers have the same order, on
 * which paging relies
 */
export async function numberTexts(
  db: Db,
  { drive, digests, newId }: { drive: number; digests: readonly string[]; newId: () => string },
  tx: Tx,
): Promise<Map<string, number> | null> {
  const counted = 'UPDATE search_drive SET docs = docs + ? WHERE number = ?'
  if (!(await db.changed(counted, [digests.length, drive], tx))) return null
  const there = await db.rows<{ digest: string; doc: number }>(
    `SELECT digest, doc FROM search_text WHERE drive = ? AND digest IN (${placeholders(digests)})`,
    [drive, ...digests],
    tx,
  )
  const numbers = new Map(there.map(({ digest, doc }) => [digest, doc]))
  const fresh = digests.filter(digest => !numbers.has(digest))
  if (fresh.length === 0) return numbers
  const row = await db.row<{ docs: number }>(
    'SELECT docs FROM search_drive WHERE number = ?',
    [drive],
    tx,
  )
  const first = Number(row?.docs) - digests.length + 1
  for (const [i, digest] of fresh.entries()) numbers.set(digest, first + i)
  await db.run(
    `INSERT INTO search_text (drive, doc, id, digest, is_ready) VALUES ${fresh.map(() => '(?, ?, ?, ?, 0)').join(', ')}`,
    fresh.flatMap((digest, i) => [drive, first + i, newId(), digest]),
    tx,
  )
  return numbers
}

/** The contents of some blobs whose words are indexed in these drives. */
export async function textsOfBlobs(
  db: Db,
  drives: readonly number[],
  blobIds: readonly string[],
): Promise<(Pick<SearchedText, 'drive' | 'doc' | 'digest'> & { blobId: string })[]> {
  const found: (Pick<SearchedText, 'drive' | 'doc' | 'digest'> & { blobId: string })[] = []
  for (const some of inParts([...new Set(blobIds)], 500))
    found.push(
      ...(await db.rows<(typeof found)[number]>(
        `SELECT b.id AS blobId, t.drive, t.doc, t.digest FROM blobs b JOIN search_text t ON t.digest = b.text_key
         WHERE b.id IN (${placeholders(some)}) AND ${besideKeys('t.drive')} IN (${drives.join(', ')})`,
        some,
      )),
    )
  return found
}

/** A file with the content by which it was found. */
export type TextRow = PlacedRow & { textId: string }

/** The files of a drive with some contents, up to a number. */
export const filesOfTexts = (
  db: Db,
  { number, bucketId }: { number: number; bucketId: string },
  docs: readonly number[],
  limit: number,
): Promise<TextRow[]> =>
  db.rows(
    `SELECT ${placedColumns}, t.id AS textId FROM search_text t JOIN blobs b ON b.text_key = t.digest
       JOIN entry ON entry.blob_id = b.id AND ${besideKeys('entry.bucket_id')} = ?
     WHERE t.drive = ? AND t.doc IN (${docs.join(', ')}) LIMIT ${limit}`,
    [bucketId, number],
  )

/**
 * The files of a drive with one content, newest first, before an id. Allows reading many copies in
 * parts.
 */
export const filesOfText = (
  db: Db,
  { number, bucketId }: { number: number; bucketId: string },
  doc: number,
  before: string | null,
  limit: number,
): Promise<TextRow[]> =>
  db.rows(
    `SELECT ${placedColumns}, t.id AS textId FROM search_text t JOIN blobs b ON b.text_key = t.digest
       JOIN entry ON entry.blob_id = b.id AND ${besideKeys('entry.bucket_id')} = ?
     WHERE t.drive = ? AND t.doc = ?${before === null ? '' : ' AND entry.id < ?'} ORDER BY entry.id DESC LIMIT ${limit}`,
    [bucketId, number, doc, ...(before === null ? [] : [before])],
  )

/** The number of the last content of a drive up to an id; 0 if there is none. */
export async function lastDocUpTo(db: Db, drive: number, id: string): Promise<number> {
  const sql = 'SELECT doc FROM search_text WHERE drive = ? AND id <= ? ORDER BY id DESC LIMIT 1'
  return (await db.row<{ doc: number }>(sql, [drive, id]))?.doc ?? 0
}

/** Indexed contents after a given one, and whether a file in their drive has each. */
export async function textsInOrder(
  db: Db,
  { drive, doc }: { drive: number; doc: number },
  limit: number,
): Promise<(SearchedText & { isUsed: boolean })[]> {
  const beyond =
    db.dialect === 'sqlite'
      ? '(t.drive, t.doc) > (?, ?)'
      : '(t.drive = ? AND t.doc > ?) OR t.drive > ?'
  const rows = await db.rows<Omit<SearchedText, 'isReady'> & { isReady: number; isUsed: number }>(
    `SELECT t.drive, t.doc, t.digest, t.is_ready AS isReady, EXISTS (SELECT 1 FROM blobs b JOIN entry e ON e.blob_id = b.id
         JOIN search_drive d ON d.bucket_id = ${besideKeys('e.bucket_id')} WHERE d.number = t.drive AND b.text_key = t.digest) AS isUsed
     FROM search_text t WHERE ${beyond} ORDER BY t.drive, t.doc LIMIT ${limit}`,
    [drive, doc, ...(db.dialect === 'sqlite' ? [] : [drive])],
  )
  return read(rows).map((row, i) => ({ ...row, isUsed: Boolean(rows[i]?.isUsed) }))
}

/**
 * Marks some contents whose words are about to be deleted, so that a process that sees one
 * meanwhile indexes it again.
 * @returns their number
 */
export function unsetTextsReady(db: Db, limit: number): Promise<number> {
  if (db.dialect === 'mysql')
    return db.run(`UPDATE search_text SET is_ready = 0 WHERE is_ready = 1 LIMIT ${limit}`)
  return db.run(
    `UPDATE search_text SET is_ready = 0 WHERE (drive, doc) IN (SELECT drive, doc FROM search_text WHERE is_ready = 1 LIMIT ${limit})`,
  )
}
