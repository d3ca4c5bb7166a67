import { CORRUPT, type SearchFile } from './file.ts'
import {
  bytesOf,
  driveOfRow,
  endRow,
  FILLING_GAP,
  firstRow,
  GAP,
  idOf,
  MOST_DRIVES,
} from './row.ts'
import { WORD_TABLES, type WordTable } from './tables.ts'
import { columnsOf, type Doc, textMark } from './words.ts'

/** The progress of indexing a drive. */
export interface IndexedDrive {
  bucketId: string
  number: number
  /** Grows with each addition, so that two processes do not write over each other. */
  turn: number
  /** The entry up to which entries are indexed; null when all are. */
  place: string | null
  /** The event up to which changes are indexed. */
  seq: number
  /** The time of that event, by which another log with the same numbers is recognized. */
  stamp: number | null
  beganAt: number
  entries: number
}

interface DriveRow {
  bucket_id: string
  number: bigint
  turn: bigint
  place: string | null
  seq: bigint
  stamp: bigint | null
  began_at: bigint
  entries: bigint
}

const read = (row: DriveRow): IndexedDrive => ({
  bucketId: row.bucket_id,
  number: Number(row.number),
  turn: Number(row.turn),
  place: row.place,
  seq: Number(row.seq),
  stamp: row.stamp === null ? null : Number(row.stamp),
  beganAt: Number(row.began_at),
  entries: Number(row.entries),
})

const columns = 'bucket_id, number, turn, place, seq, stamp, began_at, entries'

export interface Position {
  seq: number
  stamp: number | null
}

export function drives(file: SearchFile, bucketIds: readonly string[]): IndexedDrive[] {
  return bucketIds.flatMap(id => {
    const row = file.row<DriveRow>(`SELECT ${columns} FROM drive WHERE bucket_id = ?`, [id])
    return row ? [read(row)] : []
  })
}

/** Some drives in the order of their ids. */
export const drivesAfter = (file: SearchFile, after: string, limit: number): IndexedDrive[] =>
  file
    .rows<DriveRow>(
      `SELECT ${columns} FROM drive WHERE bucket_id > ? ORDER BY bucket_id LIMIT ${limit}`,
      [after],
    )
    .map(read)

function insertDrive(file: SearchFile, bucketId: string, { seq, stamp }: Position): void {
  const used = file.row<{ n: bigint | null }>(
    `SELECT MAX(n) AS n
     FROM (SELECT MAX(number) AS n FROM drive UNION ALL SELECT MAX(row) >> 43 FROM item)`,
  )
  const number = Number(used?.n ?? 0) + 1
  // The numbers are used up: the index is made again.
  if (number >= MOST_DRIVES) throw new Error('The search index has no number for a drive.')
  file.run(
    `INSERT INTO drive (number, bucket_id, turn, place, seq, stamp, began_at, entries)
     VALUES (?, ?, 0, '', ?, ?, ?, 0)`,
    [
      BigInt(number),
      bucketId,
      BigInt(seq),
      stamp === null ? null : BigInt(stamp),
      BigInt(Date.now()),
    ],
  )
}

/** Begins to index a drive, from its first entry on. */
export function begin(file: SearchFile, bucketId: string, position: Position): void {
  file.transaction(() => {
    if (drives(file, [bucketId]).length === 0) insertDrive(file, bucketId, position)
  })
}

/**
 * Indexes a drive again, from its first entry on. What is indexed stays usable meanwhile.
 */
export function restart(file: SearchFile, bucketId: string, { seq, stamp }: Position): void {
  file.run(
    `UPDATE drive
     SET turn = turn + 1, place = '', seq = ?, stamp = ?, began_at = ?, entries = 0
     WHERE bucket_id = ?`,
    [BigInt(seq), stamp === null ? null : BigInt(stamp), BigInt(Date.now()), bucketId],
  )
}

interface ItemRow {
  row: bigint
  id: Uint8Array
}

