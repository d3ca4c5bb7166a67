import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import type { GraphQLSchema } from 'graphql'
import { schema } from '../../schema/index.ts'
import { restSchema } from '../../schema/rest/index.ts'
import { maintenanceService } from '../../src/services/maintenance.ts'
import { TransferFailure } from '../../src/upload-engine/failure.ts'
import { persist } from '../../src/upload-engine/retry.ts'
import { callByRest } from '../contract/call.ts'
import { ask } from '../support/ask.ts'
import { rightfulOf, rows } from '../support/authorization.ts'
import { graphRows } from '../support/authorization-graph.ts'
import { World } from '../support/authorization-world.ts'
import { ROOMY, UNHURRIED } from '../support/builders.ts'
import {
  newDatabase,
  type Person,
  type RestAnswer,
  rest,
  startApp,
  type TestApp,
} from '../support/harness.ts'
import {
  newBrowser,
  openProvider,
  signInBy,
  type TestProvider,
} from '../support/sign-in-provider.ts'
import { until } from '../support/until.ts'
import { restUploader } from '../support/uploader.ts'
import { Browser } from '../unit/sign-in-browser.ts'

const PART = 1024
const HOUR = 3_600_000

let provider: TestProvider
let t: TestApp
let olga: Person
let alice: Person

beforeAll(async () => {
  provider = await openProvider()
  t = await startApp({
    ...UNHURRIED,
    ...provider.settings,
    OPERATORS: 'olga@example.com',
    UPLOAD_PART_BYTES: String(PART),
  })
  await t.limit({ ...ROOMY, maxFiles: null, maxFilesWorkspace: null, maxWorkspaceFolders: null })
  olga = await t.signIn('olga')
  alice = await t.signIn('alice')
})
afterAll(async () => {
  await t?.stop()
  await provider?.close()
})

const START =
  'mutation ($input: OperatorStartMaintenanceInput!) { operatorStartMaintenance(input: $input) { maintenance { startedAt endsAt message } } }'
const END = 'mutation { operatorEndMaintenance { ended } }'
const CURRENT = '{ maintenance { startedAt endsAt message } }'

const isWritable = async () =>
  (await alice.rest('POST', '/api/folders', { json: { path: '..' } })).status === 400
/** Requests alternate between the processes, and all of them must know the state. */
const known = (refused: boolean) =>
  until(async () => (await isWritable()) !== refused && (await isWritable()) !== refused)

async function start(ms = HOUR, message = 'A larger disk') {
  const ends = new Date(Date.now() + ms).toISOString()
  const { operatorStartMaintenance } = await ask(olga, START, { input: { until: ends, message } })
  await known(true)
  return operatorStartMaintenance.maintenance
}
const end = async () => {
  const { operatorEndMaintenance } = await ask(olga, END)
  await known(false)
  return operatorEndMaintenance.ended
}
afterEach(async () => {
  await end()
})

function expectRefused({ status, headers, response, msg }: RestAnswer, ms = HOUR) {
  expect([status, response]).toEqual([
    503,
    {
      code: 'MAINTENANCE',
      retry_after: expect.any(Number),
      until: expect.any(String),
      note: 'A larger disk',
    },
  ])
  expect(msg).toMatch(
    /^Changes are refused until \d.* UTC, because of maintenance\. Reading goes on\. Try again then\.$/,
  )
  const seconds = Number(headers.get('retry-after'))
  expect(seconds).toBe(response.retry_after)
  expect(seconds).toBeGreaterThan(ms / 1000 - 60)
  expect(seconds).toBeLessThanOrEqual(ms / 1000)
  expect(Math.abs(Date.parse(response.until) - Date.now() - seconds * 1000)).toBeLessThan(3000)
}

const going = (of: GraphQLSchema) =>
  Object.fromEntries(
    Object.values(of.getMutationType()?.getFields() ?? {}).flatMap(({ name, extensions }) =>
      extensions.goesOn ? [[name, extensions.goesOn]] : [],
    ),
  )

