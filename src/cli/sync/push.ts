import { dirname } from 'node:path'
import { inParallel } from '../each.ts'
import { Failure, isFailure } from '../failure.ts'
import { DeleteDocument, MoveDocument } from '../generated.ts'
import { joinPath, splitPath } from '../path.ts'
import { putFile } from '../transfer/put-file.ts'
import { type Move, outermost } from './compare.ts'
import { foldersAbove } from './entry.ts'
import { isUntouched, lookAt, requireFolder } from './local-tree.ts'
import { attempt, type Change, type Job, type Work } from './work.ts'

/**
 * Makes the remote folder equal to the local one. Deleted entries go to the trash. Entries that
 * changed after the scan are left alone.
 */
export async function push(work: Work): Promise<void> {
  const { plan, pair, parallel } = work
  const { place, path: root } = pair
  const remove = async (paths: string[]) => {
    await inParallel(parallel, outermost(paths), path =>
      attempt(work, path, () => removeRemote(work, path)),
    )
  }
  await remove(plan.clearings)
  const moved = new Set<string>()
  await inParallel(parallel, plan.moves, move =>
    attempt(work, move.path, async () => {
      const done = await moveRemote(work, move)
      if (done) moved.add(move.from)
      return done
    }),
  )
  for (const path of plan.folders)
    await attempt(work, path, async () => {
      await place.createFolder(joinPath(root, path), true)
      return { action: 'mkdir' }
    })
  await inParallel(parallel, plan.files, file => attempt(work, file.path, () => upload(work, file)))
  // If a move failed, the source stays, so its folder must not be deleted.
  const left = new Set(
    plan.moves.flatMap(({ from }) => (moved.has(from) ? [] : foldersAbove(from))),
  )
  await remove(plan.removals.filter(path => !left.has(path)))
}

async function moveRemote(
  { pair: { place, path: root }, local, remote }: Work,
  { path, from, size }: Move,
): Promise<Omit<Change, 'path'> | null> {
  const [file, entry] = [local.entries.get(path), remote.get(from)]
  if (file?.kind !== 'file' || !entry) return null
  await requireFolder(dirname(file.path))
  const there = await lookAt(file.path)
  if (there?.kind !== 'file' || !isUntouched(there, file)) throw fileChanged(file.path)
  const { folder, name } = splitPath(joinPath(root, path))
  const input = {
    entries: [{ id: entry.id }],
    to: await place.at(folder),
    name,
    expectedRevision: entry.revision,
  }
  await place.client.change(MoveDocument, input).catch(error => {
    throw isFailure(error, 'PATH_EXISTS', 'REVISION_MISMATCH', 'FILE_NOT_FOUND')
      ? changedMeanwhile(error.code === 'PATH_EXISTS' ? path : from, error.code)
      : error
  })
  return { action: 'move', from, size }
}

/**
 * Uploads a file.
 *
 * @throws REVISION_MISMATCH, PATH_EXISTS if the remote file changed meanwhile
 */
export async function upload(
  { pair: { place, path: root }, local, remote, progress, parts, digests }: Job,
  { path, replaces }: { path: string; replaces: boolean },
): Promise<Omit<Change, 'path'> | null> {
  const file = local.entries.get(path)
  if (file?.kind !== 'file') return null
  await requireFolder(dirname(file.path))
  if ((await lookAt(file.path))?.kind !== 'file') throw fileChanged(file.path)
  const { folder, name } = splitPath(joinPath(root, path))
  const target = {
    place,
    folder,
    name,
    progress,
    parts,
    ...(replaces
      ? { onConflict: 'REPLACE' as const, expectedRevision: remote.get(path)?.revision }
      : { onConflict: 'FAIL' as const }),
  }
  const { size, md5Checksum: md5 } = await putFile(file.path, target, []).catch(error => {
    throw isFailure(error, 'PATH_EXISTS', 'REVISION_MISMATCH')
      ? changedMeanwhile(path, error.code)
      : error
  })
  const { mtimeMs, ctimeMs } = file
  if (size === file.size) digests.set(path, { size, mtimeMs, ctimeMs, md5 })
  return { action: replaces ? 'replace' : 'upload', size }
}

async function removeRemote(
  { pair: { place }, remote }: Work,
  path: string,
): Promise<Omit<Change, 'path'> | null> {
  const entry = remote.get(path)
  if (!entry) return null
  const input = { entries: [{ id: entry.id }], recursive: true, expectedRevision: entry.revision }
  try {
    const { trashItems } = await place.client.change(DeleteDocument, input)
    return { action: 'delete', trashItemId: trashItems?.[0]?.id ?? null }
  } catch (error) {
    if (isFailure(error, 'FILE_NOT_FOUND')) return null
    throw isFailure(error, 'REVISION_MISMATCH') ? changedMeanwhile(path, error.code) : error
  }
}

export const fileChanged = (path: string): Failure =>
  new Failure('FILE_CHANGED', `${path} changed while the command ran. Run the command again.`)

export const changedMeanwhile = (path: string, code: string): Failure =>
  new Failure(
    code,
    `${path} changed on the service while the command ran and was left as it is. Check it, and run the command again.`,
  )
