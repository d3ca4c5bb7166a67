import { validate as isUuid } from 'uuid'
import type { Tx } from '../../../db/index.ts'
import { folderCount, uncountTrash } from '../../../db/queries/bucket.ts'
import { GRACE_MS } from '../../../db/queries/ended-share.ts'
import { mapPage, type Page } from '../../../db/queries/page.ts'
import { restoreUsage } from '../../../db/queries/reservation.ts'
import {
  deleteTrashItems,
  oldestTrashed,
  pageOfTrash,
  type TrashedNode,
  type TrashItemRow,
  trashedNodes,
  trashItems,
} from '../../../db/queries/trash-item.ts'
import type { Caller } from '../../access/caller.ts'
import type { Config } from '../../config/config.ts'
import { AppError, InvalidInput } from '../../runtime/errors.ts'
import { DAY_MS } from '../../values/duration.ts'
import { figure, MAX_CHANGED } from '../../values/limits.ts'
import type { OnConflict } from '../../values/on-conflict.ts'
import { joinPath, parseFilePath } from '../../values/paths.ts'
import type { BucketLimits, Tree } from '../../values/tree.ts'
import { type PageArgs, pageById } from '../page.ts'
import { rowsById } from '../rows-by-id.ts'
import { makeRoom } from './conflict.ts'
import { foldersExceeded, lockTree, moveEntries, weightOf } from './entry.ts'
import { type EntryName, namesOfFolder, pathsOfFolders } from './entry-path.ts'
import type { TreeDeps } from './entry-removal.ts'
import { quotaExceeded } from './quota.ts'
import { returning } from './returning-share.ts'

/**
 * A deleted file or folder that can be restored. Sizes in bytes, times in milliseconds since 1970.
 */
export interface TrashItemView extends Omit<TrashItemRow, 'path'> {
  /** Its original place: the names from the root down, its own last. */
  names: string[]
  expiresAt: number
  /** Until when restoring it brings its shares back; null if no share ended with it. */
  sharesReturnUntil: number | null
}

/** The number of items that one transaction deletes. */
const BATCH = 500

