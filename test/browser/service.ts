import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBuilt } from '../built-service.ts'
import { startFlakyProxy } from '../flaky-proxy.ts'
import { freePort } from '../free-port.ts'
import { copySqlite } from '../templates.ts'

export interface Service {
  /** Its public address, on localhost. */
  url: string
  /** Where everything embedded is. */
  dataDir: string
  /** Kills it. */
  kill(): Promise<void>
  /** Kills it, and starts it again on the same port, with other settings if there are some. */
  restart(others?: Record<string, string>): Promise<void>
  /** For its clients the same as a kill, if it is behind a proxy: connections break, and new ones are refused. */
  disconnect(): Promise<void>
  /** Lets clients reach it again. */
  connect(): Promise<void>
  /** Starts it again where it was killed, or runs with other settings, and lets clients reach it. */
  revive(): Promise<void>
  stop(): Promise<void>
}

const dataDirs = new Map<string, string>()

/** The word that the embedded sign-in of a service asks the next new browser for. */
export const wordOf = (url: string): string =>
  readFileSync(join(dataDirs.get(url) ?? '', 'sign-in-word'), 'utf8').trim()

/**
 * The service as a newcomer starts it: nothing configured but a free port and a folder of its own. Only the tables are there.
 * @param behind `proxy` for outages without an end of the service: each start takes a second of processor time
 */
export async function startService(given: Record<string, string> = {}, behind?: 'proxy'): Promise<Service> {
  const proxy = behind && (await startFlakyProxy({ host: '127.0.0.1', port: await freePort() }))
  const ofProxy = proxy && { PORT: String(proxy.target.port), PUBLIC_URL: `http://localhost:${proxy.port}` }
  const settings = { ...given, ...ofProxy }
  const dataDir = mkdtempSync(join(tmpdir(), 'satchel-browser-'))
  // A benchmark has no template.
  if (process.env.TEST_TEMPLATES) copySqlite(join(dataDir, 'satchel.sqlite'))
  let built = await startBuilt({ DATA_DIR: dataDir, ...settings })
  const url = built.url.replace('127.0.0.1', 'localhost')
  const { PORT = new URL(url).port } = ofProxy ?? {}
  dataDirs.set(url, dataDir)
  let isAsBegun = true
  async function restart(others: Record<string, string> = {}) {
    await built.end('SIGKILL')
    built = await startBuilt({ DATA_DIR: dataDir, ...settings, ...others, PORT })
    isAsBegun = Object.keys(others).length === 0
    await connect()
  }
  const connect = async () => void (await proxy?.heal())
  return {
    url,
    dataDir,
    async kill() {
      isAsBegun = false
      await proxy?.refuse()
      await built.end('SIGKILL')
    },
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
      await proxy?.close()
      await built.end('SIGTERM')
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
