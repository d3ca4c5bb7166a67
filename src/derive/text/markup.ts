import { SaxesParser } from 'saxes'
import { BoundedText } from './bounded-text.ts'

/** Characters of XML that are parsed together. */
const STEP = 64 * 1024

interface Handler {
  open(name: string, attributes: Record<string, string>): void
  close(name: string): void
  text(text: string): void
  /** Whether the rest need not be read. */
  isDone(): boolean
}

/**
 * Reads XML. The parser knows the five entities of XML and no others: what a document declares is
 * not expanded, and nothing is fetched. Of broken XML, what can be read is.
 */
export function readXml(xml: string, handler: Handler): void {
  const parser = new SaxesParser()
  parser.on('error', () => {})
  parser.on('opentag', ({ name, attributes }) => handler.open(name, attributes))
  parser.on('closetag', ({ name }) => handler.close(name))
  parser.on('text', text => handler.text(text))
  parser.on('cdata', text => handler.text(text))
  for (let at = 0; at < xml.length && !handler.isDone(); at += STEP)
    parser.write(xml.slice(at, at + STEP))
}

const ENTITIES: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  shy: '',
  ndash: '–',
  mdash: '—',
  euro: '€',
  auml: 'ä',
  ouml: 'ö',
  uuml: 'ü',
  Auml: 'Ä',
  Ouml: 'Ö',
  Uuml: 'Ü',
  szlig: 'ß',
  eacute: 'é',
  egrave: 'è',
  agrave: 'à',
  ccedil: 'ç',
  copy: '©',
  hellip: '…',
}

const unescaped = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, name) => {
    if (name) return ENTITIES[name] ?? whole
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : ' '
  })

/** Elements whose content is not shown. */
const UNSHOWN = /^(script|style|template|noscript|svg|head)$/
/** Elements within a word. */
const WITHIN = /^(b|i|u|em|strong|span|a|sub|sup|mark|small|wbr|font|code)$/

/**
 * The text of HTML, as people see it. No parser that builds a document: a hostile one would be as
 * large as memory.
 */
export function textOfHtml(html: string): string {
  const text = new BoundedText()
  for (let at = 0; at < html.length && !text.isFull; ) {
    const open = html.indexOf('<', at)
    if (open < 0) {
      text.add(unescaped(html.slice(at)))
      break
    }
    text.add(unescaped(html.slice(at, open)))
    if (html.startsWith('<!--', open)) {
      at = after(html, '-->', open + 4)
      continue
    }
    const [, slash = '', tag = ''] =
      /^<(\/?)([a-z][a-z0-9]{0,20})/i.exec(html.slice(open, open + 24)) ?? []
    const name = tag.toLowerCase()
    if (name === '' && !/^<[/!?]/.test(html.slice(open, open + 2))) {
      text.add('<')
      at = open + 1
      continue
    }
    at = after(html, '>', open)
    // The title is shown, though it is in the head.
    if (slash === '' && UNSHOWN.test(name) && name !== 'head') at = afterElement(html, name, at)
    if (!WITHIN.test(name))
      text.add(/^(p|div|li|tr|h[1-6]|br|section|article|title)$/.test(name) ? '\n' : ' ')
  }
  return text.toString()
}

const after = (text: string, what: string, from: number): number => {
  const found = text.indexOf(what, from)
  return found < 0 ? text.length : found + what.length
}

/**
 * Where an element ends that begins before a place. Its name is one of few, so looking for its end
 * in any case costs little.
 */
function afterElement(html: string, name: string, from: number): number {
  const end = new RegExp(`</${name}`, 'gi')
  end.lastIndex = from
  const found = end.exec(html)
  return found ? after(html, '>', found.index) : html.length
}
