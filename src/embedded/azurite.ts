import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { program } from './azurite-child.ts'
import { readOrMakeSecret } from './secrets.ts'

/** A running blob store of this machine. */
export interface Azurite {
  /** What AZURE_STORAGE_CONNECTION_STRING would hold, with the random key of this folder. */
  connectionString: string
  dir: string
  /** Of the child; another one after it has been started again. */
  readonly pid: number | undefined
  /** Saves everything and ends the process; resolves when it is gone. Calling it again is harmless. */
  stop(): Promise<void>
}

const account = 'satchel'
/** Milliseconds before a dead child is started again: doubled each time, until one lives longer than the longest. */
const firstPause = 100
const longestPause = 5000
/** Milliseconds that the child has for saving. */
const stopLimit = 15_000
/** Where others who may read the folder find the one that holds it. */
const connectionFile = 'connection'
/** The port of last time. */
const portFile = 'port'
const require = createRequire(import.meta.url)

/**
 * Runs Azurite's blob service in a child process on loopback, its data in `dir`. Resolves when it answers.
 * A child that dies is started again on the same port. It never outlives this process.
 * @throws Error when it cannot be started: the folder is in use, the port is taken
 */
export async function startAzurite(options: {
  dir: string
  /** 0: the port of last time, because addresses that were signed then name it; any other when that is taken. */
  port: number
  /** Told of every end that stop() did not ask for. */
  onExit?: (code: number | null) => void
  log?: (line: string) => void
}): Promise<Azurite> {
  const dir = resolve(options.dir)
  await mkdir(dir, { recursive: true, mode: 0o700 })
  // The well-known key would let any page that this machine shows read and write here.
  const key = Buffer.from(await readOrMakeSecret(join(dir, 'account.key'))).toString('base64')
  const folders = ['azurite', 'sqlite3'].map(name => dirname(require.resolve(`${name}/package.json`)))
  let child: ChildProcess
  let stopped: Promise<void> | undefined
  let lastWords = ''
  let pause = firstPause

  /** Resolves to the port when the child answers; an end after that is mended by `revive`. */
  const launch = (port: number) =>
    new Promise<number>((ready, failed) => {
      let upSince = 0
      child = spawn(process.execPath, ['-e', program, ...folders, String(port)], {
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
      child.on('error', failed)
      child.once('message', message => {
        upSince = Date.now()
        ready(Number(message))
      })
      child.once('exit', code => {
        if (!upSince) failed(new Error(`Azurite could not be started in ${dir}: ${lastWords || `exit code ${code}`}`))
        else if (!stopped) {
          if (Date.now() - upSince > longestPause) pause = firstPause
          options.onExit?.(code)
          revive()
        }
      })
    })

  const revive = async () => {
    await sleep(pause)
    pause = Math.min(2 * pause, longestPause)
    if (stopped) return
    try {
      await launch(port)
    } catch (error) {
      options.log?.(String(error))
      revive()
    }
  }

  const end = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise(done => child.once('exit', done))
    const hurry = setTimeout(() => child.kill('SIGKILL'), stopLimit)
    if (child.connected) child.disconnect()
    await gone
    clearTimeout(hurry)
    await rm(join(dir, connectionFile), { force: true })
  }

  const before = options.port ? 0 : await readPort(join(dir, portFile))
  const port = await launch(options.port || before).catch(error => {
    if (!before || !lastWords.includes('EADDRINUSE')) throw error
    return launch(0)
  })
  await writeFile(join(dir, portFile), String(port), { mode: 0o600 })
  const connectionString = `DefaultEndpointsProtocol=http;AccountName=${account};AccountKey=${key};BlobEndpoint=http://127.0.0.1:${port}/${account};`
  await writeFile(join(dir, connectionFile), connectionString, { mode: 0o600 })
  return {
    connectionString,
    dir,
    get pid() {
      return child.pid
    },
    stop() {
      stopped ??= end()
      return stopped
    },
  }
}

async function readPort(file: string): Promise<number> {
  const port = Number(await readFile(file, 'utf8').catch(() => ''))
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : 0
}

/** The connection string of whoever serves this folder, or has served it until it was killed; undefined when nobody does. */
export async function readConnection(dir: string): Promise<string | undefined> {
  return readFile(join(resolve(dir), connectionFile), 'utf8').catch(() => undefined)
}
