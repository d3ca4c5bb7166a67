import type { Tx } from '../../../db/index.ts'
import { FOLDER } from '../../../db/models/entry.ts'
import { raiseCount } from '../../../db/queries/bucket.ts'
import { folderNames } from '../../../db/queries/entry.ts'
import type { Caller } from '../../access/caller.ts'
import { joinPath, parseFilePath, parseName, parsePath } from '../../values/paths.ts'
import type { Tree } from '../../values/tree.ts'
import { addEntry, addUsage, lockTree, prepareFolder, type TreeChange } from './entry.ts'
import { findEntry, folderNotFound, pathIn } from './entry-path.ts'
import type { TreeDeps } from './entry-removal.ts'

/** A new or existing folder. */
export interface MadeFolder {
  id: string
  names: string[]
  createdAt: number
  revision: number
}

export function folderService({ db, changeTree }: Pick<TreeDeps, 'db' | 'changeTree'>) {
  async function locate(tree: Tree, names: string[], tx: Tx) {
    const found = await findEntry(db, tree, names, tx)
    if (found?.node.kind === FOLDER) return found
    throw folderNotFound(tree, names)
  }

  /**
   * Locks a tree and, if the plan allows one more folder, adds it to the usage, both in one
   * statement.
   * @returns the number of added folders
   */
  async function lockAndCount(tree: Tree, tx: Tx): Promise<number> {
    if (await raiseCount(db, tree.bucketId, 'used_folders', tree.maxFolders ?? null, tx)) return 1
    // A taken name is reported before an exceeded limit.
    await lockTree(db, tree, tx)
    return 0
  }

  /** Creates a folder in a tree that lockAndCount has locked. */
  async function make(
    tree: Tree,
    names: string[],
    counted: number,
    change: TreeChange,
  ): Promise<MadeFolder> {
    const { tx, by, record } = change
    const none = { bytes: 0, files: 0, folders: 0 }
    const [folder, name] = [names.slice(0, -1), names.at(-1) ?? '']
    const arrivals = [{ name, weight: { ...none, folders: 1 }, levelsBelow: 0, bytesBelow: 0 }]
    const { parentId, foldersMade } = await prepareFolder(db, tree, { folder, arrivals }, change)
    const uncounted = foldersMade + 1 - counted
    if (uncounted > 0) await addUsage(db, tree, { ...none, folders: uncounted }, tx, counted)
    const createdAt = Date.now()
    const entry = { parentId, kind: FOLDER, name, totals: none, by, at: createdAt } as const
    const id = await addEntry(db, tree, entry, tx)
    record({ kind: 'folder.created', subject: id, details: { path: pathIn(tree, names) } })
    return { id, names, createdAt, revision: 1 }
  }

  return {
    /** The names of the folders in a folder. For an invalid or unknown path the list is empty. */
    async list(tree: Tree, path: string): Promise<{ path: string; folders: string[] }> {
      let names: string[]
      try {
        names = parsePath(path, 'path')
      } catch {
        return { path: '', folders: [] }
      }
      const found = names.length > 0 ? await findEntry(db, tree, names) : undefined
      if (names.length > 0 && !found) return { path: joinPath(names), folders: [] }
      return {
        path: joinPath(names),
        folders: await folderNames(db, found?.node.id ?? tree.rootId),
      }
    },

    /** Creates a folder and its missing parents. @throws PATH_EXISTS */
    async create(tree: Tree, path: string, caller: Caller): Promise<MadeFolder> {
      const names = parseFilePath(path, 'path')
      return changeTree(tree, caller, async change => {
        const counted = await lockAndCount(tree, change.tx)
        return make(tree, names, counted, change)
      })
    },

    /** Creates a folder in an existing one. @throws FOLDER_NOT_FOUND, PATH_EXISTS */
    async createIn(tree: Tree, parent: string, name: string, caller: Caller): Promise<MadeFolder> {
      const above = parsePath(parent, 'parent_path')
      const names = parseFilePath(
        joinPath([...above, parseName(name, 'folder_name')]),
        'folder_name',
      )
      return changeTree(tree, caller, async change => {
        const counted = await lockAndCount(tree, change.tx)
        if (above.length > 0) await locate(tree, above, change.tx)
        return make(tree, names, counted, change)
      })
    },
  }
}
