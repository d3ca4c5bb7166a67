import { BadDocument } from './bad-document.ts'
import { BoundedText } from './bounded-text.ts'
import { textOfHtml } from './html.ts'
import { type Package, resolved } from './package.ts'
import { readXml } from './xml.ts'

/** The chapters of a book that are unpacked at once. */
const AT_ONCE = 20

/**
 * The text of an EPUB book: its title and authors, then its chapters in reading order.
 * @throws BadDocument
 */
export function textOfEpub(source: Package): string {
  const container = source.read(['meta-inf/container.xml']).get('meta-inf/container.xml') ?? ''
  let index = ''
  readXml(container, {
    open(name, attributes) {
      if (name === 'rootfile' && index === '') index = resolved('', attributes['full-path'] ?? '')
    },
  })
  index ||= [...source.names].find(name => name.endsWith('.opf')) ?? ''
  const text = new BoundedText()
  const chapters = index === '' ? [] : readIndex(source.read([index]).get(index) ?? '', index, text)
  // Without an index, the chapters are read in the order of their file names.
  if (chapters.length === 0)
    chapters.push(
      ...[...source.names]
        .filter(name => /\.x?html?$/.test(name))
        .sort((a, b) => a.localeCompare(b, 'en', { numeric: true })),
    )
  if (chapters.length === 0) throw new BadDocument('unsupported')
  for (let at = 0; at < chapters.length && !text.isFull; at += AT_ONCE) {
    const some = chapters.slice(at, at + AT_ONCE)
    const parts = source.read(some)
    for (const name of some) text.add(`${textOfHtml(parts.get(name) ?? '').trim()}\n`)
  }
  return text.toString()
}

/** Reads the title and the authors, and returns the names of the chapters. */
function readIndex(xml: string, index: string, text: BoundedText): string[] {
  const files = new Map<string, string>()
  const chapters: string[] = []
  let isShown = false
  readXml(xml, {
    open(name, { id = '', href = '', idref = '' }) {
      isShown = name === 'title' || name === 'creator'
      if (name === 'item') files.set(id, decoded(href))
      const file = name === 'itemref' ? files.get(idref) : undefined
      if (file !== undefined) chapters.push(resolved(index, file))
    },
    close() {
      if (isShown) text.add('\n')
      isShown = false
    },
    text(said) {
      if (isShown) text.add(said)
    },
  })
  return chapters
}

function decoded(href: string): string {
  try {
    return decodeURIComponent(href)
  } catch {
    return href
  }
}
