import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { BadFrame, frame, frameReader } from './frame.ts'
import { type AnswerHead, type FailureReason, failureReasons, type Task } from './outcome.ts'

/** What a process may hold, in bytes: the memory of libraries counts as well. */
export const MEMORY = 512 * 1024 * 1024
/** MiB of what scripts hold in it. */
const HEAP = 192
const WATCH_MS = 50
/** A process that is not ready by then will not be. */
const START_MS = 20_000
/** Processor seconds of one process. One whose service has been killed while it hangs ends then. */
const PROCESSOR_SECONDS = 1800
/** What is left for what the system counts, and for what is allocated before the limit is set. */
const MARGIN = 32 * 1024 * 1024
const PAGE = 4096

/** What a process answers. A file may have taken it over, so it is checked like any other input. */
const answerHead: z.ZodType<AnswerHead> = z.union([
  z.object({ ok: z.literal(true), value: z.unknown(), outputs: z.array(z.int().min(0)).max(16) }),
  z.object({ ok: z.literal(false), reason: z.enum(failureReasons) }),
  z.object({ ok: z.literal(false), unable: z.string().max(1000), isLasting: z.boolean() }),
])

/** How a job ended. `unable` is no failure of the file. */
export type Ended =
  | { ok: true; value: unknown; outputs: Buffer[] }
  | { ok: false; reason: FailureReason }
  | { ok: false; unable: string; isLasting: boolean }

const own = fileURLToPath(import.meta.url)
const folder = dirname(own)
const program = join(folder, `process${own.endsWith('.ts') ? '.ts' : '.js'}`)

/** The folders with packages that modules here may come from. */
function packageFolders(): string[] {
  const found: string[] = []
  for (let at = folder; ; at = dirname(at)) {
    const packages = join(at, 'node_modules')
    if (existsSync(packages)) found.push(packages, realpathSync(packages))
    if (existsSync(join(at, 'package.json'))) found.push(join(at, 'package.json'))
    if (dirname(at) === at) return [...new Set(found)]
  }
}

/** Whether a command of the system works. */
const works = (...[command, args]: [string, string[]]): Promise<boolean> =>
  new Promise(resolve => execFile(command, args, { timeout: 5000 }, error => resolve(!error)))

let commands: Promise<{ shell: boolean; nice: boolean; unshare: boolean; prlimit: boolean }> | undefined

/** What the system has for keeping a process within bounds. Asked once. */
function available() {
  commands ??= (async () => {
    const [shell, nice, unshare, prlimit] = await Promise.all([
      works('/bin/sh', ['-c', 'ulimit -t 60']),
      works('nice', ['-n', '1', 'true']),
      // Not in most containers, where the process still has nothing that connects to others.
      works('unshare', ['--net', '--map-root-user', 'true']),
      works('prlimit', ['--version']),
    ])
    return { shell, nice, unshare, prlimit }
  })()
  return commands
}

/** The command line of a process that may read these folders only. */
async function commandOf(readable: string[]): Promise<[string, string[]]> {
  const { shell, nice, unshare } = await available()
  const allowed = [folder, ...packageFolders(), ...readable]
  const node = [
    process.execPath,
    ...['--permission', '--allow-addons', ...allowed.map(path => `--allow-fs-read=${path}`)],
    ...[`--max-old-space-size=${HEAP}`, '--max-semi-space-size=4', '--no-warnings', '--disable-proto=delete'],
    program,
  ]
  const words = [
    ...(unshare ? ['unshare', '--net', '--map-root-user'] : []),
    ...(nice ? ['nice', '-n', '15'] : []),
    ...node,
  ]
  if (!shell) return [words[0] ?? process.execPath, words.slice(1)]
  // Where memory is short, the system ends one of these rather than the service.
  const limits = `echo 900 2>/dev/null >/proc/self/oom_score_adj; ulimit -c 0; ulimit -t ${PROCESSOR_SECONDS}; exec "$@"`
  return ['/bin/sh', ['-c', limits, 'sh', ...words]]
}

