import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { countDownload, findShare, type LinkedShare } from '../../../db/queries/share.ts'
import type { Caller } from '../../access/caller.ts'
import type { GuessLimiter } from '../../access/guessing.ts'
import type { Passwords } from '../../access/password.ts'
import { mayUsePrivateFiles } from '../../access/scopes.ts'
import { logSecurityEvent } from '../../audit-log.ts'
import { AppError, Forbidden, Unauthenticated } from '../../errors.ts'
import { type Mode, parseMode } from '../../media.ts'
import { blocksOf } from '../../network.ts'
import { hashSecret } from '../../tokens.ts'
import type { Core } from '../core.ts'
import type { ShareEventService, ShareUser } from '../history/share-event.ts'
import type { Delivery, Download, DownloadService } from './download.ts'
import { shareUseService, usedUp } from './share-use.ts'

export const SHARE_TOKEN = 'share'

/** The details that anyone with the link may read before downloading: no e-mail address, no owner, no path. */
export interface ShareInfo {
  fileName: string
  fileType: string
  size: number
  expiresAt: number
  passwordProtected: boolean
}

/** The details that the page of a share shows to a visitor who may see it. */
export interface SharePage extends ShareInfo {
  /** Null for a public share, which does not reveal its owner. */
  sharedBy: { name: string; email: string; verified: boolean } | null
  /** What the visitor has to do before downloading; null when nothing is left to do. */
  needs: 'sign-in' | 'password' | null
  /** Whether the share ends after some downloads. */
  limited: boolean
  /** Whether the visitor is its recipient and has not opened it yet. */
  unseen: boolean
}

/** The client that requests a shared file, and its credentials. */
export interface Visitor extends ShareUser {
  password?: string | null | undefined
  /** The pass that an earlier request with the right password received (see passFor). */
  pass?: string | null | undefined
}

export interface ShareRequest extends Visitor {
  mode?: string | null | undefined
  /** Whether the request counts as a download: false for HEAD. */
  counts: boolean
}

/** How long the page of a share does not request the password again. */
const PASS_SECONDS = 4 * 3600
const PASS = 'share-pass'
const sealedPass = z.object({ share: z.string(), password: z.string() })

export const shareNotFound = () =>
  new AppError('SHARE_NOT_FOUND', 'This link does not work: the share was revoked, or the file was deleted.')
const expired = () => new AppError('SHARE_EXPIRED', 'This link has expired. Ask its sender for a new one.')

interface Deps extends Core<'db' | 'tokens'> {
  shareEvents: ShareEventService
  downloads: DownloadService
  guesses: GuessLimiter
  passwords: Passwords
}

