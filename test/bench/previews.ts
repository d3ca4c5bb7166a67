/**
 * The cost of previews: rendering photos of 24 megapixels (checksum, pictures, store) and the whole
 * way from upload to preview, both compared with sharp alone on the same cores; the delay of other
 * requests meanwhile; and a folder of a thousand photos, fetched like the console does. `npm run
 * bench:previews -- [sqlite|mysql]`. On a shared machine, only the ratios are meaningful.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { enqueueAll } from '../../src/services/job.ts'
import { previewJob } from '../../src/services/tree/preview-job.ts'
import { insertFolder } from './folder.ts'
import { type Bench, median, startService } from './service.ts'

const engine = process.argv[2] === 'mysql' ? 'mysql' : 'sqlite'
const PHOTOS = Number(process.env.PHOTOS || 40)
const ROUNDS = Number(process.env.ROUNDS || 3)
const TILES = Number(process.env.TILES || 1000)
const CORES = availableParallelism()
/** The number of connections of a browser to one host. */
const CONNECTIONS = 6
/** The number of files for which the service reports previews in one request. */
const ASKED = 100
/** Milliseconds between requests of others. */
const PACE = 20
const IDLE_REQUESTS = 300
const aims = { making: 1.3, waiting: 2, bytes: 15_000_000, seconds: 2 }

const say = (line: string) => process.stdout.write(`${line}\n`)
const verdict = (isMet: boolean) => (isMet ? 'holds' : 'DOES NOT HOLD')
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })

/** Smooth shapes with sensor noise, about as large as a camera photo of these dimensions. */
async function photo(seed: number): Promise<Buffer> {
  const [width, height] = [6000, 4000]
  const noise = { type: 'gaussian', mean: 128, sigma: 20 } as const
  const grain = await sharp({
    create: { width: 1500, height: 1000, channels: 3, background: '#000', noise },
  })
    .png({ compressionLevel: 1 })
    .toBuffer()
  const shapes = Array.from({ length: 40 }, (_, i) => {
    const at = (k: number) => (seed * 7919 + i * 104_729 + k * 1_299_709) % 1500
    return `<circle cx="${at(1)}" cy="${at(2)}" r="${50 + (at(3) % 250)}" fill="hsl(${at(4) % 360} 60% 50%)" opacity="0.5"/>`
  })
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="1500" height="1000">${shapes.join('')}</svg>`
  const drawn = await sharp(grain)
    .composite([{ input: Buffer.from(drawing) }])
    .png({ compressionLevel: 1 })
    .toBuffer()
  return sharp(drawn).resize(width, height).jpeg({ quality: 97 }).toBuffer()
}

/** Photos with different contents: bytes after the end of a JPEG are not part of the picture. */
const copiesOf = (photos: Buffer[], count: number, mark: string): Buffer[] =>
  Array.from({ length: count }, (_, i) =>
    Buffer.concat([photos[i % photos.length] ?? Buffer.alloc(0), Buffer.from(`${mark} ${i}`)]),
  )

interface Answer {
  status: number
  bytes: number
  body: Buffer
}

async function send(
  { url, cookie }: Pick<Bench, 'url' | 'cookie'>,
  path: string,
  { method = 'GET', type, body }: { method?: string; type?: string; body?: Buffer | string } = {},
): Promise<Answer> {
  const headers =
    body === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(body) }
  const req = request(path.startsWith('http') ? path : `${url}${path}`, {
    agent,
    method,
    headers: { cookie, ...headers },
  })
  // A response may arrive before the whole body is sent, for example with an error.
  req.on('error', () => {})
  req.end(body)
  const [res] = await once(req, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of res) chunks.push(chunk)
  const content = Buffer.concat(chunks)
  return { status: res.statusCode, bytes: content.length, body: content }
}

async function upload(bench: Bench, path: string, bytes: Buffer): Promise<void> {
  const [folder = '', name = ''] = path.split('/')
  const part = (of: string, more = '') =>
    `--bench\r\ncontent-disposition: form-data; name="${of}"${more}\r\n`
  const before = `${part('folder')}\r\n${folder}\r\n${part('file', `; filename="${name}"`)}content-type: image/jpeg\r\n\r\n`
  const body = Buffer.concat([Buffer.from(before), bytes, Buffer.from('\r\n--bench--\r\n')])
  const type = 'multipart/form-data; boundary=bench'
  const answer = await send(bench, '/api/files/upload', { method: 'POST', type, body })
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.body}`)
}

