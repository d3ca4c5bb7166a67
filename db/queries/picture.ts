import type { Db, Tx, Value } from '../index.ts'
import { FILE, FOLDER } from '../models/entry.ts'
import { type PlacedRow, placedColumns } from './entry-list.ts'
import { beyondKey } from './page.ts'
import { inParts, placeholders } from './sql.ts'

/** A picture or video of a bucket with its sort time. */
export interface PictureRow extends PlacedRow {
  picturedAt: number
}

/** A range of the pictures of a bucket, newest first. */
export interface PictureRange {
  /** The earliest time, inclusive. */
  since: number | null
  /** The latest time, exclusive. */
  until: number | null
  /** The time and the id of the picture before the range. */
  after: readonly [number, string] | null
  /** Folders whose pictures are excluded. */
  without: readonly string[]
}

const PICTURED = 'pictured_at IS NOT NULL AND parent_id IS NOT NULL'
const NEWEST_FIRST = 'ORDER BY pictured_at DESC, id DESC'

/**
 * A range of the index that starts with bucket and time. The index contains the folder, so that
 * rows are counted without the table.
 */
function within(db: Db, bucketId: string, { since, until, after, without }: PictureRange) {
  const conditions = ['bucket_id = ?', PICTURED]
  const values: Value[] = [bucketId]
  const add = (sql: string, ...of: readonly Value[]) => {
    conditions.push(sql)
    values.push(...of)
  }
  if (since !== null) add('pictured_at >= ?', since)
  if (until !== null) add('pictured_at < ?', until)
  if (after) {
    const key = beyondKey(db, ['pictured_at', 'id'], '<', after)
    add(key.sql, ...key.values)
  }
  if (without.length > 0) add(`parent_id NOT IN (${placeholders(without)})`, ...without)
  return { where: conditions.join(' AND '), values }
}

/** The folders of the first pictures in a range. */
export async function foldersOfPictures(
  db: Db,
  bucketId: string,
  range: PictureRange,
  count: number,
): Promise<string[]> {
  const { where, values } = within(db, bucketId, range)
  const rows = await db.rows<{ id: string }>(
    `SELECT DISTINCT parent_id AS id
     FROM (SELECT parent_id FROM entry WHERE ${where} ${NEWEST_FIRST} LIMIT ${count}) AS newest`,
    values,
  )
  return rows.map(({ id }) => id)
}

/** Some pictures in a range. */
export function picturesOf(
  db: Db,
  bucketId: string,
  range: PictureRange,
  { skip, limit }: { skip: number; limit: number },
): Promise<PictureRow[]> {
  const { where, values } = within(db, bucketId, range)
  // Skipped pictures are counted in the index.
  return db.rows(
    `SELECT ${placedColumns}, entry.pictured_at AS picturedAt
     FROM (SELECT id AS picture_id
       FROM entry
       WHERE ${where}
       ${NEWEST_FIRST}
       LIMIT ${limit} OFFSET ${skip}) AS chosen
     JOIN entry ON entry.id = chosen.picture_id
     ORDER BY entry.pictured_at DESC, entry.id DESC`,
    values,
  )
}

/** The times of the oldest and the newest picture. Undefined if there are none. */
export async function spanOfPictures(
  db: Db,
  bucketId: string,
): Promise<{ oldest: number; newest: number } | undefined> {
  const end = (order: string) =>
    `(SELECT pictured_at
       FROM entry
       WHERE bucket_id = ?
         AND pictured_at IS NOT NULL
       ORDER BY pictured_at${order}
       LIMIT 1)`
  const row = await db.row<{ oldest: number | null; newest: number | null }>(
    `SELECT ${end('')} AS oldest, ${end(' DESC')} AS newest`,
    [bucketId, bucketId],
  )
  return row?.oldest == null || row.newest == null
    ? undefined
    : { oldest: Number(row.oldest), newest: Number(row.newest) }
}

/** The maximum number of SELECTs in a statement. SQLite accepts 500. */
const AT_ONCE = 400

/** The number of pictures between each two consecutive times. Reads only ranges of one index. */
export async function countPictures(
  db: Db,
  bucketId: string,
  times: readonly number[],
): Promise<number[]> {
  const counts: number[] = times.slice(1).map(() => 0)
  const ranges = counts.map((_, i) => ({ i, since: times[i] ?? 0, until: times[i + 1] ?? 0 }))
  for (const some of inParts(ranges, AT_ONCE)) {
    const one = (i: number) =>
      `SELECT ${i} AS i, COUNT(*) AS n
       FROM entry
       WHERE bucket_id = ?
         AND pictured_at >= ?
         AND pictured_at < ?
         AND parent_id IS NOT NULL`
    const rows = await db.rows<{ i: number; n: number }>(
      some.map(({ i }) => one(i)).join(' UNION ALL '),
      some.flatMap(({ since, until }) => [bucketId, since, until]),
    )
    for (const { i, n } of rows) counts[i] = Number(n)
  }
  return counts
}

const DAY_MS = 86_400_000
/** Makes times before 1970 round like later ones. */
const ALL_DAYS = 200_000

/**
 * The number of pictures in trashed folders by day. They keep their times, because deleting a
 * folder changes nothing below it.
 */
