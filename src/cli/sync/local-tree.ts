import { randomUUID } from 'node:crypto'
import { lstat, open, readdir, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Failure, toFailure } from '../failure.ts'
import { joinPath } from '../path.ts'
import { hashOf } from '../transfer/local-file.ts'
import { byPath, type Entry } from './entry.ts'
import type { Filter } from './filter.ts'

export interface LocalFolder extends Entry {
  kind: 'folder'
  identity: string | null
  /** The path as the file system spells it. */
  path: string
}

/** A local file, with the metadata that reveals changes. */
export interface LocalFile extends Entry {
  kind: 'file'
  path: string
  /**
   * An identity that survives a rename; null if the file system has no creation times, because
   * inode numbers are reused.
   */
  identity: string | null
  mtimeMs: number
  ctimeMs: number
}

/** The MD5 of a file, valid while its metadata stays the same. */
export interface KnownDigest extends Pick<LocalFile, 'size' | 'mtimeMs' | 'ctimeMs'> {
  md5: string
}

export type LocalEntry = LocalFolder | LocalFile

export interface LocalTree {
  /** Without entries that the filter excludes. */
  entries: Map<string, LocalEntry>
  /**
   * Paths that are not synced, with their contents: symbolic links, devices and excluded entries.
   */
  skipped: Set<string>
  /** Excluded folders with selected entries inside. */
  passed: Set<string>
  /** Folders that could not be read. */
  unread: Set<string>
  failures: Failure[]
}

/** The tree of a missing folder. */
export const noTree = (): LocalTree => ({
  entries: new Map(),
  skipped: new Set(),
  passed: new Set(),
  unread: new Set(),
  failures: [],
})

/** The folder for satchel's own data, inside of the synced folder. It is not synced. */
export const OWN_FOLDER = '.satchel'

/** A temporary name beside a file, for moves between file systems. It is not synced. */
export const ownNameBeside = (path: string): string =>
  join(dirname(path), `${OWN_FOLDER}-${randomUUID()}`)

