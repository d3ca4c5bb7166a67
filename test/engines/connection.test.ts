import { describe, expect, it } from '@jest/globals'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { leaveUntouched } from '../support/untouched.ts'
import { field, file, form, formType, head, openWire } from '../support/wire.ts'

const MiB = 1024 * 1024

let t: TestApp
let alice: Person

leaveUntouched(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  await alice.upload('keep.txt', 'hello')
  return t
}, 20)

const noise = Buffer.alloc(12 * MiB, 'noise')

const headOf = (request: string, headers: Record<string, string | number> = {}) =>
  head(alice, request, { 'content-type': formType, accept: 'application/json', ...headers })

describe('A connection', () => {
  const upload = (name: string, bytes: Uint8Array) => form([field('folder', ''), file(name, bytes)])
  const small = '{"path":"a//b"}'
  const bad = () =>
    head(alice, 'POST /api/folders', {
      'content-type': 'application/json',
      'content-length': small.length,
    }) + small

  it('remains usable after a refused JSON body', async () => {
    const wire = await openWire(t.url)
    for (let i = 0; i < 3; i++) {
      await wire.send(bad())
      expect((await wire.answer())?.response.code).toBe('INVALID_PATH')
      await wire.send(head(alice, 'GET /api/user/data'))
      expect((await wire.answer())?.response.user_data.email).toBe('alice@example.com')
    }
    wire.cut()
  })

  it('responds to pipelined requests in order', async () => {
    const wire = await openWire(t.url)
    await wire.send(
      bad() + head(alice, 'GET /api/files/tree') + bad() + head(alice, 'GET /api/nothing'),
    )
    const codes: unknown[] = []
    for (let i = 0; i < 4; i++) codes.push((await wire.answer())?.response.code)
    expect(codes).toEqual(['INVALID_PATH', undefined, 'INVALID_PATH', 'ROUTE_NOT_FOUND'])
    wire.cut()
  })

  it.each([
    ['one that keeps the connection', {}],
    ['one that does not', { connection: 'close' }],
  ])(
    'shows a client that is still sending why its upload is refused: %s',
    async (_who, headers) => {
      const wire = await openWire(t.url)
      const body = upload('keep.txt', noise)
      await wire.send(
        headOf('POST /api/files/upload', { 'content-length': body.length, ...headers }),
      )
      await wire.send(body.subarray(0, MiB))
      const answer = await wire.answer()
      expect([answer?.status, answer?.response.code]).toEqual([409, 'PATH_EXISTS'])
      for (let at = MiB; at < body.length; at += MiB) {
        await wire.send(body.subarray(at, at + MiB))
        expect(wire.socket.destroyed).toBe(false)
      }
      if ('connection' in headers) return await wire.ended
      await wire.send(head(alice, 'GET /api/user/data'))
      expect((await wire.answer())?.status).toBe(200)
      wire.cut()
    },
  )

  it.each([
    ['POST /api/folders', 'application/json'],
    ['POST /graphql', 'application/json'],
    ['POST /api/files/upload', 'text/plain'],
    ['POST /graphql', formType],
    ['POST /api/nothing', 'text/plain'],
    ['PUT /auth/providers', 'text/plain'],
  ])('is closed when the rest of a body refused by %s does not end', async (request, type) => {
    const wire = await openWire(t.url)
    await wire.send(
      head(alice, request, {
        'content-type': type,
        accept: 'application/json',
        'transfer-encoding': 'chunked',
      }),
    )
    const chunk = `100000\r\n${' '.repeat(MiB)}\r\n`
    for (let i = 0; i < 3; i++) await wire.send(chunk)
    expect((await wire.answer())?.text).toMatch(/"code":"[A-Z_]+"/)
    const start = performance.now()
    const sending = setInterval(() => void wire.send(' '), 100)
    await wire.ended
    clearInterval(sending)
    expect(performance.now() - start).toBeLessThan(10_000)
  })

  it('receives 100 Continue when it asks: Expect: 100-continue', async () => {
    const wire = await openWire(t.url)
    const body = upload('keep.txt', noise.subarray(0, 10))
    await wire.send(
      headOf('POST /api/files/upload', { 'content-length': body.length, expect: '100-continue' }),
    )
    expect((await wire.answer())?.status).toBe(100)
    await wire.send(body)
    expect((await wire.answer())?.response.code).toBe('PATH_EXISTS')
    await wire.send(headOf('GET /api/files/tree', { expect: 'miracles' }))
    expect((await wire.answer())?.status).toBe(417)
    wire.cut()
  })

  it('is closed, with a refusal, after invalid HTTP', async () => {
    for (const bytes of [
      'hello\r\n\r\n',
      'GET / HTTP/9.9\r\n\r\n',
      `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nhost: a\r\n\r\n`,
      `GET / HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`,
      'GET /api/files/tree HTTP/1.1\r\n\r\n',
      'POST /api/folders HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\nhello',
      'POST /api/folders HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello',
      'POST /api/folders HTTP/1.1\r\nhost: a\r\ncontent-length: -5\r\n\r\nhello',
      'POST /api/folders HTTP/1.1\r\nhost : a\r\n\r\n',
    ]) {
      const wire = await openWire(t.url)
      await wire.send(bytes)
      const answer = await wire.answer()
      expect([400, 431, 505]).toContain(answer?.status)
      expect(answer?.text).not.toMatch(/node:|at |Error/)
      await wire.ended
    }
  })

  it('does not read the end of a long body as a request', async () => {
    const hidden = head(alice, 'DELETE /api/files/delete?file=keep.txt')
    const wire = await openWire(t.url)
    await wire.send(
      head(alice, 'POST /api/folders', {
        'content-type': 'text/plain',
        'content-length': hidden.length,
      }) + hidden,
    )
    expect((await wire.answer())?.response.code).toBe('INVALID_INPUT')
    await wire.send(head(alice, 'GET /api/user/data'))
    expect((await wire.answer())?.response.user_data.email).toBe('alice@example.com')
    wire.cut()
  })
})
