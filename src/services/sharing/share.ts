import { v7 as newId } from 'uuid'
import type { Db, Tx } from '../../../db/index.ts'
import { deleteShare, insertShare, lockSharer } from '../../../db/queries/share.ts'
import type { Caller } from '../../access/caller.ts'
import { type Passwords, parsePassword } from '../../access/password.ts'
import { parseDuration } from '../../duration.ts'
import { Forbidden, InvalidInput, Unauthenticated } from '../../errors.ts'
import { figure, MAX_DOWNLOADS } from '../../limits.ts'
import { joinPath, parseFilePath } from '../../paths.ts'
import { takeLink } from '../bound.ts'
import type { Core } from '../core.ts'
import { masked } from '../history/event.ts'
import type { FileService } from '../tree/file.ts'
import type { ListingService } from '../tree/listing.ts'
import { SHARE_TOKEN, type ShareLinkService, shareNotFound } from './share-link.ts'
import { type ShareView, shareLists } from './share-list.ts'

/** A new public share. */
export interface PublicShare {
  id: string
  token: string
  link: string
  expiresAt: number
}

/** The terms of a link as they are asked for. */
export interface LinkInput {
  duration?: string | null | undefined
  password?: string | null | undefined
  maxDownloads?: number | null | undefined
}

/** One file of the caller, by its id or by its path. */
export type FileRef = { id: string } | { path: string }

interface Deps extends Core<'db' | 'change' | 'tokens' | 'publicUrl'> {
  files: FileService
  listings: ListingService
  shareLinks: ShareLinkService
  passwords: Passwords
}

export function shareService({ db, change, files, listings, shareLinks, passwords, tokens, publicUrl }: Deps) {
  const tokenOf = (id: string) => tokens.derive(SHARE_TOKEN, id)
  const linkOf = (token: string) => `${publicUrl()}/share/${token}`

  async function create<Found extends { id: string; names: string[] }>(
    caller: Caller,
    input: LinkInput,
    findFile: (tx?: Tx) => Promise<Found>,
  ) {
    const now = Date.now()
    const expiresAt = now + parseDuration(input.duration || '24h', 'duration')
    const maxDownloads = input.maxDownloads ?? null
    if (maxDownloads !== null && (maxDownloads < 1 || maxDownloads > MAX_DOWNLOADS))
      throw new InvalidInput('max_downloads', `A share may allow 1 to ${figure(MAX_DOWNLOADS)} downloads.`)
    const password = input.password ? parsePassword(input.password) : null
    // No hash is made for a file that is not there.
    if (password !== null) await findFile()
    const passwordHash = password === null ? null : await passwords.hash(password, callerKeys(caller))
    const id = newId()
    const owned = { userId: caller.userId, bucketId: caller.bucket.bucketId }
    const share = { id, ...owned, recipient: null, maxDownloads, passwordHash, createdAt: now, expiresAt }
    const file = await change(caller, async ({ tx, record }) => {
      // Locks the tree: what is found in it stays until the transaction ends.
      await takeLink(db, caller, tx)
      const file = await findFile(tx)
      // A share must not outlive its account.
      if (!(await insertShare(db, { ...share, entryId: file.id }, tx))) throw new Unauthenticated()
      const details = { entryId: file.id, path: joinPath(file.names) }
      record(owned.bucketId, { kind: 'share.created', subject: id, details })
      return file
    })
    const token = tokenOf(id)
    return { file, share: { ...share, token, link: linkOf(token) } }
  }

  /**
   * Deletes a share of the caller.
   * @param named with the id, a stranger does not learn that there is such a share; with the token they know
   * @returns its id, and that of its file
   * @throws SHARE_NOT_FOUND, FORBIDDEN
   */
  async function end(
    caller: Caller,
    token: string,
    named: 'by id' | 'by token' = 'by token',
  ): Promise<{ id: string; fileId: string }> {
    const { id, fileId, userId, recipient } = await shareLinks.find(token)
    if (userId !== caller.userId)
      throw named === 'by id'
        ? shareNotFound()
        : new Forbidden('Only the person who shared this file can revoke the link.')
    await change(caller, async ({ tx, record }) => {
      if (!(await deleteShare(db, id, tx))) return
      const details = { entryId: fileId, ...(recipient === null ? {} : { recipient: masked(recipient) }) }
      record(caller.bucket.bucketId, { kind: 'share.revoked', subject: id, details })
    })
    return { id, fileId }
  }

  return {
    tokenOf,
    linkOf,
    ...shareLists({ db, tokenOf, linkOf }),

    /** Creates a public share of the file at a path. @throws FILE_NOT_FOUND, INVALID_PATH, INVALID_DURATION, INVALID_INPUT, QUOTA_EXCEEDED */
    async createPublic(caller: Caller, { object, ...input }: LinkInput & { object: string }): Promise<PublicShare> {
      const names = parseFilePath(object, 'object')
      const { share } = await create(caller, input, async tx => {
        const { node } = await files.locate(caller.bucket, names, tx)
        return { id: node.id, names }
      })
      const { id, token, link, expiresAt } = share
      return { id, token, link, expiresAt }
    },

    /** Creates a public share of one file. @throws as createPublic */
    async createLink(caller: Caller, ref: FileRef, input: LinkInput): Promise<ShareView> {
      const find = (tx?: Tx) => listings.file(caller.bucket, ref, tx)
      const { file, share } = await create(caller, input, find)
      const { id, token, link, createdAt, expiresAt, maxDownloads, passwordHash } = share
      const { userId, name, email, picture } = caller
      return {
        ...{ id, token, link, createdAt, expiresAt, maxDownloads, downloads: 0 },
        ...{ fileId: file.id, names: file.names, fileType: file.fileType, size: file.size, md5: file.md5 },
        ...{ sharedBy: email, sharedFor: '', sharer: { id: userId, name, email, picture } },
        ...{ seen: false, passwordProtected: passwordHash !== null },
      }
    },

    end,
  }
}

export type ShareService = ReturnType<typeof shareService>

/** Keys by which password hashing is queued: see auth/password.ts. */
export const callerKeys = (caller: Caller): string[] => [`caller ${caller.userId}`]

/** Locks the tree of a sharer as lockSharer does. @throws UNAUTHENTICATED when the account has ended meanwhile: no share must outlive it */
export async function lockForSharing(db: Db, caller: Caller, tx: Tx): Promise<{ detached: boolean }> {
  const locked = await lockSharer(db, caller.userId, caller.bucket.bucketId, tx)
  if (!locked) throw new Unauthenticated()
  return locked
}
