import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { expectConsistent } from '../support/consistency.ts'
import { type FlakyProxy, startFlakyProxy } from '../support/flaky-proxy.ts'
import { newDatabase, type Person, rest, startApp, type TestApp } from '../support/harness.ts'
import { mysqlServer } from '../support/mysql.ts'
import {
  CREATE_FOLDER,
  expectRecovery,
  expectUnavailable,
  expectUnavailableByGraphql,
  expectUnready,
  folderAt,
  folderInput,
  halfUpload,
  inParts,
  isStaged,
  LIMIT,
  PART,
  timed,
  UPLOAD,
} from '../support/outages.ts'
import { gateOf, type StoreGate } from '../support/store-gate.ts'
import { eventually, until } from '../support/until.ts'

declare const engine: 'sqlite' | 'mysql'

const MiB = 1024 * 1024

const onMysql = engine === 'mysql' ? describe : describe.skip
const onSqlite = engine === 'sqlite' ? describe : describe.skip
// The engine affects neither the store nor Redis, so one run is enough.
const withRedis = process.env.TEST_REDIS_URL ? onSqlite : describe.skip

onMysql('A MySQL server', () => {
  let t: TestApp
  let gate: StoreGate
  let alice: Person
  let proxy: FlakyProxy
  let drop: () => Promise<void>

  beforeAll(async () => {
    const server = new URL(mysqlServer())
    proxy = await startFlakyProxy({ host: server.hostname, port: Number(server.port || 3306) })
    const database = await newDatabase()
    drop = database.drop
    const url = new URL(database.url)
    url.host = `127.0.0.1:${proxy.port}`
    t = await startApp({
      DATABASE_URL: url.href,
      LEASE_SECONDS: '2',
      UPLOAD_PART_BYTES: String(PART),
      // Tests block the store of one worker.
      WORKERS: '1',
    })
    gate = gateOf(t.app.store)
    alice = await t.signIn('alice')
  })
  afterAll(async () => {
    await proxy.heal()
    await t.stop()
    await proxy.close()
    await drop()
  })

  const deaths: [string, () => unknown][] = [
    ['refuses connections', () => proxy.refuse()],
    ['stops responding', () => proxy.freeze()],
  ]

  describe.each(deaths)('that %s', (_how, die) => {
    it('is a 503 by REST and GraphQL for reads, writes and uploads, quickly, and then recovers', async () => {
      await alice.rest('GET', '/api/files/tree')
      await die()
      await Promise.all([
        expectUnready(t, 'database'),
        expectUnavailable(alice.rest('GET', '/api/files/tree')),
        expectUnavailable(folderAt(alice, 'never')),
        expectUnavailable(alice.upload('never.txt', 'never')),
        expectUnavailable(alice.upload('never-large', randomBytes(9 * MiB))),
        expectUnavailableByGraphql(alice.graphql('{ me { email } }')),
        expectUnavailableByGraphql(alice.graphql(CREATE_FOLDER, folderInput('never'))),
        expectUnavailableByGraphql(
          alice.graphql(UPLOAD, { input: { file: null } }, new File(['never'], 'never.txt')),
        ),
      ])
      await proxy.heal()
      await expectRecovery(t, alice)
      await expectConsistent(t)
    })

    it('is a 503 for many requests at once, including those that wait for a connection', async () => {
      await Promise.all(Array.from({ length: 10 }, () => alice.rest('GET', '/api/files/tree')))
      await die()
      await Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          expectUnavailable(
            n % 2 ? alice.rest('GET', '/api/user/data') : folderAt(alice, `never-${n}`),
          ),
        ),
      )
      await proxy.heal()
      await expectRecovery(t, alice)
    })

    it('is a 503 for a multipart upload, which resumes afterwards', async () => {
      const [upload, whole] = [await inParts(t, alice), await inParts(t, alice)]
      for (const n of [2, 3]) await whole.part(n)
      let dead = false
      // Kills the database during the completion, after the parts were read.
      gate.interfere = async asked => {
        if (dead || asked !== 'describe') return
        dead = true
        await die()
      }
      await expectUnavailable(whole.complete())
      await Promise.all([expectUnavailable(upload.part(2)), expectUnavailable(upload.complete())])
      await proxy.heal()
      await expectRecovery(t, alice)
      await upload.resume()
      await until(
        async () =>
          (await t.app.db.rows('SELECT id FROM upload_session WHERE claim_until > ?', [Date.now()]))
            .length === 0,
      )
      await whole.finish()
    })

    it('is a 503 for an upload in progress, which leaves nothing behind', async () => {
      const upload = await halfUpload(t, alice, 'never-half', randomBytes(12 * MiB))
      await until(isStaged(t))
      await die()
      await upload.rest()
      const { answer, ms } = await timed(upload.answer())
      expect([answer?.status, answer?.response.code]).toEqual([503, 'UNAVAILABLE'])
      expect(ms).toBeLessThan(LIMIT)
      await proxy.heal()
      await expectRecovery(t, alice)
      await eventually(() => expectConsistent(t))
      const { response } = await alice.rest('GET', '/api/files/tree')
      expect(response.files).toEqual([])
    })
  })

  it('that loses its connections in the middle of uploads leaves complete files or none', async () => {
    const names = Array.from({ length: 40 }, (_, n) => `cut/${n}`)
    const answers = names.map(name => alice.upload(name, `bytes of ${name}`))
    for (let n = 0; n < 6; n++) {
      await sleep(15)
      proxy.cut()
    }
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    expect(statuses.filter(status => status !== 200 && status !== 503)).toEqual([])
    await expectRecovery(t, alice)
    const { response } = await alice.rest('GET', '/api/files/tree?path=cut')
    const there: string[] = response.files.map((f: { name: string }) => f.name)
    expect(there).toEqual(expect.arrayContaining(names.filter((_, n) => statuses[n] === 200)))
    await eventually(() => expectConsistent(t))
  })

  it('that locks the row of a storage area for too long is a 503, and delays no one else', async () => {
    const bob = await t.signIn('bob')
    await t.app.db
      .transaction(async tx => {
        await t.app.db.rows(
          'SELECT id FROM bucket WHERE user_id = ? FOR UPDATE',
          [alice.userId],
          tx,
        )
        const other = timed(bob.upload('at-once', 'x'))
        await expectUnavailable(folderAt(alice, 'waits'))
        expect((await other).answer.status).toBe(200)
        expect((await other).ms).toBeLessThan(3000)
      })
      .catch(() => {})
    expect((await folderAt(alice, 'waits')).status).toBe(200)
  })
})

