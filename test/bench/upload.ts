/**
 * What uploads and downloads through the service cost beside a bare node:http server that writes and reads the same bytes on the same
 * disk, with MD5 and fsync, by turns: `npm run bench:upload`; `-- whole`, `-- parts` or `-- down` for one of the three, and
 * `--engine mysql`.
 */
import { request } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { source, uploadByGraphql, uploadByRest } from './form.ts'
import { startPlainServer } from './plain.ts'
import { MiB, median, startService } from './service.ts'
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

async function seconds(times: number, atOnce: number, work: (n: number) => Promise<unknown>): Promise<number> {
  let next = 0
  const start = performance.now()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let n = next++; n < times; n = next++) await work(n)
    }),
  )
  return (performance.now() - start) / 1000
}

async function compareWhole(): Promise<void> {
  const ways = [straight, throughRest, throughGraphql]
  for (const [title, bytes, times, atOnce, aim] of [
    ['4 KiB x 2,000, 8 at once', 4 * KiB, 2000, 8, '0.50'],
    ['1 MiB x 200, 8 at once', MiB, 200, 8, '0.80'],
    ['1 GiB x 1', 1024 * MiB, 1, 1, '0.80'],
  ] as const) {
    const figures: number[][] = ways.map(() => [])
    for (let round = 0; round <= ROUNDS; round++)
      for (const [i, send] of ways.entries()) {
        const took = await seconds(times, atOnce, () => send(bytes))
        if (round > 0) figures[i]?.push(took)
        for (const url of written.splice(0)) await fetch(url, { method: 'DELETE' })
      }
    const [d, r, g] = figures.map(median) as [number, number, number]
    const speed = (s: number) =>
      bytes < MiB
        ? `${(times / s).toFixed(0).padStart(5)} /s`
        : `${((bytes * times) / MiB / s).toFixed(0).padStart(4)} MiB/s`
    process.stdout.write(
      `${title.padEnd(26)} straight ${speed(d)}   REST ${speed(r)} (${(d / r).toFixed(2)}, aim ${aim})   GraphQL ${speed(g)} (${(d / g).toFixed(2)})\n`,
    )
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
  for (const [title, bytes, times, atOnce] of [
    ['1 MiB x 400, 8 at once', MiB, 400, 8],
    ['1 GiB x 1', 1024 * MiB, 1, 1],
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
    const figures: number[][] = [[], []]
    for (let round = 0; round <= ROUNDS; round++)
      for (const [i, url] of [bare, signed].entries()) {
        const took = await seconds(times, atOnce, () => get(url))
        if (round > 0) figures[i]?.push(took)
      }
    await fetch(bare, { method: 'DELETE' })
    const [b = 0, s = 0] = figures.map(median)
    const speed = (took: number) => `${((bytes * times) / MiB / took).toFixed(0).padStart(4)} MiB/s`
    process.stdout.write(
      `${`down: ${title}`.padEnd(30)} bare server ${speed(b)}   signed ${speed(s)} (${(b / s).toFixed(2)}, aim 0.80)\n`,
    )
  }
}

if (!which || which === 'whole') await compareWhole()
if (!which || which === 'down') await compareDownloads()
if (!which || which === 'parts') await compareParts(bench, ROUNDS)
await plain.close()
await bench.stop()
if (!which || which === 'parts') {
  const small = await startService(engine, { UPLOAD_PART_BYTES: '1024' })
  await compareCounts(small)
  await small.stop()
}
