import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Person, startApp, type TestApp } from './harness.ts'
import { anId, aSentence, aTime, awkwardNames, byCodePoint } from './shapes.ts'

let t: TestApp
let alice: Person
let bob: Person

beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
  await alice.upload('docs/deep/a.txt', 'hello', 'text/plain')
})
afterAll(() => t.stop())

/** One request as it is. */
const post = async (body: object | string, headers: Record<string, string> = {}, person = alice) => {
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
  folder: {
    [list: string]: {
      edges: { cursor: string; node: { name: string } }[]
      pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null }
    }
  } | null
}
const PAGE = `query ($path: String, $first: Int, $after: String) { folder(path: $path) {
  LIST(first: $first, after: $after) { edges { cursor node { name } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`
const pageOf = async (list: string, path: string, first?: number, after?: string | null, person = alice) => {
  const { data } = await person.graphql<Page>(PAGE.replace('LIST', list), { path, first, after })
  return data?.folder?.[list]
}

async function walk(list: string, path: string, first: number) {
  const [names, sizes]: [string[], number[]] = [[], []]
  let after: string | null | undefined
  do {
    const page = await pageOf(list, path, first, after)
    names.push(...(page?.edges.map(e => e.node.name) ?? []))
    sizes.push(page?.edges.length ?? 0)
    after = page?.pageInfo.hasNextPage ? page.pageInfo.endCursor : null
  } while (after)
  return { names, sizes }
}

describe('folder', () => {
  it('leads from the root down to every file', async () => {
    const { data } = await alice.graphql(`{ folder { id name path createdAt
      folders { edges { node { name path folders { edges { node { path files { edges { node { path size md5Checksum } } } } } } } } }
      files { edges { node { name } } } } }`)
    expect(data).toEqual({
      folder: {
        id: anId,
        name: '',
        path: '',
        createdAt: aTime,
        folders: {
          edges: [
            {
              node: {
                name: 'docs',
                path: 'docs',
                folders: {
                  edges: [
                    {
                      node: {
                        path: 'docs/deep',
                        files: {
                          edges: [
                            {
                              node: {
                                path: 'docs/deep/a.txt',
                                size: 5,
                                md5Checksum: '5d41402abc4b2a76b9719d911017c592',
                              },
                            },
                          ],
                        },
                      },
                    },
                  ],
                },
              },
            },
          ],
        },
        files: { edges: [] },
      },
    })
  })

  it('is null for what is no folder of the caller', async () => {
    const FOLDER = 'query ($path: String) { folder(path: $path) { path } }'
    expect((await alice.graphql(FOLDER, { path: '/docs/deep/' })).data).toEqual({ folder: { path: 'docs/deep' } })
    for (const path of ['none', 'docs/deep/a.txt'])
      expect((await alice.graphql(FOLDER, { path })).data).toEqual({ folder: null })
    expect((await bob.graphql(FOLDER, { path: 'docs' })).data).toEqual({ folder: null })
    expect((await alice.graphql(FOLDER, { path: '..' })).errors?.[0]?.extensions).toEqual({
      code: 'INVALID_PATH',
      field: 'path',
    })
    expect((await t.anonymous.graphql(FOLDER)).code).toBe('UNAUTHENTICATED')
  })
})

describe('A connection', () => {
  const numbers = Array.from({ length: 25 }, (_, i) => String(i).padStart(2, '0'))

  beforeAll(async () => {
    for (const n of numbers.toReversed()) {
      await alice.upload(`walk/${n}`, '')
      await alice.rest('POST', '/api/folders', { json: { path: `walk/${n} folder` } })
    }
  })

  it('walks 25 entries by 7, each once and in order', async () => {
    expect(await walk('files', 'walk', 7)).toEqual({ names: numbers, sizes: [7, 7, 7, 4] })
    expect(await walk('folders', 'walk', 7)).toEqual({ names: numbers.map(n => `${n} folder`), sizes: [7, 7, 7, 4] })
    expect((await walk('files', 'walk', 5)).sizes).toEqual([5, 5, 5, 5, 5])
    expect((await walk('files', 'walk', 1000)).sizes).toEqual([25])
  })

  it('tells where a page begins and ends', async () => {
    const first = await pageOf('files', 'walk', 3)
    expect(first?.pageInfo).toEqual({
      hasNextPage: true,
      hasPreviousPage: false,
      startCursor: first?.edges[0]?.cursor,
      endCursor: first?.edges[2]?.cursor,
    })
    const last = await pageOf('files', 'walk', 30, first?.edges[0]?.cursor)
    expect(last?.edges.map(e => e.node.name)).toEqual(numbers.slice(1))
    expect(last?.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true })
    const none = await pageOf('files', 'docs', 3)
    expect(none).toEqual({
      edges: [],
      pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
    })
  })

  it('has 50 entries a page without a wish', async () => {
    const names = Array.from({ length: 52 }, (_, i) => ({ path: `many/${i + 100}` }))
    for (const json of names) await alice.rest('POST', '/api/folders', { json })
    expect((await pageOf('folders', 'many'))?.edges).toHaveLength(50)
  })

  it('sorts by code point', async () => {
    const carol = await t.signIn('carol')
    for (const name of awkwardNames) await carol.upload(name, '')
    const page = await pageOf('files', '', 100, null, carol)
    expect(page?.edges.map(e => e.node.name)).toEqual(awkwardNames.toSorted(byCodePoint))
  })

  it.each([
    ['first: 0', 'first'],
    ['first: 1001', 'first'],
    ['first: -1', 'first'],
    ['last: 5', 'last'],
    ['last: 0', 'last'],
    ['first: 5, before: "WyIxIl0"', 'before'],
    ['first: 5, after: "nothing"', 'after'],
    ['after: "WzFd"', 'after'],
  ])('is refused with %s', async (args, field) => {
    const { status, errors } = await alice.graphql(`{ folder(path: "walk") { files(${args}) { edges { cursor } } } }`)
    expect(status).toBe(200)
    expect(errors).toEqual([
      expect.objectContaining({
        message: aSentence,
        path: ['folder', 'files'],
        extensions: { code: 'INVALID_INPUT', field },
      }),
    ])
  })
})

