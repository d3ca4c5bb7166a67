import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { restSchema } from '../../schema/rest/index.ts'
import { createApiDocument } from '../../src/openapi/document.ts'
import { routesOf } from '../../src/rest/routes.ts'
import { type Person, type RestOptions, rest, startApp, type TestApp } from '../support/harness.ts'
import { anId } from '../support/shapes.ts'
import { until } from '../support/until.ts'
import { exchange, head } from '../support/wire.ts'

const APP = 'https://app.example.com'
const EVIL = 'https://evil.example.com'
let t: TestApp
let alice: Person

beforeAll(async () => {
  t = await startApp({ CORS_ORIGINS: APP })
  alice = await t.signIn('alice')
  await alice.upload('docs/a.txt', 'hello')
})
afterAll(() => t.stop())

const move = (headers: Record<string, string> = {}, source = 'docs/none') =>
  alice.rest('POST', '/api/files/move', { json: { source, destination: 'b' }, headers })
const json = { 'content-type': 'application/json' }

describe('The envelope', () => {
  it('contains status and value on success, and message, code and details on failure', async () => {
    const good = await alice.rest('GET', '/api/folders')
    expect(JSON.parse(good.text)).toEqual({
      status: 200,
      msg: 'ok',
      response: { path: '', folders: ['docs'] },
    })
    const bad = await move()
    expect(JSON.parse(bad.text)).toEqual({
      status: 400,
      msg: 'There is no file "docs/none". Check its path.',
      response: { code: 'FILE_NOT_FOUND', path: 'docs/none' },
    })
  })

  it.each([
    ['a success', 'GET', '/api/folders', 200],
    ['a refusal', 'GET', '/api/files/tree?limit=0', 400],
    ['a missing route', 'GET', '/api/nothing', 404],
    ['a missing method', 'PATCH', '/api/folders', 405],
    ['a redirect', 'GET', '', 302],
  ])('has its headers: %s', async (_what, method, path, status) => {
    const { response } = await alice.rest(
      'POST',
      '/api/user/private/download_token?file=docs/a.txt',
    )
    const answer = await alice.rest(
      method,
      path || `/api/d/private/${response.private_download_token}`,
    )
    expect(answer.status).toBe(status)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': anId,
      ...(status === 302 ? {} : { 'content-type': 'application/json; charset=utf-8' }),
    })
    expect(answer.headers.get('content-length')).toBe(String(Buffer.byteLength(answer.text)))
  })

  it('has its own request id, which the log contains, without secrets', async () => {
    const token = (
      await alice.rest('POST', '/api/files/quick_share', {
        json: { object: 'docs/a.txt', password: 'sesame' },
      })
    ).response.sharing_token
    const headers = { 'x-request-id': 'mine', 'x-share-password': 'sesame' }
    const first = await t.anonymous.rest('GET', `/api/d/${token}?mode=inline`, { headers })
    const second = await t.anonymous.rest('GET', `/api/d/${token}?mode=inline`, { headers })
    const ids = [first, second].map(a => a.headers.get('x-request-id') ?? '')
    expect(new Set([...ids, 'mine']).size).toBe(3)
    // A request is logged after its connection is done, which the client may notice earlier.
    await until(() => ids.every(id => t.logs().includes(id)))
    const lines = t.logs().split('\n')
    for (const id of ids) {
      const line = JSON.parse(lines.find(l => l.includes(id)) ?? '{}')
      expect(line).toMatchObject({
        request_id: id,
        method: 'GET',
        path: '/api/d/:token',
        status: 302,
      })
    }
    for (const secret of [token, 'sesame', 'mode=inline', alice.cookie, 'sig='])
      expect(t.logs().includes(secret)).toBe(false)
  })
})

describe('The icon', () => {
  it.each(['/favicon.ico', '/favicon.svg'])('is a satchel that browsers cache: %s', async path => {
    const { status, headers, text } = await t.anonymous.rest('GET', path)
    expect(status).toBe(200)
    expect(text).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg".*<\/svg>$/)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'image/svg+xml',
      'cache-control': 'public, max-age=86400',
      'content-length': String(text.length),
    })
    // Not fetch: it disables the cache when the caller sets a condition.
    const again = await exchange(
      t.url,
      head(alice, `GET ${path}`, { 'if-none-match': headers.get('etag') ?? '' }),
    )
    expect([again?.status, again?.text]).toEqual([304, ''])
    const looked = await t.anonymous.rest('HEAD', path)
    expect([looked.status, looked.headers.get('content-length'), looked.text]).toEqual([
      200,
      String(text.length),
      '',
    ])
    const { status: refused, response } = await alice.rest('POST', path)
    expect([refused, response]).toEqual([
      405,
      { code: 'METHOD_NOT_ALLOWED', allow: ['GET', 'HEAD'] },
    ])
  })
})

