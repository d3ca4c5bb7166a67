import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../../src/app.ts'
import { readConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/runtime/log.ts'
import { mountSignIn } from '../../src/sign-in/embedded/mount.ts'
import { readOrMakeSecret } from '../../src/sign-in/embedded/secrets.ts'
import { type BuiltService, startBuilt } from '../support/built-service.ts'
import { startFlakyProxy } from '../support/flaky-proxy.ts'
import { freePort } from '../support/free-port.ts'
import { copySqlite } from '../support/templates.ts'

export interface Service {
  /** Its public URL, on localhost. */
  url: string
  /** URL without a proxy, for the embedded parts. */
  dataDir: string
  /** Kills the process, if there is one. */
  kill(): Promise<void>
  /**
   * Kills the process, if there is one, and restarts it on the same port, optionally with other
   * settings.
   */
  restart(others?: Record<string, string>): Promise<void>
  /**
   * Simulates a kill for clients, if it is behind a proxy: breaks connections and refuses new ones.
   */
  disconnect(): Promise<void>
  /** Lets clients connect again. */
  connect(): Promise<void>
  /** Restarts it after a kill or with other settings, and lets clients connect. */
  revive(): Promise<void>
  stop(): Promise<void>
}

const dataDirs = new Map<string, string>()

/** The setup word that the embedded sign-in asks of the next new browser. */
export const wordOf = (url: string): string =>
  readFileSync(join(dataDirs.get(url) ?? '', 'sign-in-word'), 'utf8').trim()

/** How a service runs. */
export interface Running {
  /**
   * Starts a separate process. Loading and compiling take two seconds of CPU time, which this
   * process has already spent for earlier tests.
   */
  process?: boolean
  /** Puts a proxy in front, for `disconnect`. */
  proxied?: boolean
}

type Started = Pick<BuiltService, 'url' | 'end'>

/** Does the work of src/main.ts in this process. */
async function startHere(
  settings: Record<string, string> & { DATA_DIR: string },
): Promise<Started> {
  const config = readConfig({ PORT: '0', LOG_LEVEL: 'warn', ...settings })
  const log = createLog(config, { write() {} })
  const { dataDir } = config
  const secretKey = await readOrMakeSecret(join(dataDir, 'secret.key'))
  const embeddedSignIn = (publicUrl: string) => mountSignIn({ publicUrl, secretKey, dataDir, log })
  const app = await createApp({ ...config, secretKey }, { log, embeddedSignIn })
  const url = await app.start()
  return {
    url,
    async end(signal) {
      if (signal !== 'SIGTERM') throw new Error('This service is no process.')
      await app.stop()
      return 0
    },
  }
}

/**
 * The service with default settings, except for a free port and a folder of its own. Only the
 * tables exist already.
 */
export async function startService(
  given: Record<string, string> = {},
  running: Running = {},
): Promise<Service> {
  const proxy =
    running.proxied && (await startFlakyProxy({ host: '127.0.0.1', port: await freePort() }))
  const ofProxy = proxy
    ? { PORT: String(proxy.target.port), PUBLIC_URL: `http://localhost:${proxy.port}` }
    : undefined
  const dataDir = mkdtempSync(join(tmpdir(), 'satchel-browser-'))
  const settings = { DATA_DIR: dataDir, ...given, ...ofProxy }
  // Benchmarks have no template database.
  if (process.env.TEST_TEMPLATES) copySqlite(join(dataDir, 'satchel.sqlite'))
  let started: Started = await (running.process ? startBuilt(settings) : startHere(settings))
  const url = started.url.replace('127.0.0.1', 'localhost')
  const { PORT = new URL(url).port } = ofProxy ?? {}
  dataDirs.set(url, dataDir)
  let isAsBegun = true
  async function kill() {
    isAsBegun = false
    if (proxy) await proxy.refuse()
    await started.end('SIGKILL')
  }
  async function connect() {
    if (proxy) await proxy.heal()
  }
  async function restart(others: Record<string, string> = {}) {
    await kill()
    started = await startBuilt({ ...settings, ...others, PORT })
    isAsBegun = Object.keys(others).length === 0
    await connect()
  }
  return {
    url,
    dataDir,
    kill,
    restart,
    async disconnect() {
      if (!proxy) throw new Error('This service is not behind a proxy.')
      await proxy.refuse()
    },
    connect,
    async revive() {
      await connect()
      if (!isAsBegun) await restart()
    },
    async stop() {
      if (proxy) await proxy.close()
      await started.end('SIGTERM')
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
