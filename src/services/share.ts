import { v7 as newId } from 'uuid'
import type { Db, Tx, Value } from '../../db/index.ts'
import type { Caller } from '../auth/caller.ts'
import { type Passwords, parsePassword } from '../auth/password.ts'
import { parseDuration } from '../duration.ts'
import { Forbidden, InvalidInput, Unauthenticated } from '../errors.ts'
import { parseFilePath } from '../paths.ts'
import type { Tokens } from '../tokens.ts'
import { takeLink } from './bound.ts'
import { pathsOfFolders, placeholders } from './entry-path.ts'
import type { FileService } from './file.ts'
import { type PageArgs, readCursor, readLimit, writeCursor } from './page.ts'
import { SHARE_TOKEN, type ShareLinkService } from './share-link.ts'

/** A new public share. */
export interface PublicShare {
  token: string
  link: string
  expiresAt: number
}

/** A share as its sharer and its recipient see it. Times in milliseconds, size in bytes. */
export interface ShareView {
  id: string
  token: string
  link: string
  fileId: string
  names: string[]
  fileType: string
  size: number
  md5: string
  /** E-mail addresses; the second is empty for a public share. */
  sharedBy: string
  sharedFor: string
  createdAt: number
  expiresAt: number
  seen: boolean
  passwordProtected: boolean
  downloads: number
  maxDownloads: number | null
}

interface ListedRow extends Omit<ShareView, 'token' | 'link' | 'names' | 'seen' | 'passwordProtected'> {
  seenAt: number | null
  passwordHash: string | null
  name: string
  parentId: string
  rootId: string
}

/** The condition of a live share, over `share s` and its sharer `user u`; its value is the current time. */
export const LIVE = `s.expires_at > ? AND (s.max_downloads IS NULL OR s.downloads < s.max_downloads) AND u.status = 'active'`

/**
 * The number of live shares (those that the lists show) as an SQL expression. While a bucket purges nothing, all its entries
 * exist; otherwise an entry exists if its chain of parents ends at the root.
 * @param where a condition over `share s`; the values of the expression are its values, then the time
 */
export const liveCount = (where: string): string =>
  `(WITH RECURSIVE shared (folder_id, root_id, purging) AS (
     SELECT e.parent_id, b.root_id, b.purging
     FROM share s JOIN entry e ON e.id = s.entry_id JOIN bucket b ON b.id = e.bucket_id JOIN user u ON u.id = s.user_id
     WHERE ${where} AND ${LIVE}
   ), up (folder_id, id) AS (
     SELECT folder_id, folder_id FROM shared WHERE purging > 0
     UNION SELECT up.folder_id, e.parent_id FROM up JOIN entry e ON e.id = up.id
   ) SELECT COUNT(*) FROM shared LEFT JOIN up ON up.folder_id = shared.folder_id AND up.id = shared.root_id
   WHERE shared.purging = 0 OR up.id IS NOT NULL)`

interface Deps {
  db: Db
  files: FileService
  links: ShareLinkService
  passwords: Passwords
  tokens: Tokens
  publicUrl: () => string
}