describe('An unknown path', () => {
  it.each([
    '/api',
    '/api/',
    '/api/files',
    '/api/files/tree/',
    '/api/Files/tree',
    '/api/webhook',
    '/api/webhook/1',
    '/webhook',
    '/api/openapi.yaml',
    '/openapi.json',
    '/docs',
    '/health',
    '/api/graphql',
    '/graphql/x',
    '/api/d/a/b',
    '/api/blobs',
    '/auth',
    '/auth/nothing',
    '/nothing',
  ])('404 for all methods: %s', async path => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status, response } = await alice.rest(
        method,
        path,
        method === 'GET' ? {} : { json: { url: EVIL } },
      )
      expect([method, status, response?.code]).toEqual([
        method,
        404,
        expect.stringMatching(/^(ROUTE|TOKEN)_NOT_FOUND$/),
      ])
    }
  })

  it('404 without authentication', async () => {
    for (const path of ['/api/nothing', '/api/docs/x'])
      expect((await t.anonymous.rest('GET', path)).response.code).toBe('ROUTE_NOT_FOUND')
  })
})

describe('An unsupported method', () => {
  const routes = routesOf(restSchema)

  it.each([...new Set(routes.map(r => r.path))])('405 with Allow for %s', async path => {
    const known = routes
      .filter(r => r.path === path)
      .flatMap(r => (r.also ? [r.method, r.also] : [r.method]))
    const allowed: string[] = known.some(m => m === 'GET') ? [...known, 'HEAD'] : known
    const url = path.replaceAll(/\{\w+\}/g, 'x')
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'].filter(
      m => !allowed.includes(m),
    )) {
      const { status, headers, response } = await t.anonymous.rest(method, url)
      expect([method, status]).toEqual([method, 405])
      expect(headers.get('allow')?.split(', ').sort()).toEqual(allowed.toSorted())
      if (method !== 'HEAD')
        expect([response.code, response.allow.toSorted()]).toEqual([
          'METHOD_NOT_ALLOWED',
          allowed.toSorted(),
        ])
    }
  })
})

describe('HEAD', () => {
  it('returns the headers of GET, without the body', async () => {
    for (const [person, path] of [
      [alice, '/api/files/tree'],
      [t.anonymous, '/api/files/tree'],
      [alice, '/api/files/tree?limit=0'],
      [alice, '/api/nothing'],
    ] as const) {
      const [get, head] = [await person.rest('GET', path), await person.rest('HEAD', path)]
      expect([head.status, head.text]).toEqual([get.status, ''])
      expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'))
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
    }
  })
})

describe('A request body', () => {
  const post = (options: RestOptions) => alice.rest('POST', '/api/folders', options)
  const invalid = (field: string, more = {}) => [400, { code: 'INVALID_INPUT', field, ...more }]

  it('200 with a charset, or with another JSON media type', async () => {
    for (const [i, type] of [
      'application/json;charset=utf-8',
      'Application/JSON',
      'application/merge-patch+json',
    ].entries())
      expect(
        (await post({ body: `{"path":"types/${i}"}`, headers: { 'content-type': type } })).status,
      ).toBe(200)
  })

  it('200 in chunks of unknown length', async () => {
    const body = new Blob(['{"path":', '"chunked"}']).stream()
    expect((await post({ body, headers: json })).status).toBe(200)
  })

  it('400 with another content type', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp']) {
      const { status, response } = await post({
        body: '{"path":"a"}',
        headers: { 'content-type': type },
      })
      expect([status, response]).toEqual(invalid('content-type'))
    }
  })

  it('400 when it is missing and required', async () => {
    const { status, response } = await post({})
    expect([status, response]).toEqual(invalid('path'))
  })

  it('400 beyond 1 MiB, with or without a Content-Length', async () => {
    const text = (bytes: number) => JSON.stringify({ path: ' '.repeat(bytes - 11) })
    const most = await post({ body: text(1024 * 1024), headers: json })
    expect([most.status, most.response.code]).toEqual([400, 'INVALID_PATH'])
    const more = text(1024 * 1024 + 1)
    for (const body of [more, new Blob([more]).stream()]) {
      const { status, response } = await post({ body, headers: json })
      expect([status, response]).toEqual(invalid('body', { max: 1024 * 1024 }))
    }
  })

  it('400 with a field named like a member of Object.prototype', async () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const { status, response } = await post({ body: `{"path":"a","${name}":{}}`, headers: json })
      expect([status, response]).toEqual(invalid(name))
    }
  })
})

