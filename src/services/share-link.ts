import { z } from 'zod'
import type { Db } from '../../db/index.ts'
import { logSecurityEvent } from '../audit-log.ts'
import type { Caller } from '../auth/caller.ts'
import type { GuessLimiter } from '../auth/guessing.ts'
import type { Passwords } from '../auth/password.ts'
import { mayUsePrivateFiles } from '../auth/scopes.ts'
import { AppError, Forbidden, Unauthenticated } from '../errors.ts'
import type { Log } from '../log.ts'
import { type Mode, parseMode } from '../media.ts'
import { blocksOf } from '../network.ts'
import { hashSecret, type Tokens } from '../tokens.ts'
import type { Delivery, Download, DownloadService } from './download.ts'
import { pathsOfFolders } from './entry-path.ts'
import { shareUseService, usedUp } from './share-use.ts'

export const SHARE_TOKEN = 'share'

/** What a stranger with the link may know before downloading: no address, no owner, no path. */
export interface ShareInfo {
  fileName: string
  fileType: string
  size: number
  expiresAt: number
  passwordProtected: boolean
}

/** What the page of a share shows to a visitor who may see it. */
export interface SharePage extends ShareInfo {
  /** Null for a public share: whoever has the link is not told. */
  sharedBy: { name: string; email: string; verified: boolean } | null
  /** What stands between the visitor and the file. */
  needs: 'sign-in' | 'password' | null
  /** Whether the share ends after some downloads. */
  limited: boolean
  /** Whether the visitor has received it and not seen it yet. */
  unseen: boolean
}

/** Who asks for a shared file, and with what. */
export interface Visitor {
  caller: Caller | null
  /** Client address, for counting guesses. */
  address: string
  /** Of the request. */
  log: Log
  password?: string | null | undefined
  /** What the right password was answered with before. */
  pass?: string | null | undefined
}

export interface ShareRequest extends Visitor {
  mode?: string | null | undefined
  /** False for HEAD: looking is not downloading. */
  counts: boolean
}

