/** A month of the gallery: a heading row, then rows of pictures. */
export interface Section {
  /** In the form 2024-05. */
  month: string
  count: number
  /** Index of its first picture among all pictures. */
  first: number
  /** Index of its heading among all rows. */
  line: number
}

/** A row of the gallery. */
export interface Line {
  section: Section
  /** Index of its first picture among all pictures. The heading of a month has `count` 0. */
  first: number
  count: number
}

/** The rows of all months, for a number of pictures per row. */
export interface Layout {
  sections: readonly Section[]
  columns: number
  pictures: number
  lines: number
}

const linesOf = (count: number, columns: number): number => 1 + Math.ceil(count / columns)

export function layOut(
  months: readonly { month: string; count: number }[],
  columns: number,
): Layout {
  let [first, line] = [0, 0]
  const sections = months.map(({ month, count }) => {
    const section = { month, count, first, line }
    first += count
    line += linesOf(count, columns)
    return section
  })
  return { sections, columns, pictures: first, lines: line }
}

/** The last section that starts at or before a row or picture. */
function sectionAt({ sections }: Layout, by: 'line' | 'first', at: number): Section | undefined {
  let [low, high] = [0, sections.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((sections[middle]?.[by] ?? 0) <= at) low = middle
    else high = middle - 1
  }
  return sections[low]
}

export function lineAt(layout: Layout, index: number): Line | undefined {
  const section = sectionAt(layout, 'line', index)
  if (!section) return undefined
  const from = (index - section.line - 1) * layout.columns
  if (from < 0) return { section, first: section.first, count: 0 }
  return {
    section,
    first: section.first + from,
    count: Math.min(layout.columns, section.count - from),
  }
}

/** The section of a picture. */
export const sectionOf = (layout: Layout, picture: number): Section | undefined =>
  sectionAt(layout, 'first', picture)

/** The row of a picture. */
export function lineOf(layout: Layout, picture: number): number {
  const section = sectionOf(layout, picture)
  return section ? section.line + 1 + Math.floor((picture - section.first) / layout.columns) : 0
}

/** The picture above or below another, in the same column if possible. */
export function beside(layout: Layout, picture: number, down: boolean): number {
  const section = sectionOf(layout, picture)
  if (!section) return picture
  const column = (picture - section.first) % layout.columns
  const step = down ? 1 : -1
  for (let line = lineOf(layout, picture) + step; line >= 0 && line < layout.lines; line += step) {
    const there = lineAt(layout, line)
    if (there && there.count > 0) return there.first + Math.min(column, there.count - 1)
  }
  return picture
}

/** Start and end of a month. */
export function boundsOf(month: string): { since: string; until: string } {
  const [year = 1970, number = 1] = month.split('-').map(Number)
  const at = (month: number) => new Date(Date.UTC(year, month)).toISOString()
  return { since: at(number - 1), until: at(number) }
}

/**
 * The new cursor position after a key.
 *
 * @param page number of visible rows
 */
export function moved(
  layout: Layout,
  cursor: number,
  key: string,
  page: number,
): number | undefined {
  const end = layout.pictures - 1
  const at = Math.max(0, cursor)
  if (key === 'Home') return 0
  if (key === 'End') return end
  if (!/^(Arrow|Page)/.test(key)) return undefined
  if (cursor < 0) return 0
  if (key === 'ArrowRight') return Math.min(end, at + 1)
  if (key === 'ArrowLeft') return Math.max(0, at - 1)
  let to = at
  const lines = key.startsWith('Page') ? page : 1
  for (let line = 0; line < lines; line++) to = beside(layout, to, key.endsWith('Down'))
  return to
}
