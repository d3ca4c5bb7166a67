import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { getIntrospectionQuery, Kind, type OperationDefinitionNode, parse } from 'graphql'
import { schema } from '../../schema/index.ts'
import { settings } from '../../src/config/settings.ts'
import { createCosts } from '../../src/graphql/cost.ts'
import { nest } from '../support/graphql-probe.ts'

const costOf = createCosts(schema)
const maxCost = Number(settings.GRAPHQL_MAX_COST.default)

function operationsOf(text: string): [string, () => { cost: number; fields: number }][] {
  const document = parse(text)
  const operations = document.definitions.filter(
    (d): d is OperationDefinitionNode => d.kind === Kind.OPERATION_DEFINITION,
  )
  return operations.map(operation => [
    operation.name?.value ?? 'query',
    () => ({
      cost: costOf(document, operation).of({}),
      fields: costOf(document, operation).fields,
    }),
  ])
}

function cost(text: string, variables: Record<string, unknown> = {}): number {
  const document = parse(text)
  const [operation] = document.definitions.filter(d => d.kind === Kind.OPERATION_DEFINITION)
  return operation ? costOf(document, operation).of(variables) : Number.NaN
}

/** A selection on the root of the caller's drive. */
const inRoot = (selection: string) => `{ me { drive { root { ${selection} } } } }`

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

