import { lstat, open, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure, toFailure } from '../failure.ts'
import { joinPath } from '../path.ts'
import { hashOf } from '../transfer/local-file.ts'
import { byPath, type Entry } from './entry.ts'
import type { Filter } from './filter.ts'

export interface LocalFolder extends Entry {
  kind: 'folder'
  /** As the file system writes it. */
  path: string
}

/** With what shows that it has changed. */
export interface LocalFile extends Entry {
  kind: 'file'
  path: string
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
  /** What takes no part, with all that is in it: symbolic links, devices, and what the filter leaves out. */
  skipped: Set<string>
  /** Folders that the filter leaves out, but not all that is in them. */
  passed: Set<string>
  failures: Failure[]
}

/** Finds everything below a folder. Symbolic links are not followed. @param notice receives what is skipped, except by the filter */
export async function scan(root: string, filter: Filter, notice: (line: string) => void): Promise<LocalTree> {
  const entries = new Map<string, LocalEntry>()
  const [skipped, passed] = [new Set<string>(), new Set<string>()]
  const failures: Failure[] = []
  const fail = (error: unknown, path: string) => {
    const { code, message, details } = toFailure(error)
    failures.push(new Failure(code, message, { source: path, ...details }))
  }

  async function enter(folder: string, at: string): Promise<void> {
    const names = await readdir(folder)
    for (const name of names.sort()) {
      const path = join(folder, name)
      const where = joinPath(at, name.normalize('NFC'))
      try {
        if (entries.has(where) || skipped.has(where) || passed.has(where)) throw twin(path)
        await visit(path, where)
      } catch (error) {
        if (!entries.has(where)) skipped.add(where)
        fail(error, path)
      }
    }
  }

  async function visit(path: string, where: string): Promise<void> {
    const entry = await lookAt(path)
    if (!entry) {
      if (filter.takes(where, 'file') && filter.enters(where))
        notice(`${path} is a symbolic link, or neither a file nor a folder; it was skipped.`)
      skipped.add(where)
    } else {
      const isEntered = entry.kind === 'folder' && filter.enters(where)
      if (filter.takes(where, entry.kind)) entries.set(where, entry)
      else (isEntered ? passed : skipped).add(where)
      if (isEntered) await enter(path, where)
    }
  }

  await enter(root, '')
  return { entries: byPath(entries), skipped, passed, failures }
}

/** Null for what is neither a file nor a folder. */
export async function lookAt(path: string): Promise<LocalEntry | null> {
  const there = await lstat(path).catch(error => {
    // What is not UTF-8 is read as another name.
    throw path.includes('\uFFFD') && error.code === 'ENOENT' ? notUnicode(path) : error
  })
  const { size, mtimeMs, ctimeMs } = there
  if (there.isDirectory()) return { kind: 'folder', size: 0, path }
  return there.isFile() ? { kind: 'file', size, path, mtimeMs, ctimeMs } : null
}

/** @throws TARGET_EXISTS for a folder that no longer exists, or that a link leads to: it may be outside of what is synchronized */
export async function requireFolder(folder: string): Promise<void> {
  const real = await realpath(folder).catch(() => null)
  if (real !== folder || (await lookAt(folder))?.kind !== 'folder')
    throw new Failure('TARGET_EXISTS', `${folder} is not a folder. Symbolic links are not followed.`)
}

const notUnicode = (path: string): Failure =>
  new Failure('UNSAFE_NAME', `The name ${path} is not UTF-8. Rename it.`, { path })

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
