/**
 * Shared by the benchmarks: the service as a child process on its own database, and a signed-in
 * person.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Db, openDatabase } from '../../db/index.ts'
import { migrate } from '../../db/migrate.ts'
import { readConfig } from '../../src/config/config.ts'
import { accountService } from '../../src/services/accounts/account.ts'
import { sessionService } from '../../src/services/accounts/session.ts'
import { newMysql } from '../support/mysql.ts'

export const MiB = 1024 * 1024

const here = dirname(fileURLToPath(import.meta.url))
const main = join(here, '../../src/main.ts')

export interface Bench {
  url: string
  cookie: string
  /** Signs the person in again. @returns the cookie */
  newSession(): Promise<string>
  db: Db
  databaseUrl: string
  userId: string
  bucketId: string
  rootId: string
  /** Removes the service, its database and its blobs. */
  dir: string
  /** Resident memory of the service, in MiB. */
  resident(): number
  /** Peak resident memory since the last reset. */
  peak(): number
  resetPeak(): void
  pid: number | undefined
  stop(): Promise<void>
}

/** @param engine mysql at MYSQL_URL (or the standard port of this machine), or sqlite */
export async function startService(
  engine: 'mysql' | 'sqlite',
  settings: Record<string, string> = {},
): Promise<Bench> {
  const dir = mkdtempSync(join(tmpdir(), 'satchel-bench-'))
  const { url: databaseUrl, drop } =
    engine === 'mysql'
      ? await newMysql(process.env.MYSQL_URL || 'mysql://root@127.0.0.1:3306')
      : { url: `sqlite:${join(dir, 'bench.sqlite')}`, drop: async () => {} }
  const db = openDatabase(readConfig({ DATABASE_URL: databaseUrl }).database, { pool: 4 })
  await migrate(db)
  const { userId } = await accountService({ db }).signIn(
    {
      provider: 'bench',
      providerUserId: '1',
      email: 'bench@example.com',
      emailVerified: true,
      name: 'Bench',
      givenName: '',
      familyName: '',
      picture: '',
      locale: '',
    },
    null,
  )
  await db.Plan.update(
    {
      maxFileSizeBytes: 2 ** 43,
      maxTotalStorageBytes: 2 ** 43,
      maxFiles: null,
      maxFolders: null,
      maxPublicLinks: null,
    },
    { where: { id: 'free' } },
  )
  const sessions = sessionService({ db, sessionSeconds: 86_400 })
  const newSession = async () => `session_id=${(await sessions.start(userId)).secret}`
  const cookie = await newSession()
  const [bucket] = await db.rows<{ id: string; rootId: string }>(
    'SELECT id, root_id AS rootId FROM bucket WHERE user_id = ?',
    [userId],
  )
  if (!bucket) throw new Error('The account has no bucket.')

  const child = spawn(process.execPath, [main], {
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      DATA_DIR: dir,
      DATABASE_URL: databaseUrl,
      SECRET_KEY: randomBytes(32).toString('hex'),
      LOG_LEVEL: 'warn',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  process.once('exit', () => child.kill('SIGKILL'))
  const url = await firstMatch(child, /Satchel is up at (\S+)/)
  const status = (field: string) =>
    Number(
      new RegExp(`${field}:\\s+(\\d+) kB`).exec(
        readFileSync(`/proc/${child.pid}/status`, 'utf8'),
      )?.[1],
    ) / 1024

  return {
    url,
    cookie,
    newSession,
    db,
    databaseUrl,
    userId,
    bucketId: bucket.id,
    rootId: bucket.rootId,
    dir,
    resident: () => status('VmRSS'),
    peak: () => status('VmHWM'),
    resetPeak: () => {
      // 5 resets the high-water mark: proc(5), clear_refs.
      spawn('sh', ['-c', `echo 5 > /proc/${child.pid}/clear_refs`])
    },
    pid: child.pid,
    async stop() {
      child.kill('SIGTERM')
      await new Promise(resolve => child.once('exit', resolve))
      await db.close()
      await drop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

export function firstMatch(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = ''
    const read = (chunk: Buffer) => {
      output += chunk
      const found = pattern.exec(output)?.[1]
      if (!found) return
      child.stdout?.off('data', read).resume()
      resolve(found)
    }
    child.stdout?.on('data', read)
    child.once('exit', code => reject(new Error(`The service ended with ${code}: ${output}`)))
  })
}

/**
 * Processor time of a process in milliseconds: proc(5), stat, fields 14 and 15 in ticks of 10 ms,
 * after the name in brackets.
 */
export function processorOf(pid = 0): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

export const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