/** Runs this many tasks at a time, each with the next item of a list. */
async function atOnce<T>(
  count: number,
  list: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = [...list].reverse()
  const next = async () => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item)
  }
  await Promise.all(Array.from({ length: count }, next))
}

const count = async ({ db }: Bench, what: string): Promise<number> =>
  Number((await db.rows<{ n: number }>(`SELECT COUNT(*) AS n FROM ${what}`))[0]?.n)

async function untilMade(bench: Bench, previews: number): Promise<void> {
  while ((await count(bench, "preview WHERE state = 'made'")) < previews) {
    if ((await count(bench, "preview WHERE state = 'failed'")) > 0)
      throw new Error('A preview has failed.')
    await sleep(20)
  }
}

/**
 * Processor time of a process and its child processes in seconds: proc(5), stat, fields 14 to 17.
 */
function processorsOf(pid = 0): number {
  let ticks = 0
  for (const id of readdirSync('/proc').filter(name => /^\d+$/.test(name)))
    try {
      const [, rest = ''] = readFileSync(`/proc/${id}/stat`, 'latin1').split(') ')
      const fields = rest.split(' ').map(Number)
      const [parent, user = 0, system = 0, childUser = 0, childSystem = 0] = [
        fields[1],
        ...fields.slice(11, 15),
      ]
      if (Number(id) === pid) ticks += user + system + childUser + childSystem
      else if (parent === pid) ticks += user + system
    } catch {
      // The process has exited.
    }
  return ticks / 100
}

interface Taken {
  seconds: number
  processor: number
}

/**
 * Sharp alone, with the priority of the service's processes, so that other load affects both
 * equally.
 */
