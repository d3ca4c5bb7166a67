import { parse } from 'papaparse'

/** Rows and columns that a browser lays out without a pause. */
const ROWS = 1000
const COLUMNS = 100

/** Separated values as a table, the first row as its head. The delimiter is found. */
export function table(text: string): Node {
  // The last row may have been cut.
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
