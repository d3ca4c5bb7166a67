import { expect, it } from '@jest/globals'
import { oneLookup } from '../../src/access/one-lookup.ts'

/** Credentials that are valid, and what was looked up. */
function world() {
  const valid = new Set(['a', 'b'])
  const begun: string[] = []
  const look = oneLookup(async key => {
    begun.push(key)
    const found = valid.has(key)
    await new Promise(setImmediate)
    return found
  })
  return { valid, begun, look }
}

it('makes one lookup of those that ask for the same at once', async () => {
  const { look, begun } = world()
  expect(await Promise.all(['a', 'b', 'a', 'c', 'a'].map(look))).toEqual([true, true, true, false, true])
  expect(begun).toEqual(['a', 'b', 'c'])
})

it('begins after the last of them has asked', async () => {
  const { look, valid } = world()
  const first = look('a')
  await Promise.resolve()
  valid.delete('a')
  expect(await Promise.all([first, look('a')])).toEqual([false, false])
})

it('tells nobody what was found before they asked', async () => {
  const { look, valid, begun } = world()
  const first = look('a')
  await new Promise(setImmediate)
  expect(begun).toEqual(['a'])
  valid.delete('a')
  expect(await Promise.all([first, look('a')])).toEqual([true, false])
})

it('tells all of a failure, and looks again afterwards', async () => {
  const fails = [true]
  const look = oneLookup(async (key: string) => {
    if (fails.pop()) throw new Error('The database is gone.')
    return key
  })
  const both = await Promise.allSettled([look('a'), look('a')])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await look('a')).toBe('a')
})
