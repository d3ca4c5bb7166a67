import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { isObjectType } from 'graphql'
import { schema } from '../schema/index.ts'
import { type Route, routesOf, sourceOf } from '../src/rest/routes.ts'
import { restView } from '../src/rest/view.ts'
import { found, put, ROOMY, UNHURRIED } from './builders.ts'
import { expectConsistent } from './consistency.ts'
import { type Person, type RestOptions, startApp, type TestApp } from './harness.ts'

const MUTATIONS = 100
const AT_ONCE = 10
const TOO_LONG = 5000

let t: TestApp
beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit(ROOMY)
})
afterAll(() => t.stop())

/** A generator of numbers from 0 to 1, the same each time (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let n = Math.imul(state ^ (state >>> 15), 1 | state)
    n = (n + Math.imul(n ^ (n >>> 7), 61 | n)) ^ n
    return ((n ^ (n >>> 14)) >>> 0) / 2 ** 32
  }
}

const view = restView(schema)
const routes = routesOf(schema).flatMap(route =>
  [route.method, ...(route.also ? [route.also] : [])].map(method => ({ ...route, method })),
)

function argsOf(route: Route) {
  const root = view.getType(route.operation)
  return (isObjectType(root) && root.getFields()[route.field]?.args) || []
}

/** What the arguments of a valid request may be, by their names: a little world in which each of them means something. */
async function worldOf(name: string, route: Route): Promise<{ who: Person; values: Record<string, unknown> }> {
  const [who, other] = [await t.signIn(name), await t.signIn(`${name}-friend`)]
  const inWorkspace = route.path.includes('/workspaces/')
  await who.upload('docs/a.txt', name)
  await who.rest('POST', '/api/folders', { json: { path: 'docs/b' } })
  const workspace_id = await found(who)
  const uploaded = await put(who, workspace_id, 'docs/a.txt', name)
  const theirs = await found(other)
  const invite = (by: Person, workspace: string, email: string) =>
    by.rest('POST', '/api/workspaces/invites/create', { json: { workspace_id: workspace, email, role: 'editor' } })
  const sent = await invite(who, workspace_id, 'stranger@example.com')
  await invite(other, theirs, who.email)
  const mine = await who.rest('GET', '/api/workspaces/invites/mine')
  const share = await who.rest('POST', '/api/files/quick_share', { json: { object: 'docs/a.txt', password: 'secret' } })
  const own = await who.rest('POST', '/api/user/private/download_token?file=docs/a.txt')
  const keyPath = route.path.includes('{workspace_id}') ? workspace_id : 'private'
  const scopes = [keyPath === 'private' ? 'private_files:read' : 'workspaces:files:read']
  const key = await who.rest('POST', `/api/api_keys/${keyPath}/create`, { json: { name: 'k', scopes } })
  const token = route.path.includes('/private/')
    ? own.response.private_download_token
    : route.path.includes('/invites/')
      ? mine.response[0].token
      : share.response.sharing_token
  return {
    who,
    values: {
      ...{ workspace_id, token, scopes, sharing_token: share.response.sharing_token },
      ...{ api_key_id: key.response.api_key.id, invite_id: sent.response.id, user_id: other.userId },
      ...{
        path: 'docs',
        file: 'docs/a.txt',
        files: ['docs/a.txt', 'docs/c.txt'],
        objects: ['docs/a.txt'],
        object: 'docs/a.txt',
      },
      source: route.path.includes('folder') ? 'docs/b' : 'docs/a.txt',
      ...{ destination: 'new/place', folder: 'docs', parent_path: 'docs', folder_name: 'made' },
      ...(inWorkspace && route.path.includes('move') ? {} : { file_id: uploaded.response[0].id }),
      checksum: createHash('md5').update(name).digest('hex'),
      ...{ content: 'a note', email: other.email, role: 'viewer', name: 'a name', description: 'some words' },
      ...{ duration: '7d', expires_in: '1w', password: 'secret', mode: 'inline', limit: 10, recursive: true },
      ...{ max_downloads: 3, send_email: true, delete_user_data: false },
    },
  }
}

