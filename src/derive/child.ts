import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import {
  available,
  bounded,
  ENVIRONMENT,
  MARGIN,
  MEMORY,
  memoryOf,
  WATCH_MS,
  works,
} from './bounded.ts'
import { BadFrame, frame, frameReader } from './frame.ts'
import { type AnswerHead, type FailureReason, failureReasons, type Task } from './outcome.ts'

/** The JavaScript heap limit in MiB. */
const HEAP = 192
/** The timeout for a process to become ready. */
const START_MS = 20_000
/**
 * The CPU time limit of a process, in seconds. It stops a hanging process whose service was killed.
 */
const PROCESSOR_SECONDS = 1800

/**
 * The response of a process. A file may have taken the process over, so it is validated like any
 * untrusted input.
 */
const answerHead: z.ZodType<AnswerHead> = z.union([
  z.object({ ok: z.literal(true), value: z.unknown(), outputs: z.array(z.int().min(0)).max(16) }),
  z.object({ ok: z.literal(false), reason: z.enum(failureReasons) }),
  z.object({ ok: z.literal(false), unable: z.string().max(1000), isLasting: z.boolean() }),
])

/** The result of a job. `unable` is no failure of the file. */
export type Ended =
  | { ok: true; value: unknown; outputs: Buffer[] }
  | { ok: false; reason: FailureReason }
  | { ok: false; unable: string; isLasting: boolean }

const own = fileURLToPath(import.meta.url)
const folder = dirname(own)
/** The folders of modules that run in browsers, too. */
const shared = ['documents', 'formats'].map(name => join(dirname(folder), name))
const program = join(folder, `process${own.endsWith('.ts') ? '.ts' : '.js'}`)

/** The package folders that these modules may be loaded from. */
function packageFolders(): string[] {
  const found: string[] = []
  for (let at = folder; ; at = dirname(at)) {
    const packages = join(at, 'node_modules')
    if (existsSync(packages)) found.push(packages, realpathSync(packages))
    if (existsSync(join(at, 'package.json'))) found.push(join(at, 'package.json'))
    if (dirname(at) === at) return [...new Set(found)]
  }
}

/** The command line of a process that may read only these folders. */
function commandOf(readable: string[]): Promise<[string, string[]]> {
  const allowed = [folder, ...shared, ...packageFolders(), ...readable]
  const node = [
    process.execPath,
    ...['--permission', '--allow-addons', ...allowed.map(path => `--allow-fs-read=${path}`)],
    ...[
      `--max-old-space-size=${HEAP}`,
      '--max-semi-space-size=4',
      '--no-warnings',
      '--disable-proto=delete',
    ],
    program,
  ]
  return bounded(node, { processorSeconds: PROCESSOR_SECONDS })
}

export interface Child {
  readonly pid: number
  /** Runs one job. It ends at the latest when the process does. */
  run(task: Task): Promise<Ended>
  /** Whether the process can run further jobs. */
  readonly isFit: boolean
  end(): void
}

/**
 * Starts a process for jobs at low priority, with an empty environment and access to some folders
 * only, and without a network if the system supports that. It stops when its service does.
 * @throws if it does not start
 */
export async function startChild(readable: string[]): Promise<Child> {
  const [command, args] = await commandOf(readable)
  const child = spawn(command, args, {
    cwd: '/',
    env: { ...ENVIRONMENT, UV_THREADPOOL_SIZE: '2' },
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
  // A system limit acts at once, because an allocation beyond it fails. Polling may be too slow.
  if (before && (await available()).prlimit)
    await works('prlimit', [
      '--pid',
      `${pid}`,
      `--data=${before.data + MEMORY - before.resident - MARGIN}`,
    ])
  return {
    pid,
    run: task => jobs.begin(task.bounds.ms, task.bounds.outputBytes, task),
    get isFit() {
      return jobs.isAlive && (memoryOf(pid)?.resident ?? 0) < MEMORY / 2
    },
    end: () => jobs.kill('crashed'),
  }
}

/** Sends jobs to a process and reads its responses, one at a time. */
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
    // Unrequested output is no response.
    if (!current) return kill('crashed')
    try {
      const answer = reader.add(chunk, current.bound)
      if (answer) current.end(endedOf(answer.head, answer.bytes))
    } catch (error) {
      // An error thrown here would stop the service.
      kill(error instanceof BadFrame ? 'too-large' : 'crashed')
    }
  })
  // The exit handler of the process handles this.
  for (const stream of [input, output]) stream?.on('error', () => {})
  child.on('error', () => kill('crashed'))
  child.on('exit', () => kill('crashed'))
  child.unref()

  return {
    kill,
    get isAlive() {
      return isAlive
    },

    /** Sends a job, if given, and waits for the next response, within limits of time and size. */
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
