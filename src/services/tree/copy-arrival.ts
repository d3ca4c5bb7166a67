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

/** The destination of copies, and the conflict rule. */
export interface CopyOptions {
  /** The destination tree. */
  tree: Tree
  limits: BucketLimits
  folder: EntryName
  /** Only for a single entry. */
  name: string | null
  onConflict: OnConflict
  /** Whether a conflicting folder is replaced, too. */
  replacesFolders?: boolean
  /** Whether a folder is copied without its contents. */
  isShallow?: boolean
  /** Whether a copy that would need the background is refused. */
  isAtOnce?: boolean
}

/** A copy about to be placed under its new name. */
interface Arriving extends Arrival {
  /** The id of the original. A copy never replaces its original. */
  of: string
}

/** Places copies in their destination tree. */
export function copyArrivals(db: Db, removal: EntryRemovalService) {
  /**
   * The names of the copies, and the files that they replace.
   * @throws PATH_EXISTS
   */
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

  /**
   * Adds copies to the usage of the destination tree.
   * @throws QUOTA_EXCEEDED
   */
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
   * Prepares the place of copies in a locked tree, and adds them to its usage. Replaced files go to
   * the trash.
   * @returns the folder and the names of the copies
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

/**
 * Checks that a tree has room for more folders.
 * @throws QUOTA_EXCEEDED
 */
export async function requireFolders(db: Db, tree: Tree, more: number, tx: Tx): Promise<void> {
  const max = tree.maxFolders ?? null
  const used = await folderCount(db, tree.bucketId, tx)
  if (max !== null && used !== undefined && more > 0 && used + more > max)
    throw foldersExceeded(tree, used)
}

/** Locks trees in the order of their ids, like every change of several trees. */
export async function lockTrees(db: Db, trees: Tree[], tx: Tx): Promise<void> {
  const byId = new Map(trees.map(tree => [tree.bucketId, tree]))
  for (const tree of [...byId.values()].sort((a, b) => (a.bucketId < b.bucketId ? -1 : 1)))
    await lockTree(db, tree, tx)
}
