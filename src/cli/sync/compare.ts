import { inParallel } from '../each.ts'
import { type Entries, foldersAbove } from './entry.ts'

/** A remote file that moves to another path. */
export interface Move {
  path: string
  from: string
  size: number
}

/**
 * Changes that make the target equal to the source. All paths are sorted: folders come before their
 * contents.
 */
export interface Plan {
  /**
   * Target entries of another kind than the source entry, with their contents. They are deleted
   * first.
   */
  clearings: string[]
  /** Folders to create that receive no files. */
  folders: string[]
  files: { path: string; size: number; replaces: boolean }[]
  /** Moves that replace a transfer and a deletion. */
  moves: Move[]
  /** Target entries that are missing in the source. */
  removals: string[]
  /** Target entries of another kind than the source entry, which are not replaced. */
  clashes: string[]
  unchanged: number
}

interface Question {
  source: Entries
  target: Entries
  /** Paths of the target that are left alone, with their contents. */
  kept: ReadonlySet<string>
  /** Folders of the target that are never deleted. */
  staying: ReadonlySet<string>
  /** Whether to delete entries that are missing in the source. */
  deletes: boolean
  /** Compares two files of the same size. */
  isSame(path: string): Promise<boolean>
  parallel: number
}

const isIn = (folders: ReadonlySet<string>, path: string): boolean =>
  foldersAbove(path).some(each => folders.has(each))

export async function compare({
  source,
  target,
  kept,
  staying,
  deletes,
  isSame,
  parallel,
}: Question): Promise<Plan> {
  const plan: Plan = {
    clearings: [],
    folders: [],
    files: [],
    moves: [],
    removals: [],
    clashes: [],
    unchanged: 0,
  }
  const needed = new Set([...staying, ...[...kept, ...staying].flatMap(foldersAbove)])
  const goes = (path: string) =>
    deletes && !needed.has(path) && !kept.has(path) && !isIn(kept, path)
  const cleared = new Set<string>()
  const clashing = new Set<string>()

  const filled = new Set([...source.keys()].flatMap(foldersAbove))
  const candidates: string[] = []
  for (const [path, { kind, size }] of source) {
    if (isIn(clashing, path)) continue
    const found = target.get(path)
    const isOther = found !== undefined && found.kind !== kind
    if (kept.has(path) || isIn(kept, path) || (isOther && !goes(path))) {
      clashing.add(path)
      continue
    }
    if (isOther) cleared.add(path)
    const there = isOther ? undefined : found
    if (kind === 'folder') {
      if (!there && !filled.has(path)) plan.folders.push(path)
    } else if (there?.size === size) candidates.push(path)
    else plan.files.push({ path, size, replaces: there !== undefined })
  }
  await inParallel(parallel, candidates, async path => {
    if (await isSame(path)) plan.unchanged++
    else plan.files.push({ path, size: source.get(path)?.size ?? 0, replaces: true })
  })
  plan.files.sort((a, b) => (a.path < b.path ? -1 : 1))
  plan.clearings = [...target.keys()].filter(path => cleared.has(path) || isIn(cleared, path))
  plan.clashes = [...clashing]
  plan.removals = [...target.keys()].filter(
    path => !source.has(path) && goes(path) && !isIn(cleared, path),
  )
  return plan
}

/** The paths that are not inside another of the paths. */
export function outermost(paths: string[]): string[] {
  const all = new Set(paths)
  return paths.filter(path => !foldersAbove(path).some(folder => all.has(folder)))
}
