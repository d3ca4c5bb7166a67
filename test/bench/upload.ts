/**
 * What an upload through the service costs beside BlockBlobClient.uploadStream straight to the same Azurite, by turns, and what one in
 * parts costs beside the same blocks: `npm run bench:upload`; `-- whole` or `-- parts` for one of the two. All clients send the same
 * synthetic bytes.
 */
import { BlobServiceClient } from '@azure/storage-blob'
import { source, uploadByGraphql, uploadByRest } from './form.ts'
import { MiB, median, startService } from './service.ts'
import { compareCounts, compareParts } from './upload-parts.ts'

const ROUNDS = 3

const bench = await startService('mysql')
const direct = BlobServiceClient.fromConnectionString(bench.azurite.connectionString).getContainerClient('bench')
await direct.createIfNotExists()
let serial = 0
const name = () => `f-${serial++}.bin`

const throughRest = (bytes: number) => uploadByRest(bench, 'rest', name(), bytes)
const throughGraphql = (bytes: number) => uploadByGraphql(bench, 'graphql', name(), bytes)
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

async function compareWhole(): Promise<void> {
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
}

const [, , which] = process.argv
if (which !== 'parts') await compareWhole()
if (which !== 'whole') await compareParts(bench, ROUNDS)
await bench.stop()
if (which !== 'whole') {
  const small = await startService('mysql', { UPLOAD_PART_BYTES: '1024' })
  await compareCounts(small)
  await small.stop()
}
