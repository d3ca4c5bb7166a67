import { type Db, isDuplicate, type Tx } from '../index.ts'
import type { FILE, FOLDER } from '../models/entry.ts'
import { type PlacedRow, placedColumns } from './entry-list.ts'
import { besideKeys, placeholders } from './sql.ts'

/** How far a drive is indexed. */
export interface SearchDrive {
  bucketId: string
  /** Names it in the index. */
  number: number
  /** The entry up to which its names are indexed; null when all are. */
  place: string | null
  /** The event up to which changes are. */
  seq: number
  beganAt: number
  /** When the index last had everything. */
  indexedAt: number | null
  entries: number
  /** The highest number that a content has there. */
  docs: number
  /** The lowest one that a content has now. */
  firstDoc: number
  /** Whether the texts of its files are looked for. */
  hasTexts: boolean
  /** The last event of the drive. */
  head: number
}

const columns = `bucket_id AS bucketId, number, place, seq, began_at AS beganAt, indexed_at AS indexedAt, entries, docs, has_texts AS hasTexts,
  COALESCE((SELECT MIN(t.doc) FROM search_text t WHERE t.drive = number), 0) AS firstDoc,
  COALESCE((SELECT MAX(v.seq) FROM event v WHERE v.log_id = bucket_id), 0) AS head`

const read = (rows: SearchDrive[]): SearchDrive[] =>
  rows.map(row => ({
    ...row,
    number: Number(row.number),
    seq: Number(row.seq),
    entries: Number(row.entries),
    docs: Number(row.docs),
    firstDoc: Number(row.firstDoc),
    hasTexts: Boolean(row.hasTexts),
    head: Number(row.head),
  }))

export async function searchDrives(
  db: Db,
  bucketIds: readonly string[],
  tx?: Tx,
): Promise<SearchDrive[]> {
  if (bucketIds.length === 0) return []
  return read(
    await db.rows(
      `SELECT ${columns} FROM search_drive WHERE bucket_id IN (${placeholders(bucketIds)})`,
      [...bucketIds],
      tx,
    ),
  )
}

/** The tables that have rows by the number of a drive. */
const NUMBERED = [
  'search_word',
  'search_text_block',
  'search_text_word',
  'search_text_segment',
  'search_text',
]

/**
 * Begins to index a drive, from its first entry on. Its number is the next one, also after those of
 * which only words are left.
 */

export async function beginSearchDrive(
  db: Db,
  bucketId: string,
  { seq, hasTexts }: Pick<SearchDrive, 'seq' | 'hasTexts'>,
): Promise<void> {
  const numbers = [
    'SELECT MAX(number) AS n FROM search_drive',
    ...NUMBERED.map(name => `SELECT MAX(drive) FROM ${name}`),
  ].join(' UNION ALL ')
  for (let tries = 1; ; tries++)
    try {
      await db.run(
        `INSERT INTO search_drive (bucket_id, number, place, seq, began_at, indexed_at, entries, has_texts)
         SELECT ?, COALESCE(MAX(n), 0) + 1, '', ?, ?, NULL, 0, ? FROM (${numbers}) used`,
        [bucketId, seq, Date.now(), Number(hasTexts)],
      )
      return
    } catch (error) {
      if (!isDuplicate(error)) throw error
      // Another process has begun with it, or has taken the number.
      if (tries === 20 || (await searchDrives(db, [bucketId])).length > 0) return
    }
}

/**
 * Begins anew with a drive, from its first entry on. What is indexed stays, and is found meanwhile.
 */
export const restartSearchDrive = (db: Db, bucketId: string, seq: number): Promise<number> =>
  db.run(
    "UPDATE search_drive SET place = '', seq = ?, began_at = ?, entries = 0 WHERE bucket_id = ?",
    [seq, Date.now(), bucketId],
  )

/**
 * Looks through the drives whose texts nobody has looked for, from their first entries on. What is
 * indexed stays. @returns how many
 */