/** The mutations that work during a maintenance, with reasons: docs/decisions/maintenance.md. */
const reasons = {
  session: 'stops a stolen session',
  key: 'stops a key that others may have',
  link: 'stops a link that others may have',
  open: 'only counts the use, and changes no file',
  read: 'reads files',
  own: 'changes the maintenance itself',
}

describe('During a maintenance', () => {
  it('only the listed mutations are allowed, each with a reason', () => {
    expect(going(schema)).toEqual({
      endSession: reasons.session,
      endOtherSessions: reasons.session,
      deleteApiKey: reasons.key,
      revokeShare: reasons.link,
      revokeShares: 'stops links that others may have',
      openShare: reasons.open,
      zipEntries: reasons.read,
      operatorStartMaintenance: reasons.own,
      operatorEndMaintenance: reasons.own,
      operatorEndGrants: 'stops links that others may have',
    })
    expect(going(restSchema)).toEqual({
      endSession: reasons.session,
      endOtherSessions: reasons.session,
      deletePrivateApiKey: reasons.key,
      deleteWorkspaceApiKey: reasons.key,
      revokeShare: reasons.link,
      resolveShare: reasons.open,
      zipFiles: reasons.read,
      zipWorkspaceFiles: reasons.read,
      createDownloadToken: 'only creates a URL for a download',
      enterRequest: 'checks a password, and stores nothing',
    })
  })

  it('every other write is refused, also for users with the right, and reads are allowed', async () => {
    const world = new World(t)
    const byRest = []
    for (const row of rows.filter(
      ({ field, consumes }) => field.startsWith('Mutation.') && !consumes,
    )) {
      const caller = await world.callerOf(rightfulOf(row), null)
      byRest.push({ row, caller, inputs: await world.inputsOf(row, caller) })
    }
    const byGraph = []
    for (const row of graphRows.filter(
      ({ document, consumes }) => document.startsWith('mutation') && !consumes,
    )) {
      const caller = await world.callerOf(rightfulOf(row), null)
      const things = await world.things()
      byGraph.push({
        row,
        caller,
        name: things.name,
        variables: await row.variables(things, caller),
      })
    }
    await start()
    const goOn = { rest: Object.keys(going(restSchema)), graph: Object.keys(going(schema)) }
    for (const { row, caller, inputs } of byRest) {
      const { status, response } = await callByRest(caller, row.rest, inputs)
      const expected = goOn.rest.includes(row.field.replace('Mutation.', ''))
        ? [row.title, 200]
        : [row.title, 503]
      expect([row.title, status === 302 ? 200 : status]).toEqual(expected)
      if (status === 503) expect(response.code).toBe('MAINTENANCE')
    }
    for (const { row, caller, name, variables } of byGraph) {
      if (['operatorStartMaintenance', 'operatorEndMaintenance'].includes(row.at)) continue
      const file = row.file && new File([''], name)
      const { status, code } = await caller.graphql(row.document, variables, file)
      // Each call may end something that the next call no longer finds.
      if (goOn.graph.includes(row.at.split('.')[0] ?? ''))
        expect([row.title, status]).toEqual([row.title, 200])
      else expect([row.title, status, code]).toEqual([row.title, 503, 'MAINTENANCE'])
      expect([row.title, code === 'MAINTENANCE']).toEqual([row.title, status === 503])
    }
    expect(byRest.length).toBeGreaterThan(60)
    expect(byGraph.length).toBeGreaterThan(50)
    expect(t.failures()).toEqual([])
  })

  it('a refused mutation does not stop an allowed one in the same request', async () => {
    await start()
    const both = 'mutation { endOtherSessions { count } emptyTrash(input: {}) { count } }'
    const { status, data, errors } = await alice.graphql(both)
    expect([status, data]).toEqual([
      200,
      { endOtherSessions: { count: expect.any(Number) }, emptyTrash: null },
    ])
    expect(errors).toMatchObject([
      {
        path: ['emptyTrash'],
        extensions: { code: 'MAINTENANCE', retry_after: expect.any(Number) },
      },
    ])
  })

  it('reads, downloads and shared files work, and their uses are counted', async () => {
    await alice.upload('read.txt', 'still here')
    const { sharing_token: token } = (
      await alice.rest('POST', '/api/files/quick_share', { json: { object: 'read.txt' } })
    ).response
    await start()
    expect((await alice.rest('GET', '/api/files/tree')).status).toBe(200)
    expect((await t.anonymous.rest('GET', `/api/d/${token}`)).status).toBe(302)
    const { response } = await t.anonymous.rest('GET', `/api/share/info/${token}`)
    expect(response.file_name).toBe('read.txt')
    const [share] = await t.app.db.rows<{ downloads: number }>(
      'SELECT downloads FROM share WHERE user_id = ?',
      [alice.userId],
    )
    expect(share?.downloads).toBe(1)
    expect((await t.anonymous.rest('GET', '/readyz')).status).toBe(200)
    expect((await t.anonymous.rest('GET', '/healthz')).status).toBe(200)
  })

  it('existing accounts sign in and out; new users learn why they cannot', async () => {
    const known = await newBrowser(t.url, 'known@example.com')
    await start()
    const again = await newBrowser(t.url, 'known@example.com')
    expect(again.jar.has('session_id')).toBe(true)
    const stranger = new Browser()
    const { status, headers } = await signInBy(stranger, t.url, 'new@example.com')
    expect([status, headers.get('location')]).toEqual([
      302,
      expect.stringContaining('error=maintenance'),
    ])
    expect(stranger.jar.has('session_id')).toBe(false)
    expect((await known.get(`${t.url}/auth/logout`)).status).toBe(200)
    const page = await (await fetch(`${t.url}/login?error=maintenance`)).text()
    expect(page).toContain('none can be created during the maintenance')
    await end()
    expect(
      (await signInBy(stranger, t.url, 'new@example.com')).headers.get('location'),
    ).not.toContain('error')
  })

  it('forms on pages are refused, except for reading and signing out; pages show the notice', async () => {
    const headers = { cookie: alice.cookie, origin: t.url, accept: 'text/html' }
    const form = (path: string, fields: Record<string, string>) =>
      fetch(`${t.url}${path}`, {
        method: 'POST',
        headers,
        body: new URLSearchParams(fields),
        redirect: 'manual',
      })
    await start()
    const refused = await form('/identities/remove', { identity: 'x' })
    expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([
      503,
      expect.any(Number),
    ])
    expect(await refused.text()).toContain('Changes are refused until')
    expect((await form('/sessions', { end: 'others' })).status).toBe(303)
    const page = await (await fetch(`${t.url}/login`)).text()
    expect(page).toMatch(
      /Everyone can read but not change anything until .*, because of maintenance\. A larger disk/,
    )
  })

  it('earlier uploads finish; new parts are refused, and uploads stay open until a day after the end', async () => {
    const up = restUploader(alice)
    const { upload_id: id } = (await up.start({ filename: 'parts.bin', size: 2 * PART })).value
    const direct = (await up.start({ filename: 'direct.bin', size: PART, direct: true })).value
    await up.part(id, 1, { bytes: Buffer.alloc(PART, 1) })
    const leases = () =>
      t.app.db.rows<{ at: number }>('SELECT lease_until AS at FROM blobs WHERE id IN (?, ?)', [
        id,
        direct.upload_id,
      ])
    const { endsAt: ends } = await start(48 * HOUR)
    expectRefused(
      await alice.rest('PUT', `/api/files/uploads/${id}/parts/2`, { body: Buffer.alloc(PART, 2) }),
      48 * HOUR,
    )
    const url = new URL(direct.parts[0].url)
    if (url.origin === t.url)
      expectRefused(await rest(t.url, 'PUT', url.pathname, { body: Buffer.alloc(PART) }), 48 * HOUR)
    expect((await up.complete(id)).code).toBe('MAINTENANCE')
    for (const { at } of await leases()) expect(Number(at)).toBe(Date.parse(ends) + 24 * HOUR)
    // Without this, the sweeper would delete expired uploads.
    await t.app.db.run('UPDATE blobs SET lease_until = 1 WHERE id = ?', [direct.upload_id])
    await t.app.sweeper.run()
    expect(await leases()).toHaveLength(2)
    expect((await up.look(id)).value.received).toEqual([1])
    await end()
    await t.app.sweeper.run()
    expect((await up.look(direct.upload_id)).code).toBe('UPLOAD_NOT_FOUND')
    expect((await up.part(id, 2, { bytes: Buffer.alloc(PART, 2) })).status).toBe(200)
    expect((await up.complete(id)).status).toBe(200)
    const { me } = await ask(
      alice,
      '{ me { drive { entry(path: "parts.bin") { ... on File { size } } } } }',
    )
    expect(me.drive.entry.size).toBe(2 * PART)
  })

  it('jobs that change files wait for the end of the maintenance', async () => {
    for (let i = 0; i < 3; i++) await alice.upload(`gone/${i}.txt`, 'x')
    await alice.rest('DELETE', '/api/folders?path=gone&recursive=true')
    const jobs = async () =>
      (await t.app.db.rows("SELECT id FROM outbox WHERE kind = 'purge-folder'")).length
    await t.app.worker.idle()
    await start()
    await t.app.db.transaction(tx =>
      t.app.db.run(
        "INSERT INTO outbox (id, kind, payload, due_at, attempts, created_at) VALUES ('018f0000-0000-7000-8000-000000000000', 'purge-folder', ?, 1, 0, 1)",
        [
          JSON.stringify({
            folderId: '018f0000-0000-7000-8000-000000000001',
            bucketId: alice.userId,
          }),
        ],
        tx,
      ),
    )
    await t.app.worker.idle()
    expect(await jobs()).toBe(1)
    await end()
    await t.app.worker.idle()
    expect(await jobs()).toBe(0)
  })

  it('requests do not query the state: each process reads it once a second', async () => {
    const seen: string[] = []
    const database = await newDatabase()
    const one = await startApp(
      { DATABASE_URL: database.url, WORKERS: '1' },
      { onStatement: sql => void seen.push(sql) },
    )
    try {
      const ann = await one.signIn('ann')
      seen.length = 0
      const began = Date.now()
      for (let i = 0; i < 20; i++) await ann.upload(`${i}.txt`, 'x')
      const looks = seen.filter(sql => / maintenance\b/.test(sql)).length
      expect(looks).toBeLessThanOrEqual((Date.now() - began) / 1000 + 1)
      expect(seen.length).toBeGreaterThan(60)
    } finally {
      await one.stop()
      await database.drop()
    }
  })
})