export async function countTrashedPictures(
  db: Db,
  bucketId: string,
): Promise<{ at: number; count: number }[]> {
  const whole = db.dialect === 'mysql' ? 'DIV' : '/'
  const rows = await db.rows<{ day: number; n: number }>(
    `WITH RECURSIVE folder (id) AS (
       SELECT e.id
       FROM trash_item t
       JOIN entry e ON e.id = t.entry_id AND e.kind = ${FOLDER}
       WHERE t.bucket_id = ?
       UNION ALL
       SELECT e.id
       FROM folder f
       JOIN entry e ON e.parent_id = f.id AND e.kind = ${FOLDER}
     )
     SELECT (p.pictured_at + ${ALL_DAYS * DAY_MS}) ${whole}
     ${DAY_MS} AS day, COUNT(*) AS n
     FROM folder f
     JOIN entry p ON p.parent_id = f.id AND p.kind = ${FILE}
     WHERE p.pictured_at IS NOT NULL
     GROUP BY day`,
    [bucketId],
  )
  return rows.map(({ day, n }) => ({ at: (Number(day) - ALL_DAYS) * DAY_MS, count: Number(n) }))
}

/**
 * The time when the content of a blob was taken, by the camera's clock. NULL if its preview does
 * not know it.
 */
const takenAtOf = (blob: string) =>
  `(SELECT p.taken_at + COALESCE(JSON_EXTRACT(p.details, '$.zoneMinutes'), 0) * 60000
     FROM blobs b
     JOIN preview p ON p.digest = b.sha256
     WHERE b.id = ${blob}
       AND p.state <> 'making')`

/**
 * The sort time of a picture, as an expression. Its parameters are the blob and the time of the
 * content.
 */
export const picturedAtOfBlob = `COALESCE(${takenAtOf('?')}, ?)`

/** All live blobs with a content. */
export async function blobsWith(db: Db, sha256: string, tx: Tx): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(
    "SELECT id FROM blobs WHERE sha256 = ? AND state = 'live'",
    [sha256],
    tx,
  )
  return rows.map(({ id }) => id)
}

const isPictured = (e: string) =>
  `${e}.kind = ${FILE} AND SUBSTR(${e}.file_type, 1, 6) IN ('image/', 'video/')`

/**
 * The time of a file's content as the client reported it, unless it is in the future. Such a
 * picture would always sort first.
 */
const timeOf = (e: string, modifiedAt = `${e}.modified_at`) =>
  `CASE WHEN ${modifiedAt} <= COALESCE(${e}.content_at, ${e}.created_at) + ${DAY_MS}
    THEN ${modifiedAt}
    ELSE COALESCE(${e}.content_at, ${e}.created_at) END`

/** The sort time of a file as a picture; NULL for other files. */
const expected = (e: string) =>
  `CASE WHEN ${isPictured(e)} THEN COALESCE(${takenAtOf(`${e}.blob_id`)}, ${timeOf(e)}) END`

/** Sets the modification time of a file's content; null for its upload time. */
export const setModifiedAt = (
  db: Db,
  id: string,
  modifiedAt: number | null,
  tx: Tx,
): Promise<number> =>
  db.run(
    `UPDATE entry
     SET modified_at = ?,
       pictured_at = CASE
         WHEN pictured_at IS NOT NULL THEN COALESCE(${takenAtOf('entry.blob_id')}, ${timeOf('entry', '?')})
       END
     WHERE id = ?
       AND kind = ${FILE}`,
    [modifiedAt, modifiedAt, modifiedAt, id],
    tx,
  )

const isMisplaced = ({ dialect }: Db, e: string) =>
  dialect === 'mysql'
    ? `NOT (${e}.pictured_at <=> ${expected(e)})`
    : `${e}.pictured_at IS NOT ${expected(e)}`

/** Files with a wrong sort time as pictures. */
export const misplacedPicturesAfter = (
  db: Db,
  id: string,
  limit: number,
): Promise<{ id: string }[]> =>
  db.rows(
    `SELECT e.id
     FROM entry e
     WHERE e.id > ?
       AND ${isMisplaced(db, 'e')}
     ORDER BY e.id
     LIMIT ${limit}`,
    [id],
  )

export const placePicture = (db: Db, id: string, tx: Tx): Promise<number> =>
  db.run(
    `UPDATE entry
     SET pictured_at = ${expected('entry')}
     WHERE id = ?
       AND ${isMisplaced(db, 'entry')}`,
    [id],
    tx,
  )

/**
 * Sets the sort time of all files with these blobs.
 * @returns the buckets of those that had another one
 */
export async function placePictures(db: Db, blobIds: readonly string[], tx: Tx): Promise<string[]> {
  const buckets = new Set<string>()
  for (const some of inParts(blobIds, 500)) {
    const where = `blob_id IN (${placeholders(some)}) AND ${isMisplaced(db, 'entry')}`
    const found = await db.rows<{ bucketId: string }>(
      `SELECT DISTINCT bucket_id AS bucketId FROM entry WHERE ${where}`,
      some,
      tx,
    )
    if (found.length === 0) continue
    await db.run(`UPDATE entry SET pictured_at = ${expected('entry')} WHERE ${where}`, some, tx)
    for (const { bucketId } of found) buckets.add(bucketId)
  }
  return [...buckets]
}
