import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { restSchema } from '../../schema/rest/index.ts'
import { routesOf } from '../../src/rest/routes.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { until } from '../support/until.ts'
import { restUploader } from '../support/uploader.ts'
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
  type WireAnswer,
} from '../support/wire.ts'

const MiB = 1024 * 1024
const wait = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

/** A form up to the start of its file. The file and the end are missing. */
const formStart = (name: string) => form([file(name, '')], '').subarray(0, -2)
const formEnd = `\r\n--${BOUNDARY}--\r\n`
const graphqlStart = form(
  [
    field(
      'operations',
      JSON.stringify({
        query: 'mutation ($file: Upload!) { uploadFile(input: { file: $file }) { file { size } } }',
        variables: { file: null },
      }),
    ),
    field('map', '{"0":["variables.file"]}'),
    file('graph.bin', '', '0'),
  ],
  '',
).subarray(0, -2)

interface Start {
  request: string
  headers: Record<string, string | number>
  body: string | Uint8Array
}

const jsonStart = (path = 'POST /api/folders'): Start => ({
  request: path,
  headers: { 'content-type': 'application/json', 'content-length': 1000 },
  body: '{"path":',
})
const uploadStart = (
  length: number,
  request = 'POST /api/files/upload',
  body = formStart('slow.bin'),
): Start => ({
  request,
  headers: { 'content-type': formType, 'content-length': length },
  body,
})

/** Starts a request whose body does not end. */
async function begin(
  t: TestApp,
  who: Person,
  { request, headers, body }: Start,
  from?: string,
  more = {},
): Promise<Wire> {
  const wire = await openWire(t.url, from)
  await wire.send(head(who, request, { accept: 'application/json', ...headers, ...more }))
  // Sent separately from the headers, because a body that arrives with them is not unfinished.
  await wait(5)
  await wire.send(body)
  return wire
}

const refused = (answer: WireAnswer | undefined) => [
  answer?.status,
  answer?.headers['retry-after'],
  answer?.response?.code ?? JSON.parse(answer?.text ?? '{}').errors?.[0].extensions.code,
]
const BUSY = [503, '5', 'UNAVAILABLE']

