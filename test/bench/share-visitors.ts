/**
 * Many visitors of one shared folder at the same time: `npm run bench:share-visitors -- [sqlite |
 * mysql]`. Prints the page times of a visitor and of the owner, idle and under this load, and
 * compares the listing of the shared folder with that of an own folder, by turns. ENTRIES, VISITORS
 * and SECONDS make it smaller. THINK is the number of seconds for which a visitor looks at a page.
 */
import { spawn } from 'node:child_process'
import { Agent, request } from 'node:http'
import { dirname, join } from 'node:path'
import { json as readJson } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { insertFolder } from './folder.ts'
import { median, processorOf, startService } from './service.ts'

const [engine = 'sqlite'] = process.argv.slice(2)
if (engine !== 'sqlite' && engine !== 'mysql')
  throw new Error(`No such engine: ${engine}. Say sqlite or mysql.`)
const setting = (name: string, by: number) => Number(process.env[name] || by)
const ENTRIES = setting('ENTRIES', 100_000)
const VISITORS = setting('VISITORS', 1000)
const SECONDS = setting('SECONDS', 20)
const THINK = setting('THINK', 10)
const ROUNDS = setting('ROUNDS', 3)
const CONNECTIONS = 32

const bench = await startService(engine, { TRUST_PROXY: 'loopback', RATE_LINKS: '1000000' })
const { url, cookie, pid } = bench
await insertFolder(bench.db, bench, 'big', ENTRIES)
const made = await fetch(`${url}/api/folders/quick_share`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', cookie },
  body: JSON.stringify({ path: 'big' }),
})
const { response } = (await made.json()) as { response: { sharing_token: string } }
const page = `/share/${response.sharing_token}`

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

/** Milliseconds until the whole response has arrived, and its text. */
function ask(path: string, headers: Record<string, string>): Promise<{ ms: number; text: string }> {
  const since = performance.now()
  return new Promise((resolve, reject) => {
    const asked = request(`${url}${path}`, { agent, headers }, answer => {
      const parts: Buffer[] = []
      answer.on('data', part => parts.push(part))
      answer.on('error', reject)
      answer.on('end', () => {
        if (answer.statusCode !== 200) return reject(new Error(`${path}: ${answer.statusCode}`))
        resolve({ ms: performance.now() - since, text: Buffer.concat(parts).toString() })
      })
    })
    asked.on('error', reject).end()
  })
}

const addressOf = (i: number) => ({
  'x-forwarded-for': `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
})
const orders = ['', '?sort=size&desc=1', '?sort=changed&desc=1', '?desc=1']

/** The start of the next page according to its link. */
const nextIn = (text: string) =>
  />Next page</.test(text) &&
  /<a class="button quiet" href="([^"]*cursor=[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&')

/** Opens the folder in some order and reads page by page, with `think` seconds for each. */
async function visit(i: number, until: number, think: number, times: number[]): Promise<void> {
  let path = page + orders[i % orders.length]
  await sleep(think * 1000 * Math.random())
  while (performance.now() < until) {
    const { ms, text } = await ask(path, addressOf(i))
    times.push(ms)
    path = nextIn(text) || page
    await sleep(think * 1000 * (0.5 + Math.random()))
  }
}

/** The owner uses their own files. */
async function own(until: number, times: number[]): Promise<void> {
  while (performance.now() < until) {
    times.push((await ask('/api/files/tree?path=big&limit=100', { cookie })).ms)
    await sleep(20)
  }
}

const at = (times: number[], part: number) =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? Number.NaN

async function measure(visitors: number, think: number) {
  const [pages, owns]: [number[], number[]] = [[], []]
  const until = performance.now() + SECONDS * 1000
  const visits = Array.from({ length: visitors }, (_, i) => visit(i, until, think, pages))
  await Promise.all([...visits, own(until, owns)])
  return { pages, owns }
}

process.stdout.write(`${ENTRIES} entries in one shared folder, ${engine}; pages of 200\n\n`)
await measure(1, 0.02)
const idle = await measure(1, 0.02)
const busy = await measure(VISITORS, THINK)
for (const [title, of] of [
  ['page of a visitor', 'pages'],
  ['listing of the owner', 'owns'],
] as const) {
  const said = [0.5, 0.99].map(part => {
    const [before, meanwhile] = [at(idle[of], part), at(busy[of], part)]
    return `p${part * 100} idle ${before.toFixed(1)} ms, meanwhile ${meanwhile.toFixed(1)} ms (${(meanwhile / before).toFixed(1)} times)`
  })
  process.stdout.write(`${title.padEnd(24)}${said.join('   ')}\n`)
}
process.stdout.write(
  `meanwhile: ${VISITORS} visitors, ${(busy.pages.length / SECONDS).toFixed(0)} pages a second; the p99 should be under 5 times that of idle\n`,
)

// All visitors start at the same moment, as after a message to everyone.
const since = performance.now()
const together = await Promise.all(
  Array.from({ length: VISITORS }, (_, i) => ask(page, addressOf(i))),
)
const all = (performance.now() - since) / 1000
const times = together.map(({ ms }) => ms)
process.stdout.write(
  `all in one moment: ${all.toFixed(2)} s until everybody has a page, p50 ${at(times, 0.5).toFixed(0)} ms, p99 ${at(times, 0.99).toFixed(0)} ms\n\n`,
)
agent.destroy()

const loader = join(dirname(fileURLToPath(import.meta.url)), 'load.ts')

/** Responses per second, and processor time per response in milliseconds. */
async function load(path: string, headers: Record<string, string>) {
  const before = processorOf(pid)
  const child = spawn(process.execPath, [loader], { stdio: ['pipe', 'pipe', 'inherit'] })
  const options = {
    url,
    connections: CONNECTIONS,
    duration: Math.min(3, SECONDS),
    requests: [{ path, headers }],
  }
  child.stdin.end(JSON.stringify(options))
  const { wrong, rate, answers } = (await readJson(child.stdout)) as {
    wrong: number
    rate: number
    answers: number
  }
  if (wrong > 0) throw new Error(`${path}: ${wrong} of ${answers} answers are wrong`)
  return { rate, processor: (processorOf(pid) - before) / answers }
}

const sides = {
  own: () => load('/api/files/tree?path=big&limit=100', { cookie }),
  shared: () => load(`/api/share/entries/${response.sharing_token}?limit=100`, {}),
}
const figures = {
  own: [] as Awaited<ReturnType<typeof load>>[],
  shared: [] as Awaited<ReturnType<typeof load>>[],
}
// The first round is a warm-up.
for (let round = 0; round <= ROUNDS; round++)
  for (const side of ['own', 'shared'] as const) {
    const figure = await sides[side]()
    if (round > 0) figures[side].push(figure)
  }
const of = (side: 'own' | 'shared', what: 'rate' | 'processor') =>
  median(figures[side].map(figure => figure[what]))
process.stdout.write(
  `page of 100 by REST: own ${of('own', 'rate').toFixed(0)}/s, ${of('own', 'processor').toFixed(2)} ms; shared ${of('shared', 'rate').toFixed(0)}/s, ${of('shared', 'processor').toFixed(2)} ms; ratio ${(of('shared', 'rate') / of('own', 'rate')).toFixed(2)} (aim 0.8)\n`,
)
await bench.stop()