export function trashItemService({
  db,
  changeTree,
  removal,
  trashDays,
  wake,
}: TreeDeps & Pick<Config, 'trashDays'>) {
  const view = ({ path, ...row }: TrashItemRow): TrashItemView => ({
    ...row,
    names: path.split('/'),
    expiresAt: row.deletedAt + trashDays * DAY_MS,
    sharesReturnUntil: row.endedShares === 0 ? null : row.deletedAt + GRACE_MS,
  })

  /**
   * The deleted entries of some items of a locked tree. @throws INVALID_INPUT, TRASH_ITEM_NOT_FOUND
   */
  async function find(tree: Tree, given: readonly string[], tx: Tx): Promise<TrashedNode[]> {
    if (given.length < 1 || given.length > MAX_CHANGED)
      throw new InvalidInput('items', `Name 1 to ${figure(MAX_CHANGED)} items.`)
    const ids = [...new Set(given)]
    const known = ids.filter(id => isUuid(id))
    const found = known.length === 0 ? [] : await trashedNodes(db, tree.bucketId, known, tx)
    const byId = new Map(found.map(node => [node.itemId, node]))
    return ids.map(id => {
      const node = byId.get(id)
      if (node) return node
      throw trashItemNotFound(id)
    })
  }

  /** Counts an entry as used again. @throws QUOTA_EXCEEDED */
  async function takeBack(
    tree: Tree,
    node: TrashedNode,
    limits: BucketLimits,
    tx: Tx,
  ): Promise<void> {
    const weight = weightOf(node)
    const maxFolders = tree.maxFolders ?? null
    if (await restoreUsage(db, tree.bucketId, weight, { ...limits, maxFolders }, tx)) return
    const used = await folderCount(db, tree.bucketId, tx)
    if (
      maxFolders !== null &&
      used !== undefined &&
      weight.folders > 0 &&
      used + weight.folders > maxFolders
    )
      throw foldersExceeded(tree, used)
    throw await quotaExceeded(db, tree, limits, weight, tx)
  }

  /** Deletes items of a locked bucket permanently. */
  async function purge(bucketId: string, nodes: TrashedNode[], tx: Tx): Promise<void> {
    if (nodes.length === 0) return
    await deleteTrashItems(
      db,
      nodes.map(node => node.itemId),
      tx,
    )
    await uncountTrash(db, bucketId, { items: nodes.length, bytes: bytesOf(nodes) }, tx)
    await removal.deleteForEver(bucketId, nodes, tx)
  }

  return {
    /** The number of days for which items are kept. */
    days: trashDays,
    purge,

    /** The trash of a bucket, newest first. */
    async page(
      bucketId: string,
      limit: number,
      after: string | null,
    ): Promise<Page<TrashItemView>> {
      return mapPage(await pageOfTrash(db, bucketId, limit, after), view)
    },

    /** The trash of a tree, newest first. @throws INVALID_INPUT */
    async list(
      tree: Tree,
      page: PageArgs,
    ): Promise<{ items: TrashItemView[]; nextCursor: string | null }> {
      const { rows, nextCursor } = await pageById(page, (limit, after) =>
        this.page(tree.bucketId, limit, after),
      )
      return { items: rows, nextCursor }
    },

    /** Some items of any buckets, by id. */
    byIds: (ids: readonly string[]): Promise<Map<string, TrashItemView>> =>
      rowsById(ids, async some => (await trashItems(db, some)).map(view)),

    /**
     * Puts deleted entries back with all that is in them: all of them, or none. Costs the same
     * whatever is in them. Their shares come back if they were deleted a few minutes ago.
     * @param to the folder that they go into; without it each goes into the folder that it was in,
     * or a new one at that path
     * @returns the entries, with the names from the root down
     * @throws TRASH_ITEM_NOT_FOUND, INVALID_INPUT, INVALID_PATH, FOLDER_NOT_FOUND, PATH_EXISTS,
     * QUOTA_EXCEEDED
     */
    async restore(
      tree: Tree,
      items: readonly string[],
      {
        to,
        onConflict,
        limits,
      }: { to: EntryName | null; onConflict: OnConflict; limits: BucketLimits },
      caller: Caller,
    ): Promise<{ id: string; names: string[] }[]> {
      return changeTree(tree, caller, async change => {
        const { tx } = change
        const shares = await returning(db, tree, items, tx)
        await lockTree(db, tree, tx)
        const nodes = await find(tree, items, tx)
        const into = to && (await namesOfFolder(db, tree, to, 'to', tx))
        const parents = nodes.map(node => node.parentId)
        const folders = into ? undefined : await pathsOfFolders(db, [tree.rootId], parents, tx)
        // Read before the items are deleted, with which they go.
        let left = await shares.find()
        const done = new Set<string>()
        const putBackShares = async () => {
          await shares.putBack(left.filter(({ itemId }) => done.has(itemId)))
          left = left.filter(({ itemId }) => !done.has(itemId))
        }
        const restored: { id: string; names: string[] }[] = []
        for (const node of nodes) {
          await deleteTrashItems(db, [node.itemId], tx)
          const old = node.path.split('/')
          const folder = into ?? folders?.get(node.parentId) ?? old.slice(0, -1)
          const planned = parseFilePath(joinPath([...folder, ...old.slice(-1)]), 'to')
          const names = await makeRoom(
            db,
            tree,
            planned,
            onConflict,
            async inTheWay => {
              // It may be, or contain, an entry that was just restored. Its shares end again.
              await putBackShares()
              await removal.remove(tree, [inTheWay], change)
            },
            tx,
          )
          await takeBack(tree, node, limits, tx)
          const place = { folder: names.slice(0, -1), name: names.at(-1) ?? '', restores: true }
          await moveEntries(db, tree, [{ node, names: old, above: [] }], place, change)
          restored.push({ id: node.id, names })
          done.add(node.itemId)
        }
        await putBackShares()
        return restored
      })
    },

    /**
     * Deletes items permanently: all of them, or none. @returns their number @throws
     * TRASH_ITEM_NOT_FOUND, INVALID_INPUT
     */
    async deleteForEver(tree: Tree, items: readonly string[], caller: Caller): Promise<number> {
      const count = await changeTree(tree, caller, async ({ tx, record }) => {
        await lockTree(db, tree, tx)
        const nodes = await find(tree, items, tx)
        await purge(tree.bucketId, nodes, tx)
        record(purged(nodes))
        return nodes.length
      })
      wake()
      return count
    },

    /** Deletes all items of a tree permanently. @returns their number */
    async empty(tree: Tree, caller: Caller): Promise<number> {
      for (let count = 0; ; ) {
        const some = await changeTree(tree, caller, async ({ tx, record }) => {
          await lockTree(db, tree, tx)
          const nodes = await oldestTrashed(db, tree.bucketId, BATCH, tx)
          await purge(tree.bucketId, nodes, tx)
          if (nodes.length > 0) record(purged(nodes))
          return nodes.length
        })
        wake()
        count += some
        if (some < BATCH) return count
      }
    },
  }
}

export type TrashItemService = ReturnType<typeof trashItemService>

const bytesOf = (nodes: TrashedNode[]): number => nodes.reduce((sum, node) => sum + node.bytes, 0)

const purged = (nodes: TrashedNode[]) => ({
  kind: 'trash.purged' as const,
  subject: null,
  details: { bytes: bytesOf(nodes), files: nodes.reduce((sum, node) => sum + node.files, 0) },
})

export const trashItemNotFound = (id: string) =>
  new AppError(
    'TRASH_ITEM_NOT_FOUND',
    'There is no such item in this trash. Use an id from its listing.',
    { id },
  )
