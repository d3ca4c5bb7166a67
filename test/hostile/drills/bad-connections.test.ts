import { describe, expect, it } from '@jest/globals'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'
import { leaveUntouched } from '../../support/untouched.ts'
import {
  BOUNDARY,
  exchange,
  field,
  file,
  form,
  formType,
  head,
  openWire,
  type Wire,
} from '../../support/wire.ts'

const MiB = 1024 * 1024

let t: TestApp
let alice: Person

/** Signed addresses of a large file. */
const downloads: string[] = []

const untouched = leaveUntouched(async () => {
  t = await startApp({ TRASH_DAYS: '0', DOWNLOADS: 'proxy', SIGNED_URL_SECONDS: '3600' })
  alice = await t.signIn('alice')
  await alice.upload('keep.txt', 'hello')
  await alice.upload('large.bin', noise)
  const own = await alice.rest('POST', '/api/user/private/download_token?file=large.bin')
  const share = await alice.rest('POST', '/api/files/quick_share', {
    json: { object: 'large.bin' },
  })
  const link = await alice.rest('POST', `/api/share/resolve/${share.response.sharing_token}`)
  downloads.push(
    `/api/d/private/${own.response.private_download_token}`,
    new URL(link.response.url).pathname,
  )
  return t
}, 20)

const wait = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
const noise = Buffer.alloc(20 * MiB, 'noise')

/**
 * The start of an upload by each interface, up to its first byte, and its end after the last byte.
 */
const starts = {
  REST: {
    request: 'POST /api/files/upload',
    body: form([field('folder', 'made'), file('new.bin', '')]).subarray(
      0,
      -`\r\n--${BOUNDARY}--\r\n`.length,
    ),
  },
  'REST, with the folder to come': {
    request: 'POST /api/files/upload',
    body: form([file('new.bin', '')]).subarray(0, -`\r\n--${BOUNDARY}--\r\n`.length),
  },
  GraphQL: {
    request: 'POST /graphql',
    body: form([
      field(
        'operations',
        JSON.stringify({
          query:
            'mutation U($file: Upload!) { uploadFile(input: { file: $file, folder: { at: { path: "made" } } }) { file { size } } }',
          variables: { file: null },
        }),
      ),
      field('map', '{ "0": ["variables.file"] }'),
      file('new.bin', '', '0'),
    ]).subarray(0, -`\r\n--${BOUNDARY}--\r\n`.length),
  },
}
const end = `\r\n--${BOUNDARY}--\r\n`
const faces = Object.entries(starts)

const headOf = (request: string, headers: Record<string, string | number> = {}) =>
  head(alice, request, { 'content-type': formType, accept: 'application/json', ...headers })

/** Waits until the service has accepted an upload, and has reserved storage for it. */
async function untilStaged(): Promise<void> {
  while ((await t.app.db.rows("SELECT id FROM blobs WHERE state = 'staged'")).length === 0)
    await wait(5)
}

const reserved = async () => {
  const [bucket] = await t.app.db.rows<{ bytes: number; files: number }>(
    'SELECT reserved_bytes AS bytes, reserved_files AS files FROM bucket WHERE user_id = ?',
    [alice.userId],
  )
  return bucket
}

describe.each(faces)(
  'A client that disconnects in the middle of an upload by %s',
  (_face, { request, body }) => {
    const length = body.length + noise.length + end.length
    const stories: [string, (wire: Wire) => Promise<void>][] = [
      ['immediately', async () => {}],
      [
        'within the headers',
        wire => wire.send(headOf(request, { 'content-length': length }).slice(0, 60)),
      ],
      ['before the body', wire => wire.send(headOf(request, { 'content-length': length }))],
      [
        'within the headers of a part',
        async wire => {
          await wire.send(headOf(request, { 'content-length': length }))
          await wire.send(body.subarray(0, 100))
        },
      ],
      [
        'before the first byte of the file',
        async wire => {
          await wire.send(headOf(request, { 'content-length': length }))
          await wire.send(body)
        },
      ],
      [
        'within the first block',
        async wire => {
          await wire.send(headOf(request, { 'content-length': length }))
          await wire.send(body)
          await wire.send(noise.subarray(0, MiB))
        },
      ],
      [
        'after several blocks',
        async wire => {
          await wire.send(headOf(request, { 'content-length': length }))
          await wire.send(body)
          await wire.send(noise.subarray(0, 10 * MiB))
          await untilStaged()
          expect((await reserved())?.files).toBe(1)
        },
      ],
      [
        'after several blocks without a length',
        async wire => {
          await wire.send(headOf(request, { 'transfer-encoding': 'chunked' }))
          await wire.send(`${body.length.toString(16)}\r\n`)
          await wire.send(Buffer.concat([body, Buffer.from('\r\n')]))
          await wire.send(`${(15 * MiB).toString(16)}\r\n`)
          await wire.send(noise.subarray(0, 10 * MiB))
          await untilStaged()
        },
      ],
    ]

    it.each(stories)('leaves nothing behind: %s, by a reset', async (_when, tell) => {
      const wire = await openWire(t.url)
      await tell(wire)
      await wait(20)
      wire.cut()
      await wire.ended
    })

    it.each(stories)('leaves nothing behind: %s, by a normal close', async (_when, tell) => {
      const wire = await openWire(t.url)
      await tell(wire)
      wire.socket.end()
      await wire.ended
    })
  },
)

