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

/**
 * Makes the local folder equal to the remote one. Files that changed after the scan are left alone.
 */
export async function pull(work: Work): Promise<void> {
  const { plan, parallel } = work
  const remove = async (paths: string[]) => {
    // Deletes the contents of a folder before the folder.
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

/** The local path of an entry. An existing entry may be spelled differently. */
export function localPath({ pair, local }: Pick<Job, 'pair' | 'local'>, path: string): string {
  const known = local.entries.get(path)
  if (known) return known.path
  const { folder, name } = splitPath(path)
  return join(folder === '' ? pair.local : localPath({ pair, local }, folder), name)
}

/**
 * Creates missing folders, parents first. It does not create the synced folder itself: if it is
 * missing now, its disk was unmounted.
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

/**
 * The source of a download.
 *
 * @throws FILE_CHANGED if the content has changed
 */
export const sourceOf = (
  { pair: { place, path: root } }: Pick<Job, 'pair'>,
  path: string,
  file: RemoteEntry,
): Source => {
  const shown = place.show(joinPath(root, path))
  const source: Source = {
    shown,
    size: file.size,
    // Part of a local file name, so it is validated.
    md5Checksum: /^[0-9a-f]{32}$/.test(file.md5) ? file.md5 : undefined,
    isDatedByLink: true,
    async link() {
      const { node } = await place.client.request(SyncLinkDocument, { id: file.id })
      if (!node || !('download' in node) || node.md5 !== file.md5)
        throw new Failure(
          'FILE_CHANGED',
          `${shown} changed while the command ran. Run the command again.`,
        )
      // Setting a modification time emits no event, so the known time may be old.
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

/** @throws TARGET_EXISTS if the entry changed after the scan */
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
