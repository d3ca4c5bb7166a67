import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { serverAudits } from 'graphql-http'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

let t: TestApp
let alice: Person

beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
})
afterAll(() => t.stop())

const url = () => `${t.url}/graphql`
const withCookie: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers)
  headers.set('cookie', alice.cookie)
  return fetch(input, { ...init, headers })
}

describe('The audits of GraphQL over HTTP', () => {
  it('are complete', () => {
    expect(serverAudits({ url })).toHaveLength(61)
  })

  it.each(serverAudits({ url }).map(audit => [`${audit.id} ${audit.name}`, audit.fn] as const))(
    'pass without a credential: %s',
    async (_name, run) => expect(await reasonOf(run)).toBe('ok'),
  )

  it.each(
    serverAudits({ url, fetchFn: withCookie }).map(
      audit => [`${audit.id} ${audit.name}`, audit.fn] as const,
    ),
  )('pass with a session: %s', async (_name, run) => expect(await reasonOf(run)).toBe('ok'))
})

async function reasonOf(run: ReturnType<typeof serverAudits>[number]['fn']): Promise<string> {
  const result = await run()
  return result.status === 'ok' ? 'ok' : `${result.status}: ${result.reason}`
}

describe('A malformed request', () => {
  const json = 'application/json'
  const byStatus = 'application/graphql-response+json'
  const types: Record<string, string> = { 'content-type': json }

  it.each<[string, string, number, RequestInit & { search?: string }]>([
    ['no JSON', 'INVALID_JSON', 400, { method: 'POST', headers: types, body: '{' }],
    [
      'a list',
      'INVALID_JSON',
      400,
      { method: 'POST', headers: types, body: '[{ "query": "{ __typename }" }]' },
    ],
    [
      'another type',
      'INVALID_INPUT',
      400,
      { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{}' },
    ],
    [
      'a body that is too large',
      'INVALID_INPUT',
      400,
      { method: 'POST', headers: types, body: 'x'.repeat(2 ** 21) },
    ],
    [
      'an unknown parameter',
      'INVALID_INPUT',
      400,
      { method: 'POST', headers: types, body: '{ "qeury": "a" }' },
    ],
    ['no query', 'INVALID_INPUT', 400, { method: 'GET', search: '?variables={}' }],
    [
      'variables that are not JSON',
      'INVALID_JSON',
      400,
      { method: 'GET', search: '?query={a}&variables={' },
    ],
    [
      'a mutation by GET',
      'INVALID_INPUT',
      405,
      { method: 'GET', search: '?query=mutation{__typename}' },
    ],
    ['another method', 'METHOD_NOT_ALLOWED', 405, { method: 'PUT' }],
    [
      'a form without operations',
      'INVALID_INPUT',
      400,
      { method: 'POST', body: formOf({ map: '{}' }) },
    ],
  ])(
    'is refused with its status, in the form of a GraphQL response: %s',
    async (_what, code, status, { search = '', ...init }) => {
      for (const accept of [json, byStatus]) {
        const headers = { ...(init.headers as Record<string, string>), accept }
        const response = await withCookie(`${url()}${search}`, { ...init, headers })
        const { errors, data } = (await response.json()) as {
          errors: { extensions: object }[]
          data?: unknown
        }
        expect([response.status, data, errors.map(e => e.extensions)]).toEqual([
          status,
          undefined,
          [expect.objectContaining({ code })],
        ])
        expect(response.headers.get('content-type')).toContain(accept)
        expect(response.headers.get('allow') !== null).toBe(status === 405)
      }
    },
  )
})

describe('A refused well-formed request', () => {
  it.each([
    ['a document that does not parse', '{', 400],
    ['an unknown field', '{ nothing }', 400],
    [
      'a document that is too expensive',
      `{ me { drive { root { entries(first: 1000) { nodes { ... on Folder { entries(first: 1000) { nodes { ${'a b c d e f g h i j'.replaceAll(/\w/g, '$&: name')} } } } } } } } } }`,
      400,
    ],
    ['an unknown operation', { query: 'query A { __typename }', operationName: 'B' }, 400],
    ['a field that is refused', '{ me { drive { entry(path: "a//b") { id } } } }', 200],
  ])(
    'gets 200 for clients of application/json, and its own status for others: %s',
    async (_what, body, status) => {
      const send = (accept: string) =>
        withCookie(url(), {
          method: 'POST',
          headers: { accept, 'content-type': 'application/json' },
          body: JSON.stringify(typeof body === 'string' ? { query: body } : body),
        })
      const [plain, exact] = [
        await send('application/json'),
        await send('application/graphql-response+json'),
      ]
      expect([plain.status, exact.status]).toEqual([200, status])
      const told = await plain.text()
      expect(told).toBe(await exact.text())
      expect(JSON.parse(told).errors[0].extensions.code).toMatch(/^INVALID_(INPUT|PATH)$/)
    },
  )

  it('shows a missing credential by status to clients that check it', async () => {
    const body = formOf({ operations: '{ "query": "{ __typename }" }', map: '{}' })
    const send = async (accept: string) =>
      (await fetch(url(), { method: 'POST', headers: { accept }, body })).status
    expect(await send('application/json')).toBe(200)
    expect(await send('application/graphql-response+json')).toBe(401)
  })
})

function formOf(fields: Record<string, string>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  return form
}