describe('node', () => {
  const NODE = `query ($id: ID!) { node(id: $id) { __typename id
    ... on File { path note } ... on Folder { path folders { edges { node { path } } } } ... on Share { sharingToken } } }`

  it('finds a file, a folder and a share of the caller again, and nobody else’s', async () => {
    const { data } = await alice.graphql<Record<'file' | 'docs' | 'root', { id: string }>>(
      '{ file(path: "docs/deep/a.txt") { id } docs: folder(path: "docs") { id } root: folder { id } }',
    )
    const made = await alice.rest('POST', '/api/files/quick_share', { json: { object: 'docs/deep/a.txt' } })
    const shares = await alice.graphql<{ shares: { edges: { node: { id: string } }[] } }>(
      '{ shares { edges { node { id } } } }',
    )
    const ids = [data?.file.id, data?.docs.id, data?.root.id, shares.data?.shares.edges[0]?.node.id]
    const found = await Promise.all(ids.map(id => alice.graphql<{ node: object }>(NODE, { id })))
    expect(found.map(f => f.data?.node)).toEqual([
      { __typename: 'File', id: ids[0], path: 'docs/deep/a.txt', note: '' },
      { __typename: 'Folder', id: ids[1], path: 'docs', folders: { edges: [{ node: { path: 'docs/deep' } }] } },
      expect.objectContaining({ __typename: 'Folder', id: ids[2], path: '' }),
      { __typename: 'Share', id: ids[3], sharingToken: made.response.sharing_token },
    ])
    for (const id of ids) {
      expect((await bob.graphql(NODE, { id })).data).toEqual({ node: null })
      expect((await t.anonymous.graphql(NODE, { id })).code).toBe('UNAUTHENTICATED')
    }
  })

  it('is null for an id of nothing', async () => {
    for (const id of ['', 'nothing', '00000000-0000-7000-8000-000000000000', alice.userId])
      expect((await alice.graphql(NODE, { id })).data).toEqual({ node: null })
  })
})

