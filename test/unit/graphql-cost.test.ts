import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { getIntrospectionQuery, Kind, type OperationDefinitionNode, parse } from 'graphql'
import { schema } from '../../schema/index.ts'
import { createCosts } from '../../src/gateway/graphql-cost.ts'
import { settings } from '../../src/settings.ts'

const costOf = createCosts(schema)
const maxCost = Number(settings.GRAPHQL_MAX_COST.default)

function operationsOf(text: string): [string, () => { cost: number; fields: number }][] {
  const document = parse(text)
  const operations = document.definitions.filter(
    (d): d is OperationDefinitionNode => d.kind === Kind.OPERATION_DEFINITION,
  )
  return operations.map(operation => [
    operation.name?.value ?? 'query',
    () => ({ cost: costOf(document, operation).of({}), fields: costOf(document, operation).fields }),
  ])
}

function cost(text: string, variables: Record<string, unknown> = {}): number {
  const document = parse(text)
  const [operation] = document.definitions.filter(d => d.kind === Kind.OPERATION_DEFINITION)
  return operation ? costOf(document, operation).of(variables) : Number.NaN
}

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

describe('What documents cost', () => {
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
  ])('lets clients of the service through: %s', (_name, measure) => {
    expect(measure().cost).toBeLessThan(maxCost)
  })

  it.each([
    [
      'files',
      '{ fileTree(limit: 10000) { path folders nextCursor files { name fileType size md5Checksum id createdAt updatedAt } } }',
    ],
    [
      'files without a limit',
      '{ fileTree { files { name fileType size md5Checksum id createdAt updatedAt } folders } }',
    ],
    [
      'files of a workspace',
      '{ workspaceFileTree(workspaceId: "x") { path nextCursor files { id name fileType size md5Checksum uploadedBy uploadedByEmail createdAt } folders { name createdByEmail createdAt } } }',
    ],
    [
      'shares',
      '{ sentShares { nextCursor files { id sharingToken sharingLink fileId fileName fileType size md5Checksum sharedBy sharedFor createdAt expiresAt seen passwordProtected downloads maxDownloads } } }',
    ],
    [
      'objects',
      '{ bucket(limit: 10000) { usedBytes objects { name contentType size md5 dateCreated dateUpdated bucket } nextCursor } }',
    ],
    [
      'folders within folders',
      '{ folder { folders { edges { node { path folders { edges { node { path files { edges { node { path size md5Checksum } } } } } } } } } } }',
    ],
    [
      'a page of a thousand',
      '{ folder { files(first: 1000) { edges { cursor node { id name path folder fileType size md5Checksum createdAt updatedAt note } } pageInfo { endCursor } } } }',
    ],
  ])('lets whole pages through, as large as REST gives them: %s', (_what, text) => {
    expect(cost(text)).toBeLessThan(maxCost)
    expect(cost(text)).toBeGreaterThan(1000)
  })

  it('counts values, objects and items by their pages', () => {
    expect(cost('{ me { email } }')).toBe(2)
    expect(cost('{ fileTree(limit: 10) { files { name size } } }')).toBe(1 + 10 * (5 + 2))
    expect(cost('{ fileTree { files { name } } }')).toBe(1 + 10_000 * 6)
    expect(cost('{ fileTree(limit: 10) { folders } }')).toBe(1 + 10 * 2)
    expect(cost('{ shares(first: 3) { edges { cursor node { id } } } }')).toBe(1 + 3 * (5 + 1 + 1 + 1))
    expect(cost('{ shares { edges { cursor } } }')).toBe(1 + 50 * 6)
    expect(cost('{ shares(last: 3) { edges { cursor } } }')).toBe(1 + 3 * 6)
    expect(cost('{ shares(first: 3, last: 4) { edges { cursor } } }')).toBe(1 + 4 * 6)
  })

  it('counts the variables of a page, their defaults, and what is out of range as the nearest', () => {
    const text = 'query Q($n: Int = 7) { fileTree(limit: $n) { files { name } } }'
    const page = (n: number) => 1 + n * 6
    expect(cost(text, { n: 3 })).toBe(page(3))
    expect(cost(text)).toBe(page(7))
    expect(cost(text, { n: null })).toBe(page(10_000))
    expect(cost(text, { n: 1e9 })).toBe(page(10_000))
    expect(cost(text, { n: -1 })).toBe(page(1))
    expect(cost(text, { n: 'x' })).toBe(page(10_000))
    expect(
      cost('query Q($n: Int) { fileTree(limit: $n) { ...F } } fragment F on FileTree { files { name } }', { n: 3 }),
    ).toBe(page(3))
  })

  it('counts a value under another name as an item: there may be many of one', () => {
    expect(cost('{ fileTree(limit: 10) { files { name a: name } } }')).toBe(1 + 10 * (5 + 1 + 5))
  })

  it('multiplies aliases, fragments and nesting', () => {
    const aliases = (n: number, each: (i: number) => string) => Array.from({ length: n }, (_, i) => each(i)).join(' ')
    const files = 'files(first: 1000) { edges { node { name path size } } }'
    expect(cost(`{ folder { ${aliases(50, i => `a${i}: ${files}`)} } }`)).toBeGreaterThan(maxCost)
    expect(
      cost(
        `{ folder { ${aliases(50, i => `a${i}: folders { ...F }`)} } } fragment F on FolderConnection { edges { node { ${files} } } }`,
      ),
    ).toBeGreaterThan(maxCost)
    expect(cost(`{ ${aliases(50, i => `a${i}: folders { folders }`)} }`)).toBeGreaterThan(maxCost)
    expect(cost(`{ ${aliases(10, i => `a${i}: fileTree { files { name } }`)} }`)).toBeGreaterThan(maxCost)
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

  it('measures fragments that double in no time, and does not run in circles', () => {
    const doubling = Array.from(
      { length: 300 },
      (_, i) => `fragment F${i} on Folder { ...F${i + 1} ... on Folder { ...F${i + 1} } }`,
    )
    const text = `query Q($n: Int) { folder { files(first: $n) { edges { node { name } } } ...F0 } } ${doubling.join(' ')} fragment F300 on Folder { files(first: $n) { edges { node { name } } } }`
    const started = process.cpuUsage()
    expect(cost(text, { n: 10 })).toBeGreaterThan(1e50)
    expect(process.cpuUsage(started).user).toBeLessThan(1_000_000)
    expect(cost('{ folder { ...A } } fragment A on Folder { ...B } fragment B on Folder { name ...A }')).toBeLessThan(
      10,
    )
  })
})
