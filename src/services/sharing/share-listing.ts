import type { EntryKey, EntrySort } from '../../../db/queries/entry-list.ts'
import { Busy } from '../../runtime/errors.ts'
import { createFairQueue } from '../../runtime/fair-queue.ts'
import { networkOf } from '../../values/network.ts'
import { joinPath } from '../../values/paths.ts'
import type { Tree } from '../../values/tree.ts'
import { type PageArgs, readCursor, readLimit, writeCursor } from '../page.ts'
import type { EntryListService, ListedEntry, SearchKey } from '../tree/entry-list.ts'

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

/** A file or folder in a shared folder. Its size in bytes and its number of files are those of everything below it; times in milliseconds. */
export interface SharedEntry
  extends Pick<ListedEntry, 'id' | 'kind' | 'name' | 'size' | 'fileCount' | 'md5' | 'updatedAt'> {
  /** From the shared folder. */
  path: string
  fileType: string
}

/** One page of what is in a shared folder, or in a folder below it, or of what a search has found there. */
export interface SharedLevel {
  /** Of the folder, from the shared one down. */
  names: string[]
  entries: SharedEntry[]
  nextCursor: string | null
}

/** The types of the parts of the cursors of such a list: kind and name, number and id, or of a search what it is sorted by and id. */
export function keyTypes({
  sort,
  search,
}: Pick<SharedQuery, 'sort' | 'search'>): ['string' | 'number', 'string' | 'id'] {
  if (search !== null) return [sort === 'name' ? 'string' : 'number', 'id']
  return ['number', sort === 'name' ? 'string' : 'id']
}

/** Searches that wait for their turn, and for how many milliseconds. */
const LINE = { longest: 500, longestPerKey: 50, patience: 10_000 }

const shown = ({ contentType: fileType, ...row }: ListedEntry, names: string[]): SharedEntry => ({
  ...{ id: row.id, kind: row.kind, name: row.name, size: row.size, fileCount: row.fileCount, md5: row.md5 },
  ...{ updatedAt: row.updatedAt, fileType, path: joinPath(names) },
})

/** Lists of what is below a shared folder. Does not authorize: pass only folders that the visitor may see. */
export function shareListings(lists: EntryListService) {
  // Everybody may search who has a link, and each search reads all names below the folder: one at a time, and networks by turns.
  const full = () => new Busy('Too many searches of shared folders wait. Try again in a few seconds.')
  const turns = createFairQueue({ atOnce: 1, ...LINE, full })

  async function pageOfFolder(folderId: string, query: SharedQuery, limit: number, cursor: PageArgs['cursor']) {
    const { sort, descending } = query
    const after = readCursor(cursor, keyTypes(query)) as EntryKey | null
    const filter = { sort, descending, kind: null, nameContains: null }
    const page = (await lists.childrenOf([folderId], filter, limit, after)).get(folderId)
    const last = page?.more && page.rows.at(-1)
    return { rows: page?.rows ?? [], nextCursor: last ? writeCursor(lists.keyOf(filter, last)) : null }
  }

  return {
    /**
     * @param folder below the root of the tree, or the root itself
     * @param address of the visitor
     * @throws INVALID_INPUT, UNAVAILABLE
     */
    async page(
      tree: Tree,
      folder: { id: string; names: string[] },
      query: SharedQuery,
      { limit, cursor }: PageArgs,
      address: string,
    ): Promise<SharedLevel> {
      const { names } = folder
      const most = readLimit(limit)
      if (query.search === null) {
        const { rows, nextCursor } = await pageOfFolder(folder.id, query, most, cursor)
        return { names, nextCursor, entries: rows.map(row => shown(row, [...names, row.name])) }
      }
      const { sort, descending, search } = query
      const after: SearchKey | null = readCursor(cursor, keyTypes(query))
      const found = await turns.run([networkOf(address)], () =>
        lists.below(tree, folder.id, { sort, descending, text: search }, most, after),
      )
      const last = found.more && found.rows.at(-1)
      return {
        names,
        entries: found.rows.map(row => shown(row, row.names)),
        nextCursor: last ? writeCursor([last[sort], last.id]) : null,
      }
    },
  }
}
