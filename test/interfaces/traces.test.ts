import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { createLog } from '../../src/runtime/log.ts'
import { createTracing } from '../../src/telemetry/tracing.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { until } from '../support/until.ts'
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts'

/** A span of OTLP as JSON: https://opentelemetry.io/docs/specs/otlp/ */
interface Span {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[]
  status: { code?: number; message?: string }
}

const SERVER = 2
const CLIENT = 3
const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'

/** A receiver of traces, like a collector. */
async function startCollector() {
  const spans: Span[] = []
  const bodies: string[] = []
  const authorizations: (string | undefined)[] = []
  const server: Server = createServer(async (req, res) => {
    const body = (await json(req)) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }
    authorizations.push(req.headers.authorization)
    bodies.push(JSON.stringify(body))
    if (req.url === '/v1/traces')
      spans.push(
        ...body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(scope => scope.spans)),
      )
    res.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    authorizations,
    async stop() {
      server.closeAllConnections()
      await new Promise(done => server.close(done))
    },
  }
}

const silence = createLog({ logLevel: 'silent' })

let collector: Awaited<ReturnType<typeof startCollector>>
let receiver: Receiver
let w: TestApp
let alice: Person
let stopped = false

const attributesOf = ({ attributes }: Span) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]))

/** The service exports its spans every few seconds, and the rest when it stops. */
async function sent(): Promise<Span[]> {
  if (!stopped) await w.stop()
  stopped = true
  return collector.spans
}

beforeAll(async () => {
  collector = await startCollector()
  receiver = await startReceiver()
  w = await startApp({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of%20the%20collector',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    // Samples only the traces that the caller has sampled, and none at random.
    OTEL_TRACES_SAMPLER_ARG: '0',
    WEBHOOK_ALLOW_ADDRESSES: '127.0.0.1',
  })
  alice = await w.signIn('alice')
})
afterAll(async () => {
  if (!stopped) await w.stop()
  await receiver.stop()
  await collector.stop()
})

