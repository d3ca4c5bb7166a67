import type { Page } from '../../../db/queries/page.ts'
import type { PersonView } from '../../../db/queries/person.ts'
import {
  type ListedShare,
  listReceivedShares,
  listSentShares,
  listSharesAmong,
  listSharesOf,
  pagesOfShares,
  type ShareKind,
  type ShareRange,
} from '../../../db/queries/share-list.ts'
import type { Caller } from '../../access/caller.ts'
import { keyById } from '../../key-by-id.ts'
import type { Core } from '../core.ts'
import { type PageArgs, pageById } from '../page.ts'
import { pathsOfFolders } from '../tree/entry-path.ts'

export type { ShareKind }

type Unshown = 'userId' | 'sharerName' | 'sharerPicture' | 'seenAt' | 'passwordHash' | 'name' | 'parentId' | 'rootId'

/** A share as its sharer and its recipient see it. Times in milliseconds, size in bytes. */
export interface ShareView extends Omit<ListedShare, Unshown> {
  token: string
  link: string
  names: string[]
  sharer: PersonView
  seen: boolean
  passwordProtected: boolean
}

/** Which of the shares that one has made. */
interface SentFilter {
  kind?: ShareKind | null
  ended?: boolean
  newestFirst?: boolean
}

/** Which of the shares that one has received. */
interface ReceivedFilter {
  seen?: boolean | null
  newestFirst?: boolean
}

interface Deps extends Core<'db'> {
  tokenOf: (id: string) => string
  linkOf: (token: string) => string
}

/** The lists of shares. */
export function shareLists({ db, tokenOf, linkOf }: Deps) {
  /** The shares whose files exist, with their paths: one statement for all. */
  async function withPaths(rows: ListedShare[]): Promise<ShareView[]> {
    const folders = await pathsOfFolders(
      db,
      rows.map(r => r.rootId),
      rows.map(r => r.parentId),
    )
    return rows.flatMap(row => {
      const folder = folders.get(row.parentId)
      if (!folder) return []
      const { name, parentId: _parent, rootId: _root, seenAt, passwordHash, ...listed } = row
      const { userId, sharerName, sharerPicture, ...share } = listed
      const token = tokenOf(row.id)
      return [
        {
          ...share,
          token,
          link: linkOf(token),
          names: [...folder, name],
          sharer: { id: userId, name: sharerName, email: share.sharedBy, picture: sharerPicture },
          seen: seenAt !== null,
          passwordProtected: passwordHash !== null,
        },
      ]
    })
  }

  /** Live shares with their paths: one statement for the rows, one for all paths. */
  async function shown(found: Promise<Page<ListedShare>>): Promise<Page<ShareView>> {
    const { rows, more } = await found
    return { rows: await withPaths(rows), more, last: rows.at(-1)?.id }
  }

  return {
    /** The live shares that a user has made, or those that have ended lately. `last` is where the next page begins. */
    sentBy: (
      caller: Caller,
      limit: number,
      after: string | null,
      { kind = null, ended = false, newestFirst = false }: SentFilter = {},
    ) => shown(listSentShares(db, caller.userId, { kind, ended, newestFirst, after, limit })),

    /** The live shares with the caller's verified e-mail address; with `seen`, those that they have or have not seen. */
    receivedBy: (
      caller: Caller,
      limit: number,
      after: string | null,
      { seen = null, newestFirst = false }: ReceivedFilter = {},
    ) => shown(listReceivedShares(db, caller.verifiedEmail ?? '', { seen, newestFirst, after, limit })),

    /** A page of one of the two lists for REST, which is lenient about its arguments. */
    async page(
      caller: Caller,
      list: 'sent' | 'received',
      page: PageArgs,
    ): Promise<{ files: ShareView[]; nextCursor: string | null }> {
      const load = list === 'sent' ? this.sentBy : this.receivedBy
      const { rows, nextCursor } = await pageById(page, (limit, after) => load(caller, limit, after), true)
      return { files: rows, nextCursor }
    },

    /** The live shares that the caller has made of some files, by the id of the file. */
    async pagesOfFiles(
      caller: Caller,
      fileIds: string[],
      query: ShareRange & { kind: ShareKind | null },
    ): Promise<Map<string, Page<ShareView>>> {
      const pages = await pagesOfShares(db, caller.userId, fileIds, query)
      const shares = await withPaths([...pages.values()].flatMap(page => page.rows))
      return new Map(
        Array.from(pages, ([id, { more }]) => [id, { rows: shares.filter(share => share.fileId === id), more }]),
      )
    },

    /** The subset of these shares that is live and shared with the caller's verified e-mail address. */
    async receivedAmong(caller: Caller, ids: string[]): Promise<ShareView[]> {
      return (await shown(listSharesAmong(db, 'recipient', caller.verifiedEmail ?? '', ids))).rows
    },

    /** Those of these shares that are live and made by the caller, in the same order. */
    async sentAmong(caller: Caller, ids: string[]): Promise<ShareView[]> {
      const { rows } = await shown(listSharesAmong(db, 'userId', caller.userId, ids))
      return rows.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))
    },

    /** Those of these shares that are live and that the caller has made or received, by id. */
    async knownAmong(caller: Caller, ids: string[]): Promise<Map<string, ShareView>> {
      const { rows } = await shown(listSharesOf(db, caller.userId, caller.verifiedEmail ?? '', ids))
      return keyById(rows)
    },
  }
}
