import type { Block } from '../../documents/block.ts'
import { blocksOfZipped } from '../../documents/zipped.ts'

/** The most blocks, rows and columns that browsers lay out without a noticeable delay. */
const BLOCKS = 5000
const ROWS = 1000
const COLUMNS = 100

/**
 * Fetches a document of a text processor, a spreadsheet or a presentation, and renders its text.
 */
export async function showDocument(url: string, signal: AbortSignal): Promise<Node> {
  const response = await fetch(url, { signal })
  if (!response.ok) throw new Error(response.statusText)
  return documentOf(new Uint8Array(await response.arrayBuffer()))
}

/**
 * Renders the headings, paragraphs and tables of a document, without its layout and pictures.
 * @throws if the document cannot be read
 */
export function documentOf(bytes: Uint8Array): Node {
  const blocks = blocksOfZipped(bytes)
  const article = document.createElement('article')
  article.className = 'document'
  article.dir = 'auto'
  article.append(...blocks.slice(0, BLOCKS).map(nodeOf))
  return article
}

function nodeOf(block: Block): Node {
  if (block.kind === 'table') return tableOf(block.rows)
  if (block.kind === 'page') {
    const line = document.createElement('hr')
    line.ariaLabel = String(block.number)
    return line
  }
  const made = document.createElement(block.kind === 'heading' ? `h${block.level}` : 'p')
  made.dir = 'auto'
  made.textContent = block.text
  return made
}

/** A table that scrolls by itself. */
function tableOf(rows: string[][]): Node {
  const table = document.createElement('table')
  table.className = 'values'
  const columns = Math.min(Math.max(...rows.slice(0, ROWS).map(row => row.length)), COLUMNS)
  const body = table.createTBody()
  for (const row of rows.slice(0, ROWS)) {
    const line = body.insertRow()
    for (let at = 0; at < columns; at++) {
      const cell = line.insertCell()
      cell.dir = 'auto'
      cell.textContent = row[at] ?? ''
    }
  }
  const frame = document.createElement('div')
  frame.className = 'document-table'
  frame.append(table)
  return frame
}