describe('A request', () => {
  it('continues the trace of its caller through the operation, its statements and its store calls', async () => {
    const traceparent = `00-${TRACE}-${PARENT}-01`
    const form = new FormData()
    form.append('file', new Blob(['bytes']), 'secret-plan.txt')
    await alice.rest('POST', '/api/files/upload', { form, headers: { traceparent } })
    await fetch(`${w.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie: alice.cookie, traceparent },
      body: JSON.stringify({ query: '{ me { drive { entry(path: "secret-plan.txt") { id } } } }' }),
    })
    const logged = w
      .logs()
      .split('\n')
      .filter(line => line.includes(TRACE))
    expect(logged.length).toBeGreaterThanOrEqual(2)

    await alice.rest('GET', '/api/files/tree')
    await alice.rest('GET', '/api/files/tree', {
      headers: { traceparent: `00-${TRACE}-${PARENT}-00` },
    })
    await alice.rest('GET', '/api/files/tree', { headers: { traceparent: 'nonsense' } })
    const hook = await alice.graphql<{ createWebhook: { webhook: { id: string } } }>(
      `mutation { createWebhook(input: { url: "${receiver.url}" }) { webhook { id } } }`,
    )
    expect(hook.errors).toBeUndefined()
    await alice.upload('another.txt', 'x')
    await until(() => receiver.received.length > 0)

    const spans = await sent()
    const upload = spans.find(({ name }) => name === 'POST /api/files/upload')
    expect(upload).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, kind: SERVER })
    expect(upload && attributesOf(upload)).toMatchObject({ 'http.response.status_code': 200 })
    const put = spans.find(({ name }) => name === 'store put')
    expect(put).toMatchObject({ traceId: TRACE, parentSpanId: upload?.spanId, kind: CLIENT })

    const graphql = spans.find(({ name }) => name === 'POST /graphql')
    const operation = spans.find(({ name }) => name === 'query me.drive')
    expect(operation).toMatchObject({ traceId: TRACE, parentSpanId: graphql?.spanId })
    const statement = spans.find(
      ({ name, parentSpanId }) => /^select /.test(name) && parentSpanId === operation?.spanId,
    )
    expect(statement && attributesOf(statement)['db.query.text']).toMatch(/^SELECT .*\?/s)

    const transaction = spans.find(({ name }) => name === 'transaction')
    expect(
      spans.some(
        ({ name, parentSpanId }) => /^insert /.test(name) && parentSpanId === transaction?.spanId,
      ),
    ).toBe(true)
  })
})

describe('The exported data', () => {
  it('contains sampled spans only', async () => {
    const spans = await sent()
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]))
    expect(spans.filter(({ name }) => name === 'GET /api/files/tree')).toEqual([])
  })

  it('contains no personal data: no address, name, id or value', async () => {
    await sent()
    const text = collector.bodies.join('\n')
    expect(text).toContain('POST /api/files/upload')
    const personal = ['alice', 'example.com', 'secret-plan', alice.userId, alice.cookie.slice(11)]
    expect(personal.filter(word => text.includes(word))).toEqual([])
  })

  it('is sent with the configured headers', async () => {
    await sent()
    expect(new Set(collector.authorizations)).toEqual(new Set(['Bearer of the collector']))
  })
})

describe('A delivery to a webhook', () => {
  it('propagates its trace context', async () => {
    expect(receiver.received[0]?.headers.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
  })
})

describe('A sampler that ignores the caller', () => {
  const CALLS = 300

  it('samples traces at random, and keeps all spans of a sampled one', async () => {
    const { url, spans, stop } = await startCollector()
    const settings = { url: `${url}/v1/traces`, headers: {}, serviceName: 'satchel' }
    const tracing = createTracing({ ...settings, sampler: 'traceidratio', ratio: 0.5 }, silence)
    for (let i = 0; i < CALLS; i++) {
      // The smallest trace id, which is always in the sample. The other requests have no trace id.
      const traceparent = `00-${'1'.padStart(32, '0')}-${PARENT}-01`
      const request = tracing.request(i % 2 ? { traceparent } : {})
      if (!request) continue
      await request.run(() =>
        tracing.span({ name: 'outer' }, () => tracing.span({ name: 'inner' }, async () => {})),
      )
      request.end({ method: 'GET', route: '/', status: 200 })
    }
    await tracing.stop()
    await stop()
    const requests = spans.filter(({ kind }) => kind === SERVER)
    const continued = requests.filter(({ parentSpanId }) => parentSpanId === PARENT)
    for (const some of [continued, requests.filter(span => !continued.includes(span))]) {
      expect(some.length).toBeGreaterThan(CALLS / 2 / 4)
      expect(some.length).toBeLessThan((CALLS / 2) * (3 / 4))
    }
    for (const name of ['outer', 'inner'])
      expect(spans.filter(span => span.name === name)).toHaveLength(requests.length)
  })
})

describe('The trace state of a caller', () => {
  it('is neither stored nor propagated', async () => {
    const { url, bodies, stop } = await startCollector()
    const settings = { url: `${url}/v1/traces`, headers: {}, serviceName: 'satchel' }
    const tracing = createTracing(
      { ...settings, sampler: 'parentbased_always_on', ratio: 1 },
      silence,
    )
    const request = tracing.request({
      traceparent: `00-${TRACE}-${PARENT}-01`,
      tracestate: 'vendor=marker',
    })
    const headers = await request?.run(async () => tracing.headers())
    request?.end({ method: 'GET', route: '/', status: 200 })
    expect(Object.keys(headers ?? {})).toEqual(['traceparent'])
    await tracing.stop()
    await stop()
    expect(bodies.join()).toContain(TRACE)
    expect(bodies.join()).not.toContain('marker')
  })
})

describe('A failing collector', () => {
  it('is reported once a minute, with its status and without the headers', async () => {
    let asked = 0
    const server = createServer((_, res) => {
      asked++
      res.writeHead(401).end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const lines: string[] = []
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`
    const tracing = createTracing(
      {
        url,
        headers: { authorization: 'Bearer marker' },
        serviceName: 'satchel',
        sampler: 'always_on',
        ratio: 1,
      },
      createLog({ logLevel: 'info' }, { write: line => void lines.push(line) }),
    )
    // A batch holds 512 spans.
    for (let i = 0; i < 600; i++)
      tracing.request({})?.end({ method: 'GET', route: '/', status: 200 })
    await tracing.stop().catch(() => {})
    await new Promise(done => server.close(done))
    expect(asked).toBeGreaterThan(1)
    expect(lines.map(line => JSON.parse(line))).toMatchObject([{ level: 40, reason: 401 }])
    expect(lines.join()).not.toContain('marker')
  })
})
