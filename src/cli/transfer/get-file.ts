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
  /** `unchanged`: the local file had the same content already. */
  status: 'downloaded' | 'unchanged'
}

export interface Work {
  patience: Patience
  progress: Progress
  /** Whether to replace a file with different content. */
  force: boolean
  /**
   * Called just before a file is replaced. Resolves to whether it has moved the file away.
   *
   * @throws to keep the file
   */
  beforeReplacing?: () => Promise<boolean>
  /** Folder of the .part file, on the same file system. Defaults to the folder of the file. */
  parts?: string
}

/**
 * Downloads a file to `path`, through a resumable .part file.
 *
 * @throws TARGET_EXISTS, DIGEST_DIFFERS
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
        // Another run may have downloaded the same file meanwhile.
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
 * Compares an existing file. Returns null if there is none, or if it has to be replaced.
 *
 * @throws TARGET_EXISTS
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

/** The name depends on the content, so that a partial file of other content is never resumed. */
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
  // An attacker's symbolic link here would redirect the bytes.
  const opened = () =>
    open(part, constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0))
  const file = await opened().catch(async error => {
    // The partial file may have the read-only mode of the file that it was going to replace.
    if (error.code !== 'EACCES' && error.code !== 'EPERM') throw error
    await rm(part, { force: true })
    return opened()
  })
  try {
    const sink = await sinkOf(file, source, work)
    const isResumed = sink.at > 0
    work.progress.skip(sink.at)
    await stream(source, sink, work)
    // If no byte was missing, no link was requested yet.
    if (source.isDatedByLink && !source.modifiedAt)
      await persist(() => source.link(), 'repeatable', work.patience)
    if (source.modifiedAt) await file.utimes(source.modifiedAt, source.modifiedAt)
    await file.sync()
    return { isResumed, checksum: sink.hash.digest('hex') }
  } finally {
    await file.close()
  }
}

/** A sink that resumes the partial file. */
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
 * Moves a complete file to its final name. Across file systems, it first makes a copy beside the
 * target.
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

/**
 * Renames a complete file. Without `force`, it never replaces a file that was created meanwhile.
 */
async function renameInto(part: string, path: string, work: Work): Promise<void> {
  const { force, beforeReplacing } = work
  if (force) {
    // Keeps the mode: a private file stays private, and a program stays executable.
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
 * Downloads to a stream. The checksum is verified at the end, when bytes can no longer be taken
 * back.
 *
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
