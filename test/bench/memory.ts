/**
 * By how much uploads and proxied downloads raise the resident memory of the service:
 * `npm run bench:memory`. The upload in parts has 2 GiB, or as many as are asked for:
 * `npm run bench:memory -- --gib 10`.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { uploadByGraphql, uploadByRest } from './form.ts'
import { MiB, startService } from './service.ts'
import { send as sendParts, waysOf } from './upload-parts.ts'

const { gib } = parseArgs({ options: { gib: { type: 'string', default: '2' } } }).values

// One user may take half of it, and is refused the sixteenth of these uploads otherwise.
const bench = await startService('sqlite', {
  DOWNLOADS: 'proxy',
  BODY_MEMORY_BYTES: String(512 * MiB),
})

async function download(name: string): Promise<void> {
  const made = await fetch(`${bench.url}/api/files/quick_share`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie: bench.cookie },
    body: JSON.stringify({ object: name }),
  })
  const { response } = (await made.json()) as { response: { sharing_token: string } }
  const got = await fetch(`${bench.url}/api/d/${response.sharing_token}`)
  let bytes = 0
  for await (const piece of got.body ?? []) bytes += piece.length
  if (bytes !== 2048 * MiB) throw new Error(`Got ${bytes} bytes.`)
}

/** Parts and what completes them. */
async function inParts(bytes: number): Promise<void> {
  const shape = { partSize: 4 * MiB, count: bytes / (4 * MiB) }
  const [, through] = await waysOf(bench, bench)
  const file = await through(shape)
  await sendParts(file, bench.cookie, shape.partSize, 0, shape.count)
  await file.complete()
}

async function measure(title: string, aim: number, work: () => Promise<unknown>): Promise<void> {
  bench.resetPeak()
  await sleep(500)
  const before = bench.resident()
  await work()
  const rise = bench.peak() - before
  process.stdout.write(`${title.padEnd(40)} +${rise.toFixed(0)} MiB (aim: below ${aim})\n`)
}

// What a process needs once, it may have before the measurement.
await uploadByRest(bench, '', 'warm', 64 * MiB)
await uploadByGraphql(bench, '', 'warm-graphql', 64 * MiB)
await inParts(64 * MiB)
await measure(`${gib} GiB in parts, 4 at once, completed`, 150, () =>
  inParts(Number(gib) * 1024 * MiB),
)
await measure('2 GiB upload by REST', 150, () => uploadByRest(bench, '', 'a', 2048 * MiB))
await measure('2 GiB upload by GraphQL', 150, () => uploadByGraphql(bench, '', 'b', 2048 * MiB))
await measure('2 GiB download by proxy', 150, () => download('a'))
await measure('20 uploads of 100 MiB at once', 400, () =>
  Promise.all(Array.from({ length: 20 }, (_, i) => uploadByRest(bench, '', `p${i}`, 100 * MiB))),
)
await bench.stop()
