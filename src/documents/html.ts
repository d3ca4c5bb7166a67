import { Parser } from 'htmlparser2'
import { BoundedText } from './bounded-text.ts'

/** HTML characters per parser step. */
const STEP = 64 * 1024
/** The most elements that are open at once, with which the parser stays quick. */
const DEPTH = 5000

/** Elements whose content is invisible. */
const UNSHOWN =
  /^(script|style|template|noscript|noembed|noframes|defs|metadata|datalist|audio|video|object)$/
/** Elements that begin a line, and those that may occur within a word. */
const LINE =
  /^(p|div|li|tr|h[1-6]|br|section|article|title|dt|dd|pre|blockquote|table|ul|ol|hr|header|footer|option|figcaption|caption|text)$/
const WITHIN =
  /^(b|i|u|s|em|strong|span|a|sub|sup|mark|small|big|wbr|font|code|abbr|ins|ruby|rb|bdi|bdo|cite|kbd|q|tt|nobr|tspan|label)$/
/** Deleted text, and phonetic guides. */
const LEFT_OUT = /^(del|strike|rt|rp)$/
const TYPED = /^(text|search|email|tel|url|number|submit|button|reset|)$/

const isHidden = ({ style = '', hidden }: Record<string, string>): boolean =>
  hidden !== undefined || /(?:^|;)\s*(display\s*:\s*none|visibility\s*:\s*hidden)/i.test(style)

/**
 * The visible text of HTML, XHTML and SVG. Uses no DOM, because a hostile document could exhaust
 * the memory.
 */
export function textOfHtml(html: string): string {
  const text = new BoundedText()
  /** Whether each open element, from the outside, is the first that hides its content. */
  const open: { name: string; hides: boolean }[] = []
  let hidden = 0
  const gap = (name: string) => {
    if (!WITHIN.test(name)) text.add(LINE.test(name) ? '\n' : ' ')
  }
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (open.length >= DEPTH) return parser.pause()
        const hides = UNSHOWN.test(name) || LEFT_OUT.test(name) || isHidden(attributes)
        open.push({ name, hides })
        if (hides) hidden += 1
        if (hidden > 0) return
        gap(name)
        if (name === 'img' || name === 'area') text.add(` ${attributes.alt ?? ''} `)
        if (name === 'input' && TYPED.test(attributes.type ?? ''))
          text.add(` ${attributes.value ?? ''} `)
      },
      ontext(said) {
        if (hidden === 0) text.add(said.replaceAll('\u00ad', '').replaceAll('\u00a0', ' '))
      },
      onclosetag(name) {
        if (open.pop()?.hides) hidden -= 1
        if (hidden === 0) gap(name)
      },
    },
    {
      decodeEntities: true,
      lowerCaseTags: true,
      // In XHTML, `<script/>` has no content.
      recognizeSelfClosing: /^\s*(<\?xml|<!DOCTYPE[^>]{0,100}XHTML)|^[^>]{0,200}xmlns=/i.test(
        html.slice(0, 1000),
      ),
      recognizeCDATA: true,
    },
  )
  for (let at = 0; at < html.length && !text.isFull; at += STEP)
    parser.write(html.slice(at, at + STEP))
  parser.end()
  return text.toString()
}
