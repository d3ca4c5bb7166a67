/**
 * The effect of a background purge on a person: the time of a metadata request, idle and while a
 * folder of 1,000,000 files is purged, and the duration of the purge: `npm run bench:purge [--
 * FILES]`, and `mysql` for that engine.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { insertFolder } from './folder.ts'
import { processorOf, startService } from './service.ts'

const [, , ...args] = process.argv
const files = Number(args.find(arg => /^\d+$/.test(arg)) ?? 1_000_000)
const bench = await startService(args.includes('mysql') ? 'mysql' : 'sqlite', {
  TRASH_DAYS: '0',
  SWEEP_SECONDS: '1',
})
const { db, url, cookie } = bench
await insertFolder(db, bench, 'kept', 1000)
await insertFolder(db, bench, 'big', files)
await db.run(
  "INSERT INTO blobs (id, bucket_id, state, reserved_bytes, size, lease_until, created_at) SELECT blob_id, bucket_id, 'live', 0, 10, created_at, created_at FROM entry WHERE blob_id IS NOT NULL",
  [],
)

const percentile = (values: number[], of: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * of)] ?? 0

/** Sends requests repeatedly, two at once, with pauses like those of people. */
async function ask(until: () => boolean): Promise<number[]> {
  const times: number[] = []
  const person = async () => {
    while (!until()) {
      const start = performance.now()
      const answer = await fetch(`${url}/api/files/info?path=kept/file-000042.txt`, {
        headers: { cookie },
      })
      await answer.arrayBuffer()
      if (answer.status !== 200) throw new Error(`${answer.status}`)
      times.push(performance.now() - start)
      await sleep(5)
    }
  }
  await Promise.all([person(), person()])
  return times
}

const after = (ms: number) => {
  const end = performance.now() + ms
  return () => performance.now() > end
}
/**
 * Whether a table has more rows than this. Does not count the others, which would block the event
 * loop of this measuring process on SQLite.
 */
const hasMore = (table: string, rows: number) =>
  db.exists(`SELECT 1 FROM ${table} LIMIT 1 OFFSET ${rows}`)
const report = (title: string, times: number[]) =>
  process.stdout.write(
    `${title.padEnd(36)} median ${percentile(times, 0.5).toFixed(1)} ms, p90 ${percentile(times, 0.9).toFixed(1)} ms, p99 ${percentile(times, 0.99).toFixed(1)} ms (${times.length} requests)\n`,
  )

await ask(after(2000))
report('idle', await ask(after(6000)))
const deleted = await fetch(`${url}/api/folders?path=big&recursive=true`, {
  method: 'DELETE',
  headers: { cookie },
})
if (!deleted.ok) throw new Error(await deleted.text())
const start = performance.now()
const processor = processorOf(bench.pid)
let done = false
const purged = (async () => {
  while ((await hasMore('entry', 2000)) || (await hasMore('blobs', 1000))) await sleep(500)
  done = true
})()
report(
  'while the folder is purged, at first',
  await ask(() => done || performance.now() - start > 20_000),
)
const quiet = performance.now()
await purged
process.stdout.write(
  `${files} files were purged in ${((performance.now() - start) / 1000).toFixed(0)} s (${((performance.now() - quiet) / 1000).toFixed(0)} s of it without other requests), ${(((processorOf(bench.pid) - processor) / files) * 1000).toFixed(0)} us of processor time each\n`,
)
await bench.stop()
