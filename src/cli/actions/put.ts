import limitTo from 'p-limit'
import { SMALL } from '../../upload-engine/upload.ts'
import { inParallel } from '../each.ts'
import { Failure, isFailure, toFailure } from '../failure.ts'
import { findFiles } from '../find-place.ts'
import type { OnConflict } from '../generated.ts'
import { joinPath } from '../path.ts'
import type { FilesPlace, RemoteFile } from '../place.ts'
import { startProgress } from '../progress.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { plain } from '../text.ts'
import { putBytes, putFile, putStream } from '../transfer/put-file.ts'
import { lineOf, summaryOf } from '../transfer/summary.ts'
import type { Stored } from '../transfer/target.ts'
import { namesakesIn } from '../transfer/transport.ts'
import type { Target } from '../transfer/upload-target.ts'
import { type LocalFile, walk } from '../transfer/walk.ts'

export interface PutOptions {
  to?: string
  name?: string
  follow?: boolean
  replace?: boolean
  keepBoth?: boolean
  parallel: number
}

const choiceOf = ({ replace, keepBoth }: Pick<PutOptions, 'replace' | 'keepBoth'>): OnConflict =>
  replace ? 'REPLACE' : keepBoth ? 'KEEP_BOTH' : 'FAIL'

interface Put extends Omit<Stored, 'name'> {
  source: string
  path: string
}

export async function put(context: Context, named: string[], options: PutOptions): Promise<Answer> {
  const isStream = named.includes('-')
  if (isStream && (named.length > 1 || options.name === undefined))
    throw new Failure(
      'USAGE',
      'Standard input cannot be combined with files, and needs a name: satchel put - --name notes.txt',
    )
  if (options.name !== undefined && named.length > 1)
    throw new Failure('USAGE', '--name works with a single file or folder.')
  const service = await open(context)
  const { place, path: to } = await findFiles(service, options.to ?? '')
  const progress = await startProgress(context)
  try {
    const parts = limitTo(options.parallel)
    if (!isStream) return await putAll(context, named, to, { place, progress, parts }, options)
    const onConflict = choiceOf(options)
    const { name, ...stored } = await putInput({
      place,
      progress,
      parts,
      onConflict,
      folder: to,
      name: options.name ?? '',
    })
    const path = place.show(joinPath(to, name))
    return { fact: { files: [{ source: '-', path, ...stored }] }, words: plain(path) }
  } finally {
    progress.stop()
  }
}

/**
 * Uploads standard input. Short input is uploaded like a file, with retries; long input is
 * streamed, without a local copy.
 */
async function putInput(target: Target): Promise<Stored> {
  const { signal } = target.place.client.patience
  const input = process.stdin[Symbol.asyncIterator]()
  const stop = () => process.stdin.destroy()
  signal.addEventListener('abort', stop)
  try {
    target.progress.expect(1, undefined)
    const first: Buffer[] = []
    for (let length = 0; length <= SMALL; ) {
      const { value, done } = await input.next()
      if (done) return await putBytes(Buffer.concat(first), target)
      first.push(value)
      length += value.length
    }
    async function* all() {
      yield* first.splice(0)
      for (let next = await input.next(); !next.done; next = await input.next())
        yield next.value as Buffer
    }
    return await putStream(all(), target)
  } finally {
    signal.removeEventListener('abort', stop)
    stop()
  }
}

async function putAll(
  context: Context,
  named: string[],
  to: string,
  target: { place: FilesPlace } & Pick<Target, 'progress' | 'parts'>,
  { name, follow = false, parallel, ...options }: PutOptions,
): Promise<Answer> {
  const onConflict = choiceOf(options)
  context.resumeHint = 'Run the same command to resume.'
  const { place, progress } = target
  const { files, emptyFolders, failures } = await walk(named, {
    name,
    follow,
    notice: context.notice,
  })
  if (onConflict === 'REPLACE') refuseTwins(files)
  for (const { size } of files) progress.expect(1, size)
  const listed = listings(place)
  const done: Put[] = []

  async function one(file: LocalFile): Promise<void> {
    const { path: source, name: as } = file
    const at = { ...target, onConflict, folder: joinPath(to, file.folder), name: as }
    try {
      const known =
        file.isNamed && onConflict === 'FAIL' ? [] : knownOf(await listed(at.folder), at)
      const { name: storedAs, ...stored } = await putFile(source, at, known)
      const put = { source, path: place.show(joinPath(at.folder, storedAs)), ...stored }
      done.push(put)
      progress.done(lineOf(put))
    } catch (error) {
      fail(error, source)
    }
  }

  function fail(error: unknown, source: string): void {
    const { code, message, details } = toFailure(error)
    // These errors affect all files alike.
    if (
      [
        'INTERRUPTED',
        'UNREACHABLE',
        'UNAUTHENTICATED',
        'NOT_SIGNED_IN',
        'QUOTA_EXCEEDED',
        'NO_SPACE',
      ].includes(code)
    )
      throw error
    const named =
      message.includes(source) || code === 'PATH_EXISTS' ? message : `${source}: ${message}`
    failures.push(new Failure(code, named, { source, ...details }))
  }

  await inParallel(parallel, files, one)
  for (const folder of emptyFolders)
    await place.createFolder(joinPath(to, folder), true).catch(error => fail(error, folder))
  const [failure] = failures
  if (failure && failures.length === 1 && done.length === 0 && emptyFolders.length === 0)
    throw failure
  return { fact: { files: done }, words: summaryOf(done, context), failures }
}

/**
 * Rejects two files with the same target path, because one would replace the other in random order.
 *
 * @throws USAGE
 */
function refuseTwins(files: LocalFile[]): void {
  const sources = new Map<string, string>()
  for (const { path, folder, name } of files) {
    const to = joinPath(folder, name)
    const other = sources.get(to)
    if (other !== undefined)
      throw new Failure(
        'USAGE',
        `"${other}" and "${path}" would both become "${to}". Upload them with separate commands.`,
      )
    sources.set(to, path)
  }
}

/** The contents of a remote folder, by name. */
interface Known {
  files: Map<string, RemoteFile>
  folders: Set<string>
}

/** Lists each remote folder once. With a key without the read scope, listings are empty. */
function listings(place: FilesPlace): (folder: string) => Promise<Known> {
  const read = new Map<string, Promise<Known>>()
  const list = async (folder: string): Promise<Known> => {
    try {
      const { files, folders } = await place.list(folder)
      return {
        files: new Map(files.map(file => [file.name, file])),
        folders: new Set(folders.map(({ name }) => name)),
      }
    } catch (error) {
      if (isFailure(error, 'INSUFFICIENT_SCOPE')) return { files: new Map(), folders: new Set() }
      throw error
    }
  }
  return async folder => {
    const listing = read.get(folder) ?? list(folder)
    read.set(folder, listing)
    return listing
  }
}

/** The remote files that may be the same as a file of this name. */
function knownOf(
  { files, folders }: Known,
  { name, onConflict }: Pick<Target, 'name' | 'onConflict'>,
): RemoteFile[] {
  const wanted = name.normalize('NFC')
  const there = files.get(wanted)
  // A folder with this name also makes the service number the new file.
  if (onConflict === 'KEEP_BOTH' && (there || folders.has(wanted)))
    return namesakesIn([...files.values()], name)
  return there ? [there] : []
}
