import { describe, expect, it } from '@jest/globals'
import { fold } from '../../src/derive/words.ts'
import { hasPhrase } from '../../src/services/search/text-match.ts'
import { parseSearch } from '../../src/values/search-query.ts'

const wordsOf = (text: string) => {
  const { terms, without, names } = parseSearch(text)
  return [...terms, ...without, ...names].flatMap(({ words }) => words)
}

describe('A search', () => {
  it('limits its words, including those of phrases', () => {
    const phrase = `"${Array.from({ length: 240 }, (_, i) => `w${i}`).join(' ')}"`
    const { terms, hints } = parseSearch(`before ${phrase} "and behind"`)
    expect(terms.map(({ words }) => words.length)).toEqual([1, 39])
    expect(hints).toHaveLength(2)
    expect(wordsOf(`${phrase} -${phrase} name:${phrase} last`)).toHaveLength(40)
    expect(parseSearch('a short "phrase of some words"').hints).toEqual([])
  })

  it.each([
    ['⑴ plan', 'The ⑴ plan', true],
    ['⑴ plan', 'The 1 plan', false],
    ['a ⒜*', 'of a (a)', true],
  ])('treats special characters as text: %s', (query, text, isFound) => {
    const [term] = parseSearch(`"${query}"`).terms
    if (!term) throw new Error('No term.')
    expect(hasPhrase(fold(text), term)).toBe(isFound)
  })
})
