/**
 * The cost of metrics and traces: the same requests to services with and without them, by turns,
 * compared by processor time. `npm run bench:metrics -- [sqlite|mysql]`. On a shared machine, only
 * the ratios are meaningful.
 */
import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { insertFolder } from './folder.ts'
import { type Bench, processorOf, startService } from './service.ts'

const engine = process.argv[2] === 'mysql' ? 'mysql' : 'sqlite'
const ROUNDS = Number(process.env.ROUNDS || 12)
const EACH = Number(process.env.EACH || 1000)
const AT_ONCE = 8
/** The scrape interval of docker/prometheus.yml. */
const SCRAPE_MS = 15_000

/** A receiver of traces that accepts everything. */
const collector = createServer((req, res) => req.resume().on('end', () => res.end('{}'))).listen(
  0,
  '127.0.0.1',
)
await once(collector, 'listening')
const OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`

const METRICS_PORT = '0'
// With the usual settings.
const LOG_LEVEL = 'info'
const variants: Record<string, Record<string, string>> = {
  off: { FIGURES: 'false' },
  figures: {},
  metrics: { METRICS_PORT },
  'metrics and traces': { METRICS_PORT, OTEL_EXPORTER_OTLP_ENDPOINT },
  'all traces': { METRICS_PORT, OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER: 'always_on' },
}

interface Operation {
  path: string
  body?: string
}

const LIST =
  '{ me { drive { entry(path: "big") { path ... on Folder { entries(first: 100) { nodes { id name size createdAt updatedAt } } } } } } }'
const operations: Record<string, Operation> = {
  'page of 100': { path: '/api/files/tree?path=big&limit=100' },
  'one file': { path: '/api/files/info?path=big/file-000042.txt' },
  'list by GraphQL': { path: '/graphql', body: JSON.stringify({ query: LIST }) },
}

const agent = new Agent({ keepAlive: true, maxSockets: 4 * AT_ONCE })

async function send({ url, cookie }: Bench, { path, body }: Operation): Promise<void> {
  const type =
    body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const req = request(`${url}${path}`, {
    agent,
    method: body ? 'POST' : 'GET',
    headers: { cookie, ...type },
  })
  req.end(body)
  const [res] = await once(req, 'response')
  res.resume()
  await once(res, 'end')
  if (res.statusCode !== 200) throw new Error(`${path}: ${res.statusCode}`)
}

/** Processor time per request, in milliseconds. */
async function cost(bench: Bench, operation: Operation): Promise<number> {
  const before = processorOf(bench.pid)
  let left = EACH
  const work = async () => {
    while (left-- > 0) await send(bench, operation)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return (processorOf(bench.pid) - before) / EACH
}

const services = new Map<string, Bench>()
const scrapes: NodeJS.Timeout[] = []
for (const [name, settings] of Object.entries(variants)) {
  const given =
    settings.METRICS_PORT === undefined ? settings : { ...settings, METRICS_PORT: await freePort() }
  const bench = await startService(engine, { ...given, LOG_LEVEL })
  await insertFolder(bench.db, bench, 'big', 2000)
  services.set(name, bench)
  if (given.METRICS_PORT)
    scrapes.push(
      setInterval(
        () => void fetch(`http://127.0.0.1:${given.METRICS_PORT}/metrics`).then(r => r.text()),
        SCRAPE_MS,
      ),
    )
}

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise(done => server.close(done))
  return String(port)
}

const names = [...services.keys()]
const costs = new Map<string, number[]>()
for (let round = 0; round <= ROUNDS; round++)
  // The order alternates, too.
  for (const [title, operation] of Object.entries(operations))
    for (const name of round % 2 ? names : names.toReversed()) {
      const bench = services.get(name)
      if (!bench) continue
      const taken = await cost(bench, operation)
      const key = `${title} ${name}`
      // The first round is a warm-up.
      if (round > 0) costs.set(key, [...(costs.get(key) ?? []), taken])
    }

/** The mean of the lower half, because other load only adds to the times. */
const typical = (values: number[]) => {
  const lower = values.toSorted((a, b) => a - b).slice(0, Math.ceil(values.length / 2))
  return lower.reduce((sum, value) => sum + value, 0) / lower.length
}

process.stdout.write(
  `${engine}: processor time for one request, and what it is more than without\n`,
)
for (const title of Object.keys(operations)) {
  const off = typical(costs.get(`${title} off`) ?? [])
  const said = names.map(name => {
    const now = typical(costs.get(`${title} ${name}`) ?? [])
    return `${name} ${now.toFixed(3)} ms${name === 'off' ? '' : ` (${((now / off - 1) * 100).toFixed(1)} %)`}`
  })
  process.stdout.write(`${title.padEnd(16)} ${said.join('   ')}\n`)
}

for (const timer of scrapes) clearInterval(timer)
agent.destroy()
await Promise.all([...services.values()].map(bench => bench.stop()))
collector.close()
collector.closeAllConnections()
