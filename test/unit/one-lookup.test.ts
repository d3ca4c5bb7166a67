import { expect, it } from '@jest/globals'
import { oneLookup } from '../../src/access/one-lookup.ts'

/** Credentials that are valid, and what was looked up. */
function world() {
  const valid = new Set(['a', 'b'])
  const begun: string[][] = []
  const look = oneLookup(async keys => {
    begun.push(keys)
    const found = new Map(keys.filter(key => valid.has(key)).map(key => [key, key.toUpperCase()]))
    await new Promise(setImmediate)
    return found
  })
  return { valid, begun, look }
}

it('makes one lookup of all that are asked for at once', async () => {
  const { look, begun } = world()
  expect(await Promise.all(['a', 'b', 'a', 'c', 'a'].map(look))).toEqual(['A', 'B', 'A', null, 'A'])
  expect(begun).toEqual([['a', 'b', 'c']])
})

it('looks for at most 64 at a time', async () => {
  const { look, begun, valid } = world()
  const keys = Array.from({ length: 130 }, (_, i) => `key-${i}`)
  for (const key of keys) valid.add(key)
  expect(await Promise.all(keys.map(look))).toEqual(keys.map(key => key.toUpperCase()))
  expect(begun.map(({ length }) => length)).toEqual([64, 64, 2])
})

it('begins after the last of them has asked', async () => {
  const { look, valid } = world()
  const first = look('a')
  await Promise.resolve()
  valid.delete('a')
  expect(await Promise.all([first, look('a')])).toEqual([null, null])
})

it('tells nobody what was found before they asked', async () => {
  const { look, valid, begun } = world()
  const first = look('a')
  await new Promise(setImmediate)
  expect(begun).toEqual([['a']])
  valid.delete('a')
  expect(await Promise.all([first, look('a')])).toEqual(['A', null])
})

it('tells all of a failure, and looks again afterwards', async () => {
  const fails = [true]
  const look = oneLookup(async (keys: string[]) => {
    if (fails.pop()) throw new Error('The database is gone.')
    return new Map(keys.map(key => [key, key]))
  })
  const both = await Promise.allSettled(['a', 'a', 'b'].map(look))
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(await look('a')).toBe('a')
})
