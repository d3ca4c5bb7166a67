import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'

/**
 * A shared compile cache: compiling takes most of the time of a short process. `npm start` sets the
 * same.
 */
export const COMPILED = { NODE_COMPILE_CACHE: resolve('node_modules/.cache/node') }

/** The service as an operator runs it: a separate process, started like `npm start`. */
export interface BuiltService {
  url: string
  pid: number
  /**
   * Sends a signal and waits for the exit. Returns the exit code, or the signal that killed the
   * process.
   */
  end(signal: NodeJS.Signals): Promise<number | string>
  /** All output so far. */
  said(): string
}

/** The path of a program of the service: its source, or in `.ci/run` the bundle of bundle.mjs. */
const programPath = (name: string) => {
  const { TEST_BUNDLE } = process.env
  return TEST_BUNDLE ? resolve(TEST_BUNDLE, name.replace('.ts', '.mjs')) : resolve('src', name)
}

/** Keeps this environment and the .env file of this folder out of its configuration. */
export function launch(
  program: string,
  args: string[],
  settings: Record<string, string>,
  cwd = settings.DATA_DIR,
): ChildProcess {
  // Bundled libraries are no longer packages, so Node.js would warn about their use of `url.parse`.
  const quiet = process.env.TEST_BUNDLE ? ['--disable-warning=DEP0169'] : []
  return spawn(process.execPath, [...quiet, programPath(program), ...args], {
    cwd,
    // Indexing each text would start another process. test/mariadb/search-kill.test.ts covers that.
    env: { ...COMPILED, PATH: process.env.PATH ?? '', SEARCH_CONTENTS: 'off', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** @param settings must contain DATA_DIR, an existing folder */
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
 * Runs a program of the service until it exits.
 * @param cwd required when DATA_DIR is not a folder
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