describe('A stalled body', () => {
  let t: TestApp
  let alice: Person

  beforeAll(async () => {
    t = await startApp({
      BODY_SECONDS: '2',
      UPLOAD_RATE_SECONDS: '2',
      UPLOAD_MIN_RATE: '1024',
      BODIES_PER_CALLER: '20',
    })
    alice = await t.signIn('alice')
  })
  afterAll(() => t.stop())

  const starts: [string, () => Start | Promise<Start>, number][] = [
    ['JSON by REST', () => jsonStart(), 400],
    [
      'JSON of unknown length',
      () => ({
        ...jsonStart(),
        headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
        body: '4\r\n{"pa\r\n',
      }),
      400,
    ],
    [
      'JSON that calls itself a form',
      () => ({ ...jsonStart(), headers: { 'content-type': formType, 'content-length': 1000 } }),
      400,
    ],
    ['JSON by GraphQL', () => jsonStart('POST /graphql'), 400],
    [
      'a form of a page',
      () => ({
        request: 'POST /invite/x',
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': 100 },
        body: 'a=',
      }),
      400,
    ],
    ['an upload by REST, in its file', () => uploadStart(10 * MiB), 400],
    [
      'an upload by REST, before its file',
      () => uploadStart(10 * MiB, undefined, formStart('slow.bin').subarray(0, 30)),
      400,
    ],
    [
      'an upload by GraphQL, in its file',
      () => uploadStart(10 * MiB, 'POST /graphql', graphqlStart),
      200,
    ],
    [
      'an upload by GraphQL, before its file',
      () => uploadStart(10 * MiB, 'POST /graphql', graphqlStart.subarray(0, 60)),
      400,
    ],
    [
      'a part of an upload',
      async () => {
        const { value } = await restUploader(alice).start({ filename: 'parts.bin', size: 5 * MiB })
        return {
          request: `PUT /api/files/uploads/${value.upload_id}/parts/1`,
          headers: { 'content-length': value.chunk_size },
          body: 'x',
        }
      },
      400,
    ],
  ]
  it('is aborted, with its connection and its reservations', async () => {
    const wires = await Promise.all(starts.map(async ([, start]) => begin(t, alice, await start())))
    await until(() => t.app.gateway.intake.open === starts.length)
    const begun = performance.now()
    const answers = await Promise.all(
      wires.map(async wire => {
        const answer = await wire.answer()
        await wire.ended
        return answer
      }),
    )
    expect(performance.now() - begun).toBeLessThan(15_000)
    for (const [i, [what, , status]] of starts.entries())
      expect([what, answers[i]?.status, answers[i]?.text]).toEqual([
        what,
        status,
        expect.stringMatching(
          /did not arrive within 2 seconds|was slower than 1024 bytes per second/,
        ),
      ])
    await until(() => t.app.gateway.running === 0 && t.app.gateway.intake.open === 0)
    expect(t.app.gateway.intake.memory).toBe(0)
  })

  /** Sends some bytes, several times a second. */
  async function trickle(wire: Wire, bytes: number, ms: number): Promise<void> {
    let gone = false
    wire.ended.then(() => {
      gone = true
    })
    for (const end = performance.now() + ms; !gone && performance.now() < end; await wait(100))
      await wire.send(Buffer.alloc(bytes, 'x'))
  }

  it('is aborted when it is too slow: JSON at any rate, an upload below the minimum rate', async () => {
    const wires = await Promise.all([
      begin(t, alice, jsonStart()),
      begin(t, alice, uploadStart(10 * MiB)),
    ])
    await Promise.all(wires.map(wire => trickle(wire, 5, 20_000)))
    for (const wire of wires) {
      await wire.ended
      expect((await wire.answer())?.status).toBe(400)
    }
  })

  it('is accepted for an upload over a slow line', async () => {
    const size = 4 * 400 * 10
    const all = formStart('mobile.bin').length + size + formEnd.length
    const wire = await begin(t, alice, uploadStart(all, undefined, formStart('mobile.bin')))
    // 4 KB a second for longer than two measuring periods.
    for (let sent = 0; sent < size; sent += 400) {
      await wire.send(Buffer.alloc(400, 'x'))
      await wait(125)
    }
    await wire.send(formEnd)
    const answer = await wire.answer()
    expect([answer?.status, answer?.response.file?.size]).toEqual([200, size])
    wire.cut()
  })

  it('leaves nothing behind', async () => {
    await until(() => t.app.gateway.running === 0)
    expect(t.failures()).toEqual([])
    const [bucket] = await t.app.db.rows(
      'SELECT reserved_files AS files FROM bucket WHERE user_id = ?',
      [alice.userId],
    )
    // The reservation of the multipart upload, which waits for its creator.
    expect(bucket).toEqual({ files: 1 })
  })
})

