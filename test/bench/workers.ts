/**
 * The capacity of two workers compared with one, on MariaDB: `npm run bench:workers`. Database and
 * load run on the same machine, so the throughput of the service says little. Instead, each worker
 * receives the same low rate of requests, and processor time is measured. Two processors can serve
 * as many requests as their time, and that of the busiest thread, allows.
 */
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { json as readJson } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { insertFolder } from './folder.ts'
import { type Bench, median, startService } from './service.ts'

const ROUNDS = Number(process.env.ROUNDS || 3)
const SECONDS = 4
/** At full speed, so that V8 compiles the code first. */
const WARM_UP_SECONDS = 6
/** For each worker. */
const CONNECTIONS = 16
const PROCESSORS = 2
const LINKS = 200

/** A provider that is never called: the embedded sign-in runs in one process. */
const PROVIDER = {
  OAUTH_BENCH_CLIENT_ID: 'satchel',
  OAUTH_BENCH_CLIENT_SECRET: 'secret',
  OAUTH_BENCH_AUTHORIZE_URL: 'https://sso.example.com/authorize',
  OAUTH_BENCH_TOKEN_URL: 'https://sso.example.com/token',
  OAUTH_BENCH_USERINFO_URL: 'https://sso.example.com/userinfo',
}

interface Request {
  method?: 'GET' | 'POST'
  path: string
  headers?: Record<string, string>
  body?: string
}

interface Side {
  workers: number
  bench: Bench
  links: string[]
  /** The path of a signed URL. */
  file: string
  pids: number[]
}

const json = { 'content-type': 'application/json' }

async function start(workers: number): Promise<Side> {
  const bench = await startService('mysql', {
    ...PROVIDER,
    WORKERS: String(workers),
    SIGNED_URL_SECONDS: '86400',
    RATE_LINKS: '1000000',
    CONNECTIONS_PER_ADDRESS: '1000000',
    LOG_LEVEL: 'error',
  })
  await insertFolder(bench.db, bench, 'big', 10_000)
  const headers = { cookie: bench.cookie }
  const form = new FormData()
  form.append('file', new Blob([Buffer.alloc(64 * 1024, 'x')]), 'file.bin')
  await fetch(`${bench.url}/api/files/upload`, { method: 'POST', headers, body: form })
  const links: string[] = []
  for (let i = 0; i < LINKS; i++) {
    const made = await fetch(`${bench.url}/api/files/quick_share`, {
      method: 'POST',
      headers: { ...headers, ...json },
      body: JSON.stringify({ object: 'file.bin' }),
    })
    links.push(
      ((await made.json()) as { response: { sharing_token: string } }).response.sharing_token,
    )
  }
  const signed = await fetch(`${bench.url}/api/d/${links[0]}`, { redirect: 'manual' })
  const file = new URL(signed.headers.get('location') ?? '').pathname
  const pid = bench.pid ?? 0
  const children = () =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
  while (workers > 1 && children().length < workers) await sleep(100)
  // The last worker may still be starting, and all workers collect the garbage of their start.
  await sleep(8000)
  return { workers, bench, links, file, pids: [pid, ...children().map(Number)] }
}

/** `rate` applies to each worker, in requests a second. */
const cases: { title: string; rate: number; requests(side: Side): Request[] }[] = [
  {
    title: 'page of 100 entries',
    rate: 100,
    requests: ({ bench }) => [
      { path: '/api/files/tree?path=big&limit=100', headers: { cookie: bench.cookie } },
    ],
  },
  {
    title: 'the same by GraphQL',
    rate: 100,
    requests: ({ bench }) => [
      {
        method: 'POST',
        path: '/graphql',
        headers: { ...json, cookie: bench.cookie },
        body: JSON.stringify({
          query:
            '{ me { drive { entry(path: "big") { path ... on Folder { entries(first: 100) { nodes { id name size createdAt updatedAt ... on File { contentType md5 } } pageInfo { endCursor } } } } } } }',
        }),
      },
    ],
  },
  {
    title: 'one file',
    rate: 200,
    requests: ({ bench }) => [
      { path: '/api/files/info?path=big/file-000042.txt', headers: { cookie: bench.cookie } },
    ],
  },
  { title: '64 KiB of a file', rate: 200, requests: ({ file }) => [{ path: file }] },
  {
    title: 'a link to its 302',
    rate: 200,
    requests: ({ links }) => links.map(token => ({ path: `/api/d/${token}` })),
  },
  {
    title: 'the page of a link',
    rate: 200,
    requests: ({ links }) => links.map(token => ({ path: `/share/${token}` })),
  },
  {
    title: 'that, a connection each',
    rate: 200,
    requests: ({ links }) =>
      links.map(token => ({ path: `/share/${token}`, headers: { connection: 'close' } })),
  },
]

