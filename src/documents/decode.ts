import { decodeAs } from './code-page.ts'
import { detectCharset } from './detect.ts'

/** The bytes that are checked for signs of a character set or of a binary file. */
const SNIFFED = 64 * 1024
/** The beginning of a text that may declare its character set. */
const DECLARED = 2048

const marks: [mark: number[], charset: string][] = [
  [[0xff, 0xfe, 0, 0], 'utf-32le'],
  [[0, 0, 0xfe, 0xff], 'utf-32be'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
  [[0xef, 0xbb, 0xbf], 'utf-8'],
]

/** The escapes of ISO-2022-JP. */
const escapes = ['$@', '$B', '(J', '(I'].map(rest => `\u001b${rest}`)

const startsWith = (bytes: Uint8Array, mark: number[]): boolean =>
  mark.every((byte, at) => bytes[at] === byte)

/** The share of zeros among the bytes at each position of a group of four. */
function zerosByPlace(bytes: Uint8Array): [number, number, number, number] {
  const counts: [number, number, number, number] = [0, 0, 0, 0]
  for (let at = 0; at < bytes.length; at++)
    if (bytes[at] === 0) counts[(at & 3) as 0 | 1 | 2 | 3] += 1
  const groups = Math.max(1, bytes.length / 4)
  return [counts[0] / groups, counts[1] / groups, counts[2] / groups, counts[3] / groups]
}

/** Whether a text consists of characters that people write, mostly of one script. */
function isPlausible(text: string): boolean {
  const characters = [...text]
  const bad = characters.filter(character => /[\p{Cn}\p{Co}\p{Cs}\ufffd]/u.test(character)).length
  const controls = characters.filter(character => /(?!\s)\p{Cc}/u.test(character)).length
  if ((bad + controls) * 50 > characters.length) return false
  const letters = characters.filter(character => /\p{L}/u.test(character))
  const scripts = [
    /\p{Script=Latin}/u,
    /\p{Script=Cyrillic}/u,
    /\p{Script=Greek}/u,
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u,
    /\p{Script=Hangul}/u,
    /\p{Script=Arabic}/u,
    /\p{Script=Hebrew}/u,
    /\p{Script=Thai}/u,
    /\p{Script=Devanagari}/u,
  ]
  const most = Math.max(
    ...scripts.map(script => letters.filter(letter => script.test(letter)).length),
  )
  return letters.length > 0 && most * 10 >= letters.length * 7
}

/** UTF-16 or UTF-32 without a mark: zeros stand at some places only. */
function wideCharsetOf(bytes: Uint8Array): string | undefined {
  const start = bytes.subarray(0, 4096 & ~3)
  if (!start.includes(0)) return undefined
  const [first, second, third, last] = zerosByPlace(start)
  const few = 0.05
  if (bytes.length >= 8 && bytes.length % 4 === 0) {
    if (last > 0.99 && third > 0.9 && first < few) return 'utf-32le'
    if (first > 0.99 && second > 0.9 && last < few) return 'utf-32be'
  }
  if (bytes.length < 4) return undefined
  const [even, odd] = [(first + third) / 2, (second + last) / 2]
  const charset = even < few && odd > even ? 'utf-16le' : odd < few ? 'utf-16be' : undefined
  const text = charset && decodeAs(start.subarray(0, start.length & ~1), charset, { isCut: true })
  return text && isPlausible(text) ? charset : undefined
}

/**
 * How much of some bytes is UTF-8: characters of several bytes, and bytes that are part of none.
 */
function utf8In(bytes: Uint8Array): { characters: number; invalid: number } {
  let characters = 0
  let invalid = 0
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] ?? 0
    const length = byte < 0x80 ? 1 : byte < 0xc2 ? 0 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
    if (length === 1) {
      at += 1
      continue
    }
    let behind = 1
    while (behind < length && ((bytes[at + behind] ?? 0) & 0xc0) === 0x80) behind += 1
    // The end may be cut within a character.
    if (length > 0 && byte < 0xf5 && (behind === length || at + behind >= bytes.length)) {
      characters += 1
      at += behind
    } else {
      invalid += 1
      at += 1
    }
  }
  return { characters, invalid }
}

/** Whether a text is UTF-8, but for a few bytes, as in logs of several programs. */
function isMostlyUtf8(bytes: Uint8Array): boolean {
  if (decodeAs(bytes, 'utf-8', { isFatal: true, isCut: true }) !== undefined) return true
  const { characters, invalid } = utf8In(bytes)
  return characters > 8 * invalid
}

