import { describe, expect, it } from '@jest/globals'
import { partsOf, valuesOf, withFilters } from '../../src/console/search/query.ts'
import { parseSearch } from '../../src/values/search-query.ts'
import { fold } from '../../src/values/search-words.ts'

const texts = [
  'invoice march',
  'type:pdf,image invoice',
  'TYPE:pdf in:"Plans 2026/Brücke" drive:me by:anna tag:x tag:"to pay" is:shared',
  '"a phrase" -without -type:folder name:plan',
  'in:"open to the end',
  'by:me  size:>10mb before:2026 after:2026-03-31 ',
  '-by:bob colour:red a:b:c "" - : type: "x"y:z',
]

describe('The filters of the console', () => {
  it.each(texts)('match the filters of the service: %s', text => {
    const query = parseSearch(text)
    const last = <T>(values: T[]) => values.at(-1) ?? null
    expect(last(valuesOf(text, 'by').filter(Boolean).map(fold))).toBe(query.by)
    expect(last(valuesOf(text, 'drive').filter(Boolean).map(fold))).toBe(query.drive)
    const folders = valuesOf(text, 'in').map(value => value.split('/').map(fold).filter(Boolean))
    expect(last(folders)).toEqual(query.in)
    expect(valuesOf(text, 'tag').map(fold)).toEqual(query.tags)
    const types = valuesOf(text, 'type').flatMap(value => value.split(',').filter(Boolean))
    expect(types).toEqual(query.types)
    expect(valuesOf(text, 'is').includes('shared')).toBe(query.isShared)
  })

  it.each(texts)('leave other text unchanged: %s', text => {
    const others = (of: string) => {
      const { by: _, hints: __, ...rest } = parseSearch(of)
      return rest
    }
    const set = withFilters(text, { by: 'Anna "B" C' })
    expect(parseSearch(set).by).toBe(fold('Anna  B  C'))
    expect(others(set)).toEqual(others(text))
    const cleared = withFilters(set, { by: null })
    expect(parseSearch(cleared).by).toBeNull()
    expect(others(cleared)).toEqual(others(text))
  })

  it('come before the words, of which the last may be incomplete', () => {
    const text = withFilters('inv', { type: 'pdf' })
    expect(text).toBe('type:pdf inv')
    expect(parseSearch(text).terms).toMatchObject([{ text: 'inv', isPrefix: true }])
    // The trailing space completes the word.
    expect(parseSearch(withFilters('inv ', { type: 'pdf' })).terms).toMatchObject([
      { text: 'inv', isPrefix: false },
    ])
    expect(withFilters('type:pdf drive:x in:y inv', { drive: null, in: null, type: null })).toBe(
      'inv',
    )
  })

  it('are recognised in any case, also when negated', () => {
    expect(partsOf('-Type:PDF "a b')).toEqual([
      { whole: '-Type:PDF', isNot: true, key: 'type', value: 'PDF' },
      { whole: '"a b', isNot: false, key: undefined, value: 'a b' },
    ])
  })
})
