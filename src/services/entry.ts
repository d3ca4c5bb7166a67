import { v7 as newId } from 'uuid'
import { type Db, isDuplicate, type Tx, type Value } from '../../db/index.ts'
import { FILE, FOLDER } from '../../db/models/entry.ts'
import { AppError } from '../errors.ts'
import { joinPath, limits } from '../paths.ts'
import { type Node, pathIn, placeholders, resolveChain, type Tree } from './entry-path.ts'
import type { EventService } from './event.ts'

/** The difference that a change makes to the totals of the folders above it. */
export interface Totals {
  bytes: number
  files: number
  folders: number
}

/** Condition: the bucket has an owner. The bucket of a deleted workspace or account accepts no changes. */
export const open = '(user_id IS NOT NULL OR workspace_id IS NOT NULL)'

/** Creates the bucket of a user or of a workspace, with its empty root folder. */
export async function makeBucket(
  db: Db,
  { userId, workspaceId }: { userId?: string; workspaceId?: string },
  createdBy: string,
  now: number,
  tx: Tx,
): Promise<void> {
  const [bucketId, rootId] = [newId(), newId()]
  await db.run(
    'INSERT INTO bucket (id, user_id, workspace_id, root_id, created_at) VALUES (?, ?, ?, ?, ?)',
    [bucketId, userId ?? null, workspaceId ?? null, rootId, now],
    tx,
  )
  await db.run(
    "INSERT INTO entry (id, bucket_id, kind, name, created_by, created_at, updated_at) VALUES (?, ?, ?, '', ?, ?, ?)",
    [rootId, bucketId, FOLDER, createdBy, now, now],
    tx,
  )
}

/** Locks the tree until the transaction ends. Every change of a tree begins with this, or with an UPDATE of the bucket's row. */
export async function lockTree(db: Db, tree: Tree, tx: Tx): Promise<void> {
  const rows = await db.rows(`SELECT id FROM bucket WHERE id = ? AND ${open}${db.forUpdate}`, [tree.bucketId], tx)
  if (rows.length === 0) throw treeGone()
}

export const treeGone = () => new AppError('FOLDER_NOT_FOUND', 'This storage area does not exist any more.')

/** Changes the usage of the whole tree. @throws QUOTA_EXCEEDED when it would exceed its limit of folders */
export async function addUsage(db: Db, tree: Tree, by: Totals, tx: Tx): Promise<void> {
  const max = by.folders > 0 ? (tree.maxFolders ?? null) : null
  const changed = await db.run(
    `UPDATE bucket SET used_bytes = used_bytes + ?, used_files = used_files + ?, used_folders = used_folders + ?
     WHERE id = ?${max === null ? '' : ' AND used_folders + ? <= ?'}`,
    [by.bytes, by.files, by.folders, tree.bucketId, ...(max === null ? [] : [by.folders, max])],
    tx,
  )
  if (max === null || changed === 1) return
  const [row] = await db.rows<{ used: number }>(
    'SELECT used_folders AS used FROM bucket WHERE id = ?',
    [tree.bucketId],
    tx,
  )
  throw new AppError('QUOTA_EXCEEDED', `The plan allows ${max} folders here. Delete some, or ask for a larger plan.`, {
    limit: tree.front ? 'max_workspace_folders' : 'max_folders',
    max,
    used: row?.used ?? max,
  })
}

/** Changes the totals of some folders. */
export async function addTotals(db: Db, folders: Node[], by: Totals, tx: Tx): Promise<void> {
  if (folders.length === 0 || (by.bytes === 0 && by.files === 0 && by.folders === 0)) return
  await db.run(
    `UPDATE entry SET total_bytes = total_bytes + ?, total_files = total_files + ?, total_folders = total_folders + ? WHERE id IN (${placeholders(folders)})`,
    [by.bytes, by.files, by.folders, ...folders.map(f => f.id)],
    tx,
  )
}

/** Runs changes of trees, each in one transaction, and notifies the subscribers of the storage usage. */
export const changesOf =
  (db: Db, events: EventService) =>
  async <T>(tree: Tree, change: (tx: Tx) => Promise<T>): Promise<T> => {
    const done = await db.transaction(change)
    events.publish('bucketChanged', tree.bucketId)
    return done
  }

export const minus = (t: Totals): Totals => ({ bytes: -t.bytes, files: -t.files, folders: -t.folders })

/** The share of an entry in the totals of the folders above it. */
export const weightOf = (node: Node): Totals => ({
  bytes: node.bytes,
  files: node.files,
  folders: node.folders + (node.kind === FOLDER ? 1 : 0),
})

export function pathExists(tree: Tree, names: string[]): AppError {
  const path = pathIn(tree, names)
  return new AppError(
    'PATH_EXISTS',
    `Something named "${path}" exists already. Choose another name, or delete or move it first.`,
    { path },
  )
}

/** The totals and the depth of an entry that is about to be placed at a path. */
export interface Load {
  weight: Totals
  levelsBelow: number
  bytesBelow: number
}

/**
 * Creates the missing parent folders of `names`, and adds the entry that will be placed at `names` to their totals.
 * The tree must be locked. @returns the parent's id and how many folders were created
 * @throws PATH_EXISTS when a file is in the way, or something is at `names` already
 */
