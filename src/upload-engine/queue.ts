import { copyName } from './copy-name.ts'
import { isFailure, TransferFailure } from './failure.ts'
import type { Aim, Progress, Stored } from './job.ts'
import { meter } from './rate.ts'
import { isOver, isRunning, type QueuedUpload, type Snapshot, summarize } from './snapshot.ts'
import { throttle } from './throttle.ts'

export interface Controls {
  aim: Aim
  /** Whether to replace the existing file of that name, as decided. */
  replaces: boolean
  signal: AbortSignal
  progress: Progress
  onRetry(failure: TransferFailure): void
}

/** The upload of a file in the queue. */
export interface Work {
  /** May be called again after an interruption or a failure. */
  upload(controls: Controls): Promise<Stored>
  /** Frees memory when the file is finished. */
  close(): void
}

export interface NewUpload {
  id: string
  aim: Aim
  size: number
  /** Null for a file of an earlier run that must be chosen again. */
  work: Work | null
  /** Aborts the session of an upload that will not be resumed. */
  abandon(): Promise<void>
}

/** What to do with files whose names are taken. */
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

/** How many alternative names to try for one file. */
const MAX_COPIES = 1000

/** Whether another name would help. It would not if a file is where a folder is needed. */
function isNameTaken(failure: TransferFailure, { fileName }: Aim): boolean {
  if (!isFailure(failure, 'PATH_EXISTS')) return false
  const { path } = failure.details
  return typeof path !== 'string' || path.split('/').at(-1) === fileName.normalize('NFC')
}

/** Failures that affect all files: they pause. */
const common = ['UNAUTHENTICATED']

/**
 * Uploads many files, a few at a time. Methods without ids apply to all files.
 *
 * @param atOnce number of concurrent uploads
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
      // An upload that was paused and resumed quickly may not have stopped yet.
      if (entry.view.phase === 'waiting' && !entry.run) void run(entry)
    }
  }

  async function run(entry: Entry): Promise<void> {
    const { work } = entry
    if (!work) return
    const controller = new AbortController()
    const { signal } = controller
    entry.run = controller
    // Updates the rate, which falls even if nothing is transferred.
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

  /** Counts bytes from the start of a run. Until it catches up, the previous value is shown. */
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
      // A folder has the name and cannot be replaced, so a new decision is needed.
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
    /** Adds files. If the queue is full, finished files are dropped. */
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

    /** Attaches the file to an upload of an earlier run. */
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

    /** Resumes paused uploads and retries failed ones. */
    resume(ids?: readonly string[]): void {
      for (const entry of chosen(ids))
        if (entry.view.phase === 'paused' || entry.view.phase === 'failed')
          change(entry, { phase: 'waiting', failure: null })
      pump()
    },

    /** Retries a failed upload under another name. */
    rename(id: string, fileName: string): void {
      const entry = entries.get(id)
      if (entry?.view.phase !== 'failed') return
      entry.aim = { ...entry.aim, fileName }
      entry.copies = 1
      entry.replaces = false
      change(entry, { phase: 'waiting', failure: null, aim: entry.aim })
      pump()
    },

    /** Removes files from the queue, and aborts their sessions. */
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

    /** Removes finished uploads. */
    clear(): void {
      for (const { view } of chosen()) if (isOver(view)) entries.delete(view.id)
      changed()
    },

    /** Returns the same object until something changes. */
    snapshot(): Snapshot {
      current ??= summarize(
        chosen().map(({ view }) => view),
        moved.rate(),
      )
      return current
    },

    /** @returns a function that unsubscribes */
    subscribe(listener: () => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  return queue
}

async function end({ work, abandon }: Entry): Promise<void> {
  work?.close()
  // A session that cannot be aborted expires within a day.
  await abandon().catch(() => {})
}

const toFailure = (error: unknown): TransferFailure =>
  error instanceof TransferFailure
    ? error
    : new TransferFailure('UNEXPECTED', error instanceof Error ? error.message : String(error))
