import { v7 as newId } from 'uuid'
import { contentTime, isPictured } from '../../src/formats/picture.ts'
import { MAX_PAGE } from '../../src/values/limits.ts'
import { type Db, isDuplicate, type Tx } from '../index.ts'
import { Entry, FILE, FOLDER } from '../models/entry.ts'
import type { Totals } from './bucket.ts'
import { type Node, nodeColumns } from './entry-path.ts'
import {
  besideKeys,
  byId,
  changedNow,
  inParts,
  insertion,
  placeholders,
  stampChange,
} from './sql.ts'

/** A row to insert. Missing fields are empty. */
export interface NewEntry {
  id?: string
  bucketId: string
  parentId: string | null
  kind: typeof FOLDER | typeof FILE
  name: string
  totals?: Totals
  levelsBelow?: number
  bytesBelow?: number
  blobId?: string | null
  fileType?: string
  md5?: string
  by: string | null
  at?: number
  /** The modification time, if the client reported one. */
  modifiedAt?: number | null
  /** The sort time of a picture. By default the time of its content. */
  picturedAt?: number | null
}

const picturedAtOf = (
  {
    fileType = '',
    picturedAt,
    modifiedAt,
  }: Pick<NewEntry, 'fileType' | 'picturedAt' | 'modifiedAt'>,
  at: number,
): number | null =>
  isPictured(fileType) ? (picturedAt ?? contentTime(modifiedAt ?? null, at)) : null

/**
 * Inserts a row. The caller updates the totals above it.
 * @returns its id; undefined if its folder already has an entry with this name
 */
export async function insertEntry(db: Db, e: NewEntry, tx: Tx): Promise<string | undefined> {
  const id = e.id ?? newId()
  const at = e.at ?? Date.now()
  const { bytes, files, folders } = e.totals ?? {}
  const totals = { totalBytes: bytes, totalFiles: files, totalFolders: folders }
  try {
    await db.run(
      ...insertion(Entry, [
        {
          ...e,
          id,
          ...totals,
          createdBy: e.by,
          createdAt: at,
          updatedAt: at,
          picturedAt: picturedAtOf(e, at),
        },
      ]),
      tx,
    )
    return id
  } catch (error) {
    if (isDuplicate(error)) return undefined
    throw error
  }
}

/** The number of rows that one statement gives individual values. */
const AT_ONCE = 100

/**
 * Adds to the totals of the folders above a change, by id, and marks them as changed. A change that
 * adds nothing, such as a new name, is passed as well. One statement for up to 100 folders.
 */
export async function addTotals(db: Db, changes: Map<string, Totals>, tx: Tx): Promise<void> {
  for (const part of inParts([...changes], AT_ONCE)) {
    const ids = part.map(([id]) => id)
    if (part.every(([, by]) => by.bytes === 0 && by.files === 0 && by.folders === 0)) {
      await markChanged(db, ids, tx)
      continue
    }
    const add = (column: string) => `${column} = ${column} + ${byId(part.length)}`
    const of = (total: keyof Totals) => part.flatMap(([id, by]) => [id, by[total]])
    await db.run(
      `UPDATE entry
       SET ${add('total_bytes')}, ${add('total_files')}, ${add('total_folders')}, ${stampChange}
       WHERE id IN (${placeholders(part)})`,
      [...of('bytes'), ...of('files'), ...of('folders'), ...changedNow(), ...ids],
      tx,
    )
  }
}

/** Marks folders as changed below, by id. */
export async function markChanged(db: Db, ids: readonly string[], tx: Tx): Promise<void> {
  if (ids.length === 0) return
  await db.run(
    `UPDATE entry SET ${stampChange} WHERE id IN (${placeholders(ids)})`,
    [...changedNow(), ...ids],
    tx,
  )
}

/**
 * The upper bounds of a folder's subtree: its levels, and the bytes of its longest relative path.
 */
export type Reach = Pick<Entry, 'levelsBelow' | 'bytesBelow'>

