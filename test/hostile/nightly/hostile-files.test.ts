import { createSocket, type Socket } from 'node:dgram'
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import sharp from 'sharp'
import type { Derive } from '../../../src/derive/derive.ts'
import { FFMPEG } from '../../support/ffmpeg.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'
import { hostileDocuments } from '../../support/hostile/documents.ts'
import type { Hostile } from '../../support/hostile/hostile.ts'
import { hostilePictures } from '../../support/hostile/pictures.ts'
import { hostileVectors } from '../../support/hostile/vectors.ts'
import { hostileVideos } from '../../support/hostile/videos.ts'
import { until } from '../../support/until.ts'

/**
 * The timeout of one job in milliseconds. unit/derive tests the default of 30 seconds with one
 * file.
 */
const JOB_MS = 4000
/**
 * Jobs of one file: three tries, each with a checksum first, and at most three consecutive
 * processes.
 */
const TRIES = 3
const MEMORY_KIB = 512 * 1024

let t: TestApp
let alice: Person
let tools: string
let path: string | undefined
/** Requests that reached this machine. There must be none. */
const asked: string[] = []
let server: Server
let socket: Socket
let host: string

beforeAll(async () => {
  // Without `unshare` the processes share the network of this machine, and could reach this
  // listener.
  tools = mkdtempSync(join(tmpdir(), 'satchel-tools-'))
  chmodSync(tools, 0o755)
  for (const name of ['nice', 'prlimit', 'true']) symlinkSync(`/usr/bin/${name}`, join(tools, name))
  path = process.env.PATH
  process.env.PATH = tools
  server = createServer(connection => {
    connection.once('data', bytes => void asked.push(bytes.toString('latin1').slice(0, 200)))
    asked.push('a connection')
    connection.on('error', () => {})
    connection.setTimeout(1000, () => connection.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  socket = createSocket('udp4', () => void asked.push('a datagram'))
  await new Promise<void>(resolve => socket.bind(port, '127.0.0.1', resolve))
  host = `http://127.0.0.1:${port}`
  t = await startApp({ PREVIEWS: 'true', DERIVE_PROCESSES: '2', FFMPEG, LEASE_SECONDS: '5' })
  alice = await t.signIn('alice')
  const { derive } = t.app
  const run: Derive['run'] = derive.run
  Object.assign(derive, {
    run: (job: Parameters<Derive['run']>[0]) =>
      run({ ...job, bounds: { ms: JOB_MS, ...job.bounds } }),
  })
  await t.app.db.Plan.update(
    { maxTotalStorageBytes: 2 ** 40, maxFiles: null },
    { where: { id: 'free' } },
  )
})
afterAll(async () => {
  process.env.PATH = path
  await t.stop()
  server.close()
  socket.close()
  rmSync(tools, { recursive: true })
})

/** The highest memory use of the processes, in KiB. */
function watchMemory(): () => number {
  let most = 0
  const timer = setInterval(() => {
    for (const pid of t.app.derive.pids())
      try {
        most = Math.max(
          most,
          Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0),
        )
      } catch {
        // The process has exited.
      }
  }, 25)
  return () => {
    clearInterval(timer)
    return most
  }
}

interface Row {
  name: string
  state: string | null
  reason: string | null
  blobId: string | null
}

const rows = () =>
  t.app.db.rows<Row>(
    'SELECT e.name, p.state, p.reason, p.blob_id AS blobId FROM entry e JOIN blobs b ON b.id = e.blob_id LEFT JOIN preview p ON p.digest = b.sha256',
  )

it('Hostile files crash nothing, connect to nothing, and get icons', async () => {
  const all = [
    ...(await hostilePictures()),
    ...hostileVectors(host),
    ...(await hostileDocuments(host)),
    ...hostileVideos(host),
  ].filter(({ mediaType }) => FFMPEG !== 'false' || !mediaType.startsWith('video/'))
  expect(all.length).toBeGreaterThan(FFMPEG === 'false' ? 165 : 200)
  const nameOf = ({ of, name }: Hostile) => `${of}-${name}`
  expect(new Set(all.map(nameOf)).size).toBe(all.length)

  const memory = watchMemory()
  let slowest = 0
  for (const file of all) {
    const answer = await alice.upload(nameOf(file), file.bytes, file.mediaType)
    expect([nameOf(file), answer.status]).toEqual([nameOf(file), 200])
  }
  const begun = Date.now()
  let found: Row[] = []
  await until(
    async () => {
      const asking = Date.now()
      await alice.rest('GET', '/api/files/tree')
      slowest = Math.max(slowest, Date.now() - asking)
      // Runs the retries immediately.
      await t.app.db.run(
        "UPDATE outbox SET due_at = 0 WHERE kind = 'preview' AND last_error IS NOT NULL AND due_at > ?",
        [Date.now()],
      )
      t.app.worker.wake()
      found = await rows()
      return (
        found.length === all.length &&
        found.every(({ state }) => state === 'made' || state === 'failed')
      )
    },
    all.length * JOB_MS * TRIES,
    500,
  )
  const most = memory()
  const counts: Record<string, number> = {}
  for (const { state, reason } of found)
    counts[reason ?? state ?? ''] = (counts[reason ?? state ?? ''] ?? 0) + 1
  console.log(
    `${all.length} files in ${Math.round((Date.now() - begun) / 1000)} s, ${Math.round(most / 1024)} MiB at most, a listing in ${slowest} ms: ${JSON.stringify(counts)}`,
  )

  expect(asked).toEqual([])
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThan(MEMORY_KIB)
  const of = new Map(all.map(file => [nameOf(file), file]))
  const shown = found.filter(({ state }) => state === 'made')
  expect(shown.filter(({ name }) => !of.get(name)?.mayShow).map(({ name }) => name)).toEqual([])
  // Thumbnails are rendered images, and contain no bytes of the file.
  for (const { name } of shown) {
    const query =
      'query ($path: String!) { me { drive { entry(path: $path) { ... on File { preview { state url } } } } } }'
    const { data } = await alice.graphql<{
      me: { drive: { entry: { preview: { url: string } } } }
    }>(query, {
      path: name,
    })
    const answer = await fetch(data?.me.drive.entry.preview.url ?? '', {
      headers: { cookie: alice.cookie },
    })
    const { format, exif, icc, xmp } = await sharp(await answer.arrayBuffer()).metadata()
    expect({ name, format, extra: exif ?? icc ?? xmp }).toEqual({
      name,
      format: 'webp',
      extra: undefined,
    })
  }
  // The pool still works.
  const bytes = await sharp({ create: { width: 99, height: 99, channels: 3, background: '#357' } })
    .png()
    .toBuffer()
  await alice.upload('good.png', bytes, 'image/png')
  await until(
    async () => (await rows()).some(({ name, state }) => name === 'good.png' && state === 'made'),
    30_000,
  )
}, 900_000)
