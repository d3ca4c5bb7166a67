import type { Db, Tx } from '../index.ts'
import type { Entry } from '../models/entry.ts'
import { Share } from '../models/share.ts'
import { ShareEntry } from '../models/share-entry.ts'
import { insertAgain, keepEndedShares, type LeftEntry, lockEndedShares } from './ended-share.ts'
import { type PlacedRow, placedColumns } from './entry-list.ts'
import { type DirectShareRow, directColumns, inOrder, LIVE } from './share.ts'
import { besideKeys, inParts, insertion, placeholders, selection } from './sql.ts'

/*
 * A share of one entry names the entry in its own row, and has no row here. A share of several
 * entries has a row for each, and its own row names the first. So lists of shares join one entry in
 * both cases.
 */

/**
 * The entries of a share of several that are in its drive now, in the order of selection.
 */
export const entriesOfShare = (
  db: Db,
  { id, bucketId }: { id: string; bucketId: string },
  tx?: Tx,
): Promise<PlacedRow[]> =>
  db.rows(
    `SELECT ${placedColumns}
     FROM share_entry x
     JOIN entry ON entry.id = x.entry_id
     WHERE x.share_id = ?
       AND entry.bucket_id = ?
       AND entry.parent_id IS NOT NULL
     ORDER BY x.position`,
    [id, bucketId],
    tx,
  )

/**
 * The ids of the entries of some shares, by share id, in the order of selection.
 */
export async function entryIdsOfShares(db: Db, ids: string[]): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  for (const some of inParts(ids, 1000)) {
    const rows = await db.rows<Pick<ShareEntry, 'shareId' | 'entryId'>>(
      `SELECT share_id AS shareId, entry_id AS entryId
       FROM share_entry
       WHERE share_id IN (${placeholders(some)})
       ORDER BY share_id, position`,
      some,
    )
    for (const { shareId, entryId } of rows)
      found.set(shareId, [...(found.get(shareId) ?? []), entryId])
  }
  return found
}

/** The entries of shares of several, with the columns that change with them. */
export const taggedEntriesOfShares = (
  db: Db,
  shareIds: readonly string[],
): Promise<
  (Pick<ShareEntry, 'shareId'> & Pick<Entry, 'id' | 'name' | 'revision' | 'changeStamp'>)[]
> =>
  db.rows(
    `SELECT x.share_id AS shareId, e.id, e.name, e.revision, e.change_stamp AS changeStamp
     FROM share_entry x
     JOIN entry e ON e.id = x.entry_id
     WHERE x.share_id IN (${placeholders(shareIds)})
       AND e.parent_id IS NOT NULL
     ORDER BY x.share_id, x.position`,
    [...shareIds],
  )

/** Adds entries of a locked tree to a share. */
export const insertShareEntries = (db: Db, shareId: string, entryIds: readonly string[], tx: Tx) =>
  db.run(
    ...insertion(
      ShareEntry,
      entryIds.map((entryId, position) => ({ shareId, entryId, position })),
    ),
    tx,
  )

/** The share of exactly these entries that a user made for an e-mail address. */
export const findDirectShareOfAll = (
  db: Db,
  { userId, recipient }: { userId: string; recipient: string },
  entryIds: readonly string[],
  tx: Tx,
) =>
  db.row<DirectShareRow>(
    `SELECT ${directColumns}
     FROM share
     WHERE id IN (SELECT f.share_id FROM share_entry f WHERE f.entry_id = ?)
       AND recipient = ?
       AND ${besideKeys('user_id')} = ?
       AND entry_count = ?
       AND (SELECT COUNT(*)
         FROM share_entry x
         WHERE x.share_id = share.id
           AND x.entry_id IN (${placeholders(entryIds)})) = ?`,
    [entryIds[0] ?? '', recipient, userId, entryIds.length, ...entryIds, entryIds.length],
    tx,
  )

/**
 * The shares of some entries, alone or with others, as `chosen` in a FROM.
 * @param which a condition on an id; its parameters are passed twice
 */
export const sharesOf = (which: string) =>
  `(SELECT id, entry_id, 1 AS alone
     FROM share
     WHERE entry_id ${which}
       AND entry_count IS NULL
     UNION ALL
     SELECT share_id, entry_id, 0
     FROM share_entry
     WHERE entry_id ${which}) chosen`

/** Like `sharesOf`, for one entry. */
export const SHARES_OF_ONE = sharesOf('= ?')

/**
 * The number of a user's live shares of some files or folders, alone or with others. One statement
 * for up to 1,000.
 */
