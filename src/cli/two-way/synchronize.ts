import limitTo from 'p-limit'
import { Failure, isFailure } from '../failure.ts'
import { startProgress } from '../progress.ts'
import type { Context } from '../run.ts'
import type { Filter } from '../sync/filter.ts'
import type { KnownDigest, LocalTree } from '../sync/local-tree.ts'
import { type RemoteState, readRemote } from '../sync/remote-tree.ts'
import type { Change, Pair } from '../sync/work.ts'
import { execute } from './execute.ts'
import type { BothJob, Refusals } from './job.ts'
import { type Looking, localTree, look, readDigests } from './local-side.ts'
import { keyOf } from './moves.ts'
import type { OwnFolder } from './own-folder.ts'
import { plan } from './plan.ts'
import { remoteSide } from './remote-side.ts'
import type { Action, Agreed } from './sides.ts'
import type { KnownStore } from './state.ts'
import { Tree } from './tree.ts'

/** Two folders that are kept the same. */
export interface Both {
  context: Context
  pair: Pair
  store: KnownStore
  own: OwnFolder
  filter(): Promise<Filter>
  ignoresCase: boolean
  parallel: number
  /** For the names of conflicts. */
  label: string
  /** How many files may be deleted; by default half of them. */
  maxDelete: number | undefined
  digests: Map<string, KnownDigest>
  /** What both sides had since the last look, because it was sent from one to the other. */
  sent: BothJob['sent']
  /** What was moved or restored since then. */
  touched: BothJob['touched']
  /** What was there at the last look, if something tells what changes. */
  local: LocalTree | null
  onFolder?: Looking['onFolder']
  /** What was noticed and said already. */
  said: Set<string>
  /** The last look, if nothing was left to do. */
  settled?: { seen: Seen; entries: RemoteState['entries'] } | undefined
}

export interface Outcome {
  changes: Change[]
  failures: Failure[]
  unchanged: number
}

/** More rounds than changes from outside explain. */
const MAX_ROUNDS = 25
/** In a row, of which no action succeeded, because things have changed meanwhile. */
const MAX_IDLE = 3
const passing = ['REVISION_MISMATCH', 'PATH_EXISTS', 'FILE_CHANGED', 'TARGET_EXISTS', 'FILE_NOT_FOUND']

/**
 * Makes both sides the same: looks, plans, acts, until there is nothing to do. What is known is saved before each action, and only facts
 * about what both sides have are: after an interruption anywhere, the next run finds out what has been done.
 * @param changed folders in which something may have changed; null for everything
 * @param report is called with what was done
 * @throws SYNC_ROOT_LOST, TOO_MANY_DELETIONS, and what stops everything
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
        return { changes, unchanged, failures: [...seen.failures, ...failed, ...refusedIn(refusals)] }
      guard(both, actions, deleted)
      for (const { action, path, size } of actions)
        if (['upload', 'download', 'conflict'].includes(action) && !expected.has(path)) {
          expected.add(path)
          progress.expect(1, size)
        }
      const refusedMoves = failedMoves.size
      const job: BothJob = {
        ...{ context, pair, local, remote, progress, parallel, own, refusals, failedMoves, cursor: seen.cursor },
        ...{
          parts: limitTo(parallel),
          digests: both.digests,
          sent: both.sent,
          touched: both.touched,
          changes: [],
          failures: [],
        },
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
      // What could not be moved is compared by its path now.
      const isFurther = job.changes.length > 0 || failedMoves.size > refusedMoves
      idle = isFurther ? 0 : mayPass ? idle + 1 : MAX_IDLE + 1
      dirty = foldersOf([...job.changes, ...failed.flatMap(pathIn)])
    }
  } finally {
    progress.stop()
  }
}

interface Seen {
  actions: Action[]
  unchanged: number
  /** What cannot be synchronized. */
  failures: Failure[]
  local: LocalTree
  remote: BothJob['remote']
  cursor: string
}

