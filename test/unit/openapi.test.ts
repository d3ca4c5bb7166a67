import { describe, expect, it } from '@jest/globals'
import { schema } from '../../schema/index.ts'
import { createApiDocument } from '../../src/rest/openapi.ts'
import type { Operation } from '../../src/rest/openapi-operation.ts'
import { routesOf } from '../../src/rest/routes.ts'
import { answerChecker, checkerOf, inlined, lookUp } from '../contract/answers.ts'
import { inputsOf, missingOperations, operations, titleOf } from '../contract/contract.ts'

const routes = routesOf(schema)
const address = 'https://files.example.org'
const document = createApiDocument(schema, routes, () => address).document()

const described = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
)
const titled = described.map(d => [titleOf(d), d] as const)
const byTitle = new Map(titled)

function operationAt(title: string): Operation {
  const found = byTitle.get(title)
  if (!found) throw new Error(`${title} is not described.`)
  return found.operation
}

/** Everything in a value, however deep, with where it is. */
function* within(value: unknown, path = '#'): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return
  yield [path, value as Record<string, unknown>]
  for (const [key, inner] of Object.entries(value)) yield* within(inner, `${path}/${key}`)
}

const statusesOf = (operation: Operation) => Object.keys(operation.responses).map(Number)
const codesAt = (title: string, status: number): string[] => {
  const answer = inlined(document, operationAt(title).responses[status])
  return [...within(answer)].flatMap(([path, part]) =>
    /\/1\/properties\/code$/.test(path) ? part.enum : [],
  ) as string[]
}

/** Where an operation takes its inputs from, in the words of the contract; without headers. */
function inputsAt({ parameters = [], requestBody }: Operation) {
  const inBody = Object.entries(requestBody?.content ?? {}).flatMap(([mediaType, { schema: body }]) => {
    if ('$ref' in body) throw new Error('Bodies are described where they are taken.')
    const source = mediaType === 'multipart/form-data' ? 'form' : 'body'
    return Object.keys(body.properties ?? {}).map(name => ({
      name,
      source,
      required: body.required?.includes(name) ?? false,
    }))
  })
  return [
    ...parameters
      .filter(p => p.in !== 'header')
      .map(p => ({ name: p.name, source: p.in, required: p.required ?? false })),
    ...inBody,
  ].sort((a, b) => a.name.localeCompare(b.name))
}

