import { createHash, type Hash } from 'node:crypto'
import {
  chmod,
  constants,
  type FileHandle,
  link,
  lstat,
  mkdir,
  open,
  rename,
  rm,
  stat,
} from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { persist } from '../../upload-engine/retry.ts'
import { Failure } from '../failure.ts'
import type { Patience } from '../patience.ts'
import type { Progress } from '../progress.ts'
import { ownNameBeside } from '../sync/local-tree.ts'
import { copyWhole } from './copy-whole.ts'
import { type Sink, type Source, stream } from './get-bytes.ts'
import { hashOf } from './local-file.ts'

export interface Fetched {
  size: number
  md5Checksum: string
  /** `unchanged`: the bytes were here already. */
  status: 'downloaded' | 'unchanged'
}

export interface Work {
  patience: Patience
  progress: Progress
  /** Whether a file that holds something else is replaced. */
  force: boolean
  /**
   * Called right before a file is replaced. Resolves to whether it has taken the file away. @throws
   * to leave it as it is
   */
  beforeReplacing?: () => Promise<boolean>
  /** The folder of the .part file, on the same file system; by default beside the file. */
  parts?: string
}

/**
 * Downloads a file to `path`, through a .part file beside it that allows to resume. @throws
 * TARGET_EXISTS, DIGEST_DIFFERS
 */
export async function getFile(source: Source, path: string, work: Work): Promise<Fetched> {
  const same = await compare(source, path, work)
  if (same) {
    work.progress.skip(source.size)
    return same
  }
  await mkdir(dirname(path), { recursive: true })
  const beside = partOf(source, path)
  const part = work.parts === undefined ? beside : join(work.parts, basename(beside))
  if (work.parts !== undefined) await mkdir(work.parts, { recursive: true })
  for (;;) {
    const { isResumed, checksum } = await fetchInto(part, source, work)
    if (checksum === source.md5Checksum || source.md5Checksum === undefined) {
      await settle(part, path, work).catch(async error => {
        // Another run may have fetched the same meanwhile.
        const made = await compare(source, path, { ...work, force: false }).catch(() => null)
        if (!made) throw error
        await rm(part, { force: true })
      })
      return { size: source.size, md5Checksum: checksum, status: 'downloaded' }
    }
    await rm(part, { force: true })
    if (!isResumed) throw differs(source, checksum)
    // The bytes of the earlier attempt were wrong.
    work.progress.move(-source.size)
  }
}

export const differs = (source: Source, received: string): Failure =>
  new Failure(
    'DIGEST_DIFFERS',
    `The received bytes of ${source.shown} do not have the checksum of the service. Try again.`,
    {
      expected: source.md5Checksum,
      received,
    },
  )

/**
 * Compares an existing file: null if there is none, or if it is to be replaced. @throws
 * TARGET_EXISTS
 */
async function compare(
  { size, md5Checksum }: Source,
  path: string,
  { patience, force }: Work,
): Promise<Fetched | null> {
  const there = await lstat(path).catch(error => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (!there) return null
  if (there.isFile() && there.size === size) {
    const file = await open(path)
    try {
      const checksum = (await hashOf(file, size, patience.signal)).digest('hex')
      if (checksum === md5Checksum) return { size, md5Checksum: checksum, status: 'unchanged' }
    } finally {
      await file.close()
    }
  }
  if (force && !there.isDirectory()) return null
  throw exists(path)
}

const exists = (path: string): Failure =>
  new Failure(
    'TARGET_EXISTS',
    `${path} already exists with other content. --force replaces files.`,
    { path },
  )

const NAME_BYTES = 255

/** The name depends on the content, so that the part of another file is never continued. */
export function partOf({ shown, size, md5Checksum, etag }: Source, path: string): string {
  const key = createHash('sha256').update(
    JSON.stringify([basename(path), shown, size, md5Checksum ?? etag]),
  )
  const end = `.${key.digest('hex').slice(0, 8)}.part`
  let name = basename(path)
  while (Buffer.byteLength(name) + end.length > NAME_BYTES) name = [...name].slice(0, -1).join('')
  return join(dirname(path), name + end)
}

async function fetchInto(
  part: string,
  source: Source,
  work: Work,
): Promise<{ isResumed: boolean; checksum: string }> {
  // A symbolic link planted here would redirect the bytes.
  const opened = () =>
    open(part, constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0))
  const file = await opened().catch(async error => {
    // One that has the mode of a file that it was to replace, and did not.
    if (error.code !== 'EACCES' && error.code !== 'EPERM') throw error
    await rm(part, { force: true })
    return opened()
  })
  try {
    const sink = await sinkOf(file, source, work)
    const isResumed = sink.at > 0
    work.progress.skip(sink.at)
    await stream(source, sink, work)
    // Where no byte was missing, no link was asked for.
    if (source.isDatedByLink && !source.modifiedAt)
      await persist(() => source.link(), 'repeatable', work.patience)
    if (source.modifiedAt) await file.utimes(source.modifiedAt, source.modifiedAt)
    await file.sync()
    return { isResumed, checksum: sink.hash.digest('hex') }
  } finally {
    await file.close()
  }
}

