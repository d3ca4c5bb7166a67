import type { Db, Tx } from '../index.ts'
import type { Entry } from '../models/entry.ts'
import { NEVER, type Share } from '../models/share.ts'
import { treeOf, USER_MAY_WRITE } from './caller.ts'
import { besideKeys, columnOf, inParts, placeholders } from './sql.ts'

/** Shares with their files or folders, the trees of these, and their sharers. */
export const tables = `share s JOIN entry e ON e.id = s.entry_id JOIN user u ON u.id = s.user_id ${treeOf('e')}`

/** The condition of a share whose sharer may share from that tree now: who writes in a workspace may (src/access/policies.ts). */
export const BY_RIGHT = USER_MAY_WRITE

/** The condition of a live share, over `share s` and its sharer `user u`; its value is the current time. */
export const LIVE = `s.expires_at > ? AND (s.max_downloads IS NULL OR s.downloads < s.max_downloads) AND u.status = 'active'`

/** When a share ends, as an expression over `share s`: NULL for one that never expires. */
export const EXPIRY = `NULLIF(s.expires_at, ${NEVER})`

/**
 * The number of live shares (those that the lists show) as an SQL expression.
 * @param where a condition over `share s`; the values of the expression are its values, then the time
 */
export const liveCount = (where: string): string =>
  `(SELECT COUNT(*) FROM share s JOIN user u ON u.id = s.user_id WHERE ${where} AND ${LIVE})`

/** The number of live shares with an e-mail address that its owner has not opened. */
export async function countUnseenShares(db: Db, recipient: string): Promise<number> {
  const row = await db.row<{ n: number }>(`SELECT ${liveCount('s.recipient = ? AND s.seen_at IS NULL')} AS n`, [
    recipient,
    Date.now(),
  ])
  return Number(row?.n)
}

/** How many live shares a user has made of some files or folders. One statement for up to 1,000. */
export async function countSharesOf(db: Db, userId: string, entryIds: readonly string[]): Promise<Map<string, number>> {
  const counts = new Map(entryIds.map(id => [id, 0]))
  for (const some of inParts(entryIds, 1000)) {
    const rows = await db.rows<{ id: string; count: number }>(
      `SELECT s.entry_id AS id, COUNT(*) AS count FROM share s JOIN user u ON u.id = s.user_id
       WHERE s.entry_id IN (${placeholders(some)}) AND ${besideKeys('s.user_id')} = ? AND ${LIVE} GROUP BY s.entry_id`,
      [...some, userId, Date.now()],
    )
    for (const { id, count } of rows) counts.set(id, Number(count))
  }
  return counts
}

/** A share joined with its file and its owner. */
export interface LinkedShare
  extends Pick<Share, 'id' | 'userId' | 'recipient' | 'passwordHash' | 'maxDownloads' | 'downloads' | 'seenAt'>,
    Pick<Entry, 'bucketId' | 'kind' | 'name' | 'fileType' | 'md5' | 'blobId'> {
  /** Null for a share that never expires. */
  expiresAt: number | null
  /** Flags are numbers in rows. */
  allowDownload: number
  mayEdit: number
  notifies: number
  mailWaits: number
  sharerName: string
  sharerEmail: string
  /** Null when no provider has verified the e-mail address of the sharer. */
  sharerVerifiedEmail: string | null
  /** The file or folder that is shared. */
  entryId: string
  /** The root of the drive that it is in. */
  rootId: string
  /** Bytes; of a folder, those of all files below it. */
  size: number
}

/** A share with its file or folder, live or not. */
export const findShare = (db: Db, id: string, tx?: Tx): Promise<LinkedShare | undefined> =>
  db.row(
    `SELECT s.id, s.user_id AS userId, u.name AS sharerName, u.email AS sharerEmail, u.verified_email AS sharerVerifiedEmail, s.recipient, s.password_hash AS passwordHash,
       s.max_downloads AS maxDownloads, s.downloads, s.seen_at AS seenAt, ${EXPIRY} AS expiresAt,
       s.allow_download AS allowDownload, s.may_edit AS mayEdit, s.notifies, s.mail_waits AS mailWaits, e.id AS entryId, e.bucket_id AS bucketId, t.root_id AS rootId, e.kind, e.name, e.file_type AS fileType, e.total_bytes AS size, e.md5, e.blob_id AS blobId
     FROM ${tables} WHERE s.id = ? AND ${BY_RIGHT}`,
    [id],
    tx,
  )

