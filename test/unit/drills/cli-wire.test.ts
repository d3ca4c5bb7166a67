import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { openWarmShell, type Shell } from '../../support/command-line.ts'
import { type FakeService, type Fields, startFakeService } from '../fake-service.ts'

const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex')

let shell: Shell
let services: FakeService[]

beforeEach(() => {
  services = []
  shell = openWarmShell()
})
afterEach(async () => {
  shell.close()
  await Promise.all(services.map(service => service.close()))
})

async function start(options: Parameters<typeof startFakeService>[0]): Promise<FakeService> {
  const service = await startFakeService(options)
  services.push(service)
  return service
}

const run = (service: FakeService, args: string[]) =>
  shell.satchel(['--json', ...args], {
    env: { SATCHEL_URL: service.url, SATCHEL_KEY: 'satchel_secret' },
  })

type Answer = (res: ServerResponse, req: IncomingMessage) => void

const answer =
  (status: number, value: unknown, headers: Record<string, string> = {}): Answer =>
  res =>
    void res
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(value))

const refused = (code: string, details: object = {}): Answer =>
  answer(200, { errors: [{ message: 'No.', extensions: { code, ...details } }] })

const cut: Answer = res => void res.socket?.resetAndDestroy()

/** Gives these responses to the first requests, and responses by the schema to the rest. */
const first = (...answers: Answer[]) => {
  const rest = [...answers]
  return (req: IncomingMessage, res: ServerResponse) => {
    const next = rest.shift()
    next?.(res, req)
    return next !== undefined
  }
}

describe('A lost request', () => {
  it.each<[string, Answer]>([
    ['the connection is cut', cut],
    ['the service is unavailable', refused('UNAVAILABLE', { retry_after: 0 })],
    [
      'a proxy answers 502',
      res => void res.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'),
    ],
    ['it is limited', refused('RATE_LIMITED', { retry_after: 0 })],
  ])('is retried when it only reads: %s', async (_what, lost) => {
    const service = await start({ listener: first(lost, lost) })
    expect((await run(service, ['quota'])).code).toBe(0)
    expect(service.requests).toHaveLength(3)
  })

  it.each<[string, Answer, number]>([
    ['the connection is cut', cut, 1],
    ['the service is unavailable', refused('UNAVAILABLE'), 1],
    ['it is limited, so nothing was done', refused('RATE_LIMITED', { retry_after: 0 }), 2],
  ])('is not sent twice when it changes something: %s', async (_what, lost, requests) => {
    const service = await start({ listener: first(lost) })
    const { code } = await run(service, ['quick-share', 'a.txt'])
    expect([code, service.requests.length]).toEqual([requests === 1 ? 7 : 0, requests])
  })

  it('waits as long as the response asks', async () => {
    const service = await start({ listener: first(refused('RATE_LIMITED', { retry_after: 2 })) })
    const before = performance.now()
    expect((await run(service, ['quota'])).code).toBe(0)
    expect(performance.now() - before).toBeGreaterThan(2000)
  })

  it('does not wait for an hour', async () => {
    const service = await start({ listener: () => false, fields: {} })
    const slow = await start({ listener: first(refused('RATE_LIMITED', { retry_after: 3600 })) })
    expect((await run(service, ['quota'])).code).toBe(0)
    const { code, err } = await run(slow, ['quota'])
    expect([code, JSON.parse(err).error]).toEqual([
      7,
      expect.objectContaining({ retry_after: 3600 }),
    ])
  })

  it('is abandoned after the allowed attempts', async () => {
    const service = await start({ listener: first(cut, cut, cut, cut) })
    expect((await run(service, ['quota', '--retries', '2'])).code).toBe(7)
    expect(service.requests).toHaveLength(3)
  })
})

