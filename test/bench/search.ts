/**
 * The search in one drive of many files and texts, on both engines: `npm run bench:search [-- FILES
 * TEXTS] [sqlite|mysql]`, by default 1,000,000 and 200,000. Words are distributed as in natural
 * languages: a few are in most texts, and most are in few texts. Files and texts are inserted
 * directly into the database, and the service makes its index of them. Prints how long that takes,
 * its memory, the times of other requests meanwhile and afterwards, the size of the index relative
 * to the text, the times of searches, and the cost of uploading a text with SEARCH_CONTENTS on and
 * off.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { v7 as newId } from 'uuid'
import { newSearchEpoch, searchEpoch } from '../../db/queries/search.ts'
import { SEARCH_FILE } from '../../db/search/index.ts'
import { SearchInspection } from '../../db/search/inspect.ts'
import { until } from '../support/until.ts'
import { anyWord, random, seedFiles, textNumber, vocabulary } from './search-seed.ts'
import { type Bench, median, processorOf, startService } from './service.ts'

const [, , ...args] = process.argv
const [files = 1_000_000, texts = 200_000] = args.filter(arg => /^\d+$/.test(arg)).map(Number)
const engines = (['sqlite', 'mysql'] as const).filter(
  one => !args.some(arg => /^[a-z]/.test(arg)) || args.includes(one),
)
/** Searches of each kind, and those before them that are not counted. */
const SEARCHES = 300
const FIRST = 20
const UPLOADS = 150

/** The size of the index and its log, in bytes. */
const indexBytes = ({ dir }: Bench): number =>
  ['', '-wal'].reduce(
    (sum, end) =>
      sum + (statSync(join(dir, `${SEARCH_FILE}${end}`), { throwIfNoEntry: false })?.size ?? 0),
    0,
  )

/** Whether the index has everything, and how many entries it has. */
async function indexOf({ db, dir }: Bench): Promise<{ isDone: boolean; entries: number }> {
  const index = SearchInspection.open(join(dir, SEARCH_FILE), await searchEpoch(db))
  const { drives, unfinished, entries } = index?.progress() ?? {
    drives: 0,
    unfinished: 0,
    entries: 0,
  }
  index?.close()
  return { isDone: drives > 0 && unfinished === 0 && entries >= files, entries }
}

const percentile = (values: number[], of: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * of)] ?? 0

/**
 * Typical queries: a frequent word, a rare word, two or three words of different frequencies, a
 * prefix, a phrase, a number.
 */
const queries: [name: string, query: () => string][] = [
  ['a frequent word', () => `${vocabulary[Math.floor(20 * random())]} `],
  ['a word', () => `${vocabulary[Math.floor(20_000 * random())]} `],
  ['two words', () => `${anyWord()} ${vocabulary[Math.floor(3000 * random())]} `],
  ['three words', () => `${anyWord()} ${anyWord()} ${vocabulary[Math.floor(3000 * random())]} `],
  ['a beginning', () => (vocabulary[200 + Math.floor(20_000 * random())] ?? '').slice(0, 4)],
  [
    'a phrase',
    () => `"${vocabulary[Math.floor(300 * random())]} ${vocabulary[Math.floor(300 * random())]}"`,
  ],
  ['a number', () => `${Math.floor(files * random())}x`],
]

const inMs = (n: number) => `${n.toFixed(1)} ms`

async function timeSearches({ url, cookie, pid }: Bench): Promise<void> {
  const all: number[] = []
  const line = (name: string, times: number[]) =>
    `  ${name.padEnd(18)} median ${inMs(percentile(times, 0.5))}, p99 ${inMs(percentile(times, 0.99))}`
  for (const [name, query] of queries) {
    const times: number[] = []
    let [found, incomplete, processor] = [0, 0, 0]
    for (let i = 0; i < SEARCHES + FIRST; i++) {
      // The first queries read pages of the database for the first time.
      if (i === FIRST) processor -= processorOf(pid)
      const start = performance.now()
      const answer = await fetch(
        `${url}/api/search?limit=20&query=${encodeURIComponent(query())}`,
        { headers: { cookie } },
      )
      const { response } = (await answer.json()) as {
        response: { results: unknown[]; is_complete: boolean }
      }
      if (!answer.ok) throw new Error(`${answer.status}`)
      if (i >= FIRST) times.push(performance.now() - start)
      found += response.results.length
      incomplete += response.is_complete ? 0 : 1
    }
    processor += processorOf(pid)
    all.push(...times)
    process.stdout.write(
      `${line(name, times)}, processor of the service ${inMs(processor / SEARCHES)}; ${(found / (SEARCHES + FIRST)).toFixed(1)} results, ${incomplete} ended early\n`,
    )
  }
  process.stdout.write(`${line('all', all)}\n`)
}

/** Milliseconds between two requests for a list, whose times are compared. */
const LIST_MS = 25

