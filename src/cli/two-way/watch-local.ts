import { type FSWatcher, watch } from 'node:fs'
import { OWN_FOLDER } from '../sync/local-tree.ts'

/** Tells in which local folders something happens. */
export interface LocalWatch {
  /** Begins to watch a folder, before it is read. @param at its path below the root */
  onFolder(folder: string, at: string): void
  /** The folders in which something has happened since the last call; null if that is not known. */
  take(): Set<string> | null
  /** Forgets folders that are gone. @param isThere by the path below the root */
  prune(isThere: (at: string) => boolean): void
  close(): void
}

/**
 * These watch everything below a folder by themselves; elsewhere each folder is watched: what
 * Node.js does there watches each file.
 */
const watchesAll = process.platform === 'darwin' || process.platform === 'win32'

/**
 * Linux forgets events when so many wait (`fs.inotify.max_queued_events` is 16,384), and Node.js
 * does not tell.
 */
const MANY_EVENTS = 8192

/**
 * @param wake is called when something happens
 * @param blind is called once if the system watches no more: then everything is to be looked at
 * again and again
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
        // A folder that is gone is seen in the one above.
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
