import type { LimitFunction } from 'p-limit'
import { Failure, toFailure } from '../failure.ts'
import type { Place } from '../place.ts'
import type { Progress } from '../progress.ts'
import type { Context } from '../run.ts'
import type { Plan } from './compare.ts'
import type { KnownDigest, LocalTree } from './local-tree.ts'
import type { RemoteEntry } from './remote-tree.ts'

/** Something that is done, or would be. Paths are relative to the folders that are synchronized. */
export interface Change {
  action: 'upload' | 'download' | 'replace' | 'move' | 'mkdir' | 'delete' | 'conflict'
  /** Which side has changed, if both may. */
  side?: 'local' | 'remote'
  path: string
  /** Where it was before it was moved. */
  from?: string
  /** The new name of the local version after a conflict. */
  keptAs?: string
  /** Bytes of a file. */
  size?: number
  /** By which it is restored. */
  trashItemId?: string | null
}

/** A remote folder and a local one. */
export interface Pair {
  place: Place
  /** In the place. */
  path: string
  /** Without symbolic links. */
  local: string
}

/** What carries out changes. */
export interface Job {
  context: Context
  pair: Pair
  local: Pick<LocalTree, 'entries'>
  remote: ReadonlyMap<string, RemoteEntry>
  progress: Progress
  parallel: number
  /** Limits parallel requests that send bytes. */
  parts: LimitFunction
  digests: Map<string, KnownDigest>
  changes: Change[]
  failures: Failure[]
}

/** What carries out a plan. */
export interface Work extends Job {
  plan: Plan
}

/** These affect everything that is still to be done. */
const fatal = [
  'INTERRUPTED',
  'UNREACHABLE',
  'UNAUTHENTICATED',
  'NOT_SIGNED_IN',
  'INSUFFICIENT_SCOPE',
  'FORBIDDEN',
]

/** Carries out a change, and collects its failure. */
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