export function shareService({ db, files, links, passwords, tokens, publicUrl }: Deps) {
  const tokenOf = (id: string) => tokens.derive(SHARE_TOKEN, id)
  const linkOf = (token: string) => `${publicUrl()}/share/${token}`

  /** Live shares with their paths: one statement for the rows, one for all paths. */
  async function listed(
    where: string,
    values: Value[],
    limit: number,
  ): Promise<{ rows: ShareView[]; more: boolean; last: string | undefined }> {
    const rows = await db.rows<ListedRow>(
      `SELECT s.id, s.entry_id AS fileId, e.file_type AS fileType, e.total_bytes AS size, e.md5, u.email AS sharedBy,
         COALESCE(s.recipient, '') AS sharedFor, s.created_at AS createdAt, s.expires_at AS expiresAt, s.seen_at AS seenAt,
         s.password_hash AS passwordHash, s.downloads, s.max_downloads AS maxDownloads, e.name, e.parent_id AS parentId, b.root_id AS rootId
       FROM share s JOIN entry e ON e.id = s.entry_id JOIN bucket b ON b.id = e.bucket_id JOIN user u ON u.id = s.user_id
       WHERE ${where} AND ${LIVE} ORDER BY s.id LIMIT ${limit + 1}`,
      [...values, Date.now()],
    )
    const more = rows.length > limit
    if (more) rows.pop()
    const folders = await pathsOfFolders(
      db,
      rows.map(r => r.rootId),
      rows.map(r => r.parentId),
    )
    const live = rows.flatMap(row => {
      const folder = folders.get(row.parentId)
      if (!folder) return []
      const { name, parentId: _parent, rootId: _root, seenAt, passwordHash, ...share } = row
      const token = tokenOf(row.id)
      return [
        {
          ...share,
          token,
          link: linkOf(token),
          names: [...folder, name],
          seen: seenAt !== null,
          passwordProtected: passwordHash !== null,
        },
      ]
    })
    return { rows: live, more, last: rows.at(-1)?.id }
  }

  return {
    tokenOf,
    linkOf,

    /** The live shares that a user has made, oldest first. `last` is where the next page begins. */
    sentBy: (caller: Caller, limit: number, after: string | null) =>
      listed('s.user_id = ? AND s.id > ?', [caller.userId, after ?? ''], limit),

    /** A page of one of the two lists for REST, which is lenient about its arguments. */
    async page(
      caller: Caller,
      list: 'sent' | 'received',
      page: PageArgs,
    ): Promise<{ files: ShareView[]; nextCursor: string | null }> {
      const after = readCursor(page.cursor, ['id'], true)?.[0] ?? null
      const limit = readLimit(page.limit, true)
      const { rows, more, last } =
        list === 'sent' ? await this.sentBy(caller, limit, after) : await this.receivedBy(caller, limit, after)
      return { files: rows, nextCursor: more && last ? writeCursor([last]) : null }
    },

    /** The live shares with the caller's verified e-mail address, oldest first. */
    receivedBy: (caller: Caller, limit: number, after: string | null) =>
      listed('s.recipient = ? AND s.id > ?', [caller.verifiedEmail ?? '', after ?? ''], limit),

    /** The subset of these shares that is live and shared with the caller's verified e-mail address. */
    async receivedAmong(caller: Caller, ids: string[]): Promise<ShareView[]> {
      const where = `s.recipient = ? AND s.id IN (${placeholders(ids)})`
      return (await listed(where, [caller.verifiedEmail ?? '', ...ids], ids.length)).rows
    },

    /** A live share that the caller has made or received, by its id. */
    async byId(caller: Caller, id: string): Promise<ShareView | null> {
      const mine = [id, caller.userId, caller.verifiedEmail ?? '']
      const { rows } = await listed('s.id = ? AND (s.user_id = ? OR s.recipient = ?)', mine, 1)
      return rows[0] ?? null
    },

    /** Creates a public share of one file. @throws FILE_NOT_FOUND, INVALID_PATH, INVALID_DURATION, INVALID_INPUT, QUOTA_EXCEEDED */
    async createPublic(
      caller: Caller,
      input: {
        object: string
        duration?: string | null | undefined
        password?: string | null | undefined
        maxDownloads?: number | null | undefined
      },
    ): Promise<PublicShare> {
      const names = parseFilePath(input.object, 'object')
      const now = Date.now()
      const expiresAt = now + parseDuration(input.duration || '24h', 'duration')
      const maxDownloads = input.maxDownloads ?? null
      if (maxDownloads !== null && (maxDownloads < 1 || maxDownloads > 1_000_000_000))
        throw new InvalidInput('max_downloads', 'A share may allow 1 to 1,000,000,000 downloads.')
      const password = input.password ? parsePassword(input.password) : null
      const { node } = await files.locate(caller.bucket, names)
      const passwordHash = password === null ? null : await passwords.hash(password, callerKeys(caller))
      const id = newId()
      const share = { id, entryId: node.id, recipient: null, maxDownloads, passwordHash, createdAt: now, expiresAt }
      await db.transaction(async tx => {
        const { purging } = await lockForSharing(db, caller, tx)
        await takeLink(db, caller, tx)
        // A file that was deleted with its folder meanwhile is still in the table.
        if (!purging && (await insertShare(db, caller, share, tx))) return
        const found = await files.locate(caller.bucket, names, tx)
        await insertShare(db, caller, { ...share, entryId: found.node.id }, tx)
      })
      const token = tokenOf(id)
      return { token, link: linkOf(token), expiresAt }
    },

    /** Deletes a share of the caller. @throws SHARE_NOT_FOUND, FORBIDDEN */
    async revoke(caller: Caller, token: string): Promise<string> {
      const share = await links.find(token)
      if (share.userId !== caller.userId)
        throw new Forbidden('Only the person who shared this file can revoke the link.')
      await db.run('DELETE FROM share WHERE id = ?', [share.id])
      return token
    },
  }
}

