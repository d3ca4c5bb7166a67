import { parse } from 'papaparse'

/** The most rows and columns that browsers lay out without a noticeable delay. */
const ROWS = 1000
const COLUMNS = 100

/** Renders separated values as a table with a header row. Detects the delimiter. */
export function table(text: string): Node {
  // The last row may be truncated.
  const { data } = parse<string[]>(text.trimEnd(), { preview: ROWS + 1, skipEmptyLines: 'greedy' })
  const made = document.createElement('table')
  made.className = 'values'
  const [head = [], ...rows] = data
  const top = made.createTHead().insertRow()
  top.append(cell('td', ''), ...head.slice(0, COLUMNS).map(value => cell('th', value, 'col')))
  const body = made.createTBody()
  for (const [at, row] of rows.entries())
    body
      .insertRow()
      .append(
        cell('th', String(at + 1), 'row'),
        ...row.slice(0, COLUMNS).map(value => cell('td', value)),
      )
  return made
}

function cell(tag: 'td' | 'th', text: string, scope?: string): HTMLTableCellElement {
  const made = document.createElement(tag)
  made.textContent = text
  made.dir = 'auto'
  if (scope) made.scope = scope
  return made
}