describe('Unfinished bodies', () => {
  let t: TestApp
  let alice: Person
  let mallory: Person
  let wires: Wire[] = []

  beforeAll(async () => {
    t = await startApp({
      BODIES_PER_ADDRESS: '12',
      BODIES_PER_CALLER: '5',
      TRUST_PROXY: '127.0.0.9',
    })
    ;[alice, mallory] = await Promise.all([t.signIn('alice'), t.signIn('mallory')])
  })
  afterAll(() => t.stop())

  const { open } = { open: () => t.app.gateway.intake.open }
  /** Starts this many bodies one after another. All are accepted. */
  async function hold(
    n: number,
    who: Person,
    start: Start,
    from?: string,
    more = {},
  ): Promise<void> {
    for (let i = 0; i < n; i++) {
      const before = open()
      wires.push(await begin(t, who, start, from, more))
      await until(() => open() === before + 1)
    }
  }
  async function letGo(): Promise<void> {
    for (const wire of wires) wire.cut()
    wires = []
    await until(() => open() === 0 && t.app.gateway.running === 0)
    expect(t.app.gateway.intake.memory).toBe(0)
  }

  it.each<[string, Start]>([
    ['JSON', jsonStart()],
    ['uploads', uploadStart(10_000)],
    ['GraphQL', jsonStart('POST /graphql')],
  ])('of one user are limited, from all addresses together: %s', async (_what, start) => {
    await hold(3, mallory, start)
    await hold(2, mallory, start, '127.0.0.2')
    for (const next of [start, jsonStart(), uploadStart(10_000)]) {
      const wire = await begin(t, mallory, next, '127.0.0.3')
      const answer = refused(await wire.answer())
      expect(next.request.endsWith('/graphql') ? answer[2] : answer).toEqual(
        next.request.endsWith('/graphql') ? BUSY[2] : BUSY,
      )
      wire.cut()
    }
    // Requests without a body, small requests in one piece, and requests of other users are served.
    expect((await mallory.rest('GET', '/api/files/tree')).status).toBe(200)
    expect(
      (await mallory.rest('POST', '/api/folders', { json: { path: `m/${Math.random()}` } })).status,
    ).toBe(200)
    expect((await alice.upload(`a${Math.random()}`, 'hello')).status).toBe(200)
    await letGo()
    expect((await mallory.upload(`m${Math.random()}`, 'hello')).status).toBe(200)
  })

  it('from one address are limited, and to a quarter of that without a credential', async () => {
    const open = jsonStart('POST /api/share/resolve/x')
    await hold(3, t.anonymous, open)
    const anonymous = await begin(t, t.anonymous, open)
    expect(refused(await anonymous.answer())).toEqual(BUSY)
    await hold(5, mallory, jsonStart())
    await hold(4, alice, jsonStart())
    const bob = await t.signIn('bob')
    const more = await begin(t, bob, jsonStart())
    expect(refused(await more.answer())).toEqual(BUSY)
    const elsewhere = await begin(t, bob, jsonStart(), '127.0.0.2')
    await until(() => t.app.gateway.intake.open === 13)
    for (const wire of [anonymous, more, elsewhere]) wire.cut()
    await letGo()
  })

  it('through a trusted proxy count for the named address, or for none', async () => {
    const proxy = '127.0.0.9'
    const start = jsonStart('POST /api/share/resolve/x')
    const by = (address: string) => ({ 'x-forwarded-for': address })
    await hold(3, t.anonymous, start, proxy, by('203.0.113.1'))
    const more = await begin(t, t.anonymous, start, proxy, by('203.0.113.1'))
    expect(refused(await more.answer())).toEqual(BUSY)
    await hold(3, t.anonymous, start, proxy, by('203.0.113.2'))
    await hold(14, t.anonymous, start, proxy)
    more.cut()
    await letGo()
  })
})

describe('The memory of request bodies', () => {
  it('has one budget: requests beyond it get 503, and one caller gets half of it', async () => {
    const t = await startApp({ BODY_MEMORY_BYTES: String(64 * MiB) })
    const wires: Wire[] = []
    try {
      const [alice, bob, mallory] = await Promise.all(
        ['alice', 'bob', 'mallory'].map(name => t.signIn(name)),
      )
      if (!alice || !bob || !mallory) throw new Error('A sign-in failed.')
      const big = uploadStart(100 * MiB)
      const fill = async (who: Person) => {
        for (;;) {
          const before = t.app.gateway.intake.open
          const wire = await begin(t, who, big)
          wires.push(wire)
          let answer: WireAnswer | undefined
          void wire.answer().then(said => {
            answer = said
          })
          await until(() => t.app.gateway.intake.open > before || answer !== undefined)
          if (answer) return refused(answer)
        }
      }
      expect(await fill(mallory)).toEqual(BUSY)
      expect(t.app.gateway.intake.memory).toBeLessThanOrEqual(32 * MiB)
      expect(t.app.gateway.intake.memory).toBeGreaterThan(20 * MiB)
      // Another caller has memory for small uploads.
      expect((await alice.upload('a.bin', Buffer.alloc(3 * MiB))).status).toBe(200)
      expect(await fill(bob)).toEqual(BUSY)
      expect(t.app.gateway.intake.memory).toBeLessThanOrEqual(56 * MiB)
      const text = JSON.stringify({ path: 'a.bin', pad: 'x'.repeat(MiB / 2) })
      const json = await alice.rest('POST', '/api/folders', {
        body: text,
        headers: { 'content-type': 'application/json' },
      })
      expect(json.response).toEqual({ code: 'INVALID_INPUT', field: 'pad' })
      for (const wire of wires) wire.cut()
      await until(() => t.app.gateway.running === 0)
      expect(t.app.gateway.intake.memory).toBe(0)
      expect((await bob.upload('b.bin', Buffer.alloc(9 * MiB))).status).toBe(200)
      expect(t.failures()).toEqual([])
    } finally {
      for (const wire of wires) wire.cut()
      await t.stop()
    }
  })
})

