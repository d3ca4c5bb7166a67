import type { PlacedRow } from '../../../db/queries/entry-list.ts'
import { gramsOf } from '../../../db/search/words.ts'
import type { FileClass } from '../../formats/file-class.ts'
import { fileClassOf } from '../../formats/file-class.ts'
import type { SearchField } from '../../values/search-order.ts'
import type { SearchQuery, Term } from '../../values/search-query.ts'
import { fold, wordsOf, wordsOfName } from '../../values/search-words.ts'

/** How well an entry matches, best first. */
export const RANK = {
  exact: 0,
  beginning: 1,
  name: 2,
  note: 3,
  /** Inside a word of the name. */
  part: 4,
  content: 5,
  form: 6,
  mixed: 7,
} as const
export type Rank = (typeof RANK)[keyof typeof RANK]

/** A text, prepared for comparison with the terms of a query. */
export interface Searched {
  words: ReadonlySet<string>
  sequence: readonly string[]
}

export function searched(text: string, isName = false): Searched {
  const { sequence, others } = isName ? wordsOfName(text) : wordsOf(text)
  return { words: new Set([...sequence, ...others]), sequence }
}

/** Whether words contain this word, or one with this prefix. */
function hasWord(words: ReadonlySet<string>, word: string, isPrefix: boolean): boolean {
  if (words.has(word)) return true
  if (!isPrefix) return false
  for (const other of words) if (other.startsWith(word)) return true
  return false
}

/** Whether a sequence has these words one after the other, from a place on. */
function hasAt(
  sequence: readonly string[],
  at: number,
  { words, isPrefix }: Pick<Term, 'words' | 'isPrefix'>,
): boolean {
  const last = words.length - 1
  return (
    at + last < sequence.length &&
    words.every((word, n) => {
      const there = sequence[at + n] ?? ''
      return there === word || (isPrefix && n === last && there.startsWith(word))
    })
  )
}

/** Whether a text contains a term: a single word, or the words of a phrase in sequence. */
export function hasTerm({ words, sequence }: Searched, term: Term): boolean {
  const [first, ...rest] = term.words
  if (first === undefined) return false
  if (term.others.some(other => hasWord(words, other, term.isPrefix))) return true
  if (rest.length === 0) return hasWord(words, first, term.isPrefix)
  return sequence.some((_, i) => hasAt(sequence, i, term))
}

/** Whether a word contains the word of a term, which is at least three letters long. */
export function hasPart({ words }: Searched, term: Term): boolean {
  const wanted = partOf(term)
  if (wanted === null) return false
  for (const word of words) if (word.includes(wanted, 1)) return true
  return false
}

/** The word of a term that is looked for inside other words. Null if there is none. */
export function partOf({ words: [word = '', ...rest], isPhrase }: Term): string | null {
  return isPhrase || rest.length > 0 || gramsOf(word).length === 0 ? null : word
}

export const classOf = ({
  kind,
  name,
  contentType,
}: Pick<PlacedRow, 'kind' | 'name' | 'contentType'>): FileClass | null =>
  kind === 0 ? 'folder' : fileClassOf(name, contentType)

/** Whether a file or folder passes the filters that need only its row. */
export function passes(query: SearchQuery, row: PlacedRow): boolean {
  const { types, withoutTypes, minSize, maxSize, since, until } = query
  if (types.length > 0 || withoutTypes.length > 0) {
    const fileClass = classOf(row)
    if (types.length > 0 && (fileClass === null || !types.includes(fileClass))) return false
    if (fileClass !== null && withoutTypes.includes(fileClass)) return false
  }
  if (minSize !== null && row.size < minSize) return false
  if (maxSize !== null && row.size > maxSize) return false
  if (since !== null && row.updatedAt < since) return false
  if (until !== null && row.updatedAt >= until) return false
  return true
}

/** Whether the folders, from the root down, contain the wanted names as nested folders. */
export function isIn(wanted: readonly string[], folders: readonly string[]): boolean {
  const folded = folders.map(fold)
  return folded.some((_, i) => wanted.every((name, n) => folded[i + n] === name))
}