/** The rows of a drive before and after an id, or the row of the id itself. */
interface Neighbours {
  row: bigint | null
  before: bigint
  after: bigint
}

/**
 * Finds an id among the rows of a drive, which have the same order: a binary search without an
 * index of ids.
 */
export function locate(file: SearchFile, number: number, id: string): Neighbours {
  const wanted = bytesOf(id)
  let [before, after] = [firstRow(number), endRow(number)]
  const last = file.row<ItemRow>(
    'SELECT row, id FROM item WHERE row > ? AND row < ? ORDER BY row DESC LIMIT 1',
    [before, after],
  )
  if (!last) return { row: null, before, after }
  const atLast = Buffer.compare(last.id, wanted)
  if (atLast === 0) return { row: last.row, before, after }
  if (atLast < 0) return { row: null, before: last.row, after }
  after = last.row
  const next = 'SELECT row, id FROM item WHERE row >= ? AND row < ? ORDER BY row LIMIT 1'
  while (after - before > 1n) {
    const middle = (before + after + 1n) / 2n
    const found = file.row<ItemRow>(next, [middle, after])
    if (!found) {
      // Nothing is between the middle and the next row.
      const lower = file.row<ItemRow>(
        'SELECT row, id FROM item WHERE row > ? AND row < ? ORDER BY row DESC LIMIT 1',
        [before, middle],
      )
      if (!lower) break
      const order = Buffer.compare(lower.id, wanted)
      if (order === 0) return { row: lower.row, before, after }
      if (order < 0) return { row: null, before: lower.row, after }
      after = lower.row
      continue
    }
    const order = Buffer.compare(found.id, wanted)
    if (order === 0) return { row: found.row, before, after }
    if (order < 0) before = found.row
    else after = found.row
  }
  return { row: null, before, after }
}

/**
 * Rows for so many new entries between two neighbours, with equal distances.
 * @param gap the distance of rows at the end of a drive
 * @returns null if there is no room
 */
function rowsBetween(
  { before, after }: Neighbours,
  { count, end, gap }: { count: number; end: bigint; gap: bigint },
): bigint[] | null {
  const room = (after - before) / BigInt(count + 1)
  const step = after === end && gap < room ? gap : room
  return step < 1n ? null : Array.from({ length: count }, (_, i) => before + step * BigInt(i + 1))
}

/**
 * The rows of entries: their own, or new ones in the order of their ids.
 * @returns null if there is no room
 */
function rowsOf(
  file: SearchFile,
  number: number,
  ids: readonly string[],
  gap: bigint,
): { row: bigint; isNew: boolean }[] | null {
  const places = ids.map(id => locate(file, number, id))
  const rows: { row: bigint; isNew: boolean }[] = []
  for (let i = 0; i < places.length; ) {
    const place = places[i]
    if (!place) break
    if (place.row !== null) {
      rows.push({ row: place.row, isNew: false })
      i += 1
      continue
    }
    // All that belong between the same two rows.
    let count = 1
    while (places[i + count]?.row === null && places[i + count]?.after === place.after) count += 1
    const found = rowsBetween(place, { count, end: endRow(number), gap })
    if (!found) return null
    rows.push(...found.map(row => ({ row, isNew: true })))
    i += count
  }
  return rows
}

function deleteWords(file: SearchFile, row: bigint): void {
  for (const table of WORD_TABLES) file.run(`DELETE FROM ${table} WHERE rowid = ?`, [row])
}

const INSERT: Record<WordTable, string> = {
  name: 'INSERT INTO name (rowid, word, part, mark, start) VALUES (?, ?, ?, ?, ?)',
  gram: 'INSERT INTO gram (rowid, letters) VALUES (?, ?)',
  body: 'INSERT INTO body (rowid, text, note, name, extra, stem) VALUES (?, ?, ?, ?, ?, ?)',
}

/**
 * The state of an indexed drive at the moment when a process began to read its entries. A write is
 * refused if the drive has changed since.
 */
