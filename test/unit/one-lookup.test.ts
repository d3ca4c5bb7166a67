import { expect, it } from '@jest/globals'
import { oneLookup } from '../../src/access/one-lookup.ts'

/** A set of valid credentials, and the lookups so far. */
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

it('combines simultaneous requests into one lookup', async () => {
  const { look, begun } = world()
  expect(await Promise.all(['a', 'b', 'a', 'c', 'a'].map(look))).toEqual(['A', 'B', 'A', null, 'A'])
  expect(begun).toEqual([['a', 'b', 'c']])
})

it('looks up at most 64 keys at a time', async () => {
  const { look, begun, valid } = world()
  const keys = Array.from({ length: 130 }, (_, i) => `key-${i}`)
  for (const key of keys) valid.add(key)
  expect(await Promise.all(keys.map(look))).toEqual(keys.map(key => key.toUpperCase()))
  expect(begun.map(({ length }) => length)).toEqual([64, 64, 2])
})

it('starts after the last request of a tick', async () => {
  const { look, valid } = world()
  const first = look('a')
  await Promise.resolve()
  valid.delete('a')
  expect(await Promise.all([first, look('a')])).toEqual([null, null])
})

it('returns no result that was found before the request', async () => {
  const { look, valid, begun } = world()
  const first = look('a')
  await new Promise(setImmediate)
  expect(begun).toEqual([['a']])
  valid.delete('a')
  expect(await Promise.all([first, look('a')])).toEqual(['A', null])
})

it('fails all requests after an error, and looks up again afterwards', async () => {
  const fails = [true]
  const look = oneLookup(async (keys: string[]) => {
    if (fails.pop()) throw new Error('The database is gone.')
    return new Map(keys.map(key => [key, key]))
  })
  const both = await Promise.allSettled(['a', 'a', 'b'].map(look))
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(await look('a')).toBe('a')
})
