import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, realpath, stat, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { findFolders } from '../config.ts'
import { Failure } from '../failure.ts'
import { findPlace } from '../find-place.ts'
import { withLock } from '../lock.ts'
import { isMarkedRemote, requireOneRemote } from '../path.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { type Filter, filterOf } from '../sync/filter.ts'
import { ignoresCase } from '../sync/local-name.ts'
import { noTree, OWN_FOLDER } from '../sync/local-tree.ts'
import { answerOf } from '../sync/report.ts'
import { forgetUnused, syncBusy } from '../sync/state.ts'
import type { Pair } from '../sync/work.ts'
import { follow } from '../two-way/follow.ts'
import { type Both, lookAtBoth } from '../two-way/look.ts'
import { KEPT_DAYS, ownFolder } from '../two-way/own-folder.ts'
import { RemotePaths } from '../two-way/remote-paths.ts'
import { plannedChange } from '../two-way/report.ts'
import { IN_MEMORY, openKnown } from '../two-way/state.ts'
import { digestsIn, synchronizeBoth } from '../two-way/synchronize.ts'
import type { SyncOptions } from './sync.ts'

export interface BothOptions extends Omit<SyncOptions, 'delete' | 'yes'> {
  watch?: boolean
  reset?: boolean
  maxDelete?: number
}

const KEPT = `What was deleted or replaced here is kept in ${OWN_FOLDER}/trash for ${KEPT_DAYS} days.`

/** File in the local folder with patterns to ignore. */
const IGNORE_FILE = '.satchelignore'

/** Keeps a local and a remote folder in sync, given in either order. */
export async function syncBoth(
  context: Context,
  one: string,
  other: string,
  options: BothOptions,
): Promise<Answer | undefined> {
  requireOneRemote(one, other)
  const [named, remote] = isMarkedRemote(one) ? [other, one] : [one, other]
  const { place, path } = await findPlace(await open(context), remote)
  const pair: Pair = {
    place,
    path: path.normalize('NFC'),
    local: await localFolder(named, options.dryRun ?? false),
  }
  const key = hashOf(['two-way', place.client.url, place.key, pair.path, pair.local])
  const { syncs } = await findFolders()
  // One lock per local folder, whatever the remote one: two syncs would undo each other's changes.
  return withLock(join(syncs, `${hashOf([pair.local])}.lock`), syncBusy(pair.local), () =>
    withStore(context, pair, { key, file: join(syncs, `${key}.db`) }, options),
  )
}

const hashOf = (parts: string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex')

async function withStore(
  context: Context,
  pair: Pair,
  { key, file }: { key: string; file: string },
  options: BothOptions,
): Promise<Answer | undefined> {
  const store = openKnown(options.dryRun && !existsSync(file) ? IN_MEMORY : file)
  try {
    if (!options.dryRun) {
      const now = new Date()
      // Marks the state as in use, so that it is not cleaned up.
      await utimes(file, now, now)
      await forgetUnused(dirname(file))
    }
    if (options.reset && !options.dryRun)
      store.write({ agreed: new Map(), remote: null, marker: null })
    const known = store.read()
    if (known.marker === null && !options.dryRun) await makeRemote(pair)
    const own = ownFolder(pair.local, key, store.latest)
    const both: Both = {
      context,
      pair,
      store,
      own,
      filter: filterIn(pair.local, options),
      paths: new RemotePaths(),
      ignoresCase: await ignoresCase(pair.local),
      parallel: options.parallel,
      label: label(),
      maxDelete: options.maxDelete,
      digests: digestsIn(known.agreed),
      sent: new Map(),
      touched: new Map(),
      local: null,
      said: new Set(),
    }
    if (options.dryRun) return await preview(both)
    context.resumeHint = 'Run the same command to continue.'
    return await own.alone(known.marker, () => keepSame(both, options))
  } finally {
    store.close()
  }
}

async function keepSame(both: Both, { watch }: BothOptions): Promise<Answer | undefined> {
  await both.own.tidy()
  if (watch) return follow(both)
  const outcome = await synchronizeBoth(both, null)
  for (const { path, keptAs } of outcome.changes)
    if (keptAs !== undefined)
      both.context.notice(`${path} has changed on both sides: yours is kept as ${keptAs}.`)
  const answer = answerOf({ ...outcome, ...sidesOf(both.pair), isDryRun: false })
  const isKept = outcome.changes.some(
    ({ side, action }) => side === 'local' && /^(delete|replace)$/.test(action),
  )
  return isKept ? { ...answer, words: `${answer.words}\n${KEPT}` } : answer
}

const sidesOf = (pair: Pair) => ({
  source: pair.local,
  target: pair.place.show(pair.path),
  show: (path: string) => pair.place.show([pair.path, path].filter(part => part !== '').join('/')),
})

async function preview(both: Both): Promise<Answer> {
  // Opening a missing folder would create it.
  const isThere = existsSync(both.pair.local)
  if (!isThere) both.local = noTree()
  const { actions, unchanged, failures } = await lookAtBoth(
    both,
    isThere ? null : new Set(),
    new Set(),
    true,
  )
  return answerOf({
    changes: actions.map(plannedChange),
    unchanged: unchanged.size,
    failures,
    ...sidesOf(both.pair),
    isDryRun: true,
  })
}

/** @throws USAGE if it is not a folder */
async function localFolder(named: string, isDryRun: boolean): Promise<string> {
  const found = await stat(named).catch(error => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (found === null && isDryRun) return resolve(named)
  if (found === null) await mkdir(named, { recursive: true })
  else if (!found.isDirectory())
    throw new Failure('USAGE', `${named} is not a folder. For a file, use put or get.`)
  return realpath(named)
}

/** Creates the remote folder before the first run. */
async function makeRemote({ place, path }: Pair): Promise<void> {
  if (path === '') return
  if (!(await place.find(path))) await place.createFolder(path, true)
}

/**
 * Reads the patterns anew on each run.
 *
 * @throws if they cannot be read, because ignored files would be uploaded
 */
function filterIn(folder: string, { include, exclude = [] }: BothOptions): () => Promise<Filter> {
  let known: { text: string; filter: Filter } | undefined
  return async () => {
    const text = await readFile(join(folder, IGNORE_FILE), 'utf8').catch(error => {
      if (error.code === 'ENOENT') return ''
      throw error
    })
    if (known?.text === text) return known.filter
    const lines = text.split(/\r?\n/).filter(line => !/^(#|\s*$)/.test(line))
    const filter = filterOf({ ...(include ? { include } : {}), exclude: [...lines, ...exclude] })
    known = { text, filter }
    return filter
  }
}

/** Date and computer name, for the name of a conflict copy. */
function label(): string {
  const now = new Date()
  const two = (n: number) => String(n).padStart(2, '0')
  const day = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`
  const host = (hostname().split('.')[0] ?? '').replace(/[^\p{L}\p{N}_-]/gu, '-').slice(0, 40)
  return `${day} ${host || 'local'}`
}
