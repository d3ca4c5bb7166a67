import { describe, expect, it } from '@jest/globals'
import {
  type GraphQLInputType,
  getNullableType,
  isEnumType,
  isListType,
  isNonNullType,
} from 'graphql'
import { restSchema } from '../../../schema/rest/index.ts'
import { type Route, routesOf } from '../../../src/rest/routes.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'
import { leaveUntouched } from '../../support/untouched.ts'

let t: TestApp
let alice: Person

const untouched = leaveUntouched(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  for (const name of ['a', 'b', 'c']) await alice.upload(`keep/${name}`, name)
  return t
})

interface Answer {
  status: number
  response: { code?: string; field?: string }
}
const gist = (answer: Answer | undefined) => [
  answer?.status,
  answer?.response?.code,
  answer?.response?.field,
]
const invalid = (name: string) => [400, 'INVALID_INPUT', name]

/** Sends a body unchanged. */
const send = (route: string, body: string | Uint8Array, type = 'application/json') => {
  const [method = '', path = ''] = route.split(' ')
  return alice.rest(method, path, { body, headers: { 'content-type': type } })
}

const writing = routesOf(restSchema).filter(route => Object.values(route.sources).includes('body'))
const argsOf = (route: Route) => route.definition.args

/** A value of the right type for an argument, with any meaning. */
function fitting(type: GraphQLInputType): unknown {
  const inner = getNullableType(type)
  if (isListType(inner)) return [fitting(inner.ofType)]
  if (isEnumType(inner)) return inner.getValues()[0]?.name
  return { Boolean: true, Int: 1, Long: 1, DateTime: '2026-01-01T00:00:00Z' }[String(inner)] ?? 'x'
}

/** Values of other types. */
function unfitting(type: GraphQLInputType): unknown[] {
  const inner = getNullableType(type)
  if (isListType(inner))
    return [
      'x',
      1,
      true,
      {},
      { 0: 'x' },
      [null],
      [[fitting(inner.ofType)]],
      ...unfitting(inner.ofType).map(v => [v]),
    ]
  if (isEnumType(inner))
    return ['x', '__proto__', 'toString', 0, true, {}, [inner.getValues()[0]?.name]]
  const all: Record<string, unknown[]> = {
    Boolean: ['true', 'yes', 0, 1, {}, []],
    Int: ['1', 1.5, 2 ** 31, true, {}, [1]],
    Long: ['1', 1.5, 2 ** 53, 1e300, true, {}, [1]],
  }
  return all[String(inner)] ?? [1, 0, true, false, {}, [], ['x'], { toString: 'x' }]
}

/** A body with the right types for a route, and its address. */
function fittingCall(route: Route) {
  const body = Object.fromEntries(
    argsOf(route)
      .filter(arg => route.sources[arg.name] === 'body')
      .map(arg => [arg.name, fitting(arg.type)]),
  )
  const query = argsOf(route).filter(
    arg => route.sources[arg.name] === 'query' && isNonNullType(arg.type),
  )
  const path =
    route.path.replaceAll(/\{\w+\}/g, 'x') +
    (query.length > 0 ? `?${query.map(a => `${a.name}=x`).join('&')}` : '')
  return { path, body }
}

describe.each(writing.map(route => [`${route.method} ${route.path}`, route] as const))(
  'The body of %s',
  (_name, route) => {
    const { path, body } = fittingCall(route)
    const ask = async (json: object) => gist(await alice.rest(route.method, path, { json }))

    it('400 INVALID_INPUT names a field of the wrong type', async () => {
      for (const arg of argsOf(route))
        if (route.sources[arg.name] === 'body')
          for (const value of unfitting(arg.type))
            expect([arg.name, value, ...(await ask({ ...body, [arg.name]: value }))]).toEqual([
              arg.name,
              value,
              ...invalid(arg.name),
            ])
    })

    it('400 INVALID_INPUT names a field that is missing or null', async () => {
      for (const arg of argsOf(route)) {
        if (route.sources[arg.name] !== 'body' || !isNonNullType(arg.type)) continue
        const { [arg.name]: _left, ...rest } = body
        expect(await ask(rest)).toEqual(invalid(arg.name))
        expect(await ask({ ...body, [arg.name]: null })).toEqual(invalid(arg.name))
      }
    })

    it('400 INVALID_INPUT names a field that is unknown or internal', async () => {
      for (const name of [
        ...[
          'owner_id',
          'blob_id',
          'bucket_id',
          'parent_id',
          'size',
          'plan_id',
          'created_by',
          'root_id',
          'is_admin',
          'input',
        ],
        ...[
          '__proto__',
          'constructor',
          'toString',
          'hasOwnProperty',
          '',
          ' ',
          'Path',
          '$where',
          'a.b',
          '\u0000',
        ],
      ])
        if (!Object.hasOwn(body, name))
          expect(await ask(JSON.parse(`{ ${JSON.stringify(name)}: "x" }`))).toEqual(invalid(name))
      for (const name of ['user_id', 'role', 'workspace_id'])
        if (!(name in body)) expect(await ask({ ...body, [name]: 'x' })).toEqual(invalid(name))
    })

    it('400 INVALID_JSON for a value that is not an object', async () => {
      for (const text of [
        'null',
        '[]',
        '[{}]',
        '1',
        '"a"',
        'true',
        '{',
        '{"a":1,}',
        "{'a':1}",
        '{"a":NaN}',
        '\u0000',
        ' ',
        'a=b',
        '['.repeat(100_000),
      ])
        expect([text.slice(0, 20), ...gist(await send(`${route.method} ${path}`, text))]).toEqual([
          text.slice(0, 20),
          400,
          'INVALID_JSON',
          'body',
        ])
    })
  },
)

