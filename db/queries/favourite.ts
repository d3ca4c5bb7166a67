import { v7 as newId } from 'uuid'
import type { Db, Tx } from '../index.ts'
import { Favourite } from '../models/favourite.ts'
import { byId, inParts, insertion, placeholders, selection } from './sql.ts'

/** A row of a favourite; see db/models/favourite.ts. */
export type FavouriteRow = Favourite

const columns = selection(Favourite, 'f')

/** The favourites of a person, in their order. */
export const favouritesOf = (db: Db, userId: string, tx?: Tx): Promise<FavouriteRow[]> =>
  db.rows(
    `SELECT ${columns} FROM favourite f WHERE f.user_id = ? ORDER BY f.position, f.id`,
    [userId],
    tx,
  )

/**
 * The entries and shares among these that are favourites of a person, by id. One statement for up
 * to 1,000.
 */
export async function favouritesAmong(
  db: Db,
  userId: string,
  of: 'entryId' | 'shareId',
  ids: readonly string[],
): Promise<Set<string>> {
  const found = new Set<string>()
  const column = of === 'entryId' ? 'entry_id' : 'share_id'
  for (const some of inParts(ids, 1000)) {
    const rows = await db.rows<{ id: string }>(
      `SELECT ${column} AS id
       FROM favourite
       WHERE user_id = ?
         AND ${column} IN (${placeholders(some)})`,
      [userId, ...some],
    )
    for (const { id } of rows) found.add(id)
  }
  return found
}

export const insertFavourites = (
  db: Db,
  rows: Omit<FavouriteRow, 'id'>[],
  tx: Tx,
): Promise<number> =>
  db.run(
    ...insertion(
      Favourite,
      rows.map(row => ({ ...row, id: newId() })),
    ),
    tx,
  )

export const deleteFavourites = (db: Db, ids: readonly string[], tx: Tx): Promise<number> =>
  db.run(`DELETE FROM favourite WHERE id IN (${placeholders(ids)})`, [...ids], tx)

/** Stores the order of a person's favourites. */
export async function orderFavourites(db: Db, ids: readonly string[], tx: Tx): Promise<void> {
  for (const [part, some] of inParts(ids, 100).entries())
    await db.run(
      `UPDATE favourite SET position = ${byId(some.length)} WHERE id IN (${placeholders(some)})`,
      [...some.flatMap((id, i) => [id, part * 100 + i]), ...some],
      tx,
    )
}

/**
 * Whether an entry is in a drive of a user, or of one of their workspaces. One statement, whether
 * the entry exists or not.
 */
export const isWithinReach = (db: Db, userId: string, entryId: string): Promise<boolean> =>
  db.exists(
    `SELECT e.id
     FROM entry e
     JOIN bucket b ON b.id = e.bucket_id
     LEFT JOIN member m ON m.workspace_id = b.workspace_id AND m.user_id = ?
     WHERE e.id = ?
       AND (b.user_id = ? OR m.user_id IS NOT NULL)`,
    [userId, entryId, userId],
  )
