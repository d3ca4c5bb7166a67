import type { Tx } from '../../../db/index.ts'
import { countDownload, findShare, type LinkedShare, lockShare } from '../../../db/queries/share.ts'
import type { Caller } from '../../access/caller.ts'
import type { GuessLimiter } from '../../access/guessing.ts'
import type { Passwords } from '../../access/password.ts'
import { mayUsePrivateFiles } from '../../access/scopes.ts'
import { AppError, Forbidden, Unauthenticated } from '../../runtime/errors.ts'
import { type Mode, parseMode } from '../../values/media.ts'
import type { ZipService } from '../archives/zip.ts'
import type { Core } from '../core.ts'
import type { ShareEventService, ShareUser } from '../history/share-event.ts'
import type { EntryListService } from '../tree/entry-list.ts'
import type { ListingService } from '../tree/listing.ts'
import type { PreviewService } from '../tree/preview.ts'
import {
  type Delivery,
  type Download,
  type DownloadService,
  type Grant,
  grantOf,
} from './download.ts'
import { linkPasswords, type PasswordGiven } from './link-password.ts'
import { infoOf, type ShareInfo, type SharePage } from './share-info.ts'
import { keyTypes, type SharedLevel, type SharedListArgs } from './share-listing.ts'
import type { ShareNoticeService } from './share-notice.ts'
import { sharePictures, showsPictures } from './share-picture.ts'
import { type SeenEntry, shareTree } from './share-tree.ts'
import { shareUseService, usedUp } from './share-use.ts'

export const SHARE_TOKEN = 'share'

/** The client that requests a shared file, and its credentials. */
export interface Visitor extends ShareUser, PasswordGiven {}

export interface ShareRequest extends Visitor {
  mode?: string | null | undefined
  /** In a shared folder, the path of an entry below it. */
  path?: string | null | undefined
  /** Several paths instead, which are sent as one archive, like a folder. */
  paths?: readonly string[] | null | undefined
  /** Whether the request counts as a download: false for HEAD. */
  counts: boolean
}

export const shareNotFound = () =>
  new AppError(
    'SHARE_NOT_FOUND',
    'This link does not work: the share was revoked, or what it shared was deleted.',
  )
const viewOnly = () =>
  new Forbidden(
    'This link is for viewing files on its page, not for downloading them. Ask its sender for a copy.',
  )
export const shareExpired = () =>
  new AppError('SHARE_EXPIRED', 'This link has expired. Ask its sender for a new one.')

interface Deps extends Core<'db' | 'tokens'> {
  listings: ListingService
  entryLists: EntryListService
  shareEvents: ShareEventService
  shareNotices: ShareNoticeService
  downloads: DownloadService
  zips: ZipService
  guesses: GuessLimiter
  passwords: Passwords
  previews: PreviewService
}

