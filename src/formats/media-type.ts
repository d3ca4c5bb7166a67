import { type FormatName, formatOfStart, isText } from './signature.ts'

const octets = 'application/octet-stream'

/** Generic types. Programs send them when they do not know the type. */
const generic =
  /^(application|binary)\/(octet-stream|octet|x-binary|binary|unknown|x-unknown(-content-type)?|(x-)?(force-)?download|x-www-form-urlencoded|x-empty)$|^multipart\/form-data$|^unknown\/unknown$/

/** Other names of types, as programs send them. */
const aliases: Record<string, string> = {
  'image/jpg': 'image/jpeg',
  'image/jpe': 'image/jpeg',
  'image/jfif': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/x-jpeg': 'image/jpeg',
  'image/x-citrix-jpeg': 'image/jpeg',
  'application/jpg': 'image/jpeg',
  'image/x-png': 'image/png',
  'image/x-citrix-png': 'image/png',
  'image/vnd.mozilla.apng': 'image/apng',
  'image/x-gif': 'image/gif',
  'image/x-webp': 'image/webp',
  'image/tif': 'image/tiff',
  'image/x-tif': 'image/tiff',
  'image/x-tiff': 'image/tiff',
  'image/x-ms-bmp': 'image/bmp',
  'image/x-bmp': 'image/bmp',
  'image/x-windows-bmp': 'image/bmp',
  'image/svg': 'image/svg+xml',
  'image/svg-xml': 'image/svg+xml',
  'image/x-icon': 'image/vnd.microsoft.icon',
  'image/ico': 'image/vnd.microsoft.icon',
  'application/x-pdf': 'application/pdf',
  'application/acrobat': 'application/pdf',
  'application/vnd.pdf': 'application/pdf',
  'text/pdf': 'application/pdf',
  'text/x-pdf': 'application/pdf',
  'video/mpeg4': 'video/mp4',
  'video/x-mp4': 'video/mp4',
  'video/m4v': 'video/x-m4v',
  'video/mov': 'video/quicktime',
  'video/x-quicktime': 'video/quicktime',
  'video/mkv': 'video/x-matroska',
  'video/matroska': 'video/x-matroska',
  'video/avi': 'video/x-msvideo',
  'video/msvideo': 'video/x-msvideo',
  'video/vnd.avi': 'video/x-msvideo',
  'video/wmv': 'video/x-ms-wmv',
  'video/vnd.dlna.mpeg-tts': 'video/mp2t',
  'application/x-zip': 'application/zip',
  'application/x-zip-compressed': 'application/zip',
}

/**
 * The usual name of a media type; undefined for a generic type.
 * @param essence in lower case, without parameters
 */
export const knownType = (essence: string): string | undefined =>
  generic.test(essence) ? undefined : (aliases[essence] ?? essence)

/** The usual name of a stored type, which an earlier version may have stored as it was sent. */
export function essenceOf(mediaType: string): string {
  const essence = mediaType.replace(/;.*/s, '').trim().toLowerCase()
  return knownType(essence) ?? octets
}

interface Typed {
  /** The type of a file in this format that is declared as something else. */
  type: string | ((start: string) => string)
  /** The other types that files in this format have, too. */
  also?: RegExp
}

/** Formats of packages, and of programs: bytes do not show which one. */
const noMedia = /^(?!image\/|audio\/|video\/|text\/)/

function isoType(start: string): string {
  const brand = start.slice(8, 12)
  if (!start.startsWith('ftyp', 4) || brand === 'qt  ') return 'video/quicktime'
  if (/^M4V/.test(brand)) return 'video/x-m4v'
  if (/^(M4A|M4B|M4P)/.test(brand)) return 'audio/mp4'
  if (/^3g2/.test(brand)) return 'video/3gpp2'
  return /^3g/.test(brand) ? 'video/3gpp' : 'video/mp4'
}

