import { describe, expect, it } from '@jest/globals'
import { restSchema } from '../../schema/rest/index.ts'
import { createApiDocument } from '../../src/openapi/document.ts'
import type { Operation } from '../../src/openapi/operation.ts'
import { buildOperations } from '../../src/rest/operations.ts'
import { routesOf } from '../../src/rest/routes.ts'
import { naturalStatus } from '../../src/runtime/errors.ts'
import { figure } from '../../src/values/limits.ts'
import { checkAnswer, checkerOf, inlined, lookUp } from '../contract/answers.ts'
import { additions, inputsOf, operations, titleOf } from '../contract/contract.ts'

const routes = routesOf(restSchema)
const address = 'https://files.example.org'
const documentOf = (proxied: boolean) =>
  createApiDocument(routes, () => address, { proxied }).document()
const document = documentOf(false)
/** The document of a service whose clients cannot reach the store. */
const proxied = documentOf(true)

const described = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path,
    operation,
  })),
)
const titled = described.map(d => [titleOf(d), d] as const)
const byTitle = new Map(titled)

function operationAt(title: string): Operation {
  const found = byTitle.get(title)
  if (!found) throw new Error(`${title} is not described.`)
  return found.operation
}

/** Every object in a value, at any depth, with its path. */
function* within(value: unknown, path = '#'): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return
  yield [path, value as Record<string, unknown>]
  for (const [key, inner] of Object.entries(value)) yield* within(inner, `${path}/${key}`)
}

const statusesOf = (operation: Operation) => Object.keys(operation.responses).map(Number)
const codesAt = (title: string, status: number): string[] => {
  const answer = inlined(document, operationAt(title).responses[status])
  return [...within(answer)].flatMap(([path, part]) =>
    /\/properties\/code$/.test(path) ? part.enum : [],
  ) as string[]
}

/** The places of an operation's inputs in the words of the contract, without headers. */
function inputsAt({ parameters = [], requestBody }: Operation) {
  const inBody = Object.entries(requestBody?.content ?? {}).flatMap(
    ([mediaType, { schema: body }]) => {
      if ('$ref' in body) throw new Error('Bodies are described where they are taken.')
      if (body.type !== 'object')
        return [{ name: 'body', source: 'raw', required: requestBody?.required ?? false }]
      const source = mediaType === 'multipart/form-data' ? 'form' : 'body'
      return Object.keys(body.properties ?? {}).map(name => ({
        name,
        source,
        required: body.required?.includes(name) ?? false,
      }))
    },
  )
  return [
    ...parameters
      .filter(p => p.in !== 'header')
      .map(p => ({ name: p.name, source: p.in, required: p.required ?? false })),
    ...inBody,
  ].sort((a, b) => a.name.localeCompare(b.name))
}

