import cluster, { type Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import { localCoordination } from '../coordination/local.ts'
import type { Log } from '../runtime/log.ts'
import { createRecorder } from '../telemetry/recorder.ts'
import { attend } from './attend.ts'
import type { Gathering } from './gathering.ts'
import type { FromWorker, ToWorker } from './messages.ts'

/** A worker that dies this early delays its replacement, which may also die at once. */
const QUICK_MS = 10_000
const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 30_000
/**
 * Extra time for a worker to release the resources of requests and to close the database, beyond
 * the configured times.
 */
const ENDING_MS = 15_000
/** The interval of health checks. A worker that misses several in a row hangs. */
const PING_MS = 5000
const MISSED_PINGS = 6

/**
 * The argument that identifies a worker. Other programs also start processes through node:cluster.
 */
export const WORKER = '--worker'

interface Options {
  workers: number
  config: Pick<Config, 'drainSeconds' | 'shutdownSeconds'>
  log: Log
  /** Gathers the metrics of the workers, if they are on. */
  gathering?: Gathering | undefined
}

/**
 * Runs workers on one port for the lifetime of this process, and replaces those that die. The
 * supervisor serves no requests and opens no database. It distributes connections round-robin,
 * keeps shared counts, forwards messages, and chooses the worker that runs the jobs. The first
 * worker starts alone, because it migrates the tables, and its failure is a failed start.
 */
export function supervise({ workers, config, log, gathering }: Options): void {
  const coordination = localCoordination()
  const history = createRecorder(workers)
  const running = new Set<Worker>()
  const ready = new Set<Worker>()
  const stopping = new AbortController()
  let leader: Worker | undefined
  let isUp = false

  const send = (worker: Worker, message: ToWorker) => {
    // A worker that has just died is handled by its exit event.
    if (worker.isConnected()) worker.send(message, () => {})
  }

  function nameLeader(): void {
    if (leader || stopping.signal.aborted) return
    ;[leader] = ready
    if (leader) send(leader, { lead: true })
  }

  function welcome(worker: Worker): void {
    ready.add(worker)
    nameLeader()
    if (isUp) return
    isUp = true
    for (let i = 1; i < workers; i++) void keep()
  }

  /** Runs one worker until it ends. */
  async function run(): Promise<End & { pid: number | undefined }> {
    const worker = cluster.fork()
    const { pid } = worker.process
    let missed = 0
    const pulse = setInterval(() => {
      if (!ready.has(worker) || stopping.signal.aborted) return
      if (missed++ < MISSED_PINGS) return send(worker, { ping: true })
      log.error({ worker: pid }, 'a worker hangs; it is killed')
      worker.process.kill('SIGKILL')
    }, PING_MS)
    const toOthers = (message: ToWorker) => {
      for (const other of running) if (other !== worker) send(other, message)
    }
    const attended = attend(coordination, history, message => send(worker, message), toOthers)
    running.add(worker)
    let gathered: ReturnType<Gathering['join']> | undefined
    worker.on('message', (message: FromWorker) => {
      missed = 0
      if ('ready' in message) {
        gathered = gathering?.join(id => send(worker, { tell: id }))
        welcome(worker)
      } else if ('figures' in message) gathered?.heard(message.of, message.figures)
      else void attended.hear(message)
    })
    const { code, signal } = await ending(worker)
    clearInterval(pulse)
    running.delete(worker)
    ready.delete(worker)
    attended.end()
    gathered?.left()
    if (leader === worker) leader = undefined
    nameLeader()
    return { code, signal, pid }
  }

  function notStarted(error: unknown): End & { pid: undefined } {
    log.error({ err: error }, 'a worker could not be started')
    return { code: null, signal: null, pid: undefined }
  }

  /** Keeps one worker slot occupied. */
  async function keep(): Promise<void> {
    for (let quick = 0; !stopping.signal.aborted; ) {
      const since = performance.now()
      const { code, signal, pid } = await run().catch(notStarted)
      if (stopping.signal.aborted) return
      if (!isUp) {
        // A worker that exits by itself has logged the reason.
        if (code === null)
          log.error({ worker: pid, signal }, 'the first worker ended while it started')
        process.exit(code || 1)
      }
      const lived = Math.round(performance.now() - since)
      quick = lived < QUICK_MS ? quick + 1 : 0
      const delay = quick === 0 ? 0 : Math.min(FIRST_DELAY_MS * 2 ** (quick - 1), LONGEST_DELAY_MS)
      log.error(
        { worker: pid, code, signal, lived_ms: lived, delay_ms: delay },
        'a worker died; another one takes its place',
      )
      gathering?.restarted()
      history.restarted()
      await sleep(delay, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  async function stop(signal: string): Promise<void> {
    for (const worker of running) send(worker, { stop: true })
    if (stopping.signal.aborted) return
    stopping.abort()
    log.info(
      { signal, drain_seconds: config.drainSeconds },
      'stopping: running requests may finish',
    )
    const ends = [...running].map(ending)
    const limit = (config.drainSeconds + config.shutdownSeconds) * 1000 + ENDING_MS
    setTimeout(() => {
      for (const worker of running) worker.process.kill('SIGKILL')
    }, limit).unref()
    await Promise.all(ends)
    process.exit(0)
  }

  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  cluster.schedulingPolicy = cluster.SCHED_RR
  cluster.setupPrimary({ args: [...process.argv.slice(2), WORKER] })
  void keep()
}

interface End {
  code: number | null
  signal: string | null
}

/** Resolves when a worker has ended or failed to start. */
const ending = (worker: Worker): Promise<End> =>
  new Promise(resolve => {
    worker.once('exit', (code: number | null, signal: string | null) => resolve({ code, signal }))
    worker.on('error', () => {
      if (worker.process.pid === undefined) resolve({ code: null, signal: null })
    })
  })
