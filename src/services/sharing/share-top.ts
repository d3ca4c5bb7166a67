import type { Db, Tx } from '../../../db/index.ts'
import {
  type EntryKey,
  type EntryQuery,
  entriesAmong,
  type PlacedRow,
} from '../../../db/queries/entry-list.ts'
import { descend, upFrom } from '../../../db/queries/entry-path.ts'
import { type Page, pageOf } from '../../../db/queries/page.ts'
import type { LinkedShare } from '../../../db/queries/share.ts'
import { entriesOfShare } from '../../../db/queries/share-entry.ts'
import { namesApart } from '../../upload-engine/names-apart.ts'
import { joinPath, parseFilePath } from '../../values/paths.ts'
import type { NamedCopy } from '../tree/entry-copy.ts'
import { entryKeyOf, type PlacedEntry, parsePart, type SearchKey } from '../tree/entry-list.ts'
import { fileNotFound } from '../tree/entry-path.ts'

/**
 * An entry of a share of several, under its name in the share. Entries of two folders may have the
 * same name.
 */
export type Top = PlacedRow

/** The current entries of a share of several. */
export interface Tops {
  /** In the chosen order. */
  all: readonly Top[]
  named(name: string | undefined): Top | undefined
}

type Up = Awaited<ReturnType<typeof upFrom>>

/** The top level of a share of several entries. Null for a share of one entry. */
export async function topsOf(
  db: Db,
  share: Pick<LinkedShare, 'id' | 'bucketId' | 'entryCount'>,
  tx?: Tx,
): Promise<Tops | null> {
  if (share.entryCount === null) return null
  const rows = await entriesOfShare(db, share, tx)
  const names = namesApart(rows.map(({ name }) => name))
  const all = rows.map((row, i) => ({ ...row, name: names[i] ?? row.name }))
  const byName = new Map(all.map(top => [top.name, top]))
  return { all, named: name => byName.get(name ?? '') }
}

/**
 * The names of an entry from the top of a share down. Undefined if the entry is not in the share.
 * @param up the entry and all folders above it
 */
export function namesBelow({ all }: Tops, up: Up, id: string): string[] | undefined {
  const tops = new Map(all.map(top => [top.id, top.name]))
  const names: string[] = []
  for (let at: string | null = id; at !== null; ) {
    const top = tops.get(at)
    if (top !== undefined) return [top, ...names]
    const entry = up.get(at)
    if (!entry) return undefined
    names.unshift(entry.name)
    at = entry.parentId
  }
  return undefined
}

/** Whether all of these entries are currently in a share of several. */
export async function areBelow(
  db: Db,
  tops: Tops,
  ids: readonly string[],
  tx?: Tx,
): Promise<boolean> {
  const up = await upFrom(db, ids, tx)
  return ids.every(id => namesBelow(tops, up, id) !== undefined)
}

/**
 * The entries that are not inside another one of them. They may have moved since they were chosen.
 */
export async function outermost<E extends { id: string }>(
  db: Db,
  entries: readonly E[],
  tx?: Tx,
): Promise<E[]> {
  const ids = new Set(entries.map(({ id }) => id))
  const up = await upFrom(db, ids, tx)
  const isInside = (id: string): boolean => {
    for (let at = up.get(id)?.parentId ?? null; at !== null; at = up.get(at)?.parentId ?? null)
      if (ids.has(at)) return true
    return false
  }
  return entries.filter(({ id }) => !isInside(id))
}

/**
 * The entries at some paths of a share of several, without duplicates, under their names in the
 * share. The number of statements depends on the depth of the paths, not on their number.
 * @param field the input field, for errors
 * @throws FILE_NOT_FOUND, INVALID_PATH
 */
export async function entriesAt(
  db: Db,
  { tops, bucketId }: { tops: Tops; bucketId: string },
  paths: readonly string[],
  field: string,
  tx?: Tx,
): Promise<NamedCopy[]> {
  const wanted = [...new Set(paths.map(path => joinPath(parseFilePath(path, field))))].map(path =>
    path.split('/'),
  )
  const missing = (names: string[]) => fileNotFound({ bucketId, rootId: '' }, names)
  const starts = wanted.map(([first, ...names]) => ({
    parentId: tops.named(first)?.id ?? '',
    names,
  }))
  const chains = await descend(db, starts, tx)
  return wanted.map((names, i) => {
    const start = starts[i]
    const id =
      start?.names.length === 0 ? start.parentId : chains[i]?.[(start?.names.length ?? 0) - 1]?.id
    if (!id) throw missing(names)
    return names.length === 1 ? { id, as: names[0] ?? '' } : { id }
  })
}

/** Compares texts by their bytes, like the engines. */
const compare = <T extends string | number>(a: T, b: T): number =>
  typeof a === 'string'
    ? Buffer.compare(Buffer.from(a), Buffer.from(`${b}`))
    : Number(a) - Number(b)

/**
 * A page of the entries themselves, in the order of folder lists. They are few and already loaded.
 */
export function pageOfTops(
  { all }: Tops,
  query: Pick<EntryQuery, 'sort' | 'descending'>,
  limit: number,
  after: EntryKey | null,
): Page<Top> {
  const turn = query.descending ? -1 : 1
  // Sorted by name, folders come first in both directions.
  const inOrder = ([a, b]: EntryKey, [c, d]: EntryKey) =>
    compare(a, c) * (query.sort === 'name' ? 1 : turn) || compare(b, d) * turn
  const rows = all
    .map(top => ({ top, key: entryKeyOf(query, top) }))
    .filter(({ key }) => after === null || inOrder(key, after) > 0)
    .toSorted((a, b) => inOrder(a.key, b.key))
  return pageOf(
    rows.map(({ top }) => top),
    limit,
  )
}

/**
 * The entries whose names contain a text, among the top entries and everything below them. One
 * statement reads the rows, one their paths.
 */
export async function searchTops(
  db: Db,
  tops: Tops,
  { text, ...order }: Pick<EntryQuery, 'sort' | 'descending'> & { text: string },
  limit: number,
  after: SearchKey | null,
): Promise<Page<PlacedEntry>> {
  const ids = tops.all.map(({ id }) => id)
  const part = parsePart(text, 'query')
  if (ids.length === 0) return { rows: [], more: false }
  const { rows, more } = await entriesAmong(db, ids, { ...order, part }, limit, after)
  const up = await upFrom(
    db,
    rows.map(({ id }) => id),
  )
  // A row that moved out meanwhile is skipped. The cursor is that of the last row.
  const placed = rows.flatMap(row => {
    const names = namesBelow(tops, up, row.id)
    return names ? [{ ...row, names }] : []
  })
  return { rows: placed, more }
}
