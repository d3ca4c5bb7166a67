/**
 * What an upload through the service costs beside BlockBlobClient.uploadStream straight to the same Azurite, by turns:
 * `npm run bench:upload`. Both clients read the same synthetic bytes.
 */
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { BlobServiceClient } from '@azure/storage-blob'
import { MiB, median, startService } from './service.ts'

const ROUNDS = 3
const chunk = randomBytes(64 * 1024)

function source(bytes: number): Readable {
  const chunks = function* () {
    for (let left = bytes; left > 0; left -= chunk.length) yield left < chunk.length ? chunk.subarray(0, left) : chunk
  }
  return Readable.from(chunks(), { objectMode: false, highWaterMark: 64 * 1024 })
}

const bench = await startService('mysql')
const direct = BlobServiceClient.fromConnectionString(bench.azurite.connectionString).getContainerClient('bench')
await direct.createIfNotExists()
const boundary = 'satchel-bench'
let serial = 0

/** A form as a client streams it: the length is declared, the bytes come as they are read. */
async function form(path: string, before: string, bytes: number): Promise<void> {
  const head = Buffer.from(before)
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  const req = request(`${bench.url}${path}`, {
    method: 'POST',
    headers: {
      cookie: bench.cookie,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': head.length + bytes + tail.length,
    },
  })
  const answered = new Promise<string>((resolve, reject) => {
    req.on('error', reject)
    req.on('response', res => {
      let text = ''
      res.setEncoding('utf8').on('data', part => {
        text += part
      })
      res.on('end', () =>
        res.statusCode === 200 && !text.includes('"errors"') ? resolve(text) : reject(new Error(text)),
      )
    })
  })
  const body = async function* () {
    yield head
    yield* source(bytes)
    yield tail
  }
  await Promise.all([pipeline(body, req), answered])
}

const part = (name: string, value: string) =>
  `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const file = (field: string) =>
  `--${boundary}\r\ncontent-disposition: form-data; name="${field}"; filename="f-${serial++}.bin"\r\ncontent-type: application/octet-stream\r\n\r\n`

export const throughRest = (bytes: number) => form('/api/files/upload', part('folder', 'rest') + file('file'), bytes)
const operations = JSON.stringify({
  query: 'mutation ($file: Upload!) { uploadFile(input: { file: $file, folder: "graphql" }) { id } }',
  variables: { file: null },
})
export const throughGraphql = (bytes: number) =>
  form('/graphql', part('operations', operations) + part('map', '{"0":["variables.file"]}') + file('0'), bytes)
const straight = (bytes: number) =>
  direct
    .getBlockBlobClient(`direct-${serial++}`)
    .uploadStream(source(bytes), 4 * MiB, 2)
    .then(() => {})

async function seconds(
  bytes: number,
  times: number,
  atOnce: number,
  send: (bytes: number) => Promise<void>,
): Promise<number> {
  let next = 0
  const start = performance.now()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next++ < times) await send(bytes)
    }),
  )
  return (performance.now() - start) / 1000
}

const ways = [straight, throughRest, throughGraphql]
for (const [title, bytes, times, atOnce] of [
  ['1 MiB x 200, 8 at once', MiB, 200, 8],
  ['1 GiB x 1', 1024 * MiB, 1, 1],
] as const) {
  const figures: number[][] = ways.map(() => [])
  for (let round = 0; round <= ROUNDS; round++)
    for (const [i, send] of ways.entries()) {
      const took = await seconds(bytes, times, atOnce, send)
      if (round > 0) figures[i]?.push(took)
    }
  const [d, r, g] = figures.map(median) as [number, number, number]
  const speed = (s: number) => `${((bytes * times) / MiB / s).toFixed(0).padStart(4)} MiB/s`
  process.stdout.write(
    `${title.padEnd(24)} straight ${speed(d)}   REST ${speed(r)} (${(d / r).toFixed(2)}, aim 0.80)   GraphQL ${speed(g)} (${(d / g).toFixed(2)})\n`,
  )
}
await bench.stop()
