import { validate as isUuid } from 'uuid'
import type { Db } from '../../db/index.ts'
import { lastMove, movedSizes } from '../../db/queries/store-move.ts'
import { eachAtOnce } from '../backup/copy.ts'
import { BackupError } from '../backup/problem.ts'
import type { Progress } from '../backup/progress.ts'
import { removeBlobs } from '../backup/remove-blobs.ts'
import { installationOf } from '../services/installation.ts'
import { momentText } from '../values/moment.ts'
import { type Moving, requireInstances } from './begin-move.ts'

const REMOVED_AT_ONCE = 500

/** @throws BackupError if the blobs were never moved from the first store */
export async function requireSource({
  db,
  from,
  number,
}: Pick<Moving, 'db' | 'from' | 'number'>): Promise<void> {
  const there = await from.marker()
  if (there?.installation !== (await installationOf(db)) || there.number >= number)
    throw new BackupError(`${from.label} is not a store that the files were moved from.`)
}

/** @throws BackupError unless all blobs have been in the second store for this many seconds */
async function requireFinished(
  { db, number }: Pick<Moving, 'db' | 'number'>,
  graceSeconds: number,
): Promise<void> {
  const last = await lastMove(db)
  if (last?.number !== number || last.finishedAt === null)
    throw new BackupError('Not all files have been moved. Run "move-blobs" first.')
  const earliest = last.finishedAt + graceSeconds * 1000
  if (Date.now() < earliest)
    throw new BackupError(
      `Downloads from the old store may be under way. Run this after ${momentText(earliest)}, or with a shorter --grace.`,
    )
}

interface Removed {
  removed: number
  /** The ids of the blobs that the second store does not have. */
  kept: string[]
}

/**
 * Selects the keys that can be deleted from the first store: blobs that are complete in the second
 * store, and blobs that are not in the ledger or marked for deletion.
 */
async function deletable(
  { db, to, number }: { db: Db } & Pick<Moving, 'to' | 'number'>,
  keys: string[],
) {
  const known = await movedSizes(db, keys)
  const isMoved = async (key: string) => {
    const row = known.get(key)
    return row === undefined || (row.store >= number && (await to.look(key))?.size === row.size)
  }
  const moved = await eachAtOnce(keys, isMoved)
  return keys.filter((_, i) => moved[i])
}

/**
 * Deletes the content of the first store, after checking for each blob that the second store has
 * it. Keeps foreign objects. If it is killed, the next run resumes.
 * @param graceSeconds the minimum age of a finished move
 * @throws BackupError
 */
export async function deleteSource(
  moving: Moving,
  { graceSeconds, progress }: { graceSeconds: number; progress: Progress },
): Promise<Removed> {
  const { from } = moving
  await requireFinished(moving, graceSeconds)
  await requireSource(moving)
  await requireInstances(moving)
  progress.step('Deleting the files of the old store')
  const done: Removed = { removed: 0, kept: [] }
  const removeSome = async (keys: string[]) => {
    const mayGo = new Set(await deletable(moving, keys))
    done.kept.push(...keys.filter(key => !mayGo.has(key)))
    done.removed += await removeBlobs(from, [...mayGo], progress)
    progress.add(keys.length, 0)
  }
  let some: string[] = []
  for await (const { key } of from.list()) {
    if (!isUuid(key) || some.push(key) < REMOVED_AT_ONCE) continue
    await removeSome(some)
    some = []
  }
  if (some.length > 0) await removeSome(some)
  return done
}
