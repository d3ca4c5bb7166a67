import { v7 as newId } from 'uuid'
import type { Db, Tx } from '../../db/index.ts'
import { FOLDER } from '../../db/models/entry.ts'
import { lockBucket, type Totals } from '../../db/queries/bucket.ts'
import { findOrphan, recount, retotalFolder, upWithBuckets } from '../../db/queries/doctor.ts'
import { reviveRow } from '../../db/queries/doctor-ledger.ts'
import { placeEntries } from '../../db/queries/entry.ts'
import { AppError } from '../runtime/errors.ts'
import { recorded, system } from '../services/history/event.ts'
import { addUsage, prepareFolder, type TreeChange } from '../services/tree/entry.ts'
import { pathIn } from '../services/tree/entry-path.ts'
import { releaseStaged } from '../services/tree/ledger.ts'
import { keyById } from '../values/key-by-id.ts'
import type { Installation } from './check.ts'

/** Runs a repair with its buckets locked. */
export const inBuckets = <T>(
  db: Db,
  bucketIds: string[],
  work: (tx: Tx) => Promise<T>,
): Promise<T> =>
  db.transaction(async tx => {
    for (const id of [...new Set(bucketIds)].sort()) await lockBucket(db, id, tx)
    return work(tx)
  })

export const inBucket = <T>(db: Db, bucketId: string, work: (tx: Tx) => Promise<T>): Promise<T> =>
  inBuckets(db, [bucketId], work)

export const same = (a: Totals, b: Totals): boolean =>
  a.bytes === b.bytes && a.files === b.files && a.folders === b.folders

/** The position of an entry in its tree. */
export interface Anchor {
  /**
   * The topmost entry, whose parent is missing or null; undefined in a cycle, and when the entry is
   * gone.
   */
  top?: { id: string; parentId: string | null; bucketId: string }
  /** From the entry itself upwards; empty if the entry is gone. */
  chain: string[]
}

/** Follows the parents of an entry to the topmost entry. */
export async function climb(db: Db, id: string, tx?: Tx): Promise<Anchor> {
  const rows = await upWithBuckets(db, id, tx)
  const known = keyById(rows)
  const chain: string[] = []
  let top = known.get(id)
  for (let row = top; row && !chain.includes(row.id); row = known.get(row.parentId ?? '')) {
    chain.push(row.id)
    top = row
  }
  const loops = top?.parentId && known.has(top.parentId)
  return { chain, ...(top && !loops ? { top } : {}) }
}

/**
 * Recounts the folders above an entry, and their bucket, from the bottom up. Call it with the
 * bucket locked.
 */
export async function retotal(db: Db, entryId: string, tx: Tx): Promise<void> {
  const { top, chain } = await climb(db, entryId, tx)
  for (const id of chain) await retotalFolder(db, id, tx)
  if (top) await recount(db, top.bucketId, tx)
}

/**
 * Restores the ledger row of a file's object.
 * @returns whether the object is in the store
 */
export async function reviveBlob(
  { db, store }: Pick<Installation, 'db' | 'store'>,
  bucketId: string,
  blobId: string,
): Promise<boolean> {
  const object = await store.look(blobId)
  if (!object) return false
  await db.transaction(async tx => {
    await releaseStaged(db, bucketId, blobId, tx)
    await reviveRow(db, { id: blobId, bucketId, size: object.size }, tx)
  })
  return true
}

const FOUND = 'lost+found'

/**
 * Moves an orphaned entry into a new folder at the root, where its owner finds it.
 * @returns whether this succeeded
 */
export async function reattach(db: Db, id: string, bucketId: string, tx: Tx): Promise<boolean> {
  const bucket = await lockBucket(db, bucketId, tx)
  const entry = await findOrphan(db, id, tx)
  if (!entry) return true
  if (!bucket) return false
  const tree = { bucketId, ...bucket }
  const { bytes, files, levelsBelow, bytesBelow } = entry
  const weight = { bytes, files, folders: entry.folders + (entry.kind === FOLDER ? 1 : 0) }
  // A new folder, because the name may be taken, and a parent must be a folder.
  const name = entry.name || id
  const place = [FOUND, newId()]
  try {
    await recorded(db, system, tx, async ({ record }) => {
      const change: TreeChange = { tx, by: null, record: (...what) => record(bucketId, ...what) }
      const [folder, arrivals] = [place, [{ name, weight, levelsBelow, bytesBelow }]]
      const { parentId, foldersMade } = await prepareFolder(db, tree, { folder, arrivals }, change)
      await addUsage(db, tree, { ...weight, folders: weight.folders + foldersMade }, tx)
      await placeEntries(db, [id], { parentId, name }, tx)
      const kind = entry.kind === FOLDER ? 'folder.created' : 'file.created'
      change.record({ kind, subject: id, details: { path: pathIn(tree, [...place, name]), bytes } })
    })
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'PATH_EXISTS') return false
    throw error
  }
}
