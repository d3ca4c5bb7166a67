import { type FileClass, fileClasses } from '../formats/file-class.ts'
import { fold, joinedWords, wordsOf } from './search-words.ts'

/** A search term: a word, a prefix, or a phrase. */
export interface Term {
  /** The term as typed. */
  text: string
  /** Folded words: one for a word, several for a phrase. */
  words: string[]
  /** Other spellings of the whole term, as one word. */
  others: string[]
  /** Whether the last word is a prefix. */
  isPrefix: boolean
  isPhrase: boolean
}

/** A part of a query that was probably meant differently. */
export interface SearchHint {
  term: string
  message: string
}

export interface SearchQuery {
  terms: Term[]
  without: Term[]
  /** Terms for the name only. */
  names: Term[]
  types: FileClass[]
  withoutTypes: FileClass[]
  minSize: number | null
  maxSize: number | null
  /** Range of the last change, in milliseconds since 1970: inclusive start, exclusive end. */
  since: number | null
  until: number | null
  /** Folded. */
  by: string | null
  /** Folded names of nested folders. */
  in: string[] | null
  /** Folded: `me`, or the name or slug of a workspace. */
  drive: string | null
  isShared: boolean
  tags: string[]
  hints: SearchHint[]
}

/** The maximum number of terms. More terms only add cost. */
const MAX_TERMS = 12
/** The maximum number of words, including those in phrases, because each is read from the index. */
const MAX_WORDS = 40

