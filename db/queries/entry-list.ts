import type { Db, Tx, Value } from '../index.ts'
import { type Entry, FILE, FOLDER } from '../models/entry.ts'
import { downPath } from './entry-path.ts'
import { headOf, noteHead } from './event.ts'
import { beyondKey, firstOfEach, mergePages, type Page, pageOf } from './page.ts'
import { contentRevisionOf, firstIdAt, placeholders } from './sql.ts'

interface Root {
  rootId: string
}

/** An entry in a list. Sizes are in bytes, times in milliseconds since 1970. */
export interface EntryRow {
  id: string
  kind: Entry['kind']
  name: string
  contentType: string
  size: number
  /** The number of files below a folder; 1 for a file. */
  fileCount: number
  md5: string
  createdBy: string | null
  createdAt: number
  updatedAt: number
  /** The modification time of a content, or the creation time of a folder. */
  modifiedAt: number
  /** Grows with each change of the content, name or place. */
  revision: number
  /** Grows with each change of the content. */
  contentRevision: number
  /** Of a folder: grows with each change of anything below it. */
  changeStamp: number
}

/** An entry of a known folder. */
export interface ChildRow extends EntryRow {
  /** Null for a folder. */
  blobId: string | null
}

/** An entry with its parent. */
export interface PlacedRow extends ChildRow {
  bucketId: string
  /** Null for a root. */
  parentId: string | null
}

const listedColumns = (e: string): string =>
  `${e}.id, ${e}.kind, ${e}.name, ${e}.file_type AS contentType, ${e}.total_bytes AS size, ${e}.total_files AS fileCount, ${e}.md5, ${e}.created_by AS createdBy, ${e}.created_at AS createdAt, ${e}.updated_at AS updatedAt, COALESCE(${e}.modified_at, ${e}.content_at, ${e}.created_at) AS modifiedAt, ${e}.revision, ${contentRevisionOf(e)} AS contentRevision, ${e}.change_stamp AS changeStamp`

const childColumns = `${listedColumns('entry')}, entry.blob_id AS blobId`

export const placedColumns = `${childColumns}, entry.bucket_id AS bucketId, entry.parent_id AS parentId`

/** The totals of a root are those of its storage area. The row of a root has none. */
const totalOf = (used: string, total: string) =>
  `COALESCE((SELECT b.${used} FROM bucket b WHERE b.id = entry.bucket_id AND b.root_id = entry.id),
     ${total})`

const columnsOfAny = placedColumns
  .replace('entry.total_bytes', totalOf('used_bytes', 'entry.total_bytes'))
  .replace('entry.total_files', totalOf('used_files', 'entry.total_files'))
  .replace('entry.change_stamp', totalOf('change_stamp', 'entry.change_stamp'))

/** A condition: the entry has a tag. It reads one row of the primary key. */
const HAS_TAG = 'EXISTS (SELECT 1 FROM entry_tag x WHERE x.tag_id = ? AND x.entry_id = entry.id)'

/** A condition: the name contains a lower-case text. */
const CONTAINS = 'INSTR(LOWER(name), ?) > 0'

/**
 * The entries of a folder given by path, folders first, both by name. Empty if there is no such
 * folder. Scans one range of one index, in the order of the listing.
 * @param after the kind and the name of an entry
 */
export function entriesAt(
  db: Db,
  { rootId }: Root,
  names: string[],
  limit: number,
  after: [number, string] | null,
): Promise<EntryRow[]> {
  const folder = names.length > 0 ? downPath({ rootId }, names, 'f') : undefined
  const from = folder ? `${folder.from} JOIN entry e` : 'entry e'
  const where = folder ? `${folder.where} AND e.parent_id = f.id` : 'e.parent_id = ?'
  const select = `SELECT ${listedColumns('e')} FROM ${from} WHERE ${where}`
  const values = folder?.values ?? [rootId]
  const order = `ORDER BY e.kind, e.name LIMIT ${limit}`
  if (!after) return db.rows(`${select} ${order}`, values)
  const [kind, name] = after
  if (kind === FILE)
    return db.rows(`${select} AND e.kind = ${FILE} AND e.name > ? ${order}`, [...values, name])
  return db.rows(`${select} AND ((e.kind < ${FILE} AND e.name > ?) OR e.kind = ${FILE}) ${order}`, [
    ...values,
    name,
  ])
}

/**
 * The entries of one kind in a bucket, oldest first.
 * @param after an id, or empty
 * @param part of the name, in lower case
 */