describe('A JSON body', () => {
  const move = (from: string, to: string) => JSON.stringify({ source: from, destination: to })

  it('400 INVALID_INPUT beyond 1 MiB', async () => {
    const large = JSON.stringify({ path: 'a'.repeat(2 * 1024 * 1024) })
    expect(gist(await send('POST /api/folders', large))).toEqual(invalid('body'))
  })

  it('400 for a path that is too long, not counting spaces around it, up to 1 MiB', async () => {
    const path = JSON.stringify({ path: 'a'.repeat(1024 * 1024 - 11) })
    expect(gist(await send('POST /api/folders', path))).toEqual([400, 'INVALID_PATH', 'path'])
    const spaces = move('keep/a', 'keep/b').padEnd(1024 * 1024)
    expect(gist(await send('POST /api/files/move', spaces)).slice(0, 2)).toEqual([
      400,
      'PATH_EXISTS',
    ])
  })

  it('400 INVALID_JSON for invalid UTF-8', async () => {
    for (const bytes of [
      [0xff],
      [0xc3],
      [0xc0, 0xaf],
      [0xed, 0xa0, 0x80],
      [0xf5, 0x80, 0x80, 0x80],
    ]) {
      const body = Buffer.concat([Buffer.from('{"path":"a'), Buffer.from(bytes), Buffer.from('"}')])
      expect(gist(await send('POST /api/folders', body)).slice(0, 2)).toEqual([400, 'INVALID_JSON'])
    }
    const utf16 = Buffer.from('{"path":"a"}', 'utf16le')
    expect(gist(await send('POST /api/folders', utf16)).slice(0, 2)).toEqual([400, 'INVALID_JSON'])
  })

  it('may have a byte order mark; the last of two equal fields counts', async () => {
    expect(gist(await send('POST /api/files/move', `\ufeff${move('none', 'a')}`))).toEqual([
      400,
      'FILE_NOT_FOUND',
      undefined,
    ])
    const twice = '{"source":"keep/a","source":"none","destination":"x"}'
    expect(gist(await send('POST /api/files/move', twice))).toEqual([
      400,
      'FILE_NOT_FOUND',
      undefined,
    ])
  })

  it('400 INVALID_INPUT for deep nesting in a field of any type', async () => {
    const deep = (open: string, close: string) => `${open.repeat(100_000)}1${close.repeat(100_000)}`
    for (const value of [deep('[', ']'), deep('{"a":', '}')]) {
      expect(gist(await send('POST /api/folders', `{"path":${value}}`))).toEqual(invalid('path'))
      expect(gist(await send('DELETE /api/files/delete/batch', `{"files":${value}}`))).toEqual(
        invalid('files'),
      )
      expect(
        gist(await send('DELETE /api/user/account/delete', `{"delete_user_data":${value}}`)),
      ).toEqual(invalid('delete_user_data'))
      expect(gist(await send('POST /api/folders', `{"other":${value}}`))).toEqual(invalid('other'))
    }
  })

  it('400 INVALID_INPUT for another content type', async () => {
    for (const type of [
      'text/plain',
      'text/json',
      'application/jsonp',
      'application/x-www-form-urlencoded',
      '',
      'application/json-seq',
      ' ',
    ])
      expect(gist(await send('POST /api/folders', '{"path":"made"}', type))).toEqual(
        invalid('content-type'),
      )
  })

  it('400 INVALID_JSON for a compressed body, whatever its header', async () => {
    const packed = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const body = Buffer.from('H4sIAAAAAAAAA6tWKkgsyVCyUspNTElVqgUAMW3dVA8AAAA=', 'base64')
    expect(
      gist(await alice.rest('POST', '/api/folders', { body, headers: packed })).slice(0, 2),
    ).toEqual([400, 'INVALID_JSON'])
  })

  it('is quoted only up to a limit in errors', async () => {
    const long = 'x'.repeat(500_000)
    for (const [route, body] of [
      ['POST /api/folders', { [long]: 1 }],
      ['POST /api/folders', { path: long }],
      ['POST /api/files/move', { source: 'a/'.repeat(16).slice(0, -1), destination: long }],
      ['POST /api/files/quick_share', { object: 'keep/a', duration: long }],
      ['POST /api/files/quick_share', { object: 'keep/a', password: long }],
      ['POST /api/files/share', { objects: ['keep/a'], email: long }],
      ['POST /api/files/share', { objects: [long], email: 'bob@example.com' }],
      ['POST /api/api_keys/private/create', { name: long, scopes: ['private_files:read'] }],
      ['POST /api/api_keys/private/create', { name: 'a', scopes: [long] }],
      [
        'POST /api/api_keys/private/create',
        { name: 'a', scopes: Array(1000).fill(long.slice(0, 500)) },
      ],
      ['DELETE /api/api_keys/private/delete', { api_key_id: long }],
      ['POST /api/workspaces/create', { name: long }],
      ['POST /api/workspaces/create', { name: 'a', slug: long }],
      ['POST /api/workspaces/invites/accept', { token: long }],
      ['POST /api/workspaces/invites/create', { workspace_id: long, email: long, role: 'viewer' }],
      ['PATCH /api/workspaces/members/role', { workspace_id: long, user_id: long, role: long }],
      ['POST /api/files/received/mark_seen', { sharing_token: long }],
      ['PUT /api/files/0cc175b9c0f1b6a831c399e269772661/note', { content: long }],
    ] as [string, object][]) {
      const answer = await send(route, JSON.stringify(body))
      expect([
        route,
        answer.status >= 400 && answer.status < 500,
        answer.text.length < 1000,
      ]).toEqual([route, true, true])
    }
  })
})

