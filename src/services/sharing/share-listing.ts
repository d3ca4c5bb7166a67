import type { Db } from '../../../db/index.ts'
import type { ChildRow, EntryKey, EntryQuery, EntrySort } from '../../../db/queries/entry-list.ts'
import type { Page } from '../../../db/queries/page.ts'
import { Busy } from '../../runtime/errors.ts'
import { createFairQueue } from '../../runtime/fair-queue.ts'
import { networkOf } from '../../values/network.ts'
import { joinPath } from '../../values/paths.ts'
import type { Tree } from '../../values/tree.ts'
import { type PageArgs, readCursor, readLimit, writeCursor } from '../page.ts'
import {
  type EntryListService,
  entryKeyOf,
  type ListedEntry,
  type PlacedEntry,
  type SearchKey,
} from '../tree/entry-list.ts'
import { pageOfTops, searchTops, type Tops } from './share-top.ts'

/** What visitors of a shared folder ask of its lists. */
export interface SharedQuery {
  sort: EntrySort
  descending: boolean
  /** Part of a name: what has it at any depth, instead of what is in the folder. */
  search: string | null
}

/** Which list of a share, and which page of it. */
export interface SharedListArgs {
  /** A folder, from the shared one; empty for itself. */
  path: string
  query: SharedQuery
  page: PageArgs
}

/**
 * A file or folder in what is shared. Its size in bytes and its number of files are those of
 * everything below it; times in milliseconds.
 */
export interface SharedEntry
  extends Pick<
    ListedEntry,
    | 'id'
    | 'kind'
    | 'name'
    | 'size'
    | 'fileCount'
    | 'md5'
    | 'createdAt'
    | 'updatedAt'
    | 'modifiedAt'
    | 'revision'
  > {
  /** From the shared folder, or the top of a share of several. */
  path: string
  fileType: string
  /** Null for a folder. */
  blobId: string | null
  /** The version of its small picture; null where there is none, or none that the share shows. */
  picture: string | null
}

/**
 * One page of what is in a shared folder, or in a folder below it, or of what a search has found
 * there. A share of several is like a folder.
 */
export interface SharedLevel {
  /** Of the folder, from the shared one down. */
  names: string[]
  entries: SharedEntry[]
  nextCursor: string | null
}

/**
 * The types of the parts of the cursors of such a list: kind and name, number and id, or of a
 * search what it is sorted by and id.
 */
export function keyTypes({
  sort,
  search,
}: Pick<SharedQuery, 'sort' | 'search'>): ['string' | 'number', 'string' | 'id'] {
  if (search !== null) return [sort === 'name' ? 'string' : 'number', 'id']
  return ['number', sort === 'name' ? 'string' : 'id']
}

/** Searches that wait for their turn, and for how many milliseconds. */
const LINE = { longest: 500, longestPerKey: 50, patience: 10_000 }

const shown = ({ contentType: fileType, ...row }: ChildRow, names: string[]): SharedEntry => ({
  id: row.id,
  kind: row.kind,
  name: row.name,
  size: row.size,
  fileCount: row.fileCount,
  md5: row.md5,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
  modifiedAt: row.modifiedAt,
  revision: row.revision,
  fileType,
  path: joinPath(names),
  blobId: row.blobId,
  picture: null,
})

/**
 * Lists of what is below a shared folder. Does not authorize: pass only folders that the visitor
 * may see.
 */
export function shareListings(db: Db, lists: EntryListService) {
  // Everybody may search who has a link, and each search reads all names below the folder: one at a
  // time, and networks by turns.
  const full = () =>
    new Busy('Too many searches of shared folders are waiting. Try again in a few seconds.')
  const turns = createFairQueue({ atOnce: 1, ...LINE, full })

  async function pageOfFolder(
    folderId: string,
    query: SharedQuery,
    limit: number,
    cursor: PageArgs['cursor'],
  ) {
    const { sort, descending } = query
    const after = readCursor(cursor, keyTypes(query)) as EntryKey | null
    const filter = { sort, descending, kind: null, nameContains: null }
    const page = (await lists.childrenOf([folderId], filter, limit, after)).get(folderId)
    const last = page?.more && page.rows.at(-1)
    return {
      rows: page?.rows ?? [],
      nextCursor: last ? writeCursor(entryKeyOf(filter, last)) : null,
    }
  }

  /** A page of what a search finds. @param find runs it, when it is its turn */
  async function pageOfFound(
    { sort, descending, search: text }: SharedQuery & { search: string },
    { limit, cursor }: PageArgs,
    address: string,
    find: (
      query: Pick<EntryQuery, 'sort' | 'descending'> & { text: string },
      most: number,
      after: SearchKey | null,
    ) => Promise<Page<PlacedEntry>>,
  ): Promise<Omit<SharedLevel, 'names'>> {
    const after: SearchKey | null = readCursor(cursor, keyTypes({ sort, search: text }))
    const most = readLimit(limit)
    const { rows, more } = await turns.run([networkOf(address)], () =>
      find({ sort, descending, text }, most, after),
    )
    const last = more && rows.at(-1)
    return {
      // At the top of a share of several, an entry may have another name than its own.
      entries: rows.map(row => shown({ ...row, name: row.names.at(-1) ?? row.name }, row.names)),
      nextCursor: last ? writeCursor([last[sort], last.id]) : null,
    }
  }

  const isSearch = (query: SharedQuery): query is SharedQuery & { search: string } =>
    query.search !== null

  return {
    /**
     * @param folder below the root of the tree, or the root itself, with its names from the top of
     * the share down
     * @param front those of them that lead to the root of the tree
     * @param address of the visitor
     * @throws INVALID_INPUT, UNAVAILABLE
     */
    async page(
      tree: Tree,
      { id, names, front }: { id: string; names: string[]; front: string[] },
      query: SharedQuery,
      page: PageArgs,
      address: string,
    ): Promise<SharedLevel> {
      if (!isSearch(query)) {
        const { rows, nextCursor } = await pageOfFolder(
          id,
          query,
          readLimit(page.limit),
          page.cursor,
        )
        return { names, nextCursor, entries: rows.map(row => shown(row, [...names, row.name])) }
      }
      const found = await pageOfFound(query, page, address, async (...search) => {
        const { rows, more } = await lists.below(tree, id, ...search)
        return { rows: rows.map(row => ({ ...row, names: [...front, ...row.names] })), more }
      })
      return { names, ...found }
    },

    /** The same of the top of a share of several. @throws INVALID_INPUT, UNAVAILABLE */
    async top(
      tops: Tops,
      query: SharedQuery,
      page: PageArgs,
      address: string,
    ): Promise<SharedLevel> {
      const names: string[] = []
      if (isSearch(query))
        return {
          names,
          ...(await pageOfFound(query, page, address, (...search) =>
            searchTops(db, tops, ...search),
          )),
        }
      const after = readCursor(page.cursor, keyTypes(query)) as EntryKey | null
      const { rows, more } = pageOfTops(tops, query, readLimit(page.limit), after)
      const last = more && rows.at(-1)
      return {
        names,
        entries: rows.map(row => shown(row, [row.name])),
        nextCursor: last ? writeCursor(entryKeyOf(query, last)) : null,
      }
    },
  }
}
