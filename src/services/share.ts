import { v7 as newId } from 'uuid'
import type { Db, Value } from '../../db/index.ts'
import type { GuessLimiter } from '../auth/guessing.ts'
import { hashPassword, parsePassword, verifyPassword } from '../auth/password.ts'
import type { Viewer } from '../auth/viewer.ts'
import { parseDuration } from '../duration.ts'
import { AppError, Forbidden, InvalidInput, Unauthenticated } from '../errors.ts'
import { type Mode, parseMode } from '../media.ts'
import { parseFilePath } from '../paths.ts'
import type { Tokens } from '../tokens.ts'
import type { Download, DownloadService } from './download.ts'
import { pathsOfFolders } from './entry.ts'
import type { FileService } from './file.ts'

/** A public share just made. */
export interface PublicShare {
  token: string
  link: string
  expiresAt: number
}

/** What a stranger with the link may know before downloading: no address, no owner, no path. */
export interface ShareInfo {
  fileName: string
  fileType: string
  size: number
  expiresAt: number
  passwordProtected: boolean
}

/** A share as its sharer sees it. Times in milliseconds, size in bytes. */
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
  bucketId: string
  rootId: string
}

/** Who asks for a shared file, and with what. */
export interface ShareRequest {
  viewer: Viewer | null
  /** Client address, for counting guesses. */
  address: string
  password?: string | null | undefined
  mode?: string | null | undefined
  /** False for HEAD: looking is not downloading. */
  counts: boolean
}

interface ShareRow {
  id: string
  userId: string
  recipient: string | null
  passwordHash: string | null
  maxDownloads: number | null
  downloads: number
  expiresAt: number
  name: string
  fileType: string
  size: number
  md5: string
  blobId: string
  parentId: string
  bucketId: string
  rootId: string
  purging: number
}

interface Deps {
  db: Db
  files: FileService
  downloads: DownloadService
  tokens: Tokens
  guesses: GuessLimiter
  publicUrl: () => string
}

const notFound = () =>
  new AppError('SHARE_NOT_FOUND', 'There is nothing behind this link: it was revoked, or the file was deleted.')
const PURPOSE = 'share'

