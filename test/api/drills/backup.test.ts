import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Db, openDatabase } from '../../../db/index.ts'
import { readConfig } from '../../../src/config/config.ts'
import { type BuiltService, startBuilt } from '../../support/built-service.ts'
import { blocksOf } from '../../support/docs.ts'
import { newDatabase, type Person, signInTo } from '../../support/harness.ts'

declare const engine: 'sqlite' | 'mysql'

const hasTools = ['mysqldump', 'mysql'].every(tool => {
  try {
    execFileSync(tool, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})
const onSqlite = engine === 'sqlite' ? describe : describe.skip
// In CI, where every program must be installed, nothing is skipped.
const onMysql =
  engine === 'mysql' && (hasTools || process.env.CI === 'true') ? describe : describe.skip

/** The commands of docs/operate.md, in order. */
const [packAll = '', unpackAll = '', dump = '', load = ''] = blocksOf(
  'docs/operate.md',
  '### Without the command',
).map(({ text }) => text)

let home: string
let database: { url: string; drop(): Promise<void> }
let settings: Record<string, string>
let service: BuiltService | undefined
let files: Map<string, Buffer>

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'satchel-backup-'))
  mkdirSync(join(home, 'data'))
  // The operator's view: a folder with the program, and `data` in it.
  for (const name of ['package.json', 'node_modules', 'src', 'db', 'schema'])
    symlinkSync(resolve(name), join(home, name))
  database = engine === 'mysql' ? await newDatabase() : { url: '', drop: async () => {} }
  settings = { DATA_DIR: join(home, 'data'), DATABASE_URL: database.url }
  files = new Map([
    ['small.txt', Buffer.from('hello')],
    ['deep/down/large.bin', randomBytes(9 * 1024 * 1024 + 7)],
    ['empty', Buffer.alloc(0)],
  ])
})
afterAll(async () => {
  await service?.end('SIGKILL')
  await database.drop()
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
})

/** Runs commands as documented, but starts the doctor without building the service again. */
async function run(commands: string, environment: Record<string, string> = {}): Promise<string> {
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', commands], {
    cwd: home,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home,
      npm_config_ignore_scripts: 'true',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [shell.stdout, shell.stderr])
    stream.on('data', chunk => {
      said += chunk
    })
  const [code] = await once(shell, 'close')
  expect({ commands, code, said }).toMatchObject({ code: 0 })
  return said
}

/** Opens the database beside the service. */
async function beside<T>(work: (db: Db) => Promise<T>): Promise<T> {
  const db = openDatabase(readConfig(settings).database, { pool: 2 })
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

async function start(): Promise<{ url: string; alice: Person }> {
  service = await startBuilt(settings)
  const { url } = service
  return { url, alice: await beside(db => signInTo(db, url, 'alice')) }
}

async function stop(): Promise<void> {
  await service?.end('SIGTERM')
  service = undefined
}

/** Creates data for alice. Returns her and one of her links. */
async function fill(): Promise<{ alice: Person; token: string }> {
  const { alice } = await start()
  for (const [path, bytes] of files) expect((await alice.upload(path, bytes)).status).toBe(200)
  const { response } = await alice.rest('POST', '/api/files/quick_share', {
    json: { object: 'small.txt' },
  })
  return { alice, token: response.sharing_token }
}

/** Expects all of alice's data, byte for byte, and her link, which is derived from the secret. */
async function expectAllBack(token: string): Promise<void> {
  const { url, alice } = await start()
  for (const [path, bytes] of files) {
    const { response } = await alice.rest('POST', `/api/user/private/download_token?file=${path}`)
    const { headers } = await alice.rest('GET', `/api/d/private/${response.private_download_token}`)
    const got = Buffer.from(await (await fetch(headers.get('location') ?? '')).arrayBuffer())
    expect([path, got.equals(bytes)]).toEqual([path, true])
  }
  expect(await (await fetch(`${url}/api/d/${token}`)).text()).toBe('hello')
  expect((await alice.upload('afterwards.txt', 'it goes on')).status).toBe(200)
  await stop()
}

onSqlite('A backup of the embedded defaults', () => {
  it('restores everything destroyed since, with the commands of docs/operate.md', async () => {
    const { token } = await fill()
    await stop()
    await run(packAll)

    const { alice } = await start()
    await alice.rest('DELETE', '/api/folders?path=deep&recursive=true')
    await alice.upload('later.txt', 'later')
    await stop()
    for (const name of readdirSync(join(home, 'data')))
      if (name !== 'blobs') rmSync(join(home, 'data', name), { recursive: true })
    expect(await run(unpackAll)).toContain('All is well.')
    await expectAllBack(token)
  })
})

onMysql('A backup of MySQL or MariaDB', () => {
  it('restores everything destroyed since, with the commands of docs/operate.md', async () => {
    const { alice, token } = await fill()
    const { hostname, port, username, password, pathname } = new URL(database.url)
    // The first line of the commands contains the parts of DATABASE_URL.
    const parts = `host=${hostname} port=${port || 3306} user=${username} database=${pathname.slice(1)}`
    expect(dump).toMatch(/^host=\S+ port=\S+ user=\S+ database=\S+\n/)
    const secret = { MYSQL_PWD: decodeURIComponent(password), DATABASE_URL: database.url }
    await run(dump.replace(/^.*\n/, `${parts}\n`), secret)
    // Uploaded after the dump and before the blobs are copied: the store has the object, but the
    // database does not know it.
    await alice.upload('between.txt', 'between')
    await stop()
    await run('tar -czf blobs.tar.gz data')

    rmSync(join(home, 'data'), { recursive: true })
    await beside(db => db.run('DROP TABLE outbox'))
    await run('tar -xzf blobs.tar.gz')
    expect(await run(`${parts}\n${load}`, secret)).toContain('All is well.')
    // A young object may belong to an upload in progress. Without the grace period the doctor finds
    // it and removes it.
    const repaired = await run('npm run doctor -- --grace 0 --repair', secret)
    expect(repaired).toMatch(
      /object-unknown \S+ \(repaired\).*1 difference found, 1 repaired.*All is well\./s,
    )
    await expectAllBack(token)
  })
})
