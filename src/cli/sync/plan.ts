import { join } from 'node:path'
import type { Failure } from '../failure.ts'
import { partOf } from '../transfer/get-file.ts'
import { compare, type Plan } from './compare.ts'
import type { Filter } from './filter.ts'
import { ignoresCase, nameable } from './local-name.ts'
import type { KnownDigest } from './local-tree.ts'
import { digestOf, type LocalTree } from './local-tree.ts'
import { planMoves } from './move.ts'
import { localPath, sourceOf } from './pull.ts'
import type { RemoteEntry } from './remote-tree.ts'
import type { Pair } from './work.ts'

interface Question {
  way: 'push' | 'pull'
  pair: Pair
  local: LocalTree
  remote: Map<string, RemoteEntry>
  filter: Filter
  digests: Map<string, KnownDigest>
  delete?: boolean
  parallel: number
  signal: AbortSignal
}

interface Planned {
  plan: Plan
  /** The selected remote entries. */
  remote: Map<string, RemoteEntry>
  failures: Failure[]
}

/** Compares both sides. Local files that may be equal are read, unless their digest is known. */
export async function planOf(question: Question): Promise<Planned> {
  const { way, pair, local, filter, digests, parallel, signal } = question
  const taken = new Map([...question.remote].filter(([path, { kind }]) => filter.takes(path, kind)))
  const {
    entries: remote,
    left: unnamed,
    failures,
  } = way === 'pull'
    ? nameable(taken, await ignoresCase(pair.local))
    : { entries: taken, left: new Set<string>(), failures: [] }

  async function md5Of(path: string): Promise<string | null> {
    const file = local.entries.get(path)
    if (file?.kind !== 'file') return null
    try {
      const digest = await digestOf(file, digests.get(path), signal)
      digests.set(path, digest)
      return digest.md5
    } catch {
      // Uploading reports files that cannot be read.
      signal.throwIfAborted()
      return null
    }
  }
  const isSame = async (path: string) => (await md5Of(path)) === remote.get(path)?.md5

  // A file that could not be read may still exist.
  const deletes = (question.delete ?? false) && local.failures.length === 0
  if (way === 'push') {
    const left = [...question.remote].filter(([path]) => !taken.has(path))
    const isEntered = ([path, { kind }]: [string, RemoteEntry]) =>
      kind === 'folder' && filter.enters(path)
    const staying = new Set(left.filter(isEntered).map(([path]) => path))
    const kept = new Set([
      ...left.map(([path]) => path).filter(path => !staying.has(path)),
      ...local.skipped,
    ])
    const sides = { source: local.entries, target: remote, kept, staying }
    const plan = await compare({ ...sides, deletes, isSame, parallel })
    await planMoves({ plan, remote, md5Of, parallel })
    return { plan, remote, failures }
  }
  // Local entries with such a name may still exist.
  const kept = new Set([...local.skipped, ...unnamed])
  const sides = { source: remote, target: local.entries, kept, staying: local.passed }
  const plan = await compare({ ...sides, deletes, isSame, parallel })
  // An interrupted download resumes with its partial file.
  const parts = new Set(
    plan.files.flatMap(({ path }) => {
      const file = remote.get(path)
      return file ? [partOf(sourceOf({ pair }, path, file), localPath({ pair, local }, path))] : []
    }),
  )
  plan.removals = plan.removals.filter(
    path => !parts.has(local.entries.get(path)?.path ?? join(pair.local, path)),
  )
  return { plan, remote, failures }
}
