import { createServer } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { expect, it } from '@jest/globals'
import { sendBytes } from '../../src/http/bytes.ts'

const SIZE = 20

/** Asks for a blob, and for something else on the same connection. Answers all that came until the connection ended. */
function exchange(blob: string[]): Promise<string> {
  const delivery = {
    read: async () => Readable.from(blob.map(text => Buffer.from(text))),
    etag: 'm',
    size: SIZE,
    contentType: 'text/plain',
    disposition: 'inline',
    fileName: 'f',
  }
  return new Promise((resolve, reject) => {
    const server = createServer((req, res) => {
      if (req.url === '/next') return void res.end('next')
      const { signal } = new AbortController()
      sendBytes({ req, res, address: '', signal }, delivery).catch(reject)
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

it('A blob of the recorded size is followed by the next response', async () => {
  expect(bodiesOf(await exchange(['0123456789', '0123456789']))).toEqual(['01234567890123456789', 'next'])
})

it.each([
  ['shorter', ['0123456789', '01234']],
  ['longer', ['0123456789', '0123456789', 'HTTP/1.1 200 OK\r\n\r\n']],
  ['empty, and so shorter', []],
])(
  'A blob that is %s than recorded ends the connection, so that no other response is taken for its bytes',
  async (_how, blob) => {
    const bodies = bodiesOf(await exchange(blob))
    expect(bodies.length).toBeLessThanOrEqual(1)
    expect('01234567890123456789'.startsWith(bodies[0] ?? '')).toBe(true)
  },
)
