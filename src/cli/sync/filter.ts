import ignore from 'ignore'
import type { Entry } from './entry.ts'

/** What takes part. Paths are relative. */
export interface Filter {
  takes(path: string, kind: Entry['kind']): boolean
  /** Whether something in a folder may take part. */
  enters(folder: string): boolean
}

export interface Patterns {
  include?: string[]
  exclude?: string[]
}

/** All that is not excluded, and is included if anything is: patterns as in a .gitignore. */
export function filterOf({ include = [], exclude = [] }: Patterns): Filter {
  const matcher = (patterns: string[]) => ignore({ ignorecase: false, allowRelativePaths: true }).add(patterns)
  const [included, excluded] = [matcher(include), matcher(exclude)]
  return {
    takes(path, kind) {
      const named = kind === 'folder' ? `${path}/` : path
      return !excluded.ignores(named) && (include.length === 0 || included.ignores(named))
    },
    enters: folder => !excluded.ignores(`${folder}/`),
  }
}
