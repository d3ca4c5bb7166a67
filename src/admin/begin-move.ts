import type { Db } from '../../db/index.ts'
import { instancesWithoutStore } from '../../db/queries/health.ts'
import { insertMove, lastMove } from '../../db/queries/store-move.ts'
import { BackupError } from '../backup/problem.ts'
import { SILENT_MS } from '../services/finding.ts'
import type { BlobStore } from '../storage/store.ts'
import { momentText } from '../values/moment.ts'

export interface Moving {
  db: Db
  from: BlobStore
  to: BlobStore
  /** The number of the second store. */
  number: number
}

/**
 * Refuses a move while some instances know only one store, because they and the others could not
 * read each other's new blobs.
 * @throws BackupError if there is such an instance
 */
export async function requireInstances({
  db,
  number,
}: Pick<Moving, 'db' | 'number'>): Promise<void> {
  const now = Date.now()
  const names = await instancesWithoutStore(db, number, now - SILENT_MS)
  if (names.length > 0)
    throw new BackupError(
      `These instances run without the settings of this move: ${names.join(', ')}. Restart them with both stores. If one of them was killed, wait until ${momentText(now + SILENT_MS)}.`,
    )
}

/**
 * Begins a move, after which new blobs go to the second store. A move that has begun continues.
 * @throws BackupError if there are instances that do not take part
 */
export async function beginMove({ db, from, to, number }: Moving): Promise<void> {
  const last = await lastMove(db)
  if (last?.number === number) return
  await requireInstances({ db, number })
  const labels = { source: from.label.slice(0, 500), target: to.label.slice(0, 500) }
  await insertMove(db, { number, ...labels, startedAt: Date.now(), finishedAt: null })
}
