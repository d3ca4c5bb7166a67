import { BadDocument } from './bad-document.ts'
import { Blocks } from './block.ts'
import { cellFormats, type ShowCell } from './cell-format.ts'
import { type Package, type Relationship, readRelationships, relationshipsOf } from './package.ts'
import { localOf, readXml } from './xml.ts'

/** The relationships to parts whose text is shown. Not to masters, themes, links and pictures. */
const FOLLOWED =
  /^(officeDocument|header|footer|footnotes|endnotes|comments|slide|notesSlide|worksheet|chartsheet|dialogsheet|sharedStrings|styles|drawing|chart|chartEx|diagramData|threadedComment)$/i

/** The parts of a document without relationships, which some programs leave out. */
const USUAL =
  /^(word\/(document\d*|footnotes|endnotes|comments|header\d*|footer\d*)|ppt\/(slides\/slide|notesslides\/notesslide|charts\/chart|diagrams\/data|comments\/\w+)\d*|xl\/(workbook|styles|sharedstrings|worksheets\/sheet\d*|comments\d*|drawings\/drawing\d*|charts\/chart\d*|threadedcomments\/\w+))\.xml$/

/** Sorts parts of one document: the main part first, then notes, comments, headers and footers. */
function byPlace(a: string, b: string): number {
  const weight = (name: string) =>
    /notes|comments|header|footer|charts|drawing/.test(name) ? 1 : 0
  return weight(a) - weight(b) || a.localeCompare(b, 'en', { numeric: true })
}

interface Part {
  name: string
  xml: string
}

/**
 * Reads an Office Open XML document by its relationships.
 * @throws BadDocument
 */
export function readOffice(source: Package): Blocks {
  const rels = source.read([...source.names].filter(name => name.endsWith('.rels')))
  const relationships = new Map<string, Relationship[]>()
  const of = (part: string): Relationship[] => {
    const known = relationships.get(part)
    if (known) return known
    const xml = rels.get(relationshipsOf(part))
    const read = xml === undefined ? [] : readRelationships(xml, part)
    relationships.set(part, read)
    return read
  }
  const followed = (part: string) =>
    of(part).filter(({ type, target }) => FOLLOWED.test(type) && source.names.has(target))

  /** A part and all parts that it refers to, in order. */
  function reach(part: string, into: Set<string>): void {
    if (into.has(part)) return
    into.add(part)
    for (const { target } of followed(part)) reach(target, into)
  }

  const main = followed('').find(({ type }) => type === 'officeDocument')?.target
  const reached = new Set<string>()
  if (main !== undefined) reach(main, reached)
  else
    for (const name of [...source.names].filter(name => USUAL.test(name)).sort(byPlace))
      reached.add(name)
  if (reached.size === 0) throw new BadDocument('unsupported')
  const parts = source.read(reached)
  const found = [...reached].flatMap(name => {
    const xml = parts.get(name)
    return xml === undefined ? [] : [{ name, xml }]
  })
  const [first] = found
  const root = first ? rootOf(first.xml) : ''
  if (root === 'workbook' || found.some(({ name }) => name.startsWith('xl/')))
    return readWorkbook(found, main, of)
  const blocks = new Blocks()
  if (root !== 'presentation') {
    for (const part of found) if (!isStyles(part)) readProse(part.xml, blocks)
    return blocks
  }
  readPresentation(found, main ?? '', { of, reach, blocks })
  return blocks
}

const isStyles = ({ xml }: Part): boolean => /^(styles|styleSheet)$/.test(rootOf(xml))

const rootOf = (xml: string): string =>
  localOf(/<([A-Za-z_][\w.:-]*)/.exec(xml.slice(0, 4096))?.[1] ?? '')

