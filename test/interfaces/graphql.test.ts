import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask } from '../support/ask.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { anId, aSentence } from '../support/shapes.ts'

let t: TestApp
let alice: Person

beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  await alice.upload('docs/deep/a.txt', 'hello', 'text/plain')
})
afterAll(() => t.stop())

/** Sends one request unchanged. */
const post = async (
  body: object | string,
  headers: Record<string, string> = {},
  person = alice,
) => {
  const response = await fetch(`${t.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie: person.cookie, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text }
}
const codeOf = (text: string) => JSON.parse(text).errors?.[0].extensions.code

interface Page {
  edges: { cursor: string; node: { name: string } }[]
  pageInfo: {
    hasNextPage: boolean
    hasPreviousPage: boolean
    startCursor: string | null
    endCursor: string | null
  }
}
const PAGE = `query ($path: String!, $first: Int, $after: String) { me { drive { entry(path: $path) {
  ... on Folder { entries(first: $first, after: $after) { edges { cursor node { name } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } } } } }`
const pageOf = async (path: string, first?: number, after?: string): Promise<Page> =>
  (await ask(alice, PAGE, { path, first, after })).me.drive.entry.entries

describe('A connection', () => {
  const numbers = Array.from({ length: 5 }, (_, i) => String(i).padStart(2, '0'))

  beforeAll(async () => {
    for (const n of numbers) await alice.upload(`walk/${n}`, '')
  })

  it('shows where a page begins and ends', async () => {
    const first = await pageOf('walk', 3)
    expect(first.pageInfo).toEqual({
      hasNextPage: true,
      hasPreviousPage: false,
      startCursor: first.edges[0]?.cursor,
      endCursor: first.edges[2]?.cursor,
    })
    const last = await pageOf('walk', 30, first.edges[0]?.cursor)
    expect(last.edges.map(e => e.node.name)).toEqual(numbers.slice(1))
    expect(last.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true })
    await alice.rest('POST', '/api/folders', { json: { path: 'none' } })
    const none = await pageOf('none', 3)
    expect(none).toEqual({
      edges: [],
      pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
    })
  })

  it('has 50 entries a page by default', async () => {
    const names = Array.from({ length: 52 }, (_, i) => ({ path: `many/${i + 100}` }))
    for (const json of names) await alice.rest('POST', '/api/folders', { json })
    expect((await pageOf('many')).edges).toHaveLength(50)
  })

  it.each([
    ['first: 0', 'first'],
    ['first: 1001', 'first'],
    ['first: -1', 'first'],
    ['first: 5, after: "nothing"', 'after'],
    ['after: "WzFd"', 'after'],
  ])('is refused with %s', async (args, field) => {
    const { status, errors } = await alice.graphql(
      `{ me { drive { entry(path: "walk") { ... on Folder { entries(${args}) { edges { cursor } } } } } } }`,
    )
    expect(status).toBe(200)
    expect(errors).toEqual([
      expect.objectContaining({
        message: aSentence,
        path: ['me', 'drive', 'entry', 'entries'],
        extensions: { code: 'INVALID_INPUT', field },
      }),
    ])
  })

  it.each(['last: 5', 'first: 5, before: "WyIxIl0"'])(
    'only supports forward paging: %s is not an argument',
    async args => {
      const query = `{ me { drive { root { entries(${args}) { edges { cursor } } } } } }`
      expect((await alice.graphql(query)).code).toBe('INVALID_INPUT')
    },
  )
})

describe('A refusal', () => {
  it('is HTTP 200, with the message, code and details of REST, and its own argument', async () => {
    const rest = await alice.rest('POST', '/api/folders', { json: { path: 'a//b' } })
    const MAKE = 'mutation { createFolder(input: { at: { path: "a//b" } }) { drive { id } } }'
    const { status, headers, text } = await post({ query: MAKE })
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(
      /^application\/(graphql-response\+)?json; charset=utf-8$/,
    )
    expect([headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual([
      'no-store',
      'nosniff',
    ])
    expect(headers.get('x-request-id')).toEqual(anId)
    expect(JSON.parse(text)).toEqual({
      data: { createFolder: null },
      errors: [
        {
          message: rest.msg,
          path: ['createFolder'],
          locations: [{ line: 1, column: 12 }],
          extensions: { ...rest.response, field: 'input.at.path' },
        },
      ],
      extensions: { cost: { cost: 3, maxCost: 400_000 } },
    })
  })

  it('is the same once the document is compiled', async () => {
    const ENTRY = `query Compiled($path: String!, $first: Int) { me { drive { entry(path: $path) { path ... on Folder {
      entries(first: $first) { edges { cursor } } } } } } }`
    const answers = []
    for (let i = 0; i < 6; i++) {
      const refused = await alice.graphql(ENTRY, { path: 'a//b' })
      const wrong = await alice.graphql(ENTRY, { path: 'docs', first: 'ten' })
      const good = await ask(alice, ENTRY, { path: 'docs' })
      expect(good.me.drive.entry.path).toBe('docs')
      const { message, path, extensions } = refused.errors?.[0] ?? {}
      answers.push([refused.status, { message, path, extensions }, wrong.status, wrong.code])
    }
    for (const answer of answers) expect(answer).toEqual(answers[0])
    expect(answers[0]).toEqual([
      200,
      expect.objectContaining({
        path: ['me', 'drive', 'entry'],
        extensions: { code: 'INVALID_PATH', field: 'path' },
      }),
      200,
      'INVALID_INPUT',
    ])
  })

  it.each<[string, object]>([
    ['no document', {}],
    ['a syntax error', { query: '{ me { ' }],
    ['an unknown field', { query: '{ nothing }' }],
    ['an unknown argument', { query: '{ me(sort: "name") { id } }' }],
    ['a missing argument', { query: '{ node { id } }' }],
    ['a literal of the wrong type', { query: '{ me { shares(first: "1") { nodes { id } } } }' }],
    [
      'a variable of the wrong type',
      {
        query: 'query ($n: Int) { me { shares(first: $n) { nodes { id } } } }',
        variables: { n: 'x' },
      },
    ],
    ['a missing variable', { query: 'query ($id: ID!) { node(id: $id) { id } }' }],
    [
      'a missing input field',
      { query: 'mutation { moveEntries(input: { name: "a" }) { drive { id } } }' },
    ],
    [
      'an unknown input field in a variable',
      {
        query:
          'mutation ($input: DeleteEntriesInput!) { deleteEntries(input: $input) { filesDeleted } }',
        variables: { input: { entries: [{ at: { path: 'a' } }], force: true } },
      },
    ],
    [
      'a fractional number',
      {
        query: 'mutation ($input: CreateLinkInput!) { createLink(input: $input) { share { id } } }',
        variables: { input: { entries: { at: { path: 'docs/deep/a.txt' } }, maxDownloads: 1.5 } },
      },
    ],
    ['an unknown operation', { query: 'query A { me { id } }', operationName: 'B' }],
    ['two operations and no name', { query: 'query A { me { id } } query B { me { id } }' }],
    [
      '51 aliases',
      { query: `{ ${Array.from({ length: 51 }, (_, i) => `a${i}: me { id }`).join(' ')} }` },
    ],
    [
      'too deep a document',
      { query: `{ me { drive { root { ${'parent { '.repeat(20)} id ${'}'.repeat(20)} } } } }` },
    ],
    ['2,001 tokens', { query: `{ me { ${'id '.repeat(2000)} } }` }],
  ])('of %s is INVALID_INPUT, without internal details', async (_what, body) => {
    const { text } = await post(body)
    const { errors, data } = JSON.parse(text)
    expect(data ?? null).toBeNull()
    expect(errors[0].extensions.code).toBe('INVALID_INPUT')
    expect(text).not.toMatch(/node_modules|\.[tj]s:|stack|originalError/)
  })

  it.each<[string, string, Record<string, string>, string]>([
    ['no JSON', '{"query":', {}, 'INVALID_JSON'],
    ['a list', '[]', {}, 'INVALID_JSON'],
    ['null', 'null', {}, 'INVALID_JSON'],
    [
      'another content type',
      'query={me{id}}',
      { 'content-type': 'application/x-www-form-urlencoded' },
      'INVALID_INPUT',
    ],
    ['plain text', '{"query":"{ me { id } }"}', { 'content-type': 'text/plain' }, 'INVALID_INPUT'],
    [
      'more than 1 MiB',
      JSON.stringify({ query: `#${'x'.repeat(1024 * 1024)}\n{ me { id } }` }),
      {},
      'INVALID_INPUT',
    ],
  ])('of a body that is %s', async (_what, body, headers, code) => {
    const { status, text } = await post(body, headers)
    expect([status, codeOf(text)]).toEqual([expect.any(Number), code])
    expect(status).toBeLessThan(500)
  })

  it('of a mutation by GET, for every caller', async () => {
    const query = encodeURIComponent(
      'mutation { createFolder(input: { at: { path: "by-get" } }) { folder { id } } }',
    )
    const answer = await fetch(`${t.url}/graphql?query=${query}`, {
      headers: { cookie: alice.cookie },
    })
    expect(codeOf(await answer.text())).toBe('INVALID_INPUT')
    expect(
      (await ask(alice, '{ me { drive { entry(path: "by-get") { id } } } }')).me.drive.entry,
    ).toBeNull()
    const read = await fetch(`${t.url}/graphql?query=${encodeURIComponent('{ me { email } }')}`, {
      headers: { cookie: alice.cookie },
    })
    expect(await read.json()).toMatchObject({ data: { me: { email: 'alice@example.com' } } })
  })

  it('leaves the results of other fields', async () => {
    const { data, errors } = await alice.graphql(
      '{ me { email drive { entry(path: "..") { id } } } node(id: "x") { id } }',
    )
    expect(data).toEqual({ me: { email: 'alice@example.com', drive: { entry: null } }, node: null })
    expect(errors?.map(e => [e.path, e.extensions.code])).toEqual([
      [['me', 'drive', 'entry'], 'INVALID_PATH'],
    ])
  })
})

