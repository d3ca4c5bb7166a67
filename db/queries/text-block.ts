import type { Db, Tx, Value } from '../index.ts'
import type { IndexedWord } from './search-word.ts'
import { inParts, placeholders } from './sql.ts'

/**
 * How many contents of a drive make a block, whose words are merged together. A number within it
 * has two bytes.
 */
export const BLOCK = 16_384
/** Words of one statement. */
export const WORDS_AT_ONCE = 300
/**
 * Words that begin with the same are read up to here from each block, and so many parts of its
 * segment.
 */
const BEGINNING = 4000
const BEGINNING_PARTS = 40
/** SELECTs of one statement. */
const ARMS = 60

/** After all that begin with the same. */
const LAST = '\u{10ffff}'

const insertIgnore = ({ dialect }: Pick<Db, 'dialect'>) =>
  dialect === 'mysql' ? 'INSERT IGNORE' : 'INSERT OR IGNORE'

/** A block of a drive, and what of it its segment has. */
export interface TextBlock {
  drive: number
  block: number
  /** Words are added to this epoch. */
  epoch: number
  /** The segment has all epochs up to this one. */
  merged: number
  /** Contents that have been added and taken away since. */
  fresh: number
  gone: number
}

/** Of search_text_block b. */
export const blockColumns = 'b.drive, b.block, b.epoch, b.merged, b.fresh, b.gone'

/** MariaDB gives BIGINT as a text where it is large. */
export const readBlocks = (rows: TextBlock[]): TextBlock[] =>
  rows.map(row => ({ ...row, epoch: Number(row.epoch), merged: Number(row.merged) }))

/** The blocks of some drives. */
export async function textBlocks(db: Db, drives: readonly number[]): Promise<TextBlock[]> {
  const blocks: TextBlock[] = []
  for (const some of inParts(drives, 500))
    blocks.push(
      ...readBlocks(
        await db.rows<TextBlock>(
          `SELECT ${blockColumns} FROM search_text_block b WHERE b.drive IN (${placeholders(some)})`,
          some,
        ),
      ),
    )
  return blocks
}

export const textBlock = async (
  db: Db,
  drive: number,
  block: number,
): Promise<TextBlock | undefined> =>
  readBlocks(
    await db.rows<TextBlock>(
      `SELECT ${blockColumns} FROM search_text_block b WHERE b.drive = ? AND b.block = ?`,
      [drive, block],
    ),
  )[0]

/**
 * The epoch that words are added to; null where the drive is gone. Epochs of a block that was
 * deleted do not come again: they begin with the time.
 */
export async function epochOf(db: Db, drive: number, block: number): Promise<number | null> {
  const there = await textBlock(db, drive, block)
  if (there) return there.epoch
  const now = Date.now()
  await db.run(
    `${insertIgnore(db)} INTO search_text_block (drive, block, epoch, merged, fresh, gone, merged_at, is_clear)
     SELECT number, ?, ?, ?, 0, 0, ?, 1 FROM search_drive WHERE number = ?`,
    [block, now, now - 1, now, drive],
  )
  return (await textBlock(db, drive, block))?.epoch ?? null
}

/**
 * Contents count from now on, if their words are in the epoch that will be merged next.
 * @returns false where that has ended: then they are to be added to the one that follows
 */
export function setTextsReady(
  db: Db,
  {
    drive,
    block,
    epoch,
    docs,
  }: Pick<TextBlock, 'drive' | 'block' | 'epoch'> & { docs: readonly number[] },
): Promise<boolean> {
  return db.transaction(async tx => {
    const fresh =
      'UPDATE search_text_block SET fresh = fresh + ? WHERE drive = ? AND block = ? AND epoch = ?'
    if (!(await db.changed(fresh, [docs.length, drive, block, epoch], tx))) return false
    const ready = await db.run(
      `UPDATE search_text SET is_ready = 1 WHERE drive = ? AND doc IN (${placeholders(docs)})`,
      [drive, ...docs],
      tx,
    )
    // The others were taken away meanwhile.
    if (ready < docs.length) await noteGone(db, { drive, block }, docs.length - ready, tx)
    return true
  })
}

const noteGone = (
  db: Db,
  { drive, block }: Pick<TextBlock, 'drive' | 'block'>,
  count: number,
  tx: Tx,
) =>
  db.run(
    'UPDATE search_text_block SET gone = gone + ? WHERE drive = ? AND block = ?',
    [count, drive, block],
    tx,
  )

/**
 * Takes a content from a drive. Its words stay until its block is merged, and say nothing any
 * longer: no content has its number again.
 */
export const deleteSearchedText = (db: Db, drive: number, doc: number): Promise<void> =>
  db.transaction(async tx => {
    await noteGone(db, { drive, block: Math.floor(doc / BLOCK) }, 1, tx)
    await db.run('DELETE FROM search_text WHERE drive = ? AND doc = ?', [drive, doc], tx)
  })

