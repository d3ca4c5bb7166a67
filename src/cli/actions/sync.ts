import { mkdir, realpath, rmdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import limitTo from 'p-limit'
import { Failure, isFailure } from '../failure.ts'
import { findPlace } from '../find-place.ts'
import { isMarkedRemote, joinPath, requireOneRemote } from '../path.ts'
import { notFound } from '../place.ts'
import { startProgress } from '../progress.ts'
import { confirm } from '../prompt.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import type { Plan } from '../sync/compare.ts'
import { filterOf, type Patterns } from '../sync/filter.ts'
import { type LocalTree, noTree, scan } from '../sync/local-tree.ts'
import { planOf } from '../sync/plan.ts'
import { pull } from '../sync/pull.ts'
import { push } from '../sync/push.ts'
import { readRemote, remoteEntries } from '../sync/remote-tree.ts'
import { answerOf, changesOf, clashOf } from '../sync/report.ts'
import { type PairState, type PairStates, pairStates } from '../sync/state.ts'
import type { Pair, Work } from '../sync/work.ts'
import { plural } from '../table.ts'

export interface SyncOptions extends Patterns {
  delete?: boolean
  dryRun?: boolean
  yes?: boolean
  parallel: number
}

/** Makes the target equal to the source. One of them is remote. */
export async function sync(
  context: Context,
  source: string,
  target: string,
  options: SyncOptions,
): Promise<Answer> {
  const way = isMarkedRemote(target) ? 'push' : 'pull'
  requireOneRemote(source, target)
  const [named, remote] = way === 'push' ? [source, target] : [target, source]
  const { place, path: given } = await findPlace(await open(context), remote)
  const path = given.normalize('NFC')
  const found = await findLocal(named, way)
  const made = found === null && !options.dryRun ? await makeFolder(named) : null
  const local = made?.folder ?? found
  const pair: Pair = { place, path, local: local ?? resolve(named) }
  const states = await pairStates([place.client.url, place.key, path, pair.local], pair.local)
  const sides = {
    source: way === 'push' ? pair.local : place.show(path),
    target: way === 'push' ? place.show(path) : pair.local,
  }
  const task = { way, pair, sides, states, isLocalThere: local !== null } as const
  return states
    .alone(() => synchronize(context, task, options))
    .catch(async error => {
      if (made !== null && isFailure(error, 'NOT_FOUND')) await removeFolder(made)
      throw error
    })
}

interface Task {
  way: 'push' | 'pull'
  pair: Pair
  sides: { source: string; target: string }
  states: PairStates
  isLocalThere: boolean
}

async function synchronize(context: Context, task: Task, options: SyncOptions): Promise<Answer> {
  const { way, pair, states, isLocalThere } = task
  const isDryRun = options.dryRun ?? false
  const state = await states.read()
  state.remote = await readRemote(pair.place, pair.path, state.remote)
  if (way === 'pull' && state.remote.rootId === null) throw notFound(pair.place.show(pair.path))
  const filter = filterOf(options)
  const notice = context.notice
  const local = isLocalThere ? await scan(pair.local, filter, notice) : noTree()
  const remote = remoteEntries(state.remote)
  const { signal } = context.patience
  const planned = await planOf({
    way,
    pair,
    local,
    remote,
    filter,
    signal,
    digests: state.digests,
    ...options,
  })
  const { plan } = planned
  const failures = [...local.failures, ...planned.failures, ...plan.clashes.map(clashOf)]
  if (options.delete && local.failures.length > 0)
    notice('Nothing was deleted, because some files could not be read.')
  const outcome = {
    ...task.sides,
    unchanged: plan.unchanged,
    failures,
    isDryRun,
    show: (path: string) => pair.place.show(joinPath(pair.path, path)),
  }
  if (isDryRun) return answerOf({ ...outcome, changes: changesOf(plan, way) })
  const removal = removalOf(task, plan, local)
  if (removal !== null && !options.yes) await confirmRemoval(context, removal)
  // The state is written again at the end, where a failure is reported.
  await states.write(state).catch(() => {})

  const progress = await startProgress(context)
  const work: Work = {
    context,
    pair,
    plan,
    local,
    remote: planned.remote,
    progress,
    failures,
    parallel: options.parallel,
    parts: limitTo(options.parallel),
    digests: state.digests,
    changes: [],
  }
  context.resumeHint = 'Run the same command to resume.'
  for (const { size } of plan.files) progress.expect(1, size)
  try {
    await (way === 'push' ? push : pull)(work)
    if (way === 'push' && work.changes.length > 0) await learn(pair, state)
  } finally {
    progress.stop()
    await states
      .write(tidied(state, work))
      .catch(({ message }) =>
        notice(
          `The state of this run could not be saved, so the next run reads both folders again: ${message}`,
        ),
      )
  }
  return answerOf({ ...outcome, changes: work.changes })
}

/** Reads past the events of the own changes, so that the next run need not. */
async function learn({ place, path }: Pair, state: PairState): Promise<void> {
  try {
    state.remote = await readRemote(place, path, state.remote)
  } catch (error) {
    // All changes are made. The next run starts at the older cursor.
    if (!isFailure(error, 'UNREACHABLE', 'UNAVAILABLE', 'RATE_LIMITED', 'MAINTENANCE')) throw error
  }
}

/** Drops digests of files that no longer exist. */
function tidied(state: PairState, { local, changes }: Work): PairState {
  const there = new Set([...local.entries.keys(), ...changes.map(({ path }) => path)])
  return { ...state, digests: new Map([...state.digests].filter(([path]) => there.has(path))) }
}

/**
 * The local folder; null if it does not exist and has to be created.
 *
 * @throws LOCAL_FILE
 */
async function findLocal(named: string, way: 'push' | 'pull'): Promise<string | null> {
  const found = await stat(named).catch(error => {
    if (way === 'pull' && error.code === 'ENOENT') return null
    throw error
  })
  if (found === null) return null
  if (!found.isDirectory())
    throw new Failure('USAGE', `${named} is not a folder. For a file, use put or get.`)
  return realpath(named)
}

interface Made {
  folder: string
  /** The topmost folder that was created. */
  top: string
}

async function makeFolder(named: string): Promise<Made> {
  const top = (await mkdir(named, { recursive: true })) ?? named
  return { folder: await realpath(named), top: await realpath(top) }
}

/** Removes created folders that are empty. */
async function removeFolder({ folder, top }: Made): Promise<void> {
  for (let path = folder; path.length >= top.length; path = dirname(path)) await rmdir(path)
}

/** A longer list would fill the screen. */
const MAX_NAMED = 5

/**
 * Describes deletions that need confirmation: local files have no trash, and an empty source may be
 * an unmounted disk.
 */
function removalOf(
  { way, sides }: Task,
  { clearings, removals }: Plan,
  { entries }: LocalTree,
): string | null {
  const paths = [...clearings, ...removals]
  const isSourceThere = [...entries.values()].some(({ kind }) => kind === 'file')
  if (paths.length === 0 || (way === 'push' && isSourceThere)) return null
  const named = paths.slice(0, MAX_NAMED).join(', ') + (paths.length > MAX_NAMED ? ', ...' : '')
  return way === 'pull'
    ? `${plural(paths.length, 'local entry', 'local entries')} below ${sides.target} permanently: ${named}`
    : `${plural(paths.length, 'remote entry', 'remote entries')} below ${sides.target}, because there is no file in ${sides.source}: ${named}`
}

/** @throws USAGE */
async function confirmRemoval(context: Context, what: string): Promise<void> {
  if (!process.stdin.isTTY || context.json)
    throw new Failure('USAGE', `This deletes ${what}. Add --yes to confirm.`)
  await confirm(`Delete ${what}?`, 'Nothing was changed.', context.patience.signal)
}