/** Operations on the token of a share link. */
export function shareLinkService({
  db,
  tokens,
  listings,
  entryLists,
  downloads,
  zips,
  ...deps
}: Deps) {
  const { shareEvents, shareNotices, guesses, passwords, previews } = deps
  const uses = shareUseService({ db })
  const protection = linkPasswords({ tokens, guesses, passwords, purpose: 'share-pass' })
  const tree = shareTree(db, listings, entryLists)
  const pictures = sharePictures(previews)

  /** The id in a token, whether or not the share exists. Null if the token is malformed. */
  const idOf = (token: string): string | null => tokens.read(SHARE_TOKEN, token) ?? null

  /**
   * The share of a token; undefined when the token is invalid, or the share or its entry is
   * deleted.
   */
  async function findByToken(token: string): Promise<LinkedShare | undefined> {
    const id = idOf(token)
    return id ? findShare(db, id) : undefined
  }

  /** @throws SHARE_NOT_FOUND */
  async function find(token: string): Promise<LinkedShare> {
    const share = await findByToken(token)
    if (!share) throw shareNotFound()
    return share
  }

  function refuseExpired({ expiresAt }: LinkedShare): void {
    if (expiresAt !== null && expiresAt <= Date.now()) throw shareExpired()
  }

  function refuseEnded(share: LinkedShare): void {
    refuseExpired(share)
    if (share.maxDownloads !== null && share.downloads >= share.maxDownloads) throw usedUp()
  }

  const checkPassword = (share: LinkedShare, visitor: Visitor): Promise<void> =>
    protection.check(share, visitor, () => shareEvents.note(share.id, 'refused', visitor))

  function refuseStrangers(share: LinkedShare, caller: Caller | null): void {
    if (share.recipient === null) return
    if (!caller)
      throw new Unauthenticated('This was shared with one person. Sign in to receive it.')
    // A direct share is a private file of its recipient: a workspace key, or a key without the
    // scope to read, may not open it.
    mayUsePrivateFiles(caller, 'read')
    if (caller.userId !== share.userId && caller.verifiedEmail !== share.recipient)
      throw new Forbidden(
        'This was shared with another person. Sign in with the e-mail address that it was shared with.',
      )
  }

  /**
   * Checks the recipient, the expiry and the password.
   * @throws the errors of open()
   */
  async function admit(share: LinkedShare, visitor: Visitor): Promise<void> {
    refuseStrangers(share, visitor.caller)
    refuseEnded(share)
    await checkPassword(share, visitor)
  }

  /**
   * Counts and records a download.
   * @throws SHARE_USED_UP
   */
  async function count(share: LinkedShare, user: ShareUser): Promise<void> {
    const { id, maxDownloads } = share
    if (maxDownloads !== null || !(await shareEvents.noteDownload(id, user))) {
      if (!(await countDownload(db, id))) throw usedUp()
      await shareEvents.note(id, 'downloaded', user)
    }
    await shareNotices.noteUse(share, user)
  }

  /** Records that a visitor views a share. */
  async function noteOpened(share: LinkedShare, user: ShareUser): Promise<void> {
    await shareEvents.note(share.id, 'opened', user)
    await shareNotices.noteUse(share, user)
  }

  /**
   * The share under which a signed URL was issued.
   * @throws SHARE_NOT_FOUND, SHARE_EXPIRED, FORBIDDEN
   */
  async function requireGrant({ share: id }: Grant): Promise<LinkedShare> {
    const share = await findShare(db, id)
    if (!share) throw shareNotFound()
    refuseExpired(share)
    if (!share.allowDownload) throw viewOnly()
    return share
  }

  const metered = (delivery: Delivery, grant: Grant | undefined): Delivery =>
    grant?.use ? { ...delivery, meter: uses.meter(grant.use, delivery.size) } : delivery

  return {
    idOf,
    findByToken,
    find,
    noteOpened,
    keyTypes,
    showsPictures,

    /** @throws SHARE_NOT_FOUND, SHARE_EXPIRED, SHARE_USED_UP */
    async info(token: string, user: ShareUser & { looksOnly: boolean }): Promise<ShareInfo> {
      const share = await find(token)
      refuseEnded(share)
      if (!user.looksOnly) await noteOpened(share, user)
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
      const closed = share.passwordHash !== null && !protection.isPass(share, pass)
      return {
        ...infoOf(share),
        isPublic: !direct,
        title: share.title,
        message: share.message,
        sharedBy:
          direct && !caller
            ? null
            : {
                name: share.sharerName,
                email: direct ? share.sharerEmail : '',
                verified: !direct || share.sharerVerifiedEmail !== null,
              },
        needs: direct && !caller ? 'sign-in' : closed ? 'password' : null,
        limited: share.maxDownloads !== null && share.allowDownload !== 0,
        unseen: direct && share.seenAt === null && caller?.verifiedEmail === share.recipient,
      }
    },

    /**
     * A sealed token that replaces the password of this share for four hours.
     * @throws the errors of open()
     */
    async passFor(share: LinkedShare, visitor: Visitor): Promise<string> {
      await admit(share, visitor)
      return protection.passFor(share)
    },

    /**
     * Counts a download in a transaction that keeps the share unchanged until it ends.
     * @param pass replaces the password, which takes too long to check in a transaction
     * @throws the errors of open()
     */
    async take(
      id: string,
      { pass, ...user }: ShareUser & { pass: string },
      tx: Tx,
    ): Promise<LinkedShare> {
      await lockShare(db, id, tx)
      const share = await findShare(db, id, tx)
      if (!share) throw shareNotFound()
      await admit(share, { ...user, pass })
      if (!share.allowDownload) throw viewOnly()
      await countDownload(db, id, tx)
      return share
    },

    copied: tree.copied,

    /**
     * The ids of the entries of a share that are still visible to a caller who took it earlier.
     * @throws SHARE_NOT_FOUND, SHARE_EXPIRED, FORBIDDEN
     */
    async requireStill(id: string, caller: Caller, tx: Tx): Promise<string[]> {
      const share = await findShare(db, id, tx)
      if (!share) throw shareNotFound()
      refuseStrangers(share, caller)
      refuseExpired(share)
      if (!share.allowDownload) throw viewOnly()
      return tree.roots(share, tx)
    },

    /**
     * A page of a list.
     * @throws FOLDER_NOT_FOUND, INVALID_PATH, INVALID_INPUT, UNAVAILABLE, and the errors of open()
     */
    async list(token: string, visitor: Visitor, asked: SharedListArgs): Promise<SharedLevel> {
      const share = await find(token)
      await admit(share, visitor)
      const level = await tree.list(share, asked, visitor.address)
      return { ...level, entries: await pictures.of(share, level.entries) }
    },

    /**
     * The thumbnail of a file, for pages and lists. Like all contents of a share, it is looked up
     * at each request; it does not count as a download.
     * @returns null if there is none, or the share shows none
     * @throws the errors of open()
     */
    async picture(
      token: string,
      visitor: Visitor,
      path: string | null,
      version: string,
    ): Promise<Delivery | null> {
      const share = await find(token)
      await admit(share, visitor)
      return pictures.open(share, await tree.file(share, path), version)
    },

    /**
     * The entry at a path of a share, or null. Does not count as a download.
     * @throws INVALID_PATH, and the errors of open()
     */
    async look(token: string, visitor: Visitor, path: string): Promise<SeenEntry | null> {
      const share = await find(token)
      await admit(share, visitor)
      return tree.at(share, path)
    },

    /**
     * The page of a share with a preview of its file. Does not count as a download. The delivery is
     * null if downloads are limited, because a preview would bypass the limit. If downloads are not
     * allowed at all, there is a preview.
     * @throws the errors of open()
     */
    async preview(
      token: string,
      visitor: Visitor,
      path?: string | null,
    ): Promise<{ look: SharePage; delivery: Delivery | null }> {
      const share = await find(token)
      await admit(share, visitor)
      const file = await tree.file(share, path)
      const shown = { fileName: file.name, fileType: file.fileType, size: file.size }
      const look = { ...this.describe(share, visitor), ...shown }
      return { look, delivery: look.limited ? null : downloads.delivery(file, 'inline') }
    },

    /**
     * A signed URL for a shared file, or for an archive of a shared folder or entries in it. Counts
     * as one download.
     * @throws SHARE_NOT_FOUND, UNAUTHENTICATED, FORBIDDEN, INSUFFICIENT_SCOPE, KEY_OUT_OF_BOUNDS,
     * SHARE_EXPIRED, SHARE_USED_UP, PASSWORD_REQUIRED, WRONG_PASSWORD, TOO_MANY_ATTEMPTS,
     * INVALID_MODE, FILE_NOT_FOUND, INVALID_PATH, INVALID_INPUT
     */
    async open(token: string, request: ShareRequest): Promise<Download> {
      const mode: Mode = parseMode(request.mode ?? undefined)
      const share = await find(token)
      await admit(share, request)
      if (!share.allowDownload) throw viewOnly()
      const limited = share.maxDownloads !== null
      const { file, archive } = await tree.target(share, request)
      const grant = grantOf({ id: share.id, limited }, file?.below)
      const download = archive
        ? await zips.link(archive.tree, archive.named, {
            ...archive.naming,
            top: share.name,
            grant,
          })
        : await downloads.link(file, mode, grant)
      if (request.counts) await count(share, request)
      // HEAD must not return a working URL of the store, which would bypass the limit.
      return request.counts || downloads.proxied || share.maxDownloads === null
        ? download
        : { ...download, url: '' }
    },

    /**
     * The delivery behind a signed URL of this service: a file or an archive. A URL issued by a
     * share expires with the share, and counts as one download of it.
     * @throws TOKEN_NOT_FOUND, SHARE_NOT_FOUND, SHARE_EXPIRED
     */
    async openAddress(token: string): Promise<Delivery> {
      const zip = zips.unseal(token)
      if (zip) {
        const names =
          zip.grant && (await tree.names(await requireGrant(zip.grant), zips.idsOf(zip)))
        if (names === null) throw shareNotFound()
        return metered(await zips.open(zip, names), zip.grant)
      }
      const { delivery, blobId, grant } = downloads.open(token)
      if (grant && (await tree.blobOf(await requireGrant(grant), grant.file ?? null)) !== blobId)
        throw shareNotFound()
      return metered(delivery, grant)
    },
  }
}

export type ShareLinkService = ReturnType<typeof shareLinkService>
