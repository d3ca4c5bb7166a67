import { get, request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { takeBlock } from '../../src/storage/blocks.ts'
import { readSize } from '../../src/storage/chunks.ts'
import { randomFrom } from '../support/fuzz.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

/**
 * Downloads share buffers, which must never carry the bytes of one file to the reader of another.
 */
const MiB = 1024 * 1024
/** Sizes around those of the buffers. */
const sizes = [1000, 65_536, 65_537, 262_143, 262_144, 262_145, 3 * MiB, 8 * MiB + 5]

/** Each word of a file names the file and its position, so foreign bytes are noticed anywhere. */
function contentOf(file: number): Buffer {
  const size = sizes[file] ?? 0
  const words = new Uint32Array(Math.ceil(size / 4))
  for (let i = 0; i < words.length; i++) words[i] = (file << 24) | i
  return Buffer.from(words.buffer, 0, size)
}
const contents = sizes.map((_, file) => contentOf(file))

let t: TestApp
let alice: Person
const urls: string[] = []
/** The path of a file's link with a limit of downloads, whose bytes are metered. */
const metered: string[] = []

async function linkOf(file: number, more: object): Promise<string> {
  const shared = await alice.rest('POST', '/api/files/quick_share', {
    json: { object: `${file}.bin`, ...more },
  })
  const opened = await t.anonymous.rest(
    'POST',
    `/api/share/resolve/${shared.response.sharing_token}`,
  )
  return opened.response.url
}

beforeAll(async () => {
  t = await startApp({ DOWNLOADS: 'proxy', CONNECTIONS_PER_ADDRESS: '1000' })
  alice = await t.signIn('alice')
  for (const [file, bytes] of contents.entries()) {
    expect((await alice.upload(`${file}.bin`, bytes)).status).toBe(200)
    urls.push(await linkOf(file, {}))
    metered.push(await linkOf(file, { max_downloads: 1 }))
  }
})
afterAll(() => t.stop())

interface Wanted {
  url: string
  from?: number
  to?: number
  /** Waits between chunks. */
  pause?: number
  /** Disconnects after this number of bytes. */
  enough?: number
}

/** Downloads a file or a range of it. Resolves to the bytes that have arrived. */
const download = ({ url, from = 0, to, pause, enough = Number.POSITIVE_INFINITY }: Wanted) =>
  new Promise<Buffer>((resolve, reject) => {
    const headers = from > 0 || to !== undefined ? { range: `bytes=${from}-${to ?? ''}` } : {}
    const req = get(url, { headers, agent: false }, async res => {
      const chunks: Buffer[] = []
      let size = 0
      try {
        for await (const chunk of res) {
          chunks.push(chunk)
          size += chunk.length
          if (size >= enough) break
          if (pause) await sleep(pause)
        }
      } catch (error) {
        return reject(error)
      }
      req.destroy()
      resolve(Buffer.concat(chunks))
    })
    req.on('error', reject)
  })

/** Sends requests at once on one connection. Resolves to everything until the connection closes. */
const pipelined = (requests: string[]) =>
  new Promise<Buffer>((resolve, reject) => {
    const { hostname, port } = new URL(t.url)
    const socket = connect(Number(port), hostname)
    const chunks: Buffer[] = []
    socket.on('data', chunk => chunks.push(chunk))
    socket.on('error', reject)
    socket.on('close', () => resolve(Buffer.concat(chunks)))
    socket.write(requests.join(''))
  })

/** The bodies of responses that have a Content-Length. HEAD has no body. */
function bodiesOf(bytes: Buffer, methods: string[]): Buffer[] {
  const bodies: Buffer[] = []
  let at = 0
  for (const method of methods) {
    const end = bytes.indexOf('\r\n\r\n', at) + 4
    const [, length = ''] = /content-length: (\d+)/i.exec(bytes.toString('latin1', at, end)) ?? []
    at = end + (method === 'HEAD' ? 0 : Number(length))
    bodies.push(bytes.subarray(end, at))
  }
  expect(at).toBe(bytes.length)
  return bodies
}

async function manyDownloads(seed: number): Promise<void> {
  const random = randomFrom(seed)
  const roll = (below: number) => Math.floor(random() * below)
  await Promise.all(
    Array.from({ length: 40 }, async (_, n) => {
      const file = roll(sizes.length)
      const [bytes = Buffer.alloc(0), url = ''] = [contents[file], urls[file]]
      const from = roll(3) === 0 ? roll(bytes.length) : 0
      const to = roll(3) === 0 ? from + roll(bytes.length - from) : undefined
      const wanted = bytes.subarray(from, to === undefined ? undefined : to + 1)
      const enough = n % 3 === 0 ? Math.max(1, roll(wanted.length)) : undefined
      const pause = n % 4 === 0 ? 1 : undefined
      const got = await download({
        url,
        from,
        ...(to === undefined ? {} : { to }),
        ...(enough === undefined ? {} : { enough }),
        ...(pause === undefined ? {} : { pause }),
      })
      if (enough === undefined) expect(got.length).toBe(wanted.length)
      expect(got.equals(wanted.subarray(0, got.length))).toBe(true)
    }),
  )
}

describe('Parallel downloads that share buffers', () => {
  it('get only their own bytes: whole, ranged, slow and aborted', async () => {
    for (let seed = 1; seed <= 4; seed++) await manyDownloads(seed)
  })

  it('get only their own bytes through metered links', async () => {
    const got = await Promise.all(metered.map(url => download({ url, pause: 1 })))
    for (const [file, bytes] of contents.entries()) expect(got[file]?.equals(bytes)).toBe(true)
  })

  it('get only their own bytes when requests are pipelined, with HEAD between them', async () => {
    const order = [7, 0, 4, 6, 2, 7, 5, 3, 1]
    const methods = order.map((_, i) => (i % 3 === 1 ? 'HEAD' : 'GET'))
    const last = order.length - 1
    const asked = order.map(
      (file, i) =>
        `${methods[i]} ${new URL(urls[file] ?? '').pathname} HTTP/1.1\r\nhost: a\r\n${i === last ? 'connection: close\r\n' : ''}\r\n`,
    )
    const all = await Promise.all([1, 2, 3].map(() => pipelined(asked)))
    for (const bytes of all)
      for (const [i, body] of bodiesOf(bytes, methods).entries())
        expect(
          methods[i] === 'HEAD'
            ? body.length === 0
            : body.equals(contents[order[i] ?? 0] ?? Buffer.alloc(0)),
        ).toBe(true)
  })

  it('leave each buffer in the pool once', async () => {
    await Promise.all([
      ...[6, 7, 6, 7].map(file => download({ url: urls[file] ?? '', enough: 300_000 })),
      ...[4, 5, 6, 7].map(file => download({ url: urls[file] ?? '', pause: 1 })),
      new Promise<void>((resolve, reject) => {
        request(urls[7] ?? '', { method: 'HEAD' }, res => res.resume().on('end', resolve))
          .on('error', reject)
          .end()
      }),
    ])
    await t.settle()
    const taken = Array.from({ length: 100 }, () => takeBlock(readSize))
    expect(new Set(taken).size).toBe(taken.length)
  })
})
