import { lstat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { inParallel } from '../each.ts'
import type { Filter } from '../sync/filter.ts'
import {
  digestOf,
  isUntouched,
  type KnownDigest,
  type LocalEntry,
  type LocalFile,
  type LocalTree,
  type ScanOptions,
  scan,
} from '../sync/local-tree.ts'
import type { Local } from './common.ts'
import type { Agreed, RemoteItem } from './sides.ts'
import { pathOf, Tree } from './tree.ts'

export interface Looking extends Pick<ScanOptions, 'onFolder'> {
  root: string
  filter: Filter
  notice(line: string): void
}

/** With more changed folders than this, everything is scanned. */
const MANY = 50

interface Looked {
  tree: LocalTree
  /** The changed paths; null after a full scan. */
  touched: Set<string> | null
}

/**
 * Scans the local folder.
 *
 * @param known the previous tree, which is updated
 * @param changed folders that may have changed; null for everything
 */
export async function look(
  { root, filter, notice, ...options }: Looking,
  known: LocalTree | null,
  changed: ReadonlySet<string> | null,
): Promise<Looked> {
  const all = async () => ({ tree: await scan(root, filter, notice, options), touched: null })
  if (!known || !changed || changed.size > MANY || known.failures.length > 0) return all()
  const touched = new Set<string>()
  for (const at of [...changed].sort()) {
    // The contents of a deleted folder are deleted with it.
    if (at !== '' && known.entries.get(at)?.kind !== 'folder' && !known.passed.has(at)) continue
    const staying = new Set<string>()
    const isKnown: ScanOptions['isKnown'] = (path, { identity }) => {
      const isSame =
        known.passed.has(path) ||
        (identity !== null && known.entries.get(path)?.identity === identity)
      if (isSame) staying.add(path)
      return isSame
    }
    const fresh = await scan(root, filter, notice, { ...options, at, isKnown }).catch(() => null)
    if (!fresh || fresh.failures.length > 0) return all()
    for (const path of replaceLevel(known, fresh, at, staying)) touched.add(path)
  }
  return { tree: known, touched }
}

/**
 * Replaces the known contents of a folder.
 *
 * @param staying subfolders whose contents are unchanged
 * @returns the changed paths
 */
function replaceLevel(
  known: LocalTree,
  fresh: LocalTree,
  at: string,
  staying: ReadonlySet<string>,
): Set<string> {
  const touched = new Set<string>()
  const prefix = at === '' ? '' : `${at}/`
  const goes = (path: string) => {
    const end = path.indexOf('/', prefix.length)
    return path.startsWith(prefix) && !(end > 0 && staying.has(path.slice(0, end)))
  }
  for (const [path, entry] of known.entries)
    if (goes(path)) {
      const now = fresh.entries.get(path)
      if (!now || !isSameEntry(entry, now)) touched.add(path)
      if (!now) known.entries.delete(path)
    }
  for (const [path, entry] of fresh.entries) {
    if (!known.entries.has(path)) touched.add(path)
    known.entries.set(path, entry)
  }
  for (const part of ['skipped', 'passed', 'unread'] as const) {
    for (const path of known[part])
      if (goes(path) && !fresh[part].has(path)) {
        touched.add(path)
        known[part].delete(path)
      }
    for (const path of fresh[part]) {
      if (!known[part].has(path)) touched.add(path)
      known[part].add(path)
    }
  }
  return touched
}

function isSameEntry(one: LocalEntry, other: LocalEntry): boolean {
  if (one.identity !== other.identity || one.path !== other.path) return false
  return one.kind === 'file'
    ? other.kind === 'file' && isUntouched(one, other)
    : other.kind === 'folder'
}

/** The tree for a plan: files with their known digests. */
export function localTree(
  {
    entries,
    skipped,
    unread,
  }: Pick<LocalTree, 'skipped' | 'unread'> & { entries: ReadonlyMap<string, LocalEntry> },
  digests: ReadonlyMap<string, KnownDigest>,
): Tree<Local> {
  const tree = new Tree<Local>()
  const other: Local = { kind: 'other', size: 0, identity: null, mtimeMs: 0, ctimeMs: 0 }
  for (const [path, entry] of entries) {
    const { kind, size, identity } = entry
    if (entry.kind === 'folder') tree.put(path, { kind, size, identity, mtimeMs: 0, ctimeMs: 0 })
    else {
      const { mtimeMs, ctimeMs } = entry
      const known = digests.get(path)
      const md5 = known && isUntouched(known, entry) ? known.md5 : undefined
      tree.put(path, { kind, size, identity, mtimeMs, ctimeMs, md5 })
    }
  }
  for (const path of [...skipped, ...unread]) tree.put(path, { ...other })
  return tree
}

interface Reading {
  files: LocalTree['entries']
  digests: Map<string, KnownDigest>
  local: Tree<Local>
  base: Tree<Agreed>
  remote: Tree<RemoteItem>
  parallel: number
  signal: AbortSignal
}

/** Reads changed local files that may equal a file of the other side, judging by size. */
export async function readDigests({
  files,
  digests,
  local,
  base,
  remote,
  parallel,
  signal,
}: Reading): Promise<void> {
  const gone = new Set<number>()
  const remoteSizes = new Map<string, number>()
  for (const { entry } of remote.nodes())
    if (entry?.kind === 'file') remoteSizes.set(entry.id, entry.size)
  for (const node of base.nodes())
    if (node.entry?.kind === 'file' && local.at(pathOf(node))?.entry?.kind !== 'file')
      gone.add(node.entry.size)
  gone.delete(0)
  const wanted: { path: string; item: Local; file: LocalFile }[] = []
  for (const node of local.nodes()) {
    const { entry: item } = node
    if (item?.kind !== 'file' || item.md5 !== undefined) continue
    const path = pathOf(node)
    const file = files.get(path)
    const known = base.at(path)?.entry
    const sizes = [
      known?.size,
      known?.seen?.content?.size,
      remote.at(path)?.entry?.size,
      known && remoteSizes.get(known.id),
    ]
    if (file?.kind === 'file' && (gone.has(item.size) || sizes.includes(item.size)))
      wanted.push({ path, item, file })
  }
  await inParallel(parallel, wanted, async ({ path, item, file }) => {
    try {
      if (!(await isSettled(file))) return
      const digest = await digestOf(file, undefined, signal)
      if (!(await isSettled(file))) return
      digests.set(path, digest)
      item.md5 = digest.md5
    } catch {
      // Uploading reports files that cannot be read.
      signal.throwIfAborted()
    }
  })
}

/** A change within the timestamp resolution of a file system would be invisible. */
const SETTLE_MS = 300
/** The limit for file systems with timestamps in whole seconds, such as FAT. */
const COARSE_MS = 2100

/**
 * Whether a file is unchanged since the scan, and not so recent that a program may still be writing
 * it.
 */
export async function isSettled(file: LocalFile): Promise<boolean> {
  const latest = Math.max(file.mtimeMs, file.ctimeMs)
  const enough = latest % 1000 === 0 ? COARSE_MS : SETTLE_MS
  const age = Math.abs(Date.now() - latest)
  if (age < enough) await sleep(enough - age)
  const { size, mtimeMs, ctimeMs } = await lstat(file.path)
  return isUntouched({ size, mtimeMs, ctimeMs }, file)
}
