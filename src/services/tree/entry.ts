import { v7 as newId } from 'uuid'
import type { Db, Tx } from '../../../db/index.ts'
import { FILE, FOLDER } from '../../../db/models/entry.ts'
import type { DriveEventKind } from '../../../db/models/event.ts'
import {
  changeUsage,
  folderCount,
  insertBucket,
  lockOpenBucket,
  type Totals,
} from '../../../db/queries/bucket.ts'
import {
  addTotals,
  entriesNamed,
  insertEntry,
  measureReach,
  type NewEntry,
  placeEntries,
  type Reach,
  setReach,
} from '../../../db/queries/entry.ts'
import { type Node, resolveChain } from '../../../db/queries/entry-path.ts'
import type { Writer } from '../../access/caller.ts'
import { AppError } from '../../runtime/errors.ts'
import { joinPath, limits } from '../../values/paths.ts'
import type { Tree } from '../../values/tree.ts'
import { planExceeded, shareFull } from '../bound.ts'
import type { Core } from '../core.ts'
import type { Change, NewEvent } from '../history/event.ts'
import { pathIn } from './entry-path.ts'
import { inWholeDrive, lockShared, noTrunk, onlyReplaced, type Trunk } from './trunk.ts'

/** Creates the bucket of a user or of a workspace, with its empty root folder. */
export async function makeBucket(
  db: Db,
  { userId, workspaceId }: { userId?: string; workspaceId?: string },
  createdBy: string,
  now: number,
  tx: Tx,
): Promise<void> {
  const [bucketId, rootId] = [newId(), newId()]
  await insertBucket(
    db,
    {
      id: bucketId,
      userId: userId ?? null,
      workspaceId: workspaceId ?? null,
      rootId,
      createdAt: now,
    },
    tx,
  )
  await insertEntry(
    db,
    { id: rootId, bucketId, parentId: null, kind: FOLDER, name: '', by: createdBy, at: now },
    tx,
  )
}

/**
 * Locks the tree until the transaction ends. Every change of a tree begins with this, or with an
 * UPDATE of the bucket's row.
 */
export async function lockTree(db: Db, tree: Tree, tx: Tx): Promise<void> {
  if (!(await lockOpenBucket(db, tree.bucketId, tx))) throw treeGone()
}

export const treeGone = () =>
  new AppError('FOLDER_NOT_FOUND', 'This storage area no longer exists.')

/**
 * Changes the usage of the whole tree.
 * @param counted new folders of the same change that the usage already includes
 * @throws QUOTA_EXCEEDED when it would exceed the limit on folders
 */
export async function addUsage(db: Db, tree: Tree, by: Totals, tx: Tx, counted = 0): Promise<void> {
  const max = by.folders > 0 ? (tree.maxFolders ?? null) : null
  if (await changeUsage(db, tree.bucketId, by, max, tx)) return
  const used = await folderCount(db, tree.bucketId, tx)
  throw foldersExceeded(tree, used === undefined ? max : used - counted)
}

export function foldersExceeded(tree: Tree, used: number | null): AppError {
  if (tree.share) return shareFull()
  const limit = tree.front ? 'max_workspace_folders' : 'max_folders'
  return planExceeded('folders here', { limit, max: tree.maxFolders ?? null, used })
}

/** An active change of one tree. */
export interface TreeChange {
  tx: Tx
  /** The id of the user who makes the change, if any. */
  by: string | null
  /** The folders that lead to the root of the tree. Missing if the tree is a whole drive. */
  trunk?: Trunk
  /** Records events in the log of the drive. */
  record(...events: NewEvent<DriveEventKind>[]): void
}

/** A tree with a check that runs first in the transaction of each change. */
export type GuardedTree = Tree & { guard?: (tx: Tx) => Promise<void> }

/**
 * Runs changes of trees, each in one transaction with its events, and notifies the subscribers of
 * the storage usage.
 */
export function treeChangeRunner({ db, change, pubSub }: Core<'db' | 'change' | 'pubSub'>) {
  return async <T>(
    tree: GuardedTree,
    caller: Writer,
    work: (change: TreeChange) => Promise<T>,
  ): Promise<T> => {
    const within = async ({ tx, record }: Change) => {
      await tree.guard?.(tx)
      if (!tree.share)
        return work({ tx, by: caller.userId, record: (...what) => record(tree.bucketId, ...what) })
      const trunk = await lockShared(db, tree, tree.share, caller, tx)
      const note = ({ details = {}, ...event }: NewEvent<DriveEventKind>) =>
        record(tree.bucketId, { ...event, details: inWholeDrive(tree, trunk, details) })
      return work({ tx, by: caller.userId, trunk, record: (...what) => what.forEach(note) })
    }
    const done = await change(caller, within)
    pubSub.publish('driveChanged', tree.bucketId)
    return done
  }
}

