import { mkdir, rmdir, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { inParallel } from '../each.ts'
import { Failure } from '../failure.ts'
import { SyncLinkDocument } from '../generated.ts'
import { joinPath, splitPath } from '../path.ts'
import type { Source } from '../transfer/get-bytes.ts'
import { getFile } from '../transfer/get-file.ts'
import { foldersAbove } from './entry.ts'
import { isUntouched, type LocalEntry, lookAt, requireFolder } from './local-tree.ts'
import type { RemoteEntry } from './remote-tree.ts'
import { attempt, type Change, type Job, type Work } from './work.ts'

/** Makes the local folder like the remote one. What has changed since it was looked at stays. */
export async function pull(work: Work): Promise<void> {
  const { plan, parallel } = work
  const remove = async (paths: string[]) => {
    // What is in a folder comes before it.
    for (const path of paths.toReversed()) await attempt(work, path, () => removeLocal(work, path))
  }
  await remove(plan.clearings)
  for (const path of plan.folders)
    await attempt(work, path, async () => {
      await makeFolders(work, [...foldersAbove(path), path])
      return { action: 'mkdir' }
    })
  await inParallel(parallel, plan.files, file =>
    attempt(work, file.path, () => download(work, file)),
  )
  await remove(plan.removals)
}

/** Where a path is on this computer: what is there already may be spelled otherwise. */
export function localPath({ pair, local }: Pick<Job, 'pair' | 'local'>, path: string): string {
  const known = local.entries.get(path)
  if (known) return known.path
  const { folder, name } = splitPath(path)
  return join(folder === '' ? pair.local : localPath({ pair, local }, folder), name)
}

/**
 * Makes folders that are missing, one below the other. The outermost was there at the start:
 * without its disk it is not made again.
 */
export async function makeFolders(work: Job, paths: string[]): Promise<void> {
  await requireFolder(work.pair.local)
  for (const path of paths) {
    const folder = localPath(work, path)
    await mkdir(folder).catch(error => {
      if (error.code !== 'EEXIST') throw error
    })
    await requireFolder(folder)
  }
}

/** The source of a download. @throws FILE_CHANGED if the file has other bytes meanwhile */
export const sourceOf = (
  { pair: { place, path: root } }: Pick<Job, 'pair'>,
  path: string,
  file: RemoteEntry,
): Source => {
  const shown = place.show(joinPath(root, path))
  const source: Source = {
    shown,
    size: file.size,
    // It becomes part of a local file name, so it is validated.
    md5Checksum: /^[0-9a-f]{32}$/.test(file.md5) ? file.md5 : undefined,
    isDatedByLink: true,
    async link() {
      const { node } = await place.client.request(SyncLinkDocument, { id: file.id })
      if (!node || !('download' in node) || node.md5 !== file.md5)
        throw new Failure(
          'FILE_CHANGED',
          `${shown} changed while the command ran. Run the command again.`,
        )
      // Setting a time is no event: what is known of it may be old.
      source.modifiedAt = new Date(node.modifiedAt)
      return node.download.url
    },
  }
  return source
}

async function download(
  work: Work,
  { path, replaces }: Work['plan']['files'][number],
): Promise<Omit<Change, 'path'> | null> {
  const { context, progress, remote, local, digests } = work
  const file = remote.get(path)
  if (!file) return null
  await makeFolders(work, foldersAbove(path))
  const to = localPath(work, path)
  const before = local.entries.get(path)
  const got = await getFile(sourceOf(work, path, file), to, {
    patience: context.patience,
    progress,
    force: replaces,
    beforeReplacing: async () => {
      await requireUntouched(to, before)
      return false
    },
  })
  const now = await lookAt(to)
  if (now?.kind === 'file' && now.size === got.size)
    digests.set(path, { ...lookOf(now), md5: got.md5Checksum })
  return { action: replaces ? 'replace' : 'download', size: got.size }
}

const lookOf = ({ size, mtimeMs, ctimeMs }: Extract<LocalEntry, { kind: 'file' }>) => ({
  size,
  mtimeMs,
  ctimeMs,
})

/** @throws TARGET_EXISTS if there is something else than there was */
export async function requireUntouched(
  path: string,
  before: LocalEntry | undefined,
): Promise<void> {
  const now = await lookAt(path)
  const isSame =
    before?.kind === 'file'
      ? now?.kind === 'file' && isUntouched(before, now)
      : before && before.kind === now?.kind
  if (!isSame)
    throw new Failure(
      'TARGET_EXISTS',
      `${path} changed while the command ran and was left as it is. Check it, and run the command again.`,
    )
}

async function removeLocal(work: Work, path: string): Promise<Omit<Change, 'path'> | null> {
  const entry = work.local.entries.get(path)
  if (!entry) return null
  await requireFolder(dirname(entry.path))
  await requireUntouched(entry.path, entry)
  if (entry.kind === 'file') await unlink(entry.path)
  else
    await rmdir(entry.path).catch(error => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
      throw new Failure('TARGET_EXISTS', `${entry.path} is not empty; it was left as it is.`)
    })
  work.digests.delete(path)
  return { action: 'delete' }
}
