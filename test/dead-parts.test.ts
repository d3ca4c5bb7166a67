import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { type Azurite, startAzurite } from '../src/embedded/azurite.ts'
import { expectConsistent, findingsOf } from './consistency.ts'
import { type FlakyProxy, startFlakyProxy } from './flaky-proxy.ts'
import { newDatabase, type Person, type RestAnswer, rest, startApp, type TestApp } from './harness.ts'
import { type HttpProxy, startStoreProxy, storeRequest } from './http-proxy.ts'
import { until } from './until.ts'
import { BOUNDARY, file, form, formType, head, openWire } from './wire.ts'

declare const engine: 'sqlite' | 'mysql'

const MiB = 1024 * 1024
/** Within which every answer must be there, whatever is dead. */
const LIMIT = 10_000

const onMysql = engine === 'mysql' ? describe : describe.skip
const onSqlite = engine === 'sqlite' ? describe : describe.skip
// Neither the store nor Redis knows the engine: once is enough.
const withRedis = process.env.TEST_REDIS_URL ? onSqlite : describe.skip

const CREATE_FOLDER = 'mutation ($input: CreateFolderInput!) { createFolder(input: $input) { id } }'
const UPLOAD = 'mutation ($input: UploadFileInput!) { uploadFile(input: $input) { id } }'

/** What a request came to, and how long that took. */
async function timed<T>(work: Promise<T>): Promise<{ answer: T; ms: number }> {
  const start = performance.now()
  const answer = await work
  return { answer, ms: performance.now() - start }
}

async function expectUnavailable(request: Promise<RestAnswer>): Promise<void> {
  const { answer, ms } = await timed(request)
  expect([answer.status, answer.response.code]).toEqual([503, 'UNAVAILABLE'])
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  expect(ms).toBeLessThan(LIMIT)
}

async function expectUnavailableByGraphql(request: ReturnType<Person['graphql']>): Promise<void> {
  const { answer, ms } = await timed(request)
  expect([answer.status, answer.code]).toEqual([200, 'UNAVAILABLE'])
  expect(answer.errors?.[0]?.extensions.retry_after).toBeGreaterThan(0)
  expect(ms).toBeLessThan(LIMIT)
}

