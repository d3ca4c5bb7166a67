import type { Column, Condition, Wanted } from '../../../db/search/expression.ts'
import { classMark, countMark, gramsOf } from '../../../db/search/words.ts'
import type { SearchQuery, Term } from '../../values/search-query.ts'
import { stemsOf } from '../../values/word-form.ts'
import { partOf, wholeOf } from './search-match.ts'

/* What the terms of a query are in the tables of the search index. */

const NAME: readonly Column[] = ['word', 'part']
const TEXT: readonly Column[] = ['text', 'extra']
const OWN: readonly Column[] = ['text', 'extra', 'note', 'name']

/** A term in some columns, in any of its spellings. */
function has(term: Term, columns: readonly Column[]): Condition {
  const { words, others, isPrefix } = term
  const spelled = [words, ...others.map(other => [other])].map(some => ({
    in: columns,
    words: some,
    isPrefix,
  }))
  const [only] = spelled
  return spelled.length === 1 && only ? only : { any: spelled }
}

/** A term or another form of its word in texts. Null if the word has no other forms. */
export function formOf(term: Term): Condition | null {
  const [word = '', ...rest] = term.words
  const stems = rest.length > 0 || term.isPhrase ? [] : stemsOf(word)
  if (stems.length === 0) return null
  return {
    any: [
      has(term, TEXT),
      ...stems.map(stem => ({ in: ['text', 'stem'] as const, words: [stem] })),
    ],
  }
}

export const inText = (term: Term): Condition => has(term, TEXT)
const inForm = (term: Term): Condition => formOf(term) ?? inText(term)

const classes = (types: SearchQuery['types']): Condition[] =>
  types.length === 0
    ? []
    : [{ any: types.map(type => ({ in: ['mark'] as const, words: [classMark(type)] })) }]

type Query = Pick<SearchQuery, 'terms' | 'names' | 'types'>

const required = ({ terms, names }: Query): Term[] => [...terms, ...names]

/** Names that consist of the words of a query, or begin with them. */
export function whole(query: Query, isExact: boolean): Wanted {
  const { words, isPrefix } = wholeOf(required(query))
  const start: Condition[] =
    words.length === 1
      ? [{ in: ['start'], words, isPrefix: isPrefix && !isExact }]
      : [{ in: ['word'], words, isPrefix: isPrefix && !isExact, isStart: true }]
  const count: Condition[] = isExact ? [{ in: ['mark'], words: [countMark(words.length)] }] : []
  return { table: 'name', condition: { all: [...start, ...count, ...classes(query.types)] } }
}

/** Names with all terms. */
export const named = (query: Query): Wanted => ({
  table: 'name',
  condition: {
    all: [...required(query).map(term => has(term, NAME)), ...classes(query.types)],
  },
})

export const ofClasses = (types: SearchQuery['types']): Wanted => ({
  table: 'name',
  condition: { all: classes(types) },
})

/** Folders with a term in their name. */
export const foldersWith = (term: Term): Wanted => ({
  table: 'name',
  condition: { all: [has(term, NAME), ...classes(['folder'])] },
})

/** Entries with all terms in their note or name, and one in their note. */
export const noted = (query: Query): Wanted => ({
  table: 'body',
  condition: {
    all: [
      ...required(query).map(term => has(term, ['note', 'name'])),
      { any: query.terms.map(term => has(term, ['note'])) },
    ],
  },
})

/** Names with all terms, at least one of them inside a word. Null if no term can be. */
export function partly(query: Query): Wanted | null {
  const terms = required(query)
  const grams = terms.map(term => {
    const part = partOf(term)
    return part === null ? null : gramsOf(part)
  })
  const any = grams.flatMap((inside, i) => {
    if (!inside) return []
    // What begins a word is not among the parts of that word.
    const all = grams.flatMap((some, n) => (n === i ? inside : (some?.slice(1) ?? [])))
    return [{ all: [...new Set(all)].map(gram => ({ in: ['letters'] as const, words: [gram] })) }]
  })
  return any.length === 0 ? null : { table: 'gram', condition: { any } }
}

const inName = (query: Query): Condition => ({
  all: required(query).map(term => has(term, ['name'])),
})

/** Texts with all terms, whose names do not have all of them. */
export const textual = (query: Query): Wanted => ({
  table: 'body',
  condition: {
    is: {
      all: [...query.terms.map(inText), ...query.names.map(term => has(term, ['name']))],
    },
    not: inName(query),
  },
})

/** Texts with all terms in any form, but not with all of them as they are. */
export const formed = (query: Query): Wanted => ({
  table: 'body',
  condition: {
    is: { all: [...query.terms.map(inForm), ...query.names.map(term => has(term, ['name']))] },
    not: { any: [{ all: query.terms.map(inText) }, inName(query)] },
  },
})

/** Entries that have all or any of some terms, wherever: in the text, the note or the name. */
export function own(terms: readonly Term[], isAny: boolean): Wanted[] {
  const list = (conditions: Condition[]): Condition =>
    isAny ? { any: conditions } : { all: conditions }
  return [
    {
      table: 'body',
      condition: list(
        terms.map(term => {
          const form = formOf(term)
          return form ? { any: [has(term, OWN), form] } : has(term, OWN)
        }),
      ),
    },
    { table: 'name', condition: list(terms.map(term => has(term, NAME))) },
  ]
}
