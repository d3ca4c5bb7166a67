import type { Db, Tx } from '../index.ts'
import { EndedShare, EndedShareEntry } from '../models/ended-share.ts'
import { Favourite } from '../models/favourite.ts'
import { Share } from '../models/share.ts'
import { limitOf, withLimits } from './limit.ts'
import type { OwnedShare } from './share.ts'
import { besideKeys, inParts, insertion, placeholders, selection } from './sql.ts'

/*
 * Shares that a deletion ended. They are moved out of the table of shares, so that no other
 * statement has to exclude them.
 */

/** An entry that is restored within this time after its deletion gets its shares back. */
export const GRACE_MS = 10 * 60_000

/** An entry that left a share. */
export type LeftEntry = Pick<EndedShareEntry, 'shareId' | 'entryId' | 'userId' | 'position'>

const AT_ONCE = 100

/** Keeps the rows of shares that are about to be deleted, with those of their favourites. */
export async function keepEndedShares(
  db: Db,
  shares: readonly Share[],
  endedAt: number,
  tx: Tx,
): Promise<void> {
  for (const some of inParts(shares, AT_ONCE)) {
    const ids = some.map(({ id }) => id)
    const marks = await db.rows<Favourite>(
      `SELECT ${selection(Favourite)} FROM favourite WHERE share_id IN (${placeholders(ids)})`,
      ids,
      tx,
    )
    const rows = some.map(share => ({
      id: share.id,
      userId: share.userId,
      bucketId: share.bucketId,
      terms: JSON.stringify(share),
      favourites: JSON.stringify(marks.filter(mark => mark.shareId === share.id)),
      expiresAt: share.expiresAt,
      endedAt,
    }))
    await db.run(...insertion(EndedShare, rows), tx)
  }
}

export async function insertEndedEntries(
  db: Db,
  rows: readonly EndedShareEntry[],
  tx: Tx,
): Promise<void> {
  for (const some of inParts(rows, AT_ONCE))
    await db.run(...insertion(EndedShareEntry, [...some]), tx)
}

/** The sharers of what some items of a bucket ended after a time, in the order of their ids. */
export async function sharersOfItems(
  db: Db,
  bucketId: string,
  itemIds: readonly string[],
  after: number,
  tx: Tx,
): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(
    `SELECT DISTINCT x.user_id AS id
     FROM ended_share_entry x
     JOIN trash_item t ON t.id = x.item_id
     WHERE x.item_id IN (${placeholders(itemIds)})
       AND ${besideKeys('x.ended_at')} > ?
       AND ${besideKeys('t.bucket_id')} = ?
     ORDER BY id`,
    [...itemIds, after, bucketId],
    tx,
  )
  return rows.map(({ id }) => id)
}

/** The entries that left shares with the deletion of some items after a time, with these items. */
export const leftWithItems = (
  db: Db,
  itemIds: readonly string[],
  after: number,
  tx: Tx,
): Promise<(LeftEntry & Pick<EndedShareEntry, 'itemId'>)[]> =>
  db.rows(
    `SELECT share_id AS shareId, entry_id AS entryId, item_id AS itemId, user_id AS userId, position
     FROM ended_share_entry
     WHERE item_id IN (${placeholders(itemIds)})
       AND ${besideKeys('ended_at')} > ?
     ORDER BY share_id, position`,
    [...itemIds, after],
    tx,
  )

/** Locks ended shares that have not expired. */
export const lockEndedShares = (
  db: Db,
  ids: readonly string[],
  now: number,
  tx: Tx,
): Promise<Pick<EndedShare, 'id' | 'userId' | 'terms' | 'favourites'>[]> =>
  db.rows(
    `SELECT id, user_id AS userId, terms, favourites
     FROM ended_share
     WHERE id IN (${placeholders(ids)})
       AND ${besideKeys('expires_at')} > ?
     ORDER BY id${db.forUpdate}`,
    [...ids, now],
    tx,
  )

/**
 * Restores a share with its former values. An upgrade in between may have removed columns, or added
 * columns, which get their defaults.
 * @param entryId its first entry now
 */
export async function insertAgain(
  db: Db,
  { id, terms, favourites }: Pick<EndedShare, 'id' | 'terms' | 'favourites'>,
  entryId: string,
  tx: Tx,
): Promise<void> {
  // The job of a scheduled mail has run, and found no share.
  await db.run(...insertion(Share, [{ ...JSON.parse(terms), entryId, mailWaits: false }]), tx)
  await db.run('DELETE FROM ended_share WHERE id = ?', [id], tx)
  for (const mark of JSON.parse(favourites) as Favourite[])
    if (await db.exists('SELECT id FROM user WHERE id = ?', [mark.userId], tx))
      await db.run(...insertion(Favourite, [mark]), tx)
}

/** Makes the end of a share final. */
export const forgetEndedShare = (db: Db, id: string, tx: Tx): Promise<number> =>
  db.run('DELETE FROM ended_share WHERE id = ?', [id], tx)

/** The share with this id that ended with its entry, and its sharer. */
export async function findEndedShare(
  db: Db,
  id: string,
): Promise<(OwnedShare & Pick<Share, 'userId'>) | undefined> {
  const row = await db.row<Pick<EndedShare, 'userId' | 'bucketId' | 'terms'>>(
    'SELECT user_id AS userId, bucket_id AS bucketId, terms FROM ended_share WHERE id = ?',
    [id],
  )
  if (!row) return undefined
  const { terms, ...shown } = row
  const { entryId, recipient }: Share = JSON.parse(terms)
  return { ...shown, id, entryId, recipient }
}

/** The own bucket of a user, and how many links their plan allows at a time; null if unlimited. */
export const linkAllowance = (db: Db, userId: string, tx: Tx) =>
  db.row<{ bucketId: string; max: number | null }>(
    `SELECT b.id AS bucketId, ${limitOf('maxPublicLinks')} AS max
     FROM user u
     JOIN bucket b ON b.user_id = u.id
     ${withLimits('u')}
     WHERE u.id = ?`,
    [userId],
    tx,
  )