export type Turn = Pick<IndexedDrive, 'bucketId' | 'number' | 'turn'>

/** How far a drive is indexed after an addition. */
export interface Move extends Position {
  place: string | null
  /** The number of entries that this adds. */
  added: number
}

const isAt = (drive: IndexedDrive | null, { bucketId, number, turn }: Turn): boolean =>
  drive?.bucketId === bucketId && drive.number === number && drive.turn === turn

/**
 * What has become of an addition. `moved`: another addition came first, so what this process has
 * read may be out of date.
 * `crowded`: there is no row between two others, so the drive has to be forgotten.
 */
export type Added = 'added' | 'moved' | 'crowded'

/**
 * Indexes entries of a drive, in the order of their ids, and deletes others.
 * @param from the drive, read before the entries
 * @param gone the ids of entries that are no longer in the drive
 * @param to how far the drive is indexed after that; null if that is unchanged
 */
export function add(
  file: SearchFile,
  from: Turn,
  { docs, gone = [] }: { docs: readonly Doc[]; gone?: readonly string[] },
  to: Move | null,
): Added {
  // Outside of the transaction, because reading the words of a text takes most of the time.
  const made = [...new Map(docs.map(doc => [doc.id, doc])).values()]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(doc => ({ doc, columns: columnsOf(doc) }))
  return file.transaction(() => {
    if (!isAt(driveWith(file, from.number), from)) return 'moved'
    for (const id of gone) {
      const { row } = locate(file, from.number, id)
      if (row !== null) deleteRow(file, row)
    }
    const places = rowsOf(
      file,
      from.number,
      made.map(({ doc }) => doc.id),
      to?.place === undefined || to.place === null ? GAP : FILLING_GAP,
    )
    if (!places) return 'crowded'
    const rows = made.flatMap(({ doc, columns }, i) => {
      const place = places[i]
      return place ? [{ ...place, doc, columns }] : []
    })
    for (const { row, isNew, doc } of rows) {
      const mark = doc.text ? textMark(doc.text.key) : null
      if (isNew)
        file.run('INSERT INTO item (row, id, text) VALUES (?, ?, ?)', [row, bytesOf(doc.id), mark])
      else file.run('UPDATE item SET text = ? WHERE row = ?', [mark, row])
    }
    for (const { row, isNew } of rows) if (!isNew) deleteWords(file, row)
    // FTS5 writes a segment whenever a row is smaller than the one before.
    rows.sort((a, b) => (a.row < b.row ? -1 : 1))
    for (const table of WORD_TABLES)
      for (const { row, columns } of rows) {
        const values = columns[table]
        if (values) file.run(INSERT[table], [row, ...values])
      }
    file.run('UPDATE drive SET turn = turn + 1 WHERE number = ?', [BigInt(from.number)])
    if (to)
      file.run(
        'UPDATE drive SET place = ?, seq = ?, stamp = ?, entries = entries + ? WHERE number = ?',
        [
          to.place,
          BigInt(to.seq),
          to.stamp === null ? null : BigInt(to.stamp),
          BigInt(to.added),
          BigInt(from.number),
        ],
      )
    return 'added'
  })
}

function deleteRow(file: SearchFile, row: bigint): void {
  deleteWords(file, row)
  file.run('DELETE FROM item WHERE row = ?', [row])
}

/** A file whose text may have changed. */
export interface TextRow {
  bucketId: string
  id: string
  /** The key of its current text. */
  key: string
}

/** The files among some whose current text is not in the index, although the file is. */
export function lackingText(file: SearchFile, rows: readonly TextRow[]): TextRow[] {
  const numbers = new Map<string, number | undefined>()
  return rows.filter(({ bucketId, id, key }) => {
    if (!numbers.has(bucketId)) numbers.set(bucketId, drives(file, [bucketId])[0]?.number)
    const number = numbers.get(bucketId)
    if (number === undefined) return false
    const { row } = locate(file, number, id)
    if (row === null) return false
    const item = file.row<{ text: Uint8Array | null }>('SELECT text FROM item WHERE row = ?', [row])
    return item?.text == null || Buffer.compare(item.text, textMark(key)) !== 0
  })
}

