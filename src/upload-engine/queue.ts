import { copyName } from './copy-name.ts'
import { isFailure, TransferFailure } from './failure.ts'
import type { Aim, Progress, Stored } from './job.ts'
import { meter } from './rate.ts'
import { isOver, isRunning, type QueuedUpload, type Snapshot, summarize } from './snapshot.ts'
import { throttle } from './throttle.ts'

export interface Controls {
  aim: Aim
  /** Whether the file that has this name is to be replaced: that was decided. */
  replaces: boolean
  signal: AbortSignal
  progress: Progress
  onRetry(failure: TransferFailure): void
}

/** What the queue does with a file. */
export interface Work {
  /** May be called again after it was interrupted, or has failed. */
  upload(controls: Controls): Promise<Stored>
  /** Frees memory once the file is over. */
  close(): void
}

export interface NewUpload {
  id: string
  aim: Aim
  size: number
  /** Null for a file of an earlier run that must be chosen again. */
  work: Work | null
  /** Gives back what the service holds for an upload that is not to be resumed. */
  abandon(): Promise<void>
}

/** What happens to files whose names are taken. */
export type Resolution = 'copy' | 'replace' | 'skip'

interface Entry {
  view: QueuedUpload
  aim: Aim
  readonly abandon: () => Promise<void>
  work: Work | null
  run: AbortController | null
  onConflict: Resolution | undefined
  replaces: boolean
  copies: number
}

/** Names that are tried for one file. */
const MAX_COPIES = 1000

/** Whether another name would help: not if a file is where a folder is needed. */
function isNameTaken(failure: TransferFailure, { fileName }: Aim): boolean {
  if (!isFailure(failure, 'PATH_EXISTS')) return false
  const { path } = failure.details
  return typeof path !== 'string' || path.split('/').at(-1) === fileName.normalize('NFC')
}

/** After these, all files would fail alike: they pause. */
const common = ['UNAUTHENTICATED']

/**
 * Uploads many files, a few at a time. Methods without ids concern all files. @param atOnce how
 * many files are under way at a time
 */
