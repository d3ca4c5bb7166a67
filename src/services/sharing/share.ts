import { v7 as newId } from 'uuid'
import type { Db, Tx } from '../../../db/index.ts'
import { findEndedShare } from '../../../db/queries/ended-share.ts'
import {
  insertShare,
  type LinkedShare,
  lockShare,
  lockSharer,
  type NewShare,
} from '../../../db/queries/share.ts'
import { insertShareEntries } from '../../../db/queries/share-entry.ts'
import type { Caller } from '../../access/caller.ts'
import { type Passwords, parsePassword } from '../../access/password.ts'
import { Forbidden, InvalidInput, Unauthenticated } from '../../runtime/errors.ts'
import type { Tree } from '../../values/tree.ts'
import { takeLink } from '../bound.ts'
import type { Core } from '../core.ts'
import { maskedIn } from '../history/event.ts'
import { type EntryKind, type EntryName, pathIn } from '../tree/entry-path.ts'
import type { ListingService } from '../tree/listing.ts'
import { deleteForGood } from './share-end.ts'
import { SHARE_TOKEN, type ShareLinkService, shareNotFound } from './share-link.ts'
import { mayKnow, type ShareView, shareLists } from './share-list.ts'
import {
  defaultTerms,
  endOf,
  isLive,
  mayLetEdit,
  parseTerms,
  requireEditable,
  type ShareInput,
} from './share-term.ts'
import { alone, type Shared, sharedEntry, together } from './shared-entry.ts'
import { rulesOfChange, type SharingRuleService } from './sharing-rule.ts'

/** The entries of a new link: one, or several behind the same link. */
interface LinkedEntries {
  tree: Tree
  /** The workspace that owns the drive. */
  workspaceId?: string | null
  entries: readonly EntryName[]
  /** What a single entry must be. */
  kind?: EntryKind
}

/** How the caller identifies a share to end or change it. */
type Naming = 'by id' | 'by token'

interface Deps extends Core<'db' | 'change' | 'tokens' | 'publicUrl'> {
  listings: ListingService
  shareLinks: ShareLinkService
  passwords: Passwords
  rules: SharingRuleService
  /** The default duration of a link. */
  linkDuration: string
}