describe('A refusal', () => {
  it('is HTTP 200, with the sentence, the code and the details of REST', async () => {
    const rest = await alice.rest('POST', '/api/files/move', { json: { source: 'none', destination: 'b' } })
    const MOVE = 'mutation { moveFile(input: { source: "none", destination: "b" }) { source } }'
    const { status, headers, text } = await post({ query: MOVE })
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^application\/(graphql-response\+)?json; charset=utf-8$/)
    expect([headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual(['no-store', 'nosniff'])
    expect(headers.get('x-request-id')).toEqual(anId)
    expect(JSON.parse(text)).toEqual({
      data: null,
      errors: [
        {
          message: rest.msg,
          path: ['moveFile'],
          locations: [{ line: 1, column: 12 }],
          extensions: rest.response,
        },
      ],
      extensions: { cost: { cost: 2, maxCost: 300_000 } },
    })
  })

  it('stays the same once the document is compiled', async () => {
    const TREE = 'query Compiled($path: String, $limit: Int) { fileTree(path: $path, limit: $limit) { path } }'
    const answers = []
    for (let i = 0; i < 6; i++) {
      const refused = await alice.graphql(TREE, { path: 'a//b' })
      const wrong = await alice.graphql(TREE, { limit: 'ten' })
      const good = await alice.graphql(TREE, { path: 'docs' })
      expect(good.data).toEqual({ fileTree: { path: 'docs' } })
      const { message, path, extensions } = refused.errors?.[0] ?? {}
      answers.push([refused.status, { message, path, extensions }, wrong.status, wrong.code])
    }
    for (const answer of answers) expect(answer).toEqual(answers[0])
    expect(answers[0]).toEqual([
      200,
      expect.objectContaining({ path: ['fileTree'], extensions: { code: 'INVALID_PATH', field: 'path' } }),
      200,
      'INVALID_INPUT',
    ])
  })

  it.each<[string, object]>([
    ['no document', {}],
    ['a syntax error', { query: '{ me { ' }],
    ['an unknown field', { query: '{ nothing }' }],
    ['an unknown argument', { query: '{ fileTree(sort: "name") { path } }' }],
    ['a missing argument', { query: '{ node { id } }' }],
    ['a literal of the wrong type', { query: '{ fileTree(limit: "1") { path } }' }],
    [
      'a variable of the wrong type',
      { query: 'query ($n: Int) { fileTree(limit: $n) { path } }', variables: { n: 'x' } },
    ],
    ['a missing variable', { query: 'query ($id: ID!) { node(id: $id) { id } }' }],
    ['a missing input field', { query: 'mutation { moveFile(input: { source: "a" }) { source } }' }],
    [
      'an unknown input field in a variable',
      {
        query: 'mutation ($input: DeleteFileInput!) { deleteFile(input: $input) { fileDeleted } }',
        variables: { input: { file: 'a', force: true } },
      },
    ],
    [
      'a number that is not whole',
      {
        query: 'mutation ($input: CreatePublicShareInput!) { createPublicShare(input: $input) { sharingToken } }',
        variables: { input: { object: 'docs/deep/a.txt', maxDownloads: 1.5 } },
      },
    ],
    ['an operation that is not there', { query: 'query A { me { id } }', operationName: 'B' }],
    ['two operations and no name', { query: 'query A { me { id } } query B { me { id } }' }],
    ['51 aliases', { query: `{ ${Array.from({ length: 51 }, (_, i) => `a${i}: me { id }`).join(' ')} }` }],
    [
      'too deep a document',
      { query: `{ folder { ${'folders { edges { node { '.repeat(6)} id ${'} } }'.repeat(6)} } }` },
    ],
    ['2,001 tokens', { query: `{ me { ${'id '.repeat(2000)} } }` }],
  ])('of %s says INVALID_INPUT, and nothing of the inside', async (_what, body) => {
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
    ['more than 1 MiB', JSON.stringify({ query: `#${'x'.repeat(1024 * 1024)}\n{ me { id } }` }), {}, 'INVALID_INPUT'],
  ])('of a body that is %s', async (_what, body, headers, code) => {
    const { status, text } = await post(body, headers)
    expect([status, codeOf(text)]).toEqual([expect.any(Number), code])
    expect(status).toBeLessThan(500)
  })

  it('of a mutation by GET, whoever asks', async () => {
    const query = encodeURIComponent('mutation { createFolder(input: { path: "by-get" }) { id } }')
    const answer = await fetch(`${t.url}/graphql?query=${query}`, { headers: { cookie: alice.cookie } })
    expect(codeOf(await answer.text())).toBe('INVALID_INPUT')
    expect((await alice.graphql('{ folder(path: "by-get") { id } }')).data).toEqual({ folder: null })
    const read = await fetch(`${t.url}/graphql?query=${encodeURIComponent('{ me { email } }')}`, {
      headers: { cookie: alice.cookie },
    })
    expect(await read.json()).toMatchObject({ data: { me: { email: 'alice@example.com' } } })
  })

  it('leaves what else was asked for', async () => {
    const { data, errors } = await alice.graphql('{ me { email } node(id: "x") { id } file(path: "..") { id } }')
    expect(data).toEqual({ me: { email: 'alice@example.com' }, node: null, file: null })
    expect(errors?.map(e => [e.path, e.extensions.code])).toEqual([[['file'], 'INVALID_PATH']])
  })
})

describe('What goes wrong on our side', () => {
  it('says so, and nothing else; the log tells all', async () => {
    await t.app.db.run('ALTER TABLE note RENAME TO mislaid')
    try {
      const READ = 'query Broken { fileNote(checksum: "5d41402abc4b2a76b9719d911017c592") { content } }'
      for (let i = 0; i < 4; i++) {
        const { status, headers, text } = await post({ query: READ })
        expect(status).toBe(200)
        expect(JSON.parse(text).errors).toEqual([
          expect.objectContaining({ message: aSentence, path: ['fileNote'], extensions: { code: 'INTERNAL' } }),
        ])
        expect(text).not.toMatch(/mislaid|note'|no such table|SELECT/)
        const line = t
          .logs()
          .split('\n')
          .find(l => l.includes(headers.get('x-request-id') ?? '') && l.includes('"err"'))
        expect(JSON.parse(line ?? '{}')).toMatchObject({ level: 50, err: { message: expect.any(String) } })
      }
      const rest = await alice.rest('GET', '/api/files/5d41402abc4b2a76b9719d911017c592/note')
      expect([rest.status, rest.response]).toEqual([500, { code: 'INTERNAL' }])
    } finally {
      await t.app.db.run('ALTER TABLE mislaid RENAME TO note')
    }
  })
})
