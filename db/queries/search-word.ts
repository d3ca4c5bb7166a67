import type { Db, Tx, Value } from '../index.ts'
import { FILE, FOLDER } from '../models/entry.ts'
import { type PlacedRow, placedColumns } from './entry-list.ts'
import { unionPart } from './page.ts'
import { inParts, placeholders } from './sql.ts'

/** A word of the index, or all that begin with it. */
export interface IndexedWord {
  word: string
  isPrefix: boolean
}

/** The words of the index that are none of a name. */
export const wholeName = (folded: string): string => `=${[...folded].slice(0, 60).join('')}`
export const noteWord = (word: string): string => `#${word}`
export const classWord = (name: string): string => `:${name}`

/** After all that begin with the same. */
const LAST = '\u{10ffff}'
/** Files of one word that are compared with the other words of a query. */
const COMPARED = 8000
/** Files whose words begin with the same: those of the first words in the order of the alphabet. */
const BEGINNING = 4000
/** How many SELECTs a union has at most; SQLite takes 500. */
const ARMS = 128
/** Drives of one union that reads whole rows. */
const DRIVES = 64

/** Adds words to drives. What is there already stays. */
export async function insertWords(
  db: Db,
  rows: readonly { drive: number; word: string; entryId: string }[],
  tx?: Tx,
): Promise<void> {
  const insert = db.dialect === 'mysql' ? 'INSERT IGNORE' : 'INSERT OR IGNORE'
  for (const some of inParts(rows, 1000))
    await db.run(
      `${insert} INTO search_word (drive, word, entry_id) VALUES ${some.map(() => '(?, ?, ?)').join(', ')}`,
      some.flatMap(({ drive, word, entryId }) => [drive, word, entryId]),
      tx,
    )
}

/** A file or folder, with the number of its drive. */
export interface WordHit {
  drive: number
  id: string
}

/**
 * The entries of drives that have a word, newest first. Bounded, whatever there is in the drives:
 * of a word with others, the newest COMPARED are looked at.
 * @param also other words of theirs
 * @param before an id, exclusive
 */
export async function entriesWithWord(
  db: Db,
  drives: readonly number[],
  { word, isPrefix }: IndexedWord,
  also: readonly string[],
  limit: number,
  before: string | null,
): Promise<WordHit[]> {
  const beside = also.map(
    (_, i) =>
      ` AND EXISTS (SELECT 1 FROM search_word w${i} WHERE w${i}.drive = a.drive AND w${i}.word = ? AND w${i}.entry_id = a.entry_id)`,
  )
  const key = before === null ? '' : ' AND entry_id < ?'
  const range = isPrefix ? 'word >= ? AND word < ?' : 'word = ?'
  const inner = `SELECT drive, entry_id FROM search_word WHERE drive = ? AND ${range}${key}`
  const bounded = isPrefix
    ? `(${inner} LIMIT ${BEGINNING})`
    : also.length > 0
      ? `(${inner} ORDER BY entry_id DESC LIMIT ${COMPARED})`
      : `(${inner} ORDER BY entry_id DESC LIMIT ${limit})`
  const one = `SELECT ${isPrefix ? 'DISTINCT ' : ''}a.drive AS drive, a.entry_id AS id FROM ${bounded} a WHERE 1 = 1${beside.join('')} ORDER BY id DESC LIMIT ${limit}`
  const values = (drive: number): Value[] => [
    drive,
    word,
    ...(isPrefix ? [word + LAST] : []),
    ...(before === null ? [] : [before]),
    ...also,
  ]
  const hits: WordHit[] = []
  for (const some of inParts(drives, ARMS))
    hits.push(
      ...(await db.rows<WordHit>(
        `${some.map(() => unionPart(db, one)).join(' UNION ALL ')} ORDER BY id DESC LIMIT ${limit}`,
        some.flatMap(values),
      )),
    )
  return newestOf(hits, limit)
}

/** The newest of some rows. */
const newestOf = <T extends { id: string }>(rows: T[], limit: number): T[] =>
  rows.sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit)

/** How many entries of drives have each of some words, counted up to a number. */
export async function countWords(
  db: Db,
  drives: readonly number[],
  words: readonly IndexedWord[],
  most: number,
): Promise<number[]> {
  const counts = words.map(() => 0)
  if (drives.length === 0 || words.length === 0) return counts
  const parts = words.flatMap(({ word, isPrefix }, i) =>
    drives.map(drive => ({
      sql: `SELECT ${i} AS nth, COUNT(*) AS n FROM (SELECT 1 AS one FROM search_word WHERE drive = ? AND ${isPrefix ? 'word >= ? AND word < ?' : 'word = ?'} LIMIT ${most}) c${i}`,
      values: [drive, word, ...(isPrefix ? [word + LAST] : [])] as Value[],
    })),
  )
  for (const some of inParts(parts, ARMS)) {
    const rows = await db.rows<{ nth: number; n: number }>(
      some.map(({ sql }) => sql).join(' UNION ALL '),
      some.flatMap(({ values }) => values),
    )
    for (const { nth, n } of rows) counts[nth] = (counts[nth] ?? 0) + Number(n)
  }
  return counts
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
    `SELECT ${placedColumns} FROM entry WHERE bucket_id = ? AND md5 IN (${placeholders(md5s)}) LIMIT ${limit}`,
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
      `SELECT ${placedColumns} FROM entry WHERE bucket_id = ? AND kind = ${kind}${before === null ? '' : ' AND id < ?'} ORDER BY id DESC LIMIT ${limit}`,
    ),
  )
  const rows: PlacedRow[] = []
  // One after the other: a search takes no more than one connection.
  for (const some of inParts(bucketIds, DRIVES)) {
    const values = some.flatMap(id => one.flatMap(() => [id, ...(before === null ? [] : [before])]))
    const union = some.flatMap(() => one).join(' UNION ALL ')
    rows.push(...(await db.rows<PlacedRow>(`${union} ORDER BY id DESC LIMIT ${limit}`, values)))
  }
  return newestOf(rows, limit)
}

/** What is in some folders: so many at most. */
export const childrenOfFolders = (
  db: Db,
  folderIds: readonly string[],
  limit: number,
): Promise<PlacedRow[]> =>
  db.rows(
    `SELECT ${placedColumns} FROM entry WHERE parent_id IN (${placeholders(folderIds)}) LIMIT ${limit}`,
    [...folderIds],
  )
