import { type Db, isDuplicate, type Tx } from '../index.ts'
import type { FILE, FOLDER } from '../models/entry.ts'
import { type PlacedRow, placedColumns } from './entry-list.ts'
import { besideKeys, placeholders } from './sql.ts'

/** The progress of indexing a drive. */
export interface SearchDrive {
  bucketId: string
  /** Identifies the drive in the index. */
  number: number
  /** The entry up to which names are indexed; null when all are. */
  place: string | null
  /** The event up to which changes are indexed. */
  seq: number
  beganAt: number
  /** When the index was last complete. */
  indexedAt: number | null
  entries: number
  /** The highest number that was given to a content. */
  docs: number
  /** The lowest number of a current content. */
  firstDoc: number
  /** Whether the texts of its files are indexed. */
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

/** The tables whose rows belong to a drive number. */
const NUMBERED = [
  'search_word',
  'search_text_block',
  'search_text_word',
  'search_text_segment',
  'search_text',
]

/**
 * Begins to index a drive, from its first entry on. Assigns the next number, and skips the numbers
 * of deleted drives whose words are still in the index.
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
      // Another process has begun with this drive, or has taken the number.
      if (tries === 20 || (await searchDrives(db, [bucketId])).length > 0) return
    }
}

/**
 * Indexes a drive again, from its first entry on. The existing index stays usable meanwhile.
 */
export const restartSearchDrive = (db: Db, bucketId: string, seq: number): Promise<number> =>
  db.run(
    "UPDATE search_drive SET place = '', seq = ?, began_at = ?, entries = 0 WHERE bucket_id = ?",
    [seq, Date.now(), bucketId],
  )

/**
 * Indexes the drives without indexed texts again, from their first entries on. The existing index
 * stays.
 * @returns their number
 */
export const beginTexts = (db: Db): Promise<number> =>
  db.run(
    "UPDATE search_drive SET has_texts = 1, place = '', began_at = ?, entries = 0 WHERE has_texts = 0",
    [Date.now()],
  )

/**
 * Indexes all drives again, from their first entries on. The existing index stays usable meanwhile.
 */
export const restartSearchDrives = (db: Db): Promise<number> =>
  db.run("UPDATE search_drive SET place = '', began_at = ?, entries = 0", [Date.now()])

/** The progress of the index. */
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

/** Records that texts are no longer indexed. @returns the number of drives in which they were */
export const endTexts = (db: Db): Promise<number> =>
  db.run('UPDATE search_drive SET has_texts = 0 WHERE has_texts = 1')

/**
 * Records how far a drive is indexed, unless another process has changed the record.
 * @returns whether it was recorded
 */
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

/** The buckets with an owner that have no index yet. */
export const bucketsWithoutIndex = (db: Db, limit: number): Promise<{ id: string }[]> =>
  db.rows(
    `SELECT b.id FROM bucket b LEFT JOIN search_drive d ON d.bucket_id = b.id
     WHERE d.bucket_id IS NULL AND (b.user_id IS NOT NULL OR b.workspace_id IS NOT NULL) LIMIT ${limit}`,
  )

/** The drives that are not completely indexed. */
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

/** Indexed drives that no longer exist. */
export const goneSearchDrives = (
  db: Db,
  limit: number,
): Promise<{ bucketId: string; number: number }[]> =>
  db.rows(
    `SELECT d.bucket_id AS bucketId, d.number FROM search_drive d LEFT JOIN bucket b ON b.id = d.bucket_id WHERE b.id IS NULL LIMIT ${limit}`,
  )

/**
 * Drive numbers in the index that belong to no drive. A slow process left them after the drive was
 * deleted.
 */
export async function numbersWithoutDrive(db: Db): Promise<number[]> {
  const found = new Set<number>()
  for (const table of NUMBERED)
    for (let after = -1; ; ) {
      // One query each, because a DISTINCT would make the engines read the whole index.
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

/** Deletes some words of a drive. @returns their number */
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
 * A word of the index with its current entry. The name is missing if the entry is gone or in
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
 * Words in the order of the index, after a given one. As in beyondKey, SQLite starts there only for
 * a row comparison. For alternatives it would read the index from its first word on.
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

/**
 * Deletes a word of an entry, unless the entry was renamed meanwhile, because the new name may
 * contain the word.
 */
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
