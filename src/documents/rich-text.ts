import { BoundedText } from './bounded-text.ts'
import { decodeAs } from './code-page.ts'

/** Groups whose content is not the text of the document. */
const DESTINATIONS = new Set(
  (
    'fonttbl colortbl stylesheet info pict object objdata themedata colorschememapping datastore ' +
    'latentstyles rsidtbl listtable listoverridetable generator xmlnstbl mmathPr fldinst filetbl ' +
    'revtbl pgptbl bkmkstart bkmkend atnid atnauthor nonshppict private template passwordhash'
  ).split(' '),
)
/** Control words that stand for characters. */
const CHARACTERS: Record<string, string> = {
  par: '\n',
  line: '\n',
  sect: '\n',
  page: '\n',
  row: '\n',
  tab: ' ',
  cell: ' ',
  nestcell: ' ',
  emdash: '—',
  endash: '–',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  bullet: '•',
  emspace: ' ',
  enspace: ' ',
}
/** The code pages of fonts, by their number in the font table. */
const CHARSETS: Record<number, number> = {
  77: 10000,
  128: 932,
  129: 949,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  163: 1258,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  222: 874,
  238: 1250,
}

interface State {
  isSkipped: boolean
  isHidden: boolean
  /** How many characters stand for a character of Unicode, for old programs. */
  fallback: number
  codePage: number
}

const TOKEN =
  /\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^a-z'])|([{}])|[\r\n]+|[^\\{}\r\n]+|\\/giy

const nameOf = (codePage: number): string =>
  codePage >= 1250 && codePage <= 1258 ? `windows-${codePage}` : `cp${codePage}`

/** The text of an RTF document. */
export function textOfRtf(bytes: Uint8Array): string {
  const source = new TextDecoder('latin1').decode(bytes)
  const text = new BoundedText()
  const fonts = new Map<number, number>()
  const outer: State[] = []
  let state: State = { isSkipped: false, isHidden: false, fallback: 1, codePage: 1252 }
  let usual = 1252
  let font = 0
  let isInFonts = false
  let skipped = 0
  /** Bytes of a code page, which may be parts of a character. */
  let pending: number[] = []

  const flush = () => {
    if (pending.length === 0) return
    text.add(decodeAs(Uint8Array.from(pending), nameOf(state.codePage)) ?? '')
    pending = []
  }
  const add = (said: string) => {
    flush()
    if (!state.isSkipped && !state.isHidden) text.add(said)
  }
  const addByte = (byte: number) => {
    if (skipped > 0) skipped -= 1
    else if (!state.isSkipped && !state.isHidden) pending.push(byte)
  }

  function word(name: string, value: number | undefined): void {
    if (name === 'ansicpg' && value !== undefined) {
      usual = value
      state.codePage = value
    } else if (name === 'mac') state.codePage = usual = 10000
    else if (name === 'pc') state.codePage = usual = 437
    else if (name === 'uc') state.fallback = Math.min(Math.max(value ?? 1, 0), 10)
    else if (name === 'u' && value !== undefined) {
      add(String.fromCharCode(value < 0 ? value + 65_536 : value & 0xffff))
      skipped = state.fallback
    } else if (name === 'f' && value !== undefined) {
      flush()
      font = value
      if (!isInFonts) state.codePage = fonts.get(font) ?? usual
    } else if (name === 'fcharset' && isInFonts) {
      const codePage = CHARSETS[value ?? 0]
      if (codePage !== undefined) fonts.set(font, codePage)
    } else if (name === 'v' || name === 'deleted') state.isHidden = value !== 0
    else if (name === 'plain') state.isHidden = false
    else if (name === 'fonttbl') {
      isInFonts = true
      state.isSkipped = true
    } else if (DESTINATIONS.has(name)) state.isSkipped = true
    else {
      const character = CHARACTERS[name]
      if (character !== undefined) add(character)
    }
  }

  for (let at = 0; at < source.length && !text.isFull; ) {
    TOKEN.lastIndex = at
    const found = TOKEN.exec(source)
    if (!found) break
    at = TOKEN.lastIndex
    const [whole, name, value, hex, symbol, brace] = found
    if (hex !== undefined) addByte(Number.parseInt(hex, 16))
    else if (name !== undefined) {
      if (name === 'bin') at += Math.max(0, Number(value ?? 0))
      flush()
      word(name, value === undefined ? undefined : Number(value))
    } else if (symbol !== undefined) {
      if (symbol === '*') state.isSkipped = true
      else if (symbol === '~') add(' ')
      else if (symbol === '_') add('-')
      else if (/[\\{}]/.test(symbol)) addByte(symbol.charCodeAt(0))
      else if (/[\r\n]/.test(symbol)) add('\n')
    } else if (brace === '{') {
      flush()
      skipped = 0
      if (outer.length < 1000) outer.push(state)
      state = { ...state }
    } else if (brace === '}') {
      flush()
      skipped = 0
      if (isInFonts && outer.at(-1)?.isSkipped === false) isInFonts = false
      state = outer.pop() ?? state
    } else if (!/^[\r\n\\]/.test(whole)) {
      const said = whole.slice(skipped)
      skipped = Math.max(0, skipped - whole.length)
      if (!state.isSkipped && !state.isHidden)
        for (let byte = 0; byte < said.length; byte++) pending.push(said.charCodeAt(byte))
    }
  }
  flush()
  return text.toString()
}
