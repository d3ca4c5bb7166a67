import type { ReactNode } from 'react'
import type { Snippet } from '../../search/documents.ts'

/** Characters to keep before the first match, so that it is visible on narrow screens. */
const LEAD = 24

/** Cuts most of the text before the first match. */
function shortened({ text, ranges }: Snippet): Snippet {
  const first = ranges[0]?.start ?? 0
  if (first <= LEAD) return { text, ranges }
  const from = first - LEAD
  const space = text.slice(from, from + LEAD / 2).search(/\s/)
  // Without a space nearby, it cuts between two characters, never inside one.
  const cut =
    space >= 0 ? from + space + 1 : from + (/^[\udc00-\udfff]/.test(text.slice(from)) ? 1 : 0)
  const moved = ranges.map(({ start, end }) => ({ start: start - cut + 2, end: end - cut + 2 }))
  return { text: `… ${text.slice(cut)}`, ranges: moved }
}

/** A snippet with its matches highlighted. */
export function Marked(snippet: Snippet) {
  const { text, ranges } = shortened(snippet)
  const parts: ReactNode[] = []
  let at = 0
  for (const { start, end } of ranges) {
    if (start < at || end > text.length) continue
    parts.push(text.slice(at, start), <mark key={start}>{text.slice(start, end)}</mark>)
    at = end
  }
  return (
    <>
      {parts}
      {text.slice(at)}
    </>
  )
}