/** A word of an epoch: the numbers of contents within the block that have it, each in two bytes. */
export interface FreshWord {
  word: string
  docs: Buffer
}

/**
 * Adds contents to words. Appends, so that nothing is read before: a number that is there twice
 * counts once.
 */
export async function addTextWords(
  db: Db,
  { drive, block, epoch }: Pick<TextBlock, 'drive' | 'block' | 'epoch'>,
  words: readonly FreshWord[],
): Promise<void> {
  const change =
    db.dialect === 'mysql'
      ? 'ON DUPLICATE KEY UPDATE docs = CONCAT(docs, VALUES(docs))'
      : 'ON CONFLICT (drive, block, epoch, word) DO UPDATE SET docs = CAST(docs || excluded.docs AS BLOB)'
  await db.run(
    `INSERT INTO search_text_word (drive, block, epoch, word, docs) VALUES ${words.map(() => '(?, ?, ?, ?, ?)').join(', ')} ${change}`,
    words.flatMap(({ word, docs }): Value[] => [drive, block, epoch, word, docs]),
  )
}

/** The contents of some blocks that have a word. */
interface Found {
  drive: number
  block: number
}

async function union<T>(db: Db, arms: readonly { sql: string; values: string[] }[]): Promise<T[]> {
  const rows: T[] = []
  for (const some of inParts(arms, ARMS))
    rows.push(
      ...(await db.rows<T>(
        some.map(({ sql }, i) => `SELECT * FROM (${sql}) a${i}`).join(' UNION ALL '),
        some.flatMap(({ values }) => values),
      )),
    )
  return rows
}

/** The contents that have a word, or one that begins with it, as far as they are not merged. */
export const freshDocs = (
  db: Db,
  blocks: readonly TextBlock[],
  { word, isPrefix }: IndexedWord,
): Promise<(Found & { word: string; docs: Uint8Array })[]> =>
  union(
    db,
    blocks.map(({ drive, block, epoch, merged }) => {
      const epochs = Array.from({ length: epoch - merged }, (_, i) => merged + 1 + i)
      const range = isPrefix ? `word >= ? AND word < ? LIMIT ${BEGINNING}` : 'word = ?'
      return {
        sql: `SELECT drive, block, word, docs FROM search_text_word WHERE drive = ${drive} AND block = ${block} AND epoch IN (${epochs.join(', ')}) AND ${range}`,
        values: isPrefix ? [word, word + LAST] : [word],
      }
    }),
  )

/**
 * The parts of segments that have a word if any part does, or those that may have words that begin
 * with it.
 */
export const partsWithWord = (
  db: Db,
  blocks: readonly TextBlock[],
  { word, isPrefix }: IndexedWord,
): Promise<(Found & { body: Uint8Array })[]> =>
  union(
    db,
    blocks.flatMap(({ drive, block, merged }) => {
      const parts = `SELECT drive, block, body FROM search_text_segment WHERE drive = ${drive} AND block = ${block} AND epoch = ${merged}`
      return [
        { sql: `${parts} AND first <= ? ORDER BY first DESC LIMIT 1`, values: [word] },
        ...(isPrefix
          ? [
              {
                sql: `${parts} AND first > ? AND first < ? ORDER BY first LIMIT ${BEGINNING_PARTS}`,
                values: [word, word + LAST],
              },
            ]
          : []),
      ]
    }),
  )

/**
 * The tables of the index of contents in the order in which they are emptied: no content counts
 * whose words are gone.
 */
export const textTables = [
  'search_text_block',
  'search_text_word',
  'search_text_segment',
  'search_text',
] as const
const keys = {
  search_text_block: 'drive, block',
  search_text_word: 'drive, block, epoch, word',
  search_text_segment: 'drive, block, epoch, first',
  search_text: 'drive, doc',
}

/** Deletes some rows. @returns how many */
export async function deleteSome(
  db: Db,
  table: (typeof textTables)[number],
  which: string,
  limit: number,
  values: Value[],
): Promise<number> {
  if (db.dialect === 'mysql')
    return db.run(`DELETE FROM ${table} WHERE ${which} LIMIT ${limit}`, values)
  const key = keys[table]
  return db.run(
    `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${which} LIMIT ${limit})`,
    values,
  )
}

/** Deletes some rows of the index of a drive, or of all. @returns how many */
export async function deleteTextIndex(db: Db, limit: number, drive?: number): Promise<number> {
  for (const table of textTables) {
    const deleted = await (drive === undefined
      ? deleteSome(db, table, '1 = 1', limit, [])
      : deleteSome(db, table, 'drive = ?', limit, [drive]))
    if (deleted > 0) return deleted
  }
  return 0
}