export function shareService({ db, files, downloads, tokens, guesses, publicUrl }: Deps) {
  /** The share of a token, whose file is there. One statement; a second one only while a folder of its owner is being purged. */
  async function find(token: string): Promise<ShareRow> {
    const id = tokens.read(PURPOSE, token)
    if (!id) throw notFound()
    const [share] = await db.rows<ShareRow>(
      `SELECT s.id, s.user_id AS userId, s.recipient, s.password_hash AS passwordHash, s.max_downloads AS maxDownloads, s.downloads,
         s.expires_at AS expiresAt, e.name, e.file_type AS fileType, e.total_bytes AS size, e.md5, e.blob_id AS blobId,
         e.parent_id AS parentId, b.id AS bucketId, b.root_id AS rootId, b.purging
       FROM share s JOIN entry e ON e.id = s.entry_id JOIN bucket b ON b.id = e.bucket_id JOIN user u ON u.id = s.user_id
       WHERE s.id = ? AND u.status = 'active'`,
      [id],
    )
    if (!share) throw notFound()
    if (share.purging > 0 && (await pathsOfFolders(db, [share.rootId], [share.parentId])).size === 0) throw notFound()
    return share
  }

  function refuseEnded(share: ShareRow): void {
    if (share.expiresAt <= Date.now())
      throw new AppError('SHARE_EXPIRED', 'This link has expired. Ask whoever sent it for a new one.')
    if (share.maxDownloads !== null && share.downloads >= share.maxDownloads) throw usedUp()
  }

  async function checkPassword(share: ShareRow, { password, address }: ShareRequest): Promise<void> {
    const hashed = share.passwordHash
    if (!hashed) return
    if (!password) throw new AppError('PASSWORD_REQUIRED', 'This link is protected. Send its password.')
    const right = await guesses.attempt(share.id, address, () => verifyPassword(hashed, password))
    if (!right) throw new AppError('WRONG_PASSWORD', 'This is not the password of this link. Check it and try again.')
  }

  /** Exact under parallel downloads: the row itself decides. */
  async function count(share: ShareRow): Promise<void> {
    const changed = await db.run(
      'UPDATE share SET downloads = downloads + 1 WHERE id = ? AND (max_downloads IS NULL OR downloads < max_downloads)',
      [share.id],
    )
    if (changed === 0) throw usedUp()
  }

  function refuseStrangers(share: ShareRow, viewer: Viewer | null): void {
    if (share.recipient === null) return
    if (!viewer) throw new Unauthenticated('This file was shared with one person. Sign in to receive it.')
    if (viewer.userId !== share.userId && viewer.verifiedEmail !== share.recipient)
      throw new Forbidden('This file was shared with somebody else. Sign in with the address that it was shared with.')
  }

  const linkOf = (token: string) => `${publicUrl()}/share/${token}`

  /** Live shares with their paths: one statement for the rows, one for all paths. */
  async function listed(where: string, values: Value[], limit: number): Promise<ShareView[]> {
    const rows = await db.rows<ListedRow>(
      `SELECT s.id, s.entry_id AS fileId, e.file_type AS fileType, e.total_bytes AS size, e.md5, u.email AS sharedBy,
         COALESCE(s.recipient, '') AS sharedFor, s.created_at AS createdAt, s.expires_at AS expiresAt, s.seen_at AS seenAt,
         s.password_hash AS passwordHash, s.downloads, s.max_downloads AS maxDownloads, e.name, e.parent_id AS parentId,
         b.id AS bucketId, b.root_id AS rootId
       FROM share s JOIN entry e ON e.id = s.entry_id JOIN bucket b ON b.id = e.bucket_id JOIN user u ON u.id = s.user_id
       WHERE ${where} AND s.expires_at > ? AND (s.max_downloads IS NULL OR s.downloads < s.max_downloads)
         AND u.status = 'active' ORDER BY s.id LIMIT ${limit}`,
      [...values, Date.now()],
    )
    const folders = await pathsOfFolders(
      db,
      rows.map(r => r.rootId),
      rows.map(r => r.parentId),
    )
    return rows.flatMap(row => {
      const folder = folders.get(row.parentId)
      if (!folder) return []
      const { name, parentId: _parent, bucketId: _bucket, rootId: _root, seenAt, passwordHash, ...share } = row
      const token = tokens.derive(PURPOSE, row.id)
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
  }

  return {
    /** The live shares that a user has made, oldest first. */
    async sentBy(viewer: Viewer, limit: number, after: string | null): Promise<{ rows: ShareView[]; more: boolean }> {
      const rows = await listed('s.user_id = ? AND s.id > ?', [viewer.userId, after ?? ''], limit + 1)
      const more = rows.length > limit
      if (more) rows.pop()
      return { rows, more }
    },

    /** A live share of the caller's by its id. */
    async byId(viewer: Viewer, id: string): Promise<ShareView | null> {
      const [share] = await listed('s.user_id = ? AND s.id = ?', [viewer.userId, id], 1)
      return share ?? null
    },

    /** Makes a public share of one file. @throws FILE_NOT_FOUND, INVALID_PATH, INVALID_DURATION, INVALID_INPUT */
    async createPublic(
      viewer: Viewer,
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
      const { node } = await files.locate(viewer.bucket, names)
      const passwordHash = password === null ? null : await hashPassword(password)
      const id = newId()
      await db.run(
        `INSERT INTO share (id, entry_id, bucket_id, user_id, recipient, password_hash, max_downloads, downloads, seen_at, created_at, expires_at)
         VALUES (?, ?, ?, ?, NULL, ?, ?, 0, NULL, ?, ?)`,
        [id, node.id, viewer.bucket.bucketId, viewer.userId, passwordHash, maxDownloads, now, expiresAt],
      )
      const token = tokens.derive(PURPOSE, id)
      return { token, link: linkOf(token), expiresAt }
    },

    /** @throws SHARE_NOT_FOUND, SHARE_EXPIRED, SHARE_USED_UP */
    async info(token: string): Promise<ShareInfo> {
      const share = await find(token)
      refuseEnded(share)
      return {
        fileName: share.name,
        fileType: share.fileType,
        size: share.size,
        expiresAt: share.expiresAt,
        passwordProtected: share.passwordHash !== null,
      }
    },

    /**
     * A signed address for a shared file; counts as one download.
     * @throws SHARE_NOT_FOUND, UNAUTHENTICATED, FORBIDDEN, SHARE_EXPIRED, SHARE_USED_UP, PASSWORD_REQUIRED, WRONG_PASSWORD, TOO_MANY_ATTEMPTS, INVALID_MODE
     */
    async open(token: string, request: ShareRequest): Promise<Download> {
      const mode: Mode = parseMode(request.mode ?? undefined)
      const share = await find(token)
      refuseStrangers(share, request.viewer)
      refuseEnded(share)
      await checkPassword(share, request)
      if (request.counts) await count(share)
      return downloads.link(share, mode)
    },

    /** Ends a share, for good. Only its sharer may. @throws SHARE_NOT_FOUND, FORBIDDEN */
    async revoke(viewer: Viewer, token: string): Promise<string> {
      const share = await find(token)
      if (share.userId !== viewer.userId)
        throw new Forbidden('Only the person who shared this file can revoke the link.')
      await db.run('DELETE FROM share WHERE id = ?', [share.id])
      return token
    },
  }
}

const usedUp = () =>
  new AppError('SHARE_USED_UP', 'This link has been used as often as it may be. Ask whoever sent it for a new one.')

export type ShareService = ReturnType<typeof shareService>
