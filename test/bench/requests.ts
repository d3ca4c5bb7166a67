/**
 * The cost of a request compared with a bare node:http + mysql2 server that runs as many
 * statements, on the same MariaDB, by turns, and with many credentials compared with one: `npm run
 * bench:requests`; `-- credentials` for the latter only. On a shared machine, only the ratios are
 * meaningful.
 */
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { json as readJson } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { insertFolder } from './folder.ts'
import { firstMatch, median, processorOf, startService } from './service.ts'

const ROUNDS = 3
const SECONDS = 3
const CONNECTIONS = 32
const LINKS = 500
const CREDENTIALS = 64

const bench = await startService('mysql', {
  GRAPHIQL: 'false',
  RATE_LINKS: '1000000',
  LOG_LEVEL: 'info',
})
const { db, bucketId, rootId, cookie } = bench

await insertFolder(db, bench, 'big', 100_000)

const json = { 'content-type': 'application/json', cookie }
const makeShare = {
  method: 'POST',
  headers: json,
  body: JSON.stringify({ object: 'big/file-000042.txt' }),
} as const

/** Links that are requested by turns, so that requests do not all wait for one row. */
const links: { token: string; id: string }[] = []
for (let i = 0; i < LINKS; i++) {
  const made = await fetch(`${bench.url}/api/files/quick_share`, makeShare)
  const { response } = (await made.json()) as { response: { sharing_token: string } }
  const hex = Buffer.from(response.sharing_token, 'base64url').subarray(0, 16).toString('hex')
  links.push({
    token: response.sharing_token,
    id: hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
  })
}

const bareServer = join(dirname(fileURLToPath(import.meta.url)), 'bare.ts')
const bare = spawn(
  process.execPath,
  [bareServer, bench.databaseUrl, JSON.stringify({ rootId, bucketId })],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
  },
)
process.once('exit', () => bare.kill())
const bareUrl = await firstMatch(bare, /listening at (\S+)/)

interface Request {
  method?: 'GET' | 'POST'
  path: string
  headers?: Record<string, string>
  body?: string
}

const graphql = (query: string, variables = {}): Request => ({
  method: 'POST',
  path: '/graphql',
  headers: json,
  body: JSON.stringify({ query, variables }),
})

interface Case {
  title: string
  bare: Request[]
  rest: Request[]
  graphql: Request[]
  /** The share of the bare server's rate that REST and GraphQL should reach. */
  aims: [number, number]
}

const cases: Case[] = [
  {
    title: 'page of 100 in a folder of 100,000',
    bare: [{ path: '/tree', headers: { cookie } }],
    rest: [{ path: '/api/files/tree?path=big&limit=100', headers: { cookie } }],
    graphql: [
      graphql(
        '{ me { drive { entry(path: "big") { path ... on Folder { entries(first: 100) { nodes { id name size createdAt updatedAt ... on File { contentType md5 } } pageInfo { endCursor } } } } } } }',
      ),
    ],
    aims: [0.65, 0.45],
  },
  {
    title: 'one file',
    bare: [{ path: '/file', headers: { cookie } }],
    rest: [{ path: '/api/files/info?path=big/file-000042.txt', headers: { cookie } }],
    graphql: [
      graphql(
        '{ me { drive { entry(path: "big/file-000042.txt") { id name path size createdAt updatedAt ... on File { contentType md5 } } } } }',
      ),
    ],
    aims: [0.65, 0.45],
  },
  {
    title: 'link to its 302',
    bare: links.map(({ id }) => ({ path: `/link/${id}` })),
    rest: links.map(({ token }) => ({ path: `/api/d/${token}` })),
    graphql: links.map(({ token }) =>
      graphql(
        `mutation ($token: String!) { openShare(input: { token: $token }) { download { url fileName } } }`,
        {
          token,
        },
      ),
    ),
    aims: [0.65, 0.65],
  },
  {
    title: 'making a link',
    bare: [{ path: '/share', headers: { cookie } }],
    rest: [{ ...makeShare, path: '/api/files/quick_share' }],
    graphql: [
      graphql(
        'mutation { createLink(input: { entries: { at: { path: "big/file-000042.txt" } } }) { share { token url expiresAt } } }',
      ),
    ],
    aims: [0.6, 0.6],
  },
]