describe('A server that is not Satchel', () => {
  it('is reported as such', async () => {
    const service = await start({ listener: first(res => void res.writeHead(200).end('hello')) })
    const { code, err } = await run(service, ['quota'])
    expect([code, JSON.parse(err).error.code]).toEqual([1, 'BAD_ANSWER'])
  })

  it('receives no key through a redirect', async () => {
    const elsewhere = await start({})
    const service = await start({
      listener: first(answer(302, {}, { location: `${elsewhere.url}/graphql` })),
    })
    const { code, err } = await run(service, ['quota'])
    expect([code, JSON.parse(err).error.message]).toEqual([
      1,
      expect.stringContaining(elsewhere.url),
    ])
    expect(elsewhere.requests).toEqual([])
  })

  it('receives no bytes through a redirect', async () => {
    const elsewhere = await start({})
    const service = await start({
      listener: first(answer(307, {}, { location: `${elsewhere.url}/api/files/upload` })),
    })
    writeFileSync(join(shell.home, 'a.txt'), 'secret')
    const { code, err } = await run(service, ['put', 'a.txt'])
    expect([code, JSON.parse(err).error.code]).toEqual([1, 'BAD_ANSWER'])
    expect(elsewhere.requests).toEqual([])
  })
})

describe('A download', () => {
  const bytes = randomBytes(300_000)
  const file = (more: object = {}) => ({
    __typename: 'File',
    name: 'a.bin',
    size: bytes.length,
    md5: md5(bytes),
    ...more,
  })

  /** A service whose links lead to a store that gives these responses in turn. */
  async function withStore(
    answers: Answer[],
    known: Fields = file(),
  ): Promise<[FakeService, FakeService]> {
    const store = await start({ listener: first(...answers) })
    const fields = { 'Drive.entry': known, url: `${store.url}/bytes?sig=x` }
    return [await start({ fields }), store]
  }

  const all: Answer = res => void res.writeHead(200, { 'content-length': bytes.length }).end(bytes)
  const half: Answer = res => {
    res.writeHead(200, { 'content-length': bytes.length })
    res.write(bytes.subarray(0, 100_000), () =>
      setTimeout(() => res.socket?.resetAndDestroy(), 100),
    )
  }
  const rest: Answer = (res, req) => {
    const from = Number(/bytes=(\d+)-/.exec(req.headers.range ?? '')?.[1])
    res
      .writeHead(206, { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` })
      .end(bytes.subarray(from))
  }
  const status =
    (code: number): Answer =>
    res =>
      void res.writeHead(code).end()

  const here = () => readdirSync(shell.home)
  const isWhole = () => readFileSync(join(shell.home, 'a.bin')).equals(bytes)

  it('sends no credential to the store', async () => {
    const [service, store] = await withStore([all])
    expect((await run(service, ['get', 'a.bin'])).code).toBe(0)
    expect([isWhole(), here()]).toEqual([true, ['a.bin']])
    expect(JSON.stringify(store.requests)).not.toContain('secret')
    expect(JSON.stringify(service.requests)).toContain('satchel_secret')
  })

  it.each<[string, Answer[]]>([
    ['resumes after the received bytes', [half, rest]],
    ['starts over when the store sends all bytes again', [half, all]],
    ['gets another link when its link has expired', [status(403), half, status(403), rest]],
    ['tries again while the store is busy', [status(503), all]],
  ])('%s', async (_what, answers) => {
    const [service] = await withStore(answers)
    expect((await run(service, ['get', 'a.bin'])).code).toBe(0)
    expect([isWhole(), here()]).toEqual([true, ['a.bin']])
  })

  it.each<[number, string, string, Answer[], Fields]>([
    [1, 'DIGEST_DIFFERS', 'other bytes', [res => void res.end(randomBytes(bytes.length))], file()],
    [1, 'BAD_ANSWER', 'more bytes', [all], file({ size: 1000 })],
    [
      1,
      'BAD_ANSWER',
      'another range',
      [half, res => void res.writeHead(206, { 'content-range': 'bytes 5-9/10' }).end('abcde')],
      file(),
    ],
    [1, 'BAD_ANSWER', 'an answer that it does not know', [status(418)], file()],
    [7, 'UNAVAILABLE', 'no bytes, whatever the link', [1, 2, 3].map(() => status(403)), file()],
    [7, 'UNREACHABLE', 'nothing', [1, 2, 3].map(() => cut), file()],
  ])('exits with %i %s for %s', async (exit, code, _what, answers, known) => {
    const [service] = await withStore(answers, known)
    const ended = await run(service, ['get', 'a.bin', '--retries', '2'])
    expect([ended.code, JSON.parse(ended.err).error.code]).toEqual([exit, code])
    expect(existsSync(join(shell.home, 'a.bin'))).toBe(false)
  })

  it('to standard output also resumes, and reports a wrong checksum', async () => {
    const [service] = await withStore([half, rest])
    const key = { env: { SATCHEL_URL: service.url, SATCHEL_KEY: 'k' } }
    const { code, err } = await shell.satchel(['get', 'a.bin', '-o', '-'], key)
    expect([code, err]).toEqual([0, ''])
    const [other] = await withStore([res => void res.end(randomBytes(bytes.length))])
    const wrong = await shell.satchel(['get', 'a.bin', '-o', '-'], {
      env: { SATCHEL_URL: other.url, SATCHEL_KEY: 'k' },
    })
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('(DIGEST_DIFFERS)')])
  })
})

describe('An upload', () => {
  const bytes = Buffer.from('hello')
  const stored = (sum: string): Answer =>
    answer(200, {
      status: 200,
      msg: 'ok',
      response: { file: { name: 'a.txt', md5_checksum: sum } },
    })
  const exists: Answer = answer(409, {
    status: 409,
    msg: 'It exists.',
    response: { code: 'PATH_EXISTS' },
  })

  async function put(answers: Answer[], there: object | null, ...options: string[]) {
    writeFileSync(join(shell.home, 'a.txt'), bytes)
    const service = await start({ listener: first(...answers), fields: { 'Drive.entry': there } })
    const { code, out, err } = await run(service, ['put', 'a.txt', ...options])
    return {
      code,
      status: out && JSON.parse(out).files[0].status,
      error: err && JSON.parse(err).error.code,
      service,
    }
  }

  const same = { __typename: 'File', name: 'a.txt', size: 5, md5: md5(bytes) }

  it('whose response was lost is found, and succeeds', async () => {
    for (const options of [[], ['--replace']]) {
      const { code, status, service } = await put([cut], same, ...options)
      expect([code, status]).toEqual([0, 'uploaded'])
      // A second request would replace the copy that the first one stored.
      expect(service.requests.filter(({ line }) => line === 'POST /api/files/upload')).toHaveLength(
        1,
      )
    }
    expect(await put([exists], same)).toMatchObject({ code: 0, status: 'unchanged' })
    expect(await put([exists], { ...same, md5: md5(Buffer.from('other')) })).toMatchObject({
      code: 5,
      error: 'PATH_EXISTS',
    })
  })

  it.each([
    ['a.txt', 'a (2).txt'],
    ['a (1).tar.gz', 'a (1) (3).tar.gz'],
  ])(
    'that keeps both files is also found under another name when its response was lost: %s',
    async (name, copy) => {
      writeFileSync(join(shell.home, name), bytes)
      const other = { ...same, name, md5: md5(Buffer.from('HELLO')) }
      let sent = 0
      const service = await start({
        listener(req, res) {
          if (req.url !== '/api/files/upload') return false
          sent++
          cut(res, req)
          return true
        },
        fields: {
          'Drive.entry': { __typename: 'Folder' },
          'Folder.entries': () => ({
            nodes: [other, ...(sent > 0 ? [{ ...same, name: copy }] : [])],
          }),
        },
      })
      const { out } = await run(service, ['put', name, '--keep-both'])
      expect([JSON.parse(out).files[0], sent]).toEqual([
        expect.objectContaining({ path: `/${copy}`, status: 'uploaded' }),
        1,
      ])
    },
  )

  it('that was stored with other bytes is removed', async () => {
    const { code, error, service } = await put([stored(md5(Buffer.from('hellp')))], null)
    expect([code, error]).toEqual([1, 'DIGEST_DIFFERS'])
    expect(service.requests.map(({ line }) => line)).toEqual([
      'POST /api/files/upload',
      'POST /graphql',
    ])
  })
})
