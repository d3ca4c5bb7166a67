import { v7 as newId } from 'uuid'
import type { Db, Tx } from '../../db/index.ts'
import { FOLDER } from '../../db/models/entry.ts'
import { AppError } from '../errors.ts'
import { addUsage, prepareParent } from '../services/entry.ts'
import type { Tree } from '../services/entry-path.ts'
import { releaseStaged } from '../services/ledger.ts'

/** Counts of a folder or of a bucket: bytes, files and folders below. */
export interface Counts {
  bytes: number
  files: number
  folders: number
}

/** The totals of the direct children of a folder, for a join with them as `c`. */
export const sums = `COALESCE(SUM(c.total_bytes), 0) AS bytes, COALESCE(SUM(c.total_files), 0) AS files,
  COALESCE(SUM(c.total_folders + CASE WHEN c.kind = ${FOLDER} THEN 1 ELSE 0 END), 0) AS folders`

/** MySQL returns sums as text. */
export const toCounts = ({ bytes, files, folders }: Record<keyof Counts, unknown>): Counts => ({
  bytes: Number(bytes),
  files: Number(files),
  folders: Number(folders),
})

export const same = (a: Counts, b: Counts): boolean =>
  a.bytes === b.bytes && a.files === b.files && a.folders === b.folders

/** Locks a bucket as the services do, also one without an owner. Undefined when it does not exist. */
export async function lockBucket(db: Db, bucketId: string, tx: Tx): Promise<Tree | undefined> {
  const [bucket] = await db.rows<{ rootId: string }>(
    `SELECT root_id AS rootId FROM bucket WHERE id = ?${db.forUpdate}`,
    [bucketId],
    tx,
  )
  return bucket && { bucketId, rootId: bucket.rootId }
}

/** The position of an entry in its tree. */
export interface Anchor {
  /** The topmost entry, which has no parent or a missing one; undefined in a loop, and when the entry is gone. */
  top?: { id: string; parentId: string | null; bucketId: string }
  /** From the entry itself up; empty when it is gone. */
  chain: string[]
}

/** Follows the parents of an entry to the topmost one. */
export async function climb(db: Db, id: string, tx?: Tx): Promise<Anchor> {
  const rows = await db.rows<{ id: string; parentId: string | null; bucketId: string }>(
    `WITH RECURSIVE up (id, parent_id, bucket_id) AS (
       SELECT id, parent_id, bucket_id FROM entry WHERE id = ?
       UNION SELECT p.id, p.parent_id, p.bucket_id FROM up JOIN entry p ON p.id = up.parent_id
     ) SELECT id, parent_id AS parentId, bucket_id AS bucketId FROM up`,
    [id],
    tx,
  )
  const known = new Map(rows.map(row => [row.id, row]))
  const chain: string[] = []
  let top = known.get(id)
  for (let row = top; row && !chain.includes(row.id); row = known.get(row.parentId ?? '')) {
    chain.push(row.id)
    top = row
  }
  const loops = top?.parentId && known.has(top.parentId)
  return { chain, ...(top && !loops ? { top } : {}) }
}

/** Recounts the folders above an entry and their bucket, from below. Call it with the bucket locked. */
export async function retotal(db: Db, entryId: string, tx: Tx): Promise<void> {
  const { top, chain } = await climb(db, entryId, tx)
  for (const id of chain) {
    const [row] = await db.rows<Counts>(`SELECT ${sums} FROM entry c WHERE c.parent_id = ?`, [id], tx)
    if (!row) continue
    const { bytes, files, folders } = toCounts(row)
    await db.run(
      `UPDATE entry SET total_bytes = ?, total_files = ?, total_folders = ? WHERE id = ? AND kind = ${FOLDER} AND parent_id IS NOT NULL`,
      [bytes, files, folders, id],
      tx,
    )
  }
  if (top) await recount(db, top.bucketId, tx)
}

/** Recounts a bucket: its content, the reservations of uploads, and running purges. Call it with the bucket locked. */
export async function recount(db: Db, bucketId: string, tx: Tx): Promise<void> {
  const [row] = await db.rows<Counts>(
    `SELECT ${sums} FROM bucket k LEFT JOIN entry c ON c.parent_id = k.root_id WHERE k.id = ?`,
    [bucketId],
    tx,
  )
  const [held] = await db.rows<{ bytes: number; files: number }>(
    "SELECT COALESCE(SUM(reserved_bytes), 0) AS bytes, COUNT(*) AS files FROM blobs WHERE state = 'staged' AND bucket_id = ?",
    [bucketId],
    tx,
  )
  const [purges] = await db.rows<{ count: number }>(
    "SELECT COUNT(*) AS count FROM entry WHERE parent_id IS NULL AND name > '' AND bucket_id = ?",
    [bucketId],
    tx,
  )
  if (!row || !held || !purges) return
  const { bytes, files, folders } = toCounts(row)
  await db.run(
    `UPDATE bucket SET used_bytes = ?, used_files = ?, used_folders = ?, reserved_bytes = ?, reserved_files = ?, purging = ? WHERE id = ?`,
    [bytes, files, folders, Number(held.bytes), Number(held.files), Number(purges.count), bucketId],
    tx,
  )
}

/** Restores the row of an object that is in the store and belongs to a file. */
export async function reviveBlob(db: Db, bucketId: string, blobId: string, size: number, tx: Tx): Promise<void> {
  await lockBucket(db, bucketId, tx)
  await releaseStaged(db, bucketId, blobId, tx)
  const changed = await db.run(
    "UPDATE blobs SET state = 'live', size = ?, lease_until = 0 WHERE id = ?",
    [size, blobId],
    tx,
  )
  if (changed > 0) return
  await db.run(
    "INSERT INTO blobs (id, bucket_id, state, reserved_bytes, size, lease_until, created_at) VALUES (?, ?, 'live', 0, ?, 0, ?)",
    [blobId, bucketId, size, Date.now()],
    tx,
  )
}

const FOUND = 'lost+found'

/** Moves an entry without a parent into a folder at the root, where its owner finds it. @returns whether it could */
export async function reattach(db: Db, id: string, bucketId: string, tx: Tx): Promise<boolean> {
  const tree = await lockBucket(db, bucketId, tx)
  const [entry] = await db.rows<{ kind: number; name: string; levels: number; below: number } & Counts>(
    `SELECT e.kind, e.name, e.total_bytes AS bytes, e.total_files AS files, e.total_folders AS folders, e.levels_below AS levels, e.bytes_below AS below
     FROM entry e LEFT JOIN entry p ON p.id = e.parent_id AND p.kind = ${FOLDER} AND p.bucket_id = e.bucket_id WHERE e.id = ? AND p.id IS NULL`,
    [id],
    tx,
  )
  if (!entry) return true
  if (!tree) return false
  const { bytes, files } = entry
  const weight = { bytes, files, folders: entry.folders + (entry.kind === FOLDER ? 1 : 0) }
  const load = { weight, levelsBelow: entry.levels, bytesBelow: entry.below }
  // A new folder, because the name may exist already, and its parent must not be a file.
  const place = [FOUND, newId(), entry.name || id]
  try {
    const { parentId, foldersMade } = await prepareParent(db, tree, place, load, null, tx)
    await addUsage(db, tree, { ...weight, folders: weight.folders + foldersMade }, tx)
    await db.run('UPDATE entry SET parent_id = ?, name = ? WHERE id = ?', [parentId, place.at(-1) ?? id, id], tx)
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'PATH_EXISTS') return false
    throw error
  }
}