const OWN_NAME = /^\.satchel-[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

/**
 * Whether some file system may treat a name as one of these: in another case, with invisible
 * characters, or as a short name of Windows.
 */
export const isOwnFolder = (name: string): boolean => {
  const seen = name
    .normalize('NFKC')
    .replace(/\p{DI}/gu, '')
    .toLowerCase()
  return /^(\.satchel|satche~\d+)$/.test(seen) || OWN_NAME.test(seen)
}

export interface ScanOptions {
  /** Path of the folder where the scan starts. */
  at?: string
  /** Called before each folder is read, with its local path and its path relative to the root. */
  onFolder?: (folder: string, at: string) => void
  /** Whether a folder below the first need not be read. */
  isKnown?: (path: string, folder: LocalEntry) => boolean
}

/** Entries of a folder to examine at a time. */
const TOGETHER = 64

/**
 * Scans everything below a folder, without following symbolic links.
 *
 * @param notice gets skipped entries, except those that the filter excludes
 */
export async function scan(
  root: string,
  filter: Filter,
  notice: (line: string) => void,
  { at = '', onFolder, isKnown }: ScanOptions = {},
): Promise<LocalTree> {
  const entries = new Map<string, LocalEntry>()
  const [skipped, passed, unread] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const failures: Failure[] = []
  const fail = (error: unknown, path: string) => {
    const { code, message, details } = toFailure(error)
    failures.push(new Failure(code, message, { source: path, ...details }))
  }

  async function enter(folder: string, at: string): Promise<void> {
    onFolder?.(folder, at)
    const names = (await readdir(folder)).sort()
    const seen = new Set<string>()
    for (let start = 0; start < names.length; start += TOGETHER) {
      const paths = names.slice(start, start + TOGETHER).map(name => join(folder, name))
      const found = await Promise.allSettled(paths.map(lookAt))
      for (const [i, path] of paths.entries()) {
        const where = joinPath(at, basename(path).normalize('NFC'))
        if (basename(path) === OWN_FOLDER) continue
        if (OWN_NAME.test(basename(path))) {
          notice(
            `${path} is a file that an interrupted run has left between two file systems. Look at it, and remove it.`,
          )
          continue
        }
        try {
          if (isOwnFolder(basename(path))) throw reserved(path)
          if (seen.has(where)) throw twin(path)
          seen.add(where)
          const look = found[i]
          if (look?.status !== 'fulfilled') throw look?.reason
          await visit(look.value, path, where)
        } catch (error) {
          if (!entries.has(where)) skipped.add(where)
          fail(error, path)
        }
      }
    }
  }

  async function visit(entry: LocalEntry | null, path: string, where: string): Promise<void> {
    if (!entry) {
      if (filter.takes(where, 'file') && filter.enters(where))
        notice(`${path} is a symbolic link, or neither a file nor a folder; it was skipped.`)
      skipped.add(where)
    } else {
      const isEntered = entry.kind === 'folder' && filter.enters(where)
      if (filter.takes(where, entry.kind)) entries.set(where, entry)
      else (isEntered ? passed : skipped).add(where)
      if (isEntered && !isKnown?.(where, entry))
        await enter(path, where).catch(error => {
          unread.add(where)
          throw error
        })
    }
  }

  await enter(join(root, at), at)
  return { entries: byPath(entries), skipped, passed, unread, failures }
}

/** Null for anything but files and folders. */
export async function lookAt(path: string): Promise<LocalEntry | null> {
  const there = await lstat(path).catch(error => {
    // A name that is not valid UTF-8 is read as another name.
    throw path.includes('\uFFFD') && error.code === 'ENOENT' ? notUnicode(path) : error
  })
  const { size, mtimeMs, ctimeMs, ino, birthtimeMs } = there
  const identity = birthtimeMs > 0 ? `${ino} ${birthtimeMs}` : null
  if (there.isDirectory()) return { kind: 'folder', size: 0, path, identity }
  return there.isFile() ? { kind: 'file', size, path, identity, mtimeMs, ctimeMs } : null
}

/**
 * @throws TARGET_EXISTS if the folder no longer exists or is reached through a symbolic link, which
 * may lead out of the synced folder
 */
export async function requireFolder(folder: string): Promise<void> {
  const real = await realpath(folder).catch(() => null)
  if (real !== folder || (await lookAt(folder))?.kind !== 'folder')
    throw new Failure(
      'TARGET_EXISTS',
      `${folder} is not a folder. Symbolic links are not followed.`,
    )
}

const notUnicode = (path: string): Failure =>
  new Failure('UNSAFE_NAME', `The name ${path} is not UTF-8. Rename it.`, { path })

const reserved = (path: string): Failure =>
  new Failure(
    'UNSAFE_NAME',
    `The name ${path} is too similar to ${OWN_FOLDER}, which satchel uses. Rename it.`,
    {
      path,
    },
  )

const twin = (path: string): Failure =>
  new Failure(
    'UNSAFE_NAME',
    `The name ${path} is the same as that of another file to the service, in a different encoding. Rename it.`,
    {
      path,
    },
  )

type Look = Pick<LocalFile, 'size' | 'mtimeMs' | 'ctimeMs'>

export const isUntouched = (one: Look, other: Look): boolean =>
  one.size === other.size && one.mtimeMs === other.mtimeMs && one.ctimeMs === other.ctimeMs

/** The MD5 of a file. The file is read only if its metadata changed. */
export async function digestOf(
  file: LocalFile,
  known: KnownDigest | undefined,
  signal: AbortSignal,
): Promise<KnownDigest> {
  if (known && isUntouched(known, file)) return known
  const handle = await open(file.path)
  try {
    const md5 = (await hashOf(handle, file.size, signal)).digest('hex')
    const { size, mtimeMs, ctimeMs } = file
    return { size, mtimeMs, ctimeMs, md5 }
  } finally {
    await handle.close()
  }
}