export type TreeChangeRunner = ReturnType<typeof treeChangeRunner>

const NOTHING: Totals = { bytes: 0, files: 0, folders: 0 }

export const minus = (t: Totals): Totals => ({
  bytes: -t.bytes,
  files: -t.files,
  folders: -t.folders,
})

/** The contribution of an entry to the totals of the folders above it. */
export const weightOf = (node: Node): Totals => ({
  bytes: node.bytes,
  files: node.files,
  folders: node.folders + (node.kind === FOLDER ? 1 : 0),
})

export function pathExists(tree: Partial<Tree>, names: string[]): AppError {
  const path = pathIn(tree, names)
  return new AppError(
    'PATH_EXISTS',
    `Something named "${path}" exists already. Choose another name, or delete or move it first.`,
    { path },
  )
}

/** Adds to the pending changes of the totals of some folders. */
export function addTo(changes: Map<string, Totals>, folders: Pick<Node, 'id'>[], by: Totals): void {
  for (const { id } of folders) changes.set(id, sumOf([changes.get(id) ?? NOTHING, by]))
}

export const sumOf = (all: Totals[]): Totals =>
  all.reduce(
    (sum, { bytes, files, folders }) => ({
      bytes: sum.bytes + bytes,
      files: sum.files + files,
      folders: sum.folders + folders,
    }),
    NOTHING,
  )

/** An entry about to be placed in a folder. */
export interface Arrival extends Reach {
  name: string
  weight: Totals
}

/**
 * Creates the missing folders of the path `folder`, and adds the arriving entries to their totals.
 * The tree must be locked.
 * @param changes other pending changes of totals
 * @returns the folder's id and the number of created folders
 * @throws PATH_EXISTS when a file is in the way, or an entry has one of the names already
 */
export async function prepareFolder(
  db: Db,
  tree: Tree,
  {
    folder,
    arrivals,
    changes = new Map(),
  }: { folder: string[]; arrivals: Arrival[]; changes?: Map<string, Totals> },
  { tx, by, record, trunk = noTrunk }: TreeChange,
): Promise<{ parentId: string; foldersMade: number }> {
  if (trunk.file) throw onlyReplaced()
  const [first = '', ...others] = arrivals.map(({ name }) => name)
  const chain = await resolveChain(db, tree, [...folder, first], tx)
  if (chain.length > folder.length) throw pathExists(tree, [...folder, first])
  const blocking = chain.findIndex(n => n.kind === FILE)
  if (blocking >= 0) throw pathExists(tree, folder.slice(0, blocking + 1))
  let parentId = chain.at(-1)?.id ?? tree.rootId
  const missing = folder.slice(chain.length)
  const [taken] =
    others.length > 0 && missing.length === 0 ? await entriesNamed(db, parentId, others, tx) : []
  const twice = others.find((name, i) => name === first || others.indexOf(name) < i)
  if (taken || twice !== undefined)
    throw pathExists(tree, [...folder, taken?.name ?? twice ?? first])

  const above = [...trunk.folders, ...chain]
  const path = [...trunk.names, ...folder]
  // The given paths fit. But a share is below further folders, and a free name may be longer.
  if (!arrivals.every(arrival => fitsInto(path, arrival))) throw pathTooLong('folder')
  const weight = sumOf(arrivals.map(arrival => arrival.weight))
  addTo(changes, above, { ...weight, folders: weight.folders + missing.length })
  await addTotals(db, changes, tx)
  const bytesOf = (name: string, { bytesBelow }: Reach) =>
    Buffer.byteLength(name) + (bytesBelow > 0 ? 1 + bytesBelow : 0)
  const levels = Math.max(...arrivals.map(arrival => 1 + arrival.levelsBelow))
  const bytes = Math.max(...arrivals.map(arrival => bytesOf(arrival.name, arrival)))
  const reachOf = (depth: number): Reach => ({
    levelsBelow: path.length - depth + levels,
    bytesBelow:
      depth < path.length ? Buffer.byteLength(joinPath(path.slice(depth))) + 1 + bytes : bytes,
  })
  const further = above.flatMap((node, i) => {
    const { id, levelsBelow, bytesBelow } = node
    const reach = reachOf(i + 1)
    if (reach.levelsBelow <= levelsBelow && reach.bytesBelow <= bytesBelow) return []
    const bounds = {
      levelsBelow: Math.max(reach.levelsBelow, levelsBelow),
      bytesBelow: Math.max(reach.bytesBelow, bytesBelow),
    }
    // The bounds of a trunk are read once for all arrivals of a transaction.
    Object.assign(node, bounds)
    return [[id, bounds] as const]
  })
  await setReach(db, new Map(further), tx)

  for (const [i, name] of missing.entries()) {
    const totals = { ...weight, folders: weight.folders + missing.length - i - 1 }
    const reach = reachOf(above.length + i + 1)
    parentId = await addEntry(db, tree, { parentId, kind: FOLDER, name, totals, ...reach, by }, tx)
    const path = pathIn(tree, folder.slice(0, chain.length + i + 1))
    record({ kind: 'folder.created', subject: parentId, details: { path } })
  }
  return { parentId, foldersMade: missing.length }
}

