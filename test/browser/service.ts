import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBuilt } from '../built-service.ts'

export interface Service {
  /** Its public address, on localhost. */
  url: string
  stop(): Promise<void>
}

/** The built service as a newcomer starts it: nothing configured but a free port and a folder of its own. */
export async function startService(): Promise<Service> {
  const dir = mkdtempSync(join(tmpdir(), 'satchel-browser-'))
  const built = await startBuilt({ DATA_DIR: dir })
  return {
    url: built.url.replace('127.0.0.1', 'localhost'),
    async stop() {
      await built.end('SIGTERM')
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
