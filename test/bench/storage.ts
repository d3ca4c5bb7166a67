/**
 * The cost of putting a blob into the disk store, compared with writing the same bytes with MD5 and
 * fsync directly to the same disk: `npm run bench:storage`. Results are comparable only on a quiet
 * machine with two cores.
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { createDiskStore } from '../../src/storage/disk.ts'
import { writePlainly } from './plain.ts'

const KiB = 1024
const MiB = 1024 * KiB
const chunk = randomBytes(64 * KiB)

/**
 * A source of bytes in chunks of socket size. The stream is new each time, but the bytes are not.
 */
function source(bytes: number): Readable {
  const chunks = function* () {
    for (let left = bytes; left > 0; left -= chunk.length)
      yield left < chunk.length ? chunk.subarray(0, left) : chunk
  }
  return Readable.from(chunks(), { objectMode: false, highWaterMark: 64 * KiB })
}

async function inParallel(
  times: number,
  atOnce: number,
  task: (n: number) => Promise<unknown>,
): Promise<void> {
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

const median = (values: number[]) =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

// Next to the sources, because a folder for temporary files may be in memory.
const dir = mkdtempSync(resolve('bench-'))
const plain = join(dir, 'plain')
mkdirSync(plain)
const store = createDiskStore({ dir: join(dir, 'store') })
await store.prepare()
await store.bind('a benchmark', false)

const ours = (key: string, bytes: number) =>
  store.put(key, source(bytes), { contentType: 'application/octet-stream', admit: async () => {} })
const theirs = (key: string, bytes: number) => writePlainly(join(plain, key), source(bytes))

async function compare(
  title: string,
  bytes: number,
  times: number,
  atOnce: number,
  rounds: number,
): Promise<void> {
  const puts = [ours, theirs]
  const figures: { seconds: number; cpu: number }[][] = [[], []]
  let serial = 0
  // The first round is a warm-up. The order alternates, because the second one finds the disk busy
  // with the writes of the first.
  for (let round = 0; round <= rounds; round++) {
    for (const which of round % 2 ? [0, 1] : [1, 0]) {
      const put = puts[which]
      const name = `${title.replaceAll(/\W/g, '')}-${serial++}`
      const figure = await timed(() =>
        inParallel(times, atOnce, async n => put?.(`${name}-${n}`, bytes)),
      )
      if (round > 0) figures[which]?.push(figure)
      for (let n = 0; n < times; n++) rmSync(join(plain, `${name}-${n}`), { force: true })
      await store.remove(Array.from({ length: times }, (_, n) => `${name}-${n}`))
    }
  }
  const rate = (seconds: number) => `${((bytes * times) / MiB / seconds).toFixed(0)} MiB/s`
  const [put, straight] = figures.map(each => ({
    seconds: median(each.map(f => f.seconds)),
    cpu: median(each.map(f => f.cpu)),
  }))
  if (!put || !straight) return
  console.log(
    `${title}: put ${rate(put.seconds)}, straight ${rate(straight.seconds)}, ratio ${(straight.seconds / put.seconds).toFixed(2)}` +
      ` (processor time ${put.cpu.toFixed(2)} s and ${straight.cpu.toFixed(2)} s)`,
  )
}

/** The peak growth of this process's resident memory while a task runs, in MiB. */
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

try {
  await ours('warm-up', 9 * MiB)
  const grown = await growth(() => inParallel(20, 20, n => ours(`wide-${n}`, 100 * MiB)))
  await store.remove(Array.from({ length: 20 }, (_, n) => `wide-${n}`))
  console.log(`20 puts of 100 MiB at once: resident memory grows by ${grown.toFixed(0)} MiB`)
  await compare('4 KiB x 2,000, 8 at once', 4 * KiB, 2000, 8, 3)
  await compare('1 MiB x 200, 8 at once', MiB, 200, 8, 5)
  if (!process.argv.includes('--small')) await compare('1 GiB', KiB * MiB, 1, 1, 3)
} finally {
  rmSync(dir, { recursive: true })
}
