import type { LimitFunction } from 'p-limit'
import { Failure, toFailure } from '../failure.ts'
import type { Place } from '../place.ts'
import type { Progress } from '../progress.ts'
import type { Context } from '../run.ts'
import type { Plan } from './compare.ts'
import type { KnownDigest, LocalTree } from './local-tree.ts'
import type { RemoteEntry } from './remote-tree.ts'

/** A change that was made or would be made. Paths are relative to the synced folders. */
export interface Change {
  action: 'upload' | 'download' | 'replace' | 'move' | 'mkdir' | 'delete' | 'conflict'
  /** The side where the change is made, if both may change. */
  side?: 'local' | 'remote'
  path: string
  /** The path before a move. */
  from?: string
  /** The new name of the local version after a conflict. */
  keptAs?: string
  /** Size of a file, in bytes. */
  size?: number
  /** Id in the trash, for restoring. */
  trashItemId?: string | null
}

/** A remote folder and a local one. */
export interface Pair {
  place: Place
  /** Path within the place. */
  path: string
  /** Resolved path, without symbolic links. */
  local: string
}

/** The dependencies for making changes. */
export interface Job {
  context: Context
  pair: Pair
  local: Pick<LocalTree, 'entries'>
  remote: ReadonlyMap<string, RemoteEntry>
  progress: Progress
  parallel: number
  /** Limits concurrent requests that send file content. */
  parts: LimitFunction
  digests: Map<string, KnownDigest>
  changes: Change[]
  failures: Failure[]
}

/** A plan with the dependencies for making its changes. */
export interface Work extends Job {
  plan: Plan
}

/** Failures that would affect all remaining changes. */
const fatal = [
  'INTERRUPTED',
  'UNREACHABLE',
  'UNAUTHENTICATED',
  'NOT_SIGNED_IN',
  'INSUFFICIENT_SCOPE',
  'FORBIDDEN',
]

/** Makes a change, and collects its failure. */
export async function attempt(
  { changes, failures, progress }: Job,
  path: string,
  act: () => Promise<Omit<Change, 'path'> | null>,
): Promise<void> {
  try {
    const done = await act()
    if (!done) return
    changes.push({ ...done, path })
    progress.done(`${done.action} ${path}`)
  } catch (error) {
    const { code, message, details } = toFailure(error)
    if (fatal.includes(code)) throw error
    failures.push(
      new Failure(code, message.includes(path) ? message : `${path}: ${message}`, {
        path,
        ...details,
      }),
    )
  }
}
