import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { Failure, toFailure } from '../failure.ts'
import { joinPath } from '../path.ts'

/** A local file, and where it belongs below the folder that things are put in. */
export interface LocalFile {
  path: string
  folder: string
  name: string
  size: number
  /** Whether it was named, and not met in a folder. */
  isNamed: boolean
}

export interface Walk {
  files: LocalFile[]
  /** Folders in which there is nothing: nobody else would make them. */
  emptyFolders: string[]
  /** What cannot be read. */
  failures: Failure[]
}

interface Options {
  /** Another name for what is named. */
  name: string | undefined
  /** Whether links within folders are followed. */
  follow: boolean
  /** Told of what is left out. */
  notice(line: string): void
}

/** What is to be put: the named files, and folders with all that is in them. Links that are named are followed. */
export async function walk(named: string[], { name, follow, notice }: Options): Promise<Walk> {
  const found: Walk = { files: [], emptyFolders: [], failures: [] }

  async function enter(path: string, folder: string, above: string[]): Promise<void> {
    const real = await realpath(path)
    if (above.includes(real)) return notice(`${path} leads back to a folder above it; it is left out.`)
    const entries = await readdir(path, { withFileTypes: true })
    let isEmpty = true
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const inner = join(path, entry.name)
      if (entry.isSymbolicLink() && !follow) {
        notice(`${inner} is a link; it is left out. --follow takes what it leads to.`)
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
      else throw new Failure('LOCAL_FILE', `${path} is no file and no folder. Pipe it: satchel put - --name <name>`)
    } catch (error) {
      const { code, message, details } = toFailure(error)
      found.failures.push(new Failure(code, message, { source: path, ...details }))
    }
  }

  for (const path of named) {
    const as = name ?? basename(resolve(path))
    if (as === '') found.failures.push(new Failure('USAGE', `${path} has no name of its own. Say --name.`))
    else await visit(path, '', as, [])
  }
  return found
}