export type ShareService = ReturnType<typeof shareService>

/** Keys by which password hashing is queued: see auth/password.ts. */
export const callerKeys = (caller: Caller): string[] => [`caller ${caller.userId}`]

/** The terms of a share. */
export interface Terms {
  passwordHash: string | null
  createdAt: number
  expiresAt: number
}

/** Locks in the same order as the deletion of an account or a file: the user, the bucket, the entry. */
const sharer = (db: Db) => `user u ${db.dialect === 'mysql' ? 'STRAIGHT_JOIN' : 'CROSS JOIN'} bucket b`

/**
 * Locks the tree of a sharer until the transaction ends, so that no file in it is deleted meanwhile. Returns whether a deleted folder
 * of it is being purged, whose entries are still in the table although they are deleted.
 * @throws UNAUTHENTICATED when the account has ended meanwhile: no share must outlive it
 */
export async function lockForSharing(db: Db, caller: Caller, tx: Tx): Promise<{ purging: boolean }> {
  const [bucket] = await db.rows<{ purging: number }>(
    `SELECT b.purging FROM ${sharer(db)} WHERE u.id = ? AND b.id = ? AND b.user_id = u.id${db.forUpdate}`,
    [caller.userId, caller.bucket.bucketId],
    tx,
  )
  if (!bucket) throw new Unauthenticated()
  return { purging: bucket.purging > 0 }
}

/**
 * Inserts a share of a file of the caller, for one e-mail address or (null) for everyone with the link. Returns false, and inserts nothing,
 * when the file or the account no longer exists.
 * @param tx of a caller who has called lockForSharing and found the file afterwards. Without it, the statement itself excludes a
 *   parallel deletion, and inserts nothing while a folder of the tree is being purged.
 */
export async function insertShare(
  db: Db,
  caller: Caller,
  share: { id: string; entryId: string; recipient: string | null; maxDownloads: number | null } & Terms,
  tx?: Tx,
): Promise<boolean> {
  const { id, entryId, recipient, passwordHash, maxDownloads, createdAt, expiresAt } = share
  const mysql = db.dialect === 'mysql'
  // Shared: deletions and the end of the account wait for it, and shares of one user do not wait for each other.
  const inserted = await db.run(
    `INSERT INTO share (id, entry_id, bucket_id, user_id, recipient, password_hash, max_downloads, downloads, seen_at, created_at, expires_at)
     SELECT ?, e.id, b.id, u.id, ?, ?, ?, 0, NULL, ?, ? FROM ${sharer(db)} ${mysql ? 'STRAIGHT_JOIN' : 'CROSS JOIN'} entry e
     WHERE u.id = ? AND b.id = ? AND b.user_id = u.id AND e.id = ? AND e.bucket_id = b.id${tx ? '' : ' AND b.purging = 0'}${mysql ? ' LOCK IN SHARE MODE' : ''}`,
    [id, recipient, passwordHash, maxDownloads, createdAt, expiresAt, caller.userId, caller.bucket.bucketId, entryId],
    tx,
  )
  return inserted === 1
}