/** Bytes of memory that a process holds now, of which kind; undefined where the system does not tell. */
function memoryOf(pid: number): { resident: number; data: number } | undefined {
  try {
    const [, resident = 0, , , , data = 0] = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ').map(Number)
    return { resident: resident * PAGE, data: data * PAGE }
  } catch {
    return undefined
  }
}

export interface Child {
  readonly pid: number
  /** Does one job. It ends with the process at the latest. */
  run(task: Task): Promise<Ended>
  /** Whether it can do further jobs. */
  readonly isFit: boolean
  end(): void
}

/**
 * Starts a process for jobs, at low priority, without a network where the system allows that, which may read only some folders, and has
 * nothing of the environment. It ends when its service does.
 * @throws if it does not start
 */
export async function startChild(readable: string[]): Promise<Child> {
  const [command, args] = await commandOf(readable)
  const child = spawn(command, args, {
    cwd: '/',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', MALLOC_ARENA_MAX: '2', UV_THREADPOOL_SIZE: '2' },
    stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
  })
  const jobs = jobsOf(child)
  const ready = await jobs.begin(START_MS, 0)
  if (!ready.ok) {
    jobs.kill('crashed')
    throw new Error('A process for previews could not be started.')
  }
  const pid = child.pid ?? 0
  const before = memoryOf(pid)
  // Exact and at once, where looking again and again may come too late: an allocation beyond it fails.
  if (before && (await available()).prlimit)
    await works('prlimit', ['--pid', `${pid}`, `--data=${before.data + MEMORY - before.resident - MARGIN}`])
  return {
    pid,
    run: task => jobs.begin(task.bounds.ms, task.bounds.outputBytes, task),
    get isFit() {
      return jobs.isAlive && (memoryOf(pid)?.resident ?? 0) < MEMORY / 2
    },
    end: () => jobs.kill('crashed'),
  }
}

/** The conversation with a process: one job at a time. */
export function jobsOf(child: ChildProcess) {
  const [input, , , output] = child.stdio
  const reader = frameReader<AnswerHead>(said => {
    const head = answerHead.parse(said)
    return head.ok ? head.outputs : []
  })
  let current: { bound: number; end: (ended: Ended) => void } | undefined
  let isAlive = true

  function kill(reason: FailureReason): void {
    isAlive = false
    child.kill('SIGKILL')
    current?.end({ ok: false, reason })
  }

  output?.on('data', (chunk: Buffer) => {
    // What it says without being asked is no answer.
    if (!current) return kill('crashed')
    try {
      const answer = reader.add(chunk, current.bound)
      if (answer) current.end(endedOf(answer.head, answer.bytes))
    } catch (error) {
      // Thrown from here, it would end the service.
      kill(error instanceof BadFrame ? 'too-large' : 'crashed')
    }
  })
  // It is dealt with at the end of the process.
  for (const stream of [input, output]) stream?.on('error', () => {})
  child.on('error', () => kill('crashed'))
  child.on('exit', () => kill('crashed'))
  child.unref()

  return {
    kill,
    get isAlive() {
      return isAlive
    },

    /** Sends a job, if there is one, and waits for the next answer: for so long, within so many bytes. */
    begin(ms: number, bound: number, task?: Task): Promise<Ended> {
      return new Promise(resolve => {
        if (!isAlive) return resolve({ ok: false, reason: 'crashed' })
        const watch = setInterval(() => {
          if ((memoryOf(child.pid ?? 0)?.resident ?? 0) > MEMORY - MARGIN) kill('memory')
        }, WATCH_MS)
        const limit = setTimeout(() => kill('time'), ms)
        current = {
          bound,
          end: ended => {
            clearInterval(watch)
            clearTimeout(limit)
            current = undefined
            resolve(ended)
          },
        }
        if (task) for (const part of frame(task)) input && 'write' in input && input.write(part)
      })
    },
  }
}

function endedOf(head: AnswerHead, outputs: Buffer[]): Ended {
  return head.ok ? { ok: true, value: head.value, outputs } : head
}
