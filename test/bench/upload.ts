/**
 * The cost of uploads and downloads through the service, compared with a bare node:http server that
 * writes and reads the same bytes on the same disk, with MD5 and fsync, by turns, and the processor
 * time of each server: `npm run bench:upload`; `-- whole`, `-- parts`, `-- put` or `-- down` for
 * one of the four, and `--engine mysql`. Whole uploads are also compared with a bare server that
 * writes the service's rows. TMPDIR selects the disk. In memory (/dev/shm), no sync hides the cost
 * of computation.
 */
import { execFile } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { source, uploadByGraphql, uploadByRest } from './form.ts'
import { type Figure, measured, report } from './measured.ts'
import { startPlainServer } from './plain.ts'
import { MiB, startService } from './service.ts'
import { compareCounts, compareParts } from './upload-parts.ts'

const KiB = 1024
const ROUNDS = 3

const [, , ...args] = process.argv
const engine = args.includes('mysql') ? 'mysql' : 'sqlite'
const which = args.find(arg => ['whole', 'parts', 'put', 'down'].includes(arg))

const bench = await startService(engine)
const plain = await startPlainServer(bench)
let serial = 0
const name = () => `f-${serial++}.bin`

const throughRest = (bytes: number) => uploadByRest(bench, 'rest', name(), bytes)
const throughGraphql = (bytes: number) => uploadByGraphql(bench, 'graphql', name(), bytes)
const written: string[] = []

async function straight(bytes: number, query = ''): Promise<void> {
  const url = `${plain.url}/${name()}${query}`
  const req = request(url, { method: 'PUT', headers: { 'content-length': bytes } })
  const answered = new Promise((resolve, reject) => {
    req.on('error', reject).on('response', res => res.resume().on('end', resolve))
  })
  await Promise.all([pipeline(source(bytes), req), answered])
  written.push(url)
}

const straightWithRows = (bytes: number) => straight(bytes, '?rows')

async function inParallel(
  times: number,
  atOnce: number,
  work: () => Promise<unknown>,
): Promise<void> {
  let left = times
  const worker = async () => {
    while (left-- > 0) await work()
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

async function compareWhole(): Promise<void> {
  const ways = [straightWithRows, (bytes: number) => straight(bytes), throughRest, throughGraphql]
  for (const [title, bytes, times, atOnce, aim] of [
    ['4 KiB x 2,000, 8 at once', 4 * KiB, 2000, 8, 0.5],
    ['1 MiB x 200, 8 at once', MiB, 200, 8, 0.8],
    ['1 GiB x 1', 1024 * MiB, 1, 1, 0.9],
  ] as const) {
    const figures: Figure[][] = ways.map(() => [])
    for (let round = 0; round <= ROUNDS; round++)
      for (const [i, send] of ways.entries()) {
        const figure = await measured(i < 2 ? plain.pid : bench.pid, () =>
          inParallel(times, atOnce, () => send(bytes)),
        )
        if (round > 0) figures[i]?.push(figure)
        for (const url of written.splice(0)) await fetch(url, { method: 'DELETE' })
      }
    report(title, { bytes, times }, [
      ['bare with rows', figures[0]],
      ['bare', figures[1]],
      ['REST', figures[2], aim],
      ['GraphQL', figures[3]],
    ])
  }
}

/** Reads the whole response of an address. */
const get = (url: string) =>
  new Promise<void>((resolve, reject) => {
    request(url, res => res.resume().on('end', resolve))
      .on('error', reject)
      .end()
  })

async function compareDownloads(): Promise<void> {
  for (const [title, bytes, times, atOnce, aim] of [
    ['1 MiB x 400, 8 at once', MiB, 400, 8, 0.6],
    ['512 MiB x 2', 512 * MiB, 2, 1, 0.9],
  ] as const) {
    await straight(bytes)
    const bare = written.pop() ?? ''
    const file = name()
    await uploadByRest(bench, 'down', file, bytes)
    const signedUrl = async () => {
      const shared = await fetch(`${bench.url}/api/files/quick_share`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', cookie: bench.cookie },
        body: JSON.stringify({ object: `down/${file}` }),
      })
      const { response } = (await shared.json()) as { response: { sharing_token: string } }
      const answer = await fetch(`${bench.url}/api/d/${response.sharing_token}`, {
        redirect: 'manual',
      })
      return answer.headers.get('location') ?? ''
    }
    const signed = await signedUrl()
    const figures: Figure[][] = [[], []]
    for (let round = 0; round <= ROUNDS; round++)
      for (const [i, url] of [bare, signed].entries()) {
        const figure = await measured(i === 0 ? plain.pid : bench.pid, () =>
          inParallel(times, atOnce, () => get(url)),
        )
        if (round > 0) figures[i]?.push(figure)
      }
    await fetch(bare, { method: 'DELETE' })
    report(`down: ${title}`, { bytes, times }, [
      ['bare server', figures[0]],
      ['signed', figures[1], aim],
    ])
  }
}

/** The command line in its own process, which reads the file from the disk. Includes its start. */
async function comparePut(): Promise<void> {
  const [bytes, times] = [1024 * MiB, 1]
  const file = join(bench.dir, 'put.bin')
  await pipeline(source(bytes), createWriteStream(file))
  const env = {
    PATH: process.env.PATH,
    HOME: bench.dir,
    NODE_COMPILE_CACHE: join(bench.dir, 'compiled'),
    SATCHEL_URL: bench.url,
    SATCHEL_SESSION: bench.cookie.replace('session_id=', ''),
  }
  const put = () =>
    promisify(execFile)(
      process.execPath,
      ['src/cli/main.ts', 'put', file, '--to', `put/${name()}`],
      { env },
    )
  const figures: Figure[][] = [[], []]
  for (let round = 0; round <= ROUNDS; round++)
    for (const [i, send] of [() => straight(bytes), put].entries()) {
      const figure = await measured(i === 0 ? plain.pid : bench.pid, send)
      if (round > 0) figures[i]?.push(figure)
      for (const url of written.splice(0)) await fetch(url, { method: 'DELETE' })
    }
  report('1 GiB by satchel put', { bytes, times }, [
    ['bare', figures[0]],
    ['put', figures[1], 0.8],
  ])
}

if (!which || which === 'whole') await compareWhole()
if (!which || which === 'put') await comparePut()
if (!which || which === 'down') await compareDownloads()
if (!which || which === 'parts') await compareParts(bench, ROUNDS)
plain.close()
await bench.stop()
if (!which || which === 'parts') {
  const small = await startService(engine, { UPLOAD_PART_BYTES: '1024' })
  await compareCounts(small)
  await small.stop()
}
