import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'

/**
 * Processes load what one of them has compiled: most of the time of a short one. `npm start` sets
 * the same.
 */
export const COMPILED = { NODE_COMPILE_CACHE: resolve('node_modules/.cache/node') }

/** The service as an operator runs it: a process of its own, started as `npm start` starts it. */
export interface BuiltService {
  url: string
  pid: number
  /** Sends a signal and waits for the end; answers the exit code, or the signal that ended it. */
  end(signal: NodeJS.Signals): Promise<number | string>
  /** Everything it has said. */
  said(): string
}

/**
 * Where a program of the service is: its source, or for `.ci/run` what bundle.mjs has made of it.
 */
const programPath = (name: string) => {
  const { TEST_BUNDLE } = process.env
  return TEST_BUNDLE ? resolve(TEST_BUNDLE, name.replace('.ts', '.mjs')) : resolve('src', name)
}

/** Nothing of this environment configures it, nor a .env file of this folder. */
export function launch(
  program: string,
  args: string[],
  settings: Record<string, string>,
  cwd = settings.DATA_DIR,
): ChildProcess {
  // In the bundle, the libraries are no longer packages, of whose use of `url.parse` Node.js says
  // nothing.
  const quiet = process.env.TEST_BUNDLE ? ['--disable-warning=DEP0169'] : []
  return spawn(process.execPath, [...quiet, programPath(program), ...args], {
    cwd,
    // Each text would start a process of its own; test/search-kill.test.ts has them.
    env: { ...COMPILED, PATH: process.env.PATH ?? '', SEARCH_CONTENTS: 'off', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** @param settings DATA_DIR must be there, and exist */
export async function startBuilt(settings: Record<string, string>): Promise<BuiltService> {
  const child = launch('main.ts', [], { PORT: '0', LOG_LEVEL: 'warn', ...settings })
  let said = ''
  const ended = once(child, 'exit')
  const url = await new Promise<string>((ready, failed) => {
    for (const stream of [child.stdout, child.stderr])
      if (stream)
        createInterface(stream).on('line', line => {
          said += `${line}\n`
          const port = /Satchel is up at http:\/\/localhost:(\d+)/.exec(line)?.[1]
          if (port) ready(`http://127.0.0.1:${port}`)
        })
    child.once('exit', code => failed(new Error(`The service ended with ${code}:\n${said}`)))
  })
  return {
    url,
    pid: child.pid ?? 0,
    async end(signal) {
      child.kill(signal)
      const [code, by] = await ended
      return code ?? by
    },
    said: () => said,
  }
}

/**
 * Runs a program of the service to its end.
 * @param cwd needed where DATA_DIR is no folder
 */
export async function runBuilt(
  program: string,
  args: string[],
  settings: Record<string, string>,
  cwd?: string,
): Promise<{ code: number; out: string; err: string }> {
  const child = launch(program, args, settings, cwd)
  const texts = { out: '', err: '' }
  child.stdout?.on('data', chunk => {
    texts.out += chunk
  })
  child.stderr?.on('data', chunk => {
    texts.err += chunk
  })
  const [code] = await once(child, 'close')
  return { code, ...texts }
}