export function shareService({
  db,
  change,
  listings,
  shareLinks,
  passwords,
  rules,
  tokens,
  publicUrl,
  linkDuration,
}: Deps) {
  const tokenOf = (id: string) => tokens.derive(SHARE_TOKEN, id)
  const linkOf = (token: string) => `${publicUrl()}/share/${token}`
  const lists = shareLists({ db, tokenOf, linkOf })

  const hashOf = (caller: Caller, password: string) =>
    passwords.hash(parsePassword(password), callerKeys(caller))

  async function insert(
    caller: Caller,
    tree: Tree,
    input: ShareInput,
    find: (tx?: Tx) => Promise<Shared>,
  ) {
    const now = Date.now()
    const duration = input.duration || rules.defaultDuration(linkDuration)
    const given = parseTerms({ ...input, duration }, now)
    const ruled = {
      kind: 'link' as const,
      recipient: null,
      expiresAt: endOf({ ...defaultTerms, ...given }),
      hasPassword: Boolean(input.password),
    }
    await rules.require(caller, ruled, { now })
    // A missing file fails before a hash is computed.
    if (input.password) await find()
    const passwordHash = input.password ? await hashOf(caller, input.password) : null
    const id = newId()
    const owned = { userId: caller.userId, bucketId: tree.bucketId }
    const share = {
      ...defaultTerms,
      ...given,
      id,
      ...owned,
      recipient: null,
      passwordHash,
      createdAt: now,
    }
    const entry = await change(caller, async ({ tx, record }) => {
      // Locks the caller's drive. Entries found under the lock exist until the transaction ends.
      await takeLink(db, caller, tx)
      if (tree.bucketId !== caller.bucket.bucketId) await lockForSharing(db, caller, tree, tx)
      const entry = await find(tx)
      // A share must not outlive its owner's account.
      if (!(await insertShareOf(db, share, entry, tx))) throw new Unauthenticated()
      const details = { entryId: entry.id, path: pathIn(tree, entry.names) }
      record(owned.bucketId, { kind: 'share.created', subject: id, details })
      return entry
    })
    const token = tokenOf(id)
    return { entry, share: { ...share, expiresAt: endOf(share), token, link: linkOf(token) } }
  }

  /**
   * A share of the caller, live or ended.
   * @param named by id, a stranger must not learn that the share exists; by token, they know
   * @throws SHARE_NOT_FOUND, FORBIDDEN
   */
  async function own(caller: Caller, token: string, named: Naming): Promise<LinkedShare> {
    const share = await shareLinks.find(token)
    const isReached = share.userId === caller.userId && mayKnow(caller, share.bucketId)
    if (isReached) return share
    throw named === 'by id'
      ? shareNotFound()
      : new Forbidden('Only the person who made this share can change it.')
  }

  /**
   * Changes the terms of a share of the caller. Its URL stays the same, so an ended share can be
   * renewed.
   * @throws SHARE_NOT_FOUND, FORBIDDEN, INVALID_DURATION, INVALID_INPUT, QUOTA_EXCEEDED
   */
  async function update(
    caller: Caller,
    token: string,
    input: ShareInput,
    named: Naming = 'by token',
  ): Promise<ShareView> {
    const { id, bucketId, entryId, entryCount, recipient } = await own(caller, token, named)
    const { password } = input
    const now = Date.now()
    const terms = {
      ...parseTerms(input, now),
      ...(password === undefined
        ? {}
        : { passwordHash: password === null ? null : await hashOf(caller, password) }),
    }
    mayLetEdit(caller, terms)
    await change(caller, async ({ tx, record }) => {
      await lockForSharing(db, caller, { bucketId }, tx)
      const before = await lockShare(db, id, tx)
      if (!before) throw shareNotFound()
      if (terms.maxDownloads && terms.maxDownloads <= before.downloads)
        throw new InvalidInput(
          'max_downloads',
          `It has already been downloaded ${before.downloads} times. Choose a higher limit.`,
        )
      requireEditable({ ...before, ...terms, recipient, entryCount })
      const after = { ...before, ...terms }
      const isBack = !isLive(before) && isLive(after)
      const ruled = {
        kind: recipient === null ? ('link' as const) : ('direct' as const),
        recipient,
        expiresAt: endOf(after),
        hasPassword: after.passwordHash !== null,
      }
      const among = rulesOfChange({
        isRenewed: isBack || terms.expiresAt !== undefined,
        removesPassword: password === null,
      })
      await rules.require(caller, ruled, { now, among, tx })
      // A renewed link counts again towards the plan's limit.
      if (recipient === null && isBack) await takeLink(db, caller, tx)
      await db.Share.update(terms, { where: { id }, transaction: tx })
      const details = { entryId, ...maskedIn(recipient) }
      record(bucketId, { kind: 'share.changed', subject: id, details })
    })
    const share = await lists.sent(caller, id)
    if (!share) throw shareNotFound()
    return share
  }

  /**
   * Makes sure that a share of the caller that ended with its entry does not come back.
   * @returns whether there is one
   */
  async function forget(caller: Caller, token: string): Promise<boolean> {
    const id = shareLinks.idOf(token)
    const ended = id ? await findEndedShare(db, id) : undefined
    if (ended?.userId !== caller.userId || !mayKnow(caller, ended.bucketId)) return false
    await change(caller, of => deleteForGood(db, of, [ended]))
    return true
  }

  /**
   * Deletes a share of the caller.
   * @param named see own()
   * @returns the ids of the share, its entries and their drive
   * @throws SHARE_NOT_FOUND, FORBIDDEN. A share whose entry is in the trash is not found either,
   * and does not come back with the entry.
   */
  async function end(
    caller: Caller,
    token: string,
    named: Naming = 'by token',
  ): Promise<{ id: string; entryId: string; entryIds: string[]; bucketId: string }> {
    const find = () => own(caller, token, named)
    const { id, bucketId, entryId, entryCount, recipient } = await find().catch(async error => {
      if (await forget(caller, token)) throw error
      // A restore between the two reads may have brought it back.
      return find()
    })
    const several = entryCount === null ? undefined : (await lists.entryIdsOf([id])).get(id)
    await change(caller, of => deleteForGood(db, of, [{ id, bucketId, entryId, recipient }]))
    return { id, entryId, entryIds: several ?? [entryId], bucketId }
  }

  return {
    tokenOf,
    linkOf,
    ...lists,

    /**
     * Creates a link with which everyone can see and download entries of one drive, with their
     * current contents at each request.
     * @throws FILE_NOT_FOUND, FOLDER_NOT_FOUND, INVALID_PATH, INVALID_DURATION, INVALID_INPUT,
     * QUOTA_EXCEEDED
     */
    async create(
      caller: Caller,
      { tree, workspaceId = null, entries, kind }: LinkedEntries,
      terms: ShareInput,
    ): Promise<ShareView> {
      const [only] = entries
      const find = async (tx?: Tx) =>
        only && entries.length === 1
          ? alone(await sharedEntry(listings, tree, only, tx, kind))
          : together(db, listings, tree, entries, tx)
      const { entry, share } = await insert(caller, tree, terms, find)
      const {
        id,
        token,
        link,
        label,
        title,
        message,
        createdAt,
        expiresAt,
        maxDownloads,
        passwordHash,
        allowDownload,
        notifies,
      } = share
      const { userId, name, email, picture } = caller
      return {
        id,
        token,
        link,
        label,
        title,
        message,
        createdAt,
        expiresAt,
        maxDownloads,
        downloads: 0,
        allowDownload,
        notifies,
        entryId: entry.id,
        kind: entry.kind,
        entryCount: entry.entryIds?.length ?? null,
        names: entry.entryIds ? [entry.title] : entry.names,
        firstName: entry.names.at(-1) ?? '',
        bucketId: tree.bucketId,
        workspaceId,
        fileType: entry.fileType,
        size: entry.size,
        md5: entry.md5,
        revision: entry.revision,
        blobId: null,
        mayEdit: false,
        sharedBy: email,
        sharedFor: '',
        sharer: { id: userId, name, email, picture },
        seen: false,
        passwordProtected: passwordHash !== null,
      }
    },

    update,
    end,
  }
}