describe('The cost of a document', () => {
  it.each([
    ...operationsOf(read('test/client/operations.graphql')),
    ...operationsOf(read('src/cli/operations.graphql')),
    ...operationsOf(getIntrospectionQuery()),
    ...operationsOf(
      getIntrospectionQuery({
        inputValueDeprecation: true,
        oneOf: true,
        specifiedByUrl: true,
        schemaDescription: true,
        directiveIsRepeatable: true,
      }),
    ),
  ])('admits the clients of the service: %s', (_name, measure) => {
    expect(measure().cost).toBeLessThan(maxCost)
  })

  it.each([
    [
      'a page of a thousand entries',
      inRoot(`entries(first: 1000) { edges { cursor } pageInfo { endCursor } nodes { id name path size createdAt updatedAt
        permissions createdBy { name } ... on File { contentType md5 note shareCount } } }`),
    ],
    [
      'entries of a workspace',
      `{ workspace(id: "x") { name role drive { entry(path: "docs") { ... on Folder { entries(first: 1000) { nodes {
        id name size permissions createdBy { name email } } pageInfo { endCursor } } } } } } }`,
    ],
    [
      'shares',
      `{ me { shares(first: 1000) { nodes { id token url fileName contentType size md5 createdAt expiresAt passwordProtected
        downloads maxDownloads ... on DirectShare { recipient seen } } pageInfo { endCursor } } } }`,
    ],
    [
      'folders within folders',
      inRoot(
        nest(
          2,
          'entries { nodes { ... on Folder { path ',
          'entries { nodes { path size } }',
          ' } } }',
        ),
      ),
    ],
    [
      'search results',
      '{ me { drive { search(query: "a", first: 1000) { nodes { id path size parent { id path } } } } } }',
    ],
    [
      'a hundred nodes',
      `query Q($ids: [ID!]!) { nodes(ids: $ids) { id ... on Entry { name path size permissions createdBy { name } drive { id } } } }`,
    ],
  ])('admits pages as large as those of REST: %s', (_what, text) => {
    expect(cost(text)).toBeLessThan(maxCost)
    expect(cost(text)).toBeGreaterThan(1000)
  })

  /** The cost of the path to the root, and of its list. */
  const WAY = 4

  it('counts values, objects and items by their pages', () => {
    expect(cost('{ me { email } }')).toBe(2)
    expect(cost(inRoot('entries(first: 10) { nodes { name size } }'))).toBe(WAY + 10 * (5 + 2))
    expect(cost(inRoot('entries { nodes { name } }'))).toBe(WAY + 50 * 6)
    expect(cost(inRoot('permissions'))).toBe(3 + 4 * 2)
    expect(cost('{ me { shares(first: 3) { edges { cursor node { id } } } } }')).toBe(
      2 + 3 * (5 + 1 + 1 + 1),
    )
    expect(cost('{ me { shares { edges { cursor } } } }')).toBe(2 + 50 * 6)
    expect(cost('query Q($ids: [ID!]!) { nodes(ids: $ids) { id } }')).toBe(100 * 6)
  })

  it('includes pages from variables and defaults, clamped to their range', () => {
    const text = `query Q($n: Int = 7) ${inRoot('entries(first: $n) { nodes { name } }')}`
    const page = (n: number) => WAY + n * 6
    expect(cost(text, { n: 3 })).toBe(page(3))
    expect(cost(text)).toBe(page(7))
    expect(cost(text, { n: null })).toBe(page(50))
    expect(cost(text, { n: 1e9 })).toBe(page(1000))
    expect(cost(text, { n: -1 })).toBe(page(1))
    expect(cost(text, { n: 'x' })).toBe(page(1000))
    const spread = `query Q($n: Int) ${inRoot('entries(first: $n) { ...F }')} fragment F on EntryConnection { nodes { name } }`
    expect(cost(spread, { n: 3 })).toBe(page(3))
  })

  it('counts the entries of tags as one scan for all tags of a drive', () => {
    const tags = (fields: string) => cost(`{ me { drive { tags { ${fields} } } } }`)
    expect(tags('name entryCount') - tags('name')).toBeGreaterThanOrEqual(20_000)
    expect(tags('name entryCount')).toBeLessThan(25_000)
  })

  it('counts all entries of a folder, unless an index has its order', () => {
    const first = 'first: 1'
    const entries = (args: string) => cost(inRoot(`entries(${args}) { nodes { id } }`))
    for (const args of [
      'orderBy: { field: NAME, direction: DESC }',
      'orderBy: { field: SIZE }',
      'filter: { kind: FILE }',
      'filter: null',
    ])
      expect(entries(`${first}, ${args}`)).toBe(entries(first))
    for (const args of [
      'orderBy: { field: CREATED_AT }',
      'orderBy: { field: SIZE }, filter: { kind: FILE }',
      'filter: { nameContains: "a" }',
    ])
      expect(entries(`${first}, ${args}`)).toBe(entries(first) + 20_000)
    const nested = (args: string) =>
      cost(
        inRoot(
          `entries(first: 50) { nodes { ... on Folder { entries(first: 5, ${args}) { nodes { id } } } } }`,
        ),
      )
    expect(nested('orderBy: { field: CREATED_AT }')).toBe(
      nested('orderBy: { field: NAME }') + 20_000,
    )
    const many = (n: number) =>
      Array.from(
        { length: n },
        (_, i) => `a${i}: entries(first: 1, orderBy: { field: CREATED_AT }) { nodes { id } }`,
      )
    expect(cost(inRoot(many(20).join(' ')))).toBeGreaterThan(maxCost)
  })

  it('counts a folder by the order and the filter in variables', () => {
    const entries = (definitions: string, args: string, variables: Record<string, unknown>) =>
      cost(
        `query (${definitions}) ${inRoot(`entries(first: 1, ${args}) { nodes { id } }`)}`,
        variables,
      )
    const cheap = entries('$o: EntryOrder', 'orderBy: $o', {})
    expect(entries('$o: EntryOrder', 'orderBy: $o', { o: { field: 'NAME' } })).toBe(cheap)
    expect(entries('$o: EntryOrder', 'orderBy: $o', { o: { field: 'CREATED_AT' } })).toBe(
      cheap + 20_000,
    )
    expect(entries('$o: EntryOrder = { field: CREATED_AT }', 'orderBy: $o', {})).toBe(
      cheap + 20_000,
    )
    expect(entries('$f: EntrySort!', 'orderBy: { field: $f }', { f: 'UPDATED_AT' })).toBe(cheap)
    expect(entries('$f: EntrySort!', 'orderBy: { field: $f }', { f: 'CREATED_AT' })).toBe(
      cheap + 20_000,
    )
    expect(entries('$n: String', 'filter: { nameContains: $n }', {})).toBe(cheap)
    expect(entries('$n: String', 'filter: { nameContains: $n }', { n: 'a' })).toBe(cheap + 20_000)
  })

  it('counts a search as a scan of all names in the drive', () => {
    const search = (n: number) => `s${n}: search(query: "a", first: 1) { nodes { id } }`
    expect(cost(`{ me { drive { ${search(1)} } } }`)).toBeGreaterThan(20_000)
    const shared = (args: string) =>
      cost(`{ sharedFolder(token: "t", first: 1${args}) { entries { name } } }`)
    expect(shared(', query: "a"')).toBe(shared('') + 20_000)
    expect(shared(', orderBy: { field: CREATED_AT }')).toBe(
      shared(', orderBy: { field: SIZE }') + 20_000,
    )
    expect(
      cost(`{ me { drive { ${Array.from({ length: 20 }, (_, n) => search(n)).join(' ')} } } }`),
    ).toBeGreaterThan(maxCost)
  })

  it('counts an aliased value as an item, because aliases can be many', () => {
    expect(cost(inRoot('entries(first: 10) { nodes { name a: name } }'))).toBe(
      WAY + 10 * (5 + 1 + 5),
    )
  })

  it('multiplies aliases, fragments and nesting', () => {
    const aliases = (n: number, each: (i: number) => string) =>
      Array.from({ length: n }, (_, i) => each(i)).join(' ')
    const entries = 'entries(first: 1000) { nodes { name path size } }'
    expect(cost(inRoot(aliases(50, i => `a${i}: ${entries}`)))).toBeGreaterThan(maxCost)
    const fragment = `fragment F on EntryConnection { nodes { ... on Folder { ${entries} } } }`
    expect(
      cost(`${inRoot(aliases(50, i => `a${i}: entries { ...F }`))} ${fragment}`),
    ).toBeGreaterThan(maxCost)
    const shares = (i: number) => `a${i}: shares(first: 1000) { nodes { id url } }`
    expect(cost(`{ me { ${aliases(60, shares)} } }`)).toBeGreaterThan(maxCost)
    expect(
      cost(
        `{ __schema { types { ${aliases(50, i => `a${i}: fields { name args { name type { name } } type { name } }`)} } } }`,
      ),
    ).toBeGreaterThan(maxCost)
    expect(
      cost(
        `{ __type(name: "Mutation") { ${aliases(50, i => `a${i}: fields { name args { name } type { ofType { fields { name args { name } type { name } } } } }`)} } }`,
      ),
    ).toBeGreaterThan(maxCost)
  })

  it('is computed quickly for doubling fragments, and ignores cycles', () => {
    const doubling = Array.from(
      { length: 300 },
      (_, i) => `fragment F${i} on Folder { ...F${i + 1} ... on Folder { ...F${i + 1} } }`,
    )
    const text = `query Q($n: Int) ${inRoot('entries(first: $n) { nodes { name } } ...F0')} ${doubling.join(' ')} fragment F300 on Folder { entries(first: $n) { nodes { name } } }`
    const started = process.cpuUsage()
    expect(cost(text, { n: 10 })).toBeGreaterThan(1e50)
    expect(process.cpuUsage(started).user).toBeLessThan(1_000_000)
    expect(
      cost(`${inRoot('...A')} fragment A on Folder { ...B } fragment B on Folder { name ...A }`),
    ).toBeLessThan(10)
  })
})
