import type { PlacedRow } from '../../../db/queries/entry-list.ts'
import type { FileClass } from '../../formats/file-class.ts'
import { fileClassOf } from '../../formats/file-class.ts'
import type { SearchField } from '../../values/search-order.ts'
import type { SearchQuery, Term } from '../../values/search-query.ts'
import { fold, hasWord, wordsIn, wordsOfName } from '../../values/search-words.ts'

/** How well an entry matches, best first. */
export const RANK = {
  exact: 0,
  beginning: 1,
  name: 2,
  note: 3,
  content: 4,
  form: 5,
  mixed: 6,
} as const
export type Rank = (typeof RANK)[keyof typeof RANK]

/** A text, prepared for comparison with the terms of a query. */
export interface Searched {
  words: ReadonlySet<string>
  sequence: readonly string[]
}

export function searched(text: string, isName = false): Searched {
  const sequence = Array.from(wordsIn(text), ({ word }) => word)
  return { words: isName ? wordsOfName(text) : new Set(sequence), sequence }
}

/** Whether a text contains a term: a single word, or the words of a phrase in sequence. */
export function hasTerm({ words, sequence }: Searched, { words: wanted, isPrefix }: Term): boolean {
  const [first, ...rest] = wanted
  if (first === undefined) return false
  if (rest.length === 0) return hasWord(words, first, isPrefix)
  const last = wanted.length - 1
  return sequence.some(
    (_, i) =>
      i + last < sequence.length &&
      wanted.every((word, n) => {
        const there = sequence[i + n] ?? ''
        return there === word || (isPrefix && n === last && there.startsWith(word))
      }),
  )
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
  let [byPath, byText, byForm] = [false, false, false]
  for (const term of [...terms, ...names]) {
    if (hasTerm(ofName, term)) fields.add('name')
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
    } else missing.push(term)
  }
  if (missing.length > 0 || byPath) return { rank: RANK.mixed, fields, missing }
  if (byForm) return { rank: terms.every(inForm) ? RANK.form : RANK.mixed, fields, missing }
  if (byText) return { rank: terms.every(inText) ? RANK.content : RANK.mixed, fields, missing }
  if (fields.has('note') || fields.has('tag')) return { rank: RANK.note, fields, missing }
  const whole = fold([...terms, ...names].map(({ text }) => text).join(' '))
  const folded = fold(name)
  if (folded === whole) return { rank: RANK.exact, fields, missing }
  return { rank: folded.startsWith(whole) ? RANK.beginning : RANK.name, fields, missing }
}

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
