import { lstat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Failure } from '../failure.ts'
import { isSafeName } from '../path.ts'
import { type Entry, foldersAbove } from './entry.ts'
import { isOwnFolder } from './local-tree.ts'

interface Named extends Entry {
  name: string
}

/**
 * The remote entries whose names are possible on this computer. Entries in impossible folders are
 * omitted.
 *
 * @param ignoresCase whether the local file system is case-insensitive
 */
export function nameable<E extends Named>(
  remote: ReadonlyMap<string, E>,
  ignoresCase: boolean,
  platform?: NodeJS.Platform,
): { entries: Map<string, E>; left: Set<string>; failures: Failure[] } {
  const entries = new Map<string, E>()
  const failures: Failure[] = []
  const left = new Set<string>()
  const taken = new Map<string, string>()
  for (const [path, entry] of remote) {
    if (foldersAbove(path).some(folder => left.has(folder))) continue
    const folded = path.toLowerCase()
    const other = ignoresCase ? taken.get(folded) : undefined
    if (isSafeName(entry.name, platform) && !isOwnFolder(entry.name) && other === undefined) {
      entries.set(path, entry)
      taken.set(folded, path)
      continue
    }
    left.add(path)
    const why =
      other === undefined
        ? `The name "${entry.name}" is not allowed on this computer`
        : `This computer treats it as the same name as ${other}`
    failures.push(new Failure('UNSAFE_NAME', `${path}: ${why}; it was skipped.`, { path }))
  }
  return { entries, left, failures }
}

/** Whether the file system of a path is case-insensitive. */
export async function ignoresCase(path: string): Promise<boolean> {
  const name = basename(path)
  const swapped = name === name.toLowerCase() ? name.toUpperCase() : name.toLowerCase()
  // A name without letters cannot be tested.
  if (swapped === name) return process.platform === 'win32' || process.platform === 'darwin'
  const [one, other] = await Promise.all(
    [name, swapped].map(each =>
      lstat(join(dirname(path), each), { bigint: true }).catch(() => null),
    ),
  )
  return one !== null && one !== undefined && other?.ino === one.ino && other.dev === one.dev
}
