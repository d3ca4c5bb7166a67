import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Db } from '../../../db/index.ts'
import { textBodies } from '../../../db/queries/content-text.ts'
import { inParts } from '../../../db/queries/sql.ts'
import { UNSPACED } from '../../derive/words.ts'
import type { SearchQuery, Term } from '../../values/search-query.ts'
import { stemsOf } from '../../values/word-form.ts'
import { textOfBody } from './content-text.ts'
import type { SearchResult } from './search-filter.ts'
import { LENGTH, type Snippet, snippetOf } from './snippet.ts'

/** Characters before and after a place that are looked through for the best part. */
const BEFORE = 300
const AFTER = 600
/** Places of a word that are compared, and places where a part may be cut. */
const PLACES = 8
const TRIES = 10
/**
 * Characters that are looked through where a word is written otherwise than it was asked for, as
 * with other accents.
 */
const WHOLE = 100_000
/** Texts of a page that are cut; those behind them are shown without. */
const MOST = 100
/** Those in memory at a time, and milliseconds after which no more are read. */
const TOGETHER = 4
const MOST_MS = 1000

/** Letters that all forms of a word begin with. */
const STEM = 4

/** How a text may have a term. Forms of a word begin alike. */
interface Pattern {
  term: Term
  isForm: boolean
  regexp: RegExp
}

/** @param isStart whether longer words count, too */
function patternOf(word: string, isStart: boolean): RegExp {
  // Scripts without spaces have words inside of others.
  const [before, after] = UNSPACED.test(word)
    ? ['', '']
    : ['(?<![\\p{L}\\p{N}])', isStart ? '' : '(?![\\p{L}\\p{N}\\p{M}])']
  return new RegExp(`${before}${RegExp.escape(word)}${after}`, 'giu')
}

const patternsOf = (terms: readonly Term[]): Pattern[] =>
  terms.flatMap(term => {
    const { words, others, isPrefix } = term
    const forms = words.filter(word => stemsOf(word).length > 0).map(word => word.slice(0, STEM))
    return [
      ...words.map((word, i) => patternOf(word, isPrefix && i === words.length - 1)),
      ...others.map(word => patternOf(word, isPrefix)),
    ]
      .map(regexp => ({ term, isForm: false, regexp }))
      .concat(forms.map(form => ({ term, isForm: true, regexp: patternOf(form, true) })))
  })

/** The first places of a pattern. `matchAll` would compile it for each text. */
function placesOf(text: string, { regexp, ...of }: Pattern) {
  const places: ({ at: number } & Omit<Pattern, 'regexp'>)[] = []
  regexp.lastIndex = 0
  while (places.length < PLACES) {
    const found = regexp.exec(text)
    if (!found) break
    places.push({ at: found.index, ...of })
  }
  return places
}

/** Places of terms, those with the most terms after them first. */
function bestPlaces(text: string, patterns: readonly Pattern[]): number[] {
  const places = patterns.flatMap(pattern => placesOf(text, pattern))
  const scored = places.map(({ at, isForm }) => {
    const near = places.filter(other => other.at >= at && other.at < at + LENGTH / 2)
    const whole = new Set(near.filter(other => !other.isForm).map(({ term }) => term)).size
    const any = new Set(near.map(({ term }) => term)).size
    return { at, isForm, score: whole * patterns.length + any }
  })
  scored.sort((a, b) => b.score - a.score || Number(a.isForm) - Number(b.isForm) || a.at - b.at)
  return [...new Set(scored.map(({ at }) => at))].slice(0, TRIES)
}

function cutFrom(
  text: string,
  terms: readonly Term[],
  patterns: readonly Pattern[],
): Snippet | null {
  for (const at of bestPlaces(text, patterns)) {
    // Begins and ends between words, unless there are no spaces.
    const space = text.lastIndexOf(' ', at - BEFORE)
    const from = at <= BEFORE ? 0 : Math.max(space + 1, at - 2 * BEFORE)
    const next = text.indexOf(' ', at + AFTER)
    const to = Math.min(next < 0 ? text.length : next, at + 2 * AFTER)
    const more = { before: from > 0, after: to < text.length }
    const snippet = snippetOf(text.slice(from, to), terms, more)
    if (snippet) return snippet
  }
  return snippetOf(text.slice(0, WHOLE), terms)
}

/**
 * The results of a page with the parts of their texts that have the words: only of what the caller
 * is shown.
 * @throws the reason of the signal
 */
export async function withSnippets(
  db: Db,
  { terms }: Pick<SearchQuery, 'terms'>,
  page: SearchResult[],
  signal?: AbortSignal,
): Promise<SearchResult[]> {
  const keys = page
    .flatMap(({ textKey, snippet }) => (textKey && !snippet ? [textKey] : []))
    .slice(0, MOST)
  if (keys.length === 0) return page
  const snippets = new Map<string, Snippet | null>()
  const patterns = patternsOf(terms)
  const end = performance.now() + MOST_MS
  for (const some of inParts([...new Set(keys)], TOGETHER)) {
    if (snippets.size > 0 && performance.now() > end) break
    for (const [key, body] of await textBodies(db, some)) {
      snippets.set(key, cutFrom((await textOfBody(body)) ?? '', terms, patterns))
      await nextTurn()
      signal?.throwIfAborted()
    }
  }
  return page.map(result => ({
    ...result,
    snippet: result.snippet ?? snippets.get(result.textKey ?? '') ?? null,
  }))
}