/** A request on its way, in parts that can be bent. */
interface Request {
  path: Record<string, unknown>
  query: [string, unknown][]
  body: Record<string, unknown> | undefined
  form: [string, unknown][] | undefined
  headers: Record<string, string>
}

function validRequest(route: Route, values: Record<string, unknown>): Request {
  const request: Request = { path: {}, query: [], body: undefined, form: undefined, headers: {} }
  for (const { name } of argsOf(route)) {
    const source = sourceOf(route, name)
    const value = values[name]
    if (source === 'path') request.path[name] = value
    else if (value === undefined) continue
    else if (source === 'query') request.query.push([name, value])
    else if (source === 'body') request.body = { ...request.body, [name]: value }
    else if (source === 'form')
      request.form = [...(request.form ?? []), [name, name === 'file' ? new Blob(['bytes']) : value]]
    else request.headers[source.slice('header '.length)] = String(value)
  }
  return request
}

const odd: unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 2 ** 31, 2 ** 53, 1e300, [], {}, [[]], [null], ['a', 'a'], { length: 1 }],
  ...[
    '',
    ' ',
    '/',
    '//',
    '.',
    '..',
    '../..',
    'a//b',
    '\\',
    '%',
    '%2e%2e',
    '%00',
    '\u0000',
    '\n',
    '\ud800',
    '\ufffd',
    '\ufeff',
    '\u202e',
  ],
  ...[
    '😀',
    'é',
    'e\u0301',
    'a'.repeat(256),
    '😀'.repeat(300),
    `a${'/a'.repeat(40)}`,
    "' OR 1=1 --",
    '"; DROP TABLE entry',
    '{{7*7}}',
    '<script>',
  ],
  ...[
    'null',
    'undefined',
    'NaN',
    'true',
    '0',
    '-1',
    '1e3',
    '9'.repeat(30),
    '__proto__',
    'constructor',
    'toString',
    '[object Object]',
    '*',
    '_',
  ],
  ...[
    '2026-01-01T00:00:00Z',
    '00000000-0000-0000-0000-000000000000',
    'bob@example.com',
    'BOB@EXAMPLE.COM',
    '@',
    '0s',
    '1m',
    '99999y',
    'owner',
    'private_files:write',
  ],
  ...[Buffer.from('[1,"a"]').toString('base64url'), Buffer.from('["\u0000"]').toString('base64url'), 'a'.repeat(5000)],
]
const names = [
  'owner_id',
  'user_id',
  'role',
  'plan_id',
  'limit',
  'cursor',
  'mode',
  'password',
  '__proto__',
  'a[b]',
  '',
  'x'.repeat(300),
]
const types = [
  'text/plain',
  'application/json; charset=utf-16',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'application/xml',
  ';',
]
const headers: [string, string][] = [
  ...(['bytes=0-', 'bytes=9-1', 'bytes=-0', 'x'].map(v => ['range', v]) as [string, string][]),
  ...(['"x"', '*', 'W/"'].map(v => ['if-none-match', v]) as [string, string][]),
  ['x-share-password', 'wr\u00f6ng'],
  ['x-share-password', ''],
  ['content-encoding', 'gzip'],
  ['accept', 'text/html'],
  ['accept', 'image/*;q=0'],
  ['accept-encoding', 'x'],
  ['x-http-method-override', 'DELETE'],
  ['x-forwarded-for', '1.2.3.4, x'],
  ['x-request-id', 'a b'],
  ['origin', 'null'],
]

