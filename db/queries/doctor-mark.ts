import type { Db } from '../index.ts'

/** A condition on a row of entry_tag: tag and entry belong to one drive. */
const IN_PLACE = `EXISTS (SELECT 1
    FROM tag t
    JOIN entry e ON e.bucket_id = t.bucket_id
    WHERE t.id = entry_tag.tag_id
      AND e.id = entry_tag.entry_id)`

/** Entries, by id, with tags of other drives. */
export const misplacedTagsAfter = (
  db: Db,
  after: string,
  limit: number,
): Promise<{ id: string }[]> =>
  db.rows(
    `SELECT DISTINCT entry_id AS id
     FROM entry_tag
     WHERE entry_id > ?
       AND NOT ${IN_PLACE}
     ORDER BY entry_id
     LIMIT ${limit}`,
    [after],
  )

/** Removes tags of other drives from an entry. */
export const removeMisplacedTags = (db: Db, entryId: string): Promise<number> =>
  db.run(`DELETE FROM entry_tag WHERE entry_id = ? AND NOT ${IN_PLACE}`, [entryId])

/** A condition on a favourite: its account and its entry or share exist. */
const OF_SOMETHING = `EXISTS (SELECT 1 FROM user u WHERE u.id = favourite.user_id)
    AND (EXISTS (SELECT 1 FROM entry e WHERE e.id = favourite.entry_id)
      OR EXISTS (SELECT 1 FROM share s WHERE s.id = favourite.share_id))`

/** Favourites, by id, without an account or without a target. */
export const emptyFavouritesAfter = (
  db: Db,
  after: string,
  limit: number,
): Promise<{ id: string }[]> =>
  db.rows(
    `SELECT id FROM favourite WHERE id > ? AND NOT (${OF_SOMETHING}) ORDER BY id LIMIT ${limit}`,
    [after],
  )

export const removeEmptyFavourite = (db: Db, id: string): Promise<number> =>
  db.run(`DELETE FROM favourite WHERE id = ? AND NOT (${OF_SOMETHING})`, [id])
