import { randomBytes } from 'node:crypto'
import { get } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  newDatabase,
  type Person,
  type RestAnswer,
  rest,
  startApp,
  type TestApp,
} from '../support/harness.ts'

/** Two instances that share only a database and a store, without Redis and sticky sessions. */
let one: TestApp
let two: TestApp
let alice: Person
let database: Awaited<ReturnType<typeof newDatabase>>

const MiB = 1024 * 1024
const large = randomBytes(16 * MiB + 5)

const settings = {
  DOWNLOADS: 'proxy',
  SECRET_KEY: randomBytes(32).toString('base64url'),
}

beforeAll(async () => {
  database = await newDatabase()
  one = await startApp({ ...settings, DATABASE_URL: database.url })
  two = await startApp({ ...settings, DATABASE_URL: database.url })
  alice = await one.signIn('alice')
  await alice.upload('small.txt', 'The quick brown fox', 'text/plain')
  await alice.upload('large.bin', large)
})
afterAll(async () => {
  await one?.stop()
  await two?.stop()
  await database?.drop()
})

const statusAndCode = ({ status, response }: RestAnswer) => [status, response?.code]

async function share(object: string, more: object = {}): Promise<string> {
  const answer = await alice.rest('POST', '/api/files/quick_share', { json: { object, ...more } })
  expect(answer.status).toBe(200)
  return answer.response.sharing_token
}

/** The download address of a share from the resolve route, as a path. */
async function resolve(token: string, query = ''): Promise<string> {
  const answer = await one.anonymous.rest('POST', `/api/share/resolve/${token}${query}`)
  expect(answer.status).toBe(200)
  return new URL(answer.response.url).pathname
}

/** The download address of a share from GraphQL. */
async function resolveByGraphql(token: string): Promise<string> {
  const query =
    'mutation ($input: OpenShareInput!) { openShare(input: $input) { download { url } } }'
  const { data } = await one.anonymous.graphql<{ openShare: { download: { url: string } } }>(
    query,
    {
      input: { token },
    },
  )
  return new URL(data?.openShare.download.url ?? '').pathname
}

const instances = () => [one.url, two.url]
const ask = (path: string, i = 0, headers: Record<string, string> = {}, method = 'GET') =>
  rest(instances()[i % 2] ?? '', method, path, { headers })

async function bytesOf(path: string, i: number, range?: string) {
  const answer = await fetch(`${instances()[i % 2]}${path}`, range ? { headers: { range } } : {})
  return {
    status: answer.status,
    bytes: Buffer.from(await answer.arrayBuffer().catch(() => new ArrayBuffer(0))),
  }
}

/** Reads the start of a response and disconnects. Returns the number of bytes that arrived. */
function begin(path: string, from: number, enough: number): Promise<number> {
  return new Promise((done, fail) => {
    let arrived = 0
    const req = get(`${one.url}${path}`, { headers: { range: `bytes=${from}-` } }, res => {
      res.on('data', (chunk: Buffer) => {
        arrived += chunk.length
        if (arrived >= enough) req.destroy()
      })
      res.on('close', () => done(arrived))
      res.on('error', () => {})
    })
    req.on('error', error => (arrived > 0 ? done(arrived) : fail(error)))
  })
}

describe.each([
  ['resolve', resolve],
  ['openShare', resolveByGraphql],
])('A download address from %s', (_name, open) => {
  it('ends immediately on every instance when its share is revoked', async () => {
    const token = await share('small.txt')
    const path = await open(token)
    for (const i of [0, 1]) expect((await ask(path, i)).text).toBe('The quick brown fox')
    expect((await alice.rest('POST', `/api/share/revoke/${token}`)).status).toBe(200)
    for (const i of [0, 1])
      for (const method of ['GET', 'HEAD'])
        expect((await ask(path, i, {}, method)).status).toBe(404)
    expect(statusAndCode(await ask(path))).toEqual([404, 'SHARE_NOT_FOUND'])
  })

  it('ends when the share expires, and when the file or its parent folder is deleted', async () => {
    const expiring = await open(await share('small.txt'))
    await one.app.db.run('UPDATE share SET expires_at = 1 WHERE expires_at > 1')
    expect(statusAndCode(await ask(expiring))).toEqual([403, 'SHARE_EXPIRED'])
    for (const remove of [
      '/api/files/delete?file=ends/a.txt',
      '/api/folders?path=ends&recursive=true',
    ]) {
      await alice.upload('ends/a.txt', 'ends')
      const path = await open(await share('ends/a.txt'))
      expect((await ask(path)).status).toBe(200)
      await alice.rest('DELETE', remove)
      expect(statusAndCode(await ask(path))).toEqual([404, 'SHARE_NOT_FOUND'])
    }
  })

  it('serves one of twenty downloads when one is allowed', async () => {
    const path = await open(await share('small.txt', { max_downloads: 1 }))
    const answers = []
    for (let i = 0; i < 20; i++) answers.push(await ask(path, i))
    expect(answers[0]?.text).toBe('The quick brown fox')
    expect(new Set(answers.slice(1).map(a => JSON.stringify(statusAndCode(a))))).toEqual(
      new Set(['[403,"SHARE_USED_UP"]']),
    )
  })

  it('serves exactly one of twenty concurrent downloads, small and large', async () => {
    for (const [name, size] of [
      ['small.txt', 19],
      ['large.bin', large.length],
    ] as const) {
      const path = await open(await share(name, { max_downloads: 1 }))
      const all = await Promise.all(Array.from({ length: 20 }, (_, i) => bytesOf(path, i)))
      expect(
        all.filter(({ bytes, status }) => status === 200 && bytes.length === size),
      ).toHaveLength(1)
      expect(all.filter(({ status }) => status === 403)).toHaveLength(19)
    }
  })
})

