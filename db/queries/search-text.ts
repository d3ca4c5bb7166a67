import type { Db, Tx, Value } from '../index.ts'
import { type PlacedRow, placedColumns } from './entry-list.ts'
import type { IndexedWord } from './search-word.ts'
import { besideKeys, inParts, placeholders } from './sql.ts'

/**
 * How many contents of a drive share the rows of their words. With few, most of the index is words with one content or two; rows of more
 * than 8 KB are kept outside of the pages of InnoDB, which takes more room than it saves.
 */
export const blockSize = ({ dialect }: Pick<Db, 'dialect'>): number => (dialect === 'mysql' ? 4096 : 16_384)
/** Words that begin with the same are read up to here, from each block. */
const BEGINNING = 4000
/** Words of one statement. */
const WORDS = 300

/** After all that begin with the same. */
const LAST = '\u{10ffff}'

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

/** In which drives a content is indexed. */
export const textsOfDigest = async (db: Db, digest: string): Promise<SearchedText[]> =>
  read(await db.rows(`SELECT ${columns} FROM search_text WHERE digest = ?`, [digest]))

/** The drives of the index that have files of a content, those left out in which its words are indexed. */
export async function drivesToIndex(db: Db, digest: string): Promise<number[]> {
  const rows = await db.rows<{ number: number }>(
    `SELECT DISTINCT d.number FROM blobs b JOIN entry e ON e.blob_id = b.id JOIN search_drive d ON d.bucket_id = e.bucket_id
       LEFT JOIN search_text t ON t.drive = d.number AND t.digest = b.sha256
     WHERE b.sha256 = ? AND (t.doc IS NULL OR t.is_ready = 0)`,
    [digest],
  )
  return rows.map(({ number }) => number)
}

/**
 * The number of a content in a drive: a new one, unless it has one. Null where the drive is gone.
 * @param newId makes its id while the drive is locked: ids and numbers have the same order, by which pages go on
 */
export async function numberText(
  db: Db,
  { drive, digest, newId }: { drive: number; digest: string; newId: () => string },
  tx: Tx,
): Promise<number | null> {
  if (!(await db.changed('UPDATE search_drive SET docs = docs + 1 WHERE number = ?', [drive], tx))) return null
  const there = await db.row<{ doc: number }>(
    'SELECT doc FROM search_text WHERE drive = ? AND digest = ?',
    [drive, digest],
    tx,
  )
  if (there) return there.doc
  const counted = await db.row<{ docs: number }>('SELECT docs FROM search_drive WHERE number = ?', [drive], tx)
  const doc = Number(counted?.docs)
  await db.run(
    'INSERT INTO search_text (drive, doc, id, digest, is_ready) VALUES (?, ?, ?, ?, 0)',
    [drive, doc, newId(), digest],
    tx,
  )
  return doc
}

export const setTextReady = (db: Db, drive: number, docs: readonly number[]): Promise<number> =>
  db.run(`UPDATE search_text SET is_ready = 1 WHERE drive = ? AND doc IN (${placeholders(docs)})`, [drive, ...docs])

export const unsetTextReady = (db: Db, drive: number, doc: number): Promise<number> =>
  db.run('UPDATE search_text SET is_ready = 0 WHERE drive = ? AND doc = ?', [drive, doc])

/** Those of some numbers of a drive that contents have. */
export async function numberedAmong(db: Db, drive: number, docs: readonly number[]): Promise<number[]> {
  const sql = `SELECT doc FROM search_text WHERE drive = ? AND doc IN (${placeholders(docs)})`
  return (await db.rows<{ doc: number }>(sql, [drive, ...docs])).map(({ doc }) => doc)
}

export const deleteSearchedText = (db: Db, drive: number, doc: number, tx: Tx): Promise<number> =>
  db.run('DELETE FROM search_text WHERE drive = ? AND doc = ?', [drive, doc], tx)

/** A word in a block: the numbers of contents within the block that have it, each in two bytes. */
export interface WordBlock {
  word: string
  docs: Buffer
}

/** Adds contents to words. Appends, so that nothing is read before: a number that is there twice counts once. */
export async function addTextWords(db: Db, drive: number, block: number, words: readonly WordBlock[]): Promise<void> {
  const sum = db.dialect === 'mysql' ? 'CONCAT(docs, VALUES(docs))' : 'CAST(docs || excluded.docs AS BLOB)'
  await upsert(db, drive, block, words, sum)
}

