import { Blocks } from './block.ts'
import { type Package, resolved } from './package.ts'
import { readXml } from './xml.ts'

/** Elements whose content is not shown: deleted text, phonetic guides, who commented and when. */
const UNSHOWN =
  /^(tracked-changes|ruby-text|creator|date-string|sender-initials|creator-initials|script|scripts|event-listeners|sheet-name|page-number|page-count|automatic-styles|styles|font-face-decls|meta|settings|hidden-text|forms)$/
/** Elements within paragraphs whose texts are in paragraphs of their own. */
const APART = /^(annotation|frame|note)$/
const NOT_TEXT = -1
const CAPTION = /^(title|desc)$/
/** The most cells and rows that one element stands for. */
const REPEATED = 64

/**
 * Reads an OpenDocument file: its body, and of texts and tables the headers and footers.
 * @throws BadDocument
 */
export function readOpenDocument(source: Package): Blocks {
  const objects = [...source.names].filter(name => /^object [^/]+\/content\.xml$/.test(name)).sort()
  const parts = source.read(['content.xml', 'styles.xml', ...objects])
  const blocks = new Blocks()
  const content = parts.get('content.xml') ?? ''
  readPart(content, blocks)
  for (const name of objects) readChart(parts.get(resolved('', name)) ?? '', blocks)
  // The masters of presentations say where to click.
  if (!/<office:(presentation|drawing)\b/.test(content))
    readPart(parts.get('styles.xml') ?? '', blocks)
  return blocks
}

/** Reads an OpenDocument file that is one XML document. */
export function readFlatDocument(xml: string): Blocks {
  const blocks = new Blocks()
  readPart(xml, blocks)
  return blocks
}

function readPart(xml: string, blocks: Blocks): void {
  let unshown = 0
  let shown = 0
  let text = ''
  let pages = 0
  let isSpreadsheet = false
  const tables: {
    row: string[]
    cell: string[]
    isFirst: boolean
    isHeader: boolean
    cells: number
  }[] = []
  const levels: number[] = []
  const captions: boolean[] = []
  /** Paragraphs that are interrupted by a comment or a text box. */
  const outer: string[] = []

  function endParagraph(level = 0): void {
    const table = tables.at(-1)
    if (table) {
      if (text.trim() !== '') table.cell.push(text.trim())
    } else if (level > 0) blocks.heading(text, level)
    else blocks.paragraph(text)
    text = ''
  }

  readXml(xml, {
    open(name, attributes) {
      if (UNSHOWN.test(name)) unshown += 1
      if (name === 'body' || name === 'master-styles') shown += 1
      if (unshown > 0 || shown === 0) return
      // What a picture shows, in words. A field of this name is within a paragraph.
      const isCaption = CAPTION.test(name) && levels.at(-1) === NOT_TEXT
      if (CAPTION.test(name)) captions.push(isCaption)
      if (name === 'spreadsheet') isSpreadsheet = true
      else if (name === 'p' || name === 'h' || isCaption) {
        outer.push(text)
        text = ''
        levels.push(name === 'h' ? Number(attributes['text:outline-level'] ?? 1) || 1 : 0)
      } else if (APART.test(name)) levels.push(NOT_TEXT)
      else if (name === 's')
        text += ' '.repeat(Math.min(Number(attributes['text:c'] ?? 1) || 1, 80))
      else if (name === 'tab') text += ' '
      else if (name === 'line-break') text += '\n'
      else if (name === 'page' && attributes['draw:name'] !== undefined) {
        pages += 1
        blocks.page(pages)
      } else if (name === 'table') {
        if (isSpreadsheet && tables.length === 0) blocks.heading(attributes['table:name'] ?? '', 2)
        tables.push({ row: [], cell: [], isFirst: true, isHeader: false, cells: 1 })
      } else if (name === 'table-cell' || name === 'covered-table-cell') {
        const table = tables.at(-1)
        const repeated = Number(attributes['table:number-columns-repeated'] ?? 1) || 1
        if (table) table.cells = Math.min(repeated, REPEATED)
      }
    },
    close(name) {
      if (name === 'body' || name === 'master-styles') shown -= 1
      if (UNSHOWN.test(name)) {
        unshown = Math.max(0, unshown - 1)
        return
      }
      if (unshown > 0 || shown === 0) return
      if (name === 'p' || name === 'h' || (CAPTION.test(name) && captions.pop())) {
        endParagraph(levels.pop())
        text = outer.pop() ?? ''
      } else if (APART.test(name)) levels.pop()
      else if (name === 'table-cell' || name === 'covered-table-cell') {
        const table = tables.at(-1)
        if (!table) return
        const cell = table.cell.join('\n')
        table.row.push(...Array<string>(table.cells).fill(cell))
        table.cell = []
      } else if (name === 'table-row') {
        const table = tables.at(-1)
        if (!table) return
        const isKept = table.row.some(cell => cell !== '')
        const around = tables.at(-2)
        if (isKept && around) around.cell.push(table.row.join(' ').trim())
        else if (isKept) blocks.row(table.row, table.isFirst)
        table.isFirst &&= !isKept
        table.row = []
      } else if (name === 'table') tables.pop()
    },
    text(said) {
      if (unshown === 0 && shown > 0 && (levels.at(-1) ?? NOT_TEXT) !== NOT_TEXT) text += said
    },
    isDone: () => blocks.isFull,
  })
  endParagraph()
}

/** Reads the titles of a chart. Its numbers are in the document, too. */
function readChart(xml: string, blocks: Blocks): void {
  let titles = 0
  let text = ''
  readXml(xml, {
    open(name) {
      if (/^(title|subtitle|footer)$/.test(name)) titles += 1
    },
    close(name) {
      if (!/^(title|subtitle|footer)$/.test(name)) return
      titles -= 1
      blocks.paragraph(text)
      text = ''
    },
    text(said) {
      if (titles > 0) text += said
    },
  })
}