describe('Connections', () => {
  let t: TestApp
  beforeAll(async () => {
    t = await startApp({ CONNECTIONS_PER_ADDRESS: '10', TRUST_PROXY: '127.0.0.9' })
  })
  afterAll(() => t.stop())

  const get = (more = {}) => head(t.anonymous, 'GET /auth/is_valid', more)
  const open = (n: number, from: string) =>
    Promise.all(Array.from({ length: n }, () => openWire(t.url, from)))

  it('of one address are limited: excess requests are refused or cut, and others are served', async () => {
    const from = '127.0.0.2'
    const wires = await open(10, from)
    const [beyond] = await open(1, from)
    await beyond?.send(get())
    const answer = await beyond?.answer()
    expect([...refused(answer), answer?.headers.connection]).toEqual([...BUSY, 'close'])
    await wires[0]?.send(get())
    expect((await wires[0]?.answer())?.status).toBe(200)
    const many = await open(40, from)
    let cut = 0
    for (const wire of many) void wire.ended.then(() => cut++)
    await until(() => cut >= 30)
    expect((await exchange(t.url, get()))?.status).toBe(200)
    for (const wire of [...wires, ...many]) wire.cut()
    await until(async () => {
      const [again] = await open(1, from)
      await again?.send(get())
      const status = (await again?.answer())?.status
      again?.cut()
      return status === 200
    })
  })

  it('of a trusted proxy are not limited, but the requests of each named address are', async () => {
    const wires = await open(30, '127.0.0.9')
    for (const wire of wires) {
      await wire.send(get({ 'x-forwarded-for': '203.0.113.1' }))
      expect((await wire.answer())?.status).toBe(200)
    }
    const slow = jsonStart('POST /api/share/resolve/x')
    for (const wire of wires.slice(0, 10)) {
      await wire.send(
        head(t.anonymous, slow.request, { ...slow.headers, 'x-forwarded-for': '203.0.113.1' }),
      )
      await wire.send(slow.body)
    }
    await until(() => t.app.gateway.running === 10)
    for (const [address, status] of [
      ['203.0.113.1', 503],
      ['203.0.113.2', 200],
    ] as const) {
      await wires[20]?.send(get({ 'x-forwarded-for': address }))
      expect((await wires[20]?.answer())?.status).toBe(status)
    }
    for (const wire of wires) wire.cut()
  })
})

describe('A body without a credential', () => {
  let t: TestApp
  beforeAll(async () => {
    t = await startApp()
  })
  afterAll(() => t.stop())

  const routes = routesOf(restSchema).filter(route => !route.public && route.method !== 'GET')
  it.each(routes.map(({ method, path }) => [`${method} ${path}`]))(
    'is refused before any of it is read: %s',
    async request => {
      const types = ['application/json', formType, 'application/octet-stream']
      for (const type of types) {
        const wire = await openWire(t.url)
        await wire.send(
          head(t.anonymous, request.replaceAll(/\{\w+\}/g, 'x'), {
            'content-type': type,
            'content-length': 100 * MiB,
          }),
        )
        expect(refused(await wire.answer())[0]).toBe(401)
        wire.cut()
      }
    },
  )
})