describe('One download by an address', () => {
  const limited = async () => resolve(await share('large.bin', { max_downloads: 1 }))

  it('may use parallel ranges on any instance, and then ends', async () => {
    const path = await limited()
    const step = MiB
    const ranges = Array.from({ length: 17 }, (_, i) => `bytes=${i * step}-${(i + 1) * step - 1}`)
    const parts = await Promise.all(ranges.map((range, i) => bytesOf(path, i, range)))
    expect(parts.map(p => p.status)).toEqual(Array(17).fill(206))
    expect(Buffer.concat(parts.map(p => p.bytes)).equals(large)).toBe(true)
    for (const range of [undefined, 'bytes=0-', `bytes=0-${9 * MiB}`])
      expect((await bytesOf(path, 0, range)).status).toBe(403)
    // The rest of the download, requested in several ways.
    let again = 0
    for (let i = 0; i < 24; i++)
      again += (await bytesOf(path, i, `bytes=0-${MiB - 1}`)).status === 206 ? MiB : 0
    expect(again).toBeLessThanOrEqual(large.length / 2)
  })

  it('may start as a whole and continue in ranges, as download managers do', async () => {
    const path = await limited()
    const arrived = await begin(path, 0, 2 * MiB)
    const half = 5 * MiB
    const parts = await Promise.all([
      bytesOf(path, 0, `bytes=${arrived}-${half - 1}`),
      bytesOf(path, 1, `bytes=${half}-`),
    ])
    expect(parts.map(p => p.status)).toEqual([206, 206])
    expect(Buffer.concat(parts.map(p => p.bytes)).equals(large.subarray(arrived))).toBe(true)
  })

  it('resumes after interruptions', async () => {
    const path = await limited()
    let arrived = 0
    for (const enough of [MiB, 2 * MiB]) arrived += await begin(path, arrived, enough)
    expect(arrived).toBeGreaterThanOrEqual(3 * MiB)
    const rest = await bytesOf(path, 1, `bytes=${arrived}-`)
    expect([rest.status, rest.bytes.equals(large.subarray(arrived))]).toEqual([206, true])
    expect((await bytesOf(path, 0)).status).toBe(403)
  })

  it('is not used up by HEAD, 304 or 416', async () => {
    const path = await resolve(await share('small.txt', { max_downloads: 1 }))
    const etag = (await ask(path, 0, {}, 'HEAD')).headers.get('etag') ?? ''
    expect((await ask(path, 0, { 'if-none-match': etag })).status).toBe(304)
    expect((await ask(path, 0, { range: 'bytes=100-' })).status).toBe(416)
    expect((await ask(path)).text).toBe('The quick brown fox')
  })

  it('counts for each resolve, and the link is used up after the last', async () => {
    const token = await share('small.txt', { max_downloads: 2 })
    const paths = [await resolve(token), await resolve(token)]
    expect((await one.anonymous.rest('POST', `/api/share/resolve/${token}`)).response.code).toBe(
      'SHARE_USED_UP',
    )
    for (const path of paths) expect((await ask(path)).status).toBe(200)
    for (const path of paths) expect(statusAndCode(await ask(path))).toEqual([403, 'SHARE_USED_UP'])
  })

  it('is deleted by the sweeper at the end', async () => {
    await one.app.db.run('UPDATE share_use SET expires_at = 1')
    await one.settle()
    expect(await one.app.db.rows('SELECT id FROM share_use')).toEqual([])
  })
})

it('An address of an unlimited share costs one statement, and supports ranges', async () => {
  const path = await resolve(await share('large.bin'), '?mode=inline')
  one.statements()
  for (let i = 0; i < 30; i++)
    expect((await bytesOf(path, 0, `bytes=${(i * MiB) / 2}-${(i * MiB) / 2 + 99}`)).status).toBe(
      206,
    )
  expect(one.statements()).toHaveLength(30)
})
