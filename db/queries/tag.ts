import type { Db, Tx } from '../index.ts'
import { EntryTag } from '../models/entry-tag.ts'
import { Tag } from '../models/tag.ts'
import { type PlacedRow, placedColumns } from './entry-list.ts'
import { inParts, insertion, placeholders, selection } from './sql.ts'

/** A row of a tag; see db/models/tag.ts. */
export type TagRow = Tag

const columns = selection(Tag, 't')

/** The number of rows that one statement inserts. */
const AT_ONCE = 1000

/**
 * The condition that the entry with this id has a tag. Its parameters are those of `which`, a
 * condition over the tag `t`. For a tag of a drive by name, use `hasTag('entry.id', 't.bucket_id =
 * ? AND t.name_key = ?')` with the bucket id and `tagKey(name)`.
 */
export const hasTag = (entryId: string, which: string): string =>
  `EXISTS (SELECT 1
     FROM entry_tag x
     JOIN tag t ON t.id = x.tag_id
     WHERE x.entry_id = ${entryId}
       AND ${which})`

/**
 * The ids of a drive's entries with a tag of this name, including its trash.
 * @param key the result of `tagKey`
 */
export async function entryIdsWithTag(
  db: Db,
  bucketId: string,
  key: string,
  limit: number,
): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(
    `SELECT x.entry_id AS id
     FROM tag t
     JOIN entry_tag x ON x.tag_id = t.id
     WHERE t.bucket_id = ?
       AND t.name_key = ?
     ORDER BY x.entry_id
     LIMIT ${limit}`,
    [bucketId, key],
  )
  return rows.map(({ id }) => id)
}

/** The tags of some drives, each sorted by name. One statement for up to 1,000. */
export async function tagsOfBuckets(
  db: Db,
  bucketIds: readonly string[],
  tx?: Tx,
): Promise<Map<string, TagRow[]>> {
  const found = new Map<string, TagRow[]>(bucketIds.map(id => [id, []]))
  for (const some of inParts(bucketIds, AT_ONCE)) {
    const rows = await db.rows<TagRow>(
      `SELECT ${columns}
       FROM tag t
       WHERE t.bucket_id IN (${placeholders(some)})
       ORDER BY t.name_key`,
      some,
      tx,
    )
    for (const row of rows) found.get(row.bucketId)?.push(row)
  }
  return found
}

/** The tags of some entries, each sorted by name. One statement for up to 1,000. */
export async function tagsOfEntries(
  db: Db,
  entryIds: readonly string[],
  tx?: Tx,
): Promise<Map<string, TagRow[]>> {
  const found = new Map<string, TagRow[]>(entryIds.map(id => [id, []]))
  for (const some of inParts(entryIds, AT_ONCE)) {
    const rows = await db.rows<TagRow & { entryId: string }>(
      `SELECT ${columns}, x.entry_id AS entryId
       FROM entry_tag x
       JOIN tag t ON t.id = x.tag_id
       WHERE x.entry_id IN (${placeholders(some)})
       ORDER BY t.name_key`,
      some,
      tx,
    )
    for (const { entryId, ...row } of rows) found.get(entryId)?.push(row)
  }
  return found
}

/** Some tags of any drives. */
export const tagsByIds = (db: Db, ids: readonly string[]): Promise<TagRow[]> =>
  db.rows(`SELECT ${columns} FROM tag t WHERE t.id IN (${placeholders(ids)})`, [...ids])

/** The number of entries with each tag, including the trash. */
export async function countTagged(db: Db, tagIds: readonly string[]): Promise<Map<string, number>> {
  const counts = new Map(tagIds.map(id => [id, 0]))
  for (const some of inParts(tagIds, AT_ONCE)) {
    const rows = await db.rows<{ id: string; n: number }>(
      `SELECT tag_id AS id, COUNT(*) AS n
       FROM entry_tag
       WHERE tag_id IN (${placeholders(some)})
       GROUP BY tag_id`,
      some,
    )
    for (const { id, n } of rows) counts.set(id, Number(n))
  }
  return counts
}

