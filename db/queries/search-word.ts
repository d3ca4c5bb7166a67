import type { Db, Tx, Value } from '../index.ts'
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
const COMPARED = 20_000
/** Files whose words begin with the same: those of the first words in the order of the alphabet. */
const BEGINNING = 4000

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
 * The entries of drives that have a word, newest first. Bounded, whatever there is in the drives: of a word with others, the newest COMPARED are
 * looked at.
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
  if (drives.length === 0) return []
  return db.rows(
    `${drives.map(() => unionPart(db, one)).join(' UNION ALL ')} ORDER BY id DESC LIMIT ${limit}`,
    drives.flatMap(values),
  )
}

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
  const rows = await db.rows<{ nth: number; n: number }>(
    parts.map(({ sql }) => sql).join(' UNION ALL '),
    parts.flatMap(({ values }) => values),
  )
  for (const { nth, n } of rows) counts[nth] = (counts[nth] ?? 0) + Number(n)
  return counts
}

/** Some entries with their places, in any order. */
export async function placedEntries(db: Db, ids: readonly string[]): Promise<PlacedRow[]> {
  const rows: PlacedRow[] = []
  for (const some of inParts(ids, 1000))
    rows.push(
      ...(await db.rows<PlacedRow>(`SELECT ${placedColumns} FROM entry WHERE id IN (${placeholders(some)})`, some)),
    )
  return rows
}

/** The files of buckets that have these contents. */
export async function entriesOfContents(
  db: Db,
  contents: readonly { bucketId: string; md5: string }[],
): Promise<PlacedRow[]> {
  const rows: PlacedRow[] = []
  for (const [bucketId, some] of Map.groupBy(contents, content => content.bucketId))
    for (const part of inParts(some, 500))
      rows.push(
        ...(await db.rows<PlacedRow>(
          `SELECT ${placedColumns} FROM entry WHERE bucket_id = ? AND md5 IN (${placeholders(part)})`,
          [bucketId, ...part.map(({ md5 }) => md5)],
        )),
      )
  return rows
}

/** The newest entries of a bucket. @param before an id, exclusive */
export const newestEntries = (
  db: Db,
  bucketId: string,
  kind: number,
  limit: number,
  before: string | null,
): Promise<PlacedRow[]> =>
  db.rows(
    `SELECT ${placedColumns} FROM entry WHERE bucket_id = ? AND kind = ${kind}${before === null ? '' : ' AND id < ?'} ORDER BY id DESC LIMIT ${limit}`,
    [bucketId, ...(before === null ? [] : [before])],
  )

/** The ids of drives' files that a person may look for in a folder: none of it is above or beside. */
export const childrenOfFolders = (db: Db, folderIds: readonly string[]): Promise<PlacedRow[]> =>
  db.rows(`SELECT ${placedColumns} FROM entry WHERE parent_id IN (${placeholders(folderIds)})`, [...folderIds])
