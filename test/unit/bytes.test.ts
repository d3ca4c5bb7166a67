import { createServer } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
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
          through: async function* () {},
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
