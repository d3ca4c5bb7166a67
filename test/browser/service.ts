import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../../src/app.ts'
import { readConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/runtime/log.ts'
import { mountSignIn } from '../../src/sign-in/embedded/mount.ts'
import { readOrMakeSecret } from '../../src/sign-in/embedded/secrets.ts'
import { type BuiltService, startBuilt } from '../built-service.ts'
import { startFlakyProxy } from '../flaky-proxy.ts'
import { freePort } from '../free-port.ts'
import { copySqlite } from '../templates.ts'

export interface Service {
  /** Its public address, on localhost. */
  url: string
  /** Where everything embedded is. */
  dataDir: string
  /** Kills it, if it is a process. */
  kill(): Promise<void>
  /**
   * Kills it, if it is a process, and starts it again on the same port, with other settings if
   * there are some.
   */
  restart(others?: Record<string, string>): Promise<void>
  /**
   * For its clients the same as a kill, if it is behind a proxy: connections break, and new ones
   * are refused.
   */
  disconnect(): Promise<void>
  /** Lets clients reach it again. */
  connect(): Promise<void>
  /**
   * Starts it again where it was killed, or runs with other settings, and lets clients reach it.
   */
  revive(): Promise<void>
  stop(): Promise<void>
}

const dataDirs = new Map<string, string>()

/** The word that the embedded sign-in of a service asks the next new browser for. */
export const wordOf = (url: string): string =>
  readFileSync(join(dataDirs.get(url) ?? '', 'sign-in-word'), 'utf8').trim()

/** How a service runs. */
export interface Running {
  /**
   * In a process of its own: loading and compiling take two seconds of processor time, which this
   * process has done for the tests before.
   */
  process?: boolean
  /** Behind a proxy, for `disconnect`. */
  proxied?: boolean
}

type Started = Pick<BuiltService, 'url' | 'end'>

/** What src/main.ts does, in this process. */
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
 * The service as a newcomer starts it: nothing configured but a free port and a folder of its own.
 * Only the tables are there.
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
  // A benchmark has no template.
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
