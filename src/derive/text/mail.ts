import { Refusal } from '../outcome.ts'
import { decode } from './decode.ts'
import { textOfHtml } from './markup.ts'

/** The maximum nesting of parts. */
const DEPTH = 6
const MOST_PARTS = 200
const SHOWN = ['subject', 'from', 'to', 'cc', 'date']

interface Part {
  headers: Map<string, string>
  body: string
}

/** A message or one of its parts, with one character per byte. */
function read(raw: string): Part {
  const gap = /\r?\n\r?\n/.exec(raw)
  const head = gap ? raw.slice(0, gap.index) : raw
  const headers = new Map<string, string>()
  // A line that begins with a space continues the previous line.
  for (const line of head.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    if (colon > 0 && !headers.has(name)) headers.set(name, line.slice(colon + 1).trim())
  }
  return { headers, body: gap ? raw.slice(gap.index + gap[0].length) : '' }
}

const parameter = (header: string, name: string): string | undefined => {
  const [, quoted, bare] =
    new RegExp(`;\\s*${name}=(?:"([^"]{0,200})"|([^\\s;]{1,200}))`, 'i').exec(header) ?? []
  return quoted ?? bare
}

const unquoted = (text: string): string =>
  text
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))

function bytesOf(body: string, encoding: string): Buffer {
  if (/base64/i.test(encoding)) return Buffer.from(body, 'base64')
  return Buffer.from(/quoted-printable/i.test(encoding) ? unquoted(body) : body, 'latin1')
}

/** Skips an undecodable part or word, and keeps the others. */
function textIn(bytes: Buffer, charset?: string): string {
  try {
    return decode(bytes, charset)
  } catch (error) {
    if (error instanceof Refusal) return ''
    throw error
  }
}

/** Decodes the RFC 2047 words of a header. */
const headerText = (header: string): string =>
  header
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?([\w-]{1,40})\?([bq])\?([^?]{0,2000})\?=/gi, (_, charset, kind, text) =>
      textIn(
        kind.toLowerCase() === 'b'
          ? Buffer.from(text, 'base64')
          : Buffer.from(unquoted(text.replaceAll('_', ' ')), 'latin1'),
        charset,
      ),
    )

/** The text of an e-mail: its sender, recipients, subject and body. Skips attachments. */
export function textOfMail(bytes: Buffer): string {
  const message = read(bytes.toString('latin1'))
  const headers = SHOWN.flatMap(name => message.headers.get(name) ?? []).map(text =>
    // Headers without an encoding are ASCII, or UTF-8 from newer programs.
    headerText(textIn(Buffer.from(text, 'latin1'))),
  )
  let left = MOST_PARTS

  function textOf({ headers, body }: Part, depth: number): string[] {
    const type = headers.get('content-type') ?? 'text/plain'
    left -= 1
    if (left < 0 || depth > DEPTH || /^attachment/i.test(headers.get('content-disposition') ?? ''))
      return []
    const boundary = parameter(type, 'boundary')
    if (/^multipart\//i.test(type) && boundary) {
      const parts = body
        .split(`--${boundary}`)
        .slice(1, MOST_PARTS)
        .filter(part => !part.startsWith('--'))
        .map(part => read(part.replace(/^[ \t]*\r?\n/, '')))
      // Alternatives contain the same text as plain text and as HTML.
      const [plain] = parts.filter(part =>
        /^text\/plain/i.test(part.headers.get('content-type') ?? 'text/plain'),
      )
      if (/^multipart\/alternative/i.test(type) && plain) return textOf(plain, depth + 1)
      return parts.flatMap(part => textOf(part, depth + 1))
    }
    if (/^message\/rfc822/i.test(type)) return textOf(read(body), depth + 1)
    if (!/^text\//i.test(type)) return []
    const text = textIn(
      bytesOf(body, headers.get('content-transfer-encoding') ?? ''),
      parameter(type, 'charset'),
    )
    return [/^text\/html/i.test(type) ? textOfHtml(text) : text]
  }

  return [...headers, '', ...textOf(message, 0)].join('\n')
}
