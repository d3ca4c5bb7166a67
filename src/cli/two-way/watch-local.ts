import { type FSWatcher, watch } from 'node:fs'
import { OWN_FOLDER } from '../sync/local-tree.ts'

/** Reports the local folders in which something changed. */
export interface LocalWatch {
  /**
   * Starts watching a folder, before it is read.
   *
   * @param at path relative to the root
   */
  onFolder(folder: string, at: string): void
  /** The folders with changes since the last call; null if unknown. */
  take(): Set<string> | null
  /**
   * Stops watching deleted folders.
   *
   * @param isThere takes the path relative to the root
   */
  prune(isThere: (at: string) => boolean): void
  close(): void
}

/**
 * macOS and Windows watch whole trees. Elsewhere each folder is watched separately, because the
 * recursive mode of Node.js would watch each file there.
 */
const watchesAll = process.platform === 'darwin' || process.platform === 'win32'

/**
 * Linux drops events beyond `fs.inotify.max_queued_events` (16,384), and Node.js does not report
 * it.
 */
const MANY_EVENTS = 8192

/**
 * @param wake is called after a change
 * @param blind is called once if the system cannot watch any more; then full scans are needed
 */
export function watchLocal(
  root: string,
  wake: () => void,
  blind: (error: Error) => void,
): LocalWatch {
  const watchers = new Map<string, FSWatcher>()
  let changed: Set<string> | null = new Set()
  let events = 0
  let isBlind = false

  function fail(error: Error): void {
    changed = null
    if (!isBlind) blind(error)
    isBlind = true
  }

  function happen(at: string | null): void {
    if (at === null || ++events > MANY_EVENTS) changed = null
    else changed?.add(at)
    wake()
  }

  function open(folder: string, at: string, recursive: boolean): void {
    watchers.get(at)?.close()
    try {
      const watcher = watch(folder, { recursive, persistent: false })
      watchers.set(at, watcher)
      watcher.on('error', error => {
        // The watcher of the parent reports a deleted folder.
        watcher.close()
        const { code } = error as NodeJS.ErrnoException
        if (code !== 'EPERM' && code !== 'ENOENT') fail(error)
      })
      watcher.on('change', (_kind, name) => {
        const path = name === null ? null : String(name).replaceAll('\\', '/').normalize('NFC')
        if (path === OWN_FOLDER || path?.startsWith(`${OWN_FOLDER}/`)) return
        if (!recursive) happen(at)
        else happen(path === null ? null : path.slice(0, Math.max(0, path.lastIndexOf('/'))))
      })
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT' && code !== 'EACCES' && code !== 'ENOTDIR') fail(error as Error)
    }
  }

  if (watchesAll) open(root, '', true)
  return {
    onFolder(folder, at) {
      if (!watchesAll && !isBlind) open(folder, at, false)
    },
    take() {
      const taken = changed
      changed = new Set()
      events = 0
      return isBlind ? null : taken
    },
    prune(isThere) {
      for (const [at, watcher] of watchers)
        if (at !== '' && !isThere(at)) {
          watcher.close()
          watchers.delete(at)
        }
    },
    close() {
      for (const watcher of watchers.values()) watcher.close()
    },
  }
}
