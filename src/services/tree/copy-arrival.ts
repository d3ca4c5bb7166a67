import type { Db, Tx } from '../../../db/index.ts'
import { FILE } from '../../../db/models/entry.ts'
import { folderCount, type Totals } from '../../../db/queries/bucket.ts'
import { entriesNamed } from '../../../db/queries/entry.ts'
import { resolveChain } from '../../../db/queries/entry-path.ts'
import { chargeUsage } from '../../../db/queries/reservation.ts'
import type { OnConflict } from '../../values/on-conflict.ts'
import type { BucketLimits, Tree } from '../../values/tree.ts'
import { freeName } from './conflict.ts'
import {
  type Arrival,
  fitsInto,
  foldersExceeded,
  lockTree,
  pathExists,
  pathTooLong,
  prepareFolder,
  sumOf,
  type TreeChange,
} from './entry.ts'
import type { EntryName } from './entry-path.ts'
import type { EntryRemovalService, Located } from './entry-removal.ts'
import { quotaExceeded } from './quota.ts'

/** Where copies go, and how. */
export interface CopyOptions {
  /** The tree that they go into. */
  tree: Tree
  limits: BucketLimits
  folder: EntryName
  /** For one entry only. */
  name: string | null
  onConflict: OnConflict
  /** Whether a folder that is in the way is replaced as well as a file. */
  replacesFolders?: boolean
  /** Whether a folder is copied without what is in it. */
  isShallow?: boolean
}

/** A copy that is about to be placed: under the name that it is to get. */
interface Arriving extends Arrival {
  /** The id of what it is a copy of, which it does not replace. */
  of: string
}

/** The place of copies in the tree that they go into. */
export function copyArrivals(db: Db, removal: EntryRemovalService) {
  /** The names that copies get, and the files that they replace. @throws PATH_EXISTS */
  async function namesOf(
    arriving: Arriving[],
    {
      tree,
      onConflict,
      replacesFolders,
    }: Pick<CopyOptions, 'tree' | 'onConflict' | 'replacesFolders'>,
    folder: string[],
    tx: Tx,
  ): Promise<{ names: string[]; replaced: Located[] }> {
    const wanted = arriving.map(({ name }) => name)
    const above = await resolveChain(db, tree, folder, tx)
    if (onConflict === 'fail' || (above.length < folder.length && onConflict === 'replace'))
      return { names: wanted, replaced: [] }
    const parentId = above.at(-1)?.id ?? tree.rootId
    const inTheWay =
      above.length < folder.length ? [] : await entriesNamed(db, parentId, wanted, tx)
    if (onConflict === 'replace') {
      const stays = (kind: number) => kind !== FILE && !replacesFolders
      const kept = inTheWay.find(
        ({ id, kind }) => stays(kind) || arriving.some(({ of }) => of === id),
      )
      if (kept) throw pathExists(tree, [...folder, kept.name])
      return {
        names: wanted,
        replaced: inTheWay.map(({ name: one, ...node }) => ({
          node,
          names: [...folder, one],
          above,
          parentId,
        })),
      }
    }
    const given = new Set(inTheWay.map(entry => entry.name))
    const names: string[] = []
    for (const one of wanted) {
      const free = given.has(one) ? await freeName(db, parentId, one, tx, given) : one
      given.add(free)
      names.push(free)
    }
    return { names, replaced: [] }
  }

  /** Counts copies in the tree that they go into. @throws QUOTA_EXCEEDED */
  async function charge(
    { tree, limits }: Pick<CopyOptions, 'tree' | 'limits'>,
    by: Totals,
    tx: Tx,
  ): Promise<void> {
    const maxFolders = tree.maxFolders ?? null
    if (await chargeUsage(db, tree.bucketId, by, { ...limits, maxFolders }, tx)) return
    await requireFolders(db, tree, by.folders, tx)
    throw await quotaExceeded(db, tree, limits, by, tx)
  }

  /**
   * Makes the place of copies in a locked tree, and counts them there. What they replace goes into
   * the trash.
   * @returns the folder, and the names that they get there
   * @throws PATH_EXISTS, INVALID_PATH, QUOTA_EXCEEDED
   */
  return async (
    arriving: Arriving[],
    to: Pick<CopyOptions, 'tree' | 'limits' | 'onConflict' | 'replacesFolders'>,
    folder: string[],
    change: TreeChange,
  ): Promise<{ parentId: string; names: string[] }> => {
    const { tree } = to
    const { names, replaced } = await namesOf(arriving, to, folder, change.tx)
    await removal.remove(tree, replaced, change)
    const arrivals = arriving.map((arrival, i): Arrival => ({ ...arrival, name: names[i] ?? '' }))
    if (!arrivals.every(arrival => fitsInto(folder, arrival))) throw pathTooLong('to')
    const weight = sumOf(arrivals.map(arrival => arrival.weight))
    const { parentId, foldersMade } = await prepareFolder(db, tree, { folder, arrivals }, change)
    await charge(to, { ...weight, folders: weight.folders + foldersMade }, change.tx)
    return { parentId, names }
  }
}

/** Whether a tree takes so many folders more. @throws QUOTA_EXCEEDED */
export async function requireFolders(db: Db, tree: Tree, more: number, tx: Tx): Promise<void> {
  const max = tree.maxFolders ?? null
  const used = await folderCount(db, tree.bucketId, tx)
  if (max !== null && used !== undefined && more > 0 && used + more > max)
    throw foldersExceeded(tree, used)
}

/** Locks trees in the order of their ids, as every change of several trees does. */
export async function lockTrees(db: Db, trees: Tree[], tx: Tx): Promise<void> {
  const byId = new Map(trees.map(tree => [tree.bucketId, tree]))
  for (const tree of [...byId.values()].sort((a, b) => (a.bucketId < b.bucketId ? -1 : 1)))
    await lockTree(db, tree, tx)
}
