import { describe, expect, it } from '@jest/globals'
import { Kind, parse } from 'graphql'
import { schema } from '../../schema/index.ts'
import { createCosts } from '../../src/graphql/cost.ts'

const costOf = createCosts(schema)

function cost(text: string, variables: Record<string, unknown> = {}): number {
  const document = parse(text)
  const [operation] = document.definitions
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('The operation comes first.')
  return costOf(document, operation).of(variables)
}

const refs = (count: number) => Array.from({ length: count }, (_, i) => ({ id: String(i) }))
const literal = (count: number) => `[${'{ id: "1" } '.repeat(count)}]`

// Two values besides the entries: the payload, and `filesDeleted`.
const MOST = 2 + 2 * 1_000

describe('A list as long as its input', () => {
  it('is counted in the document', () => {
    const of = (input: string) =>
      cost(`mutation { deleteEntries(input: ${input}) { filesDeleted deletedIds } }`)
    expect(of(`{ entries: ${literal(3)} }`)).toBe(2 + 2 * 3)
    expect(of(`{ entries: ${literal(1_500)} }`)).toBe(MOST)
    expect(of('{ recursive: true }')).toBe(MOST)
  })

  it('is counted in variables, whole or in parts', () => {
    const whole =
      'mutation A($i: DeleteEntriesInput!) { deleteEntries(input: $i) { filesDeleted deletedIds } }'
    const part =
      'mutation A($e: [EntryRef!]!) { deleteEntries(input: { entries: $e }) { filesDeleted deletedIds } }'
    expect(cost(whole, { i: { entries: refs(4) } })).toBe(2 + 2 * 4)
    expect(cost(part, { e: refs(4) })).toBe(2 + 2 * 4)
    for (const entries of [refs(1_500), 'many', null, undefined, { length: 1 }]) {
      expect(cost(whole, { i: { entries } })).toBe(MOST)
      expect(cost(part, { e: entries })).toBe(MOST)
    }
    expect(cost(whole, { i: 1 })).toBe(MOST)
    expect(cost(whole)).toBe(MOST)
  })

  it('is counted for each of several mutations that share a fragment', () => {
    const fragment = 'fragment F on DeleteEntriesPayload { filesDeleted deletedIds }'
    const one = (name: string, count: number) =>
      `${name}: deleteEntries(input: { entries: ${literal(count)} }) { ...F }`
    expect(cost(`mutation { ${one('a', 3)} ${one('b', 7)} } ${fragment}`)).toBe(2 * 2 + 2 * (3 + 7))
  })

  it('is counted for nodes by their ids', () => {
    const ids = (count: number) => JSON.stringify(Array.from({ length: count }, () => '1'))
    expect(cost(`{ nodes(ids: ${ids(2)}) { id } }`)).toBe(2 * (5 + 1))
    expect(cost('query A($ids: [ID!]!) { nodes(ids: $ids) { id } }')).toBe(100 * (5 + 1))
  })
})