describe('A client that disconnects before the response', () => {
  const json = (request: string, body: object, headers: Record<string, string> = {}) => {
    const text = JSON.stringify(body)
    return (
      head(alice, request, {
        'content-type': 'application/json',
        'content-length': text.length,
        ...headers,
      }) + text
    )
  }
  const TAKEN = 'mutation { createFolder(input: { at: { path: "keep.txt" } }) { folder { path } } }'
  const ALL = '{ me { drive { root { entries { nodes { path size } } } } } }'
  const waiting: [string, () => string][] = [
    ['REST', () => json('POST /api/folders', { path: 'keep.txt' })],
    ['GraphQL', () => json('POST /graphql', { query: TAKEN })],
  ]
  const stream = { accept: 'text/event-stream' }
  const subscription = () =>
    json(
      'POST /graphql',
      { query: 'subscription { driveChanged { usage { usedBytes } } }' },
      stream,
    )

  /** Runs work that ends with a closed connection, and waits until the service has noticed. */
  async function cutting(work: () => Promise<Wire>): Promise<void> {
    const cuts = () => t.logs().split('"cut":true').length
    const known = cuts()
    const wire = await work()
    wire.cut()
    while (cuts() === known) await wait(5)
  }
  /** The next bytes of a response, complete or not. */
  const some = ({ socket }: Wire) => new Promise(resolve => socket.once('data', resolve))

  it.each(waiting)(
    'causes no server error during a change by %s that waits for its turn',
    async (_face, request) => {
      await t.app.db.transaction(async tx => {
        await t.app.db.rows(
          `SELECT id FROM bucket WHERE user_id = ?${t.app.db.forUpdate}`,
          [alice.userId],
          tx,
        )
        await cutting(async () => {
          const wire = await openWire(t.url)
          await wire.send(request())
          while (t.app.gateway.running === 0) await wait(5)
          return wire
        })
      })
    },
  )

  it('causes no server error during a query', async () => {
    for (let pause = 0; pause < 15; pause++) {
      const wire = await openWire(t.url)
      await wire.send(json('POST /graphql', { query: ALL }))
      await wait(pause / 2)
      wire.cut()
    }
  })

  it.each(['POST /api/folders', 'POST /graphql'])(
    'causes no server error in the middle of the body of %s',
    request =>
      cutting(async () => {
        const wire = await openWire(t.url)
        await wire.send(json(request, { query: ALL }).slice(0, -5))
        while (t.app.gateway.running === 0) await wait(5)
        return wire
      }),
  )

  it.each([
    ['with a token', 0],
    ['of a signed address', 1],
  ])('causes no server error during a download %s', async (_which, which) => {
    const get = head(alice, `GET ${downloads[which]}`)
    await cutting(async () => {
      const wire = await openWire(t.url)
      await wire.send(get)
      await some(wire)
      return wire
    })
    // Covers the time in which the store is still being read.
    for (let pause = 0; pause < 15; pause++) {
      const wire = await openWire(t.url)
      await wire.send(get)
      await wait(pause / 2)
      wire.cut()
    }
  })

  it('causes no server error during a subscription, idle or in the middle of an event', async () => {
    const [bucket] = await t.app.db.rows<{ id: string }>(
      'SELECT id FROM bucket WHERE user_id = ?',
      [alice.userId],
    )
    for (const events of [0, 1, 20])
      await cutting(async () => {
        const wire = await openWire(t.url)
        await wire.send(subscription())
        await some(wire)
        for (let n = 0; n < events; n++) t.app.pubSub.publish('driveChanged', bucket?.id ?? '')
        if (events === 1) await some(wire)
        return wire
      })
  })
})

