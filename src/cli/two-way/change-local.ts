import { rename, rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Failure } from '../failure.ts'
import { foldersAbove } from '../sync/entry.ts'
import { lookAt, requireFolder } from '../sync/local-tree.ts'
import { localPath, makeFolders, requireUntouched, sourceOf } from '../sync/pull.ts'
import { fileChanged } from '../sync/push.ts'
import type { Change } from '../sync/work.ts'
import { getFile } from '../transfer/get-file.ts'
import type { BothJob } from './job.ts'
import type { Action } from './sides.ts'

type Done = Promise<Omit<Change, 'path'> | null>

/**
 * Downloads a file. The replaced file first moves to the kept files, or after a conflict to its new
 * name.
 *
 * @throws TARGET_EXISTS if the local file changed after the scan
 */
export async function download(job: BothJob, { path, replaces = false, keptAs }: Action): Done {
  const { context, progress, remote, local, digests, own } = job
  const file = remote.get(path)
  if (!file) return null
  await makeFolders(job, foldersAbove(path))
  const to = localPath(job, path)
  const before = local.entries.get(path)
  const source = sourceOf(job, path, file)
  const got = await getFile(source, to, {
    patience: context.patience,
    progress,
    parts: own.parts,
    force: replaces || keptAs !== undefined,
    async beforeReplacing() {
      await requireUntouched(to, before)
      if (keptAs === undefined) await own.discard(path, to)
      else if (!(await own.move(path, to, localPath(job, keptAs)))) throw taken(keptAs)
      return true
    },
  })
  const now = await lookAt(to)
  // A change meanwhile has another modification time.
  if (
    now?.kind === 'file' &&
    now.size === got.size &&
    now.mtimeMs === source.modifiedAt?.getTime()
  ) {
    const { size, mtimeMs, ctimeMs } = now
    digests.set(path, { size, mtimeMs, ctimeMs, md5: got.md5Checksum })
  }
  job.sent.set(path, { id: file.id, size: got.size, md5: file.md5 })
  if (keptAs !== undefined) return { action: 'conflict', keptAs, size: got.size }
  return { action: replaces ? 'replace' : 'download', size: got.size }
}

/** Renames the local version, and downloads the remote version to its place. */
export async function resolveConflict(job: BothJob, action: Action): Done {
  const { path, keptAs = '' } = action
  const before = job.local.entries.get(path)
  if (before?.kind === 'file' && job.remote.get(path)?.kind === 'file') return download(job, action)
  const from = localPath(job, path)
  await requireFolder(dirname(from))
  await requireUntouched(from, before)
  if (!(await job.own.move(path, from, localPath(job, keptAs)))) throw taken(keptAs)
  return { action: 'conflict', keptAs }
}

const taken = (path: string): Failure => new Failure('TARGET_EXISTS', `${path} is taken meanwhile.`)

export async function makeFolder(job: BothJob, { path }: Action): Done {
  await makeFolders(job, [...foldersAbove(path), path])
  return { action: 'mkdir' }
}

/** Moves a file or folder to a free path. */
export async function moveLocal(
  job: BothJob,
  { path, from = '', id, size, last, isAsKnown }: Action,
): Done {
  const [source, target] = [localPath(job, from), localPath(job, path)]
  await makeFolders(job, foldersAbove(path))
  await requireFolder(dirname(source))
  const there = await lookAt(source)
  if (!there || (id && there.identity !== id)) throw fileChanged(source)
  const found = await lookAt(target).catch(() => null)
  // The same name in another case.
  const isSame = found?.identity !== null && found?.identity === there.identity
  if (isSame && target.toLowerCase() === source.toLowerCase()) await rename(source, target)
  else if (found || !(await job.own.move(from, source, target))) throw taken(path)
  // The file at that path may be a different one.
  if (last) job.sent.set(path, last)
  if (isAsKnown) job.touched.set(path, 'local')
  return { action: 'move', from, ...(size === undefined ? {} : { size }) }
}

/** Moves a file to the kept files, or deletes an empty folder. */
export async function removeLocal({ local, digests, own }: BothJob, { path }: Action): Done {
  const entry = local.entries.get(path)
  if (!entry) return null
  await requireFolder(dirname(entry.path))
  await requireUntouched(entry.path, entry)
  if (entry.kind === 'file') await own.discard(path, entry.path)
  else if (!(await isRemoved(entry.path))) return null
  digests.delete(path)
  return { action: 'delete', ...(entry.kind === 'file' ? { size: entry.size } : {}) }
}

/** If something was added to the folder meanwhile, it stays, and so does the folder. */
const isRemoved = (folder: string): Promise<boolean> =>
  rmdir(folder).then(
    () => true,
    error => {
      if (error.code === 'ENOTEMPTY' || error.code === 'EEXIST') return false
      throw error
    },
  )