export function uploadQueue({ atOnce }: { atOnce: number }) {
  const entries = new Map<string, Entry>()
  const listeners = new Set<() => void>()
  const moved = meter()
  let running = 0
  let ticks: ReturnType<typeof setInterval> | undefined
  let current: Snapshot | undefined
  const tell = throttle(() => {
    for (const listener of listeners) listener()
  })

  function changed(): void {
    current = undefined
    tell()
  }

  function change(entry: Entry, changes: Partial<QueuedUpload>): void {
    entry.view = { ...entry.view, ...changes }
    changed()
  }

  const chosen = (ids?: readonly string[]): Entry[] =>
    ids ? ids.flatMap(id => entries.get(id) ?? []) : [...entries.values()]

  function pump(): void {
    for (const entry of entries.values()) {
      if (running >= atOnce) return
      // One that was paused and resumed at once may not have stopped yet.
      if (entry.view.phase === 'waiting' && !entry.run) void run(entry)
    }
  }

  async function run(entry: Entry): Promise<void> {
    const { work } = entry
    if (!work) return
    const controller = new AbortController()
    const { signal } = controller
    entry.run = controller
    // The rate falls even if nothing arrives.
    if (running++ === 0) ticks = setInterval(changed, 1000)
    change(entry, { phase: 'uploading', failure: null })
    try {
      const { status } = await work.upload({
        aim: entry.view.aim,
        replaces: entry.replaces,
        signal,
        progress: progressOf(entry, signal),
        onRetry: failure => {
          if (!signal.aborted) change(entry, { failure })
        },
      })
      work.close()
      change(entry, { phase: status, sent: entry.view.size, failure: null })
    } catch (error) {
      if (!signal.aborted) stopped(entry, toFailure(error))
    } finally {
      entry.run = null
      running--
      if (running === 0) clearInterval(ticks)
      if (!entries.has(entry.view.id)) void end(entry)
      pump()
    }
  }

  /** Bytes are counted from the beginning of a run; what was shown before stays until then. */
  function progressOf(entry: Entry, signal: AbortSignal): Progress {
    let sent = 0
    const count = (bytes: number) => {
      sent += bytes
      if (!signal.aborted) change(entry, { sent, failure: null })
    }
    return {
      move(bytes) {
        moved.add(bytes)
        count(bytes)
      },
      skip: count,
      async checking(work) {
        if (!signal.aborted) change(entry, { phase: 'checking', checked: 0 })
        try {
          return await work
        } finally {
          if (!signal.aborted) change(entry, { phase: 'uploading' })
        }
      },
      checked(share) {
        if (!signal.aborted) change(entry, { checked: share })
      },
    }
  }

  function stopped(entry: Entry, failure: TransferFailure): void {
    if (isNameTaken(failure, entry.view.aim) && entry.copies < MAX_COPIES) {
      change(entry, { phase: 'conflict', failure })
      // A folder has the name, which nothing replaces: something else is to be decided.
      if (entry.replaces) entry.onConflict = undefined
      entry.replaces = false
      resolve(entry)
    } else if (isFailure(failure, ...common)) {
      change(entry, { phase: 'paused', failure })
      queue.pause()
    } else change(entry, { phase: 'failed', failure })
  }

  function resolve(entry: Entry): void {
    const { onConflict, aim } = entry
    if (onConflict === 'copy') {
      entry.copies++
      const fileName = copyName(aim.fileName, entry.copies)
      change(entry, { phase: 'waiting', failure: null, aim: { ...aim, fileName } })
    } else if (onConflict === 'replace') {
      entry.replaces = true
      change(entry, { phase: 'waiting', failure: null })
    } else if (onConflict === 'skip') {
      void end(entry)
      change(entry, { phase: 'skipped', failure: null })
    }
  }

  const queue = {
    /** Adds files. Files that are done are dropped if the queue is full. */
    add(uploads: readonly NewUpload[]): void {
      if (chosen().every(({ view }) => isOver(view))) queue.clear()
      for (const { id, aim, size, work, abandon } of uploads) {
        const phase = work ? 'waiting' : 'detached'
        const view: QueuedUpload = { id, aim, size, phase, sent: 0, checked: 0, failure: null }
        entries.set(id, {
          view,
          aim,
          work,
          run: null,
          onConflict: undefined,
          replaces: false,
          copies: 1,
          abandon,
        })
      }
      changed()
      pump()
    },

    /** Gives its file back to an upload of an earlier run. */
    attach(id: string, work: Work, size: number): void {
      const entry = entries.get(id)
      if (entry?.view.phase !== 'detached') return
      entry.work = work
      change(entry, { phase: 'waiting', size })
      pump()
    },

    pause(ids?: readonly string[]): void {
      for (const entry of chosen(ids)) {
        if (entry.view.phase !== 'waiting' && !isRunning(entry.view)) continue
        change(entry, { phase: 'paused' })
        entry.run?.abort(new TransferFailure('INTERRUPTED', 'Paused.'))
      }
    },

    /** Continues those that were paused, and tries again what has failed. */
    resume(ids?: readonly string[]): void {
      for (const entry of chosen(ids))
        if (entry.view.phase === 'paused' || entry.view.phase === 'failed')
          change(entry, { phase: 'waiting', failure: null })
      pump()
    },

    /** Tries one that has failed again, under another name. */
    rename(id: string, fileName: string): void {
      const entry = entries.get(id)
      if (entry?.view.phase !== 'failed') return
      entry.aim = { ...entry.aim, fileName }
      entry.copies = 1
      entry.replaces = false
      change(entry, { phase: 'waiting', failure: null, aim: entry.aim })
      pump()
    },

    /** Removes files from the queue, and gives back what the service holds for them. */
    cancel(ids?: readonly string[]): void {
      for (const entry of chosen(ids)) {
        entries.delete(entry.view.id)
        if (entry.run) entry.run.abort(new TransferFailure('INTERRUPTED', 'Cancelled.'))
        else if (!isOver(entry.view)) void end(entry)
      }
      changed()
      pump()
    },

    /** Decides about files whose names are taken, now or later. */
    resolve(resolution: Resolution, ids?: readonly string[]): void {
      for (const entry of chosen(ids)) {
        entry.onConflict = resolution
        if (entry.view.phase === 'conflict') resolve(entry)
      }
      pump()
    },

    /** Removes what is over. */
    clear(): void {
      for (const { view } of chosen()) if (isOver(view)) entries.delete(view.id)
      changed()
    },

    /** The same object until something has changed. */
    snapshot(): Snapshot {
      current ??= summarize(
        chosen().map(({ view }) => view),
        moved.rate(),
      )
      return current
    },

    /** @returns what ends it */
    subscribe(listener: () => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  return queue
}

async function end({ work, abandon }: Entry): Promise<void> {
  work?.close()
  // What cannot be given back expires within a day.
  await abandon().catch(() => {})
}

const toFailure = (error: unknown): TransferFailure =>
  error instanceof TransferFailure
    ? error
    : new TransferFailure('UNEXPECTED', error instanceof Error ? error.message : String(error))