export type ShareService = ReturnType<typeof shareService>

/** Inserts a share of one entry, or of several, as `insertShare` does. */
export async function insertShareOf(
  db: Db,
  share: Omit<NewShare, 'entryId' | 'entryCount'>,
  { id, entryIds }: { id: string; entryIds?: string[] | null },
  tx: Tx,
): Promise<boolean> {
  const entryCount = entryIds?.length ?? null
  if (!(await insertShare(db, { ...share, entryId: id, entryCount }, tx))) return false
  if (entryIds) await insertShareEntries(db, share.id, entryIds, tx)
  return true
}

/** The keys by which password hashing is queued; see auth/password.ts. */
export const callerKeys = (caller: Caller): string[] => [`caller ${caller.userId}`]

/**
 * Locks the tree of a sharer like lockSharer.
 * @throws UNAUTHENTICATED, FORBIDDEN when the account or the role has ended meanwhile, because no
 * share must outlive it
 */
export async function lockForSharing(
  db: Db,
  caller: Caller,
  { bucketId }: Pick<Tree, 'bucketId'>,
  tx: Tx,
): Promise<{ detached: boolean }> {
  const locked = await lockSharer(db, caller.userId, bucketId, tx)
  if (!locked && bucketId !== caller.bucket.bucketId)
    throw new Forbidden('Your role in this workspace no longer allows sharing its files.')
  if (!locked) throw new Unauthenticated()
  return locked
}
