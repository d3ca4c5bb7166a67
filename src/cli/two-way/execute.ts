import { inParallel } from '../each.ts'
import { download, makeFolder, moveLocal, removeLocal, resolveConflict } from './change-local.ts'
import { createFolder, moveRemote, removeRemote, send } from './change-remote.ts'
import { attemptAction, type BothJob } from './job.ts'
import { keyOf } from './moves.ts'
import type { Action } from './sides.ts'

/**
 * Runs the first kind of actions of which one succeeds: moves, then copies, then deletions. Both
 * sides are scanned again afterwards, so that deletions always follow a fresh scan.
 */
export async function execute(job: BothJob, actions: Action[]): Promise<void> {
  const { parallel, changes } = job
  const before = changes.length
  const isDone = () => changes.length > before
  const ids = new Map([...job.remote].map(([path, { id }]) => [id, path]))
  for (const move of actions.filter(({ action }) => action === 'move')) {
    const entry = job.remote.get(ids.get(move.id ?? '') ?? '')
    const count = changes.length
    await attemptAction(job, move, () =>
      move.side === 'local' ? moveLocal(job, move) : moveRemote(job, move, entry),
    )
    if (changes.length === count) job.failedMoves.add(keyOf(move))
  }
  if (isDone()) return
  for (const folder of actions.filter(({ action }) => action === 'mkdir'))
    await attemptAction(job, folder, () =>
      folder.side === 'local' ? makeFolder(job, folder) : createFolder(job, folder),
    )
  const files = actions.filter(({ action }) => ['upload', 'download', 'conflict'].includes(action))
  await inParallel(parallel, files, file =>
    attemptAction(job, file, () => transfers[file.action]?.(job, file) ?? nothing),
  )
  if (isDone()) return
  const deletions = actions.filter(({ action }) => action === 'delete')
  const remote = deletions.filter(({ side }) => side === 'remote')
  await inParallel(parallel, remote, each =>
    attemptAction(job, each, () => removeRemote(job, each)),
  )
  // Deletes the contents of a folder before the folder.
  for (const each of deletions.filter(({ side }) => side === 'local'))
    await attemptAction(job, each, () => removeLocal(job, each))
}

const nothing = Promise.resolve(null)
const transfers: { [A in Action['action']]?: typeof send } = {
  upload: send,
  download,
  conflict: resolveConflict,
}
