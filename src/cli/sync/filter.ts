import ignore from 'ignore'
import { Failure } from '../failure.ts'
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

/**
 * All that is not excluded, and is included if anything is: patterns as in a .gitignore. @throws
 * USAGE for one that means nothing there
 */
export function filterOf({ include = [], exclude = [] }: Patterns): Filter {
  const idle = [...include, ...exclude].find(pattern => /^(#|\s*$)/.test(pattern))
  // What it was to leave out would be deleted.
  if (idle !== undefined)
    throw new Failure(
      'USAGE',
      `The pattern "${idle}" matches nothing, as in a .gitignore. For a name with # write \\#.`,
    )
  const matcher = (patterns: string[]) =>
    ignore({ ignorecase: false, allowRelativePaths: true }).add(
      patterns.map(pattern => pattern.normalize('NFC')),
    )
  const [included, excluded] = [matcher(include), matcher(exclude)]
  return {
    takes(path, kind) {
      const named = kind === 'folder' ? `${path}/` : path
      return !excluded.ignores(named) && (include.length === 0 || included.ignores(named))
    },
    enters: folder => !excluded.ignores(`${folder}/`),
  }
}
