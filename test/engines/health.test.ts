import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { v7 } from 'uuid'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

declare const engine: 'sqlite' | 'mysql'

let w: TestApp
let olga: Person
let alice: Person
let at = Date.now() - 600_000

/** Collects the samples of the next fifteen seconds in all processes. */
async function tick(times = 1): Promise<void> {
  for (let i = 0; i < times; i++) {
    at += 15_000
    await w.app.sampler?.sample(at)
  }
}

interface Health {
  findings: { kind: string; severity: string; message: string; count: number }[]
  series: { name: string; values: (number | null)[] }[]
  routes: { name: string; count: number; failed: number; p95: number; share: number }[]
  fields: { name: string; count: number; failed: number }[]
  statements: { name: string; count: number }[]
  errorCounts: { code: string; count: number }[]
  unexpectedErrors: { requestId: string; route: string; cause: string; code: string }[]
  workers: { pid: number; memoryBytes: number }[]
  fullestDrives: {
    usedBytes: number
    maxBytes: number
    workspaceName: string | null
    account: { email: string }
  }[]
  firstRecordedAt: string | null
  stepSeconds: number
}

async function health(names: string[] = []): Promise<Health> {
  const { data, errors } = await olga.graphql<{ operator: { serviceHealth: Health } }>(
    `query ($names: [FigureName!]!) { operator { serviceHealth { firstRecordedAt stepSeconds
      findings { kind severity message count } series(names: $names) { name values }
      routes { name count failed p95 share } fields { name count failed } statements { name count }
      errorCounts { code count } unexpectedErrors { requestId route cause code } workers { pid memoryBytes }
      fullestDrives { usedBytes maxBytes workspaceName account { email } } } } }`,
    { names },
  )
  expect(errors).toBeUndefined()
  if (!data) throw new Error('no health')
  return data.operator.serviceHealth
}

const sumOf = ({ series, stepSeconds }: Health, name: string) =>
  (series.find(one => one.name === name)?.values ?? []).reduce<number>(
    (sum, v) => sum + (v ?? 0),
    0,
  ) * stepSeconds

const kinds = async () => (await health()).findings.map(({ kind }) => kind)

beforeAll(async () => {
  w = await startApp({ OPERATORS: 'olga@example.com', GRAPHIQL: 'false' })
  ;[olga, alice] = [await w.signIn('olga'), await w.signIn('alice')]
  await tick()
})
afterAll(() => w.stop())

describe('Metrics', () => {
  it('cover all requests, over all workers', async () => {
    const before = await health(['ANSWERED', 'REFUSED', 'FAILED', 'RECEIVED_BYTES', 'STATEMENTS'])
    await tick()
    const info = (path: string) => alice.rest('GET', `/api/files/info?path=${path}`)
    await alice.upload('papers/plan.txt', 'bytes')
    for (let i = 0; i < 19; i++)
      await Promise.all(Array.from({ length: 10 }, () => info('papers/plan.txt')))
    for (let i = 0; i < 10; i++) await info('nothing.txt')
    await tick()
    const after = await health(['ANSWERED', 'REFUSED', 'FAILED', 'RECEIVED_BYTES', 'STATEMENTS'])
    const more = (name: string) => Math.round(sumOf(after, name) - sumOf(before, name))
    // Including the upload, and the earlier request.
    expect(more('ANSWERED')).toBe(192)
    expect(more('REFUSED')).toBe(10)
    expect(more('FAILED')).toBe(0)
    expect(more('RECEIVED_BYTES')).toBeGreaterThan(200 * 50)
    expect(more('STATEMENTS')).toBeGreaterThan(200)
    expect(after.routes.find(({ name }) => name === 'GET /api/files/info')).toMatchObject({
      count: 200,
      failed: 0,
    })
    expect(after.errorCounts).toContainEqual({ code: 'FILE_NOT_FOUND', count: 10 })
    expect(after.statements.some(({ name }) => name.startsWith('select '))).toBe(true)
  })

  it('include unexpected errors with the request id, and without personal data', async () => {
    const { sessions } = w.app.services
    const { list } = sessions
    sessions.list = () =>
      Promise.reject(
        Object.assign(new TypeError('alice@example.com is secret'), { code: 'E_OOPS' }),
      )
    const broken = () => alice.graphql('{ me { sessions { id } } }')
    // Requests alternate between workers, so one reaches the broken service.
    const answers = [await broken(), await broken()].filter(({ errors }) => errors)
    sessions.list = list
    await tick()
    const { unexpectedErrors, fields, errorCounts } = await health()
    expect(answers.length).toBeGreaterThan(0)
    expect(unexpectedErrors).toHaveLength(answers.length)
    expect(unexpectedErrors[0]).toMatchObject({
      route: '/graphql',
      cause: 'TypeError E_OOPS',
      code: 'INTERNAL',
    })
    expect(w.logs()).toContain(unexpectedErrors[0]?.requestId)
    expect(fields.find(({ name }) => name === 'query me.sessions')?.failed).toBe(answers.length)
    expect(errorCounts).toContainEqual({ code: 'INTERNAL', count: answers.length })
    expect(JSON.stringify(unexpectedErrors)).not.toContain('alice')
  })

  it('count a closed connection', async () => {
    const before = sumOf(await health(['CUT']), 'CUT')
    const { hostname, port } = new URL(w.url)
    const socket = connect(Number(port), hostname)
    const head = [
      'POST /graphql HTTP/1.1',
      'host: localhost',
      `cookie: ${alice.cookie}`,
      'content-length: 99',
    ]
    socket.write(`${[...head, 'content-type: application/json'].join('\r\n')}\r\n\r\n{`)
    for (let i = 0; i < 100 && w.app.gateway.running === 0; i++)
      await new Promise(done => setTimeout(done, 20))
    socket.destroy()
    for (let i = 0; i < 100 && w.app.gateway.running > 0; i++)
      await new Promise(done => setTimeout(done, 20))
    await tick()
    expect(Math.round(sumOf(await health(['CUT']), 'CUT') - before)).toBe(1)
  })

  it('cover every process', async () => {
    await w.app.sampler?.sample()
    const { workers, firstRecordedAt } = await health()
    expect(workers).toHaveLength(process.env.TEST_WORKERS !== '1' && engine === 'mysql' ? 2 : 1)
    expect(workers[0]).toMatchObject({ pid: process.pid })
    expect(workers[0]?.memoryBytes).toBeGreaterThan(10_000_000)
    expect(Date.parse(firstRecordedAt ?? '')).toBeLessThan(Date.now())
  })
})