/** Operations on the token of a share link. */
export function shareLinkService({ db, shareEvents, downloads, tokens, guesses, passwords }: Deps) {
  const uses = shareUseService({ db })

  /** The share of a token; undefined when the token is invalid, or the share or its file is deleted. */
  async function findByToken(token: string): Promise<LinkedShare | undefined> {
    const id = tokens.read(SHARE_TOKEN, token)
    return id ? findShare(db, id) : undefined
  }

  /** @throws SHARE_NOT_FOUND */
  async function find(token: string): Promise<LinkedShare> {
    const share = await findByToken(token)
    if (!share) throw shareNotFound()
    return share
  }

  function refuseEnded(share: LinkedShare): void {
    if (share.expiresAt <= Date.now()) throw expired()
    if (share.maxDownloads !== null && share.downloads >= share.maxDownloads) throw usedUp()
  }

  /** A pass is bound to one share and its password: when the password changes, it becomes invalid. */
  const passOf = (id: string, hashed: string) => ({ share: id, password: hashSecret(hashed).toString('base64url') })

  function isPass({ id, passwordHash }: LinkedShare, pass: string | null | undefined): boolean {
    const opened = tokens.open(sealedPass, PASS, pass)
    return opened !== null && passwordHash !== null && isDeepStrictEqual(opened, passOf(id, passwordHash))
  }

  async function checkPassword(share: LinkedShare, visitor: Visitor): Promise<void> {
    const { caller, password, pass, address } = visitor
    const hashed = share.passwordHash
    if (!hashed || isPass(share, pass)) return
    if (!password) throw new AppError('PASSWORD_REQUIRED', 'This link is protected. Send its password.')
    // Hashing is queued per key, so that a client with many links, IP addresses or accounts still gets one turn at a time.
    const networks = blocksOf(address).flatMap(({ name, factor }) => (factor > 0 ? [`network ${name}`] : []))
    const keys = [`sharer ${share.userId}`, ...networks, ...(caller ? [`caller ${caller.userId}`] : [])]
    const right = await guesses
      .attempt(share.id, address, () => passwords.verify(hashed, password, keys))
      .catch((error: unknown) => {
        if (error instanceof AppError && error.code === 'TOO_MANY_ATTEMPTS')
          logSecurityEvent(visitor, 'guesses_blocked', { share_id: share.id })
        throw error
      })
    if (right) return
    await shareEvents.note(share.id, 'refused', visitor)
    throw new AppError('WRONG_PASSWORD', 'This is not the password of this link. Check it and try again.')
  }

  function refuseStrangers(share: LinkedShare, caller: Caller | null): void {
    if (share.recipient === null) return
    if (!caller) throw new Unauthenticated('This file was shared with one person. Sign in to receive it.')
    // A direct share is a private file of its recipient: a workspace key, or a key without the scope to read, may not open it.
    mayUsePrivateFiles(caller, 'read')
    if (caller.userId !== share.userId && caller.verifiedEmail !== share.recipient)
      throw new Forbidden(
        'This file was shared with another person. Sign in with the e-mail address that it was shared with.',
      )
  }

  const infoOf = (share: LinkedShare): ShareInfo => ({
    fileName: share.name,
    fileType: share.fileType,
    size: share.size,
    expiresAt: share.expiresAt,
    passwordProtected: share.passwordHash !== null,
  })

  /** Checks the recipient, the end of the share and its password. @throws as open() */
  async function admit(share: LinkedShare, visitor: Visitor): Promise<void> {
    refuseStrangers(share, visitor.caller)
    refuseEnded(share)
    await checkPassword(share, visitor)
  }

  /** Counts and notes a download. @throws SHARE_USED_UP */
  async function count({ id, maxDownloads }: LinkedShare, user: ShareUser): Promise<void> {
    if (maxDownloads === null && (await shareEvents.noteDownload(id, user))) return
    if (!(await countDownload(db, id))) throw usedUp()
    await shareEvents.note(id, 'downloaded', user)
  }

  return {
    findByToken,
    find,

    /** @throws SHARE_NOT_FOUND, SHARE_EXPIRED, SHARE_USED_UP */
    async info(token: string, user: ShareUser & { looksOnly: boolean }): Promise<ShareInfo> {
      const share = await find(token)
      refuseEnded(share)
      if (!user.looksOnly) await shareEvents.note(share.id, 'opened', user)
      return infoOf(share)
    },

    /**
     * The details of a share for its page. Does not count as a download.
     * @throws FORBIDDEN, SHARE_EXPIRED, SHARE_USED_UP
     */
    describe(share: LinkedShare, { caller, pass }: Pick<Visitor, 'caller' | 'pass'>): SharePage {
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

    /** A sealed token that replaces the password of this share for four hours. @throws as open() */
    async passFor(share: LinkedShare, visitor: Visitor): Promise<string> {
      await admit(share, visitor)
      return tokens.seal(PASS, passOf(share.id, share.passwordHash ?? ''), PASS_SECONDS)
    },

    /**
     * The page of a share with a preview of its file, which does not count as a download. The delivery is null where downloads are
     * limited, because a preview would bypass the limit.
     * @throws as open()
     */
    async preview(token: string, visitor: Visitor): Promise<{ look: SharePage; delivery: Delivery | null }> {
      const share = await find(token)
      await admit(share, visitor)
      const look = this.describe(share, visitor)
      return { look, delivery: look.limited ? null : downloads.link(share, 'inline').delivery }
    },

    /**
     * A signed URL for a shared file; counts as one download.
     * @throws SHARE_NOT_FOUND, UNAUTHENTICATED, FORBIDDEN, INSUFFICIENT_SCOPE, KEY_OUT_OF_BOUNDS, SHARE_EXPIRED, SHARE_USED_UP, PASSWORD_REQUIRED, WRONG_PASSWORD, TOO_MANY_ATTEMPTS, INVALID_MODE
     */
    async open(token: string, request: ShareRequest): Promise<Download> {
      const mode: Mode = parseMode(request.mode ?? undefined)
      const share = await find(token)
      await admit(share, request)
      if (request.counts) await count(share, request)
      const download = downloads.link(share, mode, { id: share.id, limited: share.maxDownloads !== null })
      // HEAD must not return a working URL of the store, which would bypass the limit.
      return request.counts || downloads.proxied || share.maxDownloads === null ? download : { ...download, url: '' }
    },

    /**
     * The delivery behind a signed URL of this service. A URL that a share has issued expires with the share, and counts as one
     * download of it.
     * @throws TOKEN_NOT_FOUND, SHARE_NOT_FOUND, SHARE_EXPIRED
     */
    async openAddress(token: string): Promise<Delivery> {
      const { delivery, grant } = downloads.open(token)
      if (!grant) return delivery
      const share = await findShare(db, grant.share)
      if (share?.blobId !== delivery.blobId) throw shareNotFound()
      if (share.expiresAt <= Date.now()) throw expired()
      return grant.use ? { ...delivery, meter: uses.meter(grant.use, delivery.size) } : delivery
    },
  }
}

export type ShareLinkService = ReturnType<typeof shareLinkService>
