import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { openDatabase } from '../../../db/index.ts'
import { runBuilt, startBuilt } from '../../support/built-service.ts'
import { newDatabase, rest, signInTo } from '../../support/harness.ts'
import { mysqlServer } from '../../support/mysql.ts'
import { until } from '../../support/until.ts'

declare const engine: 'sqlite' | 'mysql'

const onMysql = engine === 'mysql' ? describe : describe.skip
const onSqlite = engine === 'sqlite' ? describe : describe.skip

/** A port on which nothing listens. It is reserved for the "discard" protocol. */
const NOBODY = '127.0.0.1:9'

let dir: string
let taken: Server
let port: number
/** A store that authenticates the caller, and refuses the request. */
let forbidding: Server
let forbids: number

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'satchel-start-'))
  writeFileSync(join(dir, 'file'), 'This is no database.')
  taken = createServer()
  port = await listen(taken)
  forbidding = createHttpServer((_req, res) => res.writeHead(403).end())
  forbids = await listen(forbidding)
})
afterAll(() => {
  taken.close()
  forbidding.close()
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
})

/** Listens on a free port of loopback. Returns the port. */
async function listen(server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

/** The output of a failing start. It must exit with 1, and print no stack trace. */
async function refusal(settings: Record<string, string>): Promise<string[]> {
  const data = mkdtempSync(join(dir, 'data-'))
  const { code, out, err } = await runBuilt(
    'main.ts',
    [],
    { PORT: '0', DATA_DIR: data, ...settings },
    dir,
  )
  expect(code).toBe(1)
  expect(out).not.toContain('Satchel is up')
  expect(err).not.toMatch(/\n\s+at |node:|Error:/)
  const [first, ...problems] = err.trimEnd().split('\n')
  expect(first).toBe('Satchel cannot start:')
  return problems.map(line => line.replace(/^ {2}- /, ''))
}

const s3 = (endpoint: string) => ({
  S3_BUCKET: 'files',
  S3_ENDPOINT: endpoint,
  S3_ACCESS_KEY_ID: 'an-id',
  S3_SECRET_ACCESS_KEY: 'do-not-print',
})
const azure = (endpoint: string, key = 'bm9uZQ==') =>
  `DefaultEndpointsProtocol=http;AccountName=a;AccountKey=${key};BlobEndpoint=${endpoint};`
/** Settings that start only the component under test. */
const elsewhere = () => ({ SECRET_KEY: 'k'.repeat(32) })

onMysql('A start with a MySQL database', () => {
  it('prints the product and version of the server', async () => {
    const database = await newDatabase()
    const DATA_DIR = mkdtempSync(join(dir, 'product-'))
    const service = await startBuilt({
      DATA_DIR,
      DATABASE_URL: database.url,
      LOG_LEVEL: 'info',
      LOG_FORMAT: 'json',
    })
    try {
      const at = new URL(database.url).host
      const [, product] =
        new RegExp(`^  Database   ((MySQL|MariaDB) \\d+\\.\\d+\\.\\d+) at ${at}$`, 'm').exec(
          service.said(),
        ) ?? []
      expect(product).toBeDefined()
      expect(service.said()).toContain(`"database":"${product}"`)
    } finally {
      await service.end('SIGTERM')
      await database.drop()
    }
  })

  const at = (change: (url: URL) => void) => {
    const url = new URL(mysqlServer())
    url.pathname = '/satchel_none'
    change(url)
    return url.href
  }

  it.each<[string, string, RegExp]>([
    [
      'that does not respond',
      `mysql://root@${NOBODY}/x`,
      /^DATABASE_URL: the database at 127\.0\.0\.1:9 cannot be used \(connect ECONNREFUSED 127\.0\.0\.1:9\)\. Start it, or correct its address\.$/,
    ],
    [
      'at a host that nobody knows',
      'mysql://root@nowhere.invalid/x',
      /^DATABASE_URL: .* nowhere\.invalid cannot be used \(getaddrinfo .*\)\. Start it, or correct its address\.$/,
    ],
    [
      'that does not exist',
      at(() => {}),
      /^DATABASE_URL: .*\(Unknown database 'satchel_none'\)\. Create this database, or name another one\.$/,
    ],
    [
      'that admits no user of that name',
      at(url => {
        url.username = 'satchel_nobody'
        url.password = 'do-not-print'
      }),
      /^DATABASE_URL: .*\(Access denied for user 'satchel_nobody'.*\)\. Correct user and password, or grant this user all rights on it\. If the server requires TLS, set DATABASE_TLS\.$/,
    ],
  ])('%s stops the start with a clear message', async (_which, DATABASE_URL, sentence) => {
    const problems = await refusal({ ...elsewhere(), DATABASE_URL })
    expect(problems).toEqual([expect.stringMatching(sentence)])
    expect(problems.join()).not.toContain('do-not-print')
  })

  it('needs no writable folder when nothing is embedded', async () => {
    const settings = {
      ...elsewhere(),
      SMTP_URL: `smtp://${NOBODY}`,
      DATABASE_URL: `mysql://root@${NOBODY}/x`,
      AZURE_STORAGE_CONNECTION_STRING: azure(`http://${NOBODY}/a`),
      // The embedded sign-in stores its secret in the folder.
      OAUTH_SSO_CLIENT_ID: 'satchel',
      OAUTH_SSO_CLIENT_SECRET: 'secret',
      OAUTH_SSO_AUTHORIZE_URL: 'https://sso.example.com/authorize',
      OAUTH_SSO_TOKEN_URL: 'https://sso.example.com/token',
      OAUTH_SSO_USERINFO_URL: 'https://sso.example.com/userinfo',
    }
    const problems = await refusal({ ...settings, DATA_DIR: `${dir}/file` })
    expect(problems.map(line => line.split(':')[0])).toEqual([
      'DATABASE_URL',
      'AZURE_STORAGE_CONNECTION_STRING',
    ])
  })
})

onSqlite('A start', () => {
  // A start reports all failures, so one start covers two of them, because each start takes a
  // second of processor time.
  const cases: [string, () => Record<string, string>, ...RegExp[]][] = [
    [
      'with an invalid database, and a blob store that does not respond',
      () => ({
        DATABASE_URL: `sqlite:${dir}/file`,
        AZURE_STORAGE_CONNECTION_STRING: azure(`http://${NOBODY}/a`),
      }),
      /^DATABASE_URL: the file .*\/file cannot be used \(SQLITE_NOTADB: .*\)\. Let the user .*, or name another file\.$/,
      /^AZURE_STORAGE_CONNECTION_STRING: the blob store cannot be used \(.*ECONNREFUSED.*\)\. Start it, or copy the connection string again\.$/,
    ],
    [
      'with a database in an impossible folder, and a blob store with another key',
      () => ({
        DATABASE_URL: `sqlite:${dir}/file/x.sqlite`,
        AZURE_STORAGE_CONNECTION_STRING: azure(`http://127.0.0.1:${forbids}/a`),
      }),
      /^DATABASE_URL: the file .*x\.sqlite cannot be used \(\w+: .*\)\. Let the user/,
      /^AZURE_STORAGE_CONNECTION_STRING: the blob store cannot be used \(.*403.*\)\. Start it, or copy/,
    ],
    [
      'with a database of another version',
      () => {
        const later = new DatabaseSync(`${dir}/later.sqlite`)
        later.exec("CREATE TABLE IF NOT EXISTS migration AS SELECT '9999-later' AS name, 1 AS at")
        later.close()
        return { ...elsewhere(), DATABASE_URL: `sqlite:${dir}/later.sqlite` }
      },
      /^DATABASE_URL: the file .*later\.sqlite cannot be used \(another version .*9999-later\)\. Start the version that it belongs to or/,
    ],
    [
      'with a connection string with an invalid address',
      () => ({ AZURE_STORAGE_CONNECTION_STRING: azure('nowhere') }),
      /^AZURE_STORAGE_CONNECTION_STRING: the blob store cannot be used \(Invalid URL\)\. Start it, or copy/,
    ],
    [
      'with a connection string with an invalid key',
      () => ({ AZURE_STORAGE_CONNECTION_STRING: azure('http://127.0.0.1:9/a', '%') }),
      /^AZURE_STORAGE_CONNECTION_STRING: the blob store cannot be used \(Invalid AccountKey.*\)\. Start it, or copy/,
    ],
    [
      'with an S3 store that does not answer',
      () => s3(`http://${NOBODY}`),
      /^S3_BUCKET: the bucket files at http:\/\/.* cannot be used \(.*ECONNREFUSED.*\)\. Start the store, or correct the settings that begin with S3_\.$/,
    ],
    [
      'with an S3 store that has another key',
      () => s3(`http://127.0.0.1:${forbids}`),
      /^S3_BUCKET: the bucket files at http:\/\/.* cannot be used \(.*403.*\)\. Start the store, or correct/,
    ],
    [
      'on a port that is taken',
      () => ({ ...elsewhere(), PORT: String(port) }),
      /^PORT: another program listens on port \d+\. Stop it, or set another port\.$/,
    ],
    [
      'on an address of another machine',
      () => ({ ...elsewhere(), HOST: '203.0.113.1' }),
      /^HOST: this machine does not listen on 203\.0\.113\.1 \(.*\)\. Set an address of this machine\.$/,
    ],
    [
      'in a folder that is a file',
      () => ({ DATA_DIR: `${dir}/file` }),
      /^DATA_DIR: .*\/file cannot be used \(EEXIST: .*\)\. Let the user that runs Satchel write there, or set another folder\.$/,
    ],
    [
      'in a folder whose secret is too short',
      () => {
        const DATA_DIR = mkdtempSync(join(dir, 'short-'))
        writeFileSync(join(DATA_DIR, 'secret.key'), 'short')
        return { DATA_DIR }
      },
      /^DATA_DIR: .*secret\.key must contain a secret of 32 characters or more, but has 5\. Restore the former file/,
    ],
  ]
  it.each(cases)(
    '%s stops the start with one clear message each',
    async (_which, settings, ...sentences) => {
      expect(await refusal(settings())).toEqual(
        sentences.map(sentence => expect.stringMatching(sentence)),
      )
    },
  )

  // Root can write everywhere.
  const asSomebody = process.getuid?.() === 0 ? it.skip : it
  asSomebody('fails with a clear message when its folder is read-only', async () => {
    const DATA_DIR = mkdtempSync(join(dir, 'read-'))
    chmodSync(DATA_DIR, 0o500)
    expect(await refusal({ DATA_DIR })).toEqual([
      expect.stringMatching(/^DATA_DIR: .*\(EACCES: .*\)\. Let the user/),
    ])
  })

  it('refuses the blobs of another installation, and leaves them unharmed', async () => {
    const DATA_DIR = mkdtempSync(join(dir, 'first-'))
    const first = await startBuilt({ DATA_DIR })
    try {
      const other = mkdtempSync(join(dir, 'other-'))
      expect(await refusal({ DATA_DIR: other, BLOB_DIR: join(DATA_DIR, 'blobs') })).toEqual([
        expect.stringMatching(
          /^BLOB_DIR: .*blobs belongs to a Satchel with another database\. Set the database that it belongs to, or name an empty folder\.$/,
        ),
      ])
      expect((await rest(first.url, 'GET', '/readyz')).status).toBe(200)
    } finally {
      await first.end('SIGTERM')
    }
  })

  it('fails with a clear message when the volume with its blobs is missing', async () => {
    const DATA_DIR = mkdtempSync(join(dir, 'volume-'))
    const first = await startBuilt({ DATA_DIR })
    const db = openDatabase(
      { dialect: 'sqlite', file: join(DATA_DIR, 'satchel.sqlite') },
      { pool: 1 },
    )
    try {
      await (await signInTo(db, first.url, 'alice')).upload('a.txt', 'bytes')
    } finally {
      await db.close()
      await first.end('SIGTERM')
    }
    renameSync(join(DATA_DIR, 'blobs'), join(DATA_DIR, 'elsewhere'))
    expect(await refusal({ DATA_DIR })).toEqual([
      expect.stringMatching(
        /^BLOB_DIR: .*blobs does not contain the files of the database\. Mount the volume/,
      ),
    ])
    // The two instances of a service share these.
    renameSync(join(DATA_DIR, 'elsewhere'), join(DATA_DIR, 'again'))
    const again = { DATA_DIR, BLOB_DIR: join(DATA_DIR, 'again') }
    const [one, two] = [await startBuilt(again), await startBuilt(again)]
    expect([await one.end('SIGTERM'), await two.end('SIGTERM')]).toEqual([0, 0])
  })

  it('serves without a reachable Redis, and logs it once', async () => {
    let tries = 0
    const redis = createServer(socket => {
      tries++
      socket.destroy()
    })
    const DATA_DIR = mkdtempSync(join(dir, 'redis-'))
    const service = await startBuilt({
      ...elsewhere(),
      DATA_DIR,
      REDIS_URL: `redis://127.0.0.1:${await listen(redis)}`,
    })
    const warnings = () => service.said().split('Redis does not answer').length - 1
    try {
      // Of three connections, one publishes, one listens for events, and one for maintenance.
      await until(() => tries >= 10)
      expect((await rest(service.url, 'GET', '/readyz')).status).toBe(200)
      expect(warnings()).toBe(3)
    } finally {
      await service.end('SIGTERM')
      redis.close()
    }
  })
})