/** Inserts an entry; the caller updates the totals above it. @returns its id @throws PATH_EXISTS */
export async function addEntry(
  db: Db,
  tree: Tree,
  e: Omit<NewEntry, 'bucketId'>,
  tx: Tx,
): Promise<string> {
  const id = await insertEntry(db, { ...e, bucketId: tree.bucketId }, tx)
  if (id === undefined) throw pathExists(tree, [e.name])
  return id
}

/** Whether the paths of an entry and everything below it are short enough in a folder. */
export function fitsInto(folder: string[], { name, levelsBelow, bytesBelow }: Arrival): boolean {
  const bytes =
    Buffer.byteLength(joinPath([...folder, name])) + (bytesBelow > 0 ? 1 + bytesBelow : 0)
  return folder.length + 1 + levelsBelow <= limits.names && bytes <= limits.pathBytes
}

export const pathTooLong = (field: string): AppError =>
  new AppError(
    'INVALID_PATH',
    `An entry in this folder would get a path of more than ${limits.names} names or ${limits.pathBytes} bytes. Choose a shorter destination.`,
    { field },
  )

/** An entry about to be moved, its path, and the folders above it without the root. */
export interface Departure {
  node: Node
  names: string[]
  above: Pick<Node, 'id'>[]
}

/**
 * Moves entries into the folder at a path, or renames one of them there. The cost depends neither
 * on the number of entries, except for a statement per few hundred, nor on the size of their
 * subtrees. The tree must be locked.
 * @param restores whether they come from the trash, so that no folder is above them
 * @throws PATH_EXISTS when a destination is taken, INVALID_PATH when a path below would become too
 * long
 */
export async function moveEntries(
  db: Db,
  tree: Tree,
  departures: Departure[],
  { folder, name, restores = false }: { folder: string[]; name: string | null; restores?: boolean },
  change: TreeChange,
): Promise<void> {
  const { tx, record, trunk = noTrunk } = change
  const ids = departures.map(({ node }) => node.id)
  const fits = (arrival: Arrival) => fitsInto([...trunk.names, ...folder], arrival)
  const nameOf = ({ names }: Departure) => name ?? names.at(-1) ?? ''
  const arrivalOf = (from: Departure, { levelsBelow, bytesBelow }: Reach): Arrival => ({
    name: nameOf(from),
    weight: weightOf(from.node),
    levelsBelow,
    bytesBelow,
  })
  const far = departures
    .filter(departure => !fits(arrivalOf(departure, departure.node)))
    .map(({ node }) => node.id)
  const measured = far.length > 0 ? await measureReach(db, far, tx) : new Map<string, Reach>()
  const arrivals = departures.map(from => arrivalOf(from, measured.get(from.node.id) ?? from.node))
  if (!arrivals.every(fits)) throw pathTooLong(restores ? 'to' : 'destination')
  const changes = new Map<string, Totals>()
  for (const { node, above } of departures)
    addTo(changes, [...trunk.folders, ...above], minus(weightOf(node)))
  const { parentId, foldersMade } = await prepareFolder(
    db,
    tree,
    { folder, arrivals, changes },
    change,
  )
  if (foldersMade > 0) await addUsage(db, tree, { bytes: 0, files: 0, folders: foldersMade }, tx)
  await setReach(db, measured, tx)
  await placeEntries(db, ids, { parentId, name }, tx)
  for (const departure of departures) {
    const { node, names } = departure
    const stays = joinPath(names.slice(0, -1)) === joinPath(folder)
    const done = restores ? 'restored' : stays ? 'renamed' : 'moved'
    const kind = `${node.kind === FILE ? 'file' : 'folder'}.${done}` as const
    const path = pathIn(tree, [...folder, nameOf(departure)])
    record({ kind, subject: node.id, details: { path, from: pathIn(tree, names) } })
  }
}
