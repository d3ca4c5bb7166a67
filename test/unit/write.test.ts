import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { expect, it } from '@jest/globals'
import { answer, success } from '../../src/http/envelope.ts'
import { write } from '../../src/http/write.ts'

it('A response to a disconnected client is not written, with or without a socket', async () => {
  const late = new Promise<[IncomingMessage, ServerResponse]>(resolve => {
    const server = createServer((req, res) => {
      res.once('close', () => {
        server.close()
        resolve([req, res])
      })
    })
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const socket = connect(typeof address === 'object' && address ? address.port : 0, '127.0.0.1')
      // The announced body never arrives.
      socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nx', () =>
        setTimeout(() => socket.end(), 20),
      )
    })
  })
  const [req, res] = await late
  Reflect.set(req, 'socket', null)
  write(res, req, answer(success(null)))
  expect([res.headersSent, res.destroyed, req.complete]).toEqual([false, true, false])
})