/** Starts another process that locks a SQLite file for writing. */
async function lockElsewhere(path: string): Promise<() => Promise<void>> {
  const program = `
    const { DatabaseSync } = require('node:sqlite')
    new DatabaseSync(${JSON.stringify(path)}).exec('BEGIN EXCLUSIVE')
    console.log('locked')
    process.stdin.on('end', () => process.exit()).resume()`
  const child = spawn(process.execPath, ['-e', program], { stdio: ['pipe', 'pipe', 'inherit'] })
  const gone = once(child, 'exit')
  const [said] = await once(child.stdout, 'data')
  expect(String(said).trim()).toBe('locked')
  return async () => {
    child.stdin.end()
    await gone
  }
}

onSqlite('A SQLite file', () => {
  let t: TestApp
  let alice: Person
  let path: string
  let drop: () => Promise<void>
  let release = async () => {}

  beforeAll(async () => {
    const database = await newDatabase()
    drop = database.drop
    path = database.url.slice('sqlite:'.length)
    t = await startApp({
      DATABASE_URL: database.url,
      LEASE_SECONDS: '2',
      UPLOAD_PART_BYTES: String(PART),
    })
    alice = await t.signIn('alice')
  })
  afterEach(() => release())
  afterAll(async () => {
    await t.stop()
    await drop()
  })

  it('locked by another process is a 503 for writes, quickly; reads work, and writes recover', async () => {
    await alice.upload('before.txt', 'before')
    release = await lockElsewhere(path)
    const writes = [
      ...Array.from({ length: 20 }, (_, n) => expectUnavailable(folderAt(alice, `never-${n}`))),
      expectUnavailable(alice.upload('never.txt', 'never')),
      expectUnavailable(alice.upload('never-large', randomBytes(9 * MiB))),
      expectUnavailableByGraphql(alice.graphql(CREATE_FOLDER, folderInput('never'))),
      expectUnavailableByGraphql(
        alice.graphql(UPLOAD, { input: { file: null } }, new File(['never'], 'never.txt')),
      ),
      expectUnready(t, 'database'),
    ]
    await until(() => t.app.gateway.running >= 10)
    for (let n = 0; n < 20; n++) {
      const { answer, ms } = await timed(alice.rest('GET', '/api/files/tree'))
      expect(answer.response.files).toHaveLength(1)
      expect(ms).toBeLessThan(3000)
      await sleep(50)
    }
    await Promise.all(writes)
    await release()
    await expectRecovery(t, alice)
    await expectConsistent(t)
  })

  it('that is full refuses writes with NO_SPACE, serves reads, and recovers', async () => {
    await alice.upload('first.txt', 'first')
    const upload = await inParts(t, alice)
    const setSize = (pages: number) => t.app.db.run(`PRAGMA max_page_count = ${pages}`)
    await setSize(1)
    try {
      // Half-empty pages have room for some more rows.
      let made = 0
      while ((await folderAt(alice, `made-${made}`)).status === 200) made += 1
      await Promise.all([
        expectUnavailable(folderAt(alice, 'x'.repeat(200)), 'NO_SPACE'),
        expectUnavailable(alice.upload(`${'y'.repeat(200)}.txt`, 'never'), 'NO_SPACE'),
        expectUnavailableByGraphql(
          alice.graphql(CREATE_FOLDER, folderInput('z'.repeat(200))),
          'NO_SPACE',
        ),
      ])
      const { folders } = (await alice.rest('GET', '/api/files/tree')).response
      expect(folders.filter((name: string) => name.startsWith('made-'))).toHaveLength(made)
      expect(folders.filter((name: string) => name.length >= 200)).toEqual([])
    } finally {
      await setSize(2 ** 30)
    }
    await upload.resume()
  })

  it('locked by another process is a 503 for a multipart upload, which resumes afterwards', async () => {
    const upload = await inParts(t, alice)
    release = await lockElsewhere(path)
    await Promise.all([expectUnavailable(upload.part(2)), expectUnavailable(upload.complete())])
    await release()
    // The store may have these parts although the database does not. Sending them again does no
    // harm.
    for (const n of [2, 3]) expect((await upload.part(n)).status).toBe(200)
    await upload.finish()
  })

  it('locked briefly by another process only delays requests', async () => {
    release = await lockElsewhere(path)
    const writes = Array.from({ length: 10 }, (_, n) => folderAt(alice, `waited-${n}`))
    await sleep(1500)
    await release()
    expect((await Promise.all(writes)).map(({ status }) => status)).toEqual(Array(10).fill(200))
    await expectConsistent(t)
  })
})

