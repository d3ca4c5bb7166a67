import { createHash, randomBytes } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { openDatabase } from '../../../db/index.ts'
import { readConfig } from '../../../src/config/config.ts'
import { startBuilt } from '../../support/built-service.ts'
import { ended, openWarmShell, type Shell } from '../../support/command-line.ts'
import { type FlakyProxy, startFlakyProxy } from '../../support/flaky-proxy.ts'
import { freePort } from '../../support/free-port.ts'
import {
  newDatabase,
  type Person,
  signInTo,
  startApp,
  type TestApp,
} from '../../support/harness.ts'
import { until } from '../../support/until.ts'

declare const engine: 'sqlite' | 'mysql'

const KiB = 1024
const MiB = 1024 * KiB
const PART = 256 * KiB
/** Too large for one request. */
const SIZE = 10 * MiB + 17
const PARTS = Math.ceil(SIZE / PART)

let t: TestApp
let alice: Person
let shell: Shell
/** The proxy between the command and the service. */
let wire: FlakyProxy
let bytes: Buffer
/** The parts that the service has logged in the lines read so far. */
let counted: { counts: Map<string, number>; lines: number }

const secretOf = ({ cookie }: Person) => cookie.replace('session_id=', '')
const md5 = (data: Uint8Array) => createHash('md5').update(data).digest('hex')

beforeAll(async () => {
  t = await startApp({ UPLOAD_PART_BYTES: String(PART) })
  alice = await t.signIn('alice')
  await alice.rest('POST', '/api/workspaces/create', { json: { name: 'Garden' } })
  const { hostname, port } = new URL(t.url)
  wire = await startFlakyProxy({ host: hostname, port: Number(port) })
})
afterAll(async () => {
  await wire?.close()
  await t.stop()
})

beforeEach(() => {
  shell = openWarmShell({
    SATCHEL_URL: `http://127.0.0.1:${wire.port}`,
    SATCHEL_SESSION: secretOf(alice),
  })
  bytes = randomBytes(SIZE)
  writeFileSync(join(shell.home, 'big.bin'), bytes)
  counted = { counts: new Map(), lines: t.logged() }
})
afterEach(async () => {
  await wire.heal()
  shell.close()
})

interface Line {
  method?: string
  path?: string
  status?: number
  /** The client disconnected before the response. */
  cut?: boolean
}

