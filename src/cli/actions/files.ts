import type { Service } from '../client.ts'
import { withEach } from '../each.ts'
import { Failure, isFailure } from '../failure.ts'
import { findPlace } from '../find-place.ts'
import { joinPath, splitPath } from '../path.ts'
import { notFound, type Place } from '../place.ts'
import { ask } from '../prompt.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { bytes, plural } from '../table.ts'

export async function mkdir(context: Context, paths: string[], parents: boolean): Promise<Answer> {
  const service = await open(context)
  const { done, failures } = await withEach(paths, async text => {
    const { place, path } = await findPlace(service, text)
    try {
      await place.createFolder(path)
    } catch (error) {
      const isThere = parents && isFailure(error, 'PATH_EXISTS') && (await place.find(path))?.kind === 'folder'
      if (!isThere) throw error
    }
    return { path: place.show(path) }
  })
  return { fact: { created: done }, words: context.verbose ? done.map(d => d.path).join('\n') : '', failures }
}

export async function move(context: Context, paths: string[]): Promise<Answer> {
  const [last = '', ...before] = paths.toReversed()
  if (before.length === 0) throw new Failure('USAGE', 'Name a source and a destination.')
  const service = await open(context)
  const target = await findPlace(service, last)
  if (before.length > 1 && !target.isFolder)
    throw new Failure('USAGE', 'Several paths can only be moved into a folder: end the last path with a slash.')
  const { done, failures } = await withEach(before.toReversed(), async text => {
    const { place, path } = await findPlace(service, text)
    if (place.workspaceId !== target.place.workspaceId)
      throw new Failure('USAGE', 'Files cannot be moved between your files and a workspace: use get, then put.')
    const destination = target.isFolder ? joinPath(target.path, splitPath(path).name) : target.path
    const filesMoved = await moveEither(place, path, destination)
    return { source: place.show(path), destination: place.show(destination), filesMoved }
  })
  const words = context.verbose ? done.map(d => `${d.source} -> ${d.destination}`).join('\n') : ''
  return { fact: { moved: done }, words, failures }
}

/** Moves a file, or a folder if there is no such file. Resolves to the number of moved files. */
async function moveEither(place: Place, source: string, destination: string): Promise<number> {
  try {
    await place.moveFile(source, destination)
    return 1
  } catch (error) {
    if (!isFailure(error, 'FILE_NOT_FOUND')) throw error
    return place.moveFolder(source, destination).catch(inner => {
      throw isFailure(inner, 'FOLDER_NOT_FOUND') ? notFound(place.show(source)) : inner
    })
  }
}

export interface RemoveOptions {
  recursive?: boolean
  yes?: boolean
}

export async function remove(
  context: Context,
  paths: string[],
  { recursive = false, yes = false }: RemoveOptions,
): Promise<Answer> {
  const service = await open(context)
  const asks = recursive && !yes && !context.json && Boolean(process.stdin.isTTY)
  if (asks) await confirmRemoval(context, service, paths)
  const { done, failures } = await withEach(paths, async text => {
    const { place, path, isFolder } = await findPlace(service, text)
    const filesDeleted = isFolder
      ? await removeFolder(place, path, recursive)
      : await removeEither(place, path, recursive)
    return { path: place.show(path), filesDeleted }
  })
  const total = done.reduce((sum, { filesDeleted }) => sum + filesDeleted, 0)
  // Scripts have the exit code; people see a summary.
  const says = context.verbose || Boolean(process.stdout.isTTY)
  return { fact: { deleted: done }, words: says ? `${plural(total, 'file')} deleted.` : '', failures }
}

/** Lists the folders among the paths with their contents, and asks for confirmation. @throws USAGE without it */
async function confirmRemoval(context: Context, service: Service, paths: string[]): Promise<void> {
  const { done: folders } = await withEach(paths, async text => {
    const { place, path } = await findPlace(service, text)
    const { folder, name } = splitPath(path)
    // A key that may delete may lack the scope to read.
    const { folders } = await place.list(folder).catch(() => ({ folders: [] }))
    const found = folders.find(f => f.name === name.normalize('NFC'))
    return found ? `${place.show(path)} (${plural(found.fileCount, 'file')}, ${bytes(found.size)})` : ''
  })
  const named = folders.filter(Boolean).join(', ') || paths.join(', ')
  const answer = await ask(`Delete ${named}? This cannot be undone. [y/N] `, context.patience.signal)
  if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('USAGE', 'Nothing was deleted.')
}

async function removeEither(place: Place, path: string, recursive: boolean): Promise<number> {
  try {
    await place.deleteFile(path)
    return 1
  } catch (error) {
    if (!isFailure(error, 'FILE_NOT_FOUND')) throw error
    return removeFolder(place, path, recursive).catch(inner => {
      throw isFailure(inner, 'FOLDER_NOT_FOUND', 'NOT_FOUND') ? notFound(place.show(path)) : inner
    })
  }
}

async function removeFolder(place: Place, path: string, recursive: boolean): Promise<number> {
  if (recursive) return place.deleteFolder(path)
  if ((await place.find(path))?.kind !== 'folder') throw notFound(place.show(path))
  throw new Failure('IS_A_FOLDER', `${place.show(path)} is a folder. Use -r to delete it with everything in it.`)
}
