import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { startBuilt } from '../support/built-service.ts'
import { until } from '../support/until.ts'

/** In MiB. Without a garbage collection after the start, the service keeps 230 or more. */
const MOST = 215

it('A service that has just started releases the memory of its start', async () => {
  const DATA_DIR = mkdtempSync(join(tmpdir(), 'satchel-idle-'))
  const service = await startBuilt({ DATA_DIR })
  try {
    const memory = () =>
      Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))?.[1]) /
      1024
    await until(() => memory() < MOST, 30_000, 100)
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  } finally {
    await service.end('SIGKILL')
    rmSync(DATA_DIR, { recursive: true, force: true })
  }
})
