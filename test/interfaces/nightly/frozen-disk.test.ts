import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { openDatabase } from '../../../db/index.ts'
import { readConfig } from '../../../src/config/config.ts'
import { type BuiltService, startBuilt } from '../../support/built-service.ts'
import { type Person, rest, signInTo } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

const run = (program: string, ...args: string[]) => execFileSync(program, args, { stdio: 'ignore' })

const dir = mkdtempSync(join(tmpdir(), 'satchel-frozen-'))
const disk = join(dir, 'disk')
let isMounted = false

/** Mounts a separate disk for the database. Requires root and a loop device. */
function mountDisk(): boolean {
  const image = join(dir, 'image')
  try {
    writeFileSync(image, '')
    truncateSync(image, 128 * 1024 * 1024)
    mkdirSync(disk)
    run('mkfs.ext4', '-q', image)
    run('mount', '-o', 'loop', image, disk)
    isMounted = true
    run('fsfreeze', '--freeze', disk)
    run('fsfreeze', '--unfreeze', disk)
    return true
  } catch {
    return false
  }
}

const canFreeze = mountDisk()
if (!canFreeze)
  process.stderr.write('NOT TESTED: a frozen disk. It needs root, fsfreeze and a loop device.\n')

const withDisk = canFreeze ? describe : describe.skip

afterAll(() => {
  if (isMounted) run('umount', disk)
  rmSync(dir, { recursive: true, force: true })
})

withDisk('A service whose disk of the database stops answering', () => {
  let service: BuiltService
  let alice: Person
  let isFrozen = false
  const freeze = () => {
    run('fsfreeze', '--freeze', disk)
    isFrozen = true
  }
  const thaw = () => {
    if (isFrozen) run('fsfreeze', '--unfreeze', disk)
    isFrozen = false
  }

  beforeAll(async () => {
    const settings = {
      DATA_DIR: dir,
      DATABASE_URL: `sqlite:${join(disk, 'satchel.sqlite')}`,
    }
    service = await startBuilt(settings)
    const db = openDatabase(readConfig(settings).database, { pool: 1 })
    try {
      alice = await signInTo(db, service.url, 'alice')
    } finally {
      await db.close()
    }
  })
  afterAll(async () => {
    thaw()
    await service.end('SIGKILL')
  })

  const makeFolder = (path: string) =>
    rest(service.url, 'POST', '/api/folders', { headers: { cookie: alice.cookie }, json: { path } })
  const timed = async (path: string) => {
    const since = performance.now()
    const { status } = await fetch(`${service.url}${path}`, {
      headers: { cookie: alice.cookie },
    })
    return { status, ms: performance.now() - since }
  }

  it('serves /healthz and reads, responds 503 on /readyz, and recovers by itself', async () => {
    expect((await makeFolder('before')).status).toBe(200)
    freeze()
    const write = makeFolder('meanwhile')
    await sleep(500)
    const healthy = await timed('/healthz')
    expect(healthy.status).toBe(200)
    expect(healthy.ms).toBeLessThan(1000)
    const list = await timed('/api/files/tree')
    expect(list.status).toBe(200)
    expect(list.ms).toBeLessThan(2000)
    const ready = await timed('/readyz')
    expect(ready.status).toBe(503)
    expect(ready.ms).toBeLessThan(3000)
    // Waits beyond the timeout of a statement.
    await sleep(9000)
    expect((await timed('/healthz')).ms).toBeLessThan(1000)
    thaw()
    await write
    await until(async () => (await timed('/readyz')).status === 200, 30_000, 200)
    expect((await makeFolder('after')).status).toBe(200)
    expect((await timed('/api/files/tree')).status).toBe(200)
  })
})