/**
 * The entries with a tag, oldest first.
 * @param after the id of an entry, or empty
 */
export const entriesWithTag = (
  db: Db,
  tagId: string,
  after: string,
  limit: number,
): Promise<PlacedRow[]> =>
  db.rows(
    `SELECT ${placedColumns}
     FROM entry_tag x
     JOIN entry ON entry.id = x.entry_id
     WHERE x.tag_id = ?
       AND x.entry_id > ?
     ORDER BY x.entry_id
     LIMIT ${limit}`,
    [tagId, after],
  )

export const insertTag = (db: Db, tag: TagRow, tx: Tx) => db.run(...insertion(Tag, [tag]), tx)

/** @returns whether the drive has this tag */
export const updateTag = (
  db: Db,
  { id, bucketId, name, nameKey, colour }: Omit<TagRow, 'createdAt'>,
  tx: Tx,
): Promise<boolean> =>
  db.changed(
    'UPDATE tag SET name = ?, name_key = ?, colour = ? WHERE id = ? AND bucket_id = ?',
    [name, nameKey, colour, id, bucketId],
    tx,
  )

/**
 * Deletes a tag and removes it from all entries.
 * @returns whether the drive had this tag
 */
export const deleteTag = (
  db: Db,
  { id, bucketId }: Pick<TagRow, 'id' | 'bucketId'>,
  tx: Tx,
): Promise<boolean> =>
  db.changed('DELETE FROM tag WHERE id = ? AND bucket_id = ?', [id, bucketId], tx)

/** Some entries with a tag, including the trash. */
export async function someTagged(db: Db, tagId: string): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(
    `SELECT entry_id AS id FROM entry_tag WHERE tag_id = ? LIMIT ${AT_ONCE}`,
    [tagId],
  )
  return rows.map(({ id }) => id)
}

/** Adds tags to entries of a locked drive that do not have them yet. */
export async function insertEntryTags(db: Db, rows: readonly EntryTag[], tx: Tx): Promise<void> {
  for (const some of inParts(rows, AT_ONCE)) await db.run(...insertion(EntryTag, some), tx)
}

/** Removes tags from entries. */
export async function deleteEntryTags(
  db: Db,
  entryIds: readonly string[],
  tagIds: readonly string[],
  tx: Tx,
) {
  if (tagIds.length === 0) return
  for (const some of inParts(entryIds, AT_ONCE))
    await db.run(
      `DELETE FROM entry_tag
       WHERE tag_id IN (${placeholders(tagIds)})
         AND entry_id IN (${placeholders(some)})`,
      [...tagIds, ...some],
      tx,
    )
}

/**
 * Copies tags from originals to copies, by name: only tags that the copies' drive has. One
 * statement if there are no tags.
 * @param copies the ids of copies by the ids of their originals
 */
export async function copyTags(
  db: Db,
  bucketId: string,
  copies: readonly { sourceId: string; id: string }[],
  tx: Tx,
): Promise<void> {
  const byOriginal = Map.groupBy(copies, ({ sourceId }) => sourceId)
  for (const some of inParts([...byOriginal.keys()], AT_ONCE)) {
    const rows = await db.rows<EntryTag>(
      `SELECT own.id AS tagId, x.entry_id AS entryId
       FROM entry_tag x
       JOIN tag t ON t.id = x.tag_id
       JOIN tag own ON own.bucket_id = ? AND own.name_key = t.name_key
       WHERE x.entry_id IN (${placeholders(some)})`,
      [bucketId, ...some],
      tx,
    )
    const made = rows.flatMap(({ tagId, entryId }) =>
      (byOriginal.get(entryId) ?? []).map(({ id }): EntryTag => ({ tagId, entryId: id })),
    )
    await insertEntryTags(db, made, tx)
  }
}