/** Times requests for a page of a folder until something is done. */
async function timeLists({ url, cookie }: Bench, isDone: () => boolean): Promise<number[]> {
  const times: number[] = []
  while (!isDone()) {
    const start = performance.now()
    const answer = await fetch(`${url}/api/files/tree?path=folder%200&limit=20`, {
      headers: { cookie },
    })
    await answer.text()
    if (!answer.ok) throw new Error(`${answer.status}`)
    times.push(performance.now() - start)
    await sleep(LIST_MS)
  }
  return times
}

/**
 * The elapsed time of an upload of a text, and the processor time including the work that follows,
 * in milliseconds.
 */
async function timeUploads(engine: 'sqlite' | 'mysql'): Promise<void> {
  const settings = { SWEEP_SECONDS: '2' }
  const sides = {
    off: await startService(engine, { ...settings, SEARCH_CONTENTS: 'off' }),
    on: await startService(engine, { ...settings, SEARCH_CONTENTS: 'on' }),
  }
  const times = { off: [] as number[], on: [] as number[] }
  const processor = { off: -processorOf(sides.off.pid), on: -processorOf(sides.on.pid) }
  for (let i = 0; i < UPLOADS; i++)
    for (const side of i % 2 ? (['off', 'on'] as const) : (['on', 'off'] as const)) {
      const { url, cookie } = sides[side]
      const form = new FormData()
      form.append('file', new Blob([textNumber(i)], { type: 'text/plain' }), `${side} ${i}.txt`)
      const start = performance.now()
      const answer = await fetch(`${url}/api/files/upload`, {
        method: 'POST',
        headers: { cookie },
        body: form,
      })
      await answer.text()
      if (!answer.ok) throw new Error(`${answer.status}`)
      if (i >= 10) times[side].push(performance.now() - start)
    }
  const { db } = sides.on
  await until(
    async () =>
      Number(
        (await db.row<{ n: number }>("SELECT COUNT(*) AS n FROM content_text WHERE state = 'made'"))
          ?.n,
      ) === UPLOADS,
    120_000,
    200,
  )
  for (const side of ['off', 'on'] as const) processor[side] += processorOf(sides[side].pid)
  const say = (side: 'off' | 'on') =>
    `${side} median ${median(times[side]).toFixed(2)} ms, p90 ${percentile(times[side], 0.9).toFixed(2)} ms, ${(processor[side] / UPLOADS).toFixed(2)} ms of the service's processor`
  process.stdout.write(`  upload of a text   ${say('off')}; ${say('on')}\n`)
  for (const side of ['off', 'on'] as const) await sides[side].stop()
}

/** Waits for the index. @returns the times of other requests meanwhile */
async function whileIndexing(bench: Bench): Promise<number[]> {
  let isDone = false
  const lists = timeLists(bench, () => isDone)
  await until(async () => (await indexOf(bench)).isDone, 3_600_000, 1000).finally(() => {
    isDone = true
  })
  return lists
}

for (const engine of engines) {
  process.stdout.write(`${engine}: ${files} files, ${texts} texts\n`)
  const bench = await startService(engine, {
    SEARCH_CONTENTS: 'on',
    SWEEP_SECONDS: '2',
    RATE_SEARCHES: '1000000',
    RATE_REQUESTS: '1000000',
  })
  const { db, pid = 0 } = bench
  await sleep(2000)
  const idle = bench.resident()
  process.kill(pid, 'SIGSTOP')
  const begin = performance.now()
  const { characters, compressed } = await seedFiles(bench, files, texts)
  const seededIn = performance.now() - begin
  await newSearchEpoch(db, newId())
  const began = performance.now()
  const processor = processorOf(pid)
  process.kill(pid, 'SIGCONT')
  bench.resetPeak()
  const beside = await whileIndexing(bench)
  const builtIn = (performance.now() - began) / 1000
  const builtBy = (processorOf(pid) - processor) / 1000
  const bytes = indexBytes(bench)
  await sleep(5000)
  const end = performance.now() + 20_000
  const alone = await timeLists(bench, () => performance.now() > end)
  const MB = (n: number) => `${(n / 1e6).toFixed(1)} MB`
  const times = (list: number[]) =>
    `median ${inMs(percentile(list, 0.5))}, p99 ${inMs(percentile(list, 0.99))}`
  process.stdout.write(
    `  seeded in ${(seededIn / 1000).toFixed(0)} s, indexed in ${builtIn.toFixed(0)} s (${builtBy.toFixed(0)} s of processor time), memory ${idle.toFixed(0)} MiB before and up to ${bench.peak().toFixed(0)} MiB meanwhile
  lists of files     meanwhile ${times(beside)}; afterwards ${times(alone)}
  text ${MB(characters)} (compressed ${(compressed / characters).toFixed(2)}), index ${MB(bytes)} (${(bytes / characters).toFixed(2)} of it)\n`,
  )
  await timeSearches(bench)
  await bench.stop()
  await timeUploads(engine)
}
process.exit()