/** Looks at both sides and plans. Saves what they agree on. */
export async function lookAtBoth(
  both: Both,
  changed: ReadonlySet<string> | null,
  refused: ReadonlySet<string> = new Set(),
  isDryRun = false,
): Promise<Seen> {
  const { pair, context, store, own, digests, parallel, label } = both
  const known = store.read()
  const filter = await both.filter()
  const looking = {
    root: pair.local,
    filter,
    notice: (line: string) => sayOnce(both, line),
    ...(both.onFolder ? { onFolder: both.onFolder } : {}),
  }
  const [found, remoteState] = await Promise.all([
    look(looking, both.local, changed),
    readRemote(pair.place, pair.path, known.remote),
  ])
  if (changed?.size === 0 && both.local && both.settled?.entries === remoteState.entries) {
    if (remoteState.cursor !== known.remote?.cursor) store.write({ ...known, remote: remoteState })
    return both.settled.seen
  }
  both.local = found
  // After the look: a disk that is gone since would seem empty.
  const marker = isDryRun && known.marker === null ? null : await own.check(known.marker)
  if (known.marker !== null && remoteState.rootId !== known.remote?.rootId) throw rootGone(pair)
  const side = remoteSide(remoteState, filter, both.ignoresCase)
  const base = new Tree([...known.agreed].filter(([path, { kind }]) => filter.takes(path, kind)))
  const local = localTree(found, digests)
  const { signal } = context.patience
  await readDigests({ files: found.entries, digests, local, base, remote: side.tree, parallel, signal })
  const { actions, agreed, unchanged } = plan(
    { local, base, remote: side.tree },
    { label, refused, sent: both.sent, touched: both.touched },
  )
  if (agreed) for (const since of [both.sent, both.touched]) since.clear()
  if (!isDryRun) store.write({ agreed: agreed ?? known.agreed, remote: remoteState, marker })
  const seen: Seen = {
    ...{ actions, unchanged, local: found, remote: side.entries, cursor: remoteState.cursor },
    failures: [...found.failures.filter(failure => !isGone(failure)), ...side.failures],
  }
  both.settled = actions.length === 0 ? { seen, entries: remoteState.entries } : undefined
  return seen
}

function sayOnce({ context, said }: Both, line: string): void {
  if (!said.has(line)) context.notice(line)
  said.add(line)
}

const pathIn = ({ details: { path } }: Failure) => (typeof path === 'string' ? [{ path }] : [])

const filesIn = (actions: Action[], done: ReadonlySet<string>): number =>
  actions.reduce((sum, action) => sum + (action.files && done.has(keyOf(action)) ? action.files : 0), 0)

/** Something that was there a moment ago. */
const isGone = ({ details }: Failure): boolean => details.system_code === 'ENOENT'

/** Where changes were made. */
function foldersOf(changes: Pick<Change, 'path' | 'from' | 'keptAs'>[]): Set<string> {
  const paths = changes.flatMap(({ path, from, keptAs }) => [path, from ?? path, keptAs ?? path])
  // A folder that was made for it is an entry of the one above.
  return new Set(paths.flatMap(path => path.split('/').map((_, i, names) => names.slice(0, i).join('/'))))
}

const rootGone = ({ place, path }: Pair): Failure =>
  new Failure(
    'SYNC_ROOT_LOST',
    `${place.show(path)} is not the folder that was synchronized before: it was moved or deleted. Restore it, or add --reset to merge both sides anew, which deletes nothing.`,
    { path: place.show(path) },
  )

/** @throws TOO_MANY_DELETIONS */
function guard({ maxDelete, store, pair }: Both, actions: Action[], deleted: number): void {
  const files = [...store.read().agreed.values()].filter(({ kind }) => kind === 'file').length
  const allowed = maxDelete ?? Math.max(FEW, Math.floor(files / 2))
  for (const side of ['local', 'remote'] as const) {
    const count = actions.reduce((sum, action) => sum + (action.side === side ? (action.files ?? 0) : 0), 0)
    if (count === 0 || count + deleted <= allowed) continue
    const where = side === 'local' ? pair.local : pair.place.show(pair.path)
    throw new Failure(
      'TOO_MANY_DELETIONS',
      `${count} of ${files} files in ${where} would be deleted, because they are gone on the other side. Nothing was deleted. If that is right, add --max-delete ${count + deleted}.`,
      { side, count, files },
    )
  }
}

/** So many files may be deleted without a question, however few there are. */
const FEW = 10

function refusedIn(refusals: Refusals): Failure[] {
  return [...refusals.values()].map(({ failure: { code, message }, paths }) => {
    const all = [...paths]
    const named = all.slice(0, 5).join(', ') + (all.length > 5 ? ', ...' : '')
    return new Failure(code, `${all.length} local changes stay here, and were not sent: ${named}. ${message}`, {
      paths: all,
    })
  })
}

/** The digests of files as they were when both sides agreed. */
export const digestsIn = (agreed: ReadonlyMap<string, Agreed>): Map<string, KnownDigest> =>
  new Map([...agreed].flatMap(([path, { kind, ...look }]) => (kind === 'file' ? [[path, look] as const] : [])))
