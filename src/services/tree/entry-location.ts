import { validate as isUuid } from 'uuid'
import type { Db, Tx } from '../../../db/index.ts'
import { entriesOf } from '../../../db/queries/entry.ts'
import { resolveChains, upFrom } from '../../../db/queries/entry-path.ts'
import { AppError, InvalidInput } from '../../runtime/errors.ts'
import { figure, MAX_CHANGED } from '../../values/limits.ts'
import { joinPath, parseFilePath, parsePath } from '../../values/paths.ts'
import type { Tree } from '../../values/tree.ts'
import { chainOf, type EntryKind, type EntryName, entryNotFound } from './entry-path.ts'
import type { Located } from './entry-removal.ts'

/** Which entries `locateEntries` accepts. */
export interface Wanted {
  /** The maximum number of names. */
  most?: number
  /** The input field, for errors. */
  field?: string
  /** The required kind of the entries. Others count as missing. */
  kind?: EntryKind
  /** Whether missing entries are skipped. */
  skipsMissing?: boolean
}

/**
 * The entries of a tree with these names, without duplicates. One statement for all paths, and two
 * for all ids.
 * @param tx of a change that has locked the tree
 * @throws FILE_NOT_FOUND, FOLDER_NOT_FOUND, INVALID_PATH, INVALID_INPUT
 */
export async function locateEntries(
  db: Db,
  tree: Tree,
  named: readonly EntryName[],
  tx?: Tx,
  { most = MAX_CHANGED, field = 'entries', kind, skipsMissing = false }: Wanted = {},
): Promise<Located[]> {
  if (named.length < 1 || named.length > most)
    throw new InvalidInput(field, `Name 1 to ${figure(most)} entries.`)
  const paths = named.flatMap(entry => ('path' in entry ? [parseFilePath(entry.path, field)] : []))
  const ids = named.flatMap(entry => ('id' in entry && isUuid(entry.id) ? [entry.id] : []))
  if (ids.includes(tree.rootId))
    throw new AppError(
      'INVALID_PATH',
      'This is the root of a drive, which cannot be moved, copied or deleted.',
      { field },
    )
  const byPath = await locatePaths(db, tree, paths, tx)
  const byId = await locateIds(db, tree, [...new Set(ids)], tx)
  const found = new Map<string, Located>()
  for (const entry of named) {
    const one = 'id' in entry ? byId.get(entry.id) : byPath.get(joinPath(parsePath(entry.path)))
    if (one && (kind === undefined || one.node.kind === kind)) found.set(one.node.id, one)
    else if (!skipsMissing) throw entryNotFound(tree, entry, kind)
  }
  return [...found.values()]
}

/** The entries at some paths, by their joined names. */
async function locatePaths(
  db: Db,
  tree: Tree,
  paths: string[][],
  tx: Tx | undefined,
): Promise<Map<string, Located>> {
  const chains = await resolveChains(db, tree, paths, tx)
  return new Map(
    paths.flatMap((names, i) => {
      const chain = chains[i] ?? []
      const node = chain[names.length - 1]
      const above = chain.slice(0, names.length - 1)
      const parentId = above.at(-1)?.id ?? tree.rootId
      return node ? [[joinPath(names), { node, names, parentId, above }] as const] : []
    }),
  )
}

/** The entries with some ids that are below the root of a tree. */
async function locateIds(
  db: Db,
  tree: Tree,
  ids: string[],
  tx: Tx | undefined,
): Promise<Map<string, Located>> {
  if (ids.length === 0) return new Map()
  const up = await upFrom(db, ids, tx)
  const rows = await entriesOf(db, tree.bucketId, ids, tx)
  return new Map(
    rows.flatMap(({ parentId, ...node }) => {
      const chain = chainOf(tree.rootId, up, node.id)
      if (!parentId || !chain) return []
      const above = chain.ids.map(id => ({ id }))
      return [[node.id, { node, names: chain.names, parentId, above }] as const]
    }),
  )
}
