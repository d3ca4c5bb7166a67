import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { openDatabase } from '../../db/index.ts'
import { type BuiltService, startBuilt } from '../support/built-service.ts'
import { type Person, rest, signInTo, startApp, type TestApp } from '../support/harness.ts'
import { hasMariadb, type OwnMariadb, startMariadb } from '../support/own-mariadb.ts'
import { until } from '../support/until.ts'

declare const engine: 'sqlite' | 'mysql'
const onSqlite = engine === 'sqlite' ? describe : describe.skip
// In CI, where everything must be installed, nothing is skipped.
const onMariadb =
  engine === 'mysql' && (hasMariadb || process.env.CI === 'true') ? describe : describe.skip

let n = 0
const createFolder = (who: Person) =>
  who.rest('POST', '/api/folders', { json: { path: `folder-${n++}` } })

/** Expects that REST and GraphQL report an unavailable database, with a Retry-After. */
async function expectRefusedWrites(alice: Person): Promise<void> {
  const answer = await createFolder(alice)
  expect(answer).toMatchObject({ status: 503, response: { code: 'UNAVAILABLE' } })
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  const { code, errors } = await alice.graphql(
    'mutation ($path: String!) { createFolder(input: { at: { path: $path } }) { folder { id } } }',
    { path: `folder-${n++}` },
  )
  expect([code, errors]).toEqual(['UNAVAILABLE', expect.anything()])
}

async function expectReady(url: string, status: number): Promise<void> {
  const answer = await until(async () => {
    const answer = await rest(url, 'GET', '/readyz')
    return answer.status === status && answer
  })
  const ready = status === 200
  // A disk that refuses writes refuses blobs as well.
  const blobs = ready ? 'ok' : expect.stringMatching(/^(ok|unavailable)$/)
  expect(answer).toMatchObject({
    response: { database: ready ? 'ok' : 'unavailable', blob_store: blobs },
  })
  if (!ready) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
}

async function expectServing(t: TestApp, alice: Person): Promise<void> {
  expect((await createFolder(alice)).status).toBe(200)
  await expectReady(t.url, 200)
}

onMariadb('A MariaDB server', () => {
  let server: OwnMariadb
  let t: TestApp
  let alice: Person

  beforeAll(async () => {
    server = await startMariadb()
    t = await startApp({ DATABASE_URL: server.url })
    alice = await t.signIn('alice')
    await expectServing(t, alice)
  })
  afterEach(async () => {
    await server.admin.query('SET GLOBAL read_only = OFF, GLOBAL max_prepared_stmt_count = 16382')
  })
  afterAll(async () => {
    await t?.stop()
    await server?.stop()
  })

  it('that is read-only is unavailable for writes and in /readyz, until it is writable again', async () => {
    await server.admin.query('SET GLOBAL read_only = ON')
    await expectReady(t.url, 503)
    await expectRefusedWrites(alice)
    expect((await alice.rest('GET', '/api/files/tree')).status).toBe(200)
    await server.admin.query('SET GLOBAL read_only = OFF')
    await expectServing(t, alice)
  })

  it('with a killed statement is unavailable to that request only', async () => {
    const [[bucket]] = (await server.admin.query(
      'SELECT id FROM satchel.bucket WHERE user_id = ?',
      [alice.userId],
    )) as unknown as [[{ id: string }]]
    await server.admin.query('START TRANSACTION')
    await server.admin.query('SELECT id FROM satchel.bucket WHERE id = ? FOR UPDATE', [bucket.id])
    try {
      const waiting = createFolder(alice)
      const id = await until(async () => {
        const [rows] = (await server.admin.query(
          "SELECT id FROM information_schema.processlist WHERE user = 'satchel' AND info LIKE '%bucket%' AND command <> 'Sleep'",
        )) as unknown as [{ id: number }[]]
        return rows[0]?.id
      })
      await server.admin.query(`KILL QUERY ${id}`)
      const answer = await waiting
      expect(answer).toMatchObject({ status: 503, response: { code: 'UNAVAILABLE' } })
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    } finally {
      await server.admin.query('ROLLBACK')
    }
    await expectServing(t, alice)
  })

  it('without free prepared statements is queried in text', async () => {
    await server.admin.query('SET GLOBAL max_prepared_stmt_count = 0')
    // Another app has connections without prepared statements.
    const other = await startApp({ DATABASE_URL: server.url })
    try {
      const bob = await other.signIn("o'bob")
      expect((await bob.upload(`it's 100%, isn't it.txt`, 'bytes')).status).toBe(200)
      const { response } = await bob.rest('GET', '/api/files/tree')
      expect(response.files).toEqual([
        expect.objectContaining({ name: `it's 100%, isn't it.txt`, size: 5 }),
      ])
      await expectServing(other, bob)
      const [[{ Value: used }]] = (await server.admin.query(
        "SHOW GLOBAL STATUS LIKE 'Com_stmt_prepare'",
      )) as unknown as [[{ Value: string }]]
      expect(Number(used)).toBeGreaterThan(0)
    } finally {
      await other.stop()
    }
    await expectServing(t, alice)
  })
})

onSqlite('A SQLite database', () => {
  it('that is read-only is unavailable for writes and in /readyz, until it is writable again', async () => {
    const t = await startApp()
    try {
      const alice = await t.signIn('alice')
      await expectServing(t, alice)
      // Statements outside a transaction use the connection of the writer.
      await t.app.db.run('PRAGMA query_only = ON')
      await expectReady(t.url, 503)
      await expectRefusedWrites(alice)
      expect((await alice.rest('GET', '/api/files/tree')).status).toBe(200)
      await t.app.db.run('PRAGMA query_only = OFF')
      await expectServing(t, alice)
    } finally {
      await t.stop()
    }
  })

  describe('on a disk that refuses writes', () => {
    let dir: string
    let service: BuiltService
    let alice: Person

    const limitFiles = (bytes: string) =>
      execFileSync('prlimit', ['--pid', String(service.pid), `--fsize=${bytes}:`])

    beforeAll(async () => {
      dir = mkdtempSync(join(tmpdir(), 'satchel-faults-'))
      service = await startBuilt({
        DATA_DIR: dir,
      })
      const db = openDatabase({ dialect: 'sqlite', file: join(dir, 'satchel.sqlite') }, { pool: 1 })
      alice = await signInTo(db, service.url, 'alice')
      await db.close()
      expect((await createFolder(alice)).status).toBe(200)
    })
    afterAll(async () => {
      await service?.end('SIGKILL')
      rmSync(dir, { recursive: true, force: true })
    })

    it('is unavailable for writes and in /readyz', async () => {
      limitFiles('0')
      await expectRefusedWrites(alice)
      await expectReady(service.url, 503)
      expect((await alice.rest('GET', '/api/files/tree')).status).toBe(200)
      limitFiles('unlimited')
      await expectReady(service.url, 200)
      expect((await createFolder(alice)).status).toBe(200)
    })
  })
})
