import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, createServer, request, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type BuiltService, startBuilt } from '../../support/built-service.ts'
import { newDatabase, rest } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

/** The interval of the readiness checks of the proxy. */
const POLL_MS = 200
const CLIENTS = 16
/** The number of restarts of each instance. */
const TIMES = 2

interface Upstream {
  service: BuiltService
  ready: boolean
  agent: Agent
}

let database: Awaited<ReturnType<typeof newDatabase>>
let dir: string
let proxy: Server
const upstreams: Upstream[] = []

const start = (name: string) =>
  startBuilt({
    DATA_DIR: mkdtempSync(join(dir, `${name}-`)),
    DATABASE_URL: database.url,
    SECRET_KEY: 'k'.repeat(32),
    BLOB_DIR: join(dir, 'blobs'),
    DRAIN_SECONDS: '2',
  })

const askAll = () =>
  Promise.all(
    upstreams.map(async upstream => {
      const answer = await rest(upstream.service.url, 'GET', '/readyz').catch(() => undefined)
      upstream.ready = answer?.status === 200
    }),
  )

let turn = 0
/** A plain reverse proxy: it keeps its connections, picks a ready instance, and retries nothing. */
function forward(): Server {
  return createServer((req, res) => {
    const ready = upstreams.filter(upstream => upstream.ready)
    const upstream = ready[turn++ % ready.length]
    if (!upstream) return void res.writeHead(502).end('no instance is ready')
    const { method, url, headers } = req
    const onward = request(
      `${upstream.service.url}${url}`,
      { method, headers, agent: upstream.agent },
      answer => {
        res.writeHead(answer.statusCode ?? 0, { 'content-type': answer.headers['content-type'] })
        answer.pipe(res)
      },
    )
    onward.on('error', error => res.writeHead(502).end(error.message))
    req.pipe(onward)
  })
}

beforeAll(async () => {
  database = await newDatabase()
  dir = mkdtempSync(join(tmpdir(), 'satchel-rolling-'))
  for (const name of ['a', 'b'])
    upstreams.push({
      service: await start(name),
      ready: false,
      agent: new Agent({ keepAlive: true, maxFreeSockets: 32 }),
    })
  await askAll()
  proxy = forward()
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
})

afterAll(async () => {
  proxy.closeAllConnections()
  proxy.close()
  await Promise.all(upstreams.map(({ service }) => service.end('SIGKILL')))
  await database.drop()
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
})

it('A rolling restart behind a proxy with persistent connections breaks no request', async () => {
  const address = proxy.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  const broken: string[] = []
  let done = 0
  let starting = false
  let over = false
  const poll = setInterval(askAll, POLL_MS)

  const client = async (n: number) => {
    for (let i = 0; !over; i++) {
      // Reads and changes alternate, because a proxy must not repeat a change.
      const init = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"query":"{ __typename }"}',
      }
      const [path, options] = (i + n) % 2 ? ['/auth/is_valid', {}] : ['/graphql', init]
      const answer = await fetch(`${url}${path}`, options)
        .then(async res => `${res.status} ${await res.text()}`)
        .catch(String)
      done++
      if (!/^200 .*(?:"authenticated":false|"__typename":"Query")/.test(answer)) broken.push(answer)
      // Pooled connections are idle for periods of every length. While an instance only starts,
      // nothing can break.
      await sleep(starting ? 100 : (i * 7) % 23)
    }
  }
  const clients = Array.from({ length: CLIENTS }, (_, n) => client(n))

  for (const [i, upstream] of Array<Upstream[]>(TIMES).fill(upstreams).flat().entries()) {
    expect(await upstream.service.end('SIGTERM')).toBe(0)
    starting = true
    upstream.service = await start(`again-${i}`)
    starting = false
    await until(() => upstream.ready)
  }
  over = true
  await Promise.all(clients)
  clearInterval(poll)

  expect(broken).toEqual([])
  expect(done).toBeGreaterThan(500 * TIMES)
})
