import { SaxesParser } from 'saxes'
import { BoundedText } from './bounded-text.ts'

/** XML characters per parser step. */
const STEP = 64 * 1024

interface Handler {
  open(name: string, attributes: Record<string, string>): void
  close(name: string): void
  text(text: string): void
  /** Whether the rest can be skipped. */
  isDone(): boolean
}

/**
 * Parses XML. Knows only the five predefined entities: never expands a document's own entities, and
 * fetches nothing. Reads broken XML as far as possible.
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

/** Elements whose content is invisible. */
const UNSHOWN = /^(script|style|template|noscript|svg|head)$/
/** Elements that may occur within a word. */
const WITHIN = /^(b|i|u|em|strong|span|a|sub|sup|mark|small|wbr|font|code)$/

/**
 * The visible text of HTML. Uses no DOM parser, because a hostile document could exhaust the
 * memory.
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
    // The title is visible, although it is in the head.
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
 * The position after an element that starts before `from`. There are few such names, so
 * case-insensitive search is cheap.
 */
function afterElement(html: string, name: string, from: number): number {
  const end = new RegExp(`</${name}`, 'gi')
  end.lastIndex = from
  const found = end.exec(html)
  return found ? after(html, '>', found.index) : html.length
}
