import type { Route } from '../../src/rest/routes.ts'
import type { RestOptions } from './harness.ts'

/** A random generator with a seed, for numbers from 0 to 1 (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let n = Math.imul(state ^ (state >>> 15), 1 | state)
    n = (n + Math.imul(n ^ (n >>> 7), 61 | n)) ^ n
    return ((n ^ (n >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A request in parts that can be mutated. */
interface FuzzRequest {
  path: Record<string, unknown>
  query: [string, unknown][]
  body: Record<string, unknown> | undefined
  form: [string, unknown][] | undefined
  /** The body, for routes that accept raw bytes. */
  raw: Buffer | undefined
  headers: Record<string, string>
}

/** A valid request of the route with these values. */
export function validRequest(route: Route, values: Record<string, unknown>): FuzzRequest {
  const request: FuzzRequest = {
    path: {},
    query: [],
    body: undefined,
    form: undefined,
    raw: undefined,
    headers: {},
  }
  for (const [name, source] of Object.entries(route.sources)) {
    const value = values[name]
    if (source === 'path') request.path[name] = value
    else if (value === undefined) continue
    else if (source === 'query') request.query.push([name, value])
    else if (source === 'body') request.body = { ...request.body, [name]: value }
    else if (source === 'raw') request.raw = Buffer.from(String(value))
    else if (source === 'form')
      request.form = [
        ...(request.form ?? []),
        [name, name === 'file' ? new Blob(['bytes']) : value],
      ]
    else request.headers[source.slice('header '.length)] = String(value)
  }
  return request
}

const odd: unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    1.5,
    2 ** 31,
    2 ** 53,
    1e300,
    [],
    {},
    [[]],
    [null],
    ['a', 'a'],
    { length: 1 },
  ],
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
  ...[
    Buffer.from('[1,"a"]').toString('base64url'),
    Buffer.from('["\u0000"]').toString('base64url'),
    'a'.repeat(5000),
  ],
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
  ...(['', 'x', 'AAAAAAAAAAAAAAAAAAAAAA==', '='.repeat(24)].map(v => ['content-md5', v]) as [
    string,
    string,
  ][]),
  ['accept', 'text/html'],
  ['accept', 'image/*;q=0'],
  ['accept-encoding', 'x'],
  ['x-http-method-override', 'DELETE'],
  ['x-forwarded-for', '1.2.3.4, x'],
  ['x-request-id', 'a b'],
  ['origin', 'null'],
]

/** Mutates a request in one to three places. */
export function bend(
  request: FuzzRequest,
  random: () => number,
): FuzzRequest & { cut?: number; flip?: number } {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const bent: FuzzRequest & { cut?: number; flip?: number } = structuredClone({
    ...request,
    form: undefined,
  })
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
      else
        bent.body[name] =
          Array.isArray(bent.body[name]) && random() < 0.5 ? [pick(odd), pick(odd)] : pick(odd)
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
export function written(
  route: Route,
  { path, query, body, form, raw, headers: given, cut, flip }: ReturnType<typeof bend>,
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
  const bytes = raw ? Buffer.from(raw) : Buffer.from(JSON.stringify(body ?? {}))
  if (flip !== undefined) bytes[Math.floor(flip * bytes.length)] = 255 * flip
  const sent = cut === undefined ? bytes : bytes.subarray(0, cut * bytes.length)
  return [
    url,
    { body: sent, headers: { ...(raw ? {} : { 'content-type': 'application/json' }), ...given } },
  ]
}

/** A path segment that `fetch` does not resolve as a parent. */
const inPath = (value: unknown): string => {
  const text = encodeURIComponent(toText(value))
  return /^(\.|%2e)*$/i.test(text) ? '-' : text
}

/** A text for an address, with whole characters only. */
const toText = (value: unknown): string =>
  (typeof value === 'object' ? JSON.stringify(value) : String(value))
    .replaceAll(/\p{Surrogate}/gu, '')
    .slice(0, 3000)
