import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Log } from '../runtime/log.ts'
import { type Child, type Ended, startChild } from './child.ts'
import { decodeHeif } from './heif.ts'
import type { Kind as OwnKind } from './kinds.ts'
import type { Bounds, FailureReason, Task } from './outcome.ts'
import type { ProgramProcess } from './program.ts'
import { makeTemporary } from './temporary.ts'
import { takePicture } from './video.ts'

/**
 * The source of a derivation: a local file, or a stream that is written to a temporary file first.
 */
export type Source =
  | { path: string }
  | { size: number; open(signal?: AbortSignal): Promise<Readable> }

/**
 * The kinds of jobs: those of our own programs, and those in which a program of the system makes a
 * picture: `video` of a video, and `heif` of a picture that sharp cannot decode.
 */
type Kind = OwnKind | 'video' | 'heif'

export interface Job {
  kind: Kind
  source: Source
  mediaType: string
  /** Bounds that differ from the defaults. */
  bounds?: Partial<Bounds>
  /** Further input for this kind of job. */
  input?: unknown
  signal?: AbortSignal
}

/**
 * The derived data, or the reason for the failure. Do not trust the data, because a hostile file
 * may have forged it.
 */
export type Outcome =
  | { ok: true; value: unknown; outputs: Buffer[] }
  | { ok: false; reason: FailureReason }

/** Thrown when nothing can be derived now, whatever the file. The job should be retried. */
export class DeriveUnavailable extends Error {
  /** Whether retries are useless, because this platform lacks a requirement. */
  readonly isLasting: boolean

  constructor(message: string, { isLasting = false } = {}) {
    super(message)
    this.name = 'DeriveUnavailable'
    this.isLasting = isLasting
  }
}

const usual: Bounds = { ms: 30_000, pixels: 100_000_000, outputBytes: 8 * 1024 * 1024 }
/** The idle timeout of a process, which holds 90 MiB. */
const IDLE_MS = 120_000
/** A process is replaced after this many jobs, because libraries leak memory. */
const JOBS_OF_A_PROCESS = 500

interface Waiting {
  task: Task
  signal: AbortSignal | undefined
  resolve(ended: Ended): void
  reject(error: unknown): void
}

/**
 * Derives data (checksums, thumbnails, text) from files in separate processes, each of which runs
 * one job at a time within bounds. A process that crashes, hangs or grows too large is killed, and
 * only its job fails. Processes start on demand and stop when idle.
 * @param processes the maximum number of processes
 * @param readable the folders that may contain source files
 * @param ffmpeg the program that extracts pictures from videos; null if there is none
 * @param heifConvert the program that decodes HEIF pictures; null if there is none
 */
