import { markUndecoded } from './paths.ts'

/**
 * The name of a file in a form, from the `filename` of its part. Clients write names in three ways
 * that browsers and mail programs understand:
 *
 * - a path of the client, such as `a/b.txt` or `C:\Users\x\b.txt`, means its last name (RFC 7578,
 *   section 4.2),
 * - browsers write a quote and line breaks as `%22`, `%0D` and `%0A` (WHATWG HTML, section
 *   4.10.22),
 * - older clients write encoded words, such as `=?UTF-8?B?4oKsLnR4dA==?=` (RFC 2047).
 *
 * A backslash elsewhere is part of the name, and such a name is refused later: `a\b.txt` may be the
 * name of a file on Linux, which must not become `b.txt` unnoticed. Undecodable bytes make a name
 * invalid.
 */
export function nameOfPart(filename: string): string {
  const path = decodeWords(filename)
  const name = path.split(windowsPath.test(path) ? /[\\/]/ : '/').at(-1) ?? ''
  // A client that writes encoded words writes no percent signs for a quote.
  const isExact = path !== filename
  return markUndecoded(isExact ? name : name.replaceAll(ofBrowsers, (_, hex) => characterOf(hex)))
}

/** What browsers write for a quote and line breaks. */
const ofBrowsers = /%(22|0D|0A)/gi

/** A path from the root of a drive or of a network share. */
const windowsPath = /^(?:[a-z]:)?\\/i

const encodedWord = /=\?([\w-]+)(?:\*[\w-]+)?\?([BQ])\?([^?\s]*)\?=/gi

/** White space between two encoded words is not part of the text (RFC 2047, section 6.2). */
const between = /(\?=)\s+(?==\?)/g

const decodeWords = (text: string): string =>
  text.replaceAll(between, '$1').replaceAll(encodedWord, (word, charset, encoding, encoded) => {
    const isBase64 = encoding.toUpperCase() === 'B'
    const bytes = isBase64 ? Buffer.from(encoded, 'base64') : bytesOfQ(encoded)
    return decoded(bytes, charset) ?? word
  })

/** The bytes of the "Q" encoding: `=` with two digits, and `_` for a space. */
const bytesOfQ = (encoded: string): Buffer =>
  Buffer.from(
    encoded.replaceAll('_', ' ').replaceAll(/=([0-9A-F]{2})/gi, (_, hex) => characterOf(hex)),
    'latin1',
  )

const characterOf = (hex: string): string => String.fromCharCode(Number.parseInt(hex, 16))

/** Undefined for an unknown charset or invalid bytes. */
function decoded(bytes: Buffer, charset: string): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