export async function prepareParent(
  db: Db,
  tree: Tree,
  names: string[],
  load: Load,
  by: string | null,
  tx: Tx,
): Promise<{ parentId: string; foldersMade: number }> {
  const chain = await resolveChain(db, tree, names, tx)
  if (chain.length === names.length) throw pathExists(tree, names)
  const blocking = chain.findIndex(n => n.kind === FILE)
  if (blocking >= 0) throw pathExists(tree, names.slice(0, blocking + 1))

  const missing = names.slice(chain.length, -1)
  await addTotals(db, chain, { ...load.weight, folders: load.weight.folders + missing.length }, tx)
  const reachOf = (depth: number) => ({
    levels: names.length - depth + load.levelsBelow,
    bytes: Buffer.byteLength(joinPath(names.slice(depth))) + (load.bytesBelow > 0 ? 1 + load.bytesBelow : 0),
  })
  for (const [i, folder] of chain.entries()) {
    const reach = reachOf(i + 1)
    if (reach.levels > folder.levelsBelow || reach.bytes > folder.bytesBelow) {
      await db.run(
        'UPDATE entry SET levels_below = ?, bytes_below = ? WHERE id = ?',
        [Math.max(reach.levels, folder.levelsBelow), Math.max(reach.bytes, folder.bytesBelow), folder.id],
        tx,
      )
    }
  }

  let parentId = chain.at(-1)?.id ?? tree.rootId
  for (const [i, name] of missing.entries()) {
    const reach = reachOf(chain.length + i + 1)
    const totals = { ...load.weight, folders: load.weight.folders + missing.length - i - 1 }
    parentId = await insertEntry(
      db,
      tree,
      { parentId, kind: FOLDER, name, totals, levelsBelow: reach.levels, bytesBelow: reach.bytes, by },
      tx,
    )
  }
  return { parentId, foldersMade: missing.length }
}

export interface NewEntry {
  parentId: string
  kind: typeof FOLDER | typeof FILE
  name: string
  totals: Totals
  levelsBelow?: number
  bytesBelow?: number
  blobId?: string
  fileType?: string
  md5?: string
  by: string | null
  at?: number
}

/** Inserts a row; the caller updates the totals above it. @returns its id */
export async function insertEntry(db: Db, tree: Tree, e: NewEntry, tx: Tx): Promise<string> {
  const id = newId()
  const at = e.at ?? Date.now()
  const row: Record<string, Value> = {
    id,
    bucket_id: tree.bucketId,
    parent_id: e.parentId,
    kind: e.kind,
    name: e.name,
    blob_id: e.blobId ?? null,
    file_type: e.fileType ?? '',
    md5: e.md5 ?? '',
    total_bytes: e.totals.bytes,
    total_files: e.totals.files,
    total_folders: e.totals.folders,
    levels_below: e.levelsBelow ?? 0,
    bytes_below: e.bytesBelow ?? 0,
    created_by: e.by,
    created_at: at,
    updated_at: at,
  }
  try {
    await db.run(
      `INSERT INTO entry (${Object.keys(row).join(', ')}) VALUES (${placeholders(Object.keys(row))})`,
      Object.values(row),
      tx,
    )
  } catch (error) {
    if (isDuplicate(error)) throw pathExists(tree, [e.name])
    throw error
  }
  return id
}

/**
 * Moves an entry: updates one parent and two chains of totals, whatever the size of its subtree. The tree must be locked.
 * @throws PATH_EXISTS when something is at the destination, INVALID_PATH when a path below would become too long
 */
export async function moveEntry(
  db: Db,
  tree: Tree,
  found: { node: Node; above: Node[] },
  destination: string[],
  by: string | null,
  tx: Tx,
): Promise<void> {
  const { node, above } = found
  const weight = weightOf(node)
  let load: Load = { weight, levelsBelow: node.levelsBelow, bytesBelow: node.bytesBelow }
  if (!fits(destination, load)) {
    load = { weight, ...(await measureBelow(db, node.id, tx)) }
    if (!fits(destination, load))
      throw new AppError(
        'INVALID_PATH',
        `An entry below would get a path of more than ${limits.names} names or ${limits.pathBytes} bytes there. Choose a shorter destination.`,
        { field: 'destination' },
      )
  }
  const { parentId, foldersMade } = await prepareParent(db, tree, destination, load, by, tx)
  await addTotals(db, above, minus(weight), tx)
  if (foldersMade > 0) await addUsage(db, tree, { bytes: 0, files: 0, folders: foldersMade }, tx)
  const name = destination.at(-1) ?? ''
  await db.run(
    'UPDATE entry SET parent_id = ?, name = ?, levels_below = ?, bytes_below = ?, updated_at = ? WHERE id = ?',
    [parentId, name, load.levelsBelow, load.bytesBelow, Date.now(), node.id],
    tx,
  )
}

function fits(names: string[], below: { levelsBelow: number; bytesBelow: number }): boolean {
  const bytes = Buffer.byteLength(joinPath(names)) + (below.bytesBelow > 0 ? 1 + below.bytesBelow : 0)
  return names.length + below.levelsBelow <= limits.names && bytes <= limits.pathBytes
}

/** The exact depth of a folder's subtree. Walks it, so it is used only when the stored upper bound would refuse a move. */
async function measureBelow(db: Db, id: string, tx: Tx): Promise<{ levelsBelow: number; bytesBelow: number }> {
  const bytes = db.dialect === 'mysql' ? 'OCTET_LENGTH(e.name)' : 'LENGTH(CAST(e.name AS BLOB))'
  const [row] = await db.rows<{ levels: number | null; bytes: number | null }>(
    `WITH RECURSIVE below (id, levels, bytes) AS (
       SELECT e.id, 1, ${bytes} FROM entry e WHERE e.parent_id = ?
       UNION ALL SELECT e.id, b.levels + 1, b.bytes + 1 + ${bytes} FROM below b JOIN entry e ON e.parent_id = b.id
     ) SELECT MAX(levels) AS levels, MAX(bytes) AS bytes FROM below`,
    [id],
    tx,
  )
  return { levelsBelow: Number(row?.levels ?? 0), bytesBelow: Number(row?.bytes ?? 0) }
}
