import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import type { createGateway } from '../../src/http/server.ts'
import {
  createThreshold,
  type Door,
  type DoorPlan,
  type Passage,
  passage,
} from '../../src/http/threshold.ts'
import {
  AppError,
  Busy,
  Forbidden,
  ProtocolError,
  toAppError,
  Unauthenticated,
} from '../../src/runtime/errors.ts'
import { doorListener } from '../support/door-listener.ts'

const servers: Server[] = []

afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function serve(...given: Parameters<typeof doorListener>): Promise<string> {
  const server = createServer(doorListener(...given))
  servers.push(server)
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The checks of the threshold, in order, with the code of each refusal. */
const checks = [
  ['the method', 'METHOD_NOT_ALLOWED'],
  ['the page that sent it', 'FORBIDDEN'],
  ['its caller', 'UNAUTHENTICATED'],
  ['its body', 'UNAVAILABLE'],
  ['maintenance', 'MAINTENANCE'],
  ['nothing else', undefined],
] as const

/** A request that fails every check from `first` on. */
async function failFrom(first: number) {
  const fails = (check: number) => check >= first
  const done: string[] = []
  const noted: string[] = []
  const origin = await serve(
    {
      prefix: '/',
      find: () =>
        passage({
          route: '/things',
          methods: fails(0) ? ['GET'] : ['POST'],
          guards: 'forms',
          async caller() {
            done.push('caller')
            if (fails(2)) throw new Unauthenticated()
            return { userId: 'u1' }
          },
          body: 'upload',
          writes: true,
          handle({ res, route, from }, { userId }) {
            done.push(`handle ${route} for ${userId} from ${from.agent}`)
            res.end('done')
          },
        }),
    },
    {
      ownOrigins: ['https://own.example'],
      async admit(caller, body) {
        done.push(`admit ${body} of ${caller}`)
        if (fails(3)) throw new Busy('Full.')
      },
      isMaintained() {
        done.push('maintenance')
        return fails(4)
      },
      noteError: thrown => noted.push(toAppError(thrown).error.code),
    },
  )
  const from = fails(1) ? 'https://other.example' : 'https://own.example'
  const res = await fetch(origin, { method: 'POST', headers: { origin: from }, body: 'x' })
  const text = await res.text()
  return { done, noted, status: res.status, text }
}

describe('The threshold', () => {
  it.each(checks.map(([name, code], i) => [name, code, i] as const))(
    'stops a request at %s, and does nothing after it',
    async (_, code, i) => {
      const { done, noted, status, text } = await failFrom(i)
      const steps = [
        ...(i >= 2 ? ['caller'] : []),
        ...(i >= 3 ? ['admit upload of u1'] : []),
        ...(i >= 4 ? ['maintenance'] : []),
        ...(i >= 5 ? ['handle /things for u1 from null'] : []),
      ]
      expect(done).toEqual(steps)
      expect(noted).toEqual(code === undefined ? [] : [code])
      if (code === undefined) expect([status, text]).toEqual([200, 'done'])
      else expect(JSON.parse(text)).toMatchObject({ status, response: { code } })
    },
  )

  it.each([
    ['session', { cookie: 'session_id=s1' }, 403],
    ['session', {}, 200],
    ['session', { cookie: 'session_id=s1', 'x-api-key': 'k1' }, 200],
    ['forms', {}, 403],
    ['nothing', { cookie: 'session_id=s1' }, 200],
  ] as const)('guards %s against a page of another origin: %j', async (guards, headers, status) => {
    const origin = await serve({ prefix: '/', find: () => writing({ guards }) })
    const from = { origin: 'https://other.example', ...headers }
    expect((await fetch(origin, { method: 'POST', headers: from })).status).toBe(status)
    const ofOwn = await fetch(origin, { method: 'GET', headers: from })
    expect(ofOwn.status).toBe(200)
  })

  it('sends errors in the format of the passage, or else of the door', async () => {
    const refuse = (text: string) => () => ({ status: 418, headers: {}, body: text })
    const failing = writing({
      handle() {
        throw new Forbidden()
      },
    })
    const door: DoorPlan = { prefix: '/', find: () => failing, refuse: refuse('door') }
    const own: DoorPlan = { ...door, find: () => ({ ...failing, refuse: refuse('passage') }) }
    const lost: DoorPlan = {
      ...door,
      find() {
        throw new AppError('ROUTE_NOT_FOUND', 'Nothing.')
      },
    }
    const texts = await Promise.all(
      [door, own, lost].map(async plan => (await fetch(await serve(plan))).text()),
    )
    expect(texts).toEqual(['door', 'passage', 'door'])
  })

  it('does not count the refusals that a protocol prescribes', async () => {
    const noted: unknown[] = []
    const find = () =>
      writing({
        handle() {
          throw new ProtocolError('Not yet.')
        },
      })
    const refuse = () => ({ status: 423, headers: {}, body: '' })
    const origin = await serve(
      { prefix: '/', find, refuse },
      { noteError: thrown => noted.push(thrown) },
    )
    expect((await fetch(origin)).status).toBe(423)
    expect(noted).toEqual([])
  })
})

const writing = (more: Partial<Passage<null>> = {}): Passage<null> => ({
  route: '/',
  guards: 'nothing',
  caller: async () => null,
  writes: false,
  handle: ({ res }) => res.end(),
  ...more,
})

describe('The type of a door', () => {
  const plan: DoorPlan = { prefix: '/new', find: () => writing() }
  const { route, guards, caller, writes, handle } = writing()

  it('requires the threshold', () => {
    const made: Door = createThreshold({
      maintenance: { requireWritable() {} },
      ownOrigins: () => [],
    })(plan)
    expect(made.prefix).toBe('/new')
    // @ts-expect-error A plan has not been guarded, so the gateway does not mount it.
    const unguarded: Parameters<ReturnType<typeof createGateway>['mount']>[0] = plan
    // @ts-expect-error The mark of a guarded door cannot be written anywhere else.
    const forged: Door = { prefix: '/new', enter: async () => {} }
    expect([unguarded, forged]).toHaveLength(2)
  })

  it('requires each passage to state its guard, caller and writes', () => {
    // @ts-expect-error `guards` is missing.
    const noGuard: Passage<null> = { route, caller, writes, handle }
    // @ts-expect-error `caller` is missing.
    const noCaller: Passage<null> = { route, guards, writes, handle }
    // @ts-expect-error `writes` is missing.
    const noWrites: Passage<null> = { route, guards, caller, handle }
    expect([noGuard, noCaller, noWrites]).toHaveLength(3)
  })

  it('gives the handler the caller that the passage finds', () => {
    const made = passage({
      ...writing(),
      caller: async () => ({ userId: 'u1', size: 3 }),
      handle: (_, found) => found.size,
    })
    // @ts-expect-error The passage has found a caller, which is not null.
    const wrong: Passage<null> = made
    expect(wrong.route).toBe('/')
  })
})
