import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { getIntrospectionQuery, parse } from 'graphql'
import { hasManyPairs } from '../../src/graphql/pairs.ts'
import { many } from '../support/graphql-probe.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const components = (count: number, fields: string) =>
  `{ me { ${many(count, i => `...F${i}`)} } } ${many(count, i => `fragment F${i} on Viewer { ${fields} }`)}`

describe('The field pairs that validation compares', () => {
  it.each([
    ['operations of the test client', read('test/client/operations.graphql')],
    ['operations of the command line', read('src/cli/operations.graphql')],
    ['introspection', getIntrospectionQuery({ oneOf: true, inputValueDeprecation: true })],
    ['80 components', components(80, '__typename id')],
    [
      'components on several levels',
      many(20, i => `{ me { drive { root { entries { nodes { id ...A } } } } } } #${i}\n`),
    ],
    ['one field 300 times', `{ me { ${'id '.repeat(300)} } }`],
    [
      'a fragment in 50 places',
      `{ ${many(50, i => `a${i}: me { ...F }`)} } fragment F on Viewer { id email name id }`,
    ],
    [
      'fragments that double',
      `{ me { ...F0 } } ${many(90, i => `fragment F${i} on Viewer { ...F${i + 1} ...F${i + 1} }`)}`,
    ],
  ])('are few: %s', (_name, text) => {
    expect(hasManyPairs(parse(text))).toBe(false)
  })

  it.each([
    ['one field', `{ me { ${'id '.repeat(320)} } }`],
    ['several fields with one name', `{ me { ${'x: id x: email '.repeat(160)} } }`],
    ['one object', `{ ${'me { id } '.repeat(150)} }`],
    ['objects in objects', `{ ${'me { plan { name } } '.repeat(100)} }`],
    ['inline fragments', `{ me { ${'... { id } '.repeat(320)} } }`],
    ['fragments', components(150, 'id')],
    [
      'a chain of fragments',
      `{ me { ...F0 } } ${many(150, i => `fragment F${i} on Viewer { id ...F${i + 1} }`)}`,
    ],
    [
      'a fragment that nothing spreads',
      `{ me { id } } fragment F on Viewer { ${'id '.repeat(320)} }`,
    ],
    [
      'fragments that multiply',
      `{ a { ...F0 } } ${many(60, i => `fragment F${i} on A { id ...F${i + 1} a { ...F${i + 1} } a { id ...F${i + 1} } }`)}`,
    ],
  ])('are too many: %s', (_name, text) => {
    expect(hasManyPairs(parse(text))).toBe(true)
  })
})