export function entriesOfKind(
  db: Db,
  bucketId: string,
  kind: typeof FILE | typeof FOLDER,
  { after, limit, part }: { after: string; limit: number; part?: string },
): Promise<PlacedRow[]> {
  const contains = part === undefined ? '' : ` AND ${CONTAINS}`
  return db.rows(
    `SELECT ${placedColumns}
     FROM entry
     WHERE bucket_id = ?
       AND kind = ${kind}
       AND id > ?${contains}
     ORDER BY id
     LIMIT ${limit}`,
    [bucketId, after, ...(part === undefined ? [] : [part])],
  )
}

/** The ids of the files of a bucket that were created in one millisecond. */
export async function filesMadeAt(db: Db, bucketId: string, at: number): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(
    `SELECT id
     FROM entry
     WHERE bucket_id = ?
       AND kind = ${FILE}
       AND id >= ?
       AND id < ?`,
    [bucketId, firstIdAt(at), firstIdAt(at + 1)],
  )
  return rows.map(({ id }) => id)
}

/** An entry of a bucket. */
export const entryById = (
  db: Db,
  bucketId: string,
  id: string,
  tx?: Tx,
): Promise<PlacedRow | undefined> =>
  db.row(`SELECT ${placedColumns} FROM entry WHERE id = ? AND bucket_id = ?`, [id, bucketId], tx)

/** Some entries of any buckets, with the roots of these. */
export const entriesByIds = (db: Db, ids: string[]): Promise<(PlacedRow & Root)[]> =>
  db.rows(
    `SELECT ${columnsOfAny}, (SELECT b.root_id FROM bucket b WHERE b.id = entry.bucket_id) AS rootId
     FROM entry
     WHERE id IN (${placeholders(ids)})`,
    ids,
  )

/**
 * The entry with these names from the root down. The root without any.
 * @param tx of a change that ends with an event. It also reads the last event's number, as
 * `resolveChain` does
 */
export async function entryAt(
  db: Db,
  { bucketId, rootId }: Root & { bucketId: string },
  names: string[],
  tx?: Tx,
): Promise<PlacedRow | undefined> {
  const root = { columns: columnsOfAny, from: 'entry', where: 'entry.id = ?', values: [rootId] }
  const below = { columns: placedColumns, ...downPath({ rootId }, names, 'entry') }
  const { columns, from, where, values } = names.length === 0 ? root : below
  if (!tx) return db.row<PlacedRow>(`SELECT ${columns} FROM ${from} WHERE ${where}`, values)
  const found = await db.row<PlacedRow & { head: number | null }>(
    `SELECT ${columns}, ${headOf} AS head FROM ${from} WHERE ${where}`,
    [bucketId, ...values],
    tx,
  )
  if (!found) return undefined
  const { head, ...row } = found
  noteHead(tx, bucketId, head === null ? null : Number(head))
  return row
}

export type EntrySort = 'name' | 'createdAt' | 'updatedAt' | 'size'

/**
 * Selects and sorts entries of a folder: by name with folders first, or by a number and then by id.
 */
export interface EntryQuery {
  sort: EntrySort
  descending: boolean
  kind: typeof FILE | typeof FOLDER | null
  /** In lower case. */
  nameContains: string | null
  /** The ids of tags. An entry must have all of them. */
  tagIds?: readonly string[]
}

/** The position after which a page starts: kind and name, or number and id. */
export type EntryKey = [number, string]

const columnOf = {
  name: 'name',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  size: 'total_bytes',
} as const

/**
 * The children of some folders. The page of each folder starts after the same key. One statement
 * for up to 128 folders. Two if folders and then files are sorted backwards by name, which no index
 * does at once.
 */
export async function pagesOfChildren(
  db: Db,
  folderIds: string[],
  query: EntryQuery,
  limit: number,
  after: EntryKey | null,
): Promise<Map<string, Page<ChildRow>>> {
  const { sort, descending, kind, nameContains, tagIds = [] } = query
  if (sort === 'name' && descending && kind === null) {
    const ofKind = (kind: EntryQuery['kind']) =>
      pagesOfChildren(db, folderIds, { ...query, kind }, limit, after)
    const [folders, files] = await Promise.all([ofKind(FOLDER), ofKind(FILE)])
    return mergePages(folders, files, limit)
  }
  const conditions: string[] = []
  const values: Value[] = []
  const add = (sql: string, ...of: Value[]) => {
    conditions.push(` AND ${sql}`)
    values.push(...of)
  }
  const [beyond, order] = descending ? (['<', ' DESC'] as const) : (['>', ''] as const)
  if (kind !== null) add(`kind = ${kind}`)
  if (nameContains !== null) add(CONTAINS, nameContains)
  for (const id of tagIds) add(HAS_TAG, id)
  // Ranges of the index on (parent_id, kind, name).
  if (sort === 'name' && after) {
    const [lastKind, name] = after
    if (lastKind === FILE) add(`kind = ${FILE} AND name ${beyond} ?`, name)
    else add(`((kind = ${FOLDER} AND name ${beyond} ?) OR kind = ${FILE})`, name)
  } else if (sort !== 'name' && after) {
    const key = beyondKey(db, [columnOf[sort], 'id'], beyond, after)
    add(key.sql, ...key.values)
  }
  return firstOfEach<ChildRow>(
    db,
    `SELECT ${childColumns} FROM entry WHERE parent_id = ?${conditions.join('')}`,
    {
      order: sort === 'name' ? `kind, name${order}` : `${sort}${order}, id${order}`,
      owners: folderIds,
      values,
      limit,
    },
  )
}

