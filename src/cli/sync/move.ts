import { inParallel } from '../each.ts'
import { splitPath } from '../path.ts'
import type { Move, Plan } from './compare.ts'
import type { RemoteEntry } from './remote-tree.ts'

interface Question {
  plan: Plan
  remote: ReadonlyMap<string, RemoteEntry>
  /** The MD5 of a local file; null if it cannot be read. */
  md5Of(path: string): Promise<string | null>
  parallel: number
}

/**
 * Replaces an upload and a deletion of files with the same content by a move, so that the remote
 * file keeps its id, shares and versions. Only local files with the size of a deleted file are
 * read.
 */
export async function planMoves({ plan, remote, md5Of, parallel }: Question): Promise<void> {
  const sizeOf = (path: string) => remote.get(path)?.size ?? 0
  // Empty files are all alike, so they are not matched.
  const sizes = new Set(plan.removals.map(sizeOf).filter(size => size > 0))
  const digests = new Map<string, string | null>()
  const candidates = plan.files.filter(({ size, replaces }) => !replaces && sizes.has(size))
  await inParallel(
    parallel,
    candidates,
    async ({ path }) => void digests.set(path, await md5Of(path)),
  )

  const md5s = new Map(plan.removals.map(path => [path, remote.get(path)?.md5 ?? '']))
  const withName = (md5: string | null | undefined, path: string) =>
    `${md5} ${splitPath(path).name}`
  const left = new Set<string>()
  const moved = new Set<string>()
  const moves: Move[] = []
  // Among several files with the same content, the same name is the better match.
  for (const keyOf of [withName, (md5: string | null | undefined) => `${md5}`]) {
    const going = Map.groupBy(plan.removals, path => keyOf(md5s.get(path), path))
    for (const { path, size } of candidates.filter(({ path }) => !moved.has(path))) {
      const alike = going.get(keyOf(digests.get(path), path)) ?? []
      while (alike.length > 0 && left.has(alike[0] ?? '')) alike.shift()
      const from = alike.shift()
      if (from === undefined) continue
      left.add(from)
      moved.add(path)
      moves.push({ path, from, size })
    }
  }
  plan.moves = moves.sort((a, b) => (a.path < b.path ? -1 : 1))
  plan.files = plan.files.filter(({ path }) => !moved.has(path))
  plan.removals = plan.removals.filter(path => !left.has(path))
}