describe('An empty text', () => {
  it('counts as absent in an optional field', async () => {
    const share = { object: 'keep/a', duration: '', password: '' }
    const { status, response } = await alice.rest('POST', '/api/files/quick_share', { json: share })
    const info = await alice.rest('GET', `/api/share/info/${response.sharing_token}`)
    expect([status, info.response.password_protected]).toEqual([200, false])
    const resolved = await alice.rest(
      'POST',
      `/api/share/resolve/${response.sharing_token}?mode=`,
      {
        json: { password: '' },
      },
    )
    expect(resolved.status).toBe(200)
    await alice.rest('POST', `/api/share/revoke/${response.sharing_token}`)
    const key = { name: 'k', scopes: ['private_files:read'], description: '', expires_in: '' }
    const made = await alice.rest('POST', '/api/api_keys/private/create', { json: key })
    expect(made.status).toBe(200)
    await alice.rest('DELETE', '/api/api_keys/private/delete', {
      json: { api_key_id: made.response.api_key.id },
    })
    await untouched.accept()
  })

  it('is refused in a required field', async () => {
    const refused: [string, object, string][] = [
      ['POST /api/folders', { path: '' }, 'INVALID_PATH'],
      ['POST /api/files/move', { source: 'keep/a', destination: '' }, 'INVALID_PATH'],
      [
        'POST /api/api_keys/private/create',
        { name: '', scopes: ['private_files:read'] },
        'INVALID_INPUT',
      ],
      ['POST /api/workspaces/create', { name: '' }, 'INVALID_INPUT'],
      ['POST /api/files/share', { email: '', objects: ['keep/a'] }, 'INVALID_INPUT'],
      ['POST /api/files/share', { email: 'bob@example.com', objects: [''] }, 'INVALID_PATH'],
    ]
    for (const [route, body, code] of refused)
      expect([route, ...gist(await send(route, JSON.stringify(body))).slice(0, 2)]).toEqual([
        route,
        400,
        code,
      ])
  })
})

describe('A number', () => {
  it.each([0, -1, 1.5, 1e9 + 1, 2 ** 53, 1e308, '1', true])(
    '400 INVALID_INPUT for max_downloads of %s',
    async max => {
      const { status, response } = await alice.rest('POST', '/api/files/quick_share', {
        json: { object: 'keep/a', max_downloads: max },
      })
      expect([status, response.code, response.field]).toEqual(invalid('max_downloads'))
    },
  )

  it('400 INVALID_INPUT for numbers that JSON allows but JavaScript cannot represent', async () => {
    for (const number of ['1e999', '-1e999', '9'.repeat(400), '1.0000000000000000000001e400'])
      expect(
        gist(
          await send(
            'POST /api/files/quick_share',
            `{"object":"keep/a","max_downloads":${number}}`,
          ),
        ),
      ).toEqual(invalid('max_downloads'))
  })

  it('400 INVALID_INPUT for no files, and for more than 1,000', async () => {
    for (const files of [[], Array(1001).fill('keep/a')])
      expect(
        gist(await alice.rest('DELETE', '/api/files/delete/batch', { json: { files } })),
      ).toEqual(invalid('files'))
  })
})
