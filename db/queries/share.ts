import type { Db, Tx } from '../index.ts'
import { type Entry, FOLDER } from '../models/entry.ts'
import { NEVER, type Share } from '../models/share.ts'
import { ROLE_MAY_WRITE, treeOf, USER_MAY_WRITE } from './caller.ts'
import { columnOf, placeholders } from './sql.ts'

/** Shares with their entries (of several, the first), the trees of these, and their sharers. */
export const besideShare = `JOIN entry e ON e.id = s.entry_id
  JOIN user u ON u.id = s.user_id
  ${treeOf('e')}`
export const tables = `share s ${besideShare}`

/**
 * The condition that the sharer may share from that tree now: members who may write may also share
 * (src/access/policies.ts).
 */
export const BY_RIGHT = USER_MAY_WRITE

/** The condition of a live share `s` with its sharer `user u`. Its value is the current time. */
export const LIVE = `s.expires_at > ? AND (s.max_downloads IS NULL OR s.downloads < s.max_downloads) AND u.status = 'active'`

/** The expiry of a share `s`, as an expression. NULL if it never expires. */
export const EXPIRY = `NULLIF(s.expires_at, ${NEVER})`

const unlessSeveral = (one: string, several: string) =>
  `CASE WHEN s.entry_count IS NULL THEN ${one} ELSE ${several} END`

/**
 * The shared content as expressions over the share `s` and its entry `e`. Several entries are like
 * a folder.
 */
export const shared = {
  kind: unlessSeveral('e.kind', `${FOLDER}`),
  fileType: unlessSeveral('e.file_type', "''"),
  size: unlessSeveral(
    'e.total_bytes',
    `(SELECT CAST(SUM(o.total_bytes) AS SIGNED INTEGER)
       FROM share_entry x
       JOIN entry o ON o.id = x.entry_id
       WHERE x.share_id = s.id)`,
  ),
  fileCount: unlessSeveral(
    'e.total_files',
    `(SELECT CAST(SUM(o.total_files) AS SIGNED INTEGER)
       FROM share_entry x
       JOIN entry o ON o.id = x.entry_id
       WHERE x.share_id = s.id)`,
  ),
  md5: unlessSeveral('e.md5', "''"),
  blobId: unlessSeveral('e.blob_id', 'NULL'),
}

/** The same expressions as named columns. */
export const sharedColumns = `${shared.kind} AS kind, ${shared.fileType} AS fileType, ${shared.size} AS size, ${shared.md5} AS md5, s.entry_count AS entryCount`

/**
 * The number of live shares, as an SQL expression.
 * @param where a condition over `share s`; the parameters are those of the condition, then the time
 */
export const liveCount = (where: string): string =>
  `(SELECT COUNT(*) FROM share s JOIN user u ON u.id = s.user_id WHERE ${where} AND ${LIVE})`

/** The number of live shares with an e-mail address that its owner has not opened. */
export async function countUnseenShares(db: Db, recipient: string): Promise<number> {
  const row = await db.row<{ n: number }>(
    `SELECT ${liveCount('s.recipient = ? AND s.seen_at IS NULL')} AS n`,
    [recipient, Date.now()],
  )
  return Number(row?.n)
}

/**
 * A share joined with its entry and its owner. Several entries are like a folder: they have no
 * bytes of their own.
 */
export interface LinkedShare
  extends Pick<
      Share,
      | 'id'
      | 'title'
      | 'message'
      | 'entryCount'
      | 'userId'
      | 'recipient'
      | 'passwordHash'
      | 'maxDownloads'
      | 'downloads'
      | 'seenAt'
    >,
    Pick<Entry, 'bucketId' | 'kind' | 'name' | 'fileType' | 'md5' | 'blobId'> {
  /** Null if it never expires. */
  expiresAt: number | null
  /** Flags are numbers in rows. */
  allowDownload: number
  mayEdit: number
  notifies: number
  mailWaits: number
  sharerName: string
  sharerEmail: string
  /** Null if no provider has verified the sharer's e-mail address. */
  sharerVerifiedEmail: string | null
  /** The shared file or folder; of several entries, the first, whose name this is. */
  entryId: string
  /** The root of its drive. */
  rootId: string
  /** In bytes. A folder counts all files below it. */
  size: number
  fileCount: number
}

/** A share with its entry, live or ended. */
export const findShare = (db: Db, id: string, tx?: Tx): Promise<LinkedShare | undefined> =>
  db.row(
    `SELECT s.id, s.title, s.message, s.user_id AS userId, u.name AS sharerName,
       u.email AS sharerEmail, u.verified_email AS sharerVerifiedEmail, s.recipient,
       s.password_hash AS passwordHash,
       s.max_downloads AS maxDownloads, s.downloads, s.seen_at AS seenAt, ${EXPIRY} AS expiresAt,
       s.allow_download AS allowDownload, s.may_edit AS mayEdit, s.notifies,
       s.mail_waits AS mailWaits, e.id AS entryId, e.bucket_id AS bucketId, t.root_id AS rootId,
       e.name,
       ${sharedColumns}, ${shared.fileCount} AS fileCount, ${shared.blobId} AS blobId
     FROM ${tables}
     WHERE s.id = ?
       AND ${BY_RIGHT}`,
    [id],
    tx,
  )

