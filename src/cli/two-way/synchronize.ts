import limitTo from 'p-limit'
import { Failure, isFailure } from '../failure.ts'
import { startProgress } from '../progress.ts'
import type { KnownDigest } from '../sync/local-tree.ts'
import type { Change } from '../sync/work.ts'
import { execute } from './execute.ts'
import type { BothJob, Refusals } from './job.ts'
import { type Both, isGone, lookAtBoth, pathsOf } from './look.ts'
import { keyOf } from './moves.ts'
import type { Action, Agreed } from './sides.ts'

export interface Outcome {
  changes: Change[]
  failures: Failure[]
  unchanged: number
}

/** Rounds before it gives up. Outside changes alone cannot explain more. */
const MAX_ROUNDS = 25
/** Rounds in a row without a successful action, because of changes meanwhile. */
const MAX_IDLE = 3
const passing = [
  'REVISION_MISMATCH',
  'PATH_EXISTS',
  'FILE_CHANGED',
  'TARGET_EXISTS',
  'FILE_NOT_FOUND',
]

/**
 * Syncs both sides: it scans, plans and acts until nothing is left to do. The state is saved before
 * each action and contains only facts about both sides. After an interruption at any point, the
 * next run finds out what was done.
 *
 * @param changed folders that may have changed; null for everything
 * @param report is called with each change
 * @throws SYNC_ROOT_LOST, TOO_MANY_DELETIONS, and fatal failures
 */
export async function synchronizeBoth(
  both: Both,
  changed: ReadonlySet<string> | null,
  report: (change: Change) => void = () => {},
): Promise<Outcome> {
  const { context, pair, own, parallel } = both
  const changes: Change[] = []
  const refusals: Refusals = new Map()
  const failedMoves = new Set<string>()
  const progress = await startProgress(context)
  const expected = new Set<string>()
  let deleted = 0
  let dirty = changed
  let failed: Failure[] = []
  try {
    for (let [round, idle] = [1, 0]; ; round++) {
      const seen = await lookAtBoth(both, dirty, failedMoves)
      const { actions, unchanged, remote, local } = seen
      if (actions.length === 0) failed = []
      if (actions.length === 0 || idle > MAX_IDLE || round > MAX_ROUNDS)
        return {
          changes,
          unchanged: withoutChanged(unchanged, changes),
          failures: [...seen.failures, ...failed, ...refusedIn(refusals)],
        }
      guard(both, actions, deleted)
      for (const { action, path, size } of actions)
        if (['upload', 'download', 'conflict'].includes(action) && !expected.has(path)) {
          expected.add(path)
          progress.expect(1, size)
        }
      const refusedMoves = failedMoves.size
      const job: BothJob = {
        context,
        pair,
        local,
        remote,
        progress,
        parallel,
        own,
        refusals,
        failedMoves,
        cursor: seen.cursor,
        parts: limitTo(parallel),
        digests: both.digests,
        sent: both.sent,
        touched: both.touched,
        changes: [],
        failures: [],
      }
      try {
        await execute(job, actions)
      } finally {
        for (const change of job.changes) {
          changes.push(change)
          report(change)
        }
      }
      failed = job.failures
      deleted += filesIn(actions, new Set(job.changes.map(keyOf)))
      const mayPass = failed.some(failure => isFailure(failure, ...passing) || isGone(failure))
      // Entries whose move failed are now compared by path.
      const isFurther = job.changes.length > 0 || failedMoves.size > refusedMoves
      idle = isFurther ? 0 : mayPass ? idle + 1 : MAX_IDLE + 1
      dirty = foldersOf([...job.changes, ...failed.flatMap(pathIn)])
    }
  } finally {
    progress.stop()
  }
}

/** The number of files that are equal on both sides and were not changed by this run. */
function withoutChanged(unchanged: ReadonlySet<string>, changes: Change[]): number {
  const paths = new Set(changes.flatMap(pathsOf))
  return unchanged.size - [...paths].filter(path => unchanged.has(path)).length
}

const pathIn = ({ details: { path } }: Failure) => (typeof path === 'string' ? [{ path }] : [])

const filesIn = (actions: Action[], done: ReadonlySet<string>): number =>
  actions.reduce(
    (sum, action) => sum + (action.files && done.has(keyOf(action)) ? action.files : 0),
    0,
  )

/** The folders in which changes were made. */
function foldersOf(changes: Pick<Change, 'path' | 'from' | 'keptAs'>[]): Set<string> {
  const paths = changes.flatMap(pathsOf)
  // A created folder is itself an entry of its parent.
  return new Set(
    paths.flatMap(path => path.split('/').map((_, i, names) => names.slice(0, i).join('/'))),
  )
}

/** @throws TOO_MANY_DELETIONS */
function guard({ maxDelete, store, pair }: Both, actions: Action[], deleted: number): void {
  const files = [...store.read().agreed.values()].filter(({ kind }) => kind === 'file').length
  const allowed = maxDelete ?? Math.max(FEW, Math.floor(files / 2))
  for (const side of ['local', 'remote'] as const) {
    const count = actions.reduce(
      (sum, action) => sum + (action.side === side ? (action.files ?? 0) : 0),
      0,
    )
    if (count === 0 || count + deleted <= allowed) continue
    const where = side === 'local' ? pair.local : pair.place.show(pair.path)
    throw new Failure(
      'TOO_MANY_DELETIONS',
      `${count} of ${files} files in ${where} would be deleted, because they are gone on the other side. Nothing was deleted. If that is right, add --max-delete ${count + deleted}.`,
      { side, count, files },
    )
  }
}

/** This many deletions are always allowed without asking. */
const FEW = 10

function refusedIn(refusals: Refusals): Failure[] {
  return [...refusals.values()].map(({ failure: { code, message }, paths }) => {
    const all = [...paths]
    const named = all.slice(0, 5).join(', ') + (all.length > 5 ? ', ...' : '')
    return new Failure(
      code,
      `${all.length} local changes stay here, and were not sent: ${named}. ${message}`,
      {
        paths: all,
      },
    )
  })
}

/** The digests of files at the last agreement. */
export const digestsIn = (agreed: ReadonlyMap<string, Agreed>): Map<string, KnownDigest> =>
  new Map(
    [...agreed].flatMap(([path, { kind, ...look }]) =>
      kind === 'file' ? [[path, look] as const] : [],
    ),
  )