export function createDerive({
  processes,
  readable,
  ffmpeg = null,
  heifConvert = null,
  log,
  idleMs = IDLE_MS,
}: {
  processes: number
  readable: string[]
  ffmpeg?: string | null
  heifConvert?: string | null
  log: Log
  idleMs?: number
}) {
  /** Waiting jobs by kind. Kinds take turns, so that thousands of pictures do not delay a text. */
  const waiting = new Map<Kind, Waiting[]>()
  const idle: { child: Child; timer: NodeJS.Timeout; jobs: number }[] = []
  const busy = new Set<Pick<Child, 'pid' | 'end'>>()
  let running = 0
  let stopped = false
  let temporary: Promise<string> | undefined

  function takeNext(): Waiting | undefined {
    for (const [kind, queue] of waiting) {
      const next = queue.shift()
      waiting.delete(kind)
      if (queue.length > 0) waiting.set(kind, queue)
      if (next) return next
    }
    return undefined
  }

  /** Assigns jobs to processes. Each slot continues until no job is waiting. */
  function work(): void {
    while (running < processes && waiting.size > 0 && !stopped) {
      running += 1
      void slot().finally(() => {
        running -= 1
        work()
      })
    }
  }

  async function slot(): Promise<void> {
    for (let next = takeNext(); next && !stopped; next = takeNext()) {
      const { task, signal, resolve, reject } = next
      if (signal?.aborted) {
        reject(signal.reason)
        continue
      }
      try {
        resolve(await runOne(task, signal))
      } catch (error) {
        reject(error)
      }
    }
  }

  async function runOne(task: Task, signal: AbortSignal | undefined): Promise<Ended> {
    const isOwn = task.kind !== 'video' && task.kind !== 'heif'
    const { process, run, release } = await (isOwn ? takeChild(task) : startProgram(task))
    const cancel = () => process.end()
    signal?.addEventListener('abort', cancel, { once: true })
    try {
      const ended = await run()
      signal?.throwIfAborted()
      if (stopped) throw new DeriveUnavailable('The service stops.')
      if (!ended.ok && 'reason' in ended && ['memory', 'time', 'crashed'].includes(ended.reason))
        log.warn(
          { kind: task.kind, reason: ended.reason },
          'a process that reads a file was ended; only its job fails',
        )
      return ended
    } finally {
      signal?.removeEventListener('abort', cancel)
      release()
    }
  }

  async function takeChild(task: Task) {
    const { child, jobs } = await take()
    return { process: child, run: () => child.run(task), release: () => giveBack(child, jobs + 1) }
  }

  function program(task: Task): Promise<ProgramProcess> {
    if (task.kind === 'video' && ffmpeg) return takePicture(ffmpeg, task)
    if (task.kind === 'heif' && heifConvert)
      return folder().then(names => decodeHeif(heifConvert, names, task))
    throw new DeriveUnavailable('There is no program for this kind of file.')
  }

  async function startProgram(task: Task) {
    const process = await program(task)
    busy.add(process)
    if (stopped) process.end()
    return { process, run: () => process.ended, release: () => void busy.delete(process) }
  }

  async function take(): Promise<{ child: Child; jobs: number }> {
    for (let there = idle.pop(); there; there = idle.pop()) {
      clearTimeout(there.timer)
      if (!there.child.isFit) {
        there.child.end()
        continue
      }
      busy.add(there.child)
      return there
    }
    const child = await startChild([...readable, await folder()]).catch(error => {
      throw new DeriveUnavailable(error instanceof Error ? error.message : String(error))
    })
    busy.add(child)
    // The service may have been stopped meanwhile.
    if (stopped) child.end()
    return { child, jobs: 0 }
  }

  function giveBack(child: Child, jobs: number): void {
    busy.delete(child)
    if (stopped || !child.isFit || jobs >= JOBS_OF_A_PROCESS) {
      child.end()
      return
    }
    const timer = setTimeout(() => {
      idle.splice(
        idle.findIndex(there => there.child === child),
        1,
      )
      child.end()
    }, idleMs)
    timer.unref()
    idle.push({ child, timer, jobs })
  }

  /** The folder for temporary copies. */
  function folder(): Promise<string> {
    temporary ??= makeTemporary()
    return temporary
  }

  /**
   * Writes a source to a file.
   * @throws errors of the source, and DeriveUnavailable if the source is longer than announced
   */
  async function fileOf(
    source: Source,
    signal?: AbortSignal,
  ): Promise<{ path: string; release(): Promise<void> }> {
    if ('path' in source) return { path: source.path, release: async () => {} }
    const dir = await folder()
    await mkdir(dir, { recursive: true, mode: 0o700 })
    const path = join(dir, randomUUID())
    const release = () => rm(path, { force: true })
    try {
      let size = 0
      await pipeline(
        await source.open(signal),
        async function* (chunks: AsyncIterable<Buffer>) {
          for await (const chunk of chunks) {
            size += chunk.length
            if (size > source.size)
              throw new DeriveUnavailable('The store has more bytes than the ledger says.')
            yield chunk
          }
        },
        createWriteStream(path, { flags: 'wx', mode: 0o600 }),
        ...(signal ? [{ signal }] : []),
      )
      return { path, release }
    } catch (error) {
      await release()
      throw error
    }
  }

  /**
   * Runs one job.
   * @throws DeriveUnavailable, the reason of the signal, or errors of the source
   */
  async function run({
    kind,
    source,
    mediaType,
    bounds,
    input = null,
    signal,
  }: Job): Promise<Outcome> {
    const file = await fileOf(source, signal)
    try {
      const ended = await new Promise<Ended>((resolve, reject) => {
        if (stopped) return reject(new DeriveUnavailable('The service stops.'))
        const queue = waiting.get(kind) ?? []
        const task = { kind, path: file.path, mediaType, bounds: { ...usual, ...bounds }, input }
        queue.push({ task, signal, resolve, reject })
        waiting.set(kind, queue)
        work()
      })
      if ('unable' in ended)
        throw new DeriveUnavailable(ended.unable, { isLasting: ended.isLasting })
      return ended
    } finally {
      await file.release()
    }
  }

  return {
    run,

    /** Runs several jobs on one file, which is copied only once if the store has no local file. */
    async withFile<T>(
      source: Source,
      use: (file: Source) => Promise<T>,
      signal?: AbortSignal,
    ): Promise<T> {
      const { path, release } = await fileOf(source, signal)
      try {
        return await use({ path })
      } finally {
        await release()
      }
    },

    /** Whether a program for video pictures is available. */
    readsVideos: ffmpeg !== null,

    /** Whether a program for HEIF pictures is available. */
    readsHeif: heifConvert !== null,

    /** The maximum number of concurrent jobs. */
    processes,

    /** The ids of the current processes. */
    pids: (): number[] => [...busy, ...idle.map(({ child }) => child)].map(({ pid }) => pid),

    /** Stops all processes. Waiting and running jobs are refused. */
    async stop(): Promise<void> {
      stopped = true
      for (const queue of waiting.values())
        for (const { reject } of queue) reject(new DeriveUnavailable('The service stops.'))
      waiting.clear()
      for (const { child, timer } of idle.splice(0)) {
        clearTimeout(timer)
        child.end()
      }
      for (const child of busy) child.end()
      const dir = await temporary
      if (dir) await rm(dir, { recursive: true, force: true })
    },
  }
}

export type Derive = ReturnType<typeof createDerive>