/** The membership of the user `u` in the workspace of the tree `t`. */
const MEMBER = 'LEFT JOIN member m ON m.workspace_id = t.workspace_id AND m.user_id = u.id'

/** Locks in the same order as the deletion of an account or a file: the user, the bucket, the entry. */
const inOrder = (db: Db) => (db.dialect === 'mysql' ? 'STRAIGHT_JOIN' : 'CROSS JOIN')

/**
 * Locks a tree until the transaction ends, so that no file in it is deleted and its sharer keeps their role meanwhile. Returns whether deleted
 * entries of it may still be in the table, because they are in the trash or are being purged; undefined when the user may not share from it.
 */
export async function lockSharer(db: Db, userId: string, bucketId: string, tx: Tx) {
  const bucket = await db.row<{ detached: number }>(
    `SELECT t.purging + t.trash_count AS detached FROM user u ${inOrder(db)} bucket t ${MEMBER} WHERE u.id = ? AND t.id = ? AND ${BY_RIGHT}${db.forUpdate}`,
    [userId, bucketId],
    tx,
  )
  return bucket && { detached: Number(bucket.detached) > 0 }
}

/** A share to insert: of a file or folder in a tree that its sharer may share from, for one e-mail address or (null) for everyone with the link. */
export type NewShare = Omit<Share, 'downloads' | 'seenAt' | 'notifiedAt' | 'mailWaits'>

/** Inserts a share with its sharer locked. Returns false, and inserts nothing, when the file or folder no longer exists. */
export async function insertShare(db: Db, share: NewShare, tx: Tx): Promise<boolean> {
  const { id, userId, bucketId, entryId, ...terms } = share
  const given = Object.entries(terms)
  // Locked shared: deletions and the end of the account wait for it.
  const lock = db.dialect === 'mysql' ? ' LOCK IN SHARE MODE' : ''
  const inserted = await db.run(
    `INSERT INTO share (id, entry_id, bucket_id, user_id, ${given.map(([name]) => columnOf(name)).join(', ')}, downloads, notified_at, mail_waits)
     SELECT ?, e.id, t.id, u.id, ${placeholders(given)}, 0, 0, 0 FROM user u ${inOrder(db)} bucket t ${inOrder(db)} entry e ${MEMBER}
     WHERE u.id = ? AND t.id = ? AND ${BY_RIGHT} AND e.id = ? AND e.bucket_id = t.id${lock}`,
    [id, ...given.map(([, value]) => value), userId, bucketId, entryId],
    tx,
  )
  return inserted === 1
}

/** The share of a file or folder that a user has made for an e-mail address. */
export const findDirectShare = (db: Db, userId: string, entryId: string, recipient: string, tx: Tx) =>
  db.row<
    { id: string; allowDownload: number; mayEdit: number } & Pick<Share, 'expiresAt' | 'downloads' | 'maxDownloads'>
  >(
    `SELECT id, allow_download AS allowDownload, may_edit AS mayEdit, expires_at AS expiresAt, downloads, max_downloads AS maxDownloads
     FROM share WHERE entry_id = ? AND recipient = ? AND user_id = ?`,
    [entryId, recipient, userId],
    tx,
  )

/** What a mail about the uses of a share is made of. */
export const findNoticed = (db: Db, id: string, tx: Tx) =>
  db.row<Pick<Share, 'userId' | 'label' | 'notifiedAt' | 'notifies'> & { name: string; address: string | null }>(
    `SELECT s.user_id AS userId, s.label, s.notified_at AS notifiedAt, s.notifies, e.name, u.verified_email AS address
     FROM ${tables} WHERE s.id = ? AND ${BY_RIGHT}`,
    [id],
    tx,
  )

