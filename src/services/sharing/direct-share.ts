import { v7 as newId } from 'uuid'
import type { Tx } from '../../../db/index.ts'
import { FILE } from '../../../db/models/entry.ts'
import { NEVER } from '../../../db/models/share.ts'
import {
  countUnseenShares,
  findDirectShare,
  markShareSeen,
  type NewShare,
} from '../../../db/queries/share.ts'
import { findDirectShareOfAll } from '../../../db/queries/share-entry.ts'
import type { Caller } from '../../access/caller.ts'
import { type Passwords, parsePassword } from '../../access/password.ts'
import { AppError, InvalidInput } from '../../runtime/errors.ts'
import { keyById } from '../../values/key-by-id.ts'
import { figure, MAX_SHARED_FILES } from '../../values/limits.ts'
import { joinPath, parseFilePath } from '../../values/paths.ts'
import type { Tree } from '../../values/tree.ts'
import type { Core } from '../core.ts'
import { masked } from '../history/event.ts'
import { parseEmail } from '../notices/email.ts'
import { parseMessage } from '../notices/mail-message.ts'
import type { MailingService } from '../notices/mailing.ts'
import { type EntryName, entryNotFound, pathIn } from '../tree/entry-path.ts'
import type { FoundEntry, ListingService } from '../tree/listing.ts'
import { callerKeys, insertShareOf, lockForSharing, type ShareService } from './share.ts'
import type { ShareLinkService } from './share-link.ts'
import {
  defaultTerms,
  endOf,
  isLive,
  mayLetEdit,
  parseTerms,
  requireEditable,
  type ShareInput,
  type ShareTerms,
} from './share-term.ts'
import { alone, type Shared, sharedEntry, together } from './shared-entry.ts'
import type { SharingRuleService } from './sharing-rule.ts'

/** The result of sharing files with a person. */
export interface DirectShares {
  shares: {
    id: string
    names: string[]
    md5: string
    sharedFor: string
    sharedBy: string
    token: string
    link: string
    /** Null if it never expires. */
    expiresAt: number | null
  }[]
  notificationStatus: 'not_sent' | 'queued' | 'failed'
}

export interface DirectShareInput extends Omit<ShareInput, 'maxDownloads'> {
  email: string
  /** Whether one share holds all entries. */
  together?: boolean | null | undefined
  sendEmail?: boolean | null | undefined
}

const DEFAULT_DURATION = '7d'

interface Deps extends Core<'db' | 'change' | 'pubSub' | 'wake' | 'publicUrl'> {
  listings: ListingService
  shareLinks: ShareLinkService
  mailings: MailingService
  shares: ShareService
  passwords: Passwords
  rules: SharingRuleService
}