async function upsert(db: Db, drive: number, block: number, words: readonly WordBlock[], docs: string, tx?: Tx) {
  const change = db.dialect === 'mysql' ? 'ON DUPLICATE KEY UPDATE' : 'ON CONFLICT (drive, block, word) DO UPDATE SET'
  await db.run(
    `INSERT INTO search_text_word (drive, block, word, docs) VALUES ${words.map(() => '(?, ?, ?, ?)').join(', ')} ${change} docs = ${docs}`,
    words.flatMap(({ word, docs }): Value[] => [drive, block, word, docs]),
    tx,
  )
}

/** Reads some words of a block, and locks them. */
export async function lockTextWords(
  db: Db,
  { drive, block, words }: { drive: number; block: number; words: readonly string[] },
  tx: Tx,
): Promise<WordBlock[]> {
  const rows = await db.rows<{ word: string; docs: Uint8Array }>(
    `SELECT word, docs FROM search_text_word WHERE drive = ? AND block = ? AND word IN (${placeholders(words)})${db.forUpdate}`,
    [drive, block, ...words],
    tx,
  )
  return rows.map(({ word, docs }) => ({ word, docs: Buffer.from(docs) }))
}

/** Writes words anew; those without contents are deleted. */
export async function replaceTextWords(
  db: Db,
  { drive, block, words }: { drive: number; block: number; words: readonly WordBlock[] },
  tx: Tx,
): Promise<void> {
  const left = words.filter(({ docs }) => docs.length > 0)
  const gone = words.filter(({ docs }) => docs.length === 0).map(({ word }) => word)
  for (const some of inParts(left, WORDS))
    await upsert(db, drive, block, some, db.dialect === 'mysql' ? 'VALUES(docs)' : 'excluded.docs', tx)
  for (const some of inParts(gone, WORDS))
    await db.run(
      `DELETE FROM search_text_word WHERE drive = ? AND block = ? AND word IN (${placeholders(some)})`,
      [drive, block, ...some],
      tx,
    )
}

/** A drive with the numbers of its first and last content. */
export interface TextDrive {
  number: number
  firstDoc: number
  docs: number
}

/** Drives of one statement. */
const DRIVES = 30

/** The contents that have a word, by drive and block. */
export async function blocksOfWord(
  db: Db,
  drives: readonly TextDrive[],
  { word, isPrefix }: IndexedWord,
): Promise<{ drive: number; block: number; docs: Uint8Array }[]> {
  const found: { drive: number; block: number; docs: Uint8Array }[] = []
  const range = isPrefix ? 'word >= ? AND word < ?' : 'word = ?'
  for (const some of inParts(drives, DRIVES)) {
    const parts = some.map(({ number, firstDoc, docs }) => {
      const first = Math.floor(firstDoc / blockSize(db))
      const blocks = Array.from({ length: Math.floor(docs / blockSize(db)) - first + 1 }, (_, i) => first + i)
      const limit = isPrefix ? ` LIMIT ${BEGINNING * blocks.length}` : ''
      return `SELECT * FROM (SELECT drive, block, docs FROM search_text_word WHERE drive = ${number} AND block IN (${blocks.join(', ')}) AND ${range}${limit}) d${number}`
    })
    const values = some.flatMap(() => (isPrefix ? [word, word + LAST] : [word]))
    found.push(...(await db.rows<(typeof found)[number]>(parts.join(' UNION ALL '), values)))
  }
  return found
}

/** The contents of some blobs, where their words are indexed in these drives. */
export async function textsOfBlobs(
  db: Db,
  drives: readonly number[],
  blobIds: readonly string[],
): Promise<(Pick<SearchedText, 'drive' | 'doc' | 'digest'> & { blobId: string })[]> {
  const found: (Pick<SearchedText, 'drive' | 'doc' | 'digest'> & { blobId: string })[] = []
  for (const some of inParts([...new Set(blobIds)], 500))
    found.push(
      ...(await db.rows<(typeof found)[number]>(
        `SELECT b.id AS blobId, t.drive, t.doc, t.digest FROM blobs b JOIN search_text t ON t.digest = b.sha256
         WHERE b.id IN (${placeholders(some)}) AND t.drive IN (${drives.join(', ')})`,
        some,
      )),
    )
  return found
}

