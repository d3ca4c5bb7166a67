/**
 * The search in one drive of many files and texts, on both engines: `npm run bench:search [-- FILES
 * TEXTS] [sqlite|mysql]`, by default 1,000,000 and 200,000. Words are distributed as in natural
 * languages: a few are in most texts, and most are in few texts. Files and texts are inserted
 * directly into the database, and the service makes its index of them. Prints how long that takes,
 * the time of the first results, the size of the index relative to the text, and the cost of
 * uploading a text with SEARCH_CONTENTS on and off.
 */
import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { v7 as newId } from 'uuid'
import type { Db } from '../../db/index.ts'
import { Blob as BlobTable } from '../../db/models/blob.ts'
import { Entry, FILE, FOLDER } from '../../db/models/entry.ts'
import { insertContentText, textKeyOf } from '../../db/queries/content-text.ts'
import { newSearchEpoch, searchEpoch } from '../../db/queries/search.ts'
import { insertion } from '../../db/queries/sql.ts'
import { SEARCH_FILE } from '../../db/search/index.ts'
import { SearchInspection } from '../../db/search/inspect.ts'
import { until } from '../support/until.ts'
import { type Bench, median, processorOf, startService } from './service.ts'

const [, , ...args] = process.argv
const [files = 1_000_000, texts = 200_000] = args.filter(arg => /^\d+$/.test(arg)).map(Number)
const engines = (['sqlite', 'mysql'] as const).filter(
  one => !args.some(arg => /^[a-z]/.test(arg)) || args.includes(one),
)
const SEARCHES = 300
const UPLOADS = 150

let seed = 1
/** The same random numbers each time. */
function random(): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

const SYLLABLES =
  'ba be bi bo bu da de di do du fa fe ga ge ka ke ki ko la le li lo ma me mi mo na ne ni no pa pe ra re ri ro sa se si so sta ta te ti to tra va ve'.split(
    ' ',
  )
const VOCABULARY = 60_000
/** The word of a rank. Frequent words are short. */
function wordAt(rank: number): string {
  let word = ''
  for (let left = rank + 1; left > 0; left = Math.floor(left / SYLLABLES.length))
    word += SYLLABLES[left % SYLLABLES.length]
  return word.length < 3 ? `${word}n` : word
}
const vocabulary = Array.from({ length: VOCABULARY }, (_, rank) => wordAt(rank))
/** Zipf's law: the frequency of a word is one divided by its rank. */
const anyWord = (): string =>
  vocabulary[Math.min(VOCABULARY - 1, Math.floor(VOCABULARY ** random()) - 1)] ?? 'ba'
const wordsOf = (count: number): string => Array.from({ length: count }, anyWord).join(' ')
const textNumber = (i: number): string =>
  `Number ${i}x${(i * 7919) % 100_003}. ${wordsOf(250 + Math.floor(700 * random()))}`

interface Filled {
  characters: number
  compressed: number
}

