import {
  type ChildProcess,
  type ChildProcessWithoutNullStreams,
  fork,
  spawn,
} from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll } from '@jest/globals'
import { COMPILED } from './built-service.ts'
import type { CommandLine, Ended } from './command-line-process.ts'

export const program = resolve('src/cli/main.ts')

export interface Options {
  /** The text on standard input. */
  stdin?: string | Uint8Array
  env?: Record<string, string>
  cwd?: string
}

/** A user's computer: an empty home, and no variables of this environment. */
export interface Shell {
  home: string
  env: Record<string, string>
  /** Runs satchel until it exits. */
  satchel(args: string[], options?: Options): Promise<Ended>
  /** Starts satchel. */
  begin(args: string[], options?: Options): ChildProcessWithoutNullStreams
  /**
   * Returns the JSON output of a command. Fails unless stdout is one document and stderr is empty.
   */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  json(...args: string[]): Promise<any>
  /** The exit code and the error that it prints with --json. */
  refused(...args: string[]): Promise<{
    code: number | null
    error: { code: string; message: string; exit_code: number } & Record<string, unknown>
  }>
  close(): void
}

/** Each command runs in its own process. */
export const openShell = (settings: Record<string, string> = {}): Shell =>
  shellOf(settings, runAlone)

/**
 * Runs command lines in processes that keep the program loaded, because loading takes most of the
 * time of a new process. Tests of exits, signals, pipes, terminals and options of Node need a
 * process of their own: `openShell`, or `begin`.
 */
export const openWarmShell = (settings: Record<string, string> = {}): Shell =>
  shellOf(settings, runWarm)

function runAlone({ stdin, ...line }: CommandLine): Promise<Ended> {
  const child = start(line)
  // A process that reads no input may exit before the input is written.
  child.stdin.on('error', () => {})
  child.stdin.end(stdin)
  return ended(child)
}

const start = ({ program, args, cwd, env }: Omit<CommandLine, 'stdin'>) =>
  spawn(process.execPath, [program, ...args], { cwd, env })

/** One process for each command that ran in parallel, until the end of the test file. */
const warm: ChildProcess[] = []
const idle: ChildProcess[] = []
afterAll(() => {
  for (const child of warm) child.kill('SIGKILL')
})

/**
 * Runs a command line of any program in a warm process. The program must not call `process.exit`.
 */
export async function runWarm(line: CommandLine): Promise<Ended> {
  if (line.env.NODE_OPTIONS) return runAlone(line)
  const child = idle.pop() ?? another(line)
  const answer = await new Promise<Ended>((answered, failed) => {
    const fail = (code: number | null) =>
      failed(new Error(`satchel ${line.args.join(' ')} ended its process with ${code}.`))
    child.once('exit', fail)
    child.once('message', message => {
      child.off('exit', fail)
      answered(message as Ended)
    })
    child.send(line)
  })
  idle.push(child)
  return answer
}

function another({ env }: CommandLine): ChildProcess {
  const child = fork(resolve('test/support/command-line-process.ts'), {
    env,
    execArgv: [],
    serialization: 'advanced',
  })
  warm.push(child)
  child.once('exit', () => idle.includes(child) && idle.splice(idle.indexOf(child), 1))
  return child
}

function shellOf(
  settings: Record<string, string>,
  run: (line: CommandLine) => Promise<Ended>,
): Shell {
  const home = mkdtempSync(join(tmpdir(), 'satchel-home-'))
  const env = {
    ...COMPILED,
    PATH: process.env.PATH ?? '',
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_STATE_HOME: join(home, 'state'),
    ...settings,
  }
  const lineOf = (args: string[], { env: more, cwd = home }: Options = {}) => ({
    program,
    args,
    cwd,
    env: { ...env, ...more },
  })
  const begin: Shell['begin'] = (args, options) => start(lineOf(args, options))
  const satchel: Shell['satchel'] = (args, options) =>
    run({ ...lineOf(args, options), stdin: options?.stdin ?? '' })

  const parse = (text: string) => {
    if (!/^[^\n]+\n$/.test(text)) throw new Error(`This is not one JSON document: ${text}`)
    return JSON.parse(text)
  }

  return {
    home,
    env,
    begin,
    satchel,
    async json(...args) {
      const { code, out, err } = await satchel(['--json', ...args])
      if (code !== 0 || err !== '')
        throw new Error(`satchel ${args.join(' ')} exited with ${code}: ${err}`)
      return parse(out)
    },
    async refused(...args) {
      const { code, out, err } = await satchel(['--json', ...args])
      if (out !== '') throw new Error(`satchel ${args.join(' ')} printed ${out}`)
      return { code, error: parse(err).error }
    },
    close: () => rmSync(home, { recursive: true, force: true }),
  }
}

/** The exit of a process, with all its output. */
export async function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const [out, err]: [Buffer[], Buffer[]] = [[], []]
  child.stdout.on('data', chunk => out.push(chunk))
  child.stderr.on('data', chunk => err.push(chunk))
  const [code] = await once(child, 'close')
  return { code, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() }
}