describe('Instances', () => {
  const note = (name: string, ago: number, alarms: object[]) =>
    w.app.db.InstanceState.create({
      name,
      startedAt: Date.now() - 1e7,
      seenAt: Date.now() - ago,
      alarms: JSON.stringify(alarms),
    })

  it('report problems to each other, and which instance has stopped responding', async () => {
    await note('other:8080', 60_000, [{ name: 'slow', value: 2.4 }])
    await note('dead:8080', 3_600_000, [{ name: 'volumeFull', value: 0.01 }])
    const messages = (await health()).findings.map(({ message }) => message)
    await w.app.db.InstanceState.destroy({ where: {} })
    expect(messages).toContain('One request in twenty takes longer than 2.4 seconds. (other:8080)')
    expect(messages.filter(message => message.includes('dead:8080'))).toEqual([
      expect.stringMatching(/^The instance dead:8080 has said nothing for 60 minutes/),
    ])
    expect(messages.filter(message => message.includes('volume'))).toEqual([])
  })

  it('record that they run, and remove the record when they stop', async () => {
    const { report, db } = w.app
    await w.app.sampler?.sample()
    await report.run()
    expect(await db.InstanceState.findAll({ raw: true })).toMatchObject([
      { name: expect.stringMatching(/:0$/) },
    ])
    await report.stop()
    expect(await db.InstanceState.findAll({ raw: true })).toEqual([])
  })

  it('predict when the volume will be full, by the growth of the last days', async () => {
    const { db } = w.app
    const now = Date.now()
    await db.StorageDay.destroy({ where: {} })
    const of = (days: number, usedBytes: number) => ({
      day: Math.floor(now / 86_400_000) - days,
      usedBytes,
      keptBytes: 0,
      at: now - days * 86_400_000,
    })
    await db.StorageDay.bulkCreate([of(10, 1e9), of(5, 3e9), of(0, 11e9)])
    const ask =
      '{ operator { serviceHealth { freeBytes forecast { days bytesPerDay knownDays } } } }'
    type Answer = {
      operator: {
        serviceHealth: { freeBytes: number; forecast: { days: number; bytesPerDay: number } | null }
      }
    }
    const { data } = await olga.graphql<Answer>(ask)
    const { freeBytes = 0, forecast } = data?.operator.serviceHealth ?? {}
    await db.StorageDay.destroy({ where: {} })
    expect(forecast).toEqual({ days: Math.floor(freeBytes / 1e9), bytesPerDay: 1e9, knownDays: 10 })
    expect((await olga.graphql<Answer>(ask)).data?.operator.serviceHealth.forecast).toBeNull()
  })
})