export const beginTexts = (db: Db): Promise<number> =>
  db.run(
    "UPDATE search_drive SET has_texts = 1, place = '', began_at = ?, entries = 0 WHERE has_texts = 0",
    [Date.now()],
  )

/**
 * Begins anew with all drives, from their first entries on. What is indexed stays, and is found
 * meanwhile.
 */
export const restartSearchDrives = (db: Db): Promise<number> =>
  db.run("UPDATE search_drive SET place = '', began_at = ?, entries = 0", [Date.now()])

/** How far the index is. */
export async function countSearchDrives(
  db: Db,
): Promise<{ drives: number; unfinished: number; entries: number }> {
  const row = await db.row<Record<'drives' | 'unfinished' | 'entries', number | null>>(
    'SELECT COUNT(*) AS drives, SUM(place IS NOT NULL) AS unfinished, SUM(entries) AS entries FROM search_drive',
  )
  return {
    drives: Number(row?.drives),
    unfinished: Number(row?.unfinished),
    entries: Number(row?.entries),
  }
}

/** Notes that texts are no longer looked for. @returns in how many drives they were */
export const endTexts = (db: Db): Promise<number> =>
  db.run('UPDATE search_drive SET has_texts = 0 WHERE has_texts = 1')

/** Notes how far a drive is indexed, unless another process has come further. @returns whether */
export const moveSearchDrive = (
  db: Db,
  from: Pick<SearchDrive, 'bucketId' | 'place' | 'seq'>,
  to: Pick<SearchDrive, 'place' | 'seq'> & { added: number },
  tx: Tx,
): Promise<boolean> =>
  db.changed(
    `UPDATE search_drive SET place = ?, seq = ?, entries = entries + ?, indexed_at = ${to.place === null ? '?' : 'indexed_at'}
     WHERE bucket_id = ? AND seq = ? AND ${from.place === null ? 'place IS NULL' : 'place = ?'}`,
    [
      to.place,
      to.seq,
      to.added,
      ...(to.place === null ? [Date.now()] : []),
      from.bucketId,
      from.seq,
      ...(from.place === null ? [] : [from.place]),
    ],
    tx,
  )

/** The buckets with an owner that are not indexed at all. */
export const bucketsWithoutIndex = (db: Db, limit: number): Promise<{ id: string }[]> =>
  db.rows(
    `SELECT b.id FROM bucket b LEFT JOIN search_drive d ON d.bucket_id = b.id
     WHERE d.bucket_id IS NULL AND (b.user_id IS NOT NULL OR b.workspace_id IS NOT NULL) LIMIT ${limit}`,
  )

/** The drives that are not wholly indexed. */
export const unfinishedSearchDrives = async (db: Db, limit: number): Promise<SearchDrive[]> =>
  read(await db.rows(`SELECT ${columns} FROM search_drive WHERE place IS NOT NULL LIMIT ${limit}`))

/** Drives whose logs have grown since they were indexed. */
export const grownSearchDrives = async (db: Db, limit: number): Promise<SearchDrive[]> =>
  read(
    await db.rows(
      `SELECT ${columns} FROM search_drive d WHERE place IS NULL AND EXISTS
         (SELECT 1 FROM event e WHERE e.log_id = d.bucket_id AND e.seq > d.seq) LIMIT ${limit}`,
    ),
  )

/** Entries of a bucket in the order of their ids, of one kind. */
export const entriesInOrder = (
  db: Db,
  bucketId: string,
  kind: typeof FILE | typeof FOLDER,
  after: string,
  limit: number,
): Promise<PlacedRow[]> =>
  db.rows(
    `SELECT ${placedColumns} FROM entry WHERE bucket_id = ? AND kind = ${kind} AND id > ? ORDER BY id LIMIT ${limit}`,
    [bucketId, after],
  )

