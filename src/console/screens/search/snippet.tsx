import type { ReactNode } from 'react'
import type { Snippet } from '../../search/documents.ts'

/** Characters before the first word that was found: so that it is seen on narrow screens, too. */
const LEAD = 24

/** Without most of what stands before the first word that was found. */
function shortened({ text, ranges }: Snippet): Snippet {
  const first = ranges[0]?.start ?? 0
  if (first <= LEAD) return { text, ranges }
  const from = first - LEAD
  const space = text.slice(from, from + LEAD / 2).search(/\s/)
  // Without a space nearby, between two characters: none of them is halved.
  const cut =
    space >= 0 ? from + space + 1 : from + (/^[\udc00-\udfff]/.test(text.slice(from)) ? 1 : 0)
  const moved = ranges.map(({ start, end }) => ({ start: start - cut + 2, end: end - cut + 2 }))
  return { text: `… ${text.slice(cut)}`, ranges: moved }
}

/** A part of a text, as it is, with what was found marked. */
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