/** An indexed entry. */
export interface Item {
  row: bigint
  /** Its drive. Null for a row that is left over from a drive. */
  drive: Turn | null
  id: string
  /** The beginning of the key of its text. */
  mark: Uint8Array | null
}

/** Indexed entries after a row. */
export const itemsAfter = (file: SearchFile, after: bigint, limit: number): Item[] =>
  file.transaction(() => {
    const found = new Map<number, Turn | null>()
    return file
      .rows<ItemRow & { text: Uint8Array | null }>(
        `SELECT row, id, text FROM item WHERE row > ? ORDER BY row LIMIT ${limit}`,
        [after],
      )
      .map(({ row, id, text }) => {
        const number = driveOfRow(row)
        if (!found.has(number)) found.set(number, driveWith(file, number))
        return { row, drive: found.get(number) ?? null, id: idOf(id), mark: text }
      })
  })

function driveWith(file: SearchFile, number: number): IndexedDrive | null {
  const row = file.row<DriveRow>(`SELECT ${columns} FROM drive WHERE number = ?`, [BigInt(number)])
  return row ? read(row) : null
}

/**
 * Deletes indexed entries that were gone from the database after they were listed. Keeps a row of
 * another entry, and rows of a drive that has been indexed meanwhile, because an entry may be back.
 */
export function removeItems(file: SearchFile, items: readonly Omit<Item, 'mark'>[]): void {
  file.transaction(() => {
    for (const { row, drive, id } of items) {
      const now = driveWith(file, driveOfRow(row))
      if (drive ? !isAt(now, drive) : now !== null) continue
      const item = file.row<ItemRow>('SELECT row, id FROM item WHERE row = ?', [row])
      if (item && idOf(item.id) === id) deleteRow(file, row)
    }
  })
}

/**
 * Forgets a drive. The sweep deletes its rows. A drive that is indexed again gets another number.
 * Does nothing if another process has forgotten it and begun again.
 */
export function forget(
  file: SearchFile,
  { bucketId, number }: Pick<IndexedDrive, 'bucketId' | 'number'>,
): void {
  file.run('DELETE FROM drive WHERE bucket_id = ? AND number = ?', [bucketId, BigInt(number)])
}

/** The time of the last text that was looked at. */
export function textsAt(file: SearchFile): number {
  return Number(
    file.row<{ value: string }>("SELECT value FROM meta WHERE name = 'texts'")?.value ?? 0,
  )
}

export function noteTextsAt(file: SearchFile, at: number): void {
  file.run(
    `INSERT INTO meta (name, value)
     VALUES ('texts', ?)
     ON CONFLICT (name)
     DO UPDATE SET value = MAX(CAST(value AS INTEGER), CAST(excluded.value AS INTEGER))`,
    [String(at)],
  )
}

/** The progress of the index. */
export function progress(file: SearchFile): {
  drives: number
  unfinished: number
  entries: number
} {
  const row = file.row<Record<'drives' | 'unfinished' | 'entries', bigint | null>>(
    `SELECT COUNT(*) AS drives, SUM(place IS NOT NULL) AS unfinished, SUM(entries) AS entries
     FROM drive`,
  )
  return {
    drives: Number(row?.drives ?? 0),
    unfinished: Number(row?.unfinished ?? 0),
    entries: Number(row?.entries ?? 0),
  }
}

/** Reads the whole file, and compares the lists of words. @throws if it is damaged */
export function check(file: SearchFile): void {
  const rows = file.rows<Record<string, string>>('PRAGMA integrity_check(1)')
  const [found = 'ok'] = Object.values(rows[0] ?? {})
  if (found === 'ok') return
  throw Object.assign(new Error(found.replaceAll(/\s+/g, ' ')), { errcode: CORRUPT })
}
