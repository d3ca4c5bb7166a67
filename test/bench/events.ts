/**
 * What changes cost, side by side with another commit: in turns, so that both meet the same machine.
 * `npm run bench:events -- ENGINE DIR`, where DIR is a work tree of the other commit with its modules.
 */
import { resolve } from 'node:path'
import { type Bench, median } from './service.ts'

const [engine = 'sqlite', other = ''] = process.argv.slice(2)
const ROUNDS = 8
const EACH = 60
const AT_ONCE = 4

async function begin(dir: string): Promise<Bench> {
  const { startService } = await import(resolve(dir, 'test/bench/service.ts'))
  return startService(engine, { RATE_FOLDERS: '1000000', RATE_SHARING: '1000000', RATE_LINKS: '1000000' })
}

const sides = { before: await begin(other), after: await begin('.') }

async function send({ url, cookie }: Bench, method: string, path: string, body?: object): Promise<void> {
  const form = body instanceof FormData
  const headers = { cookie, ...(body && !form ? { 'content-type': 'application/json' } : {}) }
  const init = body ? { body: form ? body : JSON.stringify(body) } : {}
  const answer = await fetch(`${url}${path}`, { method, headers, ...init })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${answer.status}: ${text}`)
}

/** The operations, in an order in which each finds what the ones before have left. */
const operations: Record<string, (bench: Bench, name: string) => Promise<void>> = {
  upload(bench, name) {
    const form = new FormData()
    form.append('file', new File([name], name))
    return send(bench, 'POST', '/api/files/upload', form)
  },
  mkdir: (bench, name) => send(bench, 'POST', '/api/folders', { path: `d-${name}` }),
  move: (bench, name) => send(bench, 'POST', '/api/files/move', { source: name, destination: `d-${name}/${name}` }),
  share: (bench, name) => send(bench, 'POST', '/api/files/quick_share', { object: `d-${name}/${name}` }),
  remove: (bench, name) => send(bench, 'DELETE', `/api/folders?recursive=true&path=d-${name}`),
}

/** Milliseconds an operation. */
const times: Record<string, Record<string, number[]>> = {}
for (let round = 0; round < ROUNDS; round++)
  for (const [side, bench] of Object.entries(sides))
    for (const [title, operation] of Object.entries(operations)) {
      const names = Array.from({ length: EACH }, (_, i) => `${round}-${i}`)
      const since = performance.now()
      const work = async () => {
        for (let name = names.pop(); name; name = names.pop()) await operation(bench, name)
      }
      await Promise.all(Array.from({ length: AT_ONCE }, work))
      const took = (performance.now() - since) / EACH
      const known = times[title] ?? {}
      // The first round warms up.
      times[title] = round === 0 ? known : { ...known, [side]: [...(known[side] ?? []), took] }
    }

for (const [title, { before = [], after = [] }] of Object.entries(times)) {
  const [old, now] = [median(before), median(after)]
  console.log(
    `${title}: ${old.toFixed(2)} ms before, ${now.toFixed(2)} ms now (${((now / old - 1) * 100).toFixed(0)} %)`,
  )
}
await Promise.all(Object.values(sides).map(bench => bench.stop()))
