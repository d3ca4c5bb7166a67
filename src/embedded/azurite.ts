import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { serveBlobs } from './azurite-child.ts'

/** A running blob store of this machine. */
export interface Azurite {
  /** What AZURE_STORAGE_CONNECTION_STRING would hold, with the random key of this folder. */
  connectionString: string
  dir: string
  /** Saves everything and ends the process; resolves when it is gone. Calling it again is harmless. */
  stop(): Promise<void>
}

const account = 'satchel'
const require = createRequire(import.meta.url)

/** The key of the account, made once per folder: the well-known one would let any local page in. */
async function readKey(dir: string): Promise<string> {
  const file = join(dir, 'account.key')
  try {
    await writeFile(file, `${randomBytes(64).toString('base64')}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    await chmod(file, 0o600)
  }
  return (await readFile(file, 'utf8')).trim()
}

/**
 * Runs Azurite's blob service in a child process on loopback, its data in `dir`. Resolves when it answers.
 * A child that dies is started again on the same port. It never outlives this process.
 * @throws Error when it cannot be started: the folder is in use, the port is taken
 */
export async function startAzurite(options: {
  dir: string
  /** 0: any free port */
  port: number
  /** Told of every end that stop() did not ask for. */
  onExit?: (code: number | null) => void
  log?: (line: string) => void
}): Promise<Azurite> {
  const dir = resolve(options.dir)
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const key = await readKey(dir)
  const folders = ['azurite', 'sqlite3'].map(name => dirname(require.resolve(`${name}/package.json`)))
  let stopping = false
  let child: ChildProcess
  let lastWords = ''

  /** Resolves to the port when the child answers; onEnd is told of an end after that. */
  const launch = (port: number, onEnd: (code: number | null) => void) =>
    new Promise<number>((ready, failed) => {
      let up = false
      child = spawn(process.execPath, ['-e', `(${serveBlobs})(require)`, ...folders, String(port)], {
        cwd: dir,
        env: { AZURITE_ACCOUNTS: `${account}:${key}`, NODE_ENV: 'production' },
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
        // A group of its own: what is sent to a whole group must not end it before the parent has drained.
        detached: true,
      })
      if (child.stderr)
        createInterface(child.stderr).on('line', line => {
          lastWords = line
          options.log?.(line)
        })
      child.once('error', failed)
      child.once('message', message => {
        up = true
        ready(Number(message))
      })
      child.once('exit', code => {
        if (up) onEnd(code)
        else failed(new Error(`Azurite could not be started in ${dir}: ${lastWords || `exit code ${code}`}`))
      })
    })

  const revive = async (code: number | null) => {
    for (let wait = 100; !stopping; wait = Math.min(2 * wait, 5000)) {
      options.onExit?.(code)
      await sleep(wait)
      if (stopping) return
      try {
        await launch(port, revive)
        return
      } catch {
        code = child.exitCode
      }
    }
  }

  const port = await launch(options.port, revive)
  return {
    connectionString: `DefaultEndpointsProtocol=http;AccountName=${account};AccountKey=${key};BlobEndpoint=http://127.0.0.1:${port}/${account};`,
    dir,
    async stop() {
      if (stopping || child.exitCode !== null) return
      stopping = true
      const gone = new Promise(done => child.once('exit', done))
      const hurry = setTimeout(() => child.kill('SIGKILL'), 10_000)
      child.disconnect()
      await gone
      clearTimeout(hurry)
    },
  }
}
