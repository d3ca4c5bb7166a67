import { validate as isUuid } from 'uuid'
import type { Page } from '../../../db/queries/page.ts'
import type { PersonView } from '../../../db/queries/person.ts'
import {
  entryIdsOfShares,
  shareKindsOf,
  taggedEntriesOfShares,
} from '../../../db/queries/share-entry.ts'
import {
  type ListedShare,
  listReceivedShares,
  listSentShares,
  listShareOf,
  listSharesAmong,
  listSharesOf,
  pagesOfShares,
  recipientsOf,
  type ShareKind,
  type ShareRange,
  type ShareRecipientRow,
} from '../../../db/queries/share-list.ts'
import type { Caller } from '../../access/caller.ts'
import { keyById } from '../../values/key-by-id.ts'
import { shareTitle } from '../../values/share-title.ts'
import { stampOf } from '../../values/stamp.ts'
import { canonicalEmail } from '../accounts/profile.ts'
import type { Core } from '../core.ts'
import { type PageArgs, pageById } from '../page.ts'
import { rowsById } from '../rows-by-id.ts'
import { parsePart } from '../tree/entry-list.ts'
import { pathsOfFolders } from '../tree/entry-path.ts'

export type { ShareKind }

type Unshown =
  | 'userId'
  | 'sharerName'
  | 'sharerPicture'
  | 'seenAt'
  | 'passwordHash'
  | 'name'
  | 'parentId'
  | 'rootId'
  | 'allowDownload'
  | 'mayEdit'
  | 'notifies'

/** A share as its sharer and its recipient see it. Times are in milliseconds, sizes in bytes. */
export interface ShareView extends Omit<ListedShare, Unshown> {
  token: string
  link: string
  /** The names from the root of the drive down. For several entries, their common name. */
  names: string[]
  /** The name of the entry, or of the first of several. */
  firstName: string
  sharer: PersonView
  seen: boolean
  passwordProtected: boolean
  allowDownload: boolean
  mayEdit: boolean
  notifies: boolean
}

/** Filters the shares that a user made. */
export interface SentFilter {
  kind?: ShareKind | null
  ended?: boolean
  newestFirst?: boolean
  /** Only shares with this e-mail address. */
  recipient?: string | null
  /** Part of a name, a label, a title or a recipient. */
  search?: string | null
  /** Only shares that contain one of these entries. */
  entryIds?: readonly string[] | null
}

/** Filters the shares that a user received. */
interface ReceivedFilter {
  seen?: boolean | null
  newestFirst?: boolean
  /** Only shares of the owner of this e-mail address. */
  sharer?: string | null
}

interface Deps extends Core<'db'> {
  tokenOf: (id: string) => string
  linkOf: (token: string) => string
}

/** Whether a caller may know about one of their shares. No key reaches beyond its own drive. */
export const mayKnow = (caller: Caller, bucketId: string): boolean =>
  caller.via === 'session' || bucketId === caller.bucket.bucketId