describe('the OpenAPI document', () => {
  it('is 3.0.3, of the interface 1.7.0, at the public address', () => {
    expect(document).toMatchObject({ openapi: '3.0.3', info: { version: '1.7.0' }, servers: [{ url: address }] })
    expect(Object.keys(document.paths).filter(path => !/^\/(api|auth)\//.test(path))).toEqual([])
  })

  it('is made once for an address', () => {
    let url = ''
    const api = createApiDocument(schema, routes, () => url)
    expect(api.document().servers).toEqual([{ url: '' }])
    url = address
    const made = api.document()
    expect(made.servers).toEqual([{ url: address }])
    expect(api.document()).toBe(made)
    expect(made).toEqual(document)
  })

  it('has no reference that leads nowhere, and no component that nothing refers to', () => {
    const refs = [...within(document)].flatMap(([, part]) => (typeof part.$ref === 'string' ? [part.$ref] : []))
    for (const ref of refs) expect(lookUp(document, ref)).toBeDefined()
    const { schemas, responses, headers } = document.components
    const all = Object.entries({ schemas, responses, headers }).flatMap(([kind, parts]) =>
      Object.keys(parts).map(name => `#/components/${kind}/${name}`),
    )
    // The headers of limits come with the routes that have one.
    const unused = all.filter(ref => !refs.includes(ref) && !ref.includes('/headers/RateLimit'))
    expect(unused).toEqual([])
  })

  it('gives every operation an id of its own, a known tag and known credentials', () => {
    const ids = described.map(d => d.operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    const tags = document.tags.map(tag => tag.name)
    for (const { operation } of described) {
      expect(tags).toEqual(expect.arrayContaining(operation.tags))
      const schemes = operation.security.flatMap(s => Object.keys(s))
      expect(Object.keys(document.components.securitySchemes)).toEqual(expect.arrayContaining(schemes))
    }
  })

  it('has no schema that is empty, and no enum without a value', () => {
    for (const [path, part] of within(document)) {
      if ('enum' in part) expect([path, part.enum]).not.toEqual([path, []])
      if (path.endsWith('/schema')) expect([path, Object.keys(part)]).not.toEqual([path, []])
    }
  })

  it.each(titled)('%s declares what is in its path, and nothing twice', (_title, { path, operation }) => {
    const { parameters = [] } = operation
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    expect(parameters.filter(p => p.in === 'path').map(p => p.name)).toEqual(inPath)
    expect(parameters.filter(p => p.in === 'path' && !p.required)).toEqual([])
    const keys = parameters.map(p => `${p.in} ${p.name}`)
    expect(new Set(keys).size).toBe(keys.length)
  })

  it.each(titled)('%s shows examples that fit its schemas', (_title, { operation }) => {
    const shown = [...within(inlined(document, operation))].filter(([, part]) => 'schema' in part && 'example' in part)
    for (const [, media] of shown)
      expect(checkerOf(document, media.schema).safeParse(media.example)).toMatchObject({ success: true })
  })
})

describe('a route in the document', () => {
  const byMethod = routes.flatMap(route =>
    [route.method, ...(route.also ? [route.also] : [])].map(method => [titleOf({ ...route, method }), route] as const),
  )

  it.each(byMethod)('%s has the statuses that it declares, and 500 and 503', (title, route) => {
    const success = route.redirect ? 302 : 200
    expect(statusesOf(operationAt(title))).toEqual([success, ...route.statuses, 500, 503].sort((a, b) => a - b))
  })

  it.each(byMethod)('%s names a code for each of them', (title, route) => {
    for (const status of route.statuses) expect([status, codesAt(title, status)]).not.toEqual([status, []])
  })

  it.each(byMethod)('%s takes no credential only where it is public', (title, route) => {
    const { security } = operationAt(title)
    expect(security.some(s => Object.keys(s).length === 0)).toBe(route.public)
    expect(security).toContainEqual({ session: [] })
  })

  it('names the codes that are clamped to a status beside its own', () => {
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
  })

  it('puts the value under its key, with its machine word', () => {
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

  it('says what can be null', () => {
    expect(document.components.schemas.FileTree?.properties).toMatchObject({
      next_cursor: { type: 'string', nullable: true },
      files: { type: 'array', items: { $ref: '#/components/schemas/TreeFile' } },
      path: { type: 'string' },
    })
    expect(document.components.schemas.FileTree?.properties?.path).not.toHaveProperty('nullable')
  })

  it('takes bodies on DELETE, files in forms and passwords in headers', () => {
    expect(operationAt('DELETE /api/files/delete/batch').requestBody).toMatchObject({
      required: true,
      content: { 'application/json': { schema: { required: ['files'], additionalProperties: false } } },
    })
    expect(operationAt('POST /api/files/upload').requestBody).toMatchObject({
      content: { 'multipart/form-data': { schema: { properties: { file: { type: 'string', format: 'binary' } } } } },
    })
    expect(operationAt('GET /api/d/{token}').parameters).toContainEqual(
      expect.objectContaining({ name: 'X-Share-Password', in: 'header', required: false }),
    )
  })

  it('leads elsewhere when it is a download', () => {
    expect(operationAt('GET /api/d/{token}').responses[302]).toMatchObject({ headers: { Location: {} } })
    expect(operationAt('GET /api/d/{token}').responses[302]).not.toHaveProperty('content')
  })
})

describe('the contract', () => {
  const missing = missingOperations(routes)
  const there = operations.filter(o => !missing.includes(o))

  it('has no operation that is neither served nor known to be missing', () => {
    expect(there.map(titleOf).filter(title => !byTitle.has(title))).toEqual([])
    expect(missing.map(titleOf).filter(title => byTitle.has(title))).toEqual([])
  })

  it.each(there.map(o => [titleOf(o), o] as const))('%s is as it says', (title, expected) => {
    const operation = operationAt(title)
    expect(inputsAt(operation)).toEqual(inputsOf(expected))
    expect(statusesOf(operation)).toEqual([...expected.statuses, 500, 503].sort((a, b) => a - b))
    const route = routes.find(r => r.method === expected.method && r.path === expected.path)
    expect(`${route?.operation}.${route?.field}`).toBe(expected.field)
    expect(route?.public).toBe(expected.access === 'public')
    const sessionOnly = operation.security.every(s => 'session' in s)
    expect(sessionOnly).toBe(/^session\b/.test(expected.access))
    if (expected.scope?.startsWith('private_files:')) expect(operation.description).toContain(`\`${expected.scope}\``)
  })

  it('describes signing in', () => {
    const titles = described.map(titleOf).filter(title => title.includes(' /auth/'))
    expect(titles).toEqual([
      'GET /auth/oauth',
      'GET /auth/callback',
      'GET /auth/is_valid',
      'GET /auth/logout',
      'POST /auth/logout',
      'GET /auth/providers',
      'GET /auth/{provider}/login',
    ])
    const whoCalls = answerChecker(document, 'GET', '/auth/is_valid', 200)
    const fits = (response: unknown) => whoCalls.safeParse({ status: 200, msg: 'ok', response }).success
    expect(fits({ authenticated: false, user_info: null })).toBe(true)
    expect(fits({ authenticated: true, user_info: null })).toBe(false)
  })
})