interface Figure {
  /** Responses per second. */
  rate: number
  /** Processor time of the server per response, in milliseconds. */
  processor: number
}

const loader = join(dirname(fileURLToPath(import.meta.url)), 'load.ts')

async function measure(
  url: string,
  pid: number | undefined,
  requests: Request[],
  apart = false,
): Promise<Figure> {
  const before = processorOf(pid)
  const options = JSON.stringify({
    url,
    connections: CONNECTIONS,
    duration: SECONDS,
    requests,
    apart,
  })
  const load = spawn(process.execPath, [loader], { stdio: ['pipe', 'pipe', 'inherit'] })
  load.stdin.end(options)
  const { wrong, rate, answers } = (await readJson(load.stdout)) as {
    wrong: number
    rate: number
    answers: number
  }
  if (wrong > 0) throw new Error(`${requests[0]?.path}: ${wrong} of ${answers} answers are wrong`)
  return { rate, processor: (processorOf(pid) - before) / answers }
}

process.stdout.write(
  `answers a second (of bare, aim), and processor time of the server for one; ${CONNECTIONS} connections of another process, medians of ${ROUNDS} rounds by turns\n\n`,
)
for (const { title, aims, ...sides } of process.argv.includes('credentials') ? [] : cases) {
  const figures = { bare: [] as Figure[], rest: [] as Figure[], graphql: [] as Figure[] }
  // The first round is a warm-up.
  for (let round = 0; round <= ROUNDS; round++)
    for (const side of ['bare', 'rest', 'graphql'] as const) {
      const [url, pid] = side === 'bare' ? [bareUrl, bare.pid] : [bench.url, bench.pid]
      const figure = await measure(url, pid, sides[side])
      if (round > 0) figures[side].push(figure)
    }
  const [floor, rest, graph] = Object.values(figures).map(all => ({
    rate: median(all.map(figure => figure.rate)),
    processor: median(all.map(figure => figure.processor)),
  })) as [Figure, Figure, Figure]
  const of = (name: string, figure: Figure, aim?: number) =>
    `${name} ${figure.rate.toFixed(0).padStart(5)}/s${aim ? ` (${(figure.rate / floor.rate).toFixed(2)}, ${aim})` : ''} ${figure.processor.toFixed(2)} ms`
  process.stdout.write(
    `${title.padEnd(36)}${of('bare', floor)}   ${of('REST', rest, aims[0])}   ${of('GraphQL', graph, aims[1])}\n`,
  )
}

/** The same requests with this many sessions, compared with one. */
const cookies = await Promise.all(Array.from({ length: CREDENTIALS }, bench.newSession))
const [one] = cases.filter(({ title }) => title === 'one file')
for (const face of ['rest', 'graphql'] as const) {
  const [request] = one?.[face] ?? []
  if (!request) continue
  const withCookie = (each: string): Request => ({
    ...request,
    headers: { ...request.headers, cookie: each },
  })
  const sides = [[withCookie(cookie)], cookies.map(withCookie)]
  const figures: Figure[][] = [[], []]
  for (let round = 0; round <= ROUNDS; round++)
    for (const [i, requests] of sides.entries()) {
      const figure = await measure(bench.url, bench.pid, requests, true)
      if (round > 0) figures[i]?.push(figure)
    }
  const [few = Number.NaN, many = Number.NaN] = figures.map(all =>
    median(all.map(({ rate }) => rate)),
  )
  const [cheap = Number.NaN, dear = Number.NaN] = figures.map(all =>
    median(all.map(({ processor }) => processor)),
  )
  process.stdout.write(
    `one file, ${face}: with one credential ${few.toFixed(0)}/s ${cheap.toFixed(3)} ms, with ${CREDENTIALS} ${many.toFixed(0)}/s (${(many / few).toFixed(2)}, 0.85) ${dear.toFixed(3)} ms\n`,
  )
}

bare.kill()
await bench.stop()