async function alone(folder: string): Promise<Taken> {
  const program = fileURLToPath(new URL('sharp-alone.ts', import.meta.url))
  const child = spawn('nice', ['-n', '15', process.execPath, program, folder, `${CORES}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return JSON.parse(await text(child.stdout))
}

/** The whole way, from the first byte of the first upload until the last preview is stored. */
async function wholeWay(bench: Bench, folder: string, photos: Buffer[]): Promise<Taken> {
  const before = processorsOf(bench.pid)
  const known = await count(bench, "preview WHERE state = 'made'")
  const start = performance.now()
  await atOnce(4, [...photos.entries()], ([i, bytes]) => upload(bench, `${folder}/${i}.jpg`, bytes))
  await untilMade(bench, known + photos.length)
  return {
    seconds: (performance.now() - start) / 1000,
    processor: processorsOf(bench.pid) - before,
  }
}

/** The part after the uploads: checksums, pictures and their storage. */
async function making(bench: Bench, mark: string): Promise<Taken> {
  const count = await forgetPreviews(bench)
  const before = processorsOf(bench.pid)
  const start = performance.now()
  // An upload wakes the worker.
  const small = sharp({ create: { width: 8, height: 8, channels: 3, background: '#123' } }).jpeg()
  await upload(
    bench,
    `wake/${mark}.jpg`,
    Buffer.concat([await small.toBuffer(), Buffer.from(mark)]),
  )
  await untilMade(bench, count + 1)
  const [seconds, processor] = [
    (performance.now() - start) / 1000,
    processorsOf(bench.pid) - before,
  ]
  return { seconds: seconds / count, processor: processor / count }
}

/** The durations of requests at a fixed pace in milliseconds, until some work ends. */
async function latencies(bench: Bench, isOver: (made: number) => boolean): Promise<number[]> {
  const taken: number[] = []
  while (!isOver(taken.length)) {
    const start = performance.now()
    const { status } = await send(
      bench,
      `/api/files/tree?path=${taken.length % 2 ? 'big' : 'p0'}&limit=100`,
    )
    if (status !== 200) throw new Error(`A page has the status ${status}.`)
    const time = performance.now() - start
    taken.push(time)
    await sleep(Math.max(0, PACE - time))
  }
  return taken
}

const p99 = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? Number.NaN

/** Renders all previews again, as after a restore without them. */
async function forgetPreviews({ db }: Bench): Promise<number> {
  const files = await db.rows<{ blobId: string; fileType: string }>(
    'SELECT e.blob_id AS blobId, e.file_type AS fileType FROM entry e JOIN blobs b ON b.id = e.blob_id JOIN preview p ON p.digest = b.sha256',
  )
  await db.transaction(async tx => {
    await db.run(
      "UPDATE blobs SET state = 'deleting' WHERE id IN (SELECT blob_id FROM preview)",
      [],
      tx,
    )
    await db.run('DELETE FROM preview', [], tx)
    await db.run('UPDATE blobs SET sha256 = NULL', [], tx)
    await enqueueAll(db, previewJob, files, tx)
  })
  return files.length
}

const LIST = `query ($after: String) { me { drive { entry(path: "tiles") { ... on Folder {
  entries(first: 500, after: $after) { nodes { id name ... on File { size contentType updatedAt } } pageInfo { hasNextPage endCursor } } } } } } }`
const PICTURES = `query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on File {
  preview { state placeholder small: url(size: SMALL) large: url(size: LARGE) } download(disposition: INLINE) { url } } } }`

interface Page {
  nodes: { id: string }[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
}

/** The folder as the console shows it: the list, the states of its tiles, and the pictures. */
async function tiles(bench: Bench): Promise<{ seconds: number; pictures: number; bytes: number }> {
  const start = performance.now()
  let bytes = 0
  const ask = async (query: string, variables: object) => {
    const body = JSON.stringify({ query, variables })
    const answer = await send(bench, '/graphql', { method: 'POST', type: 'application/json', body })
    bytes += answer.bytes
    const { data, errors } = JSON.parse(String(answer.body))
    if (errors) throw new Error(JSON.stringify(errors))
    return data
  }
  const ids: string[] = []
  for (let after: string | null = null, more = true; more; ) {
    const page: Page = (await ask(LIST, { after })).me.drive.entry.entries
    const { nodes, pageInfo } = page
    ids.push(...nodes.map(({ id }) => id))
    after = pageInfo.endCursor
    more = pageInfo.hasNextPage
  }
  const nodes: { preview: { small: string } }[] = []
  for (let i = 0; i < ids.length; i += ASKED)
    nodes.push(...(await ask(PICTURES, { ids: ids.slice(i, i + ASKED) })).nodes)
  let pictures = 0
  await atOnce(CONNECTIONS, nodes, async ({ preview }) => {
    const answer = await send(bench, preview.small)
    if (answer.status !== 200) throw new Error(`A picture has the status ${answer.status}.`)
    bytes += answer.bytes
    pictures += 1
  })
  return { seconds: (performance.now() - start) / 1000, pictures, bytes }
}

const folder = mkdtempSync(join(tmpdir(), 'satchel-photos-'))
const bench = await startService(engine, {
  SWEEP_SECONDS: '2',
  DATABASE_POOL: '8',
  ...(process.env.PROCESSES
    ? { DERIVE_PROCESSES: process.env.PROCESSES }
    : { DERIVE_PROCESSES: `${CORES}` }),
})
try {
  await insertFolder(bench.db, bench, 'big', 2000)
  const originals = await Promise.all([1, 2].map(photo))
  say(
    `${engine}, ${CORES} cores; ${PHOTOS} photos of 24 megapixels, ${ROUNDS} rounds after one that warms up`,
  )
  const ratios: Record<'the whole way' | 'making', Taken[]> = { 'the whole way': [], making: [] }
  for (let round = 0; round <= ROUNDS; round++) {
    // Different photos each time, because known contents are not rendered again.
    const photos = copiesOf(originals, round === 0 ? CORES : PHOTOS, `${round}`)
    for (const name of readdirSync(folder)) rmSync(join(folder, name))
    for (const [i, bytes] of photos.entries()) writeFileSync(join(folder, `${i}.jpg`), bytes)
    const first = round % 2 ? await alone(folder) : undefined
    const whole = await wholeWay(bench, `p${round}`, photos)
    const sharpAlone = first ?? (await alone(folder))
    const made = await making(bench, `${round}`)
    if (round === 0) continue
    const each = (figure: Taken) =>
      `${((figure.seconds * 1000) / PHOTOS).toFixed(0)} ms, ${((figure.processor * 1000) / PHOTOS).toFixed(0)} of processors`
    const size = photos.reduce((sum, { length }) => sum + length, 0) / PHOTOS / 1e6
    const all = { seconds: made.seconds * PHOTOS, processor: made.processor * PHOTOS }
    say(
      `  ${size.toFixed(1)} MB each: the whole way ${each(whole)}; after the upload ${each(all)}; sharp alone ${each(sharpAlone)}`,
    )
    const relative = ({ seconds, processor }: Taken) => ({
      seconds: seconds / sharpAlone.seconds,
      processor: processor / sharpAlone.processor,
    })
    ratios['the whole way'].push(relative(whole))
    ratios.making.push(relative(all))
  }
  for (const part of ['the whole way', 'making'] as const)
    for (const what of ['seconds', 'processor'] as const) {
      const ratio = median(ratios[part].map(figure => figure[what]))
      const unit = what === 'seconds' ? 'time on the clock' : 'time of processors'
      const aim = part === 'making' ? ` (aim ${aims.making}): ${verdict(ratio <= aims.making)}` : ''
      say(`${part}, in ${unit}: ${ratio.toFixed(2)} times sharp alone${aim}`)
    }

  const waits: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const idle = await latencies(bench, made => made >= IDLE_REQUESTS)
    const previews = await forgetPreviews(bench)
    let isMade = false
    await sleep(2500)
    const made = untilMade(bench, previews).then(() => {
      isMade = true
    })
    const meanwhile = await latencies(bench, () => isMade)
    await made
    say(
      `  ${meanwhile.length} requests while ${previews} are made: p50 ${median(meanwhile).toFixed(1)} ms, p99 ${p99(meanwhile).toFixed(1)}; idle: p50 ${median(idle).toFixed(1)}, p99 ${p99(idle).toFixed(1)}`,
    )
    waits.push(p99(meanwhile) / p99(idle))
  }
  say(
    `p99 of other requests: ${median(waits).toFixed(2)} times idle (aim ${aims.waiting}): ${verdict(median(waits) < aims.waiting)}`,
  )

  const [source] = originals
  const known = await count(bench, "preview WHERE state = 'made'")
  await atOnce(
    CORES,
    Array.from({ length: TILES }, (_, i) => i),
    async i => {
      const part = { left: (i * 37) % 3000, top: (i * 53) % 2000, width: 3000, height: 2000 }
      const bytes = await sharp(source)
        .extract(part)
        .modulate({ hue: (i * 47) % 360 })
        .resize(1400)
        .jpeg()
        .toBuffer()
      await upload(bench, `tiles/${String(i).padStart(4, '0')}.jpg`, bytes)
    },
  )
  await untilMade(bench, known + TILES)
  await tiles(bench)
  const shown: Awaited<ReturnType<typeof tiles>>[] = []
  for (let round = 0; round < Math.max(ROUNDS, 3); round++) shown.push(await tiles(bench))
  const seconds = median(shown.map(figure => figure.seconds))
  const [{ bytes = 0, pictures = 0 } = {}] = shown
  say(
    `${pictures} tiles: ${(bytes / 1e6).toFixed(1)} MB (aim ${aims.bytes / 1e6}): ${verdict(bytes < aims.bytes)}; ${seconds.toFixed(2)} s (aim ${aims.seconds}): ${verdict(seconds < aims.seconds)}`,
  )
} finally {
  agent.destroy()
  await bench.stop()
  rmSync(folder, { recursive: true })
}
