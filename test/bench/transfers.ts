/**
 * The processor time of uploads and downloads compared with another commit, by turns, so that both
 * run under the same load: `npm run bench:transfers -- ENGINE DIR [PATTERN]`, where DIR is a work
 * tree of the other commit with its node_modules, and PATTERN is a regular expression that selects
 * operations by their titles.
 * TMPDIR selects the disk; in memory (/dev/shm), no sync hides the cost of computation.
 */
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { resolve } from 'node:path'
import { uploadByRest } from './form.ts'
import { type Bench, MiB, median } from './service.ts'

const [engine = 'sqlite', other = '.', pattern = ''] = process.argv.slice(2)
const ROUNDS = Number(process.env.ROUNDS || 5)
const KiB = 1024

interface Side {
  bench: Bench
  /** Signed URLs by size. */
  urls: Map<number, string>
  /** Signed URLs of links with a limit of downloads. */
  limited: (bytes: number) => Promise<string>
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

interface Asked {
  method?: string
  headers?: Record<string, string | number>
  body?: Buffer
}

/** Sends a request, and reads the whole response. */
const ask = (url: string, { method = 'GET', headers = {}, body }: Asked = {}) =>
  new Promise<{ text: string; headers: NodeJS.Dict<string | string[]> }>((done, fail) => {
    const req = request(url, { method, agent, headers }, res => {
      const isText = String(res.headers['content-type']).startsWith('application/json')
      const chunks: Buffer[] = []
      if (isText) res.on('data', chunk => chunks.push(chunk))
      else res.resume()
      res.on('error', fail).on('end', () => {
        const text = Buffer.concat(chunks).toString()
        if ((res.statusCode ?? 500) < 400) done({ text, headers: res.headers })
        else fail(new Error(`${method} ${url}: ${res.statusCode} ${text}`))
      })
    })
    req.on('error', fail).end(body)
  })

const json = (body: object) => Buffer.from(JSON.stringify(body))
const asJson = { 'content-type': 'application/json' }

/** The sizes of the files that the chosen operations download. */
const downloads = () =>
  [KiB, 100 * KiB, MiB, 256 * MiB].filter(() => chosen.some(({ isUpload }) => !isUpload))

async function begin(dir: string): Promise<Side> {
  const { startService } = await import(resolve(dir, 'test/bench/service.ts'))
  const bench: Bench = await startService(engine, {
    RATE_SHARING: '1000000',
    RATE_LINKS: '1000000',
    SIGNED_URL_SECONDS: '86400',
    CONNECTIONS_PER_ADDRESS: '1000000',
  })
  const { url, cookie } = bench
  const linkOf = async (bytes: number, more = {}) => {
    const shared = await ask(`${url}/api/files/quick_share`, {
      method: 'POST',
      headers: { ...asJson, cookie },
      body: json({ object: `down/${bytes}`, ...more }),
    })
    const token = JSON.parse(shared.text).response.sharing_token
    const opened = await ask(`${url}/api/share/resolve/${token}`, { method: 'POST' })
    return JSON.parse(opened.text).response.url as string
  }
  const urls = new Map<number, string>()
  for (const size of downloads()) {
    await uploadByRest(bench, 'down', String(size), size)
    urls.set(size, await linkOf(size))
  }
  const made = await ask(`${url}/api/api_keys/private/create`, {
    method: 'POST',
    headers: { ...asJson, cookie },
    body: json({
      name: 'bench',
      scopes: ['private_files:read', 'private_files:write', 'private_files:delete'],
    }),
  })
  keys.set(bench, JSON.parse(made.text).response.api_key.key)
  return { bench, urls, limited: bytes => linkOf(bytes, { max_downloads: 1 }) }
}

const keys = new Map<Bench, string>()
const bearer = (bench: Bench) => ({ authorization: `Bearer ${keys.get(bench)}` })

const bodies = new Map<number, Buffer>()
/** Not text, whose indexing would hide the cost of the upload. */
const bodyOf = (bytes: number) => {
  const body = bodies.get(bytes) ?? randomBytes(bytes)
  bodies.set(bytes, body)
  return body
}

const tus = { 'tus-resumable': '1.0.0' }
const named = (name: string) => ({
  'upload-metadata': `filename ${Buffer.from(name).toString('base64')}`,
})

/** The ways of uploading a file. */
const ways: Record<string, (bench: Bench, name: string, bytes: number) => Promise<unknown>> = {
  form: (bench, name, bytes) => {
    const boundary = 'satchel-bench'
    const body = Buffer.concat([
      Buffer.from(
        `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\ncontent-type: application/octet-stream\r\n\r\n`,
      ),
      bodyOf(bytes),
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ])
    return ask(`${bench.url}/api/files/upload`, {
      method: 'POST',
      headers: {
        ...bearer(bench),
        'content-type': `multipart/form-data; boundary=${boundary}`,
        'content-length': body.length,
      },
      body,
    })
  },
  put: (bench, name, bytes) =>
    ask(`${bench.url}/dav/files/${name}`, {
      method: 'PUT',
      headers: { ...bearer(bench), 'content-length': bytes },
      body: bodyOf(bytes),
    }),
  'tus in one': (bench, name, bytes) =>
    ask(`${bench.url}/api/tus`, {
      method: 'POST',
      headers: {
        ...bearer(bench),
        ...tus,
        ...named(name),
        'content-type': 'application/offset+octet-stream',
        'upload-length': bytes,
        'content-length': bytes,
      },
      body: bodyOf(bytes),
    }),
  'tus in two': async (bench, name, bytes) => {
    const { headers } = await ask(`${bench.url}/api/tus`, {
      method: 'POST',
      headers: { ...bearer(bench), ...tus, ...named(name), 'upload-length': bytes },
    })
    await ask(new URL(String(headers.location), bench.url).href, {
      method: 'PATCH',
      headers: {
        ...bearer(bench),
        ...tus,
        'content-type': 'application/offset+octet-stream',
        'upload-offset': 0,
        'content-length': bytes,
      },
      body: bodyOf(bytes),
    })
  },
}

interface Operation {
  title: string
  isUpload?: boolean
  times: number
  atOnce: number
  prepare?: (side: Side) => Promise<string>
  run(side: Side, name: string, prepared: string): Promise<unknown>
}

const read = (size: number) => (side: Side) => ask(side.urls.get(size) ?? '')

const operations: Operation[] = [
  { title: 'download 1 KiB', times: 400, atOnce: 8, run: read(KiB) },
  { title: 'download 100 KiB', times: 300, atOnce: 8, run: read(100 * KiB) },
  { title: 'download 1 MiB', times: 200, atOnce: 8, run: read(MiB) },
  { title: 'download 256 MiB', times: 2, atOnce: 1, run: read(256 * MiB) },
  {
    title: 'range of 300 KiB',
    times: 300,
    atOnce: 8,
    run: side =>
      ask(side.urls.get(256 * MiB) ?? '', {
        headers: { range: `bytes=${MiB + 5}-${MiB + 300 * KiB + 4}` },
      }),
  },
  {
    title: 'metered download 1 MiB',
    times: 100,
    atOnce: 8,
    prepare: side => side.limited(MiB),
    run: (_side, _name, url) => ask(url),
  },
  ...Object.entries(ways).flatMap(([way, upload]) =>
    [4 * KiB, MiB, 64 * MiB].map(bytes => ({
      title: `${way} ${bytes < MiB ? `${bytes / KiB} KiB` : `${bytes / MiB} MiB`}`,
      isUpload: true,
      times: bytes < MiB ? 200 : bytes === MiB ? 60 : 2,
      atOnce: 8,
      run: ({ bench }: Side, name: string) => upload(bench, name, bytes),
    })),
  ),
]

/** Processor time of all threads of a process, in milliseconds: proc(5), schedstat. */
const processorOf = (pid = 0): number =>
  readdirSync(`/proc/${pid}/task`).reduce(
    (sum, task) =>
      sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6,
    0,
  )

let serial = 0

/** Milliseconds of one operation: until the response has arrived, and of processor time. */
async function costOf(side: Side, { times, atOnce, prepare, run }: Operation) {
  const prepared: string[] = []
  for (let i = 0; i < times; i++) prepared.push((await prepare?.(side)) ?? '')
  const [since, before] = [performance.now(), processorOf(side.bench.pid)]
  const work = async () => {
    for (let one = prepared.pop(); one !== undefined; one = prepared.pop())
      await run(side, `f-${serial++}`, one)
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return {
    time: (performance.now() - since) / times,
    processor: (processorOf(side.bench.pid) - before) / times,
  }
}

const chosen = operations.filter(({ title }) => new RegExp(pattern).test(title))
const sides = { before: await begin(other), after: await begin('.') }
const loadOf = () => readFileSync('/proc/loadavg', 'utf8').split(' ')[0]

for (const operation of chosen) {
  const costs = {
    before: [] as { time: number; processor: number }[],
    after: [] as { time: number; processor: number }[],
  }
  for (let round = 0; round <= ROUNDS; round++)
    for (const side of round % 2
      ? (['before', 'after'] as const)
      : (['after', 'before'] as const)) {
      const cost = await costOf(sides[side], operation)
      // The first round is a warm-up.
      if (round > 0) costs[side].push(cost)
    }
  const said = (['processor', 'time'] as const).map(of => {
    const [old = Number.NaN, now = Number.NaN] = [costs.before, costs.after].map(all =>
      median(all.map(cost => cost[of])),
    )
    return `${of} ${old.toFixed(3)} ms before, ${now.toFixed(3)} ms now (${(old / now).toFixed(2)})`
  })
  process.stdout.write(`${operation.title.padEnd(24)} ${said.join('; ')}; load ${loadOf()}\n`)
}
await Promise.all(Object.values(sides).map(({ bench }) => bench.stop()))
process.exit()
