import { validate as isUuid } from 'uuid'
import type { Db, Tx } from '../../../db/index.ts'
import { FILE, FOLDER } from '../../../db/models/entry.ts'
import { entriesOf } from '../../../db/queries/entry.ts'
import { type Node, resolveChain, upFrom } from '../../../db/queries/entry-path.ts'
import { AppError } from '../../runtime/errors.ts'
import { joinPath, parsePath } from '../../values/paths.ts'
import type { Tree } from '../../values/tree.ts'

/** Identifies an entry of a tree. */
export type EntryName = { id: string } | { path: string }

/** The required kind of an entry. */
export type EntryKind = typeof FILE | typeof FOLDER

/** A path of a tree in the form of responses (docs/contract.md, "Paths"). */
export const pathIn = (
  { front }: Partial<Pick<Tree, 'front' | 'bucketId'>>,
  names: readonly string[],
): string => `${front ?? ''}${joinPath(names)}`

export function fileNotFound(tree: Partial<Tree>, names: readonly string[]): AppError {
  const path = pathIn(tree, names)
  return new AppError('FILE_NOT_FOUND', `There is no file "${path}". Check its path.`, { path })
}

export function folderNotFound(tree: Partial<Tree>, names: readonly string[]): AppError {
  const path = pathIn(tree, names)
  return new AppError('FOLDER_NOT_FOUND', `There is no folder "${path}". Check its path.`, { path })
}

/** The error for an id that belongs to no file of a tree. */
export const fileIdNotFound = (id: string): AppError =>
  new AppError('FILE_NOT_FOUND', 'There is no file with this id here. Use an id from a listing.', {
    file_id: id,
  })

/**
 * The entry at a path and the folders above it, without the root. Undefined if it does not exist.
 */
export async function findEntry(
  db: Db,
  tree: Tree,
  names: string[],
  tx?: Tx,
): Promise<{ node: Node; above: Node[] } | undefined> {
  const chain = await resolveChain(db, tree, names, tx)
  const node = chain.length === names.length ? chain.at(-1) : undefined
  return node && { node, above: chain.slice(0, -1) }
}

/**
 * The names of some folders from the root down. A folder that is not below one of the roots (a
 * deleted one) is skipped. One statement for up to 1,000 folders.
 */
export async function pathsOfFolders(
  db: Db,
  rootIds: Iterable<string>,
  folderIds: Iterable<string>,
  tx?: Tx,
): Promise<Map<string, string[]>> {
  const wanted = [...new Set(folderIds)]
  const known = await upFrom(db, wanted, tx)
  const paths = new Map<string, string[] | undefined>(Array.from(rootIds, id => [id, []]))
  const pathOf = (id: string): string[] | undefined => {
    if (paths.has(id)) return paths.get(id)
    const folder = known.get(id)
    const above = folder?.parentId ? pathOf(folder.parentId) : undefined
    const path = folder && above && [...above, folder.name]
    paths.set(id, path)
    return path
  }
  return new Map(
    wanted.flatMap(id => {
      const path = pathOf(id)
      return path ? [[id, path] as const] : []
    }),
  )
}

/**
 * The names from a root down to an entry, and the ids of the folders between them. Undefined if the
 * entry is no longer below the root.
 * @param up the entry and all folders above it
 */
export function chainOf(
  rootId: string,
  up: Map<string, { parentId: string | null; name: string }>,
  id: string,
): { names: string[]; ids: string[] } | undefined {
  const names: string[] = []
  const ids: string[] = []
  for (let at = id; at !== rootId; ) {
    const entry = up.get(at)
    if (!entry?.parentId) return undefined
    names.unshift(entry.name)
    if (at !== id) ids.unshift(at)
    at = entry.parentId
  }
  return { names, ids }
}

/**
 * The names of a destination folder. A folder given by path need not exist.
 * @param field the input field, for errors
 * @throws INVALID_PATH, FOLDER_NOT_FOUND
 */
export async function namesOfFolder(
  db: Db,
  tree: Tree,
  to: EntryName,
  field: string,
  tx: Tx,
): Promise<string[]> {
  if ('path' in to) return parsePath(to.path, field)
  if (to.id === tree.rootId) return []
  const [folder] = isUuid(to.id) ? await entriesOf(db, tree.bucketId, [to.id], tx) : []
  const names =
    folder?.kind === FOLDER && (await pathsOfFolders(db, [tree.rootId], [to.id], tx)).get(to.id)
  if (names) return names
  throw new AppError(
    'FOLDER_NOT_FOUND',
    'There is no folder with this id here. Use an id from a listing.',
    {
      id: to.id,
    },
  )
}

/** The error for a missing entry: a file, a folder, or either. */
export function entryNotFound(tree: Tree, named: EntryName, kind?: EntryKind): AppError {
  if ('id' in named)
    return kind === FILE
      ? fileIdNotFound(named.id)
      : new AppError(
          'FILE_NOT_FOUND',
          'There is no file or folder with this id here. Use an id from a listing.',
          { id: named.id },
        )
  const names = parsePath(named.path)
  if (kind === FILE) return fileNotFound(tree, names)
  if (kind === FOLDER) return folderNotFound(tree, names)
  const path = pathIn(tree, names)
  return new AppError('FILE_NOT_FOUND', `There is nothing at "${path}". Check the path.`, { path })
}
