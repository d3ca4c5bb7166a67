import { v7 as newId } from 'uuid'
import type { Db, Tx } from '../../db/index.ts'
import { FOLDER } from '../../db/models/entry.ts'
import { AppError } from '../errors.ts'
import { joinPath, parseFilePath, parseName, parsePath } from '../paths.ts'
import {
  addTotals,
  addUsage,
  changesOf,
  insertEntry,
  lockTree,
  minus,
  moveEntry,
  prepareParent,
  weightOf,
} from './entry.ts'
import { findEntry, pathIn, type Tree } from './entry-path.ts'
import type { EventService } from './event.ts'
import { enqueue } from './outbox.ts'

/** A new or existing folder. */
export interface MadeFolder {
  id: string
  names: string[]
  createdAt: number
}

export function folderService({ db, events, wake }: { db: Db; events: EventService; wake: () => void }) {
  const change = changesOf(db, events)

  async function locate(tree: Tree, names: string[], tx: Tx) {
    const found = await findEntry(db, tree, names, tx)
    if (found?.node.kind === FOLDER) return found
    const path = pathIn(tree, names)
    throw new AppError('FOLDER_NOT_FOUND', `There is no folder "${path}". Check its path.`, { path })
  }

  /** Creates a folder in a locked tree. */
  async function make(tree: Tree, names: string[], by: string, tx: Tx): Promise<MadeFolder> {
    const none = { bytes: 0, files: 0, folders: 0 }
    const load = { weight: { ...none, folders: 1 }, levelsBelow: 0, bytesBelow: 0 }
    const { parentId, foldersMade } = await prepareParent(db, tree, names, load, by, tx)
    await addUsage(db, tree, { ...none, folders: foldersMade + 1 }, tx)
    const createdAt = Date.now()
    const entry = { parentId, kind: FOLDER, name: names.at(-1) ?? '', totals: none, by, at: createdAt } as const
    return { id: await insertEntry(db, tree, entry, tx), names, createdAt }
  }

  return {
    /** The names of the folders in a folder. Lenient: for an invalid or unknown path the list is empty. */
    async list(tree: Tree, path: string): Promise<{ path: string; folders: string[] }> {
      let names: string[]
      try {
        names = parsePath(path, 'path')
      } catch {
        return { path: '', folders: [] }
      }
      const found = names.length > 0 ? await findEntry(db, tree, names) : undefined
      if (names.length > 0 && !found) return { path: joinPath(names), folders: [] }
      const rows = await db.rows<{ name: string }>(
        `SELECT name FROM entry WHERE parent_id = ? AND kind = ${FOLDER} ORDER BY name LIMIT 10000`,
        [found?.node.id ?? tree.rootId],
      )
      return { path: joinPath(names), folders: rows.map(r => r.name) }
    },

    /** Creates a folder and its missing parents. @throws PATH_EXISTS */
    async create(tree: Tree, path: string, by: string): Promise<MadeFolder> {
      const names = parseFilePath(path, 'path')
      return change(tree, async tx => {
        await lockTree(db, tree, tx)
        return make(tree, names, by, tx)
      })
    },

    /** Creates a folder in an existing one. @throws FOLDER_NOT_FOUND, PATH_EXISTS */
    async createIn(tree: Tree, parent: string, name: string, by: string): Promise<MadeFolder> {
      const above = parsePath(parent, 'parent_path')
      const names = parseFilePath(joinPath([...above, parseName(name, 'folder_name')]), 'folder_name')
      return change(tree, async tx => {
        await lockTree(db, tree, tx)
        if (above.length > 0) await locate(tree, above, tx)
        return make(tree, names, by, tx)
      })
    },

    /** Moves a folder with its content, at a cost independent of its size. */
    async move(
      tree: Tree,
      source: string,
      destination: string,
      by: string,
    ): Promise<{ source: string[]; destination: string[]; filesMoved: number }> {
      const from = parseFilePath(source, 'source')
      const to = parseFilePath(destination, 'destination')
      if (from.every((name, i) => to[i] === name))
        throw new AppError(
          'INVALID_PATH',
          'A folder cannot be moved into itself. Choose a destination outside of it.',
          { field: 'destination' },
        )
      const filesMoved = await change(tree, async tx => {
        await lockTree(db, tree, tx)
        const found = await locate(tree, from, tx)
        await moveEntry(db, tree, found, to, by, tx)
        return found.node.files
      })
      return { source: from, destination: to, filesMoved }
    },

    /**
     * Deletes a folder. Detaches one row, so that its content disappears immediately for every user; a job purges it afterwards.
     * @throws FOLDER_NOT_EMPTY unless recursive
     */
    async remove(tree: Tree, path: string, recursive: boolean): Promise<{ names: string[]; filesDeleted: number }> {
      const names = parseFilePath(path, 'path')
      const filesDeleted = await change(tree, async tx => {
        await lockTree(db, tree, tx)
        const { node, above } = await locate(tree, names, tx)
        const empty = node.files === 0 && node.folders === 0
        if (!empty && !recursive)
          throw new AppError(
            'FOLDER_NOT_EMPTY',
            `The folder "${pathIn(tree, names)}" is not empty. Empty it first, or delete it with recursive=true.`,
            {
              files: node.files,
              folders: node.folders,
            },
          )
        const gone = minus(weightOf(node))
        await addTotals(db, above, gone, tx)
        await addUsage(db, tree, gone, tx)
        if (empty) await db.run('DELETE FROM entry WHERE id = ?', [node.id], tx)
        else {
          await db.run('UPDATE entry SET parent_id = NULL, name = ? WHERE id = ?', [newId(), node.id], tx)
          await db.run('UPDATE bucket SET purging = purging + 1 WHERE id = ?', [tree.bucketId], tx)
          await enqueue(db, 'purge-folder', { folderId: node.id, bucketId: tree.bucketId }, tx)
        }
        return node.files
      })
      wake()
      return { names, filesDeleted }
    },
  }
}

export type FolderService = ReturnType<typeof folderService>