/**
 * Processor time of each process so far in milliseconds: of its main thread, and of all its
 * threads.
 */
const timesOf = (pids: number[]) =>
  pids.map(pid => {
    const of = (task: string) => {
      try {
        return (
          Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6
        )
      } catch {
        // The thread has just ended.
        return 0
      }
    }
    const all = readdirSync(`/proc/${pid}/task`).map(of)
    return { main: of(String(pid)), all: all.reduce((sum, one) => sum + one, 0) }
  })

interface Figure {
  /** Responses per second that the processors allow. */
  carries: number
  /** Processor time per response, in milliseconds. */
  each: number
  p50: number
  p99: number
}

const loader = join(dirname(fileURLToPath(import.meta.url)), 'load.ts')

async function measure(
  { bench, pids, workers }: Side,
  requests: Request[],
  rate?: number,
): Promise<Figure> {
  const before = timesOf(pids)
  const load = spawn(process.execPath, [loader], { stdio: ['pipe', 'pipe', 'inherit'] })
  const pace = rate
    ? { overallRate: rate * workers, duration: SECONDS }
    : { duration: WARM_UP_SECONDS }
  load.stdin.end(
    JSON.stringify({ url: bench.url, connections: CONNECTIONS * workers, requests, ...pace }),
  )
  const said = (await readJson(load.stdout)) as {
    wrong: number
    answers: number
    p50: number
    p99: number
  }
  if (said.wrong > 0)
    throw new Error(`${requests[0]?.path}: ${said.wrong} of ${said.answers} answers are wrong`)
  const after = timesOf(pids)
  const took = (kind: 'main' | 'all') =>
    after.map((times, i) => (times[kind] - (before[i]?.[kind] ?? 0)) / said.answers)
  const each = took('all').reduce((sum, one) => sum + one, 0)
  return {
    carries: 1000 * Math.min(PROCESSORS / each, 1 / Math.max(...took('main'))),
    each,
    ...said,
  }
}

/** Private memory of a process, in MiB: proc(5), smaps_rollup. */
const privateOf = (pid: number): number =>
  [
    ...readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8').matchAll(/^Private_\w+:\s+(\d+) kB$/gm),
  ].reduce((sum, [, kB]) => sum + Number(kB), 0) / 1024

const sides = [await start(1), await start(2)] as const
const idle = sides.map(({ pids }) => pids.map(pid => privateOf(pid).toFixed(0)).join(', '))
process.stdout.write(
  `private memory of idle processes, MiB: one worker ${idle[0]}; two workers, after their supervisor, ${idle[1]}\n` +
    `answers a second that ${PROCESSORS} processors allow, processor time of one, and latency on this machine; medians of ${ROUNDS} rounds by turns, ${CONNECTIONS} connections for each worker\n\n`,
)
for (const { title, rate, requests } of cases) {
  const figures: [Figure[], Figure[]] = [[], []]
  for (const side of sides) await measure(side, requests(side))
  for (let round = 0; round < ROUNDS; round++)
    for (const [i, side] of sides.entries())
      figures[i]?.push(await measure(side, requests(side), rate))
  const [one, two] = figures.map(all => {
    const of = (name: keyof Figure) => median(all.map(figure => figure[name]))
    return { carries: of('carries'), each: of('each'), p50: of('p50'), p99: of('p99') }
  }) as [Figure, Figure]
  const say = ({ carries, each, p50, p99 }: Figure) =>
    `${carries.toFixed(0).padStart(5)}/s ${each.toFixed(2)} ms (${p50} ms, p99 ${p99} ms)`
  process.stdout.write(
    `${title.padEnd(24)} one ${say(one)}   two ${say(two)}   ratio ${(two.carries / one.carries).toFixed(2)}\n`,
  )
}
for (const { bench } of sides) await bench.stop()
