/**
 * What BlobStore.put costs beside the SDK's own uploadStream, on the same Azurite:
 * `npm run bench:storage`. Two cores and a quiet machine make the figures comparable.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { BlobServiceClient } from '@azure/storage-blob'
import { startAzurite } from '../../src/embedded/azurite.ts'
import { createBlobStore } from '../../src/storage/azure.ts'

const KiB = 1024
const MiB = 1024 * KiB
const chunk = randomBytes(64 * KiB)

/** A source of some bytes in chunks as a socket gives them; the stream is new each time, the bytes are not. */
function source(bytes: number): Readable {
  const chunks = function* () {
    for (let left = bytes; left > 0; left -= chunk.length) yield left < chunk.length ? chunk.subarray(0, left) : chunk
  }
  return Readable.from(chunks(), { objectMode: false, highWaterMark: 64 * KiB })
}

async function inParallel(times: number, atOnce: number, task: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < times) await task(next++)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

async function timed(task: () => Promise<unknown>): Promise<{ seconds: number; cpu: number }> {
  const before = process.cpuUsage()
  const start = performance.now()
  await task()
  const { user, system } = process.cpuUsage(before)
  return { seconds: (performance.now() - start) / 1000, cpu: (user + system) / 1e6 }
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

const dir = mkdtempSync(join(tmpdir(), 'satchel-bench-'))
const azurite = await startAzurite({ dir, port: 0 })
const store = createBlobStore({ connectionString: azurite.connectionString, container: 'bench', publicUrl: '' })
await store.ensureContainer()
const direct = BlobServiceClient.fromConnectionString(azurite.connectionString).getContainerClient('bench')

const ours = (key: string, bytes: number) =>
  store.put(key, source(bytes), { contentType: 'application/octet-stream', admit: async () => {} })
const theirs = (key: string, bytes: number) => direct.getBlockBlobClient(key).uploadStream(source(bytes), 4 * MiB, 2)

async function compare(title: string, bytes: number, times: number, atOnce: number, rounds: number): Promise<void> {
  const puts = [ours, theirs]
  const figures: { seconds: number; cpu: number }[][] = [[], []]
  // The first round only warms up. By turns, because the second finds the disk busy with what the first has left.
  for (let round = 0; round <= rounds; round++) {
    for (const which of round % 2 ? [0, 1] : [1, 0]) {
      const put = puts[which]
      const figure = await timed(() => inParallel(times, atOnce, async n => put?.(`${which}-${n}`, bytes)))
      if (round > 0) figures[which]?.push(figure)
    }
  }
  const rate = (seconds: number) => `${((bytes * times) / MiB / seconds).toFixed(0)} MiB/s`
  const [put, stream] = figures.map(each => ({
    seconds: median(each.map(f => f.seconds)),
    cpu: median(each.map(f => f.cpu)),
  }))
  if (!put || !stream) return
  console.log(
    `${title}: put ${rate(put.seconds)}, uploadStream ${rate(stream.seconds)}, ratio ${(stream.seconds / put.seconds).toFixed(2)}` +
      ` (processor time ${put.cpu.toFixed(2)} s with MD5, ${stream.cpu.toFixed(2)} s without)`,
  )
}

/** How much the resident memory of this process grows at most while a task runs, in MiB. */
async function growth(task: () => Promise<unknown>): Promise<number> {
  const start = process.memoryUsage.rss()
  let peak = start
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 20)
  await task()
  clearInterval(timer)
  return (peak - start) / MiB
}

await ours('warm-up', 9 * MiB)
const grown = await growth(() => inParallel(20, 20, n => ours(`wide-${n}`, 100 * MiB)))
console.log(`20 puts of 100 MiB at once: resident memory grows by ${grown.toFixed(0)} MiB`)
await compare('1 MiB x 200, 8 at once', MiB, 200, 8, 5)
await compare('1 GiB', KiB * MiB, 1, 1, 3)

await azurite.stop()
rmSync(dir, { recursive: true })
