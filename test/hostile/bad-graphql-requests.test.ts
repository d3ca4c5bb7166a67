import { describe, expect, it } from '@jest/globals'
import { ask, nest, verdictOf } from '../support/graphql-probe.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { leaveUntouched } from '../support/untouched.ts'

let t: TestApp
let alice: Person

leaveUntouched(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  await alice.upload('deep/a.txt', 'hello')
  return t
})

const post = (body: unknown, who = alice) => ask(t, who, body)

describe('An unusual GraphQL request', () => {
  const me = '{ me { email } }'

  it.each<[string, unknown]>([
    ['a document of 2 MB', { query: `{ me { email } } #${'x'.repeat(2e6)}` }],
    ['a document of 900 KB', { query: `{ me { email } } #${'x'.repeat(9e5)}` }],
    ['a list of requests', [{ query: me }, { query: me }]],
    ['no document', { variables: {} }],
    ['a document that is null', { query: null }],
    ['a document that is a number', { query: 1 }],
    ['a document that is a list', { query: [me] }],
    ['a document that is an object', { query: { toString: me } }],
    ['variables that are a text', { query: me, variables: 'a' }],
    ['variables that are a list', { query: me, variables: [1] }],
    ['variables that are a number', { query: me, variables: 1 }],
    ['extensions that are a text', { query: me, extensions: 'a' }],
    ['an unknown field', { query: me, doc_id: '1' }],
    ['a field with a name of 100 KB', { query: me, ['n'.repeat(100_000)]: '1' }],
    ['an unknown operation', { query: 'query A { me { email } }', operationName: 'B' }],
    [
      'an operation with a name of 100 KB',
      { query: 'query A { me { email } }', operationName: 'B'.repeat(100_000) },
    ],
    ['an operation name that is a number', { query: 'query A { me { email } }', operationName: 1 }],
    [
      'an operation name that is an object',
      { query: 'query A { me { email } }', operationName: { a: 1 } },
    ],
    ['two operations and no name', { query: 'query A { me { email } } query B { me { email } }' }],
  ])('INVALID_INPUT or INVALID_JSON: %s', async (_what, body) => {
    for (let i = 0; i < 4; i++) {
      const { status, codes, data } = await post(body)
      expect([[200, 400].includes(status), data ?? null]).toEqual([true, null])
      expect(codes[0]).toMatch(/^INVALID_(INPUT|JSON)$/)
    }
  })

  it.each<[string, string, unknown]>([
    ['a number for a text', '$v: String!', 1],
    ['an object for a text', '$v: String!', { toString: 'a' }],
    ['a list for a text', '$v: String!', ['a']],
    ['a text of 500 KB for a number', '$v: Int', 'x'.repeat(500_000)],
    ['an object of 500 KB for a number', '$v: Int', { ['x'.repeat(500_000)]: 1 }],
    ['nested lists for a number', '$v: Int', JSON.parse(nest(1000, '[', '1', ']'))],
    ['a number beyond 32 bits', '$v: Int', 2 ** 31],
    ['a fraction', '$v: Int', 1.5],
    ['null for a non-null value', '$v: Int!', null],
    ['a missing required value', '$v: Int!', undefined],
  ])('INVALID_INPUT for a variable: %s', async (_what, definition, v) => {
    const list = 'root { entries(first: $v) { nodes { id } } }'
    const field = definition.includes('Int') ? list : 'entry(path: $v) { id }'
    const query = `query Q(${definition}) { me { drive { ${field} } } }`
    for (let i = 0; i < 5; i++) {
      const { status, codes } = await post({ query, variables: { v } })
      expect([i, status, codes]).toEqual([i, 200, ['INVALID_INPUT']])
    }
  })

  it('INVALID_INPUT for an input with unknown fields, or with names of Object.prototype', async () => {
    const query =
      'mutation M($input: CreateFolderInput!) { createFolder(input: $input) { folder { id } } }'
    const inputs = [
      '{"at":1}',
      '{"at":{"path":1}}',
      '{"at":{"path":"made"},"owner_id":"x"}',
      '{"at":{"path":"made","owner_id":"x"}}',
      '{"at":{"path":"made"},"__proto__":{}}',
      '{"at":{"path":"made","__proto__":{}}}',
      '{"at":{"path":"made"},"constructor":1}',
      '{"__proto__":{"at":{"path":"made"}}}',
      '{"at":{"__proto__":{"path":"made"}}}',
      '[]',
      '"made"',
      'null',
      '{}',
      `{"at":{"path":"made"},"${'x'.repeat(200_000)}":1}`,
      `{"at":{"path":"made","${'x'.repeat(200_000)}":1}}`,
    ]
    for (const input of inputs)
      for (let i = 0; i < 4; i++) {
        const { codes } = await post(
          `{ "query": ${JSON.stringify(query)}, "variables": { "input": ${input} } }`,
        )
        expect([input.slice(0, 50), codes[0]]).toEqual([input.slice(0, 50), 'INVALID_INPUT'])
      }
  })

  it('is answered despite undeclared variables', async () => {
    const variables = '{ "__proto__": { "v": 1 }, "constructor": 1, "toString": null }'
    const query =
      'query Q($v: Int, $__proto__: String) { me { receivedShares(first: $v, after: $__proto__) { nodes { id } } } }'
    for (let i = 0; i < 5; i++)
      expect((await post(`{ "query": "${query}", "variables": ${variables} }`)).codes).toEqual([
        'INVALID_INPUT',
      ])
    expect(
      (await post(`{ "query": "{ me { email } }", "variables": ${variables} }`)).data,
    ).toBeTruthy()
  })

  it('INVALID_INPUT for a mutation by GET, and 405 for other methods', async () => {
    const query = encodeURIComponent(
      'mutation { createFolder(input: { at: { path: "made" } }) { folder { id } } }',
    )
    const headers = { cookie: alice.cookie, accept: 'application/json' }
    const start = performance.now()
    expect(
      (await verdictOf(await fetch(`${t.url}/graphql?query=${query}`, { headers }), start)).codes,
    ).toEqual(['INVALID_INPUT'])
    for (const method of ['HEAD', 'PUT', 'DELETE', 'PATCH']) {
      const { status, headers: given } = await fetch(`${t.url}/graphql?query=${query}`, {
        method,
        headers,
      })
      expect([method, status, given.get('allow')]).toEqual([method, 405, 'GET, POST'])
    }
  })

  it('INVALID_INPUT for deeply nested variables', async () => {
    const v = nest(100_000, '[', '1', ']')
    const query = 'query Q($v: Int) { me { receivedShares(first: $v) { nodes { id } } } }'
    for (let i = 0; i < 4; i++) {
      const { codes } = await post(`{ "query": "${query}", "variables": { "v": ${v} } }`)
      expect(codes).toEqual(['INVALID_INPUT'])
    }
  })

  it.each([
    'query={',
    'query={me{email}}&variables={',
    'query={me{email}}&variables=1',
    'query={me{email}}&extensions={',
    'variables={}',
    '',
    'query',
    'query=a&query=b',
    'query=%FF%FE',
    'query={me{email}}&operationName=x',
  ])('INVALID_INPUT for a query in the address: %s', async search => {
    const start = performance.now()
    const response = await fetch(`${t.url}/graphql?${search}`, {
      headers: { cookie: alice.cookie, accept: 'application/json' },
    })
    const { codes, status } = await verdictOf(response, start)
    expect([status < 500, codes[0]]).toEqual([
      true,
      expect.stringMatching(/^INVALID_(INPUT|JSON)$/),
    ])
  })
})
