/**
 * What a request costs beside a bare node:http + mysql2 server that runs the same statements, on the same MariaDB, by turns:
 * `npm run bench:requests`. Only the ratios mean something on a shared machine.
 */
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'
import { insertFolder } from './folder.ts'
import { firstMatch, median, startService } from './service.ts'

const ROUNDS = 3
const SECONDS = 3
const CONNECTIONS = 32

const bench = await startService('mysql', { GRAPHIQL: 'false', RATE_LINKS: '1000000' })
const { db, bucketId, rootId, cookie } = bench

await insertFolder(db, bench, 'big', 100_000)

const json = { 'content-type': 'application/json', cookie }
const made = await fetch(`${bench.url}/api/files/quick_share`, {
  method: 'POST',
  headers: json,
  body: JSON.stringify({ object: 'big/file-000042.txt' }),
})
const { response } = (await made.json()) as { response: { sharing_token: string } }
const token = response.sharing_token
const shareId = Buffer.from(token, 'base64url')
  .subarray(0, 16)
  .toString('hex')
  .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')

const bareServer = join(dirname(fileURLToPath(import.meta.url)), 'bare.ts')
const bare = spawn(process.execPath, [bareServer, bench.databaseUrl, JSON.stringify({ rootId, bucketId, shareId })], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const bareUrl = await firstMatch(bare, /listening at (\S+)/)

interface Request {
  method?: 'GET' | 'POST'
  path: string
  headers?: Record<string, string>
  body?: string
}

const graphql = (query: string): Request => ({
  method: 'POST',
  path: '/graphql',
  headers: json,
  body: JSON.stringify({ query }),
})

const cases: { title: string; bare: string; rest: Request; graphql: Request }[] = [
  {
    title: 'tree page of 100 in a folder of 100,000',
    bare: '/tree',
    rest: { path: '/api/files/tree?path=big&limit=100', headers: { cookie } },
    graphql: graphql(
      '{ me { drive { entry(path: "big") { path ... on Folder { entries(first: 100) { nodes { id name size createdAt updatedAt ... on File { contentType md5 } } pageInfo { endCursor } } } } } } }',
    ),
  },
  {
    title: 'metadata of one file',
    bare: '/file',
    rest: { path: '/api/files/tree?path=big&limit=1', headers: { cookie } },
    graphql: graphql(
      '{ me { drive { entry(path: "big/file-000042.txt") { id name path size createdAt updatedAt ... on File { contentType md5 } } } } }',
    ),
  },
  {
    title: 'public link to its 302',
    bare: '/link',
    rest: { path: `/api/d/${token}` },
    graphql: graphql(`mutation { openShare(input: { token: "${token}" }) { download { url fileName } } }`),
  },
  {
    title: 'making a public link',
    bare: '/share',
    rest: {
      method: 'POST',
      path: '/api/files/quick_share',
      headers: json,
      body: JSON.stringify({ object: 'big/file-000042.txt' }),
    },
    graphql: graphql(
      'mutation { createLink(input: { file: { at: { path: "big/file-000042.txt" } } }) { share { token url expiresAt } } }',
    ),
  },
]

async function rate(url: string, { path, ...request }: Request): Promise<number> {
  const result = await autocannon({ url: `${url}${path}`, connections: CONNECTIONS, duration: SECONDS, ...request })
  const wrong = result.non2xx - (result.statusCodeStats?.['302']?.count ?? 0)
  if (wrong > 0 || result.errors > 0) throw new Error(`${path}: ${wrong} wrong answers, ${result.errors} errors`)
  return result.requests.average
}

process.stdout.write(`requests a second, ${CONNECTIONS} connections, medians of ${ROUNDS} rounds by turns\n\n`)
for (const { title, bare: bareRequestPath, rest, graphql: document } of cases) {
  const figures: [number[], number[], number[]] = [[], [], []]
  // The first round only warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    const rates = [
      await rate(bareUrl, { path: bareRequestPath, headers: { cookie } }),
      await rate(bench.url, rest),
      await rate(bench.url, document),
    ]
    if (round > 0) for (const [i, r] of rates.entries()) figures[i]?.push(r)
  }
  const [b, r, g] = figures.map(median) as [number, number, number]
  process.stdout.write(
    `${title.padEnd(42)} bare ${b.toFixed(0).padStart(6)}   REST ${r.toFixed(0).padStart(6)} (${(r / b).toFixed(2)}, aim 0.50)   GraphQL ${g.toFixed(0).padStart(6)} (${(g / b).toFixed(2)}, aim 0.25)\n`,
  )
}

bare.kill()
await bench.stop()