/** Shares with one person. */
export function directShareService({ db, change, pubSub, wake, publicUrl, ...deps }: Deps) {
  const { listings, shareLinks, mailings, shares, passwords, rules } = deps
  return {
    /** The number of live shares that the caller has received and not opened. */
    async countUnseen(caller: Caller): Promise<number> {
      if (!caller.verifiedEmail) return 0
      return countUnseenShares(db, caller.verifiedEmail)
    },

    /**
     * Records that the caller has seen a received share; idempotent. @returns its id @throws
     * SHARE_NOT_FOUND
     */
    async markSeen(caller: Caller, token: string): Promise<string> {
      const share = await shareLinks.findByToken(token)
      if (!share || !caller.verifiedEmail || share.recipient !== caller.verifiedEmail)
        throw new AppError(
          'SHARE_NOT_FOUND',
          'You have received no such share. Use sharing_token from the list of received files.',
        )
      await markShareSeen(db, share.id)
      return share.id
    },

    /** Shares the files at some paths with one e-mail address. @throws as share */
    async create(
      caller: Caller,
      { objects, ...input }: DirectShareInput & { objects: string[] },
    ): Promise<DirectShares> {
      const email = readRecipient(caller, input.email)
      if (objects.length < 1 || objects.length > MAX_SHARED_FILES)
        throw new InvalidInput('objects', `Name 1 to ${figure(MAX_SHARED_FILES)} files.`)
      const paths = new Set(objects.map(text => joinPath(parseFilePath(text, 'objects'))))
      const files = Array.from(paths, path => ({ path }))
      return this.share(caller, caller.bucket, files, { ...input, email }, (file, tx) =>
        listings.file(caller.bucket, file, tx),
      )
    },

    /**
     * Shares files and folders with one e-mail address: all or none, each by its own share or
     * together by one. An existing share is renewed and keeps its token. Sends a mail if the limits
     * on mails allow it.
     * @param findOne finds an entry; by default a file or a folder
     * @throws FILE_NOT_FOUND, INVALID_PATH, INVALID_DURATION, INVALID_INPUT
     */
    async share(
      caller: Caller,
      tree: Tree,
      entries: readonly EntryName[],
      input: DirectShareInput,
      findOne = (entry: EntryName, tx?: Tx): Promise<FoundEntry> =>
        sharedEntry(listings, tree, entry, tx),
    ): Promise<DirectShares> {
      const recipient = readRecipient(caller, input.email)
      const message = parseMessage(input.message ?? '')
      const now = Date.now()
      const given = {
        ...input,
        maxDownloads: undefined,
        duration: input.duration || rules.defaultDuration(DEFAULT_DURATION),
      }
      const { expiresAt = defaultTerms.expiresAt, ...kept } = parseTerms(given, now)
      mayLetEdit(caller, kept)
      const ruled = {
        kind: 'direct' as const,
        recipient,
        expiresAt: endOf({ expiresAt }),
        hasPassword: Boolean(input.password),
      }
      await rules.require(caller, ruled, { now })
      const passwordHash = input.password
        ? await passwords.hash(parsePassword(input.password), callerKeys(caller))
        : null
      // Sequential, because a hundred parallel statements would occupy the whole connection pool.
      const find = async (tx?: Tx): Promise<Shared[]> => {
        if (input.together && entries.length > 1)
          return [await together(db, listings, tree, entries, tx)]
        const found: FoundEntry[] = []
        for (const entry of entries) found.push(await findOne(entry, tx))
        // An entry may be given twice, by its id and by its path.
        return Array.from(keyById(found).values(), alone)
      }
      const before = await find()
      const terms = { ...kept, expiresAt, passwordHash }
      const made = await change(caller, async ({ tx, record }) => {
        // The second of two concurrent shares of one file with one person waits here, then renews
        // the first.
        const { detached } = await lockForSharing(db, caller, tree, tx)
        // The entries of a joint share are inserted as found. The insertion of a share of one entry
        // looks the entry up itself.
        const found = detached || input.together ? await find(tx) : before
        const all = []
        for (const shared of found) {
          const { names, id, md5, title, entryIds } = shared
          const { shareId, isNew } = await renewOrCreate(caller, tree, shared, recipient, terms, tx)
          if (!shareId) throw entryNotFound(tree, { id })
          const details = { entryId: id, path: pathIn(tree, names), recipient: masked(recipient) }
          const kind = isNew ? 'share.created' : 'share.changed'
          record(tree.bucketId, { kind, subject: shareId, details })
          record(
            { address: recipient },
            { kind: 'share.received', subject: shareId, details: { name: title } },
          )
          const token = shares.tokenOf(shareId)
          all.push({
            id: shareId,
            names: entryIds ? [title] : names,
            md5,
            sharedFor: recipient,
            sharedBy: caller.email,
            token,
            link: shares.linkOf(token),
            expiresAt: endOf(terms),
          })
        }
        let queued = false
        if (input.sendEmail) {
          const values = {
            files: found.map(({ names }) => names.at(-1) ?? ''),
            ...(input.together
              ? { counts: found.map(({ entryIds }) => entryIds?.length ?? null) }
              : {}),
            sizes: found.map(({ kind, size }) => (kind === FILE ? size : null)),
            links: all.map(s => s.link),
            by: caller.name,
            address: caller.email,
            expires: expiresAt === NEVER ? null : new Date(expiresAt).toISOString(),
            protected: passwordHash !== null,
            message,
            all: `${publicUrl()}/shared`,
          }
          const about = found.flatMap(({ id, entryIds }) => entryIds ?? [id])
          queued = await mailings.enqueue(
            caller,
            { template: 'share', to: recipient, values },
            about,
            tx,
          )
        }
        return {
          shares: all,
          notificationStatus: queued ? ('queued' as const) : ('not_sent' as const),
        }
      })
      const ids = made.shares.map(share => share.id)
      pubSub.publish('shareReceived', recipient, ids)
      if (made.notificationStatus === 'queued') wake()
      return made
    },
  }

  /** Null when the entry has been deleted meanwhile. */
  async function renewOrCreate(
    caller: Caller,
    tree: Tree,
    shared: Shared,
    recipient: string,
    terms: Partial<ShareTerms> & Pick<NewShare, 'passwordHash'>,
    tx: Tx,
  ): Promise<{ shareId: string | null; isNew: boolean }> {
    const { userId } = caller
    const { id: entryId, entryIds } = shared
    const known = entryIds
      ? await findDirectShareOfAll(db, { userId, recipient }, entryIds, tx)
      : await findDirectShare(db, userId, entryId, recipient, tx)
    // Without an explicit choice, a live share keeps the right to edit. A password or a view-only
    // share removes it.
    const keeps =
      known && isLive(known) && terms.passwordHash === null && terms.allowDownload !== false
    const mayEdit = terms.mayEdit ?? (keeps ? known.mayEdit : false)
    requireEditable({
      ...defaultTerms,
      ...known,
      ...terms,
      mayEdit,
      recipient,
      entryCount: entryIds?.length ?? null,
    })
    if (known) {
      // The recipient has not opened the share since it changed.
      await db.Share.update(
        { ...terms, mayEdit: Boolean(mayEdit), seenAt: null },
        { where: { id: known.id }, transaction: tx },
      )
      return { shareId: known.id, isNew: false }
    }
    const id = newId()
    const owned = { userId, bucketId: tree.bucketId }
    const share = { ...defaultTerms, ...terms, id, ...owned, recipient, createdAt: Date.now() }
    return { shareId: (await insertShareOf(db, share, shared, tx)) ? id : null, isNew: true }
  }
}

/** @throws INVALID_INPUT */
function readRecipient(caller: Caller, email: string): string {
  const recipient = parseEmail(email, 'email')
  if (recipient === caller.verifiedEmail || recipient === caller.email.toLowerCase())
    throw new InvalidInput('email', 'This is your own e-mail address. Share with another person.')
  return recipient
}
