import { once } from 'node:events'
import { lstat, mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import limitTo from 'p-limit'
import { inParallel } from '../each.ts'
import { Failure, toFailure } from '../failure.ts'
import { findPlace } from '../find-place.ts'
import { isSafeName, joinPath, splitPath } from '../path.ts'
import { DEEPEST, notFound, type Place, type RemoteFile } from '../place.ts'
import { startProgress } from '../progress.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import type { Source } from '../transfer/get-bytes.ts'
import { type Fetched, getFile, getStream, type Work } from '../transfer/get-file.ts'
import { openShare } from '../transfer/share-source.ts'
import { lineOf, summaryOf } from '../transfer/summary.ts'
import { zipOf } from '../transfer/zip-source.ts'

export interface GetOptions {
  output?: string
  force?: boolean
  password?: boolean
  zip?: boolean
  parallel: number
}

/** A source, and its path relative to the output folder. */
interface Job {
  source: Source
  names: string[]
}

interface Found {
  jobs: Job[]
  folders: string[][]
  /** Failures for names that are not allowed on this computer. */
  failures: Failure[]
}

interface Got extends Fetched {
  source: string
  path: string
}

export async function get(
  context: Context,
  named: string[],
  options: GetOptions,
): Promise<Answer | undefined> {
  const { output } = options
  if (output === '-' && (named.length > 1 || context.json))
    throw new Failure(
      'USAGE',
      'Only a single file can be written to standard output, and without --json.',
    )
  const found = options.zip
    ? [await findArchive(context, named)]
    : await Promise.all(named.map(text => find(context, text, options)))
  const jobs = found.flatMap(f => f.jobs)
  const folders = found.flatMap(f => f.folders)
  const failures = found.flatMap(f => f.failures)

  const progress = await startProgress(context)
  const work: Work = { patience: context.patience, progress, force: options.force ?? false }
  try {
    for (const { source } of jobs) progress.expect(1, source.size)
    if (output === '-') {
      const [job] = jobs
      if (!job || jobs.length > 1 || folders.length > 0 || failures.length > 0)
        throw new Failure('USAGE', 'A folder cannot be written to standard output. Name a file.')
      await getStream(job.source, toStdout, work)
      return undefined
    }
    context.resumeHint = 'Run the same command to resume.'
    const place = await placeOf(output, jobs, folders)
    return await getAll(context, { jobs, folders, failures }, place, work, options.parallel)
  } finally {
    progress.stop()
  }
}

async function toStdout(chunk: Uint8Array): Promise<void> {
  if (!process.stdout.write(chunk)) await once(process.stdout, 'drain')
}

/** Maps remote names to a local path. */
type Placing = (names: string[]) => string

/** `--output` renames a single file. For everything else it is the target folder. */
async function placeOf(
  output: string | undefined,
  jobs: Job[],
  folders: string[][],
): Promise<Placing> {
  if (output === undefined) return names => join('.', ...names)
  const isFolder = /[/\\]$/.test(output) || (await stat(output).catch(() => null))?.isDirectory()
  const isOne = jobs.length === 1 && folders.length === 0 && jobs[0]?.names.length === 1
  return isOne && !isFolder ? () => output : names => join(output, ...names)
}

/**
 * Refuses folders below the output folder that are symbolic links: they may lead out of it.
 * @throws TARGET_EXISTS
 */
async function requireNoLinks(names: string[], place: Placing): Promise<void> {
  for (let depth = 1; depth <= names.length; depth++) {
    const path = place(names.slice(0, depth))
    const there = await lstat(path).catch(() => null)
    if (!there) return
    if (there.isSymbolicLink())
      throw new Failure(
        'TARGET_EXISTS',
        `${path} is a symbolic link. Symbolic links in the target folder are not followed.`,
        { path },
      )
  }
}

async function getAll(
  context: Context,
  { jobs, folders, failures }: Found,
  place: Placing,
  work: Work,
  parallel: number,
): Promise<Answer> {
  const done: Got[] = []
  const each = async (names: string[], shown: string, act: (path: string) => Promise<void>) => {
    try {
      await act(place(names))
    } catch (error) {
      const { code, message, details } = toFailure(error)
      if (['INTERRUPTED', 'UNREACHABLE', 'UNAUTHENTICATED'].includes(code)) throw error
      failures.push(new Failure(code, message, { source: shown, ...details }))
    }
  }
  for (const names of folders)
    await each(names, names.join('/'), async path => {
      await requireNoLinks(names, place)
      await mkdir(path, { recursive: true })
    })
  await inParallel(parallel, jobs, ({ source, names }) =>
    each(names, source.shown, async path => {
      await requireNoLinks(names.slice(0, -1), place)
      const got = await getFile(source, path, work)
      const fetched = { source: source.shown, path, ...got }
      done.push(fetched)
      work.progress.done(lineOf(fetched))
    }),
  )
  const [failure] = failures
  if (failure && failures.length === 1 && done.length === 0 && folders.length === 0) throw failure
  return { fact: { files: done }, words: summaryOf(done, context), failures }
}

const sourceOf = (
  place: Place,
  path: string,
  { size, md5Checksum, modifiedAt }: RemoteFile,
): Source => ({
  shown: place.show(path),
  size,
  modifiedAt: new Date(modifiedAt),
  // Part of a local file name, so it is validated.
  md5Checksum: /^[0-9a-f]{32}$/.test(md5Checksum) ? md5Checksum : undefined,
  link: () => place.link(path),
})

/** Finds the files and folders of a path or link. */
async function find(
  context: Context,
  text: string,
  { password = false }: GetOptions,
): Promise<Found> {
  if (/^https?:\/\//.test(text)) {
    const { source, name } = await openShare(context, text, password)
    if (!isSafeName(name)) throw unsafe(name, text)
    return { jobs: [{ source, names: [name] }], folders: [], failures: [] }
  }
  const { place, path, isFolder } = await findPlace(await open(context), text)
  const there = await place.find(path)
  if (!there || (there.kind === 'file' && isFolder)) throw notFound(place.show(path))
  const { name } = splitPath(path)
  if (name !== '' && !isSafeName(name)) throw unsafe(name, place.show(path))
  if (there.kind === 'file')
    return {
      jobs: [{ source: sourceOf(place, path, there.file), names: [name] }],
      folders: [],
      failures: [],
    }
  return findBelow(place, path, name === '' ? [] : [name])
}

/** One archive of all given paths. */
async function findArchive(context: Context, named: string[]): Promise<Found> {
  if (named.some(text => /^https?:\/\//.test(text)))
    throw new Failure(
      'USAGE',
      '--zip is for paths. The link of a folder is downloaded as one archive without it.',
    )
  const service = await open(context)
  const found = await Promise.all(named.map(text => findPlace(service, text)))
  const [first] = found
  if (!first || found.some(({ place }) => place.show('') !== first.place.show('')))
    throw new Failure(
      'USAGE',
      'An archive contains files of one drive only. Run the command once for each drive.',
    )
  const { source, name } = await zipOf(
    first.place,
    found.map(({ path }) => path),
  )
  if (!isSafeName(name)) throw unsafe(name, first.place.show(''))
  return { jobs: [{ source, names: [name] }], folders: [], failures: [] }
}

/** The failure for a name that would escape its folder, or that the local file system rejects. */
const unsafe = (name: string, where: string): Failure =>
  new Failure(
    'UNSAFE_NAME',
    `The name "${name}" is not allowed on this computer; it was skipped (${where}).`,
    {
      name,
      path: where,
    },
  )

async function findBelow(place: Place, root: string, names: string[]): Promise<Found> {
  const limit = limitTo(8)
  const found: Found = { jobs: [], folders: [], failures: [] }
  const isFit = (path: string, name: string) => {
    const isSafe = isSafeName(name)
    if (!isSafe) found.failures.push(unsafe(name, place.show(path)))
    return isSafe
  }
  async function enter(path: string, at: string[]): Promise<void> {
    if (at.length > DEEPEST)
      throw new Failure(
        'BAD_ANSWER',
        `${place.show(path)} is nested deeper than the service allows.`,
      )
    if (at.length > 0) found.folders.push(at)
    const { folders, files } = await limit(() => place.list(path))
    for (const file of files.filter(({ name }) => isFit(path, name)))
      found.jobs.push({
        source: sourceOf(place, joinPath(path, file.name), file),
        names: [...at, file.name],
      })
    await Promise.all(
      folders
        .filter(({ name }) => isFit(path, name))
        .map(({ name }) => enter(joinPath(path, name), [...at, name])),
    )
  }
  await enter(root, names)
  return found
}
