import type { Service } from '../client.ts'
import { withEach } from '../each.ts'
import { Failure, isFailure } from '../failure.ts'
import { findFiles } from '../find-place.ts'
import { joinPath, splitPath } from '../path.ts'
import { type FilesPlace, notFound } from '../place.ts'
import { confirm } from '../prompt.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { bytes, plural } from '../table.ts'
import { wayBack } from '../way-back.ts'

export async function mkdir(context: Context, paths: string[], parents: boolean): Promise<Answer> {
  const service = await open(context)
  const { done, failures } = await withEach(paths, async text => {
    const { place, path } = await findFiles(service, text)
    await place.createFolder(path, parents)
    return { path: place.show(path) }
  })
  return {
    fact: { created: done },
    words: context.verbose ? done.map(d => d.path).join('\n') : '',
    failures,
  }
}

export async function move(context: Context, paths: string[]): Promise<Answer> {
  const [last = '', ...before] = paths.toReversed()
  if (before.length === 0) throw new Failure('USAGE', 'Name a source and a destination.')
  const service = await open(context)
  const target = await findFiles(service, last)
  if (before.length > 1 && !target.isFolder)
    throw new Failure(
      'USAGE',
      'Several paths can only be moved into a folder: end the last path with a slash.',
    )
  const { done, failures } = await withEach(before.toReversed(), async text => {
    const { place, path } = await findFiles(service, text)
    if (place.key !== target.place.key)
      throw new Failure(
        'USAGE',
        'Files move within your files, a workspace or what is shared with you, not between them: use satchel cp, then satchel rm.',
      )
    const destination = target.isFolder ? joinPath(target.path, splitPath(path).name) : target.path
    const filesMoved = await place.move(path, destination).catch(error => {
      throw isFailure(error, 'FILE_NOT_FOUND') ? notFound(place.show(path)) : error
    })
    return { source: place.show(path), destination: place.show(destination), filesMoved }
  })
  const words = context.verbose ? done.map(d => `${d.source} -> ${d.destination}`).join('\n') : ''
  return { fact: { moved: done }, words, failures }
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
    const { place, path, isFolder } = await findFiles(service, text)
    if (isFolder || !recursive) await requireKind(place, path, isFolder, recursive)
    return { path: place.show(path), ...(await removeEntry(place, path, recursive)) }
  })
  const total = done.reduce((sum, { filesDeleted }) => sum + filesDeleted, 0)
  // Scripts check the exit code; people get a summary.
  const says = context.verbose || Boolean(process.stdout.isTTY)
  const kept = done.flatMap(({ path, trashItemId }) => (trashItemId === null ? [] : [path]))
  const words = says
    ? [`${plural(total, 'file')} deleted.`, wayBack(kept)].filter(Boolean).join(' ')
    : ''
  return { fact: { deleted: done }, words, failures }
}

/**
 * Lists the folders among the paths with their contents, and asks for confirmation.
 *
 * @throws USAGE if the user does not confirm
 */
async function confirmRemoval(context: Context, service: Service, paths: string[]): Promise<void> {
  const { done: folders } = await withEach(paths, async text => {
    const { place, path } = await findFiles(service, text)
    const { folder, name } = splitPath(path)
    // A key with delete scope may lack the read scope.
    const { folders } = await place.list(folder).catch(() => ({ folders: [] }))
    const found = folders.find(f => f.name === name.normalize('NFC'))
    if (!found) return ''
    const files = found.fileCount === undefined ? '' : `${plural(found.fileCount, 'file')}, `
    return `${place.show(path)} (${files}${bytes(found.size)})`
  })
  const named = folders.filter(Boolean).join(', ') || paths.join(', ')
  await confirm(`Delete ${named}?`, 'Nothing was deleted.', context.patience.signal)
}

const isAFolder = (shown: string): Failure =>
  new Failure('IS_A_FOLDER', `${shown} is a folder. Use -r to delete it with everything in it.`)

/**
 * Otherwise the service would delete an empty folder in place of a file, or a file in place of a
 * folder.
 *
 * @throws NOT_FOUND, IS_A_FOLDER
 */
async function requireKind(
  place: FilesPlace,
  path: string,
  isFolder: boolean,
  recursive: boolean,
): Promise<void> {
  try {
    const found = await place.find(path)
    if (!found || (isFolder && found.kind === 'file')) throw notFound(place.show(path))
    if (found.kind === 'folder' && !recursive) throw isAFolder(place.show(path))
  } catch (error) {
    // A key with delete scope may lack the read scope.
    if (!isFailure(error, 'INSUFFICIENT_SCOPE')) throw error
  }
}

async function removeEntry(
  place: FilesPlace,
  path: string,
  recursive: boolean,
): ReturnType<FilesPlace['remove']> {
  try {
    return await place.remove(path, recursive)
  } catch (error) {
    if (isFailure(error, 'FILE_NOT_FOUND')) throw notFound(place.show(path))
    throw isFailure(error, 'FOLDER_NOT_EMPTY') ? isAFolder(place.show(path)) : error
  }
}
