import ignore from 'ignore'
import { Failure } from '../failure.ts'
import type { Entry } from './entry.ts'

/** Selects the entries to sync. Paths are relative. */
export interface Filter {
  takes(path: string, kind: Entry['kind']): boolean
  /** Whether a folder may contain selected entries. */
  enters(folder: string): boolean
}

export interface Patterns {
  include?: string[]
  exclude?: string[]
}

/**
 * Selects everything that is not excluded. If there are include patterns, an entry must match one.
 * Patterns have .gitignore syntax.
 *
 * @throws USAGE for a pattern without effect
 */
export function filterOf({ include = [], exclude = [] }: Patterns): Filter {
  const idle = [...include, ...exclude].find(pattern => /^(#|\s*$)/.test(pattern))
  // Otherwise the entries that it was meant to protect would be deleted.
  if (idle !== undefined)
    throw new Failure(
      'USAGE',
      `The pattern "${idle}" matches nothing, as in a .gitignore. For a name that begins with #, write \\#.`,
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