describe('The details of an error', () => {
  const detailsOf = async (query: string) => (await alice.graphql(query)).errors?.[0]?.extensions

  it('name the existing path of PATH_EXISTS', async () => {
    const make = 'mutation { createFolder(input: { at: { path: "docs" } }) { drive { id } } }'
    expect(await detailsOf(make)).toEqual({ code: 'PATH_EXISTS', path: 'docs' })
  })

  it('have the current revision with REVISION_MISMATCH', async () => {
    const move =
      'mutation { moveEntries(input: { entries: [{ at: { path: "docs/deep/a.txt" } }], name: "b", expectedRevision: 99 }) { drive { id } } }'
    expect(await detailsOf(move)).toEqual({ code: 'REVISION_MISMATCH', revision: 1 })
  })

  it('have the limit, its value and the usage with QUOTA_EXCEEDED', async () => {
    await t.limit({ maxPublicLinks: 0 })
    const link =
      'mutation { createLink(input: { entries: [{ at: { path: "docs" } }] }) { share { id } } }'
    expect(await detailsOf(link)).toEqual({
      code: 'QUOTA_EXCEEDED',
      limit: 'max_public_links',
      max: 0,
      used: 0,
    })
    await t.limit({ maxPublicLinks: 100 })
  })

  it('are none with WRONG_PASSWORD', async () => {
    const made = await ask(
      alice,
      'mutation { createLink(input: { entries: [{ at: { path: "docs" } }], password: "sesame" }) { share { token } } }',
    )
    const open = `mutation { openShare(input: { token: "${made.createLink.share.token}", password: "wrong" }) { download { url } } }`
    expect(await detailsOf(open)).toEqual({ code: 'WRONG_PASSWORD' })
  })
})