describe('A write with the cookie from a browser', () => {
  it.each<[string, Record<string, string>]>([
    ['no browser', {}],
    ['a page of this service', { 'sec-fetch-site': 'same-origin' }],
    ['the address line', { 'sec-fetch-site': 'none' }],
    ['a page of an allowed origin', { origin: APP, 'sec-fetch-site': 'cross-site' }],
    ['an old browser on a page of an allowed origin', { referer: `${APP}/page` }],
  ])('is accepted for %s', async (_what, headers) => {
    expect((await move(headers)).response.code).toBe('FILE_NOT_FOUND')
  })

  it('is accepted from a page of this service by its origin', async () => {
    expect((await move({ origin: t.url })).response.code).toBe('FILE_NOT_FOUND')
  })

  it.each<[string, Record<string, string>]>([
    ['another origin', { origin: EVIL }],
    ['another origin, from an allowed page', { origin: EVIL, referer: `${APP}/` }],
    ['an origin with an allowed one as its prefix', { origin: `${APP}.evil.com` }],
    ['another scheme', { origin: APP.replace('https', 'http') }],
    ['a page without an origin', { origin: 'null' }],
    ['no origin', { origin: '' }],
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another host of the same site', { 'sec-fetch-site': 'same-site' }],
    ['an old browser on a foreign page', { referer: `${EVIL}/?${APP}` }],
  ])('is refused for %s', async (_what, headers) => {
    const { status, response } = await move(headers, 'docs/a.txt')
    expect([status, response]).toEqual([401, { code: 'FORBIDDEN' }])
    expect((await alice.rest('GET', '/api/files/tree?path=docs')).response.files).toHaveLength(1)
  })

  it('is refused on every method, with 403 where the route documents it', async () => {
    const headers = { origin: EVIL }
    const made = await alice.rest('POST', '/api/files/quick_share', {
      json: { object: 'docs/a.txt' },
    })
    const token = made.response.sharing_token
    const form = new FormData()
    form.append('file', new Blob(['x']), 'forged.txt')
    for (const [method, path, options, status] of [
      ['POST', `/api/share/revoke/${token}`, {}, 403],
      ['POST', `/api/share/resolve/${token}`, {}, 403],
      ['POST', '/api/files/upload', { form }, 401],
      [
        'PUT',
        '/api/files/5d41402abc4b2a76b9719d911017c592/note',
        { json: { content: 'forged' } },
        401,
      ],
      ['DELETE', '/api/files/delete?file=docs/a.txt', {}, 401],
    ] as [string, string, RestOptions, number][]) {
      const answer = await alice.rest(method, path, { ...options, headers })
      expect([path, answer.status, answer.response.code]).toEqual([path, status, 'FORBIDDEN'])
    }
    const { data } = await alice.graphql(
      '{ me { drive { root { entries(filter: { kind: FILE }) { nodes { name } } } entry(path: "docs/a.txt") { ... on File { note } } } } }',
    )
    expect(data).toMatchObject({
      me: { drive: { root: { entries: { nodes: [] } }, entry: { note: '' } } },
    })
    expect((await t.anonymous.rest('GET', `/api/share/info/${token}`)).status).toBe(200)
  })

  it('is refused by GraphQL, too', async () => {
    const send = (headers: Record<string, string>) =>
      rest(t.url, 'POST', '/graphql', {
        json: {
          query:
            'mutation { deleteEntries(input: { entries: [{ at: { path: "docs/a.txt" } }] }) { deletedIds } }',
        },
        headers: { cookie: alice.cookie, ...headers },
      })
    for (const headers of [{ origin: EVIL }, { 'sec-fetch-site': 'cross-site' }]) {
      const { status, text } = await send(headers as Record<string, string>)
      expect([status, JSON.parse(text).errors[0].extensions]).toEqual([200, { code: 'FORBIDDEN' }])
    }
    expect((await alice.rest('GET', '/api/files/tree?path=docs')).response.files).toHaveLength(1)
  })

  it('from another origin reads nothing, and public routes ignore the cookie', async () => {
    const read = await alice.rest('GET', '/api/files/tree', { headers: { origin: EVIL } })
    expect([read.status, read.headers.get('access-control-allow-origin')]).toEqual([200, null])
    const made = await alice.rest('POST', '/api/files/quick_share', {
      json: { object: 'docs/a.txt' },
    })
    const path = `/api/share/resolve/${made.response.sharing_token}`
    expect((await t.anonymous.rest('POST', path, { headers: { origin: EVIL } })).status).toBe(200)
  })
})

