import { type Condition, expressionOf, hasPrefix, type Wanted } from './expression.ts'
import type { SearchFile } from './file.ts'
import { driveOfRow, endRow, firstRow, idOf } from './row.ts'
import { locate } from './writing.ts'

/** An entry that the index has found. */
export interface Hit {
  id: string
  row: bigint
}

export interface Found {
  /** Newest first. */
  hits: Hit[]
  /** Whether there may be more after the last one. */
  hasMore: boolean
  /** Whether the time was not enough to find all. Then the hits are not in order. */
  isCut: boolean
}

export interface Search extends Wanted {
  /** The numbers of the drives to search. */
  drives: readonly number[]
  /** An id, exclusive. */
  before: string | null
  limit: number
  /** When the search ends, as Date.now() has it. */
  until: number
}

/** Drives that are searched one by one. */
const FEW_DRIVES = 8
/** Rows that are read from all drives before drives are searched one by one. */
const FEW_ROWS = 3000
/** Rows between two looks at the clock. */
const ROWS = 256

const idsOf = (file: SearchFile, rows: readonly bigint[]): Hit[] =>
  rows.flatMap(row => {
    const item = file.row<{ id: Uint8Array }>('SELECT id FROM item WHERE row = ?', [row])
    return item ? [{ row, id: idOf(item.id) }] : []
  })

/**
 * The entries of some drives that a condition holds for, the newest first. The rows of a drive have
 * the order of ids, so the newest of all drives are among the newest of each.
 */
export function find(file: SearchFile, search: Search): Found {
  const { drives, before, limit, until } = search
  const expression = expressionOf(search.condition)
  const ends = new Map(
    drives.map(number => {
      if (before === null) return [number, endRow(number)]
      const place = locate(file, number, before)
      return [number, place.row ?? place.before + 1n]
    }),
  )
  const rows = rowsOf(file, search, expression, ends)
  const hits = idsOf(file, rows.all).sort((a, b) => (a.id < b.id ? 1 : -1))
  // Behind the last hit of a drive that has more, other drives may have newer ones.
  const last = idsOf(file, rows.lasts)
    .map(({ id }) => id)
    .sort()
    .at(-1)
  const known = hits.filter(({ id }) => last === undefined || id >= last).slice(0, limit)
  return {
    hits: known,
    hasMore: known.length < hits.length || rows.lasts.length > 0,
    isCut: rows.isCut || Date.now() > until,
  }
}

interface Rows {
  all: bigint[]
  /** The last rows of drives that may have more. */
  lasts: bigint[]
  isCut: boolean
}

function rowsOf(
  file: SearchFile,
  search: Search,
  expression: string,
  ends: ReadonlyMap<number, bigint>,
): Rows {
  const { table, limit, until } = search
  const numbers = [...ends.keys()].sort((a, b) => b - a)
  if (numbers.length > FEW_DRIVES) {
    const all = fromAll(file, search, expression, ends)
    if (all) return all
  }
  const rows: Rows = { all: [], lasts: [], isCut: false }
  const sql = `SELECT rowid AS row
    FROM ${table}
    WHERE ${table} MATCH ?
      AND rowid > ?
      AND rowid < ?
    ORDER BY rowid DESC
    LIMIT ${limit}`
  for (const number of numbers) {
    file.step()
    if (Date.now() > until) return { ...rows, isCut: true }
    const found = file
      .rows<{ row: bigint }>(sql, [expression, firstRow(number), ends.get(number) ?? 0n])
      .map(({ row }) => row)
    rows.all.push(...found)
    const last = found.at(-1)
    if (found.length === limit && last !== undefined) rows.lasts.push(last)
  }
  return rows
}

/**
 * The rows of many drives by one look at the whole index: all of them if there are few, or if the
 * condition has a prefix, whose words would be read again for each drive. Null if neither holds.
 */
function fromAll(
  file: SearchFile,
  { table, condition, limit, until }: Search,
  expression: string,
  ends: ReadonlyMap<number, bigint>,
): Rows | null {
  const isPrefix = hasPrefix(condition)
  const sql = `SELECT rowid AS row FROM ${table} WHERE ${table} MATCH ? ORDER BY rowid DESC`
  const found = new Map<number, bigint[]>()
  let count = 0
  for (const { row } of file.statement(sql).iterate(expression) as Iterable<{ row: bigint }>) {
    count += 1
    if (!isPrefix && count > FEW_ROWS) return null
    if (count % ROWS === 0) {
      file.step()
      if (Date.now() > until) return { all: [...found.values()].flat(), lasts: [], isCut: true }
    }
    const number = driveOfRow(row)
    const end = ends.get(number)
    if (end === undefined || row >= end) continue
    const rows = found.get(number) ?? []
    if (rows.length < limit) rows.push(row)
    found.set(number, rows)
  }
  const full = [...found.values()].filter(({ length }) => length === limit)
  return {
    all: [...found.values()].flat(),
    lasts: full.flatMap(rows => rows.at(-1) ?? []),
    isCut: false,
  }
}

/** An entry whose words are compared. */
export interface Compared {
  drive: number
  id: string
  /** Its row, if it is known. */
  row?: bigint | undefined
}

export interface Held {
  /** The beginning of the key of the indexed text. Null if there is none. */
  mark: Uint8Array | null
  /** For each condition, whether it holds. */
  holds: boolean[]
}

/** Which conditions on texts and notes hold for some entries. */
export function hold(
  file: SearchFile,
  entries: readonly Compared[],
  conditions: readonly Condition[],
): Held[] {
  const expressions = conditions.map(expressionOf)
  const sql = 'SELECT 1 AS one FROM body WHERE body MATCH ? AND rowid = ?'
  return entries.map(entry => {
    file.step()
    const item = itemOf(file, entry)
    if (!item?.text) return { mark: null, holds: expressions.map(() => false) }
    return {
      mark: item.text,
      holds: expressions.map(expression => file.row(sql, [expression, item.row]) !== undefined),
    }
  })
}

interface ItemText {
  row: bigint
  id: Uint8Array
  text: Uint8Array | null
}

function itemOf(file: SearchFile, { drive, id, row }: Compared): ItemText | undefined {
  const sql = 'SELECT row, id, text FROM item WHERE row = ?'
  const known = row === undefined ? undefined : file.row<ItemText>(sql, [row])
  if (known && idOf(known.id) === id) return known
  const found = locate(file, drive, id).row
  return found === null ? undefined : file.row<ItemText>(sql, [found])
}

/** For each condition, whether it holds for any entry of some drives. */
export const holdAnywhere = (
  file: SearchFile,
  wanted: readonly Wanted[],
  drives: readonly number[],
  until: number,
): boolean[] =>
  wanted.map(one => find(file, { ...one, drives, before: null, limit: 1, until }).hits.length > 0)
