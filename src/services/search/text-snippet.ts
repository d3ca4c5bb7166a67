import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Db } from '../../../db/index.ts'
import { textBodies } from '../../../db/queries/content-text.ts'
import { inParts } from '../../../db/queries/sql.ts'
import type { SearchQuery, Term } from '../../values/search-query.ts'
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

/** Where the terms may stand in a text, as far as looking for their characters tells. */
function placesOf(text: string, terms: readonly Term[]): number[] {
  return terms.flatMap(({ words }) =>
    words.flatMap(word => {
      const at = text.search(new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(word)}`, 'iu'))
      return at < 0 ? [] : [at]
    }),
  )
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
 * @param forms other forms of the words, which are shown as well
 */
export async function withSnippets(
  db: Db,
  query: Pick<SearchQuery, 'terms'>,
  page: SearchResult[],
  forms: readonly string[],
): Promise<SearchResult[]> {
  const terms = [
    ...query.terms,
    ...forms.map(word => ({ text: word, words: [word], isPrefix: false, isPhrase: false })),
  ]
  const digests = page
    .flatMap(({ digest, snippet }) => (digest && !snippet ? [digest] : []))
    .slice(0, MOST)
  if (digests.length === 0) return page
  const snippets = new Map<string, Snippet | null>()
  const end = performance.now() + MOST_MS
  for (const some of inParts([...new Set(digests)], TOGETHER)) {
    if (snippets.size > 0 && performance.now() > end) break
    for (const [digest, body] of await textBodies(db, some)) {
      snippets.set(digest, cutFrom((await textOfBody(body)) ?? '', terms))
      await nextTurn()
    }
  }
  return page.map(result => ({
    ...result,
    snippet: result.snippet ?? snippets.get(result.digest ?? '') ?? null,
  }))
}
