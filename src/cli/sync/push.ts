import { dirname } from 'node:path'
import { inParallel } from '../each.ts'
import { Failure, isFailure } from '../failure.ts'
import { DeleteDocument } from '../generated.ts'
import { joinPath, splitPath } from '../path.ts'
import { putFile } from '../transfer/put-file.ts'
import { outermost } from './compare.ts'
import { lookAt, requireFolder } from './local-tree.ts'
import { attempt, type Change, type Work } from './work.ts'

/** Makes the remote folder like the local one. What goes is moved to the trash; what has changed since it was looked at stays. */
export async function push(work: Work): Promise<void> {
  const { plan, pair, parallel } = work
  const { place, path: root } = pair
  const remove = async (paths: string[]) => {
    await inParallel(parallel, outermost(paths), path => attempt(work, path, () => removeRemote(work, path)))
  }
  await remove(plan.clearings)
  for (const path of plan.folders)
    await attempt(work, path, async () => {
      await place.createFolder(joinPath(root, path), true)
      return { action: 'mkdir' }
    })
  await inParallel(parallel, plan.files, file => attempt(work, file.path, () => upload(work, file)))
  await remove(plan.removals)
}

async function upload(
  { pair: { place, path: root }, local, remote, progress, parts, digests }: Work,
  { path, replaces }: Work['plan']['files'][number],
): Promise<Omit<Change, 'path'> | null> {
  const file = local.entries.get(path)
  if (file?.kind !== 'file') return null
  await requireFolder(dirname(file.path))
  if ((await lookAt(file.path))?.kind !== 'file')
    throw new Failure('FILE_CHANGED', `${file.path} is not a file any more. Run the command again.`)
  const { folder, name } = splitPath(joinPath(root, path))
  const target = {
    ...{ place, folder, name, progress, parts },
    ...(replaces
      ? { onConflict: 'REPLACE' as const, expectedRevision: remote.get(path)?.revision }
      : { onConflict: 'FAIL' as const }),
  }
  const { size, md5Checksum: md5 } = await putFile(file.path, target, []).catch(error => {
    throw isFailure(error, 'PATH_EXISTS', 'REVISION_MISMATCH') ? changedMeanwhile(path, error.code) : error
  })
  const { mtimeMs, ctimeMs } = file
  if (size === file.size) digests.set(path, { size, mtimeMs, ctimeMs, md5 })
  return { action: replaces ? 'replace' : 'upload', size }
}

async function removeRemote({ pair: { place }, remote }: Work, path: string): Promise<Omit<Change, 'path'> | null> {
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

const changedMeanwhile = (path: string, code: string): Failure =>
  new Failure(
    code,
    `${path} was changed on the service while this ran; it was left as it is. Look at it, and run the command again.`,
  )