/** The lists of shares. */
export function shareLists({ db, tokenOf, linkOf }: Deps) {
  /**
   * The shares whose entries exist and which the caller may know about, with their paths, in one
   * statement. The label is only for the sharer.
   */
  async function withPaths(caller: Caller, rows: ListedShare[]): Promise<ShareView[]> {
    const folders = await pathsOfFolders(
      db,
      rows.map(r => r.rootId),
      rows.map(r => r.parentId),
    )
    return rows.flatMap(row => {
      const folder = folders.get(row.parentId)
      if (!folder || (row.userId === caller.userId && !mayKnow(caller, row.bucketId))) return []
      const { name, parentId: _parent, rootId: _root, seenAt, passwordHash, ...listed } = row
      const { userId, sharerName, sharerPicture, allowDownload, mayEdit, notifies, ...share } =
        listed
      const token = tokenOf(row.id)
      return [
        {
          ...share,
          ...(userId === caller.userId ? {} : { label: '', workspaceId: null }),
          token,
          link: linkOf(token),
          names: row.entryCount === null ? [...folder, name] : [shareTitle(name, row.entryCount)],
          firstName: name,
          sharer: { id: userId, name: sharerName, email: share.sharedBy, picture: sharerPicture },
          seen: seenAt !== null,
          passwordProtected: passwordHash !== null,
          allowDownload: Boolean(allowDownload),
          mayEdit: Boolean(mayEdit),
          notifies: Boolean(notifies),
        },
      ]
    })
  }

  /** Live shares with their paths. One statement reads the rows, one all paths. */
  async function shown(
    caller: Caller,
    found: Promise<Page<ListedShare>>,
  ): Promise<Page<ShareView>> {
    const { rows, more } = await found
    return { rows: await withPaths(caller, rows), more, last: rows.at(-1)?.id }
  }

  return {
    /**
     * How the caller shares some entries of their own drive, by the ids of those that are shared.
     * One statement for up to 1,000.
     */
    async kindsOf(caller: Caller, ids: readonly string[]): Promise<Map<string, ShareKind[]>> {
      if (ids.length === 0) return new Map()
      const rows = await shareKindsOf(db, caller.userId, ids)
      return new Map(
        rows.map(({ id, direct, link }) => [
          id,
          [...(direct ? (['direct'] as const) : []), ...(link ? (['link'] as const) : [])],
        ]),
      )
    },

    /** The change stamps of shares of several entries, by their ids. */
    async stampsOf(ids: readonly string[]): Promise<Map<string, number>> {
      if (ids.length === 0) return new Map()
      const rows = await taggedEntriesOfShares(db, ids)
      const byShare = Map.groupBy(rows, ({ shareId }) => shareId)
      return new Map(
        ids.map(id => {
          const entries = byShare.get(id) ?? []
          const parts = entries.flatMap(one => [one.id, one.name, one.revision, one.changeStamp])
          return [id, stampOf(parts)]
        }),
      )
    },

    /**
     * The live shares that a user made, or those that ended recently. `last` is the start of the
     * next page.
     */
    sentBy: (
      caller: Caller,
      limit: number,
      after: string | null,
      { kind = null, ended = false, newestFirst = false, ...filter }: SentFilter = {},
    ): Promise<Page<ShareView>> => {
      const { recipient = null, search = null, entryIds = null } = filter
      // MySQL fails to compare an ASCII column with a text that is not ASCII.
      const ids = entryIds?.filter(id => isUuid(id)) ?? null
      if (ids?.length === 0) return Promise.resolve({ rows: [], more: false })
      const selection = {
        kind,
        ended,
        newestFirst,
        recipient: recipient === null ? null : canonicalEmail(recipient.trim()),
        part: search === null ? null : parsePart(search, 'search'),
        entryIds: ids,
      }
      return shown(caller, listSentShares(db, caller.userId, { ...selection, after, limit }))
    },

    /** The e-mail addresses with which the caller shares now. */
    recipients: (caller: Caller, limit: number): Promise<ShareRecipientRow[]> =>
      recipientsOf(db, caller.userId, limit),

    /**
     * The live shares with the caller's verified e-mail address. `seen` selects those that they
     * have or have not opened.
     */
    receivedBy: (
      caller: Caller,
      limit: number,
      after: string | null,
      { seen = null, newestFirst = false, sharer = null }: ReceivedFilter = {},
    ) =>
      shown(
        caller,
        listReceivedShares(db, caller.verifiedEmail ?? '', {
          seen,
          newestFirst,
          sharer,
          after,
          limit,
        }),
      ),

    /** A page of one of the two lists for REST, which is lenient about its arguments. */
    async page(
      caller: Caller,
      list: 'sent' | 'received',
      page: PageArgs,
    ): Promise<{ files: ShareView[]; nextCursor: string | null }> {
      const load = list === 'sent' ? this.sentBy : this.receivedBy
      const { rows, nextCursor } = await pageById(
        page,
        (limit, after) => load(caller, limit, after),
        true,
      )
      return { files: rows, nextCursor }
    },

    /** The live shares that the caller made of some entries, by the ids of the entries. */
    async pagesOfEntries(
      caller: Caller,
      entryIds: string[],
      query: ShareRange & { kind: ShareKind | null },
    ): Promise<Map<string, Page<ShareView>>> {
      const pages = await pagesOfShares(db, caller.userId, entryIds, query)
      // A share of several entries can be on the pages of each of them.
      const rows = keyById([...pages.values()].flatMap(page => page.rows))
      const shares = keyById(await withPaths(caller, [...rows.values()]))
      const shown = (page: Page<ListedShare>) => page.rows.flatMap(({ id }) => shares.get(id) ?? [])
      return new Map(
        Array.from(pages, ([id, page]) => [id, { rows: shown(page), more: page.more }]),
      )
    },

    /**
     * The ids of the entries of shares with several entries, in the chosen order, by the id of the
     * share.
     */
    entryIdsOf: (ids: string[]): Promise<Map<string, string[]>> => entryIdsOfShares(db, ids),

    /**
     * The subset of these shares that is live and shared with the caller's verified e-mail address.
     */
    async receivedAmong(caller: Caller, ids: string[]): Promise<ShareView[]> {
      return (
        await shown(caller, listSharesAmong(db, 'recipient', caller.verifiedEmail ?? '', ids))
      ).rows
    },

    /** Like `receivedAmong`, for ids from a client. */
    receivedByIds: (caller: Caller, ids: readonly string[]): Promise<Map<string, ShareView>> =>
      rowsById(
        ids,
        async some =>
          (await shown(caller, listSharesAmong(db, 'recipient', caller.verifiedEmail ?? '', some)))
            .rows,
      ),

    /** The live shares among these that the caller made, in the same order. */
    async sentAmong(caller: Caller, ids: string[]): Promise<ShareView[]> {
      const { rows } = await shown(caller, listSharesAmong(db, 'userId', caller.userId, ids))
      return rows.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))
    },

    /** A share that the caller made, live or ended. */
    async sent(caller: Caller, id: string): Promise<ShareView | undefined> {
      const { rows } = await shown(caller, listShareOf(db, caller.userId, id))
      return rows[0]
    },

    /** The live shares among these that the caller made or received, by id. */
    async knownAmong(caller: Caller, ids: string[]): Promise<Map<string, ShareView>> {
      const { rows } = await shown(
        caller,
        listSharesOf(db, caller.userId, caller.verifiedEmail ?? '', ids),
      )
      return keyById(rows)
    },
  }
}
