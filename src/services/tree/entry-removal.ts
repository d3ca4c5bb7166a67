import { v7 as newId } from 'uuid'
import type { Tx } from '../../../db/index.ts'
import { FILE, FOLDER } from '../../../db/models/entry.ts'
import { addPurging, moveUsageToTrash, type Totals } from '../../../db/queries/bucket.ts'
import { insertEndedEntries } from '../../../db/queries/ended-share.ts'
import {
  addTotals,
  deleteEntries,
  detachEntries,
  detachToPurge,
} from '../../../db/queries/entry.ts'
import type { Node } from '../../../db/queries/entry-path.ts'
import { type Ended, endSharesOf } from '../../../db/queries/share-entry.ts'
import { insertTrashItems } from '../../../db/queries/trash-item.ts'
import { releaseFiles } from '../../../db/queries/version.ts'
import type { Config } from '../../config/config.ts'
import { AppError } from '../../runtime/errors.ts'
import { joinPath } from '../../values/paths.ts'
import type { Tree } from '../../values/tree.ts'
import type { Core } from '../core.ts'
import { enqueueAll } from '../job.ts'
import {
  addTo,
  addUsage,
  type Departure,
  minus,
  sumOf,
  type TreeChange,
  type TreeChangeRunner,
  weightOf,
} from './entry.ts'
import { pathIn } from './entry-path.ts'
import { purgeFolderJob } from './purge.ts'
import { noTrunk } from './trunk.ts'

/** An entry of a tree with the folders above it. */
export interface Located extends Departure {
  parentId: string
}

const isEmpty = ({ files, folders }: Pick<Node, 'files' | 'folders'>): boolean =>
  files === 0 && folders === 0

/** @throws FOLDER_NOT_EMPTY unless recursive */
export function requireEmpty(tree: Tree, names: string[], node: Node, recursive: boolean): void {
  if (recursive || isEmpty(node)) return
  throw folderNotEmpty(pathIn(tree, names), node)
}

/**
 * @param trashDays the number of days for which deleted entries can be restored; with 0 they are
 * deleted at once
 */
export function entryRemovalService({ db, trashDays }: Core<'db'> & Pick<Config, 'trashDays'>) {
  /** Ends the shares of entries and of everything in them. */
  function endShares(tree: Tree, nodes: Node[], keptAt: number | null, tx: Tx): Promise<Ended[]> {
    const full = nodes.filter(node => node.kind === FOLDER && !isEmpty(node))
    const deleted = { entryIds: idsOf(nodes), fullFolderIds: idsOf(full) }
    return endSharesOf(db, tree.bucketId, deleted, keptAt, tx)
  }

  /**
   * Deletes entries of a locked bucket that are no longer in a tree or counted as usage: files
   * immediately, and folders with their contents by a job. The caller wakes the worker.
   */
  async function deleteForEver(bucketId: string, nodes: Node[], tx: Tx): Promise<void> {
    const full = nodes.filter(node => node.kind === FOLDER && !isEmpty(node))
    const gone = nodes.filter(node => !full.includes(node))
    const files = gone.filter(node => node.kind === FILE)
    await releaseFiles(db, bucketId, files, tx)
    if (gone.length > 0) await deleteEntries(db, idsOf(gone), tx)
    if (full.length === 0) return
    await detachToPurge(db, idsOf(full), tx)
    await addPurging(db, bucketId, full.length, tx)
    await enqueueAll(
      db,
      purgeFolderJob,
      full.map(({ id }) => ({ folderId: id, bucketId })),
      tx,
    )
  }

  return {
    deleteForEver,

    /**
     * Removes entries and their contents from a locked tree and its usage: into the trash, or
     * permanently if the trash is off. No entry may be inside another one. The contents disappear
     * immediately for every user, and the shares of their files end. The caller wakes the worker.
     * @returns the ids of the trash items
     */
    async remove(
      tree: Tree,
      entries: Located[],
      { tx, by, record, trunk = noTrunk }: TreeChange,
    ): Promise<string[]> {
      if (entries.length === 0) return []
      const nodes = entries.map(entry => entry.node)
      const changes = new Map<string, Totals>()
      for (const { node, above } of entries)
        addTo(changes, [...trunk.folders, ...above], minus(weightOf(node)))
      await addTotals(db, changes, tx)
      const deletedAt = Date.now()
      const ended = await endShares(tree, nodes, trashDays === 0 ? null : deletedAt, tx)
      for (const { node, names } of entries) {
        const { id, bytes, files } = node
        const details = { path: pathIn(tree, names), bytes }
        if (node.kind === FILE) record({ kind: 'file.deleted', subject: id, details })
        else record({ kind: 'folder.deleted', subject: id, details: { ...details, files } })
      }
      const weight = sumOf(nodes.map(weightOf))
      if (trashDays === 0) {
        await addUsage(db, tree, minus(weight), tx)
        await deleteForEver(tree.bucketId, nodes, tx)
        return []
      }
      const endedIn = Map.groupBy(ended, ({ topId }) => topId)
      const items = entries.map(({ node, names, parentId }) => ({
        id: newId(),
        bucketId: tree.bucketId,
        entryId: node.id,
        parentId,
        path: joinPath([...trunk.names, ...names]),
        ...weightOf(node),
        deletedBy: by,
        deletedAt,
        endedShares: new Set(endedIn.get(node.id)?.map(({ shareId }) => shareId)).size,
      }))
      await moveUsageToTrash(db, tree.bucketId, weight, items.length, tx)
      await detachEntries(db, idsOf(nodes), tx)
      await insertTrashItems(db, items, tx)
      const left = items.flatMap(({ id: itemId, entryId: topId }) =>
        (endedIn.get(topId) ?? []).map(({ shareId, entryId, userId, position }) => ({
          shareId,
          entryId,
          itemId,
          userId,
          position,
          endedAt: deletedAt,
        })),
      )
      await insertEndedEntries(db, left, tx)
      return items.map(item => item.id)
    },
  }
}

export type EntryRemovalService = ReturnType<typeof entryRemovalService>

const idsOf = (nodes: Node[]): string[] => nodes.map(node => node.id)

/** The services that change trees and delete entries. */
export interface TreeDeps extends Core<'db' | 'wake'> {
  changeTree: TreeChangeRunner
  removal: EntryRemovalService
}

export const folderNotEmpty = (path: string, { files, folders }: Pick<Node, 'files' | 'folders'>) =>
  new AppError(
    'FOLDER_NOT_EMPTY',
    `The folder "${path}" is not empty. Empty it first, or delete it with recursive=true.`,
    { files, folders },
  )
