/**
 * The cost of operations compared with another commit, by turns, so that both run under the same
 * load: `npm run bench:beside -- ENGINE DIR [OPERATION...]`, where DIR is a work tree of the other
 * commit with its node_modules.
 */
import { resolve } from 'node:path'
import { type Bench, processorOf } from './service.ts'

const [engine = 'sqlite', other = '', ...wanted] = process.argv.slice(2)
const ROUNDS = Number(process.env.ROUNDS || 8)
/** On a busy machine, use few operations and more rounds, so that other load affects both sides. */
const EACH = Number(process.env.EACH || 60)
const AT_ONCE = 4

async function begin(dir: string): Promise<Bench> {
  const { startService } = await import(resolve(dir, 'test/bench/service.ts'))
  return startService(engine, {
    RATE_FOLDERS: '1000000',
    RATE_SHARING: '1000000',
    RATE_LINKS: '1000000',
  })
}

const sides = { before: await begin(other), after: await begin('.') }

async function send(
  { url, cookie }: Bench,
  method: string,
  path: string,
  body?: object,
): Promise<void> {
  const form = body instanceof FormData
  const headers = { cookie, ...(body && !form ? { 'content-type': 'application/json' } : {}) }
  const init = body ? { body: form ? body : JSON.stringify(body) } : {}
  const answer = await fetch(`${url}${path}`, { method, headers, ...init })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${answer.status}: ${text}`)
}

/** The operations, in an order in which each finds the results of the earlier ones. */
const operations: Record<string, (bench: Bench, name: string) => Promise<void>> = {
  upload(bench, name) {
    const form = new FormData()
    form.append('file', new File([name], name))
    return send(bench, 'POST', '/api/files/upload', form)
  },
  mkdir: (bench, name) => send(bench, 'POST', '/api/folders', { path: `d-${name}` }),
  move: (bench, name) =>
    send(bench, 'POST', '/api/files/move', { source: name, destination: `d-${name}/${name}` }),
  share: (bench, name) =>
    send(bench, 'POST', '/api/files/quick_share', { object: `d-${name}/${name}` }),
  remove: (bench, name) => send(bench, 'DELETE', `/api/folders?recursive=true&path=d-${name}`),
}

interface Cost {
  /** Milliseconds until all responses have arrived, and of processor time of the service. */
  time: number
  processor: number
}

const typical: Record<keyof Cost, (values: number[]) => number> = {
  // The first quartile, because other load only adds to the times.
  time: values => values.toSorted((a, b) => a - b)[values.length >> 2] ?? Number.NaN,
  // Processor time is counted in ticks, and a round may have none.
  processor: values => values.reduce((sum, value) => sum + value, 0) / values.length,
}

async function costOf(
  bench: Bench,
  operation: (bench: Bench, name: string) => Promise<void>,
  names: string[],
) {
  const [since, before] = [performance.now(), processorOf(bench.pid)]
  const left = [...names]
  const work = async () => {
    for (let name = left.pop(); name; name = left.pop()) await operation(bench, name)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return {
    time: (performance.now() - since) / EACH,
    processor: (processorOf(bench.pid) - before) / EACH,
  }
}

for (const title of wanted) if (!operations[title]) throw new Error(`No such operation: ${title}`)
const costs = new Map<string, { before: Cost[]; after: Cost[] }>(
  Object.keys(operations).map(title => [title, { before: [], after: [] }]),
)
for (let round = 0; round <= ROUNDS; round++)
  // The order alternates, too.
  for (const side of round % 2 ? (['before', 'after'] as const) : (['after', 'before'] as const))
    for (const [title, operation] of Object.entries(operations)) {
      const names = Array.from({ length: EACH }, (_, i) => `${round}-${i}`)
      const cost = await costOf(sides[side], operation, names)
      // The first round is a warm-up.
      if (round > 0) costs.get(title)?.[side].push(cost)
    }

for (const [title, { before, after }] of costs) {
  if (wanted.length > 0 && !wanted.includes(title)) continue
  const said = (['time', 'processor'] as const).map(of => {
    const [old = Number.NaN, now = Number.NaN] = [before, after].map(costs =>
      typical[of](costs.map(cost => cost[of])),
    )
    return `${of} ${old.toFixed(2)} ms before, ${now.toFixed(2)} ms now (${((now / old - 1) * 100).toFixed(1)} %)`
  })
  console.log(`${title.padEnd(8)} ${said.join('; ')}`)
}
await Promise.all(Object.values(sides).map(bench => bench.stop()))
