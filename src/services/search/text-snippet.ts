import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Db } from '../../../db/index.ts'
import { textBodies } from '../../../db/queries/content-text.ts'
import { inParts } from '../../../db/queries/sql.ts'
import type { SearchQuery, Term } from '../../values/search-query.ts'
import { stemsOf } from '../../values/word-form.ts'
import { textOfBody } from './content-text.ts'
import type { SearchResult } from './search-filter.ts'
import { type Snippet, snippetOf } from './snippet.ts'

/** Characters around a place that are looked through for the best part. */
const AROUND = 3000
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

/**
 * Where the terms may be in a text, by their characters. Forms of a word begin alike.
 */
function placesOf(text: string, terms: readonly Term[]): number[] {
  const starts = terms.flatMap(({ words, others }) => [
    ...words,
    ...others,
    ...words.filter(word => stemsOf(word).length > 0).map(word => word.slice(0, STEM)),
  ])
  return starts.flatMap(start => {
    const at = text.search(new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(start)}`, 'iu'))
    return at < 0 ? [] : [at]
  })
}

function cutFrom(text: string, terms: readonly Term[]): Snippet | null {
  let best: Snippet | null = null
  for (const at of placesOf(text, terms)) {
    const from = Math.max(0, at - AROUND)
    const snippet = snippetOf(text.slice(from, at + AROUND), terms, from > 0)
    if (snippet && (!best || snippet.ranges.length > best.ranges.length)) best = snippet
  }
  return best ?? snippetOf(text.slice(0, WHOLE), terms)
}

/**
 * The results of a page with the parts of their texts that have the words: only of what the caller
 * is shown.
 */
export async function withSnippets(
  db: Db,
  { terms }: Pick<SearchQuery, 'terms'>,
  page: SearchResult[],
): Promise<SearchResult[]> {
  const keys = page
    .flatMap(({ textKey, snippet }) => (textKey && !snippet ? [textKey] : []))
    .slice(0, MOST)
  if (keys.length === 0) return page
  const snippets = new Map<string, Snippet | null>()
  const end = performance.now() + MOST_MS
  for (const some of inParts([...new Set(keys)], TOGETHER)) {
    if (snippets.size > 0 && performance.now() > end) break
    for (const [key, body] of await textBodies(db, some)) {
      snippets.set(key, cutFrom((await textOfBody(body)) ?? '', terms))
      await nextTurn()
    }
  }
  return page.map(result => ({
    ...result,
    snippet: result.snippet ?? snippets.get(result.textKey ?? '') ?? null,
  }))
}