describe('A maintenance', () => {
  it('is started, changed and ended by operators, and visible to everyone', async () => {
    expect(await ask(t.anonymous, CURRENT)).toEqual({ maintenance: null })
    const first = await start(HOUR, 'First')
    expect(first).toEqual({
      startedAt: expect.any(String),
      endsAt: expect.any(String),
      message: 'First',
    })
    const second = await start(2 * HOUR)
    expect([second.startedAt, second.message]).toEqual([first.startedAt, 'A larger disk'])
    await until(async () => {
      const { maintenance } = await ask(t.anonymous, CURRENT)
      return maintenance?.endsAt === second.endsAt
    })
    expect(await end()).toBe(true)
    expect(await end()).toBe(false)
    expect(t.logs()).toContain('"event":"maintenance_started"')
    expect(t.logs()).toContain('"event":"maintenance_ended"')
  })

  it.each([
    ['a past end', { until: '2020-01-01T00:00:00Z' }, 'input.until'],
    ['an end in years', { until: '2199-01-01T00:00:00Z' }, 'input.until'],
    [
      'a long message',
      { until: new Date(Date.now() + HOUR).toISOString(), message: 'x'.repeat(501) },
      'input.message',
    ],
  ])('is refused with %s', async (_what, input, field) => {
    const { code, errors } = await olga.graphql(START, { input })
    expect([code, errors?.[0]?.extensions.field]).toEqual(['INVALID_INPUT', field])
  })

  it('ends at the set time', async () => {
    await start(1500)
    await until(isWritable, 5000)
    expect((await alice.upload('after.txt', 'x')).status).toBe(200)
    expect(await ask(alice, CURRENT)).toEqual({ maintenance: null })
  })

  it('reaches running instances within two seconds when the command line starts or ends it', async () => {
    const beside = maintenanceService({ db: t.app.db })
    const began = Date.now()
    await beside.start({ endsAt: Date.now() + HOUR, message: 'A larger disk' }, null)
    await known(true)
    expect(Date.now() - began).toBeLessThan(2500)
    expectRefused(await alice.rest('POST', '/api/folders', { json: { path: 'x' } }))
    expect(await beside.find()).toMatchObject({ message: 'A larger disk' })
    expect(await beside.end(null)).toBe(true)
    await known(false)
  })

  it('makes uploads and the command line wait, or report when it ends', async () => {
    const told: string[] = []
    const patience = (maintenanceSeconds: number) => ({
      signal: new AbortController().signal,
      retries: 1,
      maintenanceSeconds,
      onRetry: ({ code }: TransferFailure) => void told.push(code),
    })
    const make = (path: string) => async () => {
      const { status, msg, response } = await alice.rest('POST', '/api/folders', { json: { path } })
      if (status !== 200) throw new TransferFailure(response.code, msg, response)
      return response.folder.path as string
    }
    await start(HOUR)
    await expect(persist(make('waits'), 'once', patience(900))).rejects.toMatchObject({
      code: 'MAINTENANCE',
      message: expect.stringContaining(' UTC, '),
    })
    expect(told).toEqual([])
    await start(2500)
    // Includes requests that must not be repeated otherwise, and retries more often than for other
    // failures.
    expect(await persist(make('waits'), 'once', patience(900))).toBe('waits')
    expect(new Set(told)).toEqual(new Set(['MAINTENANCE']))
  })

  it('applies from the first request of an instance that starts during it', async () => {
    const database = await newDatabase()
    const settings = { DATABASE_URL: database.url, WORKERS: '1' }
    const one = await startApp(settings)
    const ann = await one.signIn('ann')
    await maintenanceService({ db: one.app.db }).start({ endsAt: Date.now() + HOUR }, null)
    await one.stop()
    const two = await startApp(settings)
    const { status, response } = await rest(two.url, 'POST', '/api/folders', {
      headers: { cookie: ann.cookie },
      json: { path: 'x' },
    })
    expect([status, response.code]).toEqual([503, 'MAINTENANCE'])
    await two.stop()
    await database.drop()
  })

  it('stays consistent when two operators start and end it concurrently, and writes resume after the last end', async () => {
    const input = { until: new Date(Date.now() + HOUR).toISOString(), message: 'A larger disk' }
    const all = Array.from({ length: 12 }, (_, i) =>
      i % 3 === 2 ? olga.graphql(END) : olga.graphql(START, { input }),
    )
    for (const { code } of await Promise.all(all)) expect(code).toBeUndefined()
    expect((await t.app.db.rows('SELECT slot FROM maintenance')).length).toBeLessThanOrEqual(1)
    await end()
    await sleep(1100)
    expect(await isWritable()).toBe(true)
  })
})