withRedis('A Redis', () => {
  let proxy: FlakyProxy
  let t: TestApp
  let alice: Person

  beforeAll(async () => {
    const { hostname, port } = new URL(process.env.TEST_REDIS_URL ?? '')
    proxy = await startFlakyProxy({ host: hostname, port: Number(port || 6379) })
    t = await startApp({ REDIS_URL: `redis://127.0.0.1:${proxy.port}` })
    alice = await t.signIn('alice')
    await alice.upload('secret.txt', 'secret')
  })
  afterAll(async () => {
    await t.stop()
    await proxy.close()
  })

  it.each([
    ['refuses connections', () => proxy.refuse()],
    ['stops responding', () => proxy.freeze()],
  ])('that %s does not affect requests', async (_how, die) => {
    const json = { object: 'secret.txt', password: 'open sesame' }
    const { response } = await alice.rest('POST', '/api/files/quick_share', { json })
    const guess = (password: string) =>
      rest(t.url, 'POST', `/api/share/resolve/${response.sharing_token}`, { json: { password } })
    expect((await guess('open sesame')).status).toBe(200)
    await die()
    const wrong = await timed(guess('wrong'))
    expect([wrong.answer.status, wrong.answer.response.code]).toEqual([403, 'WRONG_PASSWORD'])
    const right = await timed(guess('open sesame'))
    expect(right.answer.status).toBe(200)
    expect(wrong.ms + right.ms).toBeLessThan(8000)
    expect((await rest(t.url, 'GET', '/readyz')).status).toBe(200)
    await proxy.heal()
    expect((await guess('open sesame')).status).toBe(200)
  })
})