export async function setReach(db: Db, reaches: Map<string, Reach>, tx: Tx): Promise<void> {
  for (const part of inParts([...reaches], AT_ONCE))
    await db.run(
      `UPDATE entry
       SET levels_below = ${byId(part.length)}, bytes_below = ${byId(part.length)}
       WHERE id IN (${placeholders(part)})`,
      [
        ...part.flatMap(([id, { levelsBelow }]) => [id, levelsBelow]),
        ...part.flatMap(([id, { bytesBelow }]) => [id, bytesBelow]),
        ...part.map(([id]) => id),
      ],
      tx,
    )
}

/**
 * The exact levels and lengths below folders. It walks their subtrees, so it is used only if the
 * stored upper bounds would refuse a move.
 */
export async function measureReach(db: Db, ids: string[], tx: Tx): Promise<Map<string, Reach>> {
  const bytes = db.dialect === 'mysql' ? 'OCTET_LENGTH(e.name)' : 'LENGTH(CAST(e.name AS BLOB))'
  const rows = await db.rows<{ id: string; levels: number; bytes: number }>(
    `WITH RECURSIVE below (top, id, levels, bytes) AS (
       SELECT e.parent_id, e.id, 1, ${bytes}
       FROM entry e
       WHERE e.parent_id IN (${placeholders(ids)})
       UNION ALL
       SELECT b.top, e.id, b.levels + 1, b.bytes + 1 + ${bytes}
       FROM below b
       JOIN entry e ON e.parent_id = b.id
     )
     SELECT top AS id, MAX(levels) AS levels, MAX(bytes) AS bytes
     FROM below
     GROUP BY top`,
    ids,
    tx,
  )
  const none = { levelsBelow: 0, bytesBelow: 0 }
  const found = new Map(ids.map(id => [id, none]))
  for (const row of rows)
    found.set(row.id, { levelsBelow: Number(row.levels), bytesBelow: Number(row.bytes) })
  return found
}

/**
 * Moves entries to a folder, or renames one of them. The caller updates the totals above both
 * places.
 */
export async function placeEntries(
  db: Db,
  ids: string[],
  { parentId, name }: { parentId: string; name: string | null },
  tx: Tx,
): Promise<void> {
  await db.run(
    `UPDATE entry
     SET parent_id = ?, ${name === null ? '' : 'name = ?, '}updated_at = ?,
       revision = revision + 1, moves = moves + 1
     WHERE id IN (${placeholders(ids)})`,
    [parentId, ...(name === null ? [] : [name]), Date.now(), ...ids],
    tx,
  )
}

/** Detaches entries from their tree, with everything below them. */
export async function detachEntries(db: Db, ids: string[], tx: Tx): Promise<void> {
  await db.run(`UPDATE entry SET parent_id = NULL WHERE id IN (${placeholders(ids)})`, ids, tx)
}

/**
 * Detaches folders from their tree to purge them, under names that are unique among detached
 * folders.
 */
export async function detachToPurge(db: Db, ids: string[], tx: Tx): Promise<void> {
  await db.run(
    `UPDATE entry SET parent_id = NULL, name = id WHERE id IN (${placeholders(ids)})`,
    ids,
    tx,
  )
}

/**
 * Deletes rows without the rows below them.
 * @returns the number of deleted rows
 */
export function deleteEntries(db: Db, ids: string[], tx: Tx): Promise<number> {
  return db.run(`DELETE FROM entry WHERE id IN (${placeholders(ids)})`, ids, tx)
}

/** The entries of a folder with one of these names. */
export function entriesNamed(
  db: Db,
  folderId: string,
  names: string[],
  tx: Tx,
): Promise<(Node & { name: string })[]> {
  return db.rows(
    `SELECT ${nodeColumns}, name
     FROM entry
     WHERE parent_id = ?
       AND name IN (${placeholders(names)})`,
    [folderId, ...names],
    tx,
  )
}

/** Some entries of a bucket by id. */
export function entriesOf(
  db: Db,
  bucketId: string,
  ids: string[],
  tx?: Tx,
): Promise<(Node & { parentId: string | null })[]> {
  return db.rows(
    `SELECT ${nodeColumns}, parent_id AS parentId
     FROM entry
     WHERE ${besideKeys('bucket_id')} = ?
       AND id IN (${placeholders(ids)})`,
    [bucketId, ...ids],
    tx,
  )
}

