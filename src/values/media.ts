import { create } from 'content-disposition'
import mime from 'mime'
import { AppError } from '../runtime/errors.ts'

/** `download` sends an attachment; `inline` displays what is harmless to display. */
export type Mode = 'download' | 'inline'

const octets = 'application/octet-stream'
const svg = 'image/svg+xml'
const longest = 127

// The restricted names of RFC 6838: unlike a token of HTTP they have no `*`, so `image/*` is no
// type.
const restricted = '[a-z0-9][a-z0-9!#$&^_.+-]*'
const pattern = new RegExp(`^(${restricted}/${restricted})[ \\t]*(?:;(.*))?$`)
const charsetParameter = /(?:^|;)[ \t]*charset="?([a-z0-9][a-z0-9_:.+-]*)"?[ \t]*(?:;|$)/

/**
 * The media type that a file is stored with: the given one when it says something, else what the
 * name says.
 * @param given a type as clients send it, possibly with parameters; anything invalid counts as not
 * given
 * @returns lower case, at most 127 characters, without parameters except a known charset of a text
 * type
 */
export function mediaTypeOf(name: string, given?: string): string {
  const type = normalise(given)
  return type && type !== octets ? type : typeByName(name)
}

/**
 * The media type of a part of a multipart form. A part without a type *is* `text/plain` (RFC 7578,
 * 4.4), and form parsers report it as that, so a bare `text/plain` gives way to a name that says
 * more.
 * @param reported the type that the form parser reports
 */
export function mediaTypeOfPart(name: string, reported: string): string {
  const type = mediaTypeOf(name, reported)
  if (type !== 'text/plain') return type
  const named = typeByName(name)
  return named === octets ? type : named
}

/**
 * Reads the `mode` of a download; nothing, or nothing but an empty text, is `download`.
 * @param lenient whether anything else is `download` too, for routes that list no 400
 * @throws AppError INVALID_MODE
 */
export function parseMode(text: string | undefined, lenient = false): Mode {
  if (text === 'inline') return 'inline'
  if (!text || text === 'download' || lenient) return 'download'
  throw new AppError('INVALID_MODE', 'The mode must be download or inline.', { field: 'mode' })
}

/**
 * The headers under which a file is sent.
 * @param name the file's own name, any Unicode
 * @param type its media type, as stored; never trusted
 * @returns `disposition` for Content-Disposition (RFC 6266) and `contentType` for Content-Type,
 * both plain ASCII
 */
export function deliveryOf(
  name: string,
  type: string,
  mode: Mode,
): { disposition: string; contentType: string } {
  const full = normalise(type) ?? octets
  const essence = full.replace(/;.*/, '')
  // A name with half a surrogate pair cannot be encoded, and no download should fail for its name.
  const filename = Buffer.from(name).toString()
  if (mode === 'inline' && isDisplayable(essence))
    return {
      disposition: create(filename, { type: 'inline' }),
      contentType: essence === 'text/plain' ? 'text/plain; charset=utf-8' : essence,
    }
  const disposition = create(filename, { type: 'attachment' })
  // A page shows it as a picture, in which no script runs; who opens its address gets a download.
  if (mode === 'inline' && essence === svg) return { disposition, contentType: svg }
  return { disposition, contentType: isRunnable(essence) ? octets : full }
}

// Browsers parse every type that ends in +xml as a document, and run the scripts of an XHTML or SVG
// namespace in it, whatever stands before the slash.
function isDisplayable(essence: string): boolean {
  if (/svg|xml/.test(essence)) return false
  return (
    /^(?:image|audio|video)\//.test(essence) ||
    essence === 'application/pdf' ||
    essence === 'text/plain'
  )
}

const harmlessText = new Set([
  'text/plain',
  'text/csv',
  'text/markdown',
  'text/calendar',
  'text/vcard',
  'text/vtt',
  'text/tab-separated-values',
])

// The second lock behind `attachment`: a type that some browser or plug-in executes, or that
// contains such parts (multipart and message, as in MHTML), is not named at all. Of text types only
// a few known ones are kept.
function isRunnable(essence: string): boolean {
  if (essence.startsWith('text/')) return !harmlessText.has(essence)
  return /^(?:multipart|message)\/|[/+]xml|html|svg|xsl|xul|script|java|shockwave|wasm|\/hta$/.test(
    essence,
  )
}

function normalise(given: string | undefined): string | undefined {
  const [, essence, parameters = ''] = pattern.exec(given?.trim().toLowerCase() ?? '') ?? []
  if (!essence || essence.length > longest) return undefined
  const charset = essence.startsWith('text/') && charsetParameter.exec(parameters)?.[1]
  const full = charset && isKnownCharset(charset) ? `${essence}; charset=${charset}` : essence
  return full.length > longest ? essence : full
}

function isKnownCharset(label: string): boolean {
  try {
    new TextDecoder(label)
    return true
  } catch {
    return false
  }
}

// With a folder before it, the library reads `png` and `.png` as names without an extension.
function typeByName(name: string): string {
  return mime.getType(`./${name}`) ?? octets
}