/** Bends a request in one to three places. */
function bend(request: Request, random: () => number): Request & { cut?: number; flip?: number } {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const bent: Request & { cut?: number; flip?: number } = structuredClone({ ...request, form: undefined })
  bent.form = request.form && [...request.form]
  for (let count = 1 + Math.floor(random() * 3); count > 0; count--) {
    const places = [
      ...Object.keys(bent.path).map(() => 'path'),
      ...bent.query.map(() => 'query'),
      ...Object.keys(bent.body ?? {}).map(() => 'body'),
      ...(bent.form ?? []).map(() => 'form'),
    ]
    const place = pick([...places, ...places, 'more', 'headers', 'type', 'bytes'])
    if (place === 'path') bent.path[pick(Object.keys(bent.path))] = pick(odd)
    else if (place === 'query') {
      const entry = pick(bent.query)
      if (random() < 0.2) bent.query.push([...entry])
      else entry[1] = pick(odd)
    } else if (place === 'body' && bent.body) {
      const name = pick(Object.keys(bent.body))
      if (random() < 0.2) delete bent.body[name]
      else bent.body[name] = Array.isArray(bent.body[name]) && random() < 0.5 ? [pick(odd), pick(odd)] : pick(odd)
    } else if (place === 'form' && bent.form) {
      const at = Math.floor(random() * bent.form.length)
      const [name, value] = bent.form[at] ?? ['', '']
      if (random() < 0.5) bent.form.splice(at, 1)
      else bent.form.push(random() < 0.5 ? [name, value] : [pick(names), pick(odd)])
    } else if (place === 'more') {
      if (bent.body && random() < 0.5) bent.body[pick(names)] = pick(odd)
      else bent.query.push([pick(names), pick(odd)])
    } else if (place === 'headers') Object.assign(bent.headers, Object.fromEntries([pick(headers)]))
    else if (place === 'type') bent.headers['content-type'] = pick(types)
    else if (random() < 0.5) bent.cut = random()
    else bent.flip = random()
  }
  return bent
}

/** The address and the options of a request. */
function written(
  route: Route,
  { path, query, body, form, headers: given, cut, flip }: ReturnType<typeof bend>,
): [string, RestOptions] {
  const address = route.path.replaceAll(/\{(\w+)\}/g, (_, name) => inPath(path[name]))
  const search = new URLSearchParams(query.map(([name, value]) => [name, toText(value)]))
  const url = search.size > 0 ? `${address}?${search}` : address
  if (route.method === 'GET') return [url, { headers: given }]
  if (form) {
    const made = new FormData()
    for (const [name, value] of form)
      if (value instanceof Blob) made.append(name, value, 'a.txt')
      else made.append(name, toText(value))
    return [url, { form: made, headers: given }]
  }
  const bytes = Buffer.from(JSON.stringify(body ?? {}))
  if (flip !== undefined) bytes[Math.floor(flip * bytes.length)] = 255 * flip
  const sent = cut === undefined ? bytes : bytes.subarray(0, cut * bytes.length)
  return [url, { body: sent, headers: { 'content-type': 'application/json', ...given } }]
}

/** A part of a path; none that `fetch` would walk up. */
const inPath = (value: unknown): string => {
  const text = encodeURIComponent(toText(value))
  return /^(\.|%2e)*$/i.test(text) ? '-' : text
}

/** As a text goes into an address: whole characters only. */
const toText = (value: unknown): string =>
  (typeof value === 'object' ? JSON.stringify(value) : String(value)).replaceAll(/\p{Surrogate}/gu, '').slice(0, 3000)

describe.each(routes.map((route, i) => [`${route.method} ${route.path}`, route, i] as const))(
  '%s',
  (_name, route, seed) => {
    it(`answers ${MUTATIONS} requests that are nearly right with what it lists, and soon`, async () => {
      const { who, values } = await worldOf(`fuzz${seed}`, route)
      const random = randomFrom(seed + 1)
      const valid = validRequest(route, values)
      const pending = Array.from({ length: MUTATIONS }, () => written(route, bend(valid, random))).entries()
      const work = async () => {
        for (const [i, [url, options]] of pending) {
          const start = performance.now()
          // The harness refuses statuses that the route does not list, and answers that are no envelopes.
          const { status, text } = await who.rest(route.method, url, options)
          const request = `${i}: ${route.method} ${url.slice(0, 300)} ${String(options.body).slice(0, 300)}`
          expect([request, status < 500, performance.now() - start < TOO_LONG]).toEqual([request, true, true])
          expect(text).not.toMatch(/node_modules|\.[tj]s:\d|SELECT |SQLITE_|\bER_[A-Z]+|\/tmp\//)
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, work))
    })
  },
)

describe('After all of that', () => {
  it('nothing has gone wrong that nobody expected', () => {
    const failures = t
      .logs()
      .split('\n')
      .filter(line => line.includes('"level":50'))
    expect(failures.slice(0, 5)).toEqual([])
  })

  it('database and store agree', () => expectConsistent(t))
})
