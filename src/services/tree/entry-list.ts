import { validate as isUuid } from 'uuid'
import { FILE, FOLDER } from '../../../db/models/entry.ts'
import {
  type ChildRow,
  type EntryKey,
  type EntryQuery,
  type EntryRow,
  entriesBelow,
  entriesByIds,
  entriesOfKind,
  entryAt,
  filesMadeAt,
  type PlacedRow,
  pagesOfChildren,
} from '../../../db/queries/entry-list.ts'
import { type Page, pageOf } from '../../../db/queries/page.ts'
import { countSharesOf } from '../../../db/queries/share-entry.ts'
import type { Caller } from '../../access/caller.ts'
import { InvalidInput } from '../../runtime/errors.ts'
import { entryNumber, timeOfNumber } from '../../values/entry-number.ts'
import { MAX_NAME_PART } from '../../values/limits.ts'
import type { Tree } from '../../values/tree.ts'
import type { Core } from '../core.ts'
import { rowsById } from '../rows-by-id.ts'
import { pathsOfFolders } from './entry-path.ts'

/** An entry with its place in its tree. */
export interface PlacedEntry extends PlacedRow {
  /** The names from the root down, including its own. Empty for a root. */
  names: string[]
}

/** An entry in a list. */
export type ListedEntry = EntryRow

/** The position after which a page of search results starts: the sort value and the id. */
export type SearchKey = [string | number, string]

/**
 * Parses a part of a name for a search by name.
 * @throws INVALID_INPUT
 */
export function parsePart(text: string, field: string): string {
  const part = text.normalize('NFC').toLowerCase()
  if (part === '' || part.length > MAX_NAME_PART || /\p{Surrogate}/u.test(part))
    throw new InvalidInput(
      field,
      `"${field}" is a part of a name: 1 to ${MAX_NAME_PART} characters.`,
    )
  return part
}

/** The cursor key after an entry of such a query. */
export const entryKeyOf = ({ sort }: Pick<EntryQuery, 'sort'>, entry: EntryRow): EntryKey =>
  sort === 'name' ? [entry.kind, entry.name] : [entry[sort], entry.id]

/**
 * Lists of entries for the graph. Nothing here authorizes: pass only trees and entries that the
 * caller may see.
 */
export function entryListService({ db }: Core<'db'>) {
  /** @param rows of any trees; rows below a folder that is being purged are skipped */
  async function placed(rows: (PlacedRow & { rootId: string })[]): Promise<PlacedEntry[]> {
    const folders = await pathsOfFolders(
      db,
      rows.map(row => row.rootId),
      rows.flatMap(row => row.parentId ?? []),
    )
    return rows.flatMap(({ rootId, ...row }) => {
      if (row.id === rootId) return { ...row, names: [] }
      const folder = row.parentId && folders.get(row.parentId)
      return folder ? { ...row, names: [...folder, row.name] } : []
    })
  }

  return {
    placed,

    /**
     * Some entries of any trees by id, with their paths. One statement reads the rows, one the
     * paths.
     */
    byIds: (ids: readonly string[]): Promise<Map<string, PlacedEntry>> =>
      rowsById(ids, async some => placed(await entriesByIds(db, some))),

    /** The file of a tree with this entry number, or null. */
    async byNumber(tree: Tree, number: string): Promise<PlacedEntry | null> {
      const at = timeOfNumber(number)
      if (at === undefined) return null
      const ids = await filesMadeAt(db, tree.bucketId, at)
      const id = ids.find(one => entryNumber(one) === number)
      return id === undefined ? null : ((await this.byIds([id])).get(id) ?? null)
    },

    /**
     * The entry with these names from the root down (none for the root). Null if it does not exist.
     */
    async at(tree: Tree, names: string[]): Promise<PlacedEntry | null> {
      const row = await entryAt(db, tree, names)
      return row ? { ...row, names } : null
    },

    /**
     * The children of some folders. The page of each folder starts after the same key. One
     * statement for up to 128 folders.
     */
    childrenOf(
      folderIds: string[],
      query: EntryQuery,
      limit: number,
      after: EntryKey | null,
    ): Promise<Map<string, Page<ChildRow>>> {
      const { nameContains, tagIds = [] } = query
      // A text that is not an id matches no tag. MySQL cannot compare an ASCII id column with
      // non-ASCII text.
      const ofTags = tagIds.map(id => (isUuid(id) ? id : ''))
      const part = nameContains === null ? null : parsePart(nameContains, 'filter.nameContains')
      return pagesOfChildren(
        db,
        folderIds,
        { ...query, nameContains: part, tagIds: ofTags },
        limit,
        after,
      )
    },

    keyOf: entryKeyOf,

    /**
     * The entries of a tree whose names contain a text, case-insensitively, oldest first. `last` is
     * the start of the next page.
     */
    async search(
      tree: Tree,
      text: string,
      limit: number,
      after: string | null,
    ): Promise<Page<PlacedEntry>> {
      const part = parsePart(text, 'query')
      // Each scans one range of the index on (bucket_id, kind, id).
      const found = await Promise.all(
        ([FOLDER, FILE] as const).map(kind =>
          entriesOfKind(db, tree.bucketId, kind, { after: after ?? '', limit: limit + 1, part }),
        ),
      )
      const all = found.flat().sort((a, b) => (a.id < b.id ? -1 : 1))
      const { rows, more } = pageOf(all, limit)
      return {
        rows: await placed(rows.map(row => ({ ...row, rootId: tree.rootId }))),
        more,
        last: rows.at(-1)?.id,
      }
    },

    /**
     * The entries below a folder, at any depth, whose names contain a text, case-insensitively. One
     * statement reads the rows, one their paths.
     */
    async below(
      tree: Tree,
      folderId: string,
      { text, ...order }: Pick<EntryQuery, 'sort' | 'descending'> & { text: string },
      limit: number,
      after: SearchKey | null,
    ): Promise<Page<PlacedEntry>> {
      const found = await entriesBelow(
        db,
        folderId,
        { ...order, part: parsePart(text, 'query') },
        limit,
        after,
      )
      return {
        ...found,
        rows: await placed(found.rows.map(row => ({ ...row, rootId: tree.rootId }))),
      }
    },

    /**
     * The number of live shares that the caller has created for each file. One statement for up to
     * 1,000.
     */
    shareCounts: ({ userId }: Caller, ids: readonly string[]): Promise<Map<string, number>> =>
      countSharesOf(db, userId, ids),
  }
}

export type EntryListService = ReturnType<typeof entryListService>
