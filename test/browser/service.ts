import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBuilt } from '../built-service.ts'
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
  /** Starts it again where it was killed, or runs with other settings. */
  revive(): Promise<void>
  stop(): Promise<void>
}

const dataDirs = new Map<string, string>()

/** The word that the embedded sign-in of a service asks the next new browser for. */
export const wordOf = (url: string): string =>
  readFileSync(join(dataDirs.get(url) ?? '', 'sign-in-word'), 'utf8').trim()

/** The service as a newcomer starts it: nothing configured but a free port and a folder of its own. Only the tables are there. */
export async function startService(settings: Record<string, string> = {}): Promise<Service> {
  const dataDir = mkdtempSync(join(tmpdir(), 'satchel-browser-'))
  // A benchmark has no template.
  if (process.env.TEST_TEMPLATES) copySqlite(join(dataDir, 'satchel.sqlite'))
  let built = await startBuilt({ DATA_DIR: dataDir, ...settings })
  const url = built.url.replace('127.0.0.1', 'localhost')
  dataDirs.set(url, dataDir)
  let isAsBegun = true
  async function restart(others: Record<string, string> = {}) {
    const { port } = new URL(url)
    await built.end('SIGKILL')
    built = await startBuilt({ DATA_DIR: dataDir, ...settings, ...others, PORT: port })
    isAsBegun = Object.keys(others).length === 0
  }
  return {
    url,
    dataDir,
    async kill() {
      isAsBegun = false
      await built.end('SIGKILL')
    },
    restart,
    async revive() {
      if (!isAsBegun) await restart()
    },
    async stop() {
      await built.end('SIGTERM')
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