export async function countSharesOf(
  db: Db,
  userId: string,
  entryIds: readonly string[],
): Promise<Map<string, number>> {
  const counts = new Map(entryIds.map(id => [id, 0]))
  for (const some of inParts(entryIds, 1000)) {
    const rows = await db.rows<{ id: string; count: number }>(
      `SELECT chosen.entry_id AS id, COUNT(*) AS count
       FROM ${sharesOf(`IN (${placeholders(some)})`)}
       JOIN share s ON s.id = chosen.id
       JOIN user u ON u.id = s.user_id
       WHERE ${besideKeys('s.user_id')} = ?
         AND ${LIVE}
       GROUP BY chosen.entry_id`,
      [...some, ...some, userId, Date.now()],
    )
    for (const { id, count } of rows) counts.set(id, Number(count))
  }
  return counts
}

/**
 * How a user shares some entries, alone or with others: with people, by links, or both. Flags are
 * numbers in rows.
 */
export const shareKindsOf = (
  db: Db,
  userId: string,
  entryIds: readonly string[],
): Promise<{ id: string; direct: number; link: number }[]> =>
  db.rows(
    `SELECT chosen.entry_id AS id, MAX(s.recipient IS NOT NULL) AS direct,
       MAX(s.recipient IS NULL) AS link
     FROM ${sharesOf(`IN (${placeholders(entryIds)})`)}
     JOIN share s ON s.id = chosen.id
     JOIN user u ON u.id = s.user_id
     WHERE ${besideKeys('s.user_id')} = ?
       AND ${LIVE}
     GROUP BY chosen.entry_id`,
    [...entryIds, ...entryIds, userId, Date.now()],
  )

/** A deleted entry of a share. */
interface EndedRow {
  id: string
  entryId: string
  /** The deleted entry itself, or the deleted folder that contains it. */
  topId: string
  /** Whether it is the only entry of the share. */
  alone: number
}

/**
 * The shared entries at any depth below some folders of a bucket. Walks up from each share, because
 * there are fewer shares than entries.
 */
export const sharedBelow = (
  db: Db,
  bucketId: string,
  folderIds: string[],
  tx: Tx,
): Promise<EndedRow[]> =>
  db.rows(
    `WITH RECURSIVE up (share_id, entry_id, alone, id, parent_id) AS (
       SELECT s.id, e.id, CASE WHEN s.entry_count IS NULL THEN 1 ELSE 0 END, e.id, e.parent_id
       FROM share s
       LEFT JOIN share_entry x ON x.share_id = s.id
       JOIN entry e ON e.id = COALESCE(x.entry_id, s.entry_id)
       WHERE s.bucket_id = ?
       UNION ALL
       SELECT up.share_id, up.entry_id, up.alone, p.id, p.parent_id
       FROM up
       JOIN entry p ON p.id = up.parent_id
     )
     SELECT share_id AS id, entry_id AS entryId, id AS topId, alone
     FROM up
     WHERE id IN (${placeholders(folderIds)})`,
    [bucketId, ...folderIds],
    tx,
  )

/**
 * Locks shares of several, and then their entries, always in the same order.
 * @returns the entries
 */
const lockShareEntries = (db: Db, ids: string[], tx: Tx): Promise<ShareEntry[]> =>
  db.rows(
    `SELECT x.share_id AS shareId, x.entry_id AS entryId, x.position
     FROM share s ${inOrder(db)} share_entry x
     WHERE s.id IN (${placeholders(ids)})
       AND x.share_id = s.id
     ORDER BY s.id, x.position${db.forUpdate}`,
    ids,
    tx,
  )

/** A share that lost an entry by a deletion, with that entry. */
export interface Ended extends LeftEntry {
  /** The deleted entry itself, or the deleted folder that contains it. */
  topId: string
}

/**
 * Ends the shares of deleted entries of a locked bucket. Shares of several continue with their
 * remaining entries, and end with the last one. One statement if nothing is shared, and one more
 * for folders.
 * @param fullFolderIds the non-empty folders among the entries; shares of their contents end, too
 * @param keptAt the time of a deletion that can be undone; null if it is final
 * @returns the lost entries of each share; nothing if the deletion is final
 */