describe('CORS', () => {
  const asked = {
    'access-control-request-method': 'PUT',
    'access-control-request-headers': 'content-type,x-api-key',
  }
  const listed = (value: string | null) => value?.toLowerCase().split(/,\s*/)

  it('lets pages of an allowed origin call with credentials and read the headers they need', async () => {
    for (const path of ['/api/folders', '/api/nothing', '/api/files/tree?limit=0']) {
      const { headers } = await alice.rest('GET', path, { headers: { origin: APP } })
      expect(headers.get('access-control-allow-origin')).toBe(APP)
      expect(headers.get('access-control-allow-credentials')).toBe('true')
      expect(listed(headers.get('vary'))).toContain('origin')
      expect(listed(headers.get('access-control-expose-headers'))).toEqual(
        expect.arrayContaining([
          'x-request-id',
          'retry-after',
          'ratelimit',
          'ratelimit-policy',
          'content-range',
          'etag',
        ]),
      )
    }
  })

  it('responds to preflights of allowed origins, and refuses the others', async () => {
    const allowed = await t.anonymous.rest('OPTIONS', '/api/folders', {
      headers: { origin: APP, ...asked },
    })
    expect([allowed.status, allowed.text]).toEqual([204, ''])
    expect(allowed.headers.get('access-control-allow-origin')).toBe(APP)
    expect(listed(allowed.headers.get('access-control-allow-methods'))).toEqual(
      expect.arrayContaining(['get', 'post', 'put', 'patch', 'delete']),
    )
    expect(listed(allowed.headers.get('access-control-allow-headers'))).toEqual(
      expect.arrayContaining(['content-type', 'x-api-key', 'x-share-password', 'content-md5']),
    )
    const other = await t.anonymous.rest('OPTIONS', '/api/folders', {
      headers: { origin: EVIL, ...asked },
    })
    expect(other.headers.get('access-control-allow-origin')).toBeNull()
  })

  it('allows every request header that is read, and exposes every documented response header', async () => {
    const { paths, components } = createApiDocument(routesOf(restSchema), () => t.url, {
      proxied: true,
    }).document()
    const inputs = Object.values(paths)
      .flatMap(methods => Object.values(methods))
      .flatMap(({ parameters = [] }) => parameters)
    const credentials = Object.values(components.securitySchemes)
    const described = [...inputs, ...credentials].flatMap(input =>
      'in' in input && input.in === 'header' ? [input.name] : [],
    )
    // Headers that downloads and event streams read are not in the OpenAPI document.
    const read = [
      ...described,
      'Content-Type',
      'Range',
      'If-Range',
      'If-None-Match',
      'Last-Event-ID',
    ]
    expect(described).toEqual(
      expect.arrayContaining(['If-Match', 'Content-Md5', 'X-Share-Password', 'X-API-Key']),
    )

    const { headers } = await t.anonymous.rest('OPTIONS', '/api/folders', {
      headers: { origin: APP, ...asked },
    })
    const allowed = listed(headers.get('access-control-allow-headers')) ?? []
    expect(read.filter(name => !allowed.includes(name.toLowerCase()))).toEqual([])

    const answered = await alice.rest('GET', '/api/folders', { headers: { origin: APP } })
    const exposed = listed(answered.headers.get('access-control-expose-headers')) ?? []
    // Browsers follow redirects by themselves, so no page reads the Location.
    const shown = ['Allow', ...Object.keys(components.headers)].filter(name => name !== 'Location')
    expect(shown.filter(name => !exposed.includes(name.toLowerCase()))).toEqual([])
  })

  it('is off without an allowed origin: OPTIONS is an unsupported method', async () => {
    const closed = await startApp()
    try {
      const { status, headers } = await rest(closed.url, 'OPTIONS', '/api/folders', {
        headers: { origin: APP, ...asked },
      })
      expect([status, headers.get('allow'), headers.get('access-control-allow-origin')]).toEqual([
        405,
        'GET, HEAD, POST, DELETE',
        null,
      ])
    } finally {
      await closed.stop()
    }
  })
})

describe('GET /healthz and /readyz', () => {
  it('200 when the service is healthy', async () => {
    expect(await t.anonymous.rest('GET', '/healthz')).toMatchObject({
      status: 200,
      response: { alive: true },
    })
    expect(await t.anonymous.rest('GET', '/readyz')).toMatchObject({
      status: 200,
      response: { database: 'ok', blob_store: 'ok' },
    })
  })
})
