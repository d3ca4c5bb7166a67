import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Db } from '../../db/index.ts'
import { type App, type AppOptions, createApp } from '../../src/app.ts'
import { readConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/runtime/log.ts'
import { accountService } from '../../src/services/accounts/account.ts'
import { sessionService } from '../../src/services/accounts/session.ts'
import { checkAnswer, watchRequests } from '../contract/answers.ts'
import { settingsFor } from '../stores/s3/server.ts'
import { expectArgumentPaths } from './argument-paths.ts'
import { type EventStream, openEventStream } from './event-stream.ts'
import { mysqlServer, newMysql } from './mysql.ts'
import { recordGraphql, recordRest } from './outcomes.ts'
import { copySqlite, fillMysql } from './templates.ts'
import { createTwoWorkers } from './two-workers.ts'

declare const engine: 'sqlite' | 'mysql'
declare const storeUnderTest: 'disk' | 'azure' | 's3'

/** A person with a browser: a session cookie, and functions for REST and GraphQL requests. */
export interface Person {
  email: string
  userId: string
  cookie: string
  rest(method: string, path: string, options?: RestOptions): Promise<RestAnswer>
  /**
   * With a file, the request is a form, and the file replaces the only null field of the variable
   * `input`.
   */
  graphql<T = Record<string, unknown>>(
    query: string,
    variables?: object,
    file?: File,
  ): Promise<GraphqlAnswer<T>>
  /** Opens a subscription. */
  subscribe(query: string, variables?: object): Promise<EventStream>
  /** Uploads bytes by REST. */
  upload(path: string, bytes: Uint8Array | string, type?: string): Promise<RestAnswer>
}

export interface RestOptions {
  json?: unknown
  form?: FormData
  body?: Uint8Array | string | ReadableStream
  headers?: Record<string, string>
}

export interface RestAnswer {
  status: number
  headers: Headers
  msg: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  response: any
  text: string
}

export interface GraphqlAnswer<T> {
  status: number
  data: T | null | undefined
  errors:
    | { message: string; extensions: { code: string } & Record<string, unknown>; path?: unknown }[]
    | undefined
  extensions: Record<string, unknown> | undefined
  /** Code of the first error. */
  code: string | undefined
}

export interface TestApp {
  app: App
  url: string
  /** Statements since the last call of `statements()`. */
  statements(): string[]
  /** All log lines so far, or those after the given count (`logged`). */
  logs(after?: number): string
  /** The number of log lines. */
  logged(): number
  /** The log lines with internal errors. */
  failures(): string[]
  /** A caller without a credential. */
  anonymous: Person
  /** A person who has signed in. The same e-mail address is the same account with a new session. */
  signIn(name: string, options?: { emailVerified?: boolean }): Promise<Person>
  /** A program that sends an API key, or a person's browser that sends the key with the cookie. */
  withKey(key: string, person?: Person): Person
  /** Sets limits of the default plan. */
  limit(limits: Record<string, number | null>): Promise<void>
  /** Finishes all background work: jobs, then the sweeper. */
  settle(): Promise<void>
  stop(): Promise<void>
}

/**
 * Creates a database with its tables on the engine under test. Returns its URL and a function that
 * drops it.
 */
export async function newDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  if (engine === 'sqlite') {
    const dir = mkdtempSync(join(tmpdir(), 'satchel-test-'))
    const file = join(dir, 'test.sqlite')
    copySqlite(file)
    return {
      url: `sqlite:${file}`,
      drop: async () => rmSync(dir, { recursive: true, force: true }),
    }
  }
  const database = await newMysql(mysqlServer())
  await fillMysql(database.url)
  return database
}

/** The blob folder of the instances on a database. */
export const blobFolderOf = (databaseUrl: string) =>
  join(
    tmpdir(),
    `satchel-blobs-${createHash('sha256').update(databaseUrl).digest('hex').slice(0, 16)}`,
  )