describe('A refused root field', () => {
  it('leaves the results of the other root fields', async () => {
    const made = await ask(
      alice,
      'mutation { createLink(input: { entries: { at: { path: "docs/deep/a.txt" } } }) { share { token } } }',
    )
    const { token } = made.createLink.share
    const visitor = t.anonymous
    const open = await visitor.graphql(
      `{ me { email } share(token: "${token}") { fileName } maintenance { message } }`,
    )
    expect(open.data).toEqual({ me: null, share: { fileName: 'a.txt' }, maintenance: null })
    expect(open.errors?.map(e => [e.path, e.extensions.code])).toEqual([
      [['me'], 'UNAUTHENTICATED'],
    ])
    const large = await alice.graphql(
      `{ search(query: "a", first: 1001) { nodes { name } } share(token: "${token}") { fileName } }`,
    )
    expect(large.data).toEqual({ search: null, share: { fileName: 'a.txt' } })
    expect(large.errors?.map(e => [e.path, e.extensions.code])).toEqual([
      [['search'], 'INVALID_INPUT'],
    ])
  })
})

describe('A mutation', () => {
  it('is executed once, even if one of its fields is refused', async () => {
    const link = (name: string, path: string) =>
      `${name}: createLink(input: { entries: { at: { path: "${path}" } } }) { share { token } }`
    const query = `mutation { ${link('made', 'docs/deep/a.txt')} ${link('refused', 'docs/none.txt')} }`
    const shares = async () =>
      (await ask(alice, '{ me { shares { nodes { id } } } }')).me.shares.nodes.length
    for (const accept of [
      '*/*',
      'application/graphql-response+json',
      'application/json;charset=utf-8',
    ]) {
      const before = await shares()
      const { status, text } = await post({ query }, { accept })
      expect([status, codeOf(text)]).toEqual([200, 'FILE_NOT_FOUND'])
      expect(await shares()).toBe(before + 1)
    }
  })
})

describe('An internal error', () => {
  it('shows only its code, and the log contains everything', async () => {
    await t.app.db.run('ALTER TABLE note RENAME TO mislaid')
    try {
      const READ = 'query Broken { me { email note(md5: "5d41402abc4b2a76b9719d911017c592") } }'
      for (let i = 0; i < 4; i++) {
        const { status, headers, text } = await post({ query: READ })
        expect(status).toBe(200)
        const { data, errors } = JSON.parse(text)
        expect(data).toEqual({ me: { email: alice.email, note: null } })
        expect(errors).toEqual([
          expect.objectContaining({
            message: aSentence,
            path: ['me', 'note'],
            extensions: { code: 'INTERNAL' },
          }),
        ])
        expect(text).not.toMatch(/mislaid|note'|no such table|SELECT/)
        const line = t
          .logs()
          .split('\n')
          .find(l => l.includes(headers.get('x-request-id') ?? '') && l.includes('"err"'))
        expect(JSON.parse(line ?? '{}')).toMatchObject({
          level: 50,
          err: { message: expect.any(String) },
        })
      }
      const rest = await alice.rest('GET', '/api/files/5d41402abc4b2a76b9719d911017c592/note')
      expect([rest.status, rest.response]).toEqual([500, { code: 'INTERNAL' }])
    } finally {
      await t.app.db.run('ALTER TABLE mislaid RENAME TO note')
    }
  })
})