/** Some children of a folder to purge next, files first. */
export function childrenToPurge(
  db: Db,
  folderId: string,
  limit: number,
): Promise<Pick<Node, 'id' | 'kind' | 'blobId'>[]> {
  return db.rows(
    `SELECT id, kind, blob_id AS blobId
     FROM entry
     WHERE parent_id = ?
     ORDER BY kind DESC
     LIMIT ${limit}`,
    [folderId],
  )
}

/** Locks the files among these that still exist. */
export const lockFiles = (db: Db, ids: string[], tx: Tx): Promise<Pick<Node, 'id' | 'blobId'>[]> =>
  db.rows(
    `SELECT id, blob_id AS blobId
     FROM entry
     WHERE id IN (${placeholders(ids)})
     ORDER BY id${db.forUpdate}`,
    ids,
    tx,
  )

/** The first names of folders in a folder. */
export async function folderNames(db: Db, folderId: string): Promise<string[]> {
  const rows = await db.rows<{ name: string }>(
    `SELECT name
     FROM entry
     WHERE parent_id = ?
       AND kind = ${FOLDER}
     ORDER BY name
     LIMIT ${MAX_PAGE}`,
    [folderId],
  )
  return rows.map(row => row.name)
}

/** An entry with everything that its copy inherits. */
export type CopiedEntry = Node &
  Pick<Entry, 'parentId' | 'name' | 'fileType' | 'md5' | 'modifiedAt' | 'picturedAt'>

// A copy is newer, but its content is as old as the original.
const COPIED = `SELECT ${nodeColumns}, parent_id AS parentId, name, file_type AS fileType, md5,
    pictured_at AS picturedAt,
    CASE WHEN kind = ${FILE} THEN COALESCE(modified_at, content_at, created_at) END AS modifiedAt
  FROM entry`

/** Some entries of a locked tree. */
export async function copiedEntries(db: Db, ids: string[], tx: Tx): Promise<CopiedEntry[]> {
  const found: CopiedEntry[] = []
  for (const part of inParts(ids, 500))
    found.push(
      ...(await db.rows<CopiedEntry>(`${COPIED} WHERE id IN (${placeholders(part)})`, part, tx)),
    )
  return found
}

/** The contents of a folder by name, after a name. */
export const copiedChildren = (
  db: Db,
  folderId: string,
  after: string,
  limit: number,
  tx: Tx,
): Promise<CopiedEntry[]> =>
  db.rows(
    `${COPIED} WHERE parent_id = ? AND name > ? ORDER BY name LIMIT ${limit}`,
    [folderId, after],
    tx,
  )

/**
 * Entries of a locked tree, and all that is below them: each folder before what is in it. One
 * statement for each level.
 */
export async function entriesBelow(db: Db, ids: string[], tx: Tx): Promise<CopiedEntry[]> {
  const found: CopiedEntry[] = []
  let column = 'id'
  for (let next = ids; next.length > 0; column = 'parent_id') {
    const level: CopiedEntry[] = []
    for (const part of inParts(next, 500))
      level.push(
        ...(await db.rows<CopiedEntry>(
          `${COPIED} WHERE ${column} IN (${placeholders(part)})`,
          part,
          tx,
        )),
      )
    found.push(...level)
    next = level.filter(({ kind }) => kind === FOLDER).map(({ id }) => id)
  }
  return found
}

/** Inserts rows of one change, which are new in their folders. */
export async function insertEntries(db: Db, rows: NewEntry[], tx: Tx): Promise<void> {
  const at = Date.now()
  const all = rows.map(({ totals, by, ...row }) => ({
    blobId: null,
    fileType: '',
    md5: '',
    modifiedAt: null,
    ...row,
    levelsBelow: row.levelsBelow ?? 0,
    bytesBelow: row.bytesBelow ?? 0,
    totalBytes: totals?.bytes ?? 0,
    totalFiles: totals?.files ?? 0,
    totalFolders: totals?.folders ?? 0,
    createdBy: by,
    createdAt: at,
    updatedAt: at,
    picturedAt: picturedAtOf(row, at),
  }))
  for (const part of inParts(all, AT_ONCE)) await db.run(...insertion(Entry, part), tx)
}