/** A share with its file, as whoever opens the link meets it. */
export interface LinkedShare {
  id: string
  userId: string
  sharerName: string
  sharerEmail: string
  /** Null when no provider vouches for the address of the sharer. */
  sharerVerifiedEmail: string | null
  recipient: string | null
  passwordHash: string | null
  maxDownloads: number | null
  downloads: number
  seenAt: number | null
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

/** Who knows the password is not asked for it again on the page, for so long. */
const PASS_SECONDS = 4 * 3600
const PASS = 'share-pass'
const sealedPass = z.object({ share: z.string(), password: z.string() })

const notFound = () =>
  new AppError('SHARE_NOT_FOUND', 'There is nothing behind this link: it was revoked, or the file was deleted.')
const expired = () => new AppError('SHARE_EXPIRED', 'This link has expired. Ask whoever sent it for a new one.')

interface Deps {
  db: Db
  downloads: DownloadService
  tokens: Tokens
  guesses: GuessLimiter
  passwords: Passwords
}

/** What can be done with the token of a share. */
export function shareLinkService({ db, downloads, tokens, guesses, passwords }: Deps) {
  const uses = shareUseService({ db })

  /** The share of a token, whose file is there. */
  async function look(token: string): Promise<LinkedShare | undefined> {
    const id = tokens.read(SHARE_TOKEN, token)
    return id ? lookAt(id) : undefined
  }

  /** One statement; a second one only while a folder of the share's owner is being purged. */
  async function lookAt(id: string): Promise<LinkedShare | undefined> {
    const [share] = await db.rows<LinkedShare>(
      `SELECT s.id, s.user_id AS userId, u.name AS sharerName, u.email AS sharerEmail, u.verified_email AS sharerVerifiedEmail, s.recipient, s.password_hash AS passwordHash,
         s.max_downloads AS maxDownloads, s.downloads, s.seen_at AS seenAt, s.expires_at AS expiresAt, e.name, e.file_type AS fileType, e.total_bytes AS size, e.md5, e.blob_id AS blobId,
         e.parent_id AS parentId, b.root_id AS rootId, b.purging
       FROM share s JOIN entry e ON e.id = s.entry_id JOIN bucket b ON b.id = e.bucket_id JOIN user u ON u.id = s.user_id
       WHERE s.id = ? AND u.status = 'active'`,
      [id],
    )
    const isDoubtful = share !== undefined && share.purging > 0
    const isGone = isDoubtful && (await pathsOfFolders(db, [share.rootId], [share.parentId])).size === 0
    return isGone ? undefined : share
  }

  /** @throws SHARE_NOT_FOUND */
  async function find(token: string): Promise<LinkedShare> {
    const share = await look(token)
    if (!share) throw notFound()
    return share
  }

  function refuseEnded(share: LinkedShare): void {
    if (share.expiresAt <= Date.now()) throw expired()
    if (share.maxDownloads !== null && share.downloads >= share.maxDownloads) throw usedUp()
  }

  /** A pass is for one share and its password: a share that is renewed with another one asks again. */
  const passOf = (id: string, hashed: string) => ({ share: id, password: hashSecret(hashed).toString('base64url') })

  function isPass({ id, passwordHash }: LinkedShare, pass: string | null | undefined): boolean {
    const opened = pass ? tokens.unseal(PASS, pass) : null
    const read = sealedPass.safeParse(opened?.expired ? null : opened?.payload)
    if (!read.success || !passwordHash) return false
    const right = passOf(id, passwordHash)
    return read.data.share === right.share && read.data.password === right.password
  }

  async function checkPassword(share: LinkedShare, visitor: Visitor): Promise<void> {
    const { caller, password, pass, address } = visitor
    const hashed = share.passwordHash
    if (!hashed || isPass(share, pass)) return
    if (!password) throw new AppError('PASSWORD_REQUIRED', 'This link is protected. Send its password.')
    // Who has many links, many addresses or many accounts takes one turn with all of them.
    const networks = blocksOf(address).flatMap(({ name, factor }) => (factor > 0 ? [`network ${name}`] : []))
    const keys = [`sharer ${share.userId}`, ...networks, ...(caller ? [`caller ${caller.userId}`] : [])]
    const right = await guesses
      .attempt(share.id, address, () => passwords.verify(hashed, password, keys))
      .catch((error: unknown) => {
        if (error instanceof AppError && error.code === 'TOO_MANY_ATTEMPTS')
          logSecurityEvent(visitor, 'guesses_blocked', { share_id: share.id })
        throw error
      })
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

  function refuseStrangers(share: LinkedShare, caller: Caller | null): void {
    if (share.recipient === null) return
    if (!caller) throw new Unauthenticated('This file was shared with one person. Sign in to receive it.')
    // What was shared with a person is theirs: a key of a workspace, or one that may not read, opens it no more than their files.
    mayUsePrivateFiles(caller, 'read')
    if (caller.userId !== share.userId && caller.verifiedEmail !== share.recipient)
      throw new Forbidden('This file was shared with somebody else. Sign in with the address that it was shared with.')
  }

  const infoOf = (share: LinkedShare): ShareInfo => ({
    fileName: share.name,
    fileType: share.fileType,
    size: share.size,
    expiresAt: share.expiresAt,
    passwordProtected: share.passwordHash !== null,
  })

  /** Lets in who may have the file. @throws as open() */
  async function admit(share: LinkedShare, visitor: Visitor): Promise<void> {
    refuseStrangers(share, visitor.caller)
    refuseEnded(share)
    await checkPassword(share, visitor)
  }

  return {
    look,
    find,

    /** @throws SHARE_NOT_FOUND, SHARE_EXPIRED, SHARE_USED_UP */
    async info(token: string): Promise<ShareInfo> {
      const share = await find(token)
      refuseEnded(share)
      return infoOf(share)
    },

    /**
     * What a visitor is shown of a share before they take the file. Looking counts as nothing.
     * @throws FORBIDDEN, SHARE_EXPIRED, SHARE_USED_UP
     */
    describe(share: LinkedShare, { caller, pass }: Omit<Visitor, 'address' | 'log'>): SharePage {
      if (caller) refuseStrangers(share, caller)
      refuseEnded(share)
      const direct = share.recipient !== null
      const closed = share.passwordHash !== null && !isPass(share, pass)
      return {
        ...infoOf(share),
        sharedBy:
          direct && caller
            ? { name: share.sharerName, email: share.sharerEmail, verified: share.sharerVerifiedEmail !== null }
            : null,
        needs: direct && !caller ? 'sign-in' : closed ? 'password' : null,
        limited: share.maxDownloads !== null,
        unseen: direct && share.seenAt === null && caller?.verifiedEmail === share.recipient,
      }
    },

    /** What lets a visitor in again who has sent the right password: to this share only, and for a while. @throws as open() */
    async passFor(share: LinkedShare, visitor: Visitor): Promise<string> {
      await admit(share, visitor)
      return tokens.seal(PASS, passOf(share.id, share.passwordHash ?? ''), PASS_SECONDS)
    },

    /**
     * A shared file to be looked at on its page, which is no download. Null where downloads are limited: looking would be a way
     * around the limit.
     * @throws as open()
     */
    async preview(token: string, visitor: Visitor): Promise<{ look: SharePage; delivery: Delivery | null }> {
      const share = await find(token)
      await admit(share, visitor)
      const look = this.describe(share, visitor)
      return { look, delivery: look.limited ? null : downloads.link(share, 'inline').delivery }
    },

    /**
     * A signed address for a shared file; counts as one download.
     * @throws SHARE_NOT_FOUND, UNAUTHENTICATED, FORBIDDEN, INSUFFICIENT_SCOPE, KEY_OUT_OF_BOUNDS, SHARE_EXPIRED, SHARE_USED_UP, PASSWORD_REQUIRED, WRONG_PASSWORD, TOO_MANY_ATTEMPTS, INVALID_MODE
     */
    async open(token: string, request: ShareRequest): Promise<Download> {
      const mode: Mode = parseMode(request.mode ?? undefined)
      const share = await find(token)
      await admit(share, request)
      if (request.counts) await count(share)
      const download = downloads.link(share, mode, { id: share.id, limited: share.maxDownloads !== null })
      // Whoever only looks must not get an address that works, or a limit would be none.
      return request.counts || downloads.proxied || share.maxDownloads === null ? download : { ...download, url: '' }
    },

    /**
     * The delivery behind a signed address of this service. An address that a share has handed out ends with the share, and is one
     * download of it.
     * @throws TOKEN_NOT_FOUND, SHARE_NOT_FOUND, SHARE_EXPIRED
     */
    async openAddress(token: string): Promise<Delivery> {
      const { delivery, grant } = downloads.open(token)
      if (!grant) return delivery
      const share = await lookAt(grant.share)
      if (share?.blobId !== delivery.blobId) throw notFound()
      if (share.expiresAt <= Date.now()) throw expired()
      return grant.use ? { ...delivery, meter: uses.meter(grant.use, delivery.size) } : delivery
    },
  }
}

export type ShareLinkService = ReturnType<typeof shareLinkService>
