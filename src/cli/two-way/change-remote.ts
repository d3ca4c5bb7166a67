import { readAllEvents } from '../event-page.ts'
import { Failure, isFailure } from '../failure.ts'
import { DeleteDocument, MoveDocument } from '../generated.ts'
import { joinPath, splitPath } from '../path.ts'
import { inDrive } from '../place.ts'
import { changedMeanwhile, fileChanged, upload } from '../sync/push.ts'
import type { RemoteEntry } from '../sync/remote-tree.ts'
import type { Change } from '../sync/work.ts'
import type { BothJob } from './job.ts'
import { isSettled } from './local-side.ts'
import type { Action } from './sides.ts'

type Done = Promise<Omit<Change, 'path'> | null>

/**
 * Uploads a file, unless a program is still writing it.
 *
 * @throws FILE_CHANGED, REVISION_MISMATCH, PATH_EXISTS
 */
export async function send(job: BothJob, { path, replaces = false }: Action): Done {
  const file = job.local.entries.get(path)
  if (file?.kind !== 'file') return null
  if (!(await isSettled(file))) throw fileChanged(file.path)
  job.digests.delete(path)
  const done = await upload(job, { path, replaces })
  const stored = job.digests.get(path)
  if (stored) job.sent.set(path, { size: stored.size, md5: stored.md5 })
  // The uploaded content may be newer than the scanned one.
  if (!(await isSettled(file))) job.digests.delete(path)
  return done
}

export async function createFolder(
  { pair: { place, path: root } }: BothJob,
  { path }: Action,
): Done {
  await place.createFolder(joinPath(root, path), true)
  return { action: 'mkdir' }
}

/**
 * Moves an entry, which keeps its id, shares and versions.
 *
 * @throws REVISION_MISMATCH, PATH_EXISTS
 */
export async function moveRemote(
  { pair: { place, path: root }, touched }: BothJob,
  { path, from = '', size, isAsKnown }: Action,
  entry: RemoteEntry | undefined,
): Done {
  if (!entry) return null
  const { folder, name } = splitPath(joinPath(root, path))
  const input = {
    entries: [{ id: entry.id }],
    to: await place.at(folder),
    name,
    expectedRevision: entry.revision,
  }
  await place.client.change(MoveDocument, input).catch(error => {
    throw isFailure(error, 'PATH_EXISTS', 'REVISION_MISMATCH', 'FILE_NOT_FOUND')
      ? changedMeanwhile(from, error.code)
      : error
  })
  if (isAsKnown) touched.set(path, 'remote')
  return { action: 'move', from, ...(size === undefined ? {} : { size }) }
}

/**
 * Moves an entry to the trash. If the contents of a folder changed after the scan, the folder is
 * restored.
 */
export async function removeRemote(job: BothJob, { path, files = 0 }: Action): Done {
  const { place } = job.pair
  const { remote } = job
  const entry = remote.get(path)
  if (!entry) return null
  const input = { entries: [{ id: entry.id }], recursive: true, expectedRevision: entry.revision }
  try {
    const { filesDeleted, trashItems } = await place.client.change(DeleteDocument, input)
    const item = trashItems?.[0]?.id ?? null
    if (
      item !== null &&
      (filesDeleted > files || (entry.kind === 'folder' && (await isChangedIn(job, path))))
    ) {
      await place.trash.restore(item, undefined, 'FAIL')
      job.touched.set(path, 'remote')
      throw new Failure(
        'FILE_CHANGED',
        `The contents of ${path} changed on the service, so it was restored.`,
      )
    }
    return { action: 'delete', trashItemId: item }
  } catch (error) {
    if (isFailure(error, 'FILE_NOT_FOUND')) return null
    throw isFailure(error, 'REVISION_MISMATCH') ? changedMeanwhile(path, error.code) : error
  }
}

/**
 * Whether the contents of a deleted folder changed after the scan. Returns true if that is unknown.
 */
async function isChangedIn(
  { pair: { place, path: root }, remote, cursor }: BothJob,
  folder: string,
): Promise<boolean> {
  const inside = new Set<string>()
  for (const [path, { id }] of remote) if (path.startsWith(`${folder}/`)) inside.add(id)
  const isBelow = (path: string | null) =>
    path !== null && inDrive(path).startsWith(`${joinPath(root, folder)}/`)
  try {
    const { events } = await readAllEvents(place, cursor)
    return events.some(
      ({ kind, subject_id: id, details }) =>
        /^(file|folder|version)\./.test(kind) &&
        !/\.(deleted|purged)$/.test(kind) &&
        ((id !== null && inside.has(id)) || isBelow(details.path)),
    )
  } catch {
    return true
  }
}