const PART = /(-?)(?:([\p{L}]+):)?(?:"([^"]*)(?:"|$)|(\S+))/gu
const UNITS: Record<string, number> = { b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 }

const typeNames: Record<string, FileClass> = {
  ...Object.fromEntries(fileClasses.map(name => [name, name])),
  images: 'image',
  photo: 'image',
  photos: 'image',
  videos: 'video',
  music: 'audio',
  sound: 'audio',
  documents: 'document',
  doc: 'document',
  sheet: 'spreadsheet',
  table: 'spreadsheet',
  slides: 'presentation',
  zip: 'archive',
  folders: 'folder',
  directory: 'folder',
}

const countTerms = ({ terms, without, names }: SearchQuery): number =>
  terms.length + without.length + names.length

const countWords = ({ terms, without, names }: SearchQuery): number =>
  [...terms, ...without, ...names].reduce((sum, { words }) => sum + words.length, 0)

function termOf(
  text: string,
  { isPhrase, isPrefix }: { isPhrase: boolean; isPrefix: boolean },
): Term | null {
  const { sequence, others } = wordsOf(text)
  const words = [...sequence]
  if (words.length === 0) return null
  return {
    text,
    words,
    others: isPhrase ? [] : words.length === 1 ? [...others] : joinedWhole(text),
    isPrefix,
    isPhrase: isPhrase || words.length > 1,
  }
}

/** The parts of a text as one word, if nothing else is in it, as in "E-Mail". */
const joinedWhole = (text: string): string[] =>
  Array.from(joinedWords(text)).flatMap(({ word, start, end }) =>
    start === 0 && end === text.length ? [word] : [],
  )

/** Parses "10mb" or "1.5 GiB" into bytes. */
function readSize(text: string): { from: number | null; to: number | null } | null {
  const [, sign = '', figure = '', unit = ''] =
    /^([<>]=?)?(\d+(?:[.,]\d+)?)([kmgt]?)i?b?$/i.exec(text) ?? []
  if (figure === '') return null
  const bytes = Math.round(Number(figure.replace(',', '.')) * (UNITS[unit.toLowerCase()] ?? 1))
  if (!Number.isSafeInteger(bytes)) return null
  if (sign === '<') return { from: null, to: bytes - 1 }
  if (sign === '<=') return { from: null, to: bytes }
  return { from: sign === '>' ? bytes + 1 : bytes, to: null }
}

/** The start of a year, a month or a day, in UTC. */
function readDate(text: string): number | null {
  const [, year, month = '1', day = '1'] =
    /^(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?$/.exec(text) ?? []
  if (year === undefined) return null
  const time = Date.UTC(Number(year), Number(month) - 1, Number(day))
  const date = new Date(time)
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day) ? time : null
}

/**
 * Parses a search query. Refuses nothing: treats invalid filters as words, with a hint.
 * @param text up to MAX_SEARCH characters
 */
export function parseSearch(text: string): SearchQuery {
  const query: SearchQuery = {
    terms: [],
    without: [],
    names: [],
    types: [],
    withoutTypes: [],
    tags: [],
    hints: [],
    minSize: null,
    maxSize: null,
    since: null,
    until: null,
    by: null,
    in: null,
    drive: null,
    isShared: false,
  }
  const given = text.normalize('NFC')
  const parts = [...given.matchAll(PART)]
  for (const [i, part] of parts.entries()) {
    const [whole, minus = '', key, quoted, bare = ''] = part
    const isLast = i === parts.length - 1 && part.index + whole.length === given.length
    const value = quoted ?? bare
    const hint = (message: string) => query.hints.push({ term: whole, message })
    const said =
      key === undefined ? null : readFilter(query, key.toLowerCase(), value, minus === '-', isLast)
    if (said === 'taken') continue
    if (countTerms(query) >= MAX_TERMS) {
      hint(`A search looks for up to ${MAX_TERMS} words; this one is left out.`)
      continue
    }
    if (said !== null) hint(said)
    const isPhrase = quoted !== undefined
    const term = termOf(key === undefined ? value : `${key}:${value}`, {
      isPhrase,
      isPrefix: isLast && !isPhrase,
    })
    if (term === null) continue
    const left = MAX_WORDS - countWords(query)
    if (term.words.length > left) {
      hint(`A search looks for up to ${MAX_WORDS} words; those behind them are left out.`)
      if (left === 0) continue
      Object.assign(term, { words: term.words.slice(0, left), others: [], isPrefix: false })
    }
    if (minus === '-') query.without.push({ ...term, isPrefix: false })
    else query.terms.push(term)
  }
  return query
}

/** @returns `taken`, or why the filter is treated as words */
function readFilter(
  query: SearchQuery,
  key: string,
  value: string,
  isNot: boolean,
  isLast: boolean,
): string {
  const wordsInstead = 'It is read as words.'
  if (key === 'type') {
    const names = value.toLowerCase().split(',').filter(Boolean)
    const types = names.flatMap(name => typeNames[name] ?? [])
    if (types.length === 0 || types.length < names.length)
      return `A type is one of ${fileClasses.join(', ')}. ${wordsInstead}`
    const list = isNot ? query.withoutTypes : query.types
    for (const type of types) if (!list.includes(type)) list.push(type)
    return 'taken'
  }
  if (isNot) return `Only words and types can be excluded with "-". ${wordsInstead}`
  if (value === '') return `Nothing follows the colon. ${wordsInstead}`
  if (key === 'size') {
    const size = readSize(value)
    if (!size) return `A size is written like size:>10mb or size:<500kb. ${wordsInstead}`
    if (size.from !== null) query.minSize = Math.max(query.minSize ?? 0, size.from)
    if (size.to !== null) query.maxSize = Math.min(query.maxSize ?? Infinity, size.to)
    return 'taken'
  }
  if (key === 'before' || key === 'after') {
    const time = readDate(value)
    if (time === null)
      return `A date is written like ${key}:2026, ${key}:2026-03 or ${key}:2026-03-31. ${wordsInstead}`
    if (key === 'after') query.since = Math.max(query.since ?? time, time)
    else query.until = Math.min(query.until ?? time, time)
    return 'taken'
  }
  if (key === 'is') {
    if (value.toLowerCase() !== 'shared')
      return `"is:shared" is the only filter of this kind. ${wordsInstead}`
    query.isShared = true
    return 'taken'
  }
  if (key === 'name') {
    const isFull = countTerms(query) >= MAX_TERMS
    const term = isFull ? null : termOf(value, { isPhrase: false, isPrefix: isLast })
    if (term && countWords(query) + term.words.length > MAX_WORDS)
      return `It has too many words. ${wordsInstead}`
    if (term) query.names.push(term)
    return term ? 'taken' : `A name has letters or digits. ${wordsInstead}`
  }
  if (key === 'by') query.by = fold(value)
  else if (key === 'in') query.in = value.split('/').map(fold).filter(Boolean)
  else if (key === 'drive') query.drive = fold(value)
  else if (key === 'tag') query.tags.push(fold(value))
  else return `There is no filter "${key}:". ${wordsInstead}`
  return 'taken'
}

/** Whether the query has no terms and no filters. */
export const isEmptySearch = (query: SearchQuery): boolean =>
  query.terms.length + query.names.length + query.types.length + query.tags.length === 0 &&
  query.minSize === null &&
  query.maxSize === null &&
  query.since === null &&
  query.until === null &&
  query.by === null &&
  query.in === null &&
  query.drive === null &&
  query.in === null &&
  !query.isShared
