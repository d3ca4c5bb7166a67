import type { Db, Tx } from '../../../db/index.ts'
import { FOLDER } from '../../../db/models/entry.ts'
import { MAX_SHARED_FILES } from '../../values/limits.ts'
import { shareTitle } from '../../values/share-title.ts'
import type { Tree } from '../../values/tree.ts'
import { locateEntries } from '../tree/entry-location.ts'
import { type EntryKind, type EntryName, entryNotFound } from '../tree/entry-path.ts'
import type { FoundEntry, ListingService } from '../tree/listing.ts'

/** The entries of one share: one, or several, which look like a folder named after the first. */
export interface Shared
  extends Pick<FoundEntry, 'id' | 'kind' | 'names' | 'fileType' | 'size' | 'md5' | 'revision'> {
  title: string
  /** The ids of several entries; null for one. */
  entryIds: string[] | null
}

/** A single shared entry. */
export const alone = (entry: FoundEntry): Shared => ({
  ...entry,
  title: entry.names.at(-1) ?? '',
  entryIds: null,
})

/**
 * Finds a file or folder to share.
 * @param kind what it must be
 * @throws FILE_NOT_FOUND, FOLDER_NOT_FOUND, INVALID_PATH
 */
export async function sharedEntry(
  listings: ListingService,
  tree: Tree,
  ref: EntryName,
  tx?: Tx,
  kind?: EntryKind,
): Promise<FoundEntry> {
  const found = await listings.entry(tree, ref, tx)
  if (!found || (kind !== undefined && found.kind !== kind)) throw entryNotFound(tree, ref, kind)
  return found
}

/**
 * Finds several entries to share together, without duplicates. An entry inside another shared
 * folder is visible there and left out. If one entry remains, it is shared alone.
 * @throws FILE_NOT_FOUND, INVALID_PATH, INVALID_INPUT
 */
export async function together(
  db: Db,
  listings: ListingService,
  tree: Tree,
  refs: readonly EntryName[],
  tx?: Tx,
): Promise<Shared> {
  const all = await locateEntries(db, tree, refs, tx, { most: MAX_SHARED_FILES, field: 'files' })
  const ids = new Set(all.map(({ node }) => node.id))
  const outer = all.filter(({ above }) => !above.some(folder => ids.has(folder.id)))
  const [first] = outer
  if (!first) throw new Error('Entries cannot all be inside one another.')
  const { names } = first
  const { id } = first.node
  if (outer.length === 1) return alone(await sharedEntry(listings, tree, { id }, tx))
  return {
    id,
    names,
    kind: FOLDER,
    fileType: '',
    md5: '',
    revision: 0,
    size: outer.reduce((sum, { node }) => sum + node.bytes, 0),
    title: shareTitle(names.at(-1) ?? '', outer.length),
    entryIds: outer.map(({ node }) => node.id),
  }
}