/** /readyz says which part it is, /healthz does not mind. */
async function expectUnready(t: TestApp, part: 'database' | 'blob_store'): Promise<void> {
  // An answer serves others for half a second.
  await sleep(600)
  const ready = await timed(rest(t.url, 'GET', '/readyz'))
  expect(ready.answer.status).toBe(503)
  expect(ready.answer.response).toEqual({
    code: 'UNAVAILABLE',
    database: 'ok',
    blob_store: 'ok',
    [part]: 'unavailable',
  })
  expect(ready.answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  expect(ready.ms).toBeLessThan(4000)
  expect((await rest(t.url, 'GET', '/healthz')).status).toBe(200)
}

/** The service is well again within some seconds, and nobody had to do anything. */
async function expectRecovery(t: TestApp, person: Person): Promise<void> {
  const end = Date.now() + 8000
  while ((await rest(t.url, 'GET', '/readyz')).status !== 200) {
    if (Date.now() > end) throw new Error('The service did not recover.')
    await sleep(50)
  }
  const name = randomBytes(6).toString('hex')
  expect((await person.upload(`recovered/${name}`, name)).status).toBe(200)
  expect((await person.graphql(CREATE_FOLDER, { input: { path: `recovered/folder-${name}` } })).code).toBeUndefined()
  expect((await person.rest('GET', '/api/files/tree?path=recovered')).response.files.length).toBeGreaterThan(0)
}

const folderAt = (person: Person, path: string) => person.rest('POST', '/api/folders', { json: { path } })

/** An upload of which the second half is sent when the test says so. */
async function halfUpload(t: TestApp, person: Person, name: string, bytes: Uint8Array) {
  const wire = await openWire(t.url)
  const body = form([file(name, bytes)])
  const start = head(person, 'POST /api/files/upload', { 'content-type': formType, 'content-length': body.length })
  await wire.send(start)
  await wire.send(body.subarray(0, body.length / 2))
  return { rest: () => wire.send(body.subarray(body.length / 2)), answer: () => wire.answer(), boundary: BOUNDARY }
}

const PART = 1024

/** An upload in three parts, of which the first has arrived. */
async function inParts(t: TestApp, person: Person) {
  const [base, bytes] = ['/api/files/uploads', randomBytes(2 * PART + 1)]
  const filename = randomBytes(6).toString('hex')
  const begun = await person.rest('POST', base, { json: { filename, size: bytes.length } })
  const at = `${base}/${begun.response.upload_id}`
  const part = (n: number) => person.rest('PUT', `${at}/parts/${n}`, { body: bytes.subarray((n - 1) * PART, n * PART) })
  const complete = () => person.rest('POST', `${at}/complete`, { json: {} })
  expect((await part(1)).status).toBe(200)
  return {
    part,
    complete,
    /** Goes on where it was, with what had not been taken; nothing was lost meanwhile. */
    async resume(): Promise<void> {
      const look = async () => (await person.rest('GET', at)).response.received
      expect(await look()).toEqual([1])
      for (const n of [2, 3]) expect((await part(n)).status).toBe(200)
      await this.finish()
    },
    async finish(): Promise<void> {
      const { status, response } = await complete()
      const md5_checksum = createHash('md5').update(bytes).digest('hex')
      expect([status, response]).toMatchObject([200, { file_name: filename, md5_checksum }])
      expect((await person.rest('DELETE', `/api/files/delete?file=${filename}`)).status).toBe(200)
      await expectConsistent(t)
    },
  }
}

const isStaged = (t: TestApp) => async () =>
  (await t.app.db.rows("SELECT id FROM blobs WHERE state = 'staged'")).length > 0

onMysql('A MySQL server', () => {
  let t: TestApp
  let store: HttpProxy
  let alice: Person
  let proxy: FlakyProxy
  let drop: () => Promise<void>

  beforeAll(async () => {
    const server = new URL(process.env.TEST_MYSQL_URL ?? '')
    proxy = await startFlakyProxy({ host: server.hostname, port: Number(server.port || 3306) })
    const database = await newDatabase()
    drop = database.drop
    const url = new URL(database.url)
    url.host = `127.0.0.1:${proxy.port}`
    const beforeStore = await startStoreProxy()
    store = beforeStore
    t = await startApp({
      DATABASE_URL: url.href,
      AZURE_STORAGE_CONNECTION_STRING: beforeStore.connectionString,
      LEASE_SECONDS: '2',
      UPLOAD_PART_BYTES: String(PART),
    })
    alice = await t.signIn('alice')
  })
  afterAll(async () => {
    await proxy.heal()
    await t.stop()
    await proxy.close()
    await store.close()
    await drop()
  })

  const deaths: [string, () => unknown][] = [
    ['refuses connections', () => proxy.refuse()],
    ['answers nothing any more', () => proxy.freeze()],
  ]

  describe.each(deaths)('that %s', (_how, die) => {
    it('is a 503 by REST and by GraphQL for reads, writes and uploads, soon; and then all is well again', async () => {
      await alice.rest('GET', '/api/files/tree')
      await die()
      await Promise.all([
        expectUnready(t, 'database'),
        expectUnavailable(alice.rest('GET', '/api/files/tree')),
        expectUnavailable(folderAt(alice, 'never')),
        expectUnavailable(alice.upload('never.txt', 'never')),
        expectUnavailable(alice.upload('never-large', randomBytes(9 * MiB))),
        expectUnavailableByGraphql(alice.graphql('{ me { email } }')),
        expectUnavailableByGraphql(alice.graphql(CREATE_FOLDER, { input: { path: 'never' } })),
        expectUnavailableByGraphql(alice.graphql(UPLOAD, { input: { file: null } }, new File(['never'], 'never.txt'))),
      ])
      await proxy.heal()
      await expectRecovery(t, alice)
      await expectConsistent(t)
    })

    it('is a 503 for many at once, also for those who wait for a connection', async () => {
      await Promise.all(Array.from({ length: 10 }, () => alice.rest('GET', '/api/files/tree')))
      await die()
      await Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          expectUnavailable(n % 2 ? alice.rest('GET', '/api/user/data') : folderAt(alice, `never-${n}`)),
        ),
      )
      await proxy.heal()
      await expectRecovery(t, alice)
    })

    it('is a 503 for an upload in parts, which goes on afterwards', async () => {
      const [upload, whole] = [await inParts(t, alice), await inParts(t, alice)]
      for (const n of [2, 3]) await whole.part(n)
      let dead = false
      // In the middle of the completion, when the parts have been read.
      store.interfere = async passing => {
        if (dead || storeRequest(passing) !== 'describe') return
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
          (await t.app.db.rows('SELECT id FROM upload_session WHERE claim_until > ?', [Date.now()])).length === 0,
      )
      await whole.finish()
    })

    it('is a 503 for an upload that is on its way, which leaves nothing', async () => {
      const upload = await halfUpload(t, alice, 'never-half', randomBytes(12 * MiB))
      await until(isStaged(t))
      await die()
      await upload.rest()
      const { answer, ms } = await timed(upload.answer())
      expect([answer?.status, answer?.response.code]).toEqual([503, 'UNAVAILABLE'])
      expect(ms).toBeLessThan(LIMIT)
      await proxy.heal()
      await expectRecovery(t, alice)
      await sleep(2500)
      await expectConsistent(t)
      const { response } = await alice.rest('GET', '/api/files/tree')
      expect(response.files).toEqual([])
    })
  })

  it('that loses its connections in the middle of uploads leaves whole files or none', async () => {
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
    await sleep(2500)
    await expectConsistent(t)
  })

  it('that holds the row of a storage area for too long is a 503, and nobody else waits', async () => {
    const bob = await t.signIn('bob')
    await t.app.db
      .transaction(async tx => {
        await t.app.db.rows('SELECT id FROM bucket WHERE user_id = ? FOR UPDATE', [alice.userId], tx)
        const other = timed(bob.upload('at-once', 'x'))
        await expectUnavailable(folderAt(alice, 'waits'))
        expect((await other).answer.status).toBe(200)
        expect((await other).ms).toBeLessThan(3000)
      })
      .catch(() => {})
    expect((await folderAt(alice, 'waits')).status).toBe(200)
  })
})

