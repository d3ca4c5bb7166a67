import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { v7 } from 'uuid'
import { storageSums } from '../../db/queries/backlog.ts'
import { createSweeper } from '../../src/jobs/sweeper.ts'
import { createLog } from '../../src/runtime/log.ts'
import { observed } from '../../src/storage/observed.ts'
import { catalog } from '../../src/telemetry/catalog.ts'
import { joined, silentMeasures, silentTraces } from '../../src/telemetry/telemetry.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { sampleOf, samplesOf, scrape, seriesOf } from '../support/scrape.ts'
import { until } from '../support/until.ts'

let w: TestApp
let alice: Person
let metricsUrl: string

beforeAll(async () => {
  w = await startApp({ METRICS_PORT: '0', GRAPHIQL: 'false' })
  metricsUrl = `http://127.0.0.1:${w.app.metricsPort()}/metrics`
  alice = await w.signIn('alice')
})
afterAll(() => w.stop())

const figures = () => scrape(metricsUrl)

describe('The metrics', () => {
  it('label requests by route, whatever their paths contain', async () => {
    await alice.upload('papers/secret-plan.txt', 'some bytes')
    await alice.rest('GET', '/api/files/info?path=papers/secret-plan.txt')
    await alice.rest('GET', '/api/files/info?path=nothing.txt')
    const text = await figures()
    const info = { method: 'GET', route: '/api/files/info' }
    expect(sampleOf(text, 'satchel_http_requests_total', { ...info, status: '200' })).toBe(1)
    expect(sampleOf(text, 'satchel_http_requests_total', { ...info, status: '404' })).toBe(1)
    expect(sampleOf(text, 'satchel_http_request_seconds_count', info)).toBe(2)
    expect(sampleOf(text, 'satchel_http_bytes_total', { direction: 'received' })).toBeGreaterThan(
      100,
    )
    expect(sampleOf(text, 'satchel_http_bytes_total', { direction: 'sent' })).toBeGreaterThan(100)
    expect(sampleOf(text, 'satchel_http_requests_running', {})).toBe(0)
  })

  it('count a request as cut when its client leaves before the response', async () => {
    const { hostname, port } = new URL(w.url)
    const socket = connect(Number(port), hostname)
    const head = [
      'POST /graphql HTTP/1.1',
      'host: localhost',
      `cookie: ${alice.cookie}`,
      'content-length: 99',
    ]
    socket.write(`${[...head, 'content-type: application/json'].join('\r\n')}\r\n\r\n{`)
    await until(() => w.app.gateway.running > 0)
    socket.destroy()
    await until(() => w.app.gateway.running === 0)
    const text = await figures()
    const of = { method: 'POST', route: '/graphql' }
    expect(sampleOf(text, 'satchel_http_requests_total', { ...of, status: 'cut' })).toBe(1)
    expect(sampleOf(text, 'satchel_http_requests_total', { ...of, status: '200' })).toBeUndefined()
  })

  it('count requests refused by a maintenance as such, not as failures', async () => {
    const { maintenance } = w.app.services
    await maintenance.start({ endsAt: Date.now() + 60_000 }, null)
    const { status } = await alice.rest('POST', '/api/folders', { json: { path: 'new' } })
    await maintenance.end(null)
    const text = await figures()
    const of = { method: 'POST', route: '/api/folders' }
    expect(status).toBe(503)
    expect(sampleOf(text, 'satchel_http_requests_total', { ...of, status: 'maintenance' })).toBe(1)
    expect(sampleOf(text, 'satchel_http_requests_total', { ...of, status: '503' })).toBeUndefined()
  })

  it('label GraphQL operations by root field and outcome, not by names that clients choose', async () => {
    await alice.graphql('query Made_Up_Name { me { drive { id } } }')
    await alice.graphql('query Another { me { drive { id } drive { name: id } } }')
    await alice.graphql('{ me { id drive { id } } }')
    await alice
      .graphql(
        'mutation { deleteEntries(input: { entries: [{ at: { path: "no" } }] }) { deletedIds } }',
      )
      .catch(() => {})
    await w.anonymous.graphql('{ me { drive { id } } }')
    const text = await figures()
    const count = (labels: Record<string, string>) =>
      sampleOf(text, 'satchel_graphql_operation_seconds_count', labels)
    expect(count({ type: 'query', field: 'me.drive', outcome: 'ok' })).toBe(2)
    expect(count({ type: 'query', field: 'me.several', outcome: 'ok' })).toBe(1)
    expect(text).not.toContain('Made_Up_Name')
  })

  it('count an operation as failed, not as refused, when a part of the service fails', async () => {
    const { sessions } = w.app.services
    const { list } = sessions
    sessions.list = () => Promise.reject(new Error('broken on purpose'))
    const { errors } = await alice.graphql('{ me { sessions { id } } }')
    sessions.list = list
    expect(errors?.[0]?.extensions.code).toBe('INTERNAL')
    await alice.graphql('query ($id: ID!) { me { drive { entry(id: $id) { id } } } }')
    const text = await figures()
    const of = { type: 'query', field: 'me.sessions' }
    expect(
      sampleOf(text, 'satchel_graphql_operation_seconds_count', { ...of, outcome: 'failed' }),
    ).toBe(1)
    expect(
      sampleOf(text, 'satchel_graphql_operation_seconds_count', { ...of, outcome: 'refused' }),
    ).toBeUndefined()
    const drive = { type: 'query', field: 'me.drive', outcome: 'failed' }
    expect(sampleOf(text, 'satchel_graphql_operation_seconds_count', drive)).toBeUndefined()
  })

  it('include statements, transactions, store calls and events', async () => {
    const text = await figures()
    expect(
      sampleOf(text, 'satchel_database_statements_total', { operation: 'insert', table: 'entry' }),
    ).toBeGreaterThan(0)
    expect(
      sampleOf(text, 'satchel_database_statement_seconds_count', {
        operation: 'select',
        outcome: 'ok',
      }),
    ).toBeGreaterThan(5)
    expect(
      sampleOf(text, 'satchel_database_transaction_seconds_count', { outcome: 'ok' }),
    ).toBeGreaterThan(0)
    expect(
      sampleOf(text, 'satchel_store_call_seconds_count', { operation: 'put', outcome: 'ok' }),
    ).toBe(1)
    expect(sampleOf(text, 'satchel_store_written_bytes_total', {})).toBe(10)
    expect(sampleOf(text, 'satchel_events_total', { kind: 'file.created' })).toBe(1)
    expect(sampleOf(text, 'satchel_store_calls_running', { operation: 'put' })).toBe(0)
  })

  it('include password attempts and rate limit refusals', async () => {
    const { response } = await alice.rest('POST', '/api/files/quick_share', {
      json: { object: 'papers/secret-plan.txt', password: 'right' },
    })
    const guess = (password: string) =>
      w.anonymous.rest('POST', `/api/share/resolve/${response.sharing_token}`, {
        json: { password },
      })
    for (let i = 0; i < 12; i++) await guess('wrong')
    const text = await figures()
    expect(sampleOf(text, 'satchel_password_attempts_total', { outcome: 'wrong' })).toBe(10)
    expect(sampleOf(text, 'satchel_password_attempts_total', { outcome: 'refused' })).toBe(2)
  })

  it('include jobs, mails and sweeps by outcome', async () => {
    await alice.rest('POST', '/api/files/share', {
      json: { email: 'bob@example.com', objects: ['papers/secret-plan.txt'], send_email: true },
    })
    await w.settle()
    const text = await figures()
    expect(sampleOf(text, 'satchel_job_seconds_count', { kind: 'mail', outcome: 'done' })).toBe(1)
    for (const kind of ['mail', 'webhook', 'copy-entries'])
      expect(sampleOf(text, 'satchel_jobs_given_up', { kind })).toBe(0)
    expect(sampleOf(text, 'satchel_mail_seconds_count', { outcome: 'sent' })).toBe(1)
    expect(sampleOf(text, 'satchel_sweep_seconds_count', { outcome: 'ok' })).toBeGreaterThan(0)
    const last = sampleOf(text, 'satchel_sweep_last_success_timestamp_seconds', {})
    expect(Math.abs(Date.now() / 1000 - Number(last))).toBeLessThan(60)
  })

  it('report stored bytes, limits and the health of the parts', async () => {
    const text = await figures()
    expect(sampleOf(text, 'satchel_database_up', {})).toBe(1)
    expect(sampleOf(text, 'satchel_store_up', {})).toBe(1)
    expect(sampleOf(text, 'satchel_storage_allowed_bytes', {})).toBeGreaterThan(0)
    expect(sampleOf(text, 'satchel_database_connections_limit', {})).toBeGreaterThan(0)
    expect(sampleOf(text, 'satchel_info', { version: '0.1.0' })).toBe(1)
    expect(sampleOf(text, 'nodejs_eventloop_lag_p99_seconds', {})).toBeGreaterThan(0)
  })

  it('sum the limits of drives that are in force', async () => {
    const { db } = w.app
    const plan = await db.row<{ bytes: number }>(
      "SELECT max_total_storage_bytes AS bytes FROM plan WHERE id = 'free'",
      [],
    )
    const before = (await storageSums(db)).allowed
    await db.OwnLimit.create({
      id: v7(),
      userId: alice.userId,
      maxTotalStorageBytes: 1000,
      changedAt: Date.now(),
    })
    expect((await storageSums(db)).allowed - before).toBe(1000 - Number(plan?.bytes))
    await db.OwnLimit.destroy({ where: { userId: alice.userId } })
  })

  it('include every metric of the dashboard and the alerts', async () => {
    const known = new Set(
      [...(await figures()).matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name),
    )
    for (const file of ['grafana-dashboard.json', 'alerts.yml']) {
      const text = readFileSync(new URL(`../../docker/${file}`, import.meta.url), 'utf8')
      const asked = new Set(
        [...text.matchAll(/\b((?:satchel|nodejs|process)_\w+)/g)].map(([, name = '']) => name),
      )
      expect(asked.size).toBeGreaterThan(10)
      expect(
        [...asked].filter(
          name => !known.has(name.replace(/_(bucket|count|sum)$/, '')) && !known.has(name),
        ),
      ).toEqual([])
    }
  })

  it('match the catalog', async () => {
    const declared = [...(await figures()).matchAll(/^# TYPE (satchel_\w+) (\w+)$/gm)].map(
      ([, name, type]) => `${name} ${type}`,
    )
    expect(declared.toSorted()).toEqual(
      catalog.map(({ name, type }) => `${name} ${type}`).toSorted(),
    )
  })
})

describe('Hostile requests', () => {
  const noise = (i: number) => `${i}-${Math.random().toString(36).slice(2)}`

  async function attack(from: number): Promise<void> {
    for (let i = from; i < from + 15; i++) {
      const name = noise(i)
      await fetch(`${w.url}/${name}`).then(r => r.text())
      await fetch(`${w.url}/api/${name}/${name}`, { method: 'DELETE' }).then(r => r.text())
      await fetch(`${w.url}/auth/${name}/login`, { redirect: 'manual' }).then(r => r.text())
      await fetch(`${w.url}/share/${name}`).then(r => r.text())
      await fetch(`${w.url}/pages/${name}`).then(r => r.text())
      await fetch(`${w.url}/api/blobs/${name}`).then(r => r.text())
      await alice.graphql(`query q${i}x { alias${i}: me { a${i}: drive { id } } }`)
      await alice.graphql(`query q${i}x { ${'x'}${i} }`)
      await fetch(`${w.url}/graphql`, { method: 'POST', body: name }).then(r => r.text())
      await alice.rest('GET', `/api/files/info?path=${name}`)
      await raw(['PROPFIND', 'MKCOL', 'LOCK', 'REPORT', 'MSEARCH'][i % 5] ?? '', `/${name}`)
    }
  }

  /** A request with a method that fetch does not send. */
  async function raw(method: string, path: string): Promise<void> {
    const { hostname, port } = new URL(w.url)
    const socket = connect(Number(port), hostname)
    socket.write(`${method} ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`)
    socket.resume()
    await once(socket, 'close')
  }

  it('add no series after the first of their kind', async () => {
    await attack(0)
    // Node.js reports kinds of garbage collection and of open resources when one first occurs.
    const series = async () =>
      seriesOf(await figures()).filter(name => !/^nodejs_(gc|active)_/.test(name))
    const before = await series()
    await attack(1000)
    const after = await series()
    expect(after.filter(series => !before.includes(series))).toEqual([])
    expect(before.length).toBeGreaterThan(200)
  })

  it('leave no personal data in the metrics', async () => {
    const text = await figures()
    const personal = [
      'alice',
      'bob',
      'example.com',
      'secret-plan',
      'papers',
      alice.userId,
      alice.cookie.slice(11),
    ]
    expect(w.logs()).toContain(alice.userId)
    expect(personal.filter(word => text.includes(word))).toEqual([])
    const values = samplesOf(text).flatMap(({ labels }) => Object.values(labels))
    // Ids, tokens and checksums are longer than any word of ours that is no path of a route.
    expect(values.filter(value => /[0-9a-f]{8}-|[\w-]{33}/.test(value))).toEqual([])
  })
})

describe('The metrics port', () => {
  it('serves only /metrics, and only its methods', async () => {
    const [elsewhere, post, head] = await Promise.all([
      fetch(metricsUrl.replace('/metrics', '/api/files/tree')),
      fetch(metricsUrl, { method: 'POST' }),
      fetch(metricsUrl, { method: 'HEAD' }),
    ])
    expect([elsewhere.status, post.status, head.status]).toEqual([404, 405, 200])
    expect(await head.text()).toBe('')
    expect((await fetch(`${w.url}/metrics`)).status).toBe(404)
  })

  it('responds and reports a failure when the database does not respond', async () => {
    const other = await startApp({ METRICS_PORT: '0' })
    const url = `http://127.0.0.1:${other.app.metricsPort()}/metrics`
    await other.app.db.close()
    let text = ''
    // A reading from before is cached for five seconds.
    await until(async () => {
      text = await scrape(url)
      return sampleOf(text, 'satchel_database_up', {}) === 0
    })
    expect(sampleOf(text, 'satchel_jobs_due', { kind: 'mail' })).toBeUndefined()
    expect(sampleOf(text, 'satchel_store_up', {})).toBe(1)
    await other.stop()
  })

  it('reports a hanging store, and probes it only once', async () => {
    let asked = 0
    const hung = { ...w.app.store, ping: () => new Promise<void>(() => void asked++) }
    const readings: (() => unknown)[] = []
    observed(
      hung,
      joined({ ...silentMeasures, read: read => void readings.push(read) }, silentTraces),
    )
    const all = () => Promise.all(readings.map(read => read()))
    expect(await Promise.all([all(), all()])).toEqual(
      [1, 2].map(() => expect.arrayContaining([{ storeUp: 0 }])),
    )
    expect(asked).toBe(1)
  })

  it('shows when a sweeper started, if it has never succeeded', async () => {
    const { db, store, services } = w.app
    const readings: (() => unknown)[] = []
    const read = () => readings[0]?.()
    const broken = {
      ...services.kept,
      purgeExpired: () => Promise.reject(new Error('broken on purpose')),
    }
    const sweeper = createSweeper({
      db,
      store,
      log: createLog({ logLevel: 'silent' }),
      kept: broken,
      everyMs: 60_000,
      eventDays: 1,
      contents: services.contents,
      telemetry: joined(
        { ...silentMeasures, read: given => void readings.push(given) },
        silentTraces,
      ),
    })
    expect(read()).toEqual({})
    const before = Date.now() / 1000
    sweeper.start()
    await sweeper.run()
    await sweeper.stop()
    const { lastSweep } = read() as { lastSweep: number }
    expect(lastSweep).toBeGreaterThanOrEqual(before)
    expect(lastSweep).toBeLessThanOrEqual(Date.now() / 1000)
  })

  it('shows outcomes of small label sets from zero', async () => {
    const other = await startApp({ METRICS_PORT: '0' })
    const text = await scrape(`http://127.0.0.1:${other.app.metricsPort()}/metrics`)
    await other.stop()
    const outcomes = {
      satchel_password_attempts_total: ['right', 'wrong', 'refused'],
      satchel_sign_ins_total: [
        'signed_in',
        'auth_failed',
        'sign_up_closed',
        'provider_unavailable',
      ],
      satchel_mail_seconds_count: ['sent', 'refused', 'failed'],
      satchel_webhook_delivery_seconds_count: ['delivered', 'timeout', 'connection'],
    }
    for (const [name, words] of Object.entries(outcomes))
      for (const outcome of words)
        expect([name, outcome, sampleOf(text, name, { outcome })]).toEqual([name, outcome, 0])
  })

  it('is closed without the setting', async () => {
    const other = await startApp()
    expect(other.app.metricsPort()).toBeUndefined()
    expect(other.app.figures).toBeUndefined()
    await other.stop()
  })
})