/** The membership of the user `u` in the workspace of the tree `t`. */
const MEMBER = 'LEFT JOIN member m ON m.workspace_id = t.workspace_id AND m.user_id = u.id'

/**
 * Locks in the same order as the deletion of an account or a file: the user, the bucket, the entry.
 */
export const inOrder = (db: Db) => (db.dialect === 'mysql' ? 'STRAIGHT_JOIN' : 'CROSS JOIN')

/**
 * Locks a tree until the transaction ends, so that no file in it is deleted and its sharer keeps
 * their role. Returns whether deleted entries may still be in the table, because they are in the
 * trash or being purged. Undefined if the user may not share from it.
 * @param status `any` includes a suspended user, whose shares wait until the account is restored
 */
export async function lockSharer(
  db: Db,
  userId: string,
  bucketId: string,
  tx: Tx,
  status: 'active' | 'any' = 'active',
) {
  const byRight = status === 'active' ? BY_RIGHT : ROLE_MAY_WRITE
  const bucket = await db.row<{ detached: number }>(
    `SELECT t.purging + t.trash_count AS detached
     FROM user u ${inOrder(db)} bucket t
     ${MEMBER}
     WHERE u.id = ?
       AND t.id = ?
       AND ${byRight}${db.forUpdate}`,
    [userId, bucketId],
    tx,
  )
  if (bucket) await db.touch('bucket', [bucketId], tx)
  return bucket && { detached: Number(bucket.detached) > 0 }
}

/**
 * A share to insert: of an entry in a tree from which its sharer may share, with one e-mail address
 * or (null) with everyone who has the link.
 */
export type NewShare = Omit<Share, 'downloads' | 'seenAt' | 'notifiedAt' | 'mailWaits'>

/**
 * Inserts a share with its sharer locked. Inserts nothing and returns false if the entry no longer
 * exists.
 */
export async function insertShare(db: Db, share: NewShare, tx: Tx): Promise<boolean> {
  const { id, userId, bucketId, entryId, ...terms } = share
  const given = Object.entries(terms)
  // A shared lock: deletions of the entry or the account wait for it.
  const inserted = await db.run(
    `INSERT INTO share (id, entry_id, bucket_id, user_id,
       ${given.map(([name]) => columnOf(name)).join(', ')}, downloads, notified_at, mail_waits)
     SELECT ?, e.id, t.id, u.id, ${placeholders(given)}, 0, 0, 0
     FROM user u ${inOrder(db)} bucket t ${inOrder(db)} entry e
     ${MEMBER}
     WHERE u.id = ?
       AND t.id = ?
       AND ${BY_RIGHT}
       AND e.id = ?
       AND e.bucket_id = t.id${db.forShare}`,
    [id, ...given.map(([, value]) => value), userId, bucketId, entryId],
    tx,
  )
  return inserted === 1
}

/** A share with an e-mail address, to be renewed. */
export type DirectShareRow = { id: string; allowDownload: number; mayEdit: number } & Pick<
  Share,
  'expiresAt' | 'downloads' | 'maxDownloads'
>
export const directColumns =
  'id, allow_download AS allowDownload, may_edit AS mayEdit, expires_at AS expiresAt, downloads, max_downloads AS maxDownloads'

/** The share of one entry that a user made for an e-mail address. */
export const findDirectShare = (
  db: Db,
  userId: string,
  entryId: string,
  recipient: string,
  tx: Tx,
) =>
  db.row<DirectShareRow>(
    `SELECT ${directColumns}
     FROM share
     WHERE entry_id = ?
       AND recipient = ?
       AND user_id = ?
       AND entry_count IS NULL`,
    [entryId, recipient, userId],
    tx,
  )

/** The details in a mail about the uses of a share. */
export const findNoticed = (db: Db, id: string, tx: Tx) =>
  db.row<
    Pick<Share, 'userId' | 'label' | 'notifiedAt' | 'notifies' | 'entryCount'> & {
      name: string
      address: string | null
    }
  >(
    `SELECT s.user_id AS userId, s.label, s.notified_at AS notifiedAt, s.notifies,
       s.entry_count AS entryCount, e.name, u.verified_email AS address
     FROM ${tables}
     WHERE s.id = ?
       AND ${BY_RIGHT}`,
    [id],
    tx,
  )

/**
 * Locks a share until the transaction ends, so that it is neither used, changed nor ended. Returns
 * the columns that decide whether it is live.
 */
export async function lockShare(db: Db, id: string, tx: Tx) {
  const share = await db.row<
    Pick<Share, 'downloads' | 'maxDownloads' | 'expiresAt' | 'passwordHash'> & {
      allowDownload: number
      mayEdit: number
    }
  >(
    `SELECT downloads, max_downloads AS maxDownloads, expires_at AS expiresAt,
       password_hash AS passwordHash,
       allow_download AS allowDownload, may_edit AS mayEdit
     FROM share
     WHERE id = ?${db.forUpdate}`,
    [id],
    tx,
  )
  if (share) await db.touch('share', [id], tx)
  return share
}