/** The character set that a text declares for itself: HTML, XML, PO files, sources. */
function declaredIn(bytes: Uint8Array): string | undefined {
  const start = decodeAs(bytes.subarray(0, DECLARED), 'windows-1252') ?? ''
  const [, charset] =
    /^\s*<\?xml[^>]{0,200}\sencoding\s*=\s*["']([\w.:-]{2,40})["']/i.exec(start) ??
    /<meta[^>]{0,400}charset\s*=\s*["']?\s*([\w.:-]{2,40})/i.exec(start) ??
    /^@charset\s+"([\w.:-]{2,40})"/i.exec(start) ??
    /^"?content-type:\s*text\/[\w-]+;\s*charset="?([\w.:-]{2,40})/im.exec(start) ??
    /;charset=([\w.:-]{2,40})[;:]/i.exec(start) ??
    /^(?:[^\n]*\n)?[^\n]{0,80}coding[:=]\s*([\w.-]{2,40})/i.exec(start) ??
    []
  return charset
}

const isUtf = (charset: string): boolean => /^(x-)?(unicode-1-1-)?utf-?(8|16|7)/i.test(charset)

/** The character set of a text, and the length of its mark in bytes. */
export function charsetOf(
  bytes: Uint8Array,
  declared: string | undefined,
): { charset: string; start: number } {
  for (const [mark, charset] of marks)
    if (startsWith(bytes, mark)) return { charset, start: mark.length }
  const wide = wideCharsetOf(bytes)
  if (wide) return { charset: wide, start: 0 }
  // Seven bits, with escapes between ASCII and Japanese.
  const start = decodeAs(bytes.subarray(0, SNIFFED), 'windows-1252') ?? ''
  if (escapes.some(mark => start.includes(mark))) return { charset: 'iso-2022-jp', start: 0 }
  if (isMostlyUtf8(bytes)) return { charset: 'utf-8', start: 0 }
  for (const named of [declared, declaredIn(bytes)])
    if (named && !isUtf(named) && decodeAs(bytes.subarray(0, 64), named) !== undefined)
      return { charset: named, start: 0 }
  return { charset: detectCharset(bytes).charset, start: 0 }
}

/**
 * Decodes a text: by its byte order mark, as UTF-8, by a declaration, or as the character set in
 * which it makes the most sense. Zeros, which end parts of some texts, become line breaks.
 * @param bytes a text, or its beginning; an incomplete character at the end is dropped
 * @param declared the character set that a header or a media type declares
 */
export function decode(bytes: Uint8Array, declared?: string): string {
  const { charset, start } = charsetOf(bytes, declared)
  const rest = bytes.subarray(start)
  const text = charset.startsWith('utf-32')
    ? fromUtf32(rest, charset === 'utf-32le')
    : (decodeAs(rest, charset, { isCut: true }) ?? '')
  return text.includes('\0') ? text.replace(/\0+/g, '\n') : text
}

/** The character set in a media type or a header. */
export const charsetIn = (contentType: string): string | undefined =>
  /;\s*charset\s*=\s*"?([\w:.+-]+)/i.exec(contentType)?.[1]

function fromUtf32(bytes: Uint8Array, isLittle: boolean): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const parts: string[] = []
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const code = view.getUint32(at, isLittle)
    parts.push(code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd')
  }
  return parts.join('')
}

/**
 * The logarithm of the probability per byte beyond ASCII, below which bytes are no text of any
 * language. Texts of Latin scripts have few such bytes, and may have rare letters.
 */
const NO_LANGUAGE = -7.2
const NO_LATIN = -10

/**
 * Whether bytes are a text. Counts control characters, which binary files are full of.
 * @param isNamed whether a name or a media type says so: such a file may have some, such as a log
 * that a crash filled with zeros
 */
export function isText(bytes: Uint8Array, isNamed: boolean): boolean {
  const start = bytes.subarray(0, SNIFFED)
  if (start.length === 0) return true
  if (marks.some(([mark]) => startsWith(start, mark)) || wideCharsetOf(start)) return true
  let zeros = 0
  let controls = 0
  for (const byte of start) {
    if (byte === 0) zeros += 1
    else if (byte < 32 ? byte < 9 || (byte > 13 && byte !== 0x1b && byte !== 0x1a) : byte === 127)
      controls += 1
  }
  const rest = start.length - zeros
  if (controls * (isNamed ? 20 : 500) > rest || rest === 0) return false
  if (isNamed) return true
  if (isNamed) return true
  if (zeros * 10 > start.length) return false
  if (isMostlyUtf8(start)) return true
  const high = start.reduce((count, byte) => count + (byte > 127 ? 1 : 0), 0)
  return detectCharset(start).likelihood > (high * 3 > rest ? NO_LANGUAGE : NO_LATIN)
}