/** Another process that has locked a SQLite file for writing. */
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
    t = await startApp({ DATABASE_URL: database.url, LEASE_SECONDS: '2', UPLOAD_PART_BYTES: String(PART) })
    alice = await t.signIn('alice')
  })
  afterEach(() => release())
  afterAll(async () => {
    await t.stop()
    await drop()
  })

  it('that another process has locked is a 503 for writes, soon; reads go on; and then all is well again', async () => {
    await alice.upload('before.txt', 'before')
    release = await lockElsewhere(path)
    const writes = [
      ...Array.from({ length: 20 }, (_, n) => expectUnavailable(folderAt(alice, `never-${n}`))),
      expectUnavailable(alice.upload('never.txt', 'never')),
      expectUnavailable(alice.upload('never-large', randomBytes(9 * MiB))),
      expectUnavailableByGraphql(alice.graphql(CREATE_FOLDER, { input: { path: 'never' } })),
      expectUnavailableByGraphql(alice.graphql(UPLOAD, { input: { file: null } }, new File(['never'], 'never.txt'))),
      expectUnready(t, 'database'),
    ]
    await sleep(100)
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

  it('that finds no room is a 503 for writes; reads go on; and then all is well again', async () => {
    await alice.upload('first.txt', 'first')
    const upload = await inParts(t, alice)
    const setSize = (pages: number) => t.app.db.run(`PRAGMA max_page_count = ${pages}`)
    await setSize(1)
    try {
      // Pages that are half empty take some more rows.
      let made = 0
      while ((await folderAt(alice, `made-${made}`)).status === 200) made += 1
      await Promise.all([
        expectUnavailable(folderAt(alice, 'x'.repeat(200))),
        expectUnavailable(alice.upload(`${'y'.repeat(200)}.txt`, 'never')),
        expectUnavailableByGraphql(alice.graphql(CREATE_FOLDER, { input: { path: 'z'.repeat(200) } })),
      ])
      const { folders } = (await alice.rest('GET', '/api/files/tree')).response
      expect(folders.filter((name: string) => name.startsWith('made-'))).toHaveLength(made)
      expect(folders.filter((name: string) => name.length >= 200)).toEqual([])
    } finally {
      await setSize(2 ** 30)
    }
    await upload.resume()
  })

  it('that another process has locked is a 503 for an upload in parts, which goes on afterwards', async () => {
    const upload = await inParts(t, alice)
    release = await lockElsewhere(path)
    await Promise.all([expectUnavailable(upload.part(2)), expectUnavailable(upload.complete())])
    await release()
    // What was taken by the store, and not by the database, is there: sending it again does no harm.
    for (const n of [2, 3]) expect((await upload.part(n)).status).toBe(200)
    await upload.finish()
  })

  it('that another process locks for a moment is a delay', async () => {
    release = await lockElsewhere(path)
    const writes = Array.from({ length: 10 }, (_, n) => folderAt(alice, `waited-${n}`))
    await sleep(1500)
    await release()
    expect((await Promise.all(writes)).map(({ status }) => status)).toEqual(Array(10).fill(200))
    await expectConsistent(t)
  })
})

