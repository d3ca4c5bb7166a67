/**
 * The resident memory of the service after many quick requests, and a minute later, and its
 * increase by uploads and proxied downloads: `npm run bench:memory`. The multipart upload has 2
 * GiB, or another size: `npm run bench:memory -- --gib 10`. `-- --requests` measures only the quick
 * requests. `-- --soak 20` measures only 20 minutes of mixed requests, at 9 a second.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { insertFolder } from './folder.ts'
import { uploadByGraphql, uploadByRest } from './form.ts'
import { type Bench, MiB, startService } from './service.ts'
import { send as sendParts, waysOf } from './upload-parts.ts'

const { gib, requests, soak } = parseArgs({
  options: {
    gib: { type: 'string', default: '2' },
    requests: { type: 'boolean' },
    soak: { type: 'string' },
  },
}).values

const QUICK_REQUESTS = 11_000
const AT_ONCE = 32

/** Only reads: they have no body, and each leaves garbage behind. */
async function askQuickly({ url, cookie }: Bench): Promise<void> {
  const paths = ['tree?path=big&limit=100', 'info?path=big/file-000042.txt']
  let asked = 0
  const work = async () => {
    while (asked++ < QUICK_REQUESTS) {
      const answer = await fetch(`${url}/api/files/${paths[asked % 2]}`, { headers: { cookie } })
      await answer.text()
      if (!answer.ok) throw new Error(`The service answered ${answer.status}.`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

async function measureRequests(): Promise<void> {
  const quick = await startService('sqlite')
  await insertFolder(quick.db, quick, 'big', 1000)
  await sleep(5000)
  const idle = quick.resident()
  await askQuickly(quick)
  const loaded = quick.resident()
  await sleep(60_000)
  const later = quick.resident()
  const title = `${QUICK_REQUESTS} quick requests`
  process.stdout.write(
    `${title.padEnd(40)} ${idle.toFixed(0)} MiB before, ${loaded.toFixed(0)} MiB after, ${later.toFixed(0)} MiB a minute later (${AIM})\n`,
  )
  await quick.stop()
}

const SOAK_RATE = 9
const AIM = 'aim: below 300'

async function newKey({ url, cookie }: Bench): Promise<string> {
  const made = await fetch(`${url}/api/api_keys/private/create`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'soak', scopes: ['private_files:read'] }),
  })
  const { response } = (await made.json()) as { response: { api_key: { key: string } } }
  return response.api_key.key
}

/** The requests of one turn of the soak, in this order. */
function soakTurn({ url, cookie }: Bench, key: string, turn: number): (() => Promise<void>)[] {
  const KiB = 1024
  const headers = { cookie }
  const json = { ...headers, 'content-type': 'application/json' }
  const name = `soak-${turn}`
  const ask = async (path: string, init: RequestInit = {}): Promise<string> => {
    const answer = await fetch(url + path, { headers, ...init })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path}: ${answer.status}: ${text}`)
    return text
  }
  const post = (path: string, body: unknown) =>
    ask(path, { method: 'POST', headers: json, body: JSON.stringify(body) })
  const form = (file: string, bytes: Buffer<ArrayBuffer>) => {
    const body = new FormData()
    body.append('folder', 'soak')
    body.append('file', new Blob([bytes]), file)
    return ask('/api/files/upload', { method: 'POST', body })
  }
  const size = turn % 20 === 0 ? 8 * MiB : (1 + (turn % 64)) * 8 * KiB
  return [
    () => form(`${name}.bin`, randomBytes(size)),
    () => form(`${name}.txt`, Buffer.from(`text ${turn} `.repeat(2000))),
    () => ask('/api/files/tree?path=big&limit=100'),
    () => post('/graphql', { query: '{ me { id drive { id } apiKeys { nodes { id } } } }' }),
    () => ask(`/api/search?query=soak-${turn % 10}`),
    () => ask('/dav/files/big/', { method: 'PROPFIND', headers: { 'x-api-key': key, depth: '1' } }),
    async () => {
      const made = JSON.parse(
        await ask(`/api/user/private/download_token?file=soak/${name}.bin`, { method: 'POST' }),
      ) as { response: { private_download_token: string } }
      await ask(`/api/d/private/${made.response.private_download_token}`)
    },
    () => ask(`/api/files/info?path=soak/${name}.txt`),
    () => ask(`/api/files/delete?file=soak/${name}.bin`, { method: 'DELETE' }),
  ].map(work => async () => void (await work()))
}

/** Sends mixed requests at a fixed rate, whether or not earlier requests have been answered. */
async function measureSoak(minutes: number): Promise<void> {
  // The same options as in `npm start` and the image.
  const malloc = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072' }
  const mixed = await startService('sqlite', malloc)
  await insertFolder(mixed.db, mixed, 'big', 1000)
  const key = await newKey(mixed)
  await sleep(5000)
  const idle = mixed.resident()
  const failed: string[] = []
  const running = new Set<Promise<void>>()
  const end = Date.now() + minutes * 60_000
  let sent = 0
  for (let turn = 0; Date.now() < end; turn++) {
    let before: Promise<void> = Promise.resolve()
    for (const work of soakTurn(mixed, key, turn)) {
      // The requests of a turn use the same file.
      const asked = before.then(work).catch((error: Error) => void failed.push(error.message))
      before = asked
      running.add(asked)
      asked.finally(() => running.delete(asked))
      sent++
      await sleep(1000 / SOAK_RATE)
    }
  }
  await Promise.all(running)
  const loaded = mixed.resident()
  await sleep(60_000)
  const later = mixed.resident()
  process.stdout.write(
    `${`${sent} mixed requests, ${minutes} minutes`.padEnd(40)} ${idle.toFixed(0)} MiB before, ${loaded.toFixed(0)} MiB after, peak ${mixed.peak().toFixed(0)} MiB, ${later.toFixed(0)} MiB a minute later (${AIM}), ${failed.length} failed\n`,
  )
  if (failed.length > 0) process.stdout.write(`${[...new Set(failed)].slice(0, 5).join('\n')}\n`)
  await mixed.stop()
}

if (soak) {
  await measureSoak(Number(soak))
  process.exit()
}
await measureRequests()
if (requests) process.exit()

// One user may use half of this budget, and the sixteenth of these uploads would be refused
// otherwise.
const bench = await startService('sqlite', {
  DOWNLOADS: 'proxy',
  BODY_MEMORY_BYTES: String(512 * MiB),
})

async function download(name: string): Promise<void> {
  const made = await fetch(`${bench.url}/api/files/quick_share`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie: bench.cookie },
    body: JSON.stringify({ object: name }),
  })
  const { response } = (await made.json()) as { response: { sharing_token: string } }
  const got = await fetch(`${bench.url}/api/d/${response.sharing_token}`)
  let bytes = 0
  for await (const piece of got.body ?? []) bytes += piece.length
  if (bytes !== 2048 * MiB) throw new Error(`Got ${bytes} bytes.`)
}

/** The parts and the completion. */
async function inParts(bytes: number): Promise<void> {
  const shape = { partSize: 4 * MiB, count: bytes / (4 * MiB) }
  const [, through] = await waysOf(bench, bench)
  const file = await through(shape)
  await sendParts(file, bench.cookie, shape.partSize, 0, shape.count)
  await file.complete()
}

async function measure(title: string, aim: number, work: () => Promise<unknown>): Promise<void> {
  bench.resetPeak()
  await sleep(500)
  const before = bench.resident()
  await work()
  const rise = bench.peak() - before
  process.stdout.write(`${title.padEnd(40)} +${rise.toFixed(0)} MiB (aim: below ${aim})\n`)
}

// The one-time memory of a process is allocated before the measurement.
await uploadByRest(bench, '', 'warm', 64 * MiB)
await uploadByGraphql(bench, '', 'warm-graphql', 64 * MiB)
await inParts(64 * MiB)
await measure(`${gib} GiB in parts, 4 at once, completed`, 150, () =>
  inParts(Number(gib) * 1024 * MiB),
)
await measure('2 GiB upload by REST', 150, () => uploadByRest(bench, '', 'a', 2048 * MiB))
await measure('2 GiB upload by GraphQL', 150, () => uploadByGraphql(bench, '', 'b', 2048 * MiB))
await measure('2 GiB download by proxy', 150, () => download('a'))
await measure('20 uploads of 100 MiB at once', 400, () =>
  Promise.all(Array.from({ length: 20 }, (_, i) => uploadByRest(bench, '', `p${i}`, 100 * MiB))),
)
await bench.stop()
