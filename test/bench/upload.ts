/**
 * What uploads and downloads through the service cost beside a bare node:http server that writes and reads the same bytes on the same
 * disk, with MD5 and fsync, by turns, and the processor time of each server: `npm run bench:upload`; `-- whole`, `-- parts` or
 * `-- down` for one of the three, and `--engine mysql`. The disk is that of TMPDIR: in memory (/dev/shm) no sync hides what is computed.
 */
import { request } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { source, uploadByGraphql, uploadByRest } from './form.ts'
import { type Figure, measured, report } from './measured.ts'
import { startPlainServer } from './plain.ts'
import { MiB, startService } from './service.ts'
import { compareCounts, compareParts } from './upload-parts.ts'

const KiB = 1024
const ROUNDS = 3

const [, , ...args] = process.argv
const engine = args.includes('mysql') ? 'mysql' : 'sqlite'
const which = args.find(arg => ['whole', 'parts', 'down'].includes(arg))

const bench = await startService(engine)
const plain = await startPlainServer(bench.dir)
let serial = 0
const name = () => `f-${serial++}.bin`

const throughRest = (bytes: number) => uploadByRest(bench, 'rest', name(), bytes)
const throughGraphql = (bytes: number) => uploadByGraphql(bench, 'graphql', name(), bytes)
const written: string[] = []

async function straight(bytes: number): Promise<void> {
  const url = `${plain.url}/${name()}`
  const req = request(url, { method: 'PUT', headers: { 'content-length': bytes } })
  const answered = new Promise((resolve, reject) => {
    req.on('error', reject).on('response', res => res.resume().on('end', resolve))
  })
  await Promise.all([pipeline(source(bytes), req), answered])
  written.push(url)
}

async function inParallel(times: number, atOnce: number, work: () => Promise<unknown>): Promise<void> {
  let left = times
  const worker = async () => {
    while (left-- > 0) await work()
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

async function compareWhole(): Promise<void> {
  const ways = [straight, throughRest, throughGraphql]
  for (const [title, bytes, times, atOnce, aim] of [
    ['4 KiB x 2,000, 8 at once', 4 * KiB, 2000, 8, 0.5],
    ['1 MiB x 200, 8 at once', MiB, 200, 8, 0.8],
    ['1 GiB x 1', 1024 * MiB, 1, 1, 0.9],
  ] as const) {
    const figures: Figure[][] = ways.map(() => [])
    for (let round = 0; round <= ROUNDS; round++)
      for (const [i, send] of ways.entries()) {
        const figure = await measured(i === 0 ? plain.pid : bench.pid, () =>
          inParallel(times, atOnce, () => send(bytes)),
        )
        if (round > 0) figures[i]?.push(figure)
        for (const url of written.splice(0)) await fetch(url, { method: 'DELETE' })
      }
    report(title, { bytes, times }, [
      ['straight', figures[0]],
      ['REST', figures[1], aim],
      ['GraphQL', figures[2]],
    ])
  }
}

/** Reads what is at an address to its end. */
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
      const answer = await fetch(`${bench.url}/api/d/${response.sharing_token}`, { redirect: 'manual' })
      return answer.headers.get('location') ?? ''
    }
    const signed = await signedUrl()
    const figures: Figure[][] = [[], []]
    for (let round = 0; round <= ROUNDS; round++)
      for (const [i, url] of [bare, signed].entries()) {
        const figure = await measured(i === 0 ? plain.pid : bench.pid, () => inParallel(times, atOnce, () => get(url)))
        if (round > 0) figures[i]?.push(figure)
      }
    await fetch(bare, { method: 'DELETE' })
    report(`down: ${title}`, { bytes, times }, [
      ['bare server', figures[0]],
      ['signed', figures[1], aim],
    ])
  }
}

if (!which || which === 'whole') await compareWhole()
if (!which || which === 'down') await compareDownloads()
if (!which || which === 'parts') await compareParts(bench, ROUNDS)
plain.close()
await bench.stop()
if (!which || which === 'parts') {
  const small = await startService(engine, { UPLOAD_PART_BYTES: '1024' })
  await compareCounts(small)
  await small.stop()
}
