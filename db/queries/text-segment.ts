import type { Db, Value } from '../index.ts'
import {
  BLOCK,
  blockColumns,
  deleteSome,
  readBlocks,
  type TextBlock,
  WORDS_AT_ONCE,
} from './text-block.ts'

/** Parts of segments of one statement. */
export const PARTS_AT_ONCE = 16

/**
 * Ends the epoch of a block, so that it can be merged: what is added from now on is in the next
 * one. @returns whether nobody else has
 */
export const endEpoch = (db: Db, { drive, block, epoch, merged }: TextBlock): Promise<boolean> =>
  db.changed(
    'UPDATE search_text_block SET epoch = epoch + 1 WHERE drive = ? AND block = ? AND epoch = ? AND merged = ?',
    [drive, block, epoch, merged],
  )

/**
 * Shows a segment that has all epochs up to one. @returns false where another one has been made
 * meanwhile
 */
export const setMerged = (
  db: Db,
  { drive, block, epoch, merged, fresh, gone }: TextBlock,
): Promise<boolean> =>
  db.changed(
    'UPDATE search_text_block SET merged = ?, merged_at = ?, is_clear = 0, fresh = fresh - ?, gone = gone - ? WHERE drive = ? AND block = ? AND merged = ?',
    [epoch, Date.now(), fresh, gone, drive, block, merged],
  )

/** Words of one epoch in their order, after one. */
export const freshWordsAfter = (
  db: Db,
  { drive, block, epoch }: Pick<TextBlock, 'drive' | 'block' | 'epoch'>,
  after: string,
  limit: number,
): Promise<{ word: string; docs: Uint8Array }[]> =>
  db.rows(
    `SELECT word, docs FROM search_text_word WHERE drive = ? AND block = ? AND epoch = ? AND word > ? ORDER BY word LIMIT ${limit}`,
    [drive, block, epoch, after],
  )

/** Parts of the segment of an epoch in their order, after one. */
export const partsAfter = (
  db: Db,
  { drive, block, epoch }: Pick<TextBlock, 'drive' | 'block' | 'epoch'>,
  after: string,
): Promise<{ first: string; body: Uint8Array }[]> =>
  db.rows(
    `SELECT first, body FROM search_text_segment WHERE drive = ? AND block = ? AND epoch = ? AND first > ? ORDER BY first LIMIT ${PARTS_AT_ONCE}`,
    [drive, block, epoch, after],
  )

/** Adds parts to the segment of an epoch, so many at a time. */
export async function addParts(
  db: Db,
  { drive, block, epoch }: Pick<TextBlock, 'drive' | 'block' | 'epoch'>,
  parts: readonly { first: string; body: Buffer }[],
): Promise<void> {
  await db.run(
    `INSERT INTO search_text_segment (drive, block, epoch, first, body) VALUES ${parts.map(() => '(?, ?, ?, ?, ?)').join(', ')}`,
    parts.flatMap(({ first, body }): Value[] => [drive, block, epoch, first, body]),
  )
}
/**
 * The numbers of a block that contents have, and that of the last content of its drive; null where
 * the drive is gone.
 */
export async function numbersOf(
  db: Db,
  { drive, block }: Pick<TextBlock, 'drive' | 'block'>,
): Promise<{ last: number; docs: Set<number> } | null> {
  // The last number first: what is numbered later is beyond it.
  const row = await db.row<{ docs: number }>('SELECT docs FROM search_drive WHERE number = ?', [
    drive,
  ])
  if (!row) return null
  const from = block * BLOCK
  const rows = await db.rows<{ doc: number }>(
    'SELECT doc FROM search_text WHERE drive = ? AND doc >= ? AND doc < ?',
    [drive, from, from + BLOCK],
  )
  return { last: Number(row.docs) - from, docs: new Set(rows.map(({ doc }) => doc - from)) }
}

/**
 * The blocks that are to be merged: much has been added or taken away, for what they have; or
 * something, and no new contents come to them; or anything, and they were merged before a time. By
 * parts of what there is, a content is merged few times, however slowly a drive grows.
 */
export const blocksToMerge = async (db: Db, before: number, limit: number): Promise<TextBlock[]> =>
  readBlocks(
    await db.rows<TextBlock>(
      `SELECT ${blockColumns} FROM search_text_block b JOIN search_drive d ON d.number = b.drive
       WHERE (b.fresh > 0 OR b.gone > 0)
         AND (b.merged_at <= ? OR b.fresh >= ${BLOCK / 4} OR b.gone >= ${BLOCK / 8}
           OR (b.fresh >= 16 AND b.fresh * 4 >= d.docs - b.block * ${BLOCK})
           OR (b.fresh >= 16 AND d.docs >= (b.block + 1) * ${BLOCK})
           OR (b.gone >= 16 AND b.gone * 8 >= d.docs - b.block * ${BLOCK}))
       LIMIT ${limit}`,
      [before],
    ),
  )

/** Blocks that have what was merged before a time: searches have read it until then. */
export const blocksToClear = async (db: Db, before: number, limit: number): Promise<TextBlock[]> =>
  readBlocks(
    await db.rows<TextBlock>(
      `SELECT ${blockColumns} FROM search_text_block b WHERE b.is_clear = 0 AND b.merged_at <= ? LIMIT ${limit}`,
      [before],
    ),
  )

/** Deletes some of what a segment has replaced. @returns whether there may be more */
export async function deleteMerged(
  db: Db,
  { drive, block, merged }: TextBlock,
  limit: number,
): Promise<boolean> {
  const words = await deleteSome(
    db,
    'search_text_word',
    'drive = ? AND block = ? AND epoch <= ?',
    limit,
    [drive, block, merged],
  )
  const parts = await deleteSome(
    db,
    'search_text_segment',
    'drive = ? AND block = ? AND epoch < ?',
    limit,
    [drive, block, merged],
  )
  return words + parts > 0
}

/** Deletes the segment of an epoch that is not shown. */
export async function deleteSegment(
  db: Db,
  { drive, block, epoch }: Pick<TextBlock, 'drive' | 'block' | 'epoch'>,
): Promise<void> {
  const which = 'drive = ? AND block = ? AND epoch = ?'
  while (
    (await deleteSome(db, 'search_text_segment', which, WORDS_AT_ONCE, [drive, block, epoch])) > 0
  );
}

export const setClear = (db: Db, { drive, block, merged }: TextBlock): Promise<number> =>
  db.run('UPDATE search_text_block SET is_clear = 1 WHERE drive = ? AND block = ? AND merged = ?', [
    drive,
    block,
    merged,
  ])