/** The whole service on a new database and a new store, listening on a free port. */
export async function startApp(
  settings: Record<string, string> = {},
  options: Partial<AppOptions> = {},
): Promise<TestApp> {
  const database = await newDatabase()
  const dataDir = mkdtempSync(join(tmpdir(), 'satchel-data-'))
  const config = readConfig({
    PORT: '0',
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    BLOB_DIR: blobFolderOf(settings.DATABASE_URL ?? database.url),
    AZURE_STORAGE_CONNECTION_STRING:
      storeUnderTest === 'azure' ? (process.env.TEST_AZURE ?? '') : '',
    AZURE_STORAGE_CONTAINER: `t${randomBytes(8).toString('hex')}`,
    ...(storeUnderTest === 's3' ? settingsFor(settings.DATABASE_URL ?? database.url) : {}),
    SECRET_KEY: randomBytes(32).toString('base64url'),
    // Tests run the sweeper themselves.
    SWEEP_SECONDS: '3600',
    SHUTDOWN_SECONDS: '1',
    // Tests create many of these. test/hostile/drills/rate-limit.test.ts and
    // test/api/plan-bounds.test.ts set their own rates.
    RATE_LINKS: '1000000',
    RATE_PROTECTED_LINKS: '1000000',
    RATE_FOLDERS: '1000000',
    RATE_NOTES: '1000000',
    RATE_FILE_REQUEST_UPLOADS: '1000000',
    // The console has tests of its own in test/browser.
    CONSOLE: 'false',
    WORKERS: process.env.TEST_WORKERS || '2',
    // Thumbnails have tests of their own in test/api/preview.test.ts and test/browser.
    PREVIEWS: 'false',
    // The contents index has tests of its own in test/api/drills/search-contents.test.ts.
    SEARCH_CONTENTS: 'off',
    // One account serves many tests, and has room for five CORS rules.
    BLOB_CORS: 'false',
    ...settings,
  })
  const lines: string[] = []
  const log = createLog({ logLevel: 'debug' }, { write: line => void lines.push(line) })
  let statements: string[] = []
  // Each process polls for a maintenance every second, outside of requests.
  // test/engines/maintenance.test.ts counts these statements.
  // Tests recognize statements without their line breaks.
  const note = (sql: string) => {
    const line = sql.replaceAll(/\s+/g, ' ')
    if (!line.includes(' FROM maintenance')) statements.push(line)
  }
  // SQLite and the embedded sign-in allow one process (docs/decisions/workers.md).
  const create =
    engine === 'mysql' && config.workers !== 1 && !options.embeddedSignIn
      ? createTwoWorkers
      : createApp
  const app = await create(config, {
    log,
    onStatement: note,
    indexAfterMs: 3_600_000,
    // Statements of samples would be counted as statements of requests.
    samplesItself: false,
    ...options,
  })
  watchRequests(app.gateway.server)
  const url = await app.start()

  return {
    app,
    url,
    statements: () => {
      const all = statements
      statements = []
      return all
    },
    logs: (after = 0) => lines.slice(after).join(''),
    logged: () => lines.length,
    failures: () => lines.filter(line => line.includes('"level":50')),
    anonymous: person(url, { email: '', userId: '', cookie: '' }),
    signIn: (name, { emailVerified = true } = {}) => signInTo(app.db, url, name, emailVerified),
    withKey: (key, who) =>
      person(
        url,
        { email: who?.email ?? '', userId: who?.userId ?? '', cookie: who?.cookie ?? '' },
        { 'x-api-key': key },
      ),
    async limit(limits) {
      await app.db.Plan.update(limits, { where: { id: 'free' } })
    },
    async settle() {
      await app.worker.idle()
      await app.sweeper.run()
    },
    async stop() {
      await app.stop()
      await database.drop()
      if (!settings.DATABASE_URL && !settings.BLOB_DIR)
        rmSync(config.blobDir, { recursive: true, force: true })
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** A person who has signed in to a service on this database. */
export async function signInTo(
  db: Db,
  url: string,
  name: string,
  emailVerified = true,
): Promise<Person> {
  const email = name.includes('@') ? name : `${name}@example.com`
  const { userId } = await accountService({ db }).signIn(
    {
      provider: 'test',
      providerUserId: email,
      email,
      emailVerified,
      name,
      givenName: name,
      familyName: '',
      picture: '',
      locale: 'en',
    },
    null,
  )
  const { secret } = await sessionService({ db, sessionSeconds: 86_400 }).start(userId)
  return person(url, { email, userId, cookie: `session_id=${secret}` })
}

/** A person who is signed in by a cookie, or sends an API key, or neither. */
export function person(
  url: string,
  who: Pick<Person, 'email' | 'userId' | 'cookie'>,
  key: Record<string, string> = {},
): Person {
  const credentials: Record<string, string> = {
    ...(who.cookie ? { cookie: who.cookie } : {}),
    ...key,
  }
  const self: Person = {
    ...who,
    rest: (method, path, options) =>
      rest(url, method, path, { ...options, headers: { ...credentials, ...options?.headers } }),
    async graphql<T>(query: string, variables: object = {}, file?: File) {
      const operation = JSON.stringify({ query, variables })
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: {
          ...(file ? {} : { 'content-type': 'application/json' }),
          accept: 'application/json',
          ...credentials,
        },
        body: file ? graphqlForm(operation, file, variables) : operation,
      })
      const { data, errors, extensions } = (await response.json()) as GraphqlAnswer<T & object>
      recordGraphql(query, data, errors)
      expectArgumentPaths(errors)
      return {
        status: response.status,
        data,
        errors,
        extensions,
        code: errors?.[0]?.extensions.code,
      }
    },
    subscribe: (query, variables = {}) => openEventStream(url, credentials, { query, variables }),
    upload(path, bytes, type = 'application/octet-stream') {
      const cut = path.lastIndexOf('/')
      const form = new FormData()
      if (cut > 0) form.append('folder', path.slice(0, cut))
      form.append(
        'file',
        new Blob([bytes as Uint8Array<ArrayBuffer>], { type }),
        path.slice(cut + 1),
      )
      return self.rest('POST', '/api/files/upload', { form })
    },
  }
  return self
}

/** A form according to graphql-multipart-request-spec. */
function graphqlForm(operation: string, file: File, { input = {} }: { input?: object }): FormData {
  const form = new FormData()
  const [name = 'file'] = Object.entries(input).find(([, value]) => value === null) ?? []
  form.append('operations', operation)
  form.append('map', JSON.stringify({ 0: [`variables.input.${name}`] }))
  form.append('0', file)
  return form
}

/** One REST request that does not follow redirects. */
export async function rest(
  url: string,
  method: string,
  path: string,
  options: RestOptions = {},
): Promise<RestAnswer> {
  const { json, form, body, headers = {} } = options
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: 'manual',
    headers: { ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    body: (json === undefined ? (form ?? body) : JSON.stringify(json)) ?? null,
    ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
  } as RequestInit)
  const text = await response.text()
  const contentType = response.headers.get('content-type')
  // A downloaded file of that type is not a response of the API.
  const isJson =
    contentType?.startsWith('application/json') && !response.headers.has('content-disposition')
  const value = isJson && text ? JSON.parse(text) : undefined
  recordRest(method, path, response.status, value?.response?.code)
  checkAnswer({ method, url: path, status: response.status, contentType, text, value })
  checkConventions(method, path, response, value)
  const { msg = '', response: inner } = value ?? {}
  return { status: response.status, headers: response.headers, msg, response: inner, text }
}

/** Checks the rules for every response: contract, section 1. */
function checkConventions(
  method: string,
  path: string,
  { status, headers }: Response,
  value: unknown,
): void {
  const must = (holds: unknown, what: string) => {
    if (!holds)
      throw new Error(
        `${method} ${path} answers ${status} ${what}: ${JSON.stringify(value)?.slice(0, 500)}`,
      )
  }
  must(headers.get('x-content-type-options') === 'nosniff', 'without nosniff')
  must(headers.get('x-request-id'), 'without a request id')
  if (value === undefined || !/^\/(api|auth)\//.test(path) || path === '/api/openapi.json') return
  must(headers.get('cache-control') === 'no-store', 'in a way that may be cached')
  const { msg } = value as RestAnswer
  must((status < 400 ? /^[a-z_]+$/ : /^[A-Z"].+[.?]$/).test(msg), 'without the right words')
}