/** Data of an entry beyond its row. */
export interface Surroundings {
  /** The names of the parent folders that the caller can see. */
  folders: readonly string[]
  note: string | undefined
  tags: readonly string[]
  /** Whether the text of the entry contains a term. */
  inText?: (term: Term) => boolean
  /** Whether the text of the entry contains a form of the word of a term. */
  inForm?: (term: Term) => boolean
}

/** How well an entry matches by its own texts, and the terms that it lacks. */
export interface Fit {
  rank: Rank
  fields: Set<SearchField>
  /** The terms that none of the entry's texts contains. */
  missing: Term[]
}

/** Computes how an entry matches. */
export function fitOf(
  { terms, names }: Pick<SearchQuery, 'terms' | 'names'>,
  { name }: { name: string },
  { folders, note, tags, inText = () => false, inForm = () => false }: Surroundings,
): Fit {
  const ofName = searched(name, true)
  const ofNote = note === undefined ? null : searched(note)
  const ofTags = tags.map(tag => searched(tag, true))
  const ofPath = folders.map(folder => searched(folder, true))
  const fields = new Set<SearchField>()
  const missing: Term[] = []
  const all = [...terms, ...names]
  const inName = (term: Term) => hasTerm(ofName, term)
  const isNoted = (term: Term) =>
    ofTags.some(tag => hasTerm(tag, term)) || Boolean(ofNote && hasTerm(ofNote, term))
  // Inside words of its name: a better match than any text.
  if (
    !all.every(term => inName(term) || isNoted(term)) &&
    all.every(term => inName(term) || hasPart(ofName, term))
  )
    return { rank: RANK.part, fields: fields.add('name'), missing }
  let [byPath, byText, byForm, byPart] = [false, false, false, false]
  for (const term of all) {
    if (inName(term)) fields.add('name')
    else if (ofTags.some(tag => hasTerm(tag, term))) fields.add('tag')
    else if (ofNote && hasTerm(ofNote, term)) fields.add('note')
    else if (inText(term)) {
      fields.add('content')
      byText = true
    } else if (ofPath.some(folder => hasTerm(folder, term))) {
      fields.add('path')
      byPath = true
    } else if (inForm(term)) {
      fields.add('content')
      byForm = true
    } else if (hasPart(ofName, term)) {
      fields.add('name')
      byPart = true
    } else missing.push(term)
  }
  if (missing.length > 0 || byPath || byPart) return { rank: RANK.mixed, fields, missing }
  if (byForm) return { rank: terms.every(inForm) ? RANK.form : RANK.mixed, fields, missing }
  if (byText) return { rank: terms.every(inText) ? RANK.content : RANK.mixed, fields, missing }
  if (fields.has('note') || fields.has('tag')) return { rank: RANK.note, fields, missing }
  const whole = wholeOf(all)
  if (!hasAt(ofName.sequence, 0, whole)) return { rank: RANK.name, fields, missing }
  const isWhole =
    ofName.sequence.length === whole.words.length &&
    hasAt(ofName.sequence, 0, { ...whole, isPrefix: false })
  return { rank: isWhole ? RANK.exact : RANK.beginning, fields, missing }
}

/** The words of all terms one after the other, as a name may have them. */
export const wholeOf = (terms: readonly Term[]): Pick<Term, 'words' | 'isPrefix'> => ({
  words: terms.flatMap(({ words }) => words),
  isPrefix: terms.at(-1)?.isPrefix ?? false,
})

/** Whether an entry contains a term that the query excludes. */
export function isExcluded(
  query: SearchQuery,
  { name }: { name: string },
  { note, tags, folders, inText = () => false }: Surroundings,
): boolean {
  if (query.without.length === 0) return false
  const texts = [
    searched(name, true),
    ...[...(note === undefined ? [] : [note]), ...tags, ...folders].map(text => searched(text)),
  ]
  return query.without.some(term => texts.some(text => hasTerm(text, term)) || inText(term))
}
