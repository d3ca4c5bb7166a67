import { create } from 'content-disposition'
import mime from 'mime'
import { correctedType, knownType, typescriptType } from '../formats/media-type.ts'
import { AppError } from '../runtime/errors.ts'

/** `download` sends an attachment; `inline` displays safe types in the browser. */
export type Mode = 'download' | 'inline'

const octets = 'application/octet-stream'
const svg = 'image/svg+xml'
const longest = 127

// The restricted names of RFC 6838. Unlike HTTP tokens, they exclude `*`, so `image/*` is no type.
const restricted = '[a-z0-9][a-z0-9!#$&^_.+-]*'
const pattern = new RegExp(`^(${restricted}/${restricted})[ \\t]*(?:;(.*))?$`)
const charsetParameter = /(?:^|;)[ \t]*charset="?([a-z0-9][a-z0-9_:.+-]*)"?[ \t]*(?:;|$)/

/**
 * The media type to store a file with: the given type if it is specific, else the type by name.
 * @param given the client's type, possibly with parameters; an invalid type is ignored
 * @returns lower case, at most 127 characters, without parameters except a known charset of a text
 * type
 */
export function mediaTypeOf(name: string, given?: string): string {
  return normalise(given) ?? typeByName(name)
}

/**
 * The media type of a part of a multipart form. A part without a type *is* `text/plain` (RFC 7578,
 * 4.4), and parsers report it so. Therefore a plain `text/plain` yields to a more specific type by
 * name.
 * @param reported the type from the form parser
 */
export function mediaTypeOfPart(name: string, reported: string): string {
  const type = mediaTypeOf(name, reported)
  if (type !== 'text/plain') return type
  const named = typeByName(name)
  return named === octets ? type : named
}

/**
 * The media type to store a file with, once its first bytes are known. For the formats listed in
 * `src/formats/`, the bytes decide.
 * @param type the declared type, or the type by name
 */
export const mediaTypeOfBytes = (type: string, name: string, start: Uint8Array): string =>
  correctedType(type === octets ? typeByName(name) : type, name, start)

/**
 * Parses the `mode` of a download. A missing or empty mode means `download`.
 * @param lenient whether invalid modes also mean `download`, for routes without a 400
 * @throws AppError INVALID_MODE
 */
export function parseMode(text: string | undefined, lenient = false): Mode {
  if (text === 'inline') return 'inline'
  if (!text || text === 'download' || lenient) return 'download'
  throw invalidMode()
}

/**
 * The headers for sending a file.
 * @param name the file's name, any Unicode
 * @param type its stored media type, which is never trusted
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
  // A lone surrogate cannot be encoded, and a download must not fail because of its name.
  const filename = Buffer.from(name).toString()
  if (mode === 'inline' && isDisplayable(essence))
    return {
      disposition: create(filename, { type: 'inline' }),
      contentType: essence === 'text/plain' ? 'text/plain; charset=utf-8' : essence,
    }
  const disposition = create(filename, { type: 'attachment' })
  // In an image element, no script of an SVG runs. Opening its URL directly downloads it.
  if (mode === 'inline' && essence === svg) return { disposition, contentType: svg }
  return { disposition, contentType: isRunnable(essence) ? octets : full }
}

// Browsers parse every +xml type as a document, and run scripts in the XHTML or SVG namespace.
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

// A second defence besides `attachment`: never names a type that a browser or plug-in may execute,
// or that may contain such parts (multipart and message, as in MHTML). Keeps only a few known text
// types.
function isRunnable(essence: string): boolean {
  if (essence.startsWith('text/')) return !harmlessText.has(essence)
  return /^(?:multipart|message)\/|[/+]xml|html|svg|xsl|xul|script|java|shockwave|wasm|\/hta$/.test(
    essence,
  )
}

function normalise(given: string | undefined): string | undefined {
  const [, essence, parameters = ''] = pattern.exec(given?.trim().toLowerCase() ?? '') ?? []
  if (!essence || essence.length > longest) return undefined
  const known = knownType(essence)
  if (!known) return undefined
  const charset = known.startsWith('text/') && charsetParameter.exec(parameters)?.[1]
  const full = charset && isKnownCharset(charset) ? `${known}; charset=${charset}` : known
  return full.length > longest ? known : full
}

function isKnownCharset(label: string): boolean {
  try {
    new TextDecoder(label)
    return true
  } catch {
    return false
  }
}

// With a folder prefix, the library treats `png` and `.png` as names without an extension.
function typeByName(name: string): string {
  const type = typescriptType(name) ?? mime.getType(`./${name}`)
  return (type && knownType(type)) ?? octets
}

export const invalidMode = () =>
  new AppError('INVALID_MODE', 'The mode must be download or inline.', { field: 'mode' })