export const markShareSeen = (db: Db, id: string) =>
  db.run('UPDATE share SET seen_at = ? WHERE id = ? AND seen_at IS NULL', [Date.now(), id])

/**
 * Counts a download, if the share allows one more. The condition keeps the limit under concurrent
 * downloads.
 */
export const countDownload = (db: Db, id: string, tx?: Tx): Promise<boolean> =>
  db.changed(
    `UPDATE share
     SET downloads = downloads + 1
     WHERE id = ?
       AND (max_downloads IS NULL OR downloads < max_downloads)`,
    [id],
    tx,
  )

/**
 * Counts downloads of shares without a download limit, one per occurrence of a share. Shares locked
 * by another transaction are skipped, so that visitors of one link do not wait for another.
 * @returns the shares whose downloads were counted
 */
export async function countDownloads(db: Db, ids: string[], tx: Tx): Promise<ReadonlySet<string>> {
  const named = Map.groupBy(ids, id => id)
  const rows = await db.rows<{ id: string }>(
    `SELECT id
     FROM share
     WHERE id IN (${placeholders([...named.keys()])})
       AND max_downloads IS NULL${db.forUpdateSkipLocked}`,
    [...named.keys()],
    tx,
  )
  for (const [times, some] of Map.groupBy(rows, ({ id }) => named.get(id)?.length ?? 0))
    await db.run(
      `UPDATE share SET downloads = downloads + ? WHERE id IN (${placeholders(some)})`,
      [times, ...some.map(({ id }) => id)],
      tx,
    )
  return new Set(rows.map(({ id }) => id))
}

export const deleteShare = async (db: Db, id: string, tx: Tx): Promise<boolean> =>
  db.changed('DELETE FROM share WHERE id = ?', [id], tx)

/** A share that its sharer ends. */
export type OwnedShare = Pick<Share, 'id' | 'bucketId' | 'entryId' | 'recipient'>

/**
 * Finds shares that a user made: some of them, or all for one e-mail address. Includes those that
 * ended with their entries, and would come back with them. One statement, so that a share that
 * changes from one state to the other meanwhile is found in one of them.
 * @param userId null for the shares of everyone, which requires `ids`
 */
export async function sharesOfSharer(
  db: Db,
  userId: string | null,
  { ids, recipient }: { ids?: readonly string[]; recipient?: string },
  tx: Tx,
): Promise<OwnedShare[]> {
  const among = ids ? ` AND id IN (${placeholders(ids)})` : ''
  const sharedWith = recipient === undefined ? '' : ' AND recipient = ?'
  const of = userId === null ? '1 = 1' : 'user_id = ?'
  const who = userId === null ? [] : [userId]
  const rows = await db.rows<OwnedShare & { terms: string | null }>(
    `SELECT id, bucket_id AS bucketId, entry_id AS entryId, recipient, NULL AS terms
     FROM share
     WHERE ${of}${among}${sharedWith}
     UNION ALL
     SELECT id, bucket_id, NULL, NULL, terms
     FROM ended_share
     WHERE ${of}${among}`,
    [
      ...[...who, ...(ids ?? [])],
      ...(recipient === undefined ? [] : [recipient]),
      ...[...who, ...(ids ?? [])],
    ],
    tx,
  )
  const shares = rows.map(({ terms, ...share }) => {
    if (terms === null) return share
    const ended: Share = JSON.parse(terms)
    return { ...share, entryId: ended.entryId, recipient: ended.recipient }
  })
  return recipient === undefined ? shares : shares.filter(share => share.recipient === recipient)
}

/**
 * Deletes the shares that a member made from a workspace, after the same transaction took away the
 * right to share. Shares that ended with a deletion do not come back either.
 */
export async function deleteSharesBy(
  db: Db,
  userId: string,
  workspaceId: string,
  tx: Tx,
): Promise<void> {
  for (const table of ['share', 'ended_share'])
    await db.run(
      `DELETE FROM ${table}
       WHERE user_id = ?
         AND bucket_id = (SELECT t.id FROM bucket t WHERE t.workspace_id = ?)`,
      [userId, workspaceId],
      tx,
    )
}

/** The number of live links of a user. */
export async function countLinks(db: Db, userId: string, tx: Tx): Promise<number> {
  const row = await db.row<{ live: number }>(
    `SELECT COUNT(*) AS live
     FROM share
     WHERE user_id = ?
       AND recipient IS NULL
       AND expires_at > ?
       AND (max_downloads IS NULL OR downloads < max_downloads)`,
    [userId, Date.now()],
    tx,
  )
  return Number(row?.live)
}

/** Whether an active user shares a file with an e-mail address. */
export const isRecipient = (db: Db, address: string, tx: Tx): Promise<boolean> =>
  db.exists(
    `SELECT s.id
     FROM share s
     JOIN user u ON u.id = s.user_id
     WHERE s.recipient = ?
       AND s.expires_at > ?
       AND u.status = 'active'
     LIMIT 1`,
    [address, Date.now()],
    tx,
  )
