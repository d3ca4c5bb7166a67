import { Failure } from '../failure.ts'
import type { Context } from '../run.ts'
import type { Filter } from '../sync/filter.ts'
import type { KnownDigest, LocalTree } from '../sync/local-tree.ts'
import { type RemoteState, readRemote } from '../sync/remote-tree.ts'
import type { Change, Pair } from '../sync/work.ts'
import type { BothJob } from './job.ts'
import { type Looking, localTree, look, readDigests } from './local-side.ts'
import type { OwnFolder } from './own-folder.ts'
import { type Plan, plan } from './plan.ts'
import type { RemotePaths } from './remote-paths.ts'
import { remoteSide } from './remote-side.ts'
import { MANY_PATHS, merged, scopeOf, within } from './scope.ts'
import type { Action } from './sides.ts'
import type { KnownStore } from './state.ts'
import { Tree } from './tree.ts'

/** Two folders that are kept in sync. */
export interface Both {
  context: Context
  pair: Pair
  store: KnownStore
  own: OwnFolder
  /** The same object until the patterns change. */
  filter(): Promise<Filter>
  ignoresCase: boolean
  parallel: number
  /** For the names of conflict copies. */
  label: string
  /** How many files may be deleted. Defaults to half of them. */
  maxDelete: number | undefined
  digests: Map<string, KnownDigest>
  /** Content that was transferred since the last scan. */
  sent: BothJob['sent']
  /** Entries moved or restored since the last scan. */
  touched: BothJob['touched']
  /** The last local tree, if file system events are available. */
  local: LocalTree | null
  onFolder?: Looking['onFolder']
  /** Notices that were already printed. */
  said: Set<string>
  /** The last scan, if nothing was left to do. */
  settled?: { seen: Seen; entries: RemoteState['entries'] } | undefined
  /** The trees of the last plan, so that the next one can be limited to changes. */
  planned?:
    | {
        filter: Filter
        open: ReadonlySet<string>
        unchanged: ReadonlySet<string>
        failures: Failure[]
      }
    | undefined
  paths: RemotePaths
}

interface Seen {
  actions: Action[]
  /** Files that are equal on both sides. */
  unchanged: ReadonlySet<string>
  /** Entries that cannot be synced. */
  failures: Failure[]
  local: LocalTree
  remote: BothJob['remote']
  cursor: string
}

/** Scans both sides, plans, and saves what they agree on. */
export async function lookAtBoth(
  both: Both,
  changed: ReadonlySet<string> | null,
  refused: ReadonlySet<string> = new Set(),
  isDryRun = false,
): Promise<Seen> {
  const { pair, context, store, own, digests, parallel, label } = both
  const known = store.read()
  const filter = await both.filter()
  if (both.planned && both.planned.filter !== filter) {
    both.planned = undefined
    both.local = null
  }
  const before = both.planned
  const looking = {
    root: pair.local,
    filter,
    notice: (line: string) => sayOnce(both, line),
    ...(both.onFolder ? { onFolder: both.onFolder } : {}),
  }
  const [{ tree: found, touched }, remoteState] = await Promise.all([
    look(looking, both.local, changed),
    readRemote(pair.place, pair.path, known.remote),
  ])
  if (changed?.size === 0 && both.local && both.settled?.entries === remoteState.entries) {
    if (remoteState.cursor !== known.remote?.cursor) store.write({ ...known, remote: remoteState })
    return both.settled.seen
  }
  both.local = found
  // Checked after the scan, because a disk that was just unmounted would look empty.
  const marker = isDryRun && known.marker === null ? null : await own.check(known.marker)
  if (known.marker !== null && remoteState.rootId !== known.remote?.rootId) throw rootGone(pair)
  const changedThere = both.paths.take(remoteState)
  const around =
    before && touched && changedThere
      ? new Set([...before.open, ...touched, ...changedThere])
      : new Set<string>()
  const scope =
    before && touched && changedThere && around.size <= MANY_PATHS ? scopeOf(around) : null
  both.planned = undefined
  const isIn = (path: string) => !scope || scope.has(path)
  const side = remoteSide(
    {
      ...remoteState,
      entries: scope
        ? remoteState.entries.filter(entry => isIn(both.paths.of(entry)))
        : remoteState.entries,
    },
    filter,
    both.ignoresCase,
  )
  const base = new Tree(
    [...known.agreed].filter(([path, { kind }]) => isIn(path) && filter.takes(path, kind)),
  )
  const local = localTree(
    {
      entries: within(found.entries, scope),
      skipped: new Set([...found.skipped].filter(isIn)),
      unread: new Set([...found.unread].filter(isIn)),
    },
    digests,
  )
  const { signal } = context.patience
  await readDigests({
    files: found.entries,
    digests,
    local,
    base,
    remote: side.tree,
    parallel,
    signal,
  })
  const trees = { local, base, remote: side.tree }
  const options = { label, refused, sent: both.sent, touched: both.touched }
  const { actions, agreed, unchanged, held } = isDryRun
    ? planAll(trees, options)
    : plan(trees, options)
  if (agreed) for (const since of [both.sent, both.touched]) since.clear()
  if (!isDryRun)
    store.write({
      agreed: agreed ? merged(known.agreed, agreed, scope) : known.agreed,
      remote: remoteState,
      marker,
    })
  const elsewhere = {
    failures:
      before && scope ? before.failures.filter(({ details }) => !isIn(String(details.path))) : [],
    unchanged: before && scope ? [...before.unchanged].filter(path => !isIn(path)) : [],
  }
  const unnameable = [...elsewhere.failures, ...side.failures]
  const same = new Set([...elsewhere.unchanged, ...unchanged])
  if (agreed || scope) {
    const open = new Set([...actions.flatMap(pathsOf), ...held, ...(agreed ? [] : around)])
    both.planned = { filter, open, unchanged: same, failures: unnameable }
  }
  const seen: Seen = {
    actions,
    unchanged: same,
    local: found,
    remote: side.entries,
    cursor: remoteState.cursor,
    failures: [...found.failures.filter(failure => !isGone(failure)), ...unnameable],
  }
  both.settled = actions.length === 0 ? { seen, entries: remoteState.entries } : undefined
  return seen
}

/** Plans the moves, and the remaining actions after them. */
function planAll(trees: Parameters<typeof plan>[0], options: Parameters<typeof plan>[1]): Plan {
  const first = plan(trees, options)
  if (first.agreed) return first
  const rest = plan(trees, options)
  return { ...rest, actions: [...first.actions, ...rest.actions] }
}

function sayOnce({ context, said }: Both, line: string): void {
  if (!said.has(line)) context.notice(line)
  said.add(line)
}

/** Whether an entry disappeared between listing and reading. */
export const isGone = ({ details }: Failure): boolean => details.system_code === 'ENOENT'

export const pathsOf = ({
  path,
  from,
  keptAs,
}: Pick<Change, 'path' | 'from' | 'keptAs'>): string[] =>
  [path, from, keptAs].filter(each => each !== undefined)

const rootGone = ({ place, path }: Pair): Failure =>
  new Failure(
    'SYNC_ROOT_LOST',
    `${place.show(path)} is not the folder that was synchronized before: it was moved or deleted. Restore it, or add --reset to merge both sides anew, which deletes nothing.`,
    { path: place.show(path) },
  )