describe.each(faces)('A body by %s with a wrong length', (_face, { request, body }) => {
  it('that is cut short ends with the connection, and leaves nothing behind', async () => {
    const wire = await openWire(t.url)
    const all = Buffer.concat([body, noise.subarray(0, 100), Buffer.from(end)])
    await wire.send(headOf(request, { 'content-length': all.length }))
    // Ends within the boundary: bytes after the boundary would not be part of the file.
    await wire.send(all.subarray(0, -8))
    wire.socket.end()
    expect((await wire.answer())?.text ?? '').not.toContain('new.bin')
    await wire.ended
  })

  it('whose rest is missing is refused, and leaves nothing behind', async () => {
    const all = Buffer.concat([body, noise.subarray(0, 100), Buffer.from(end)]).subarray(0, -20)
    const start = Buffer.from(headOf(request, { 'content-length': all.length }))
    const answer = await exchange(t.url, Buffer.concat([start, all]))
    expect(answer?.text).toMatch(/"code":"INVALID_INPUT","field":"(input\.)?file"/)
  })

  it('that is too long does not leak into the next request', async () => {
    const all = Buffer.concat([body, noise.subarray(0, 100), Buffer.from(end)])
    const wire = await openWire(t.url)
    await wire.send(headOf(request, { 'content-length': all.length - 20 }))
    await wire.send(all)
    expect((await wire.answer())?.status).toBe(400)
    await wire.ended
  })

  it.each(['x\r\n', '-1\r\n', '5 5\r\n', 'ffffffffffffffffff\r\n', '5\r\nhello'])(
    'with invalid chunks ends with the connection: %j',
    async chunk => {
      const wire = await openWire(t.url)
      await wire.send(headOf(request, { 'transfer-encoding': 'chunked' }))
      await wire.send(`${body.length.toString(16)}\r\n`)
      await wire.send(Buffer.concat([body, Buffer.from(`\r\n${chunk}xx\r\n`)]))
      await wire.ended
    },
  )
})

describe.each(faces)('A slow client by %s', (face, { request, body }) => {
  const length = body.length + 10 + end.length
  const normal = 120_000

  it('is disconnected after two minutes without a byte (here: a third of a second)', async () => {
    const { server } = t.app.gateway
    expect(server.timeout).toBe(normal)
    server.setTimeout(350)
    const wire = await openWire(t.url)
    server.setTimeout(normal)
    await wire.send(headOf(request, { 'content-length': length }))
    await wire.send(body)
    await wire.send('n')
    await wire.ended
  })

  it('is served as long as bytes arrive', async () => {
    const { server } = t.app.gateway
    server.setTimeout(2000)
    const wire = await openWire(t.url)
    server.setTimeout(normal)
    await wire.send(headOf(request, { 'content-length': length }))
    await wire.send(body)
    for (let i = 0; i < 10; i++) {
      await wire.send('n')
      await wait(250)
    }
    await wire.send(end)
    expect((await wire.answer())?.text).toMatch(/"size":10\b/)
    wire.cut()
    const made = face.includes('to come')
      ? 'files/delete?file=new.bin'
      : 'folders?path=made&recursive=true'
    expect((await alice.rest('DELETE', `/api/${made}`)).status).toBe(200)
    await untouched.accept('bucket')
  })
})

describe('A form that is slow to end', () => {
  it.each([
    ['a second file', file('other.txt')],
    ['an unknown field', field('size', '1')],
    ['a second folder', field('folder', 'b')],
  ])('leaves nothing of a complete file when %s follows', async (_what, part) => {
    const wire = await openWire(t.url)
    const { request, body } = starts.REST
    const rest = form([part])
    await wire.send(headOf(request, { 'content-length': body.length + 10 * MiB + 2 + rest.length }))
    await wire.send(body)
    await wire.send(noise.subarray(0, 10 * MiB))
    await wire.send(`\r\n--${BOUNDARY}`)
    await untilStaged()
    await wait(100)
    await wire.send(rest.subarray(`--${BOUNDARY}`.length))
    expect((await wire.answer())?.response.code).toBe('INVALID_INPUT')
    wire.cut()
  })
})
