/**
 * The cost of multipart uploads compared with a bare server that writes the same parts to the same
 * disk. Part of bench/upload.
 */
import { randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import { type Figure, measured, report } from './measured.ts'
import { startPlainServer } from './plain.ts'
import { type Bench, MiB, median } from './service.ts'

const IN_FLIGHT = 4

/** A multipart upload in progress. */
export interface Sending {
  addressOf(part: number): string
  complete(): Promise<void>
  remove(): Promise<void>
}
interface Shape {
  partSize: number
  count: number
}
type Way = (shape: Shape) => Promise<Sending>

const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT })
const bytes = randomBytes(4 * MiB)
let serial = 0

function put(address: string, cookie: string, size: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { cookie, 'content-type': 'application/octet-stream', 'content-length': size }
    const req = request(address, { method: 'PUT', agent, headers }, async res => {
      const text = (await res.setEncoding('utf8').toArray()).join('')
      if (res.statusCode === 200 || res.statusCode === 201) resolve()
      else reject(new Error(`${address} answered ${res.statusCode}: ${text}`))
    })
    req.on('error', reject).end(bytes.subarray(0, size))
  })
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}

/**
 * The routes of parts: to a bare server, through the service with a session, and to its signed
 * addresses.
 */
export async function waysOf(
  { url, cookie }: Bench,
  plain: { url: string },
): Promise<[Way, Way, Way]> {
  const call = async (method: string, path: string, body?: object) => {
    const options = { method, headers: { cookie, 'content-type': 'application/json' } }
    const answer = await fetch(
      `${url}/api/files${path}`,
      body ? { ...options, body: JSON.stringify(body) } : options,
    )
    const { response, msg } = (await answer.json()) as {
      msg: string
      response: { upload_id: string; parts?: { url: string }[] }
    }
    if (!answer.ok) throw new Error(`${method} ${path}: ${msg}`)
    return response
  }

  const straight: Way = async ({ partSize }) => {
    const file = `${plain.url}/straight-${serial++}`
    return {
      addressOf: part => `${file}?at=${(part - 1) * partSize}`,
      complete: async () => {},
      remove: async () => void (await fetch(file, { method: 'DELETE' })),
    }
  }
  const byService = (direct: boolean): Way => {
    return async ({ count, partSize }) => {
      const filename = `parts-${serial++}`
      const { upload_id: id, parts } = await call('POST', '/uploads', {
        filename,
        size: count * partSize,
        direct,
      })
      return {
        addressOf: part => parts?.[part - 1]?.url ?? `${url}/api/files/uploads/${id}/parts/${part}`,
        complete: async () => void (await call('POST', `/uploads/${id}/complete`, {})),
        remove: async () => void (await call('DELETE', `/delete?file=${filename}`)),
      }
    }
  }
  return [straight, byService(false), byService(true)]
}

/** Sends some parts of a file, several at a time. */
export async function send(
  file: Sending,
  cookie: string,
  partSize: number,
  from: number,
  to: number,
): Promise<void> {
  let next = from
  const work = async () => {
    while (next < to) await put(file.addressOf(++next), cookie, partSize)
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, work))
}

/**
 * Prints the cost of 1 GiB in parts, with and without the completion. The sides alternate every 64
 * MiB, because the load of a shared machine changes.
 */
export async function compareParts(bench: Bench, rounds: number): Promise<void> {
  const shape = { partSize: 4 * MiB, count: 256 }
  const turn = 16
  const plain = await startPlainServer(bench)
  const ways = await waysOf(bench, plain)
  const figures = ways.map((): { parts: Figure[]; whole: Figure[] } => ({ parts: [], whole: [] }))
  // The first round is a warm-up.
  for (let round = 0; round <= rounds; round++) {
    const sums = ways.map((): Figure => ({ seconds: 0, processor: 0 }))
    const files: Sending[] = []
    const add = async (i: number, work: () => Promise<unknown>) => {
      const { seconds, processor } = await measured(i === 0 ? plain.pid : bench.pid, work)
      const sum = sums[i] ?? { seconds: 0, processor: 0 }
      sums[i] = { seconds: sum.seconds + seconds, processor: sum.processor + processor }
    }
    const note = (i: number, which: 'parts' | 'whole') => {
      const sum = sums[i]
      if (round > 0 && sum) figures[i]?.[which].push(sum)
    }
    for (const [i, way] of ways.entries())
      await add(i, async () => {
        files[i] = await way(shape)
      })
    for (let from = 0; from < shape.count; from += turn) {
      // No side is always first, or always follows the same one.
      const shifted = files.map((_, i) => (i + from / turn) % files.length)
      for (const i of (from / turn) % 2 ? shifted : shifted.reverse()) {
        const file = files[i]
        if (file) await add(i, () => send(file, bench.cookie, shape.partSize, from, from + turn))
      }
    }
    for (const [i, file] of files.entries()) {
      note(i, 'parts')
      await add(i, file.complete)
      note(i, 'whole')
      await file.remove()
    }
  }
  for (const [title, which, aims] of [
    [`1 GiB in parts, ${IN_FLIGHT} at once`, 'parts', [0.85, 0.95]],
    ['  and completed', 'whole', []],
  ] as const)
    report(title, { bytes: shape.count * shape.partSize, times: 1 }, [
      ['straight', figures[0]?.[which]],
      ['through', figures[1]?.[which], aims[0]],
      ['direct', figures[2]?.[which], aims[1]],
    ])
  process.stdout.write('  The bare server has nothing to complete.\n')
  plain.close()
}

/** Prints the cost of a part in an upload of few parts and of many. */
export async function compareCounts(bench: Bench): Promise<void> {
  const [, through] = await waysOf(bench, bench)
  const cost = async (count: number) => {
    const file = await through({ partSize: 1024, count })
    const parts = await timed(() => send(file, bench.cookie, 1024, 0, count))
    const completion = await timed(file.complete)
    await file.remove()
    return { part: (1000 * parts) / count, completion }
  }
  await cost(100)
  const small: number[] = []
  for (let i = 0; i < 5; i++) small.push((await cost(100)).part)
  const large = await cost(10_000)
  const few = median(small)
  process.stdout.write(
    `parts of 1 KiB             of 100 ${few.toFixed(2)} ms each   of 10,000 ${large.part.toFixed(2)} ms each (${(large.part / few).toFixed(2)}, aim 1)` +
      `   completion of 10,000 ${large.completion.toFixed(1)} s\n`,
  )
}