/** Counts how often the service has acknowledged each part in its logs, added to earlier counts. */
function acknowledged(logs: string, counts = new Map<string, number>()): Map<string, number> {
  for (const line of logs.split('\n')) {
    if (!/^\{.*"PUT".*\/parts\//.test(line)) continue
    const { method, path = '', status, cut } = JSON.parse(line) as Line
    // A part whose sender disconnected before the response may have to be sent again.
    if (method === 'PUT' && status === 200 && /\/uploads\/.+\/parts\//.test(path))
      counts.set(path, (counts.get(path) ?? 0) + (cut ? 0 : 1))
  }
  return counts
}

/** Callers poll this function, so each line is read only once. */
function since(): Map<string, number> {
  const { counts, lines } = counted
  counted.lines = t.logged()
  return acknowledged(t.logs(lines), counts)
}
const twice = (counts: Map<string, number>) => [...counts].filter(([, count]) => count > 1)

/** State files below the home. Lock files remain, and are empty. */
function states(): string[] {
  const folder = join(shell.home, 'state/satchel/uploads')
  return existsSync(folder) ? readdirSync(folder).filter(name => !name.endsWith('.lock')) : []
}

/** Starts to upload the file, and sends the command a signal once this many parts have arrived. */
async function putUntil(parts: number, signal: NodeJS.Signals, args: string[] = []) {
  const child = shell.begin(['put', 'big.bin', '--parallel', '2', ...args])
  const done = ended(child)
  await until(() => since().size >= parts || child.exitCode !== null)
  child.kill(signal)
  return done
}

const stored = async (path: string) => (await shell.json('ls', path)).files[0]

let n = 0
const box = () => `box-${n++}`

describe('satchel put of a large file', () => {
  it.each(['', 'garden:/'])(
    'sends every part once, and leaves nothing behind: into %j',
    async place => {
      const to = place + box()
      const { files } = await shell.json('put', 'big.bin', '--to', to)
      expect(files).toEqual([
        {
          source: 'big.bin',
          path: `${place || '/'}${to.slice(place.length)}/big.bin`,
          size: SIZE,
          md5_checksum: md5(bytes),
          status: 'uploaded',
        },
      ])
      expect((await stored(`${to}/big.bin`)).md5_checksum).toBe(md5(bytes))
      expect([since().size, twice(since()), states()]).toEqual([PARTS, [], []])
      // Uploading the same file sends nothing, and a name taken by another entry is a conflict.
      expect((await shell.json('put', 'big.bin', '--to', to)).files).toMatchObject([
        { status: 'unchanged' },
      ])
      appendFileSync(join(shell.home, 'big.bin'), 'x')
      expect(await shell.refused('put', 'big.bin', '--to', to)).toMatchObject({
        code: 5,
        error: { code: 'PATH_EXISTS' },
      })
      expect(since().size).toBe(PARTS)
    },
  )

  it('resumes after Ctrl-C, and reports it', async () => {
    const to = box()
    const { code, out, err } = await putUntil(5, 'SIGINT', ['--to', to])
    expect([code, out, err]).toEqual([
      130,
      '',
      'error: Interrupted. Run the same command to resume. (INTERRUPTED)\n',
    ])
    const [state = '', ...more] = states()
    expect(more).toEqual([])
    const folder = join(shell.home, 'state/satchel/uploads')
    expect([statSync(folder).mode & 0o777, statSync(join(folder, state)).mode & 0o777]).toEqual([
      0o700, 0o600,
    ])
    expect(readFileSync(join(folder, state), 'utf8')).not.toContain(secretOf(alice))
    expect((await shell.json('put', 'big.bin', '--to', to)).files).toMatchObject([
      { status: 'uploaded' },
    ])
    expect((await stored(`${to}/big.bin`)).md5_checksum).toBe(md5(bytes))
    expect([since().size, twice(since()), states()]).toEqual([PARTS, [], []])
  })

  it('resumes after every kill', async () => {
    const to = box()
    for (const parts of [1, 9, 20, 30]) await putUntil(parts, 'SIGKILL', ['--to', to])
    await shell.json('put', 'big.bin', '--to', to)
    expect((await stored(`${to}/big.bin`)).md5_checksum).toBe(md5(bytes))
    expect([since().size, twice(since()), states()]).toEqual([PARTS, [], []])
  })

  it('resumes when the connection breaks', async () => {
    const to = box()
    const child = shell.begin(['put', 'big.bin', '--to', to, '--parallel', '2'])
    const done = ended(child)
    for (const parts of [3, 13, 23, 33]) {
      await until(() => since().size >= parts || child.exitCode !== null)
      wire.cut()
    }
    expect((await done).code).toBe(0)
    expect((await stored(`${to}/big.bin`)).md5_checksum).toBe(md5(bytes))
    expect(since().size).toBe(PARTS)
  })

  it('starts over when the file has changed, and releases its reservation', async () => {
    const to = box()
    await putUntil(5, 'SIGKILL', ['--to', to])
    bytes = randomBytes(SIZE - 5)
    writeFileSync(join(shell.home, 'big.bin'), bytes)
    await shell.json('put', 'big.bin', '--to', to)
    expect((await stored(`${to}/big.bin`)).md5_checksum).toBe(md5(bytes))
    const staged = await t.app.db.rows("SELECT id FROM blobs WHERE state = 'staged'")
    expect([staged, states()]).toEqual([[], []])
  })

  it('exits with 5 when its name is taken meanwhile; another name needs no new transfer', async () => {
    const to = box()
    await putUntil(PARTS - 3, 'SIGKILL', ['--to', to])
    await alice.upload(`${to}/big.bin`, 'something else')
    const refused = await shell.refused('put', 'big.bin', '--to', to)
    expect(refused).toMatchObject({
      code: 5,
      error: { code: 'PATH_EXISTS', message: expect.stringContaining('--name') },
    })
    const before = since().size
    await shell.json('put', 'big.bin', '--to', to, '--name', 'other.bin')
    expect((await stored(`${to}/other.bin`)).md5_checksum).toBe(md5(bytes))
    expect([since().size, twice(since()), states()]).toEqual([Math.max(before, PARTS), [], []])
  })

  it('starts over when the service has forgotten the upload', async () => {
    const to = box()
    await putUntil(3, 'SIGKILL', ['--to', to])
    await t.app.db.run("UPDATE blobs SET lease_until = 0 WHERE state = 'staged'")
    await shell.json('put', 'big.bin', '--to', to)
    expect((await stored(`${to}/big.bin`)).md5_checksum).toBe(md5(bytes))
    await t.settle()
  })

  /** Starts to upload the file, and pauses the command when some parts have arrived. */
  async function held(to: string) {
    const child = shell.begin(['put', 'big.bin', '--to', to, '--parallel', '1'])
    const done = ended(child)
    await until(() => since().size >= 3 || child.exitCode !== null)
    child.kill('SIGSTOP')
    return { child, done }
  }

  it('exits with 5 while another satchel uploads the same file', async () => {
    const to = box()
    const { child, done } = await held(to)
    for (const other of [to, box()])
      expect(await shell.refused('put', 'big.bin', '--to', other)).toMatchObject({
        code: 5,
        error: {
          code: 'UPLOAD_BUSY',
          pid: child.pid,
          message: expect.stringContaining(`process ${child.pid}`),
        },
      })
    child.kill('SIGCONT')
    expect(await done).toEqual({ code: 0, out: `/${to}/big.bin\n`, err: '' })
    expect((await stored(`${to}/big.bin`)).md5_checksum).toBe(md5(bytes))
    expect((await shell.json('put', 'big.bin', '--to', to)).files).toMatchObject([
      { status: 'unchanged' },
    ])
    expect([twice(since()), states()]).toEqual([[], []])
  })

  it('takes over the lock of a dead satchel', async () => {
    const to = box()
    const { child, done } = await held(to)
    child.kill('SIGKILL')
    await done
    expect(states().filter(name => name.endsWith('.lock.holder'))).toHaveLength(1)
    expect((await shell.json('put', 'big.bin', '--to', to)).files).toMatchObject([
      { status: 'uploaded' },
    ])
    expect((await stored(`${to}/big.bin`)).md5_checksum).toBe(md5(bytes))
    expect([twice(since()), states()]).toEqual([[], []])
  })

  it('of two that start together one succeeds, and the other is busy or follows', async () => {
    const to = box()
    const both = await Promise.all([0, 1].map(() => shell.satchel(['put', 'big.bin', '--to', to])))
    const codes = both.map(({ code }) => code)
    expect(codes).toContain(0)
    expect([0, 5]).toEqual(expect.arrayContaining(codes))
    expect((await stored(`${to}/big.bin`)).md5_checksum).toBe(md5(bytes))
    expect([since().size, twice(since()), states()]).toEqual([PARTS, [], []])
  })

  it('uploads one after the other when one command names a file twice', async () => {
    const to = box()
    symlinkSync('big.bin', join(shell.home, 'link.bin'))
    expect((await shell.json('put', 'big.bin', 'link.bin', '--to', to)).files).toHaveLength(2)
    for (const name of ['big.bin', 'link.bin'])
      expect((await stored(`${to}/${name}`)).md5_checksum).toBe(md5(bytes))
    expect(states()).toEqual([])
  })

  it('starts over when the upload was cancelled elsewhere', async () => {
    const to = box()
    const { child, done } = await held(to)
    const [state = ''] = states().filter(name => name.endsWith('.json'))
    const { uploadId } = JSON.parse(
      readFileSync(join(shell.home, 'state/satchel/uploads', state), 'utf8'),
    )
    expect((await alice.rest('DELETE', `/api/files/uploads/${uploadId}`)).status).toBe(200)
    child.kill('SIGCONT')
    expect(await done).toEqual({ code: 0, out: `/${to}/big.bin\n`, err: '' })
    expect((await stored(`${to}/big.bin`)).md5_checksum).toBe(md5(bytes))
    expect(states()).toEqual([])
  })

  it('sends a part again that was corrupted on the network', async () => {
    const flipping = await startFlippingProxy(wire.port, 400_000)
    const to = box()
    const { code } = await shell.satchel(['put', 'big.bin', '--to', to, '--parallel', '1'], {
      env: { SATCHEL_URL: `http://127.0.0.1:${flipping.port}` },
    })
    expect([code, flipping.flips()]).toEqual([0, 1])
    expect(twice(since()).map(([, count]) => count)).toEqual([2])
    expect((await stored(`${to}/big.bin`)).md5_checksum).toBe(md5(bytes))
    flipping.server.close()
  })

  it('resumes among other files in a folder', async () => {
    const to = box()
    writeFileSync(join(shell.home, 'small.txt'), 'small')
    const { code } = await putUntil(5, 'SIGINT', ['small.txt', '--to', to])
    expect(code).toBe(130)
    const { files } = await shell.json('put', 'big.bin', 'small.txt', '--to', to)
    expect(files.map((f: { source: string }) => f.source).sort()).toEqual(['big.bin', 'small.txt'])
    expect(twice(since())).toEqual([])
  })

  it('exits with 6 over the quota before anything is sent', async () => {
    await t.limit({ maxFileSizeBytes: SIZE - 1 })
    expect(await shell.refused('put', 'big.bin', '--to', box())).toMatchObject({
      code: 6,
      error: { code: 'FILE_TOO_LARGE' },
    })
    await t.limit({ maxFileSizeBytes: 2 * 1024 * MiB })
    expect([since().size, states()]).toEqual([0, []])
  })
})

describe('satchel put of standard input', () => {
  it.each<[string, string, string]>([
    ['FILE_TOO_LARGE', '', 'maxFileSizeBytes'],
    ['QUOTA_EXCEEDED', '', 'maxTotalStorageBytes'],
    ['QUOTA_EXCEEDED', 'garden:/', 'maxTotalStorageBytesWorkspace'],
  ])(
    'exits with 6 %s as soon as the bytes pass the limit, even if more follow: into "%s"',
    async (code, place, limit) => {
      const { used_bytes: used = 0 } = await shell.json('quota')
      const { total_bytes: usedThere } = await shell.json('quota', 'garden')
      const max = SIZE + (limit === 'maxTotalStorageBytes' ? used : place ? usedThere : 0)
      await t.limit({ [limit]: max })
      const child = shell.begin(['put', '-', '--name', 'in.bin', '--to', place, '--json'])
      const done = ended(child)
      child.stdin.on('error', () => {})
      // The input never ends.
      child.stdin.write(Buffer.alloc(SIZE + 1))
      const { code: exit, err } = await done
      await t.limit({ [limit]: (limit === 'maxFileSizeBytes' ? 2048 : 5 * 1024) * MiB })
      expect([exit, JSON.parse(err).error]).toEqual([6, expect.objectContaining({ code, max })])
      expect(await shell.refused('ls', `${place}in.bin`)).toMatchObject({ code: 4 })
    },
  )
})

describe('A service that is killed', () => {
  it('during an upload, and restarts, receives every part once', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'satchel-cli-kill-'))
    const database = engine === 'mysql' ? await newDatabase() : { url: '', drop: async () => {} }
    const settings = {
      DATA_DIR: dataDir,
      DATABASE_URL: database.url,
      PORT: String(await freePort()),
      UPLOAD_PART_BYTES: String(PART),
      LEASE_SECONDS: '2',
      LOG_LEVEL: 'info',
    }
    let said = ''
    let service = await startBuilt(settings)
    const db = openDatabase(readConfig(settings).database, { pool: 2 })
    const env = {
      SATCHEL_URL: service.url,
      SATCHEL_SESSION: secretOf(await signInTo(db, service.url, 'alice')),
    }
    for (let round = 0, code: number | null = -1; code !== 0; round++) {
      const child = shell.begin(['put', 'big.bin', '--parallel', '2', '--retries', '3'], { env })
      const done = ended(child)
      // Waits longer in every round, so that the test terminates.
      await sleep(100 + round * 150 + Math.random() * 300)
      if (child.exitCode === null) {
        if (round % 2) child.kill('SIGKILL')
        else {
          await service.end('SIGKILL')
          said += service.said()
          service = await startBuilt(settings)
        }
      }
      code = (await done).code
    }
    said += service.said()
    const { out } = await shell.satchel(['get', 'big.bin', '-o', 'back.bin', '--json'], { env })
    expect(JSON.parse(out).files).toMatchObject([{ size: SIZE, md5_checksum: md5(bytes) }])
    expect(readFileSync(join(shell.home, 'back.bin')).equals(bytes)).toBe(true)
    expect(acknowledged(said).size).toBeGreaterThan(PARTS / 2)
    expect([twice(acknowledged(said)), states()]).toEqual([[], []])
    const [usage] = await db.rows<{ bytes: number; files: number }>(
      'SELECT used_bytes AS bytes, used_files AS files FROM bucket WHERE used_files > 0',
    )
    expect(usage).toEqual({ bytes: SIZE, files: 1 })
    await db.close()
    await service.end('SIGTERM')
    await database.drop()
    rmSync(dataDir, { recursive: true, force: true })
  })
})

/** A proxy that flips one bit of the first connection that carries this many bytes. */
async function startFlippingProxy(
  port: number,
  at: number,
): Promise<{ server: Server; port: number; flips(): number }> {
  let flips = 0
  const server = createServer(client => {
    const upstream = connect(port, '127.0.0.1')
    let passed = 0
    client.on('data', (chunk: Buffer) => {
      if (flips === 0 && passed <= at && passed + chunk.length > at) {
        chunk[at - passed] = (chunk[at - passed] ?? 0) ^ 1
        flips++
      }
      passed += chunk.length
      upstream.write(chunk)
    })
    upstream.on('data', chunk => client.write(chunk))
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => {})
      one.on('close', () => other.destroy())
    }
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  return {
    server,
    port: typeof address === 'object' && address ? address.port : 0,
    flips: () => flips,
  }
}
