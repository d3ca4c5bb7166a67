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

/** The list options of a visitor of a shared folder. */
export interface SharedQuery {
  sort: EntrySort
  descending: boolean
  /** A part of a name. Searches all levels instead of listing the folder. */
  search: string | null
}

/** Selects a list of a share and a page of it. */
export interface SharedListArgs {
  /** The path of a folder below the shared one; empty for the shared folder. */
  path: string
  query: SharedQuery
  page: PageArgs
}

/**
 * An entry in a share. Its size in bytes and its file count include everything below it. Times are
 * in milliseconds.
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
    | 'contentRevision'
    | 'changeStamp'
  > {
  /** The path from the shared folder, or from the top of a share of several entries. */
  path: string
  fileType: string
  /** Null for a folder. */
  blobId: string | null
  /** The version of its thumbnail. Null if there is none, or the share shows none. */
  picture: string | null
}

/**
 * A page of a shared folder, of a folder below it, or of search results. A share of several entries
 * is like a folder.
 */
export interface SharedLevel {
  /** The names from the shared folder down. */
  names: string[]
  entries: SharedEntry[]
  nextCursor: string | null
}

/**
 * The types in the cursors of a list: kind and name, number and id, or the sort value of a search
 * and id.
 */
export function keyTypes({
  sort,
  search,
}: Pick<SharedQuery, 'sort' | 'search'>): ['string' | 'number', 'string' | 'id'] {
  if (search !== null) return [sort === 'name' ? 'string' : 'number', 'id']
  return ['number', sort === 'name' ? 'string' : 'id']
}

/** The queue of waiting searches. `patience` is in milliseconds. */
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
  contentRevision: row.contentRevision,
  changeStamp: row.changeStamp,
  fileType,
  path: joinPath(names),
  blobId: row.blobId,
  picture: null,
})

/**
 * Lists of entries below a shared folder. Does not authorize: pass only folders that the visitor
 * may see.
 */
export function shareListings(db: Db, lists: EntryListService) {
  // Anyone with a link may search, and each search reads all names below the folder. So searches
  // run one at a time, and networks take turns.
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

  /**
   * A page of search results.
   * @param find runs the search when it is its turn
   */
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
      // At the top of a share of several entries, an entry may have a replacement name.
      entries: rows.map(row => shown({ ...row, name: row.names.at(-1) ?? row.name }, row.names)),
      nextCursor: last ? writeCursor([last[sort], last.id]) : null,
    }
  }

  const isSearch = (query: SharedQuery): query is SharedQuery & { search: string } =>
    query.search !== null

  return {
    /**
     * @param folder the root of the tree or a folder below it, with its names from the top of the
     * share down
     * @param front those of its names that lead to the root of the tree
     * @param address the address of the visitor
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

    /**
     * A page of the top of a share of several entries.
     * @throws INVALID_INPUT, UNAVAILABLE
     */
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