/** A file with the content that it was found by. */
export type TextRow = PlacedRow & { textId: string }

/** The files of a drive that have some contents: so many at most. */
export const filesOfTexts = (
  db: Db,
  { number, bucketId }: { number: number; bucketId: string },
  docs: readonly number[],
  limit: number,
): Promise<TextRow[]> =>
  db.rows(
    `SELECT ${placedColumns}, t.id AS textId FROM search_text t JOIN blobs b ON b.sha256 = t.digest
       JOIN entry ON entry.blob_id = b.id AND ${besideKeys('entry.bucket_id')} = ?
     WHERE t.drive = ? AND t.doc IN (${docs.join(', ')}) LIMIT ${limit}`,
    [bucketId, number],
  )

/** The files of a drive that have one content, the newest first, before an id: of a content with many copies a part at a time. */
export const filesOfText = (
  db: Db,
  { number, bucketId }: { number: number; bucketId: string },
  doc: number,
  before: string | null,
  limit: number,
): Promise<TextRow[]> =>
  db.rows(
    `SELECT ${placedColumns}, t.id AS textId FROM search_text t JOIN blobs b ON b.sha256 = t.digest
       JOIN entry ON entry.blob_id = b.id AND ${besideKeys('entry.bucket_id')} = ?
     WHERE t.drive = ? AND t.doc = ?${before === null ? '' : ' AND entry.id < ?'} ORDER BY entry.id DESC LIMIT ${limit}`,
    [bucketId, number, doc, ...(before === null ? [] : [before])],
  )

/** The number of the last content of a drive up to an id; 0 if there is none. */
export async function lastDocUpTo(db: Db, drive: number, id: string): Promise<number> {
  const sql = 'SELECT doc FROM search_text WHERE drive = ? AND id <= ? ORDER BY id DESC LIMIT 1'
  return (await db.row<{ doc: number }>(sql, [drive, id]))?.doc ?? 0
}

/** Contents of the index after one, with whether a file of their drive has them. */
export async function textsInOrder(
  db: Db,
  { drive, doc }: { drive: number; doc: number },
  limit: number,
): Promise<(SearchedText & { isUsed: boolean })[]> {
  const beyond = db.dialect === 'sqlite' ? '(t.drive, t.doc) > (?, ?)' : '(t.drive = ? AND t.doc > ?) OR t.drive > ?'
  const rows = await db.rows<Omit<SearchedText, 'isReady'> & { isReady: number; isUsed: number }>(
    `SELECT t.drive, t.doc, t.digest, t.is_ready AS isReady, EXISTS (SELECT 1 FROM blobs b JOIN entry e ON e.blob_id = b.id
         JOIN search_drive d ON d.bucket_id = ${besideKeys('e.bucket_id')} WHERE d.number = t.drive AND b.sha256 = t.digest) AS isUsed
     FROM search_text t WHERE ${beyond} ORDER BY t.drive, t.doc LIMIT ${limit}`,
    [drive, doc, ...(db.dialect === 'sqlite' ? [] : [drive])],
  )
  return read(rows).map((row, i) => ({ ...row, isUsed: Boolean(rows[i]?.isUsed) }))
}

/** Notes of some contents that their words are about to go, so that who sees one meanwhile indexes it. @returns how many */
export function unsetTextsReady(db: Db, limit: number): Promise<number> {
  if (db.dialect === 'mysql') return db.run(`UPDATE search_text SET is_ready = 0 WHERE is_ready = 1 LIMIT ${limit}`)
  return db.run(
    `UPDATE search_text SET is_ready = 0 WHERE (drive, doc) IN (SELECT drive, doc FROM search_text WHERE is_ready = 1 LIMIT ${limit})`,
  )
}

/** Deletes some rows of the words or contents of a drive, or of all. @returns how many */
export async function deleteTextIndex(
  db: Db,
  table: 'search_text_word' | 'search_text',
  limit: number,
  drive?: number,
): Promise<number> {
  const of = drive === undefined ? '' : ' WHERE drive = ?'
  const values = drive === undefined ? [] : [drive]
  if (db.dialect === 'mysql') return db.run(`DELETE FROM ${table}${of} LIMIT ${limit}`, values)
  const key = table === 'search_text' ? 'drive, doc' : 'drive, block, word'
  return db.run(`DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table}${of} LIMIT ${limit})`, values)
}
