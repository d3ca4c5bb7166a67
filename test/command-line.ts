import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { COMPILED } from './built-service.ts'

export const program = resolve('src/cli/main.ts')

export interface Ended {
  code: number | null
  out: string
  err: string
}

export interface Options {
  /** What is typed into it. */
  stdin?: string | Uint8Array
  env?: Record<string, string>
  cwd?: string
}

/** A person at a computer of their own: an empty home, and nothing of this environment. */
export interface Shell {
  home: string
  env: Record<string, string>
  /** Runs satchel to its end. */
  satchel(args: string[], options?: Options): Promise<Ended>
  /** Begins it. */
  begin(args: string[], options?: Options): ChildProcessWithoutNullStreams
  /** What it says with --json; it must be the one document on stdout, and nothing on stderr. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  json(...args: string[]): Promise<any>
  /** What it says of a failure with --json, and its exit code. */
  refused(...args: string[]): Promise<{
    code: number | null
    error: { code: string; message: string; exit_code: number } & Record<string, unknown>
  }>
  close(): void
}

export function openShell(settings: Record<string, string> = {}): Shell {
  const home = mkdtempSync(join(tmpdir(), 'satchel-home-'))
  const env = {
    ...COMPILED,
    PATH: process.env.PATH ?? '',
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_STATE_HOME: join(home, 'state'),
    ...settings,
  }
  const begin: Shell['begin'] = (args, { env: more, cwd = home } = {}) =>
    spawn(process.execPath, [program, ...args], { cwd, env: { ...env, ...more } })

  const satchel: Shell['satchel'] = async (args, options = {}) => {
    const child = begin(args, options)
    // Whoever reads no input may be gone before it comes.
    child.stdin.on('error', () => {})
    child.stdin.end(options.stdin ?? '')
    return ended(child)
  }

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
      if (code !== 0 || err !== '') throw new Error(`satchel ${args.join(' ')} ends with ${code}: ${err}`)
      return parse(out)
    },
    async refused(...args) {
      const { code, out, err } = await satchel(['--json', ...args])
      if (out !== '') throw new Error(`satchel ${args.join(' ')} says ${out}`)
      return { code, error: parse(err).error }
    },
    close: () => rmSync(home, { recursive: true, force: true }),
  }
}

/** The end of a process, and all it has said. */
export async function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const [out, err]: [Buffer[], Buffer[]] = [[], []]
  child.stdout.on('data', chunk => out.push(chunk))
  child.stderr.on('data', chunk => err.push(chunk))
  const [code] = await once(child, 'close')
  return { code, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() }
}