export async function endSharesOf(
  db: Db,
  bucketId: string,
  { entryIds, fullFolderIds }: { entryIds: string[]; fullFolderIds: string[] },
  keptAt: number | null,
  tx: Tx,
): Promise<Ended[]> {
  // A separate statement, because MySQL cannot select from a table that it is changing.
  const found = await db.rows<EndedRow>(
    `SELECT id, entry_id AS entryId, entry_id AS topId, alone
     FROM ${sharesOf(`IN (${placeholders(entryIds)})`)}`,
    [...entryIds, ...entryIds],
    tx,
  )
  if (fullFolderIds.length > 0) found.push(...(await sharedBelow(db, bucketId, fullFolderIds, tx)))
  const isAlone = ({ alone }: EndedRow) => Number(alone) === 1
  const ended = new Set(found.filter(isAlone).map(({ id }) => id))
  const several = new Set(found.filter(row => !isAlone(row)).map(({ id }) => id))
  const gone = new Set(found.filter(row => !isAlone(row)).map(({ entryId }) => entryId))
  const positions = new Map<string, number>()
  const sharers = new Map<string, string>()
  for (const ids of inParts([...several], 500)) {
    const rows = await lockShareEntries(db, ids, tx)
    for (const { shareId, entryId, position } of rows)
      positions.set(`${shareId} ${entryId}`, position)
    const left = new Set(
      rows.filter(({ entryId }) => !gone.has(entryId)).map(({ shareId }) => shareId),
    )
    for (const id of ids) if (!left.has(id)) ended.add(id)
    if (keptAt !== null && left.size > 0)
      for (const share of await lockShares(db, [...left], tx)) note(sharers, share)
    await takeOut(db, [...left], gone, tx)
  }
  for (const ids of inParts([...ended], 1000)) {
    if (keptAt !== null) {
      const rows = await lockShares(db, ids, tx)
      for (const share of rows) note(sharers, share)
      await keepEndedShares(db, rows, keptAt, tx)
    }
    await db.run(`DELETE FROM share WHERE id IN (${placeholders(ids)})`, ids, tx)
  }
  return unique(found).flatMap(({ id: shareId, entryId, topId }) => {
    const userId = sharers.get(shareId)
    const position = positions.get(`${shareId} ${entryId}`) ?? 0
    return userId === undefined ? [] : [{ shareId, entryId, topId, userId, position }]
  })
}

/** A non-empty shared folder is found twice. */
const unique = (rows: EndedRow[]): EndedRow[] => [
  ...new Map(rows.map(row => [`${row.id} ${row.entryId}`, row])).values(),
]

/** Locks shares, with all their columns. */
const lockShares = (db: Db, ids: string[], tx: Tx): Promise<Share[]> =>
  db.rows(
    `SELECT ${selection(Share)} FROM share WHERE id IN (${placeholders(ids)})${db.forUpdate}`,
    ids,
    tx,
  )

const note = (sharers: Map<string, string>, { id, userId }: Share) => sharers.set(id, userId)

/**
 * Adds entries of a locked bucket to the shares that they left. Creates shares again that ended
 * with their last entry. A share that ended for another reason stays ended.
 * @param mayReturn whether an ended share with these terms may be created again
 */
export async function returnShares(
  db: Db,
  entries: readonly LeftEntry[],
  mayReturn: (userId: string, terms: Share) => Promise<boolean>,
  tx: Tx,
): Promise<void> {
  const byShare = Map.groupBy(entries, ({ shareId }) => shareId)
  for (const ids of inParts([...byShare.keys()], 500)) {
    const live = new Set((await lockShares(db, ids, tx)).map(({ id }) => id))
    const over = ids.filter(id => !live.has(id))
    const ended = over.length === 0 ? [] : await lockEndedShares(db, over, Date.now(), tx)
    for (const share of ended) {
      const terms: Share = JSON.parse(share.terms)
      const [first] = byShare.get(share.id) ?? []
      if (!first || !(await mayReturn(share.userId, terms))) continue
      await insertAgain(db, share, first.entryId, tx)
      if (terms.entryCount !== null) live.add(share.id)
    }
    const back = ids.filter(id => live.has(id)).flatMap(id => byShare.get(id) ?? [])
    for (const some of inParts(back, 200))
      await db.run(
        ...insertion(
          ShareEntry,
          some.map(({ shareId, entryId, position }) => ({ shareId, entryId, position })),
        ),
        tx,
      )
    await recount(db, [...live], tx)
  }
}

/** Removes entries from locked shares that have other entries left. */
async function takeOut(
  db: Db,
  shareIds: string[],
  entryIds: ReadonlySet<string>,
  tx: Tx,
): Promise<void> {
  if (shareIds.length === 0) return
  for (const some of inParts([...entryIds], 500))
    await db.run(
      `DELETE FROM share_entry
       WHERE share_id IN (${placeholders(shareIds)})
         AND entry_id IN (${placeholders(some)})`,
      [...shareIds, ...some],
      tx,
    )
  await recount(db, shareIds, tx)
}

/** Sets the number and the first of the entries of shares of several. */
async function recount(db: Db, shareIds: string[], tx: Tx): Promise<void> {
  if (shareIds.length === 0) return
  await db.run(
    `UPDATE share
     SET entry_count = (SELECT COUNT(*) FROM share_entry x WHERE x.share_id = share.id),
       entry_id = (SELECT x.entry_id
         FROM share_entry x
         WHERE x.share_id = share.id
         ORDER BY x.position
         LIMIT 1)
     WHERE id IN (${placeholders(shareIds)})`,
    shareIds,
    tx,
  )
}