async function fill(db: Db, bench: Bench): Promise<Filled> {
  const { bucketId, rootId, userId } = bench
  const at = Date.now()
  const common = {
    bucketId,
    totalFolders: 0,
    levelsBelow: 0,
    bytesBelow: 0,
    createdBy: userId,
    createdAt: at,
    updatedAt: at,
  }
  const filled = { characters: 0, compressed: 0 }
  let folder = ''
  for (let from = 0; from < files; from += 1000) {
    if (from % 10_000 === 0) {
      folder = newId()
      const shape = {
        id: folder,
        parentId: rootId,
        name: `folder ${from}`,
        blobId: null,
        fileType: '',
        md5: '',
      }
      await db.Entry.create({ ...common, ...shape, kind: FOLDER, totalBytes: 0, totalFiles: 0 })
    }
    const some = Array.from({ length: Math.min(1000, files - from) }, (_, i) => {
      const isText =
        Math.floor(((from + i + 1) * texts) / files) > Math.floor(((from + i) * texts) / files)
      const text = isText ? textNumber(from + i) : ''
      const digest = isText
        ? textKeyOf(createHash('sha256').update(text).digest('hex'), 'text')
        : null
      return {
        id: newId(),
        blobId: newId(),
        name: `${wordsOf(3)} ${from + i}.${isText ? 'txt' : 'bin'}`,
        text,
        digest,
      }
    })
    const entries = some.map(({ id, blobId, name, text, digest }) => ({
      ...common,
      id,
      blobId,
      name,
      parentId: folder,
      kind: FILE as typeof FILE,
      md5: id.replaceAll('-', ''),
      totalFiles: 1,
      fileType: digest ? 'text/plain' : 'application/octet-stream',
      totalBytes: text.length,
    }))
    const blobs = some.map(({ blobId, text, digest }) => ({
      id: blobId,
      bucketId,
      state: 'live' as const,
      size: text.length,
      textKey: digest,
      reservedBytes: 0,
      leaseUntil: 0,
      createdAt: at,
    }))
    await db.transaction(async tx => {
      await db.run(...insertion(Entry, entries), tx)
      await db.run(...insertion(BlobTable, blobs), tx)
    })
    const textual = some.filter(({ digest }) => digest)
    await db.transaction(async tx => {
      for (const { text, digest } of textual) {
        const body = brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
        filled.characters += text.length
        filled.compressed += body.length
        const row = { state: 'made' as const, reason: null, characters: text.length, body }
        await insertContentText(db, { ...row, digest: digest ?? '' }, tx)
      }
    })
    if (from % 20_000 === 0) process.stderr.write(`${from} files\r`)
  }
  return filled
}

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

async function timeSearches({ url, cookie }: Bench): Promise<void> {
  const all: number[] = []
  for (const [name, query] of queries) {
    const times: number[] = []
    let [found, incomplete] = [0, 0]
    for (let i = 0; i < SEARCHES / queries.length + 5; i++) {
      const start = performance.now()
      const answer = await fetch(
        `${url}/api/search?limit=20&query=${encodeURIComponent(query())}`,
        {
          headers: { cookie },
        },
      )
      const { response } = (await answer.json()) as {
        response: { results: unknown[]; is_complete: boolean }
      }
      if (!answer.ok) throw new Error(`${answer.status}`)
      // The first queries read pages of the database for the first time.
      if (i >= 5) times.push(performance.now() - start)
      found += response.results.length
      incomplete += response.is_complete ? 0 : 1
    }
    all.push(...times)
    process.stdout.write(
      `  ${name.padEnd(18)} median ${percentile(times, 0.5).toFixed(1)} ms, p99 ${percentile(times, 0.99).toFixed(1)} ms; ${(found / (times.length + 5)).toFixed(1)} results, ${incomplete} ended early\n`,
    )
  }
  process.stdout.write(
    `  all                median ${percentile(all, 0.5).toFixed(1)} ms, p99 ${percentile(all, 0.99).toFixed(1)} ms\n`,
  )
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

for (const engine of engines) {
  process.stdout.write(`${engine}: ${files} files, ${texts} texts\n`)
  const bench = await startService(engine, {
    SEARCH_CONTENTS: 'on',
    SWEEP_SECONDS: '2',
    RATE_SEARCHES: '1000000',
  })
  const { db } = bench
  const begin = performance.now()
  const { characters, compressed } = await fill(db, bench)
  const filledIn = performance.now() - begin
  await newSearchEpoch(db, newId())
  const began = performance.now()
  bench.resetPeak()
  const idle = bench.resident()
  await until(async () => (await indexOf(bench)).isDone, 3_600_000, 1000)
  const builtIn = (performance.now() - began) / 1000
  const bytes = indexBytes(bench)
  const MB = (n: number) => `${(n / 1e6).toFixed(1)} MB`
  process.stdout.write(
    `  filled in ${(filledIn / 1000).toFixed(0)} s, indexed in ${builtIn.toFixed(0)} s, memory ${idle.toFixed(0)} MiB before and up to ${bench.peak().toFixed(0)} MiB meanwhile\n  text ${MB(characters)} (compressed ${(compressed / characters).toFixed(2)}), index ${MB(bytes)} (${(bytes / characters).toFixed(2)} of it)\n`,
  )
  await timeSearches(bench)
  await bench.stop()
  await timeUploads(engine)
}
process.exit()
