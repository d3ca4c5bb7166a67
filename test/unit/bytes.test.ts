import { createServer } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from '@jest/globals'
import { sendBytes } from '../../src/http/bytes.ts'
import type { Delivery } from '../../src/services/sharing/download.ts'

/** Sizes of a blob that is sent in one piece, and of one that is streamed. */
const sizes = [20, 200_000]

/**
 * Requests a blob, and then another path on the same connection. Returns all bytes until the
 * connection closed.
 */
function exchange(size: number, blob: string[], more: Partial<Delivery> = {}): Promise<string> {
  const delivery = {
    read: async () => Readable.from(blob.map(text => Buffer.from(text))),
    etag: 'm',
    size,
    contentType: 'text/plain',
    disposition: 'inline',
    fileName: 'f',
    ...more,
  }
  return new Promise(resolve => {
    const server = createServer((req, res) => {
      if (req.url === '/next') return void res.end('next')
      const { signal } = new AbortController()
      // Responds with 500 if nothing was sent, like the gateway.
      sendBytes({ req, res, address: '', signal }, delivery).catch(() => res.writeHead(500).end())
    })
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const socket = connect(typeof address === 'object' && address ? address.port : 0, '127.0.0.1')
      let text = ''
      socket.on('error', () => {})
      socket.on('data', chunk => {
        text += chunk
      })
      socket.on('close', () => server.close(() => resolve(text)))
      socket.write(`GET /blob HTTP/1.1\r\nhost: a\r\n\r\n`)
      socket.write(`GET /next HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`)
    })
  })
}
const bodiesOf = (text: string) => text.split(/HTTP\/1\.1 .*?\r\n\r\n/s).slice(1)
const statusesOf = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d+) [A-Z].*\r\n/g)].map(([, status]) => status)

describe.each(sizes)('A blob of %i bytes', size => {
  const half = '0123456789'.repeat(size / 20)

  it('of the recorded size is followed by the next response', async () => {
    expect(bodiesOf(await exchange(size, [half, half]))).toEqual([half + half, 'next'])
  })

  it.each([
    ['shorter', [half, half.slice(0, -5)]],
    ['longer', [half, half, 'HTTP/1.1 200 OK\r\n\r\n']],
    ['empty, and so shorter', []],
  ])(
    'is an error where it is %s than recorded, and no other bytes replace it',
    async (_how, blob) => {
      const text = await exchange(size, blob)
      if (size === sizes[0]) {
        expect([statusesOf(text), bodiesOf(text).at(-1)]).toEqual([['500', '200'], 'next'])
        return
      }
      const bodies = bodiesOf(text)
      expect(bodies.length).toBeLessThanOrEqual(1)
      expect((half + half).startsWith(bodies[0] ?? '')).toBe(true)
    },
  )
})

it('A used-up download opens no blob, and a download whose blob cannot be opened is refunded', async () => {
  let [opened, settled] = [0, 0]
  const refusing = (refusal: Error | null) => ({
    meter: {
      async begin() {
        if (refusal) throw refusal
        return {
          async cover() {},
          async settle() {
            settled++
          },
        }
      },
    },
    async read(): Promise<never> {
      opened++
      throw new Error('The store is down.')
    },
  })
  for (const refusal of [new Error('used up'), null])
    expect(statusesOf(await exchange(20, [], refusing(refusal)))).toEqual(['500', '200'])
  expect([opened, settled]).toEqual([1, 1])
})

const MiB = 1024 * 1024

/**
 * A blob whose chunks share one buffer, like those of the disk store. The buffer is overwritten as
 * soon as it may be reused: when the next chunk is requested, or the iterator is closed.
 */
function reusing(pieces: number): { read: Delivery['read']; closed: Promise<void> } {
  const memory = Buffer.alloc(MiB)
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  let n = 0
  const close = async () => {
    memory.fill(0xff)
    resolve()
    return { done: true, value: undefined } as const
  }
  const steps: AsyncIterableIterator<Buffer> = {
    [Symbol.asyncIterator]: () => steps,
    next: async () => (n < pieces ? { done: false, value: memory.fill(n++ % 200) } : await close()),
    return: close,
  }
  return { read: async () => steps, closed }
}

/** Whether bytes are the beginning of that blob. */
const isBeginning = (bytes: Buffer) => {
  for (let from = 0; from < bytes.length; from += MiB) {
    const piece = bytes.subarray(from, from + MiB)
    if (!piece.equals(Buffer.alloc(piece.length, (from / MiB) % 200))) return false
  }
  return true
}

it.each([
  ['reads slowly', Number.POSITIVE_INFINITY],
  ['disconnects in the middle', 20 * MiB + 5],
])('A client that %s gets no bytes of reused memory', async (_how, enough) => {
  const pieces = 48
  const { read, closed } = reusing(pieces)
  const delivery: Delivery = {
    read,
    etag: 'm',
    size: pieces * MiB,
    contentType: 'text/plain',
    disposition: 'inline',
    fileName: 'f',
  }
  const server = createServer((req, res) => {
    const gone = new AbortController()
    res.on('close', () => gone.abort())
    void sendBytes({ req, res, address: '', signal: gone.signal }, delivery)
  })
  const port = await new Promise<number>(resolve =>
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address ? address.port : 0)
    }),
  )
  const chunks: Buffer[] = []
  let size = 0
  const socket = connect(port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  for await (const chunk of socket) {
    chunks.push(chunk)
    size += chunk.length
    if (chunks.length % 8 === 0) await sleep(2)
    if (size > enough) break
  }
  const bytes = Buffer.concat(chunks)
  const body = bytes.subarray(bytes.indexOf('\r\n\r\n') + 4)
  if (enough === Number.POSITIVE_INFINITY) expect(body.length).toBe(pieces * MiB)
  expect(isBeginning(body)).toBe(true)
  await closed
  server.close()
})
