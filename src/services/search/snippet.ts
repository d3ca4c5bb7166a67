import type { Term } from '../../values/search-query.ts'
import { type FoundWord, wordsIn } from '../../values/search-words.ts'
import { areForms } from '../../values/word-form.ts'

/** An excerpt of a text, and the ranges of query words in it: UTF-16 units from its start. */
export interface Snippet {
  text: string
  ranges: { start: number; end: number }[]
}

/** Characters of a text that are searched for a snippet, and sizes of the snippet. */
const LOOKED = 300_000
const BEFORE = 60
export const LENGTH = 220

/**
 * The excerpt of a text with the most different terms; null if the text contains none of them.
 * @param more whether `text` is itself an excerpt, with more text before or after it
 */
export function snippetOf(
  text: string,
  terms: readonly Term[],
  more = { before: false, after: false },
): Snippet | null {
  const hits: (FoundWord & { term: number })[] = []
  for (const found of wordsIn(text.slice(0, LOOKED))) {
    const term = terms.findIndex(one => isShown(found.word, one))
    // Another spelling follows its word.
    if (term >= 0 && hits.at(-1)?.start !== found.start) hits.push({ ...found, term })
    if (hits.length > 500) break
  }
  let best: { from: number; different: number } | undefined
  for (const [i, { start }] of hits.entries()) {
    const near = hits.slice(i, i + 20).filter(({ end }) => end <= start + LENGTH - BEFORE)
    const different = new Set(near.map(({ term }) => term)).size
    if (!best || different > best.different) best = { from: start, different }
  }
  if (!best) return null
  return cut(text, Math.max(0, best.from - BEFORE), hits, more)
}

/** Whether a word matches a word of a term, or is a form of its only word. */
function isShown(found: string, { words, others, isPrefix, isPhrase }: Term): boolean {
  const isWord = words.some(
    (word, i) => found === word || (isPrefix && i === words.length - 1 && found.startsWith(word)),
  )
  if (isWord || others.includes(found)) return true
  const [only = ''] = words
  // Forms begin alike. Comparing the first letter avoids stemming most words.
  return !isPhrase && words.length === 1 && found[0] === only[0] && areForms(found, only)
}

function cut(
  text: string,
  near: number,
  hits: readonly FoundWord[],
  more: { before: boolean; after: boolean },
): Snippet {
  // Begins and ends between words.
  const space = near === 0 ? -1 : text.slice(near, near + BEFORE).search(/\s/)
  const start = near === 0 ? 0 : near + space + 1
  let end = Math.min(text.length, start + LENGTH)
  if (end < text.length) {
    const last = text.slice(start, end).search(/\s\S*$/)
    if (last > LENGTH / 2) end = start + last
  }
  const front = start > 0 || more.before ? '… ' : ''
  // Each character is replaced by one character, so the ranges stay valid.
  const shown = text
    .slice(start, end)
    .replace(/[\s\p{Cc}]/gu, ' ')
    .toWellFormed()
  const ranges = hits
    .filter(hit => hit.start >= start && hit.end <= end)
    .map(hit => ({ start: hit.start - start + front.length, end: hit.end - start + front.length }))
  return { text: `${front}${shown}${end < text.length || more.after ? ' …' : ''}`, ranges }
}
