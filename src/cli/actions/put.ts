import limitTo from 'p-limit'
import { SMALL } from '../../upload-engine/upload.ts'
import { inParallel } from '../each.ts'
import { Failure, isFailure, toFailure } from '../failure.ts'
import { findPlace } from '../find-place.ts'
import { joinPath } from '../path.ts'
import type { Place, RemoteFile } from '../place.ts'
import { startProgress } from '../progress.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { plain } from '../text.ts'
import { putBytes, putFile, putStream } from '../transfer/put-file.ts'
import { lineOf, summaryOf } from '../transfer/summary.ts'
import { pathOf, type Stored, type Target } from '../transfer/target.ts'
import { type LocalFile, walk } from '../transfer/walk.ts'

export interface PutOptions {
  to?: string
  name?: string
  follow?: boolean
  replace?: boolean
  parallel: number
}

interface Put extends Stored {
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
  const { place, path: to } = await findPlace(service, options.to ?? '')
  const progress = await startProgress(context)
  try {
    const parts = limitTo(options.parallel)
    if (!isStream) return await putAll(context, named, to, { place, progress, parts }, options)
    const target = { place, progress, parts, folder: to, name: options.name ?? '', replaces: options.replace ?? false }
    const stored = await putInput(target)
    const path = place.show(pathOf(target))
    return { fact: { files: [{ source: '-', path, ...stored }] }, words: plain(path) }
  } finally {
    progress.stop()
  }
}

/** Uploads standard input: a short one like a file, which can be retried; a long one as a stream, without a local copy. */
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
      for (let next = await input.next(); !next.done; next = await input.next()) yield next.value as Buffer
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
  target: { place: Place } & Pick<Target, 'progress' | 'parts'>,
  { name, follow = false, replace: replaces = false, parallel }: PutOptions,
): Promise<Answer> {
  context.resumeHint = 'Run the same command to resume.'
  const { place, progress } = target
  const { files, emptyFolders, failures } = await walk(named, { name, follow, notice: context.notice })
  if (replaces) refuseTwins(files)
  for (const { size } of files) progress.expect(1, size)
  const known = listings(place)
  const done: Put[] = []

  async function one(file: LocalFile): Promise<void> {
    const { path: source, name: as } = file
    const at = { ...target, replaces, folder: joinPath(to, file.folder), name: as }
    const path = place.show(pathOf(at))
    try {
      const there = file.isNamed && !replaces ? undefined : await known(at.folder, as)
      const stored = await putFile(source, at, there)
      const put = { source, path, ...stored }
      done.push(put)
      progress.done(lineOf(put))
    } catch (error) {
      fail(error, source)
    }
  }

  function fail(error: unknown, source: string): void {
    const { code, message, details } = toFailure(error)
    // These affect all files alike.
    if (['INTERRUPTED', 'UNREACHABLE', 'UNAUTHENTICATED', 'NOT_SIGNED_IN', 'QUOTA_EXCEEDED'].includes(code)) throw error
    const named = message.includes(source) || code === 'PATH_EXISTS' ? message : `${source}: ${message}`
    failures.push(new Failure(code, named, { source, ...details }))
  }

  await inParallel(parallel, files, one)
  for (const folder of emptyFolders) await makeFolder(place, joinPath(to, folder)).catch(error => fail(error, folder))
  const [failure] = failures
  if (failure && failures.length === 1 && done.length === 0 && emptyFolders.length === 0) throw failure
  return { fact: { files: done }, words: summaryOf(done, context), failures }
}

/** Two files for one path would replace each other, in no certain order. @throws USAGE */
function refuseTwins(files: LocalFile[]): void {
  const sources = new Map<string, string>()
  for (const { path, folder, name } of files) {
    const to = joinPath(folder, name)
    const other = sources.get(to)
    if (other !== undefined)
      throw new Failure('USAGE', `"${other}" and "${path}" would both become "${to}". Send them one after the other.`)
    sources.set(to, path)
  }
}

/** Looks up files in remote folders, each listed once. Finds nothing with a key that may not read. */
function listings(place: Place): (folder: string, name: string) => Promise<RemoteFile | undefined> {
  const read = new Map<string, Promise<Map<string, RemoteFile>>>()
  const list = async (folder: string) => {
    try {
      const { files } = await place.list(folder)
      return new Map(files.map(file => [file.name, file]))
    } catch (error) {
      if (isFailure(error, 'INSUFFICIENT_SCOPE')) return new Map<string, RemoteFile>()
      throw error
    }
  }
  return async (folder, name) => {
    const files = read.get(folder) ?? list(folder)
    read.set(folder, files)
    return (await files).get(name.normalize('NFC'))
  }
}

async function makeFolder(place: Place, path: string): Promise<void> {
  try {
    await place.createFolder(path)
  } catch (error) {
    if (!isFailure(error, 'PATH_EXISTS') || (await place.find(path))?.kind !== 'folder') throw error
  }
}
