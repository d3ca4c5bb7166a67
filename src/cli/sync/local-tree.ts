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
  /** As the file system writes it. */
  path: string
}

/** With what shows that it has changed. */
export interface LocalFile extends Entry {
  kind: 'file'
  path: string
  /**
   * The same under another name; null if the file system does not tell when a file was made:
   * numbers of inodes are used again.
   */
  identity: string | null
  mtimeMs: number
  ctimeMs: number
}

/** The MD5 of a file, as long as it looks like this. */
export interface KnownDigest extends Pick<LocalFile, 'size' | 'mtimeMs' | 'ctimeMs'> {
  md5: string
}

export type LocalEntry = LocalFolder | LocalFile

export interface LocalTree {
  /** Without what the filter leaves out. */
  entries: Map<string, LocalEntry>
  /**
   * What takes no part, with all that is in it: symbolic links, devices, and what the filter leaves
   * out.
   */
  skipped: Set<string>
  /** Folders that the filter leaves out, but not all that is in them. */
  passed: Set<string>
  /** Folders of which it is not known what is in them. */
  unread: Set<string>
  failures: Failure[]
}

/** Of a folder that is not there. */
export const noTree = (): LocalTree => ({
  entries: new Map(),
  skipped: new Set(),
  passed: new Set(),
  unread: new Set(),
  failures: [],
})

/**
 * Where satchel keeps what belongs to a synchronized folder, in the folder itself; it takes no
 * part.
 */
export const OWN_FOLDER = '.satchel'

/** A name beside a file, for what is on its way between two file systems; it takes no part. */
export const ownNameBeside = (path: string): string =>
  join(dirname(path), `${OWN_FOLDER}-${randomUUID()}`)

const OWN_NAME = /^\.satchel-[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

/**
 * Whether some file system may take a name for one of these: whatever its case, with letters that
 * are not seen, or in the short form of Windows.
 */
export const isOwnFolder = (name: string): boolean => {
  const seen = name
    .normalize('NFKC')
    .replace(/\p{DI}/gu, '')
    .toLowerCase()
  return /^(\.satchel|satche~\d+)$/.test(seen) || OWN_NAME.test(seen)
}

export interface ScanOptions {
  /** The path of the folder to begin with. */
  at?: string
  /**
   * Called with each folder before it is read, by its path on this computer and its path below the
   * root.
   */
  onFolder?: (folder: string, at: string) => void
  /** Whether a folder below the first one need not be read. */
  isKnown?: (path: string, folder: LocalEntry) => boolean
}

/** Entries of a folder that are looked at together. */
const TOGETHER = 64

/**
 * Finds everything below a folder. Symbolic links are not followed.
 * @param notice receives what is skipped, except by the filter
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

/** Null for what is neither a file nor a folder. */
export async function lookAt(path: string): Promise<LocalEntry | null> {
  const there = await lstat(path).catch(error => {
    // What is not UTF-8 is read as another name.
    throw path.includes('\uFFFD') && error.code === 'ENOENT' ? notUnicode(path) : error
  })
  const { size, mtimeMs, ctimeMs, ino, birthtimeMs } = there
  const identity = birthtimeMs > 0 ? `${ino} ${birthtimeMs}` : null
  if (there.isDirectory()) return { kind: 'folder', size: 0, path, identity }
  return there.isFile() ? { kind: 'file', size, path, identity, mtimeMs, ctimeMs } : null
}

/**
 * @throws TARGET_EXISTS for a folder that no longer exists, or that a link leads to: it may be
 * outside of what is synchronized
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
    `The name ${path} is too much like ${OWN_FOLDER}, which satchel uses. Rename it.`,
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

/** The MD5 of a file, read only if it does not look as it did. */
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