onSqlite('A blob store', () => {
  const dir = mkdtempSync(join(tmpdir(), 'satchel-dead-azurite-'))
  let azurite: Azurite
  let port: number
  let t: TestApp
  let alice: Person

  const begin = async (onPort: number) => {
    azurite = await startAzurite({ dir, port: onPort })
  }
  beforeAll(async () => {
    await begin(0)
    port = Number(/:(\d+)\//.exec(azurite.connectionString)?.[1])
    t = await startApp({
      AZURE_STORAGE_CONNECTION_STRING: azurite.connectionString,
      LEASE_SECONDS: '2',
      UPLOAD_PART_BYTES: String(PART),
      DOWNLOADS: 'proxy',
    })
    alice = await t.signIn('alice')
  })
  afterAll(async () => {
    await t.stop()
    await azurite.stop()
    rmSync(dir, { recursive: true, force: true })
  })

  /** What needs the bytes fails; what does not goes on. */
  async function expectNoBytes(): Promise<void> {
    const { response } = await alice.rest('POST', '/api/files/quick_share', { json: { object: 'before/a.txt' } })
    await Promise.all([
      expectUnready(t, 'blob_store'),
      expectUnavailable(alice.upload('never.txt', 'never')),
      expectUnavailableByGraphql(alice.graphql(UPLOAD, { input: { file: null } }, new File(['never'], 'never.txt'))),
      expectUnavailable(rest(t.url, 'GET', `/api/d/${response.sharing_token}`)),
    ])
    expect((await alice.rest('GET', '/api/files/tree?path=before')).response.files).toHaveLength(2)
    expect((await folderAt(alice, `while-away-${randomBytes(4).toString('hex')}`)).status).toBe(200)
    const { response: bucket } = await alice.rest('GET', '/api/user/bucket')
    expect(bucket.bucket_data.used_bytes).toBe(6)
  }

  it('that is gone is a 503 by REST and by GraphQL, soon; and then all is well again', async () => {
    await alice.upload('before/a.txt', 'abc')
    await alice.upload('before/b.txt', 'abc')
    await azurite.stop()
    await expectNoBytes()
    await expectUnavailable(alice.upload('never-large', randomBytes(9 * MiB)))
    // A deletion needs no store: its bytes go when it is back.
    expect((await alice.rest('DELETE', '/api/files/delete?file=before/b.txt')).status).toBe(200)
    await t.settle()
    await begin(port)
    await expectRecovery(t, alice)
    await t.app.db.run("UPDATE blobs SET lease_until = 0 WHERE state = 'doomed'")
    await expectConsistent(t)
  })

  it('that dies under an upload is a 503, which leaves nothing', async () => {
    const upload = await halfUpload(t, alice, 'never-half', randomBytes(20 * MiB))
    await until(isStaged(t))
    await azurite.stop()
    await upload.rest()
    const { answer, ms } = await timed(upload.answer())
    expect([answer?.status, answer?.response.code]).toEqual([503, 'UNAVAILABLE'])
    expect(ms).toBeLessThan(LIMIT)
    await begin(port)
    await expectRecovery(t, alice)
    await expectConsistent(t)
    expect((await alice.rest('GET', '/api/files/tree')).response.files).toEqual([])
  })

  it.each<[string, () => Promise<unknown>, () => Promise<unknown>]>([
    ['is gone', () => azurite.stop(), () => begin(port)],
    [
      'hangs',
      async () => process.kill(Number(azurite.pid), 'SIGSTOP'),
      async () => process.kill(Number(azurite.pid), 'SIGCONT'),
    ],
  ])('that %s is a 503 for an upload in parts, which goes on afterwards', async (_how, die, revive) => {
    const upload = await inParts(t, alice)
    await die()
    try {
      await Promise.all([expectUnavailable(upload.part(2)), expectUnavailable(upload.complete())])
      // To begin another, and to give it up, needs no store.
      const { response } = await alice.rest('POST', '/api/files/uploads', { json: { filename: 'other', size: 5 } })
      expect((await alice.rest('DELETE', `/api/files/uploads/${response.upload_id}`)).status).toBe(200)
    } finally {
      await revive()
    }
    await expectRecovery(t, alice)
    for (const n of [2, 3]) expect((await upload.part(n)).status).toBe(200)
    await upload.finish()
  })

  it('that hangs is a 503 for small files and downloads, soon; and then all is well again', async () => {
    await alice.upload('before/b.txt', 'abc')
    await alice.rest('DELETE', '/api/folders?path=recovered&recursive=true')
    process.kill(Number(azurite.pid), 'SIGSTOP')
    try {
      await expectNoBytes()
    } finally {
      process.kill(Number(azurite.pid), 'SIGCONT')
    }
    await expectRecovery(t, alice)
    // A request that hung may still arrive when nobody waits for it any more.
    await sleep(300)
    await t.settle()
    // It is there, and its row is not: the doctor's case.
    await findingsOf(t.app, { repair: true })
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
    ['answers nothing any more', () => proxy.freeze()],
  ])('that %s does not matter to requests', async (_how, die) => {
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