/** A sink that continues the file. */
async function sinkOf(
  file: FileHandle,
  source: Source,
  { patience }: Work,
): Promise<Sink & { hash: Hash }> {
  const { size } = await file.stat()
  const start = size <= source.size ? size : 0
  if (start < size) await file.truncate(0)
  const sink = {
    at: start,
    hash: await hashOf(file, start, patience.signal),
    async write(chunk: Uint8Array) {
      for (let done = 0; done < chunk.length; ) {
        const { bytesWritten } = await file.write(chunk, done, chunk.length - done, sink.at + done)
        done += bytesWritten
      }
      sink.hash.update(chunk)
      sink.at += chunk.length
    },
    async restart() {
      await file.truncate(0)
      sink.hash = createHash('md5')
      sink.at = 0
    },
  }
  return sink
}

/**
 * Brings a complete file to its name, also from another file system: then a copy beside it is made
 * before anything is taken away.
 */
async function settle(part: string, path: string, work: Work): Promise<void> {
  if (work.parts === undefined) return renameInto(part, path, work)
  const [one, other] = await Promise.all([part, dirname(path)].map(each => stat(each)))
  if (one?.dev === other?.dev) return renameInto(part, path, work)
  await throughCopy(part, path, work)
}

async function throughCopy(part: string, path: string, work: Work): Promise<void> {
  const beside = ownNameBeside(path)
  try {
    await copyWhole(part, beside)
    await renameInto(beside, path, work)
  } finally {
    await rm(beside, { force: true })
  }
  await rm(part)
}

/** Renames a complete file, without replacing one that was created meanwhile unless `force`. */
async function renameInto(part: string, path: string, work: Work): Promise<void> {
  const { force, beforeReplacing } = work
  if (force) {
    // A private file stays private, and a program can be run.
    const there = await lstat(path).catch(() => null)
    if (there?.isFile()) await chmod(part, there.mode & 0o777)
    let isTaken: boolean | undefined
    try {
      isTaken = await beforeReplacing?.()
    } catch (error) {
      await rm(part)
      throw error
    }
    if (!isTaken) return rename(part, path)
  }
  try {
    await link(part, path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw exists(path)
    if (await lstat(path).catch(() => null)) throw exists(path)
    // The same disk may be mounted twice.
    if (code === 'EXDEV') return throughCopy(part, path, { ...work, force: false })
    // Some file systems have no hard links.
    return rename(part, path)
  }
  await rm(part)
}

/**
 * Downloads to a stream. Written bytes cannot be revoked: the checksum is verified at the end.
 * @throws DIGEST_DIFFERS
 */
export async function getStream(
  source: Source,
  write: (chunk: Uint8Array) => Promise<void>,
  work: Work,
): Promise<Fetched> {
  const hash = createHash('md5')
  const sink: Sink = {
    at: 0,
    async write(chunk) {
      await write(chunk)
      hash.update(chunk)
      sink.at += chunk.length
    },
    async restart() {
      throw new Failure(
        'UNREACHABLE',
        'The store cannot resume, and the bytes that were written cannot be revoked.',
        {
          permanent: true,
        },
      )
    },
  }
  await stream(source, sink, work)
  const checksum = hash.digest('hex')
  if (source.md5Checksum !== undefined && checksum !== source.md5Checksum)
    throw differs(source, checksum)
  return { size: source.size, md5Checksum: checksum, status: 'downloaded' }
}
