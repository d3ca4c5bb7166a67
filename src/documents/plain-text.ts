import { decodeAs } from './code-page.ts'
import { charsetOf, isText } from './decode.ts'

/** A text that can be edited, and how it was stored. */
export interface PlainText {
  text: string
  /** A label of the Encoding Standard, or a code page of MS-DOS. */
  charset: string
  /** The byte order mark, or empty. */
  mark: Uint8Array<ArrayBuffer>
  /** Whether `encodeText` knows the character set. */
  isKept: boolean
}

/**
 * Decodes a whole text for editing, without changing a character: saving it unchanged makes the
 * same bytes.
 * @param declared the character set that a media type declares
 * @returns null for bytes that are not a text, or only partly
 */
export function readPlainText(bytes: Uint8Array<ArrayBuffer>, declared?: string): PlainText | null {
  if (bytes.length === 0)
    return { text: '', charset: 'utf-8', mark: new Uint8Array(), isKept: true }
  if (!isText(bytes, true)) return null
  const { charset, start } = charsetOf(bytes, declared)
  const rest = bytes.subarray(start)
  const text = decodeAs(rest, charset, { isFatal: true })
  if (text === undefined || text.includes('\0')) return null
  const again = encodeText(text, charset)
  const isKept = again?.length === rest.length && again.every((byte, at) => byte === rest[at])
  return { text, charset, mark: bytes.slice(0, start), isKept }
}

/**
 * Encodes a text as UTF-8, UTF-16, or a character set with one byte per character.
 * @returns undefined for other character sets, and if the set lacks a character of the text
 */
export function encodeText(text: string, charset: string): Uint8Array<ArrayBuffer> | undefined {
  const name = charset.trim().toLowerCase()
  if (name === 'utf-8' || name === 'utf8') return new TextEncoder().encode(text)
  if (name === 'utf-16le' || name === 'utf-16be') return inUtf16(text, name === 'utf-16le')
  const bytesOf = singleBytesOf(name)
  if (!bytesOf) return undefined
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at++) {
    const byte = bytesOf.get(text.charAt(at))
    if (byte === undefined) return undefined
    bytes[at] = byte
  }
  return bytes
}

function inUtf16(text: string, isLittle: boolean): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length * 2)
  const view = new DataView(bytes.buffer)
  for (let at = 0; at < text.length; at++) view.setUint16(at * 2, text.charCodeAt(at), isLittle)
  return bytes
}

/** The bytes of all characters of a set; undefined if a character may take several bytes. */
function singleBytesOf(charset: string): Map<string, number> | undefined {
  const bytes = new Map<string, number>()
  for (let byte = 0; byte < 256; byte++) {
    const character = decodeAs(Uint8Array.of(byte), charset)
    if (character === undefined || (byte < 0x80 && character !== String.fromCharCode(byte)))
      return undefined
    if (character.length === 1 && character !== '\ufffd') bytes.set(character, byte)
  }
  // In a set with several bytes per character, most bytes beyond ASCII mean nothing alone.
  return bytes.size > 200 ? bytes : undefined
}

export type LineBreak = '\n' | '\r\n' | '\r'

/**
 * The line breaks of a text, if all are the same; otherwise LF, so that every CR is kept.
 * @param otherwise for a text of a single line
 */
export function lineBreakOf(text: string, otherwise: LineBreak = '\n'): LineBreak {
  const all = text.match(/\r\n|\r|\n/g) ?? []
  const [first = otherwise] = all
  return all.every(one => one === first) ? (first as LineBreak) : '\n'
}
