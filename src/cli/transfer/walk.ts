import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { Failure, toFailure } from '../failure.ts'
import { joinPath } from '../path.ts'

/** A local file, and its path below the destination folder. */
export interface LocalFile {
  path: string
  folder: string
  name: string
  size: number
  /** Whether it was given as an argument, rather than found in a folder. */
  isNamed: boolean
}

export interface Walk {
  files: LocalFile[]
  /** Empty folders, which must be created explicitly. */
  emptyFolders: string[]
  /** Failures for paths that cannot be read. */
  failures: Failure[]
}

interface Options {
  /** Replaces the name of the argument. */
  name: string | undefined
  /** Whether to follow symbolic links in folders. */
  follow: boolean
  /** Called for each skipped path. */
  notice(line: string): void
}

/**
 * Finds the files to upload: the arguments, and everything below folders. Symbolic links given as
 * arguments are followed.
 */
export async function walk(named: string[], { name, follow, notice }: Options): Promise<Walk> {
  const found: Walk = { files: [], emptyFolders: [], failures: [] }

  async function enter(path: string, folder: string, above: string[]): Promise<void> {
    const real = await realpath(path)
    if (above.includes(real))
      return notice(`${path} leads back to a parent folder; it was skipped.`)
    const entries = await readdir(path, { withFileTypes: true })
    let isEmpty = true
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const inner = join(path, entry.name)
      if (entry.isSymbolicLink() && !follow) {
        notice(`${inner} is a symbolic link; it was skipped. Use --follow to upload its target.`)
        continue
      }
      isEmpty = false
      await visit(inner, folder, entry.name, [...above, real])
    }
    if (isEmpty) found.emptyFolders.push(folder)
  }

  async function visit(path: string, folder: string, as: string, above: string[]): Promise<void> {
    try {
      const there = await stat(path)
      if (there.isDirectory()) await enter(path, joinPath(folder, as), above)
      else if (there.isFile())
        found.files.push({ path, folder, name: as, size: there.size, isNamed: above.length === 0 })
      else
        throw new Failure(
          'LOCAL_FILE',
          `${path} is neither a file nor a folder. Pipe it: satchel put - --name <name>`,
        )
    } catch (error) {
      const { code, message, details } = toFailure(error)
      found.failures.push(new Failure(code, message, { source: path, ...details }))
    }
  }

  for (const path of named) {
    const as = name ?? basename(resolve(path))
    if (as === '') found.failures.push(new Failure('USAGE', `${path} has no name. Use --name.`))
    else await visit(path, '', as, [])
  }
  return found
}
