import { describe, expect, it } from '@jest/globals'
import { createTextCache } from '../../src/http/text-cache.ts'

describe('A text cache', () => {
  it('returns the latest value of a key', () => {
    const cache = createTextCache<number>(100)
    cache.set('a', 1)
    cache.set('b', 2)
    cache.set('a', 3)
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([3, 2, undefined])
  })

  it('evicts the least recently used texts beyond its size', () => {
    const cache = createTextCache<string>(10)
    for (const text of ['aaa', 'bbb', 'ccc']) cache.set(text, text)
    cache.get('aaa')
    cache.set('dddd', 'dddd')
    expect(['aaa', 'bbb', 'ccc', 'dddd'].map(text => cache.get(text))).toEqual([
      'aaa',
      undefined,
      'ccc',
      'dddd',
    ])
  })

  it('counts a text once that is set twice, and stores no text that is too long', () => {
    const cache = createTextCache<string>(10)
    for (let i = 0; i < 5; i++) cache.set('aaaa', 'a')
    cache.set('bbbb', 'b')
    expect([cache.get('aaaa'), cache.get('bbbb')]).toEqual(['a', 'b'])
    cache.set('c'.repeat(11), 'c')
    expect(cache.get('c'.repeat(11))).toBeUndefined()
    cache.set('aaaa', 'a')
    expect(cache.get('aaaa')).toBe('a')
  })
})