describe('Findings', () => {
  it('report waiting mails, with the last error and without addresses', async () => {
    const { db } = w.app
    const job = (attempts: number) => ({
      id: v7(),
      kind: 'mail',
      payload: '{}',
      attempts,
      createdAt: Date.now() - 7_300_000,
      dueAt: Date.now() + 3_600_000,
      lastError: 'connect ECONNREFUSED 127.0.0.1:25 for <bob@example.com>',
    })
    await db.Job.bulkCreate([job(3), job(2)])
    const { findings } = await health()
    await db.Job.destroy({ where: {} })
    expect(findings.find(({ kind }) => kind === 'JOBS_LATE')?.message).toBe(
      'Mail has waited for 2 hours: 2 messages. Last error: connect ECONNREFUSED 127.0.0.1:25 for <...@...>',
    )
    expect(await kinds()).not.toContain('JOBS_LATE')
  })

  it('report waiting thumbnails only after a day, because large uploads take long', async () => {
    const { db } = w.app
    const job = (kind: string, seconds: number) => ({
      id: v7(),
      kind,
      payload: '{}',
      attempts: 1,
      lastError: 'x',
      createdAt: Date.now() - seconds * 1000,
      dueAt: Date.now() + 3_600_000,
    })
    const late = async (...jobs: ReturnType<typeof job>[]) => {
      await db.Job.bulkCreate(jobs)
      const { findings } = await health()
      await db.Job.destroy({ where: {} })
      return findings.filter(({ kind }) => kind === 'JOBS_LATE').map(({ message }) => message)
    }
    expect(await late(job('preview', 80_000))).toEqual([])
    const other = await late(job('preview', 80_000), job('purge-folder', 700))
    expect(other).toEqual([expect.stringMatching(/^Jobs \(purge-folder\) have waited/)])
    expect(await late(job('preview', 90_000))).toEqual([
      expect.stringMatching(/^Jobs \(preview\) have waited/),
    ])
  })

  it('report failing requests', async () => {
    at = Date.now() - 150_000
    const { sessions } = w.app.services
    const { list } = sessions
    sessions.list = () => Promise.reject(new Error('broken on purpose'))
    for (let i = 0; i < 50; i++)
      await alice.graphql(i % 5 ? '{ me { id } }' : '{ me { sessions { id } } me2: me { id } }')
    sessions.list = list
    await tick()
    const { findings } = await health()
    expect(findings[0]).toMatchObject({ kind: 'ERRORS', severity: 'CRITICAL' })
    expect(findings[0]?.message).toMatch(/^\d+ % of the requests fail/)
  })

  it('report an unavailable store, and an almost full drive', async () => {
    const blobs = mkdtempSync(join(tmpdir(), 'satchel-health-'))
    const other = await startApp({ OPERATORS: 'olga@example.com', BLOB_DIR: blobs })
    try {
      const [op, bob] = [await other.signIn('olga'), await other.signIn('bob')]
      await other.limit({ maxTotalStorageBytes: 1000 })
      await bob.upload('large.bin', Buffer.alloc(960))
      renameSync(blobs, `${blobs}-away`)
      await other.app.sampler?.sample()
      await other.app.report.run()
      renameSync(`${blobs}-away`, blobs)
      const { data } = await op.graphql<{ operator: { serviceHealth: Health } }>(
        '{ operator { serviceHealth { findings { kind severity message } fullestDrives { usedBytes maxBytes workspaceName account { email } } } } }',
      )
      expect(data?.operator.serviceHealth.findings[0]).toMatchObject({
        kind: 'STORE_DOWN',
        severity: 'CRITICAL',
      })
      expect(data?.operator.serviceHealth.findings).toContainEqual({
        kind: 'DRIVE_FULL',
        severity: 'INFO',
        message: 'A drive is nearly full: bob@example.com (96 %).',
      })
      expect(data?.operator.serviceHealth.fullestDrives).toEqual([
        {
          usedBytes: 960,
          maxBytes: 1000,
          workspaceName: null,
          account: { email: 'bob@example.com' },
        },
      ])
      // Needed for the forecast and for other instances.
      const { StorageDay, InstanceState } = other.app.db
      expect(await StorageDay.findAll({ raw: true })).toMatchObject([
        { day: Math.floor(Date.now() / 86_400_000), usedBytes: 960 },
      ])
      expect((await InstanceState.findAll({ raw: true }))[0]?.alarms).toBe(
        '[{"name":"storeDown","value":0}]',
      )
    } finally {
      await other.stop()
      rmSync(blobs, { recursive: true, force: true })
    }
  })
})