/**
 * The entries below a folder, at any depth, whose names contain a text, sorted by name or number,
 * and then by id. One statement walks down from the folder, so it reads nothing beside or above it.
 * @param part in lower case
 * @param after the sort value and the id
 */
export async function entriesBelow(
  db: Db,
  folderId: string,
  { sort, descending, part }: Pick<EntryQuery, 'sort' | 'descending'> & { part: string },
  limit: number,
  after: [string | number, string] | null,
): Promise<Page<PlacedRow>> {
  const [beyond, order] = descending ? (['<', ' DESC'] as const) : (['>', ''] as const)
  const column = columnOf[sort]
  const key = after && beyondKey(db, [`entry.${column}`, 'entry.id'], beyond, after)
  const rows = await db.rows<PlacedRow>(
    // Lists both kinds, so that the names are read from the index that begins with folder and kind.
    `WITH RECURSIVE folder (id) AS (
       SELECT ?
       UNION ALL
       SELECT e.id
       FROM folder f
       JOIN entry e ON e.parent_id = f.id AND e.kind = ${FOLDER}
     )
     SELECT ${placedColumns}
     FROM folder
     JOIN entry ON entry.parent_id = folder.id AND entry.kind IN (${FOLDER}, ${FILE})
     WHERE INSTR(LOWER(entry.name), ?) > 0${key ? ` AND ${key.sql}` : ''}
     ORDER BY entry.${column}${order}, entry.id${order}
     LIMIT ${limit + 1}`,
    [folderId, part, ...(key?.values ?? [])],
  )
  return pageOf(rows, limit)
}

/**
 * Like `entriesBelow`, for several entries, which match themselves, too. An entry below another one
 * is found once.
 */
export async function entriesAmong(
  db: Db,
  ids: string[],
  { sort, descending, part }: Pick<EntryQuery, 'sort' | 'descending'> & { part: string },
  limit: number,
  after: [string | number, string] | null,
): Promise<Page<PlacedRow>> {
  const [beyond, order] = descending ? (['<', ' DESC'] as const) : (['>', ''] as const)
  const key = after && beyondKey(db, [`entry.${columnOf[sort]}`, 'entry.id'], beyond, after)
  const found = `INSTR(LOWER(entry.name), ?) > 0${key ? ` AND ${key.sql}` : ''}`
  const values = [part, ...(key?.values ?? [])]
  const rows = await db.rows<PlacedRow>(
    `WITH RECURSIVE folder (id) AS (
       SELECT id
       FROM entry
       WHERE id IN (${placeholders(ids)})
       UNION
       SELECT e.id
       FROM folder f
       JOIN entry e ON e.parent_id = f.id AND e.kind = ${FOLDER}
     )
     SELECT ${placedColumns}
     FROM folder
     JOIN entry ON entry.parent_id = folder.id AND entry.kind IN (${FOLDER}, ${FILE})
     WHERE ${found}
     UNION
     SELECT ${placedColumns}
     FROM entry
     WHERE entry.id IN (${placeholders(ids)})
       AND ${found}
     ORDER BY ${sort}${order}, id${order}
     LIMIT ${limit + 1}`,
    [...ids, ...values, ...ids, ...values],
  )
  return pageOf(rows, limit)
}

/**
 * Whether a file with this content is below the root. A file below a folder that is being purged
 * does not count.
 */
export const isContentBelow = (
  db: Db,
  { bucketId, rootId }: Root & { bucketId: string },
  md5: string,
): Promise<boolean> =>
  db.exists(
    `WITH RECURSIVE up (id) AS (
       SELECT parent_id
       FROM entry
       WHERE bucket_id = ?
         AND md5 = ?
       UNION
       SELECT e.parent_id
       FROM up
       JOIN entry e ON e.id = up.id
     )
     SELECT id
     FROM up
     WHERE id = ?`,
    [bucketId, md5, rootId],
  )
