import type { Db, Tx } from '../index.ts'
import { DavProperty } from '../models/dav-property.ts'
import { inParts, insertion, placeholders, selection } from './sql.ts'

const columns = selection(DavProperty, 'p')
/** The number of rows that one statement inserts, or of entries that it reads. */
const AT_ONCE = 500

/** The properties of some entries by entry id. */
export async function propertiesOf(
  db: Db,
  entryIds: readonly string[],
  tx?: Tx,
): Promise<Map<string, DavProperty[]>> {
  const found: DavProperty[] = []
  for (const some of inParts(entryIds, AT_ONCE)) {
    const sql = `SELECT ${columns} FROM dav_property p WHERE p.entry_id IN (${placeholders(some)})`
    found.push(...(await db.rows<DavProperty>(sql, some, tx)))
  }
  return Map.groupBy(found, ({ entryId }) => entryId)
}

/** The bytes of all properties in a drive, those of its trash included. */
export async function propertyBytesOf(db: Db, bucketId: string, tx: Tx): Promise<number> {
  const sql = 'SELECT COALESCE(SUM(bytes), 0) AS bytes FROM dav_property WHERE bucket_id = ?'
  return Number((await db.row<{ bytes: number }>(sql, [bucketId], tx))?.bytes)
}

/** The entries among these that have properties, read from the key alone. */
export async function entriesWithProperties(
  db: Db,
  entryIds: readonly string[],
): Promise<string[]> {
  if (entryIds.length === 0) return []
  const sql = `SELECT DISTINCT p.entry_id AS id
    FROM dav_property p
    WHERE p.entry_id IN (${placeholders(entryIds)})`
  return (await db.rows<{ id: string }>(sql, [...entryIds])).map(({ id }) => id)
}

export async function insertProperties(
  db: Db,
  rows: readonly DavProperty[],
  tx: Tx,
): Promise<void> {
  for (const some of inParts(rows, AT_ONCE)) await db.run(...insertion(DavProperty, some), tx)
}

export const deleteProperties = (db: Db, entryId: string, nameHashes: readonly string[], tx: Tx) =>
  db.run(
    `DELETE FROM dav_property WHERE entry_id = ? AND name_hash IN (${placeholders(nameHashes)})`,
    [entryId, ...nameHashes],
    tx,
  )

/**
 * Copies properties to copies of entries in a drive. One statement if there are none.
 * @returns the number of properties
 */
export async function copyProperties(
  db: Db,
  bucketId: string,
  copies: readonly { sourceId: string; id: string }[],
  tx: Tx,
): Promise<number> {
  let count = 0
  const byOriginal = Map.groupBy(copies, ({ sourceId }) => sourceId)
  for (const some of inParts([...byOriginal.keys()], AT_ONCE)) {
    const found = [...(await propertiesOf(db, some, tx)).values()].flat()
    const made = found.flatMap(row =>
      (byOriginal.get(row.entryId) ?? []).map(({ id }) => ({ ...row, bucketId, entryId: id })),
    )
    await insertProperties(db, made, tx)
    count += made.length
  }
  return count
}