/** Reads slides in the order of the presentation, each with its notes, charts and comments. */
function readPresentation(
  parts: Part[],
  main: string,
  {
    of,
    reach,
    blocks,
  }: {
    of(part: string): Relationship[]
    reach(part: string, into: Set<string>): void
    blocks: Blocks
  },
): void {
  const byName = new Map(parts.map(({ name, xml }) => [name, xml]))
  const targets = new Map(of(main).map(({ id, target }) => [id, target]))
  const slides: string[] = []
  readXml(byName.get(main) ?? '', {
    open(name, attributes) {
      const target = name === 'sldId' && targets.get(idIn(attributes))
      if (target) slides.push(target)
    },
  })
  const read = new Set([main])
  for (const [at, slide] of slides.entries()) {
    blocks.page(at + 1)
    const own = new Set<string>()
    reach(slide, own)
    for (const name of own) {
      if (read.has(name)) continue
      read.add(name)
      readProse(byName.get(name) ?? '', blocks)
    }
  }
  for (const { name, xml } of parts)
    if (!read.has(name) && !/slides?\//.test(name)) readProse(xml, blocks)
}

/** The attribute `r:id`, whatever its prefix. */
const idIn = (attributes: Record<string, string>): string =>
  Object.entries(attributes).find(([name]) => name !== 'id' && localOf(name) === 'id')?.[1] ?? ''

/**
 * Elements whose content is not shown: deleted and moved text, phonetic guides, other renderings.
 */
const UNSHOWN =
  /^(del|moveFrom|Fallback|rPh|rt|numCache|instrText|delText|style|pPrChange|rPrChange)$/
/** Elements of characters. In comments of slides and tables, `text` has characters itself. */
const CHARACTERS = /^(t|text)$/

/** Reads paragraphs and tables: the body of a text document, a slide, a chart, notes, comments. */
function readProse(xml: string, blocks: Blocks): void {
  let unshown = 0
  let isCharacters = 0
  let isCached = 0
  let text = ''
  let level = 0
  let isHidden = false
  /** The tables that are open, from the outside. */
  const tables: { row: string[]; cell: string[]; isFirst: boolean }[] = []

  function endParagraph(): void {
    const cell = tables.at(-1)?.cell
    if (cell) {
      if (text.trim() !== '') cell.push(text.trim())
    } else if (level > 0) blocks.heading(text, level)
    else blocks.paragraph(text)
    text = ''
    level = 0
  }

  readXml(xml, {
    open(name, attributes) {
      if (UNSHOWN.test(name)) unshown += 1
      if (unshown > 0) return
      if (CHARACTERS.test(name)) isCharacters += 1
      // The labels of a chart. Its numbers are in another element.
      else if (name === 'strCache' || name === 'strLit') isCached += 1
      else if (name === 'v' && isCached > 0) isCharacters += 1
      else if (name === 'tbl') {
        endParagraph()
        tables.push({ row: [], cell: [], isFirst: true })
      } else if (name === 'tab' || name === 'ptab') text += ' '
      else if (name === 'br' || name === 'cr') text += '\n'
      else if (name === 'noBreakHyphen') text += '-'
      else if (name === 'pStyle' || name === 'outlineLvl') level ||= levelOf(name, attributes)
      else if (name === 'ph' && /^(ctrT|t)itle$/.test(attributes.type ?? '')) level = 2
      else if (name === 'vanish') isHidden = !/^(0|false|off)$/.test(valueIn(attributes))
      else if (name === 'txbxContent') endParagraph()
      else if (name === 'r') isHidden = false
    },
    close(name) {
      if (UNSHOWN.test(name)) {
        unshown = Math.max(0, unshown - 1)
        return
      }
      if (unshown > 0) return
      if (CHARACTERS.test(name)) {
        isCharacters = Math.max(0, isCharacters - 1)
        if (name === 'text') endParagraph()
      } else if (name === 'strCache' || name === 'strLit') isCached = Math.max(0, isCached - 1)
      else if (name === 'v' && isCached > 0) {
        isCharacters = Math.max(0, isCharacters - 1)
        endParagraph()
      } else if (name === 'p') endParagraph()
      else if (name === 'tc') {
        const table = tables.at(-1)
        table?.row.push(table.cell.join('\n'))
        if (table) table.cell = []
      } else if (name === 'tr') {
        const table = tables.at(-1)
        if (!table) return
        const outer = tables.at(-2)
        if (outer) outer.cell.push(table.row.join(' '))
        else blocks.row(table.row, table.isFirst)
        table.isFirst = false
        table.row = []
      } else if (name === 'tbl') tables.pop()
    },
    text(said) {
      if (isCharacters > 0 && unshown === 0 && !isHidden) text += said
    },
    isDone: () => blocks.isFull,
  })
  endParagraph()
}

const valueIn = (attributes: Record<string, string>): string =>
  Object.entries(attributes).find(([name]) => localOf(name) === 'val')?.[1] ?? ''

/** The level of a heading, by the name of its style in the languages of Word; 0 for other text. */
function levelOf(element: string, attributes: Record<string, string>): number {
  const value = valueIn(attributes)
  if (element === 'outlineLvl') return Number(value) < 6 ? Number(value) + 1 : 0
  if (/^(title|titel|titre|t[ií]tulo|titolo)$/i.test(value)) return 1
  const [, level = ''] =
    /^(?:heading|berschrift|überschrift|titre|t[ií]tulo|titolo|kop|rubrik|overskrift|nagwek|nadpis|cmsor|otsikko)(\d)$/i.exec(
      value,
    ) ?? []
  return Number(level)
}

/** Reads the sheets of a workbook as tables, in its order, then comments and texts of drawings. */
function readWorkbook(
  parts: Part[],
  main: string | undefined,
  of: (part: string) => Relationship[],
): Blocks {
  const blocks = new Blocks()
  const byRoot = (root: string) => parts.filter(({ xml }) => rootOf(xml) === root)
  const sheets: { name: string; id: string }[] = []
  let is1904 = false
  readXml(byRoot('workbook')[0]?.xml ?? '', {
    open(name, attributes) {
      if (name === 'sheet') sheets.push({ name: attributes.name ?? '', id: idIn(attributes) })
      if (name === 'workbookPr') is1904 = /^(1|true)$/.test(attributes.date1904 ?? '')
    },
  })
  const shared = byRoot('sst').flatMap(({ xml }) => sharedStrings(xml))
  const show = cellFormats(byRoot('styleSheet')[0]?.xml ?? '', is1904)
  const targets = new Map(main === undefined ? [] : of(main).map(({ id, target }) => [id, target]))
  const tables = byRoot('worksheet')
  const read = new Set<Part>()
  const used = new Set<string>()
  for (const [at, { name, id }] of sheets.entries()) {
    blocks.heading(name, 2)
    const target = targets.get(id)
    const part = target === undefined ? tables[at] : tables.find(table => table.name === target)
    if (!part || read.has(part)) continue
    read.add(part)
    readSheet(part.xml, { shared, used, show, blocks })
  }
  for (const part of tables)
    if (!read.has(part)) readSheet(part.xml, { shared, used, show, blocks })
  // Deleted cells may leave strings behind. Of a broken workbook, only the strings may be left.
  if (main === undefined) for (const text of shared) if (!used.has(text)) blocks.paragraph(text)
  for (const part of parts)
    if (!/^(workbook|sst|styleSheet|worksheet)$/.test(rootOf(part.xml))) readProse(part.xml, blocks)
  return blocks
}

function sharedStrings(xml: string): string[] {
  const found: string[] = []
  let text = ''
  let isText = false
  let phonetic = 0
  readXml(xml, {
    open(name) {
      if (name === 'si') text = ''
      if (name === 'rPh') phonetic += 1
      isText = name === 't' && phonetic === 0
    },
    close(name) {
      if (name === 'si') found.push(text)
      if (name === 'rPh') phonetic -= 1
      isText = false
    },
    text(said) {
      if (isText) text += said
    },
  })
  return found
}

/** The column in a reference such as `AB12`, from 0. */
function columnOf(reference: string): number {
  let column = 0
  for (const letter of /^[A-Z]{1,3}/.exec(reference)?.[0] ?? '') {
    column = column * 26 + letter.charCodeAt(0) - 64
  }
  return column - 1
}

/** The most empty cells between two cells of a row that are kept as columns. */
const GAP = 32

function readSheet(
  xml: string,
  {
    shared,
    used,
    show,
    blocks,
  }: { shared: string[]; used: Set<string>; show: ShowCell; blocks: Blocks },
): void {
  let row: string[] = []
  let isFirst = true
  let cell: { type: string; style: string | undefined; column: number } | undefined
  let value = ''
  let isValue = false
  let phonetic = 0
  readXml(xml, {
    open(name, { r = '', t = 'n', s }) {
      if (name === 'row') row = []
      if (name === 'c') {
        cell = { type: t, style: s, column: columnOf(r) }
        value = ''
      }
      if (name === 'rPh') phonetic += 1
      isValue = cell !== undefined && phonetic === 0 && (name === 'v' || name === 't')
    },
    close(name) {
      isValue = false
      if (name === 'rPh') phonetic -= 1
      if (name === 'c' && cell) {
        const shown = shownIn(cell, value, shared, show)
        if (cell.type === 's') used.add(shown)
        const gap = cell.column - row.length
        if (shown !== '' && gap > 0 && gap <= GAP) row.push(...Array<string>(gap).fill(''))
        if (shown !== '' || gap >= 0) row.push(shown)
        cell = undefined
      }
      if (name === 'row') {
        const isKept = row.some(shown => shown !== '')
        if (isKept) blocks.row(row, isFirst)
        isFirst &&= !isKept
      }
    },
    text(said) {
      if (isValue) value += said
    },
    isDone: () => blocks.isFull,
  })
}

function shownIn(
  { type, style }: { type: string; style: string | undefined },
  value: string,
  shared: string[],
  show: ShowCell,
): string {
  if (type === 's') return shared[Number(value)] ?? ''
  if (type === 'b') return value === '1' ? 'TRUE' : value === '0' ? 'FALSE' : value
  if (type === 'n') return show(value, style)
  return value
}
