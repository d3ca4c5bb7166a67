import { describe, expect, it } from '@jest/globals'
import { hasTerm, searched } from '../../src/services/search/search-match.ts'
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
    ['⑴ plan', 'The 1 plan', true],
    ['a ⒜*', 'of a (a)', true],
    ['plan the', 'The plan', false],
  ])('treats special characters as text: %s', (query, text, isFound) => {
    const [term] = parseSearch(`"${query}"`).terms
    if (!term) throw new Error('No term.')
    expect(hasTerm(searched(text), term)).toBe(isFound)
  })
})

describe('A word of a query', () => {
  const finds = (query: string, text: string): boolean => {
    const { terms } = parseSearch(`${query} `)
    return terms.length > 0 && terms.every(term => hasTerm(searched(text), term))
  }

  it.each([
    ['Donaudampfschiff', 'Donau\u00addampf\u00adschiff'],
    ['میخواهم', 'من می\u200cخواهم'],
    ['می\u200cخواهم', 'من میخواهم'],
    ['کتاب', 'كتاب'],
    ['42', 'رقم ٤٢'],
    ['42', 'شماره ۴۲'],
    ['فاتورة', 'الفاتورة'],
    ['Rechnung', 'die Rech-\nnung vom'],
    ['email', 'Bitte per E-Mail an'],
    ['E-Mail', 'Bitte per email an'],
    ['well-known', 'a well-known word'],
    ['known', 'a well-known word'],
    ['Juergensen', 'Herr Jürgensen'],
    ['Jürgensen', 'Herr Juergensen'],
    ['Jurgensen', 'Herr Jürgensen'],
    ['DE89370400440532013000', 'Konto DE89 3704 0044 0532 0130 00, danke'],
    ['DE89 3704 0044', 'Konto DE89 3704 0044 0532 0130 00, danke'],
    ['연차보고서', '연차보고서를 작성했습니다'],
    ['학교', '학교에서'],
    ['ガス', 'ｶﾞｽの料金'],
    ['น้ำ', 'น้ํา'],
    ['東京都', '東京都'],
  ])('%s is found in: %s', (query, text) => {
    expect(finds(query, text)).toBe(true)
  })

  it.each([
    ['ガス', 'カス'],
    ['カス', 'ガス'],
    ['nung', 'Rechnung'],
    ['"E-Mail"', 'per email'],
  ])('%s is not found in: %s', (query, text) => {
    expect(finds(query, text)).toBe(false)
  })
})
