import type { Tx } from '../../../db/index.ts'
import { FOLDER } from '../../../db/models/entry.ts'
import { raiseCount } from '../../../db/queries/bucket.ts'
import { folderNames } from '../../../db/queries/entry.ts'
import type { Caller } from '../../access/caller.ts'
import { AppError } from '../../runtime/errors.ts'
import type { OnConflict } from '../../values/on-conflict.ts'
import { joinPath, parseFilePath, parseName, parsePath } from '../../values/paths.ts'
import type { Tree } from '../../values/tree.ts'
import { moveOnConflict } from './conflict.ts'
import { addEntry, addUsage, lockTree, prepareFolder, type TreeChange } from './entry.ts'
import { findEntry, pathIn } from './entry-path.ts'
import { requireEmpty, type TreeDeps } from './entry-removal.ts'
import { type ExpectedRevision, requireRevision } from './revision.ts'

/** A new or existing folder. */
export interface MadeFolder {
  id: string
  names: string[]
  createdAt: number
  revision: number
}

interface MovedFolder {
  source: string[]
  destination: string[]
  filesMoved: number
  revision: number
}

export function folderService({ db, changeTree, removal, wake }: TreeDeps) {
  async function locate(tree: Tree, names: string[], tx: Tx) {
    const found = await findEntry(db, tree, names, tx)
    if (found?.node.kind === FOLDER) return found
    const path = pathIn(tree, names)
    throw new AppError('FOLDER_NOT_FOUND', `There is no folder "${path}". Check its path.`, {
      path,
    })
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

    /**
     * Moves a folder with its contents, at a cost independent of its size. A conflicting file may
     * be replaced; a folder never is.
     * @throws FOLDER_NOT_FOUND, REVISION_MISMATCH, PATH_EXISTS, INVALID_PATH
     */
    async move(
      tree: Tree,
      source: string,
      destination: string,
      { onConflict, expected }: { onConflict: OnConflict; expected: ExpectedRevision },
      caller: Caller,
    ): Promise<MovedFolder> {
      const from = parseFilePath(source, 'source')
      const to = parseFilePath(destination, 'destination')
      if (from.every((name, i) => to[i] === name))
        throw new AppError(
          'INVALID_PATH',
          'A folder cannot be moved into itself. Choose a destination outside of it.',
          { field: 'destination' },
        )
      return changeTree(tree, caller, async change => {
        await lockTree(db, tree, change.tx)
        const found = await locate(tree, from, change.tx)
        requireRevision(found.node, expected)
        const place = { folder: to.slice(0, -1), name: to.at(-1) ?? '', onConflict }
        const [name = ''] = await moveOnConflict(
          db,
          tree,
          [{ ...found, names: from }],
          place,
          removal,
          change,
        )
        const { files: filesMoved, revision } = found.node
        return {
          source: from,
          destination: [...place.folder, name],
          filesMoved,
          revision: revision + 1,
        }
      })
    },

    /**
     * Deletes a folder. It detaches one row, so the contents disappear at once for every user. A
     * job purges them afterwards.
     * @throws FOLDER_NOT_FOUND, REVISION_MISMATCH, FOLDER_NOT_EMPTY unless recursive
     */
    async remove(
      tree: Tree,
      path: string,
      { recursive, expected }: { recursive: boolean; expected: ExpectedRevision },
      caller: Caller,
    ): Promise<{ names: string[]; filesDeleted: number }> {
      const names = parseFilePath(path, 'path')
      const filesDeleted = await changeTree(tree, caller, async change => {
        const { tx } = change
        await lockTree(db, tree, tx)
        const { node, above } = await locate(tree, names, tx)
        requireRevision(node, expected)
        requireEmpty(tree, names, node, recursive)
        await removal.remove(
          tree,
          [{ node, names, above, parentId: above.at(-1)?.id ?? tree.rootId }],
          change,
        )
        return node.files
      })
      wake()
      return { names, filesDeleted }
    },
  }
}