/** Drives of the index that are gone. */
export const goneSearchDrives = (
  db: Db,
  limit: number,
): Promise<{ bucketId: string; number: number }[]> =>
  db.rows(
    `SELECT d.bucket_id AS bucketId, d.number FROM search_drive d LEFT JOIN bucket b ON b.id = d.bucket_id WHERE b.id IS NULL LIMIT ${limit}`,
  )

/**
 * The numbers that rows of the index have and no drive: what a process has written that was held up
 * until its drive was gone.
 */
export async function numbersWithoutDrive(db: Db): Promise<number[]> {
  const found = new Set<number>()
  for (const table of NUMBERED)
    for (let after = -1; ; ) {
      // One by one: the engines would read the whole index for different ones.
      const row = await db.row<{ n: number | null }>(
        `SELECT MIN(drive) AS n FROM ${table} WHERE drive > ?`,
        [after],
      )
      if (row?.n == null) break
      after = Number(row.n)
      if (!(await db.exists('SELECT 1 FROM search_drive WHERE number = ?', [after])))
        found.add(after)
    }
  return [...found]
}

export const deleteSearchDrive = (db: Db, bucketId: string): Promise<number> =>
  db.run('DELETE FROM search_drive WHERE bucket_id = ?', [bucketId])

/** Removes some of the words of a drive. @returns how many */
export async function deleteWords(db: Db, drive: number, limit: number): Promise<number> {
  if (db.dialect === 'mysql')
    return db.run(`DELETE FROM search_word WHERE drive = ? LIMIT ${limit}`, [drive])
  return db.run(
    `DELETE FROM search_word WHERE drive = ? AND (word, entry_id) IN
       (SELECT word, entry_id FROM search_word WHERE drive = ? ORDER BY word, entry_id LIMIT ${limit})`,
    [drive, drive],
  )
}

/**
 * A word of the index, with its entry as it is now; without a name where that is gone, or in
 * another drive.
 */
export interface WordRow {
  drive: number
  word: string
  entryId: string
  name: string | null
  kind: number | null
  fileType: string | null
  bucketId: string | null
  md5: string | null
}

/**
 * Words in the order of the index, after one. As in beyondKey, SQLite begins to read there for a
 * comparison of rows only: it would read the index from its first word on for alternatives.
 */
export function wordsInOrder(
  db: Db,
  { drive, word, entryId }: { drive: number; word: string; entryId: string },
  limit: number,
): Promise<WordRow[]> {
  const isSqlite = db.dialect === 'sqlite'
  const beyond = isSqlite
    ? '(w.drive, w.word, w.entry_id) > (?, ?, ?)'
    : '(w.drive = ? AND w.word = ? AND w.entry_id > ?) OR (w.drive = ? AND w.word > ?) OR w.drive > ?'
  return db.rows(
    `SELECT w.drive, w.word, w.entry_id AS entryId, e.name, e.kind, e.file_type AS fileType, e.bucket_id AS bucketId, e.md5
     FROM search_word w LEFT JOIN search_drive d ON d.number = w.drive LEFT JOIN entry e ON e.id = w.entry_id AND ${besideKeys('e.bucket_id')} = d.bucket_id
     WHERE ${beyond} ORDER BY w.drive, w.word, w.entry_id LIMIT ${limit}`,
    [drive, word, entryId, ...(isSqlite ? [] : [drive, word, drive])],
  )
}

/** Deletes a word of an entry, unless that has another name by now: it may have the word again. */
export async function deleteWord(
  db: Db,
  { drive, word, entryId, name }: WordRow,
  tx: Tx,
): Promise<void> {
  const isSame = name === null ? '' : ' AND EXISTS (SELECT 1 FROM entry WHERE id = ? AND name = ?)'
  await db.run(
    `DELETE FROM search_word WHERE drive = ? AND word = ? AND entry_id = ?${isSame}`,
    [drive, word, entryId, ...(name === null ? [] : [entryId, name])],
    tx,
  )
}