describe('the OpenAPI document', () => {
  it('is 3.0.3, of the interface 1.7.0, at the public address', () => {
    expect(document).toMatchObject({
      openapi: '3.0.3',
      info: { version: '1.7.0' },
      servers: [{ url: address }],
    })
    expect(Object.keys(document.paths).filter(path => !/^\/(api|auth)\//.test(path))).toEqual([])
  })

  it('is built once for an address', () => {
    let url = ''
    const api = createApiDocument(routes, () => url, { proxied: false })
    expect(api.document().servers).toEqual([{ url: '' }])
    url = address
    const made = api.document()
    expect(made.servers).toEqual([{ url: address }])
    expect(api.document()).toBe(made)
    expect(made).toEqual(document)
  })

  it.each([
    ['redirects', document],
    ['answers with their bytes', proxied],
  ])(
    'of a service that %s downloads has no dangling reference, and no unused component',
    (_how, of) => {
      const refs = [...within(of)].flatMap(([, part]) =>
        typeof part.$ref === 'string' ? [part.$ref] : [],
      )
      for (const ref of refs) expect(lookUp(of, ref)).toBeDefined()
      const { schemas, responses, headers } = of.components
      const all = Object.entries({ schemas, responses, headers }).flatMap(([kind, parts]) =>
        Object.keys(parts).map(name => `#/components/${kind}/${name}`),
      )
      expect(
        all.filter(ref => !refs.includes(ref) && !(of === proxied && ref.endsWith('/Location'))),
      ).toEqual([])
    },
  )

  it('gives every operation a unique id, a known tag and known credentials', () => {
    const ids = described.map(d => d.operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    const tags = document.tags.map(tag => tag.name)
    for (const { operation } of described) {
      expect(tags).toEqual(expect.arrayContaining(operation.tags))
      const schemes = operation.security.flatMap(s => Object.keys(s))
      expect(Object.keys(document.components.securitySchemes)).toEqual(
        expect.arrayContaining(schemes),
      )
    }
  })

  it('has no empty schema, and no enum without a value', () => {
    for (const [path, part] of within(document)) {
      if ('enum' in part) expect([path, part.enum]).not.toEqual([path, []])
      if (path.endsWith('/schema')) expect([path, Object.keys(part)]).not.toEqual([path, []])
    }
  })

  it('documents the enforced limits of lists and pages', () => {
    const unsaid = [...within(document)].flatMap(([path, part]) => {
      const { maximum, maxItems } = (part.schema ?? part) as { maximum?: number; maxItems?: number }
      const limit = maxItems ?? (part.name === 'limit' ? maximum : undefined)
      const { description } = part
      if (limit === undefined || typeof description !== 'string') return []
      return description.includes(` ${figure(limit)} `) ? [] : [[path, limit, description]]
    })
    expect(unsaid).toEqual([])
  })

  it.each(titled)(
    '%s declares its path parameters, and nothing twice',
    (_title, { path, operation }) => {
      const { parameters = [] } = operation
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      expect(parameters.filter(p => p.in === 'path').map(p => p.name)).toEqual(inPath)
      expect(parameters.filter(p => p.in === 'path' && !p.required)).toEqual([])
      const keys = parameters.map(p => `${p.in} ${p.name}`)
      expect(new Set(keys).size).toBe(keys.length)
    },
  )

  it.each(titled)('%s shows examples that match its schemas', (_title, { operation }) => {
    const shown = [...within(inlined(document, operation))].filter(
      ([, part]) => 'schema' in part && 'example' in part,
    )
    for (const [path, media] of shown)
      expect([path, checkerOf(document, media.schema).safeParse(media.example)]).toMatchObject([
        path,
        { success: true },
      ])
  })

  it.each(titled)('%s shows a request with all required fields', (_title, { operation }) => {
    const { parameters = [], requestBody } = operation
    const [body] = Object.values(requestBody?.content ?? {})
    const shown = parameters.filter(p => 'example' in p).map(p => p.name)
    const required = parameters.filter(p => p.required).map(p => p.name)
    expect(shown).toEqual(expect.arrayContaining(required))
    // An example cannot contain a provider's response to a sign-in.
    if (parameters.length > 0 && operation.operationId !== 'completeSignIn')
      expect(shown).not.toEqual([])
    if (requestBody) expect(body).toHaveProperty('example')
  })

  it.each(titled)('%s shows its success, unless it is not JSON', (_title, { operation }) => {
    const { 200: success, 302: redirect } = operation.responses
    if (redirect) expect(redirect).not.toHaveProperty('content')
    else if (operation.operationId === 'signOutAtProvider')
      expect(success).toHaveProperty(['content', 'text/html'])
    else if (/preview$/i.test(operation.operationId))
      expect(success).toHaveProperty(['content', 'image/webp'])
    else expect(success).toHaveProperty(['content', 'application/json', 'example'])
  })

  it('shows realistic values instead of field names', () => {
    const nameless = [...within(document)].flatMap(([path, part]) =>
      path.includes('/example')
        ? Object.entries(part).flatMap(([k, v]) => (unlikely(k, v) ? [`${path}/${k}`] : []))
        : [],
    )
    const parameters = described.flatMap(({ operation }) => operation.parameters ?? [])
    expect([...nameless, ...parameters.filter(p => unlikely(p.name, p.example))]).toEqual([])
  })

  const errorsOf = (operation: Operation) => statusesOf(operation).filter(status => status >= 400)
  const exampleAt = (operation: Operation, status: number): Record<string, unknown> => {
    const answer = inlined(document, operation.responses[status])
    return (
      [...within(answer)].find(([path]) => path.endsWith('/application/json/example'))?.[1] ?? {}
    )
  }

  it.each(titled)('%s shows a refusal for each error, in the envelope', (_title, { operation }) => {
    for (const status of errorsOf(operation))
      expect(exampleAt(operation, status)).toEqual({
        status,
        msg: expect.stringMatching(/^[A-Z"].+[.?]$/),
        response: expect.objectContaining({ code: expect.stringMatching(/^[A-Z_]+$/) }),
      })
  })

  it('shows refusals with the natural status for their code', () => {
    const natural: Record<string, number> = naturalStatus
    const unnatural = titled.flatMap(([title, { operation }]) =>
      errorsOf(operation).flatMap(status => {
        const { code } = exampleAt(operation, status).response as { code: string }
        return natural[code] === status ? [] : [[title, status, code]]
      }),
    )
    // The contract has no other 400 for it.
    expect(unnatural).toEqual([['GET /api/files/{checksum}/note', 400, 'FILE_NOT_FOUND']])
  })
})

/** Whether an example only repeats the name of its field. */
const unlikely = (name: string, value: unknown): boolean => [value].flat().includes(name)

describe('a route in the document', () => {
  const byMethod = routes.flatMap(route =>
    [route.method, ...(route.also ? [route.also] : [])].map(
      method => [titleOf({ ...route, method }), route] as const,
    ),
  )

  it.each(byMethod)('%s names a code for each of its errors', (title, route) => {
    for (const status of route.statuses)
      expect([status, codesAt(title, status)]).not.toEqual([status, []])
  })

  it.each(byMethod)('%s names every code of its own, with one of its statuses', (title, route) => {
    const named = route.statuses.flatMap(status => codesAt(title, status))
    expect(named).toEqual(expect.arrayContaining([...route.fails]))
    expect(new Set(named).size).toBe(named.length)
  })

  it('names the codes whose status is mapped to another', () => {
    expect(codesAt('POST /api/files/move', 400)).toEqual(
      expect.arrayContaining(['INVALID_JSON', 'INVALID_PATH', 'FILE_NOT_FOUND', 'PATH_EXISTS']),
    )
    expect(codesAt('POST /api/files/move', 401)).toEqual(
      expect.arrayContaining(['UNAUTHENTICATED', 'INSUFFICIENT_SCOPE']),
    )
    expect(codesAt('POST /api/files/move', 400)).not.toContain('RATE_LIMITED')
    expect(codesAt('POST /api/files/upload', 409)).toEqual(['PATH_EXISTS'])
    expect(codesAt('DELETE /api/files/delete', 404)).toContain('FILE_NOT_FOUND')
    expect(codesAt('DELETE /api/files/delete', 400)).not.toContain('FILE_NOT_FOUND')
    expect(codesAt('GET /api/d/{token}', 401)).toEqual(['UNAUTHENTICATED', 'PASSWORD_REQUIRED'])
    expect(codesAt('GET /api/share/info/{token}', 403)).toEqual(['SHARE_EXPIRED', 'SHARE_USED_UP'])
  })

  it('describes the details of a code', () => {
    const { INSUFFICIENT_SCOPE, QUOTA_EXCEEDED, LAST_OWNER } = document.components.schemas
    expect(INSUFFICIENT_SCOPE).toMatchObject({ required: ['code', 'required'] })
    expect(QUOTA_EXCEEDED).toMatchObject({
      required: ['code', 'limit', 'max', 'used'],
      properties: {
        code: { enum: ['QUOTA_EXCEEDED'] },
        limit: { type: 'string' },
        max: { type: 'integer' },
      },
    })
    expect(LAST_OWNER).toMatchObject({
      required: ['code'],
      properties: { workspaces: { type: 'array' } },
    })
  })

  it('puts the value under its key, with its status word', () => {
    const answer = inlined(document, operationAt('POST /api/files/upload').responses[200])
    expect(answer).toMatchObject({
      content: {
        'application/json': {
          schema: {
            required: ['status', 'msg', 'response'],
            properties: {
              status: { enum: [200] },
              msg: { enum: ['file_uploaded'] },
              response: {
                required: ['file'],
                properties: { file: { properties: { md5_checksum: { type: 'string' } } } },
              },
            },
          },
        },
      },
    })
  })

  it('marks nullable values', () => {
    expect(document.components.schemas.FileTree?.properties).toMatchObject({
      next_cursor: { type: 'string', nullable: true },
      files: { type: 'array', items: { $ref: '#/components/schemas/TreeFile' } },
      path: { type: 'string' },
    })
    expect(document.components.schemas.FileTree?.properties?.path).not.toHaveProperty('nullable')
  })

  it('marks values that are always null', () => {
    expect(operationAt('DELETE /api/workspaces/invites/reject').responses[200]).toMatchObject({
      content: {
        'application/json': {
          schema: { properties: { response: { nullable: true, enum: [null] } } },
          example: { status: 200, msg: 'ok', response: null },
        },
      },
    })
  })

  it('accepts bodies on DELETE, files in forms and passwords in headers', () => {
    expect(operationAt('DELETE /api/files/delete/batch').requestBody).toMatchObject({
      required: true,
      content: {
        'application/json': { schema: { required: ['files'], additionalProperties: false } },
      },
    })
    expect(operationAt('POST /api/files/upload').requestBody).toMatchObject({
      content: {
        'multipart/form-data': {
          schema: { properties: { file: { type: 'string', format: 'binary' } } },
        },
      },
    })
    expect(operationAt('GET /api/d/{token}').parameters).toContainEqual(
      expect.objectContaining({ name: 'X-Share-Password', in: 'header', required: false }),
    )
  })

  it('redirects for a download, or returns its bytes', () => {
    expect(operationAt('GET /api/d/{token}').responses[302]).toMatchObject({
      headers: { Location: {} },
    })
    expect(operationAt('GET /api/d/{token}').responses[302]).not.toHaveProperty('content')
    const content = { '*/*': { schema: { type: 'string', format: 'binary' } } }
    const {
      304: same,
      416: beyond,
      ...bytes
    } = proxied.paths['/api/d/{token}']?.get?.responses ?? {}
    expect(bytes).toMatchObject({
      200: { content },
      206: { content, headers: { 'Content-Range': {} } },
    })
    for (const bodiless of [same, beyond])
      expect(Object.keys(bodiless ?? {})).toEqual(['description', 'headers'])
  })
})

describe('the contract', () => {
  const titles = described.map(titleOf)
  /** Routes that the contract describes in parts are served as one. */
  const expected = [...operations, ...additions]
  const cases = expected.map(o => [titleOf(o), o] as const)

  it('covers exactly the documented operations', () => {
    const wanted = expected.map(titleOf)
    const missing = wanted.filter(title => !titles.includes(title))
    const surplus = titles.filter(title => !wanted.includes(title))
    expect({ missing, surplus }).toEqual({ missing: [], surplus: [] })
  })

  it.each(cases)(
    '%s has exactly its statuses, and 500 and 503',
    (title, { method, path, statuses }) => {
      expect(statusesOf(operationAt(title))).toEqual([...statuses, 500, 503].sort((a, b) => a - b))
      const isDownload = statuses.includes(302) && path.startsWith('/api/')
      const withBytes = isDownload
        ? [200, 206, 304, 416, ...statuses.filter(s => s !== 302)]
        : statuses
      const other = proxied.paths[path]?.[method.toLowerCase()]
      expect(other && statusesOf(other)).toEqual([...withBytes, 500, 503].sort((a, b) => a - b))
    },
  )

  it.each(cases)('%s accepts the documented inputs', (title, operation) => {
    expect(inputsAt(operationAt(title))).toEqual(inputsOf(operation))
  })

  it.each(cases.filter(([, o]) => o.field))(
    '%s is the route of its field',
    (title, { method, path, field }) => {
      const route = routes.find(r => r.path === path && (r.method === method || r.also === method))
      expect([title, `${route?.operation}.${route?.field}`]).toEqual([title, field])
    },
  )

  it.each(cases.filter(([, o]) => o.path.startsWith('/api/')))(
    '%s documents its callers and its scope',
    (title, operation) => {
      const { access, scope } = operation
      const { security, description = '' } = operationAt(title)
      const [session, apiKey, bearer] = [{ session: [] }, { apiKey: [] }, { bearer: [] }]
      const named = description.match(/`(private_files|workspaces):[a-z:]+`/g) ?? []
      expect(named).toEqual(scope ? [`\`${scope}\``] : [])
      if (access === 'public') {
        expect(security).toEqual([{}, session, apiKey, bearer])
        expect(description).toContain('Anyone may call it')
      } else if (scope === null) {
        expect(access).toMatch(/^session\b/)
        expect(security).toEqual([session])
        expect(description).toContain('no API key can do this')
      } else {
        expect(security).toEqual([session, apiKey, bearer])
        const kind = scope.startsWith('private_files:') ? 'a private one' : 'one of the workspace'
        expect(description).toContain(`An API key must be ${kind} with the scope \`${scope}\`.`)
      }
    },
  )

  it('has both kinds of credentials', () => {
    expect(document.components.securitySchemes).toMatchObject({
      session: { type: 'apiKey', in: 'cookie', name: 'session_id' },
      apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      bearer: { type: 'http', scheme: 'bearer' },
    })
  })

  it.each([
    ['GET /auth/oauth', ['', 'session']],
    ['GET /auth/callback', ['', 'session']],
    ['GET /auth/is_valid', ['', 'session', 'apiKey']],
    ['GET /auth/logout', ['', 'session']],
    ['POST /auth/logout', ['', 'session']],
    ['GET /auth/sign_out', ['']],
    ['POST /auth/backchannel_logout', ['']],
    ['GET /auth/providers', ['']],
    ['GET /auth/{provider}/login', ['']],
  ])('%s accepts these credentials, or none', (title, credentials) => {
    expect(operationAt(title).security.map(s => Object.keys(s).join())).toEqual(credentials)
  })
})

describe('a response', () => {
  const contentType = 'application/json; charset=utf-8'
  const check = (title: string, status: number, response: unknown, msg = 'ok') => {
    const [method = '', url = ''] = title.split(' ')
    const value = { status, msg, response }
    return () =>
      checkAnswer({ method, url, status, contentType, text: JSON.stringify(value), value })
  }
  const tree = { path: '', folders: ['a'], folder_entries: [], files: [], next_cursor: null }

  it('is validated against the description of its status', () => {
    expect(check('GET /api/files/tree?path=', 200, tree)).not.toThrow()
    expect(
      check('GET /auth/is_valid', 200, { authenticated: false, user_info: null }),
    ).not.toThrow()
    expect(check('DELETE /api/workspaces/invites/reject?token=x', 200, null)).not.toThrow()
    expect(
      check('POST /api/files/move', 400, { code: 'FILE_NOT_FOUND', path: 'a' }, 'No.'),
    ).not.toThrow()
    expect(check('GET /api/nothing', 404, { code: 'ROUTE_NOT_FOUND' }, 'No.')).not.toThrow()
    const allow = ['GET', 'HEAD']
    expect(
      check('PUT /api/files/tree', 405, { code: 'METHOD_NOT_ALLOWED', allow }, 'No.'),
    ).not.toThrow()
  })

  it.each<[string, number, unknown, string, string]>([
    [
      'GET /api/files/tree',
      200,
      { ...tree, more: 1 },
      'ok',
      'GET /api/files/tree answers 200: response: .*"more"',
    ],
    ['GET /api/files/tree', 200, { ...tree, folders: [1] }, 'ok', 'response.folders.0: .*string'],
    ['GET /api/files/tree', 200, { ...tree, files: undefined }, 'ok', 'response.files: .*array'],
    ['GET /api/files/tree', 200, tree, 'fine', 'msg: '],
    [
      'GET /api/files/tree',
      404,
      { code: 'FILE_NOT_FOUND' },
      'No.',
      'tree answers 404: a status that',
    ],
    ['POST /api/files/move', 400, { code: 'RATE_LIMITED' }, 'No.', 'response: '],
    ['POST /api/files/move', 400, { code: 'INVALID_PATH' }, 'No.', 'response.field: '],
    [
      'POST /api/files/move',
      400,
      { code: 'PATH_EXISTS', path: 'a', id: 1 },
      'No.',
      'response: .*"id"',
    ],
    ['DELETE /api/workspaces/invites/reject?token=x', 200, true, 'ok', 'response: '],
    ['GET /auth/is_valid', 200, { authenticated: true, user_info: null }, 'ok', 'response'],
    ['GET /api/d/private/x', 302, {}, 'ok', 'private/{token} answers 302: a body'],
    ['PUT /api/files/tree', 200, tree, 'ok', 'and not 405'],
    ['GET /api/nothing', 200, null, 'ok', 'and not 404'],
    ['GET /api/share/info/x', 404, { code: 'ROUTE_NOT_FOUND' }, 'No.', 'response.code: '],
  ])('of %s with %i that does not match is detected: %j', (title, status, response, msg, found) => {
    expect(check(title, status, response, msg)).toThrow(
      new RegExp(found.replaceAll(/[{}]/g, '\\$&')),
    )
  })

  it('may be non-JSON only where documented', () => {
    const html = { status: 200, contentType: 'text/html', text: '<p>', value: undefined }
    expect(() => checkAnswer({ method: 'GET', url: '/api/files/tree', ...html })).toThrow(
      'not JSON, but text/html',
    )
    expect(() => checkAnswer({ method: 'GET', url: '/api/d/x', ...html })).not.toThrow()
    expect(() => checkAnswer({ method: 'GET', url: '/api/docs/', ...html })).not.toThrow()
    expect(() =>
      checkAnswer({ method: 'GET', url: '/api/d/x', ...html, status: 302, text: '' }),
    ).not.toThrow()
  })
})

it('Every route has an operation that compiles, which happens at its first request', async () => {
  const built = await buildOperations(restSchema, routes)
  expect([...built.keys()].sort()).toEqual(routes.map(({ field }) => field).sort())
  for (const compiled of built.values()) expect(compiled().query).toBeInstanceOf(Function)
})
