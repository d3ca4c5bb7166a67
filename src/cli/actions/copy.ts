import { copiedPaths } from '../copied-paths.ts'
import { withEach } from '../each.ts'
import { Failure, isFailure } from '../failure.ts'
import { findPlace } from '../find-place.ts'
import {
  CopyDocument,
  type OnConflict,
  SaveSharedDocument,
  ShareInfoDocument,
} from '../generated.ts'
import { joinPath, ownToken, type RemotePath, splitPath } from '../path.ts'
import { notFound, type Place } from '../place.ts'
import { readSecret } from '../prompt.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { plain } from '../text.ts'

export interface CopyOptions {
  replace?: boolean
  keepBoth?: boolean
}

export interface SaveOptions extends CopyOptions {
  to?: string
  password?: boolean
}

const conflictOf = ({ replace = false, keepBoth = false }: CopyOptions): OnConflict =>
  replace ? 'REPLACE' : keepBoth ? 'KEEP_BOTH' : 'FAIL'

/** Whether a destination is a folder: it ends with a slash, or a folder exists there. */
async function isFolder({
  place,
  path,
  isFolder,
}: RemotePath & { place: Place }): Promise<boolean> {
  if (isFolder) return true
  try {
    return (await place.find(path))?.kind === 'folder'
  } catch (error) {
    // A key with write scope may lack the read scope.
    if (isFailure(error, 'INSUFFICIENT_SCOPE')) return false
    throw error
  }
}

/** Copies files and folders. The last path is the destination. */
export async function copy(
  context: Context,
  paths: string[],
  options: CopyOptions,
): Promise<Answer> {
  const [last = '', ...before] = paths.toReversed()
  if (before.length === 0) throw new Failure('USAGE', 'Name a source and a destination.')
  const service = await open(context)
  const target = await findPlace(service, last)
  const isInto = await isFolder(target)
  if (before.length > 1 && !isInto)
    throw new Failure(
      'USAGE',
      'Several paths can only be copied into a folder: end the last path with a slash.',
    )
  const { done, failures } = await withEach(before.toReversed(), async text => {
    const { place, path } = await findPlace(service, text)
    if (path === '')
      throw new Failure(
        'USAGE',
        `A whole drive cannot be copied. Name files or folders in ${place.show('')}.`,
      )
    const destination = isInto ? joinPath(target.path, splitPath(path).name) : target.path
    const { folder, name } = splitPath(destination)
    const input = {
      entries: [await place.at(path)],
      to: await target.place.at(folder),
      name,
      onConflict: conflictOf(options),
    }
    // A key belongs to one drive.
    const client = place.key === target.place.key ? target.place.client : service.session
    const answered = await client.change(CopyDocument, input).catch(error => {
      throw isFailure(error, 'FILE_NOT_FOUND') ? notFound(place.show(path)) : error
    })
    const [made = destination] = await copiedPaths(context, client, answered)
    return { source: place.show(path), destination: target.place.show(made) }
  })
  const words = context.verbose
    ? done.map(d => plain(`${d.source} -> ${d.destination}`)).join('\n')
    : ''
  return { fact: { copied: done }, words, failures }
}

/** Copies the contents of a link into a drive. */
export async function save(
  context: Context,
  link: string,
  paths: string[],
  options: SaveOptions,
): Promise<Answer> {
  const service = await open(context)
  const token = ownToken(link, service.url)
  const { place, path } = await findPlace(service, options.to ?? '')
  const { fileName, passwordProtected } = (await place.client.request(ShareInfoDocument, { token }))
    .share
  const { signal } = context.patience
  const asks = options.password || (passwordProtected && process.stdin.isTTY)
  const password = asks ? await readSecret(`Password for ${fileName}: `, signal) : null
  const input = {
    token,
    password,
    paths,
    to: await place.at(path),
    onConflict: conflictOf(options),
  }
  const answered = await place.client.change(SaveSharedDocument, input)
  const saved = (await copiedPaths(context, place.client, answered)).map(made => ({
    path: place.show(made),
  }))
  return { fact: { saved }, words: saved.map(entry => plain(entry.path)).join('\n') }
}