/** Locks a share until the transaction ends: it is neither used, changed nor ended meanwhile. Returns what decides whether it is live. */
export const lockShare = (db: Db, id: string, tx: Tx) =>
  db.row<
    Pick<Share, 'downloads' | 'maxDownloads' | 'expiresAt' | 'passwordHash'> & {
      allowDownload: number
      mayEdit: number
    }
  >(
    `SELECT downloads, max_downloads AS maxDownloads, expires_at AS expiresAt, password_hash AS passwordHash,
       allow_download AS allowDownload, may_edit AS mayEdit FROM share WHERE id = ?${db.forUpdate}`,
    [id],
    tx,
  )

export const markShareSeen = (db: Db, id: string) =>
  db.run('UPDATE share SET seen_at = ? WHERE id = ? AND seen_at IS NULL', [Date.now(), id])

/** Counts a download, if the share allows one more. The condition keeps the limit under parallel downloads. */
export const countDownload = (db: Db, id: string, tx?: Tx): Promise<boolean> =>
  db.changed(
    'UPDATE share SET downloads = downloads + 1 WHERE id = ? AND (max_downloads IS NULL OR downloads < max_downloads)',
    [id],
    tx,
  )

/**
 * Counts downloads of shares that do not limit them, one for each time that a share is named. Shares that somebody else has locked are
 * left out: the visitors of one link do not wait for what becomes of another one.
 * @returns the shares whose downloads are counted
 */
export async function countDownloads(db: Db, ids: string[], tx: Tx): Promise<ReadonlySet<string>> {
  const named = Map.groupBy(ids, id => id)
  const rows = await db.rows<{ id: string }>(
    `SELECT id FROM share WHERE id IN (${placeholders([...named.keys()])}) AND max_downloads IS NULL${db.dialect === 'mysql' ? ' FOR UPDATE SKIP LOCKED' : ''}`,
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

/** Deletes the shares of entries that are deleted. */
export async function deleteSharesOf(db: Db, entryIds: string[], tx: Tx): Promise<void> {
  await db.run(`DELETE FROM share WHERE entry_id IN (${placeholders(entryIds)})`, entryIds, tx)
}

/** Deletes the shares that a member has made from a workspace, once their right to share is taken in the same transaction. */
export const deleteSharesBy = (db: Db, userId: string, workspaceId: string, tx: Tx) =>
  db.run(
    'DELETE FROM share WHERE user_id = ? AND bucket_id = (SELECT t.id FROM bucket t WHERE t.workspace_id = ?)',
    [userId, workspaceId],
    tx,
  )

/** The number of live links of a user. */
export async function countLinks(db: Db, userId: string, tx: Tx): Promise<number> {
  const row = await db.row<{ live: number }>(
    `SELECT COUNT(*) AS live FROM share WHERE user_id = ? AND recipient IS NULL AND expires_at > ?
       AND (max_downloads IS NULL OR downloads < max_downloads)`,
    [userId, Date.now()],
    tx,
  )
  return Number(row?.live)
}

/** Whether an active user shares a file with an e-mail address. */
export const isRecipient = (db: Db, address: string, tx: Tx): Promise<boolean> =>
  db.exists(
    `SELECT s.id FROM share s JOIN user u ON u.id = s.user_id
     WHERE s.recipient = ? AND s.expires_at > ? AND u.status = 'active' LIMIT 1`,
    [address, Date.now()],
    tx,
  )

/** Deletes the shares of what is at any depth of some folders of a locked bucket. */
export async function deleteSharesBelow(db: Db, bucketId: string, folderIds: string[], tx: Tx): Promise<void> {
  // From each share upwards: there are fewer shares than entries. Apart from the deletion, because MySQL does not read what it changes.
  const rows = await db.rows<{ id: string }>(
    `WITH RECURSIVE up (share_id, id, parent_id) AS (
       SELECT s.id, e.id, e.parent_id FROM share s JOIN entry e ON e.id = s.entry_id WHERE s.bucket_id = ?
       UNION ALL SELECT up.share_id, p.id, p.parent_id FROM up JOIN entry p ON p.id = up.parent_id
     ) SELECT share_id AS id FROM up WHERE id IN (${placeholders(folderIds)})`,
    [bucketId, ...folderIds],
    tx,
  )
  for (const ids of inParts(
    rows.map(row => row.id),
    1000,
  ))
    await db.run(`DELETE FROM share WHERE id IN (${placeholders(ids)})`, ids, tx)
}