const types: Record<FormatName, Typed> = {
  jpeg: { type: 'image/jpeg' },
  png: { type: 'image/png', also: /^image\/apng$/ },
  gif: { type: 'image/gif' },
  webp: { type: 'image/webp' },
  // Raw pictures of cameras are TIFF files.
  tiff: { type: 'image/tiff', also: /^image\/(x-|tiff-fx|vnd\.(zbrush|globalgraphics))/ },
  avif: { type: 'image/avif', also: /^image\/avif-sequence$/ },
  bmp: { type: 'image/bmp' },
  ico: { type: 'image/vnd.microsoft.icon' },
  heif: { type: 'image/heic', also: /^image\/hei[cf](-sequence)?$/ },
  jxl: { type: 'image/jxl' },
  psd: { type: 'image/vnd.adobe.photoshop', also: /photoshop|psd/ },
  pdf: { type: 'application/pdf', also: /^application\/(illustrator|postscript|vnd\.adobe\.)/ },
  mov: { type: isoType, also: /^(video|audio)\/(mp4|x-m4|quicktime|3gpp)|^application\/mp4$/ },
  matroska: {
    type: start => (start.slice(0, 64).includes('webm') ? 'video/webm' : 'video/x-matroska'),
    also: /^(video|audio)\/(webm|x-matroska|matroska)/,
  },
  avi: { type: 'video/x-msvideo' },
  ogg: {
    type: start =>
      start.includes('\x80theora') || start.includes('\x01video') ? 'video/ogg' : 'audio/ogg',
    also: /^(audio|video|application)\/(x-)?(ogg|opus|speex|vorbis|theora)/,
  },
  mpegts: { type: 'video/mp2t' },
  mpeg: { type: 'video/mpeg', also: /^video\/(mp2p|x-ms-vob|x-mpeg|dvd|mpeg-system)/ },
  mpegvideo: { type: 'video/mpeg', also: /^video\/(mpv|x-mpeg)/ },
  asf: { type: 'video/x-ms-asf', also: /^(video|audio)\/x-ms-|^application\/vnd\.ms-asf$/ },
  flv: { type: 'video/x-flv', also: /^video\/(flv|x-f4v)$/ },
  mp3: { type: 'audio/mpeg', also: /^audio\// },
  flac: { type: 'audio/flac', also: /^audio\/x-flac$/ },
  wav: { type: 'audio/wav', also: /^audio\/(x-wav|wave|vnd\.wave|x-pn-wav)$/ },
  zip: { type: 'application/zip', also: noMedia },
  gzip: { type: 'application/gzip', also: noMedia },
  '7z': { type: 'application/x-7z-compressed', also: noMedia },
  rar: { type: 'application/vnd.rar', also: noMedia },
}

/** Raw pictures that the list of types does not know have the extension alone. */
const RAW = /\.(nef|nrw|cr2|arw|srf|sr2|orf|rw2|pef|raw|rwl|3fr|iiq|erf|kdc|dcr|mos|srw|x3f)$/i
/** Sources in TypeScript have the extensions of MPEG transport streams. */
const TYPESCRIPT = /\.[cm]?ts$/i

/** The type of a source in TypeScript; undefined for another name. */
export const typescriptType = (name: string): string | undefined =>
  TYPESCRIPT.test(name) ? 'text/typescript' : undefined

/**
 * The media type of a file whose first bytes are known. A format of the list decides, unless the
 * declared type is one that such files have. Everything else keeps its type.
 * @param type the declared type, or the type by name; with or without parameters
 * @param bytes the first `START_BYTES` of the file, or the whole file
 */
export function correctedType(type: string, name: string, bytes: Uint8Array): string {
  const essence = essenceOf(type)
  const format = formatOfStart(bytes)
  if (!format) {
    if (essence !== 'video/mp2t' || !isText(bytes)) return type
    return typescriptType(name) ?? 'text/plain'
  }
  if (format === 'tiff' && RAW.test(name)) return type
  const known = types[format]
  const own = typeof known.type === 'string' ? known.type : known.type(startOf(bytes))
  const isOctets = essence === octets
  if (!isOctets && (essence === own || known.also?.test(essence)))
    return knownType(type.toLowerCase()) ?? type
  return own
}

const startOf = (bytes: Uint8Array): string =>
  Array.from(bytes.subarray(0, 512), byte => String.fromCharCode(byte)).join('')
