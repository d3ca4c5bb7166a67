import type { Db } from '../../db/index.ts'
import type { GuessLimiter } from '../auth/guessing.ts'
import { verifyPassword } from '../auth/password.ts'
import { mayUsePrivateFiles } from '../auth/scopes.ts'
import type { Viewer } from '../auth/viewer.ts'
import { AppError, Forbidden, Unauthenticated } from '../errors.ts'
import { type Mode, parseMode } from '../media.ts'
import type { Tokens } from '../tokens.ts'
import type { Download, DownloadService } from './download.ts'
import { pathsOfFolders } from './entry-path.ts'

export const SHARE_TOKEN = 'share'

/** What a stranger with the link may know before downloading: no address, no owner, no path. */
export interface ShareInfo {
  fileName: string
  fileType: string
  size: number
  expiresAt: number
  passwordProtected: boolean
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

/** A share with its file, as whoever opens the link meets it. */
export interface LinkedShare {
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
  rootId: string
  purging: number
}

const notFound = () =>
  new AppError('SHARE_NOT_FOUND', 'There is nothing behind this link: it was revoked, or the file was deleted.')
const usedUp = () =>
  new AppError('SHARE_USED_UP', 'This link has been used as often as it may be. Ask whoever sent it for a new one.')

interface Deps {
  db: Db
  downloads: DownloadService
  tokens: Tokens
  guesses: GuessLimiter
}

/** What can be done with the token of a share. */
export function shareLinkService({ db, downloads, tokens, guesses }: Deps) {
  /**
   * The share of a token, whose file is there. One statement; a second one only while a folder of its owner is being purged.
   * @throws SHARE_NOT_FOUND
   */
  async function find(token: string): Promise<LinkedShare> {
    const id = tokens.read(SHARE_TOKEN, token)
    if (!id) throw notFound()
    const [share] = await db.rows<LinkedShare>(
      `SELECT s.id, s.user_id AS userId, s.recipient, s.password_hash AS passwordHash, s.max_downloads AS maxDownloads, s.downloads,
         s.expires_at AS expiresAt, e.name, e.file_type AS fileType, e.total_bytes AS size, e.md5, e.blob_id AS blobId,
         e.parent_id AS parentId, b.root_id AS rootId, b.purging
       FROM share s JOIN entry e ON e.id = s.entry_id JOIN bucket b ON b.id = e.bucket_id JOIN user u ON u.id = s.user_id
       WHERE s.id = ? AND u.status = 'active'`,
      [id],
    )
    if (!share) throw notFound()
    const isGone = share.purging > 0 && (await pathsOfFolders(db, [share.rootId], [share.parentId])).size === 0
    if (isGone) throw notFound()
    return share
  }

  function refuseEnded(share: LinkedShare): void {
    if (share.expiresAt <= Date.now())
      throw new AppError('SHARE_EXPIRED', 'This link has expired. Ask whoever sent it for a new one.')
    if (share.maxDownloads !== null && share.downloads >= share.maxDownloads) throw usedUp()
  }

  async function checkPassword(share: LinkedShare, { password, address }: ShareRequest): Promise<void> {
    const hashed = share.passwordHash
    if (!hashed) return
    if (!password) throw new AppError('PASSWORD_REQUIRED', 'This link is protected. Send its password.')
    const right = await guesses.attempt(share.id, address, () => verifyPassword(hashed, password))
    if (!right) throw new AppError('WRONG_PASSWORD', 'This is not the password of this link. Check it and try again.')
  }

  /** Exact under parallel downloads: the row itself decides. */
  async function count(share: LinkedShare): Promise<void> {
    const changed = await db.run(
      'UPDATE share SET downloads = downloads + 1 WHERE id = ? AND (max_downloads IS NULL OR downloads < max_downloads)',
      [share.id],
    )
    if (changed === 0) throw usedUp()
  }

  function refuseStrangers(share: LinkedShare, viewer: Viewer | null): void {
    if (share.recipient === null) return
    if (!viewer) throw new Unauthenticated('This file was shared with one person. Sign in to receive it.')
    // What was shared with a person is theirs: a key of a workspace, or one that may not read, opens it no more than their files.
    mayUsePrivateFiles(viewer, 'read')
    if (viewer.userId !== share.userId && viewer.verifiedEmail !== share.recipient)
      throw new Forbidden('This file was shared with somebody else. Sign in with the address that it was shared with.')
  }

  return {
    find,

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
     * @throws SHARE_NOT_FOUND, UNAUTHENTICATED, FORBIDDEN, INSUFFICIENT_SCOPE, KEY_OUT_OF_BOUNDS, SHARE_EXPIRED, SHARE_USED_UP, PASSWORD_REQUIRED, WRONG_PASSWORD, TOO_MANY_ATTEMPTS, INVALID_MODE
     */
    async open(token: string, request: ShareRequest): Promise<Download> {
      const mode: Mode = parseMode(request.mode ?? undefined)
      const share = await find(token)
      refuseStrangers(share, request.viewer)
      refuseEnded(share)
      await checkPassword(share, request)
      if (request.counts) await count(share)
      const download = downloads.link(share, mode)
      // Whoever only looks must not get an address that works, or a limit would be none.
      return request.counts || downloads.proxied || share.maxDownloads === null ? download : { ...download, url: '' }
    },
  }
}

export type ShareLinkService = ReturnType<typeof shareLinkService>
