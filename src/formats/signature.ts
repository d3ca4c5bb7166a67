/** The name of a format that a file shows in its first bytes. */
export type FormatName =
  | 'jpeg'
  | 'png'
  | 'gif'
  | 'webp'
  | 'tiff'
  | 'avif'
  | 'bmp'
  | 'ico'
  | 'heif'
  | 'jxl'
  | 'psd'
  | 'pdf'
  | 'mov'
  | 'matroska'
  | 'avi'
  | 'ogg'
  | 'mpegts'
  | 'mpeg'
  | 'mpegvideo'
  | 'asf'
  | 'flv'
  | 'mp3'
  | 'flac'
  | 'wav'
  | 'zip'
  | 'gzip'
  | '7z'
  | 'rar'

/** The first bytes of a file, prepared for comparison. */
interface Start {
  bytes: Uint8Array
  /** As Latin-1 text. */
  text: string
}

/** The number of first bytes in which every format of the list shows itself. */
export const START_BYTES = 4096

/** The distances between packets of MPEG transport streams: broadcasts, and AVCHD cameras. */
const PACKETS = [
  { offset: 0, length: 188 },
  { offset: 4, length: 192 },
]
/** The number of packets that must begin with the sync byte, if the start has so many. */
const SYNCED = 5

function isTransportStream({ bytes }: Start): boolean {
  return PACKETS.some(({ offset, length }) => {
    const count = Math.min(SYNCED, Math.floor((bytes.length - offset - 1) / length) + 1)
    return (
      bytes.length >= length &&
      Array.from({ length: count }).every((_, i) => bytes[offset + i * length] === 0x47)
    )
  })
}

/** A text may begin with the letters BM, too, so the size of the header must be a known one. */
const bitmapHeaders = [12, 16, 40, 52, 56, 64, 108, 124]

const isBitmap = ({ bytes, text }: Start): boolean =>
  text.startsWith('BM') &&
  bitmapHeaders.includes(bytes[14] ?? 0) &&
  bytes[15] === 0 &&
  bytes[16] === 0 &&
  bytes[17] === 0

/** The number of pictures, and a zero in the first of them, tell an icon from other bytes. */
const isIcon = ({ bytes, text }: Start): boolean =>
  text.startsWith('\0\0\x01\0') &&
  (bytes[4] ?? 0) > 0 &&
  (bytes[4] ?? 0) <= 64 &&
  bytes[5] === 0 &&
  bytes[9] === 0

/** ISO files begin with a box that names their brands. */
function isoFormat({ text }: Start): FormatName | undefined {
  const [, brand = ''] = /^.{4}ftyp(.{4})/s.exec(text) ?? []
  if (!brand) return /^.{4}(moov|mdat|wide|free|skip|pnot)/s.test(text) ? 'mov' : undefined
  if (/^avi[fs]$/.test(brand)) return 'avif'
  if (!/^(hei|hev|mif1|msf1|miaf)/.test(brand)) return 'mov'
  return /avi[fs]/.test(text.slice(8, 64)) ? 'avif' : 'heif'
}

const begins =
  (...starts: string[]) =>
  ({ text }: Start): boolean =>
    starts.some(start => text.startsWith(start))

const signatures: [FormatName, (start: Start) => boolean][] = [
  ['jpeg', begins('\xff\xd8\xff')],
  ['png', begins('\x89PNG\r\n\x1a\n')],
  ['gif', begins('GIF87a', 'GIF89a')],
  ['webp', ({ text }) => /^RIFF.{4}WEBP/s.test(text)],
  ['tiff', begins('II*\0', 'II+\0', 'MM\0*', 'MM\0+')],
  ['bmp', isBitmap],
  ['ico', isIcon],
  ['jxl', begins('\xff\x0a', '\0\0\0\x0cJXL \r\n\x87\n')],
  ['psd', begins('8BPS\0\x01', '8BPS\0\x02')],
  ['pdf', begins('%PDF-')],
  ['matroska', begins('\x1a\x45\xdf\xa3')],
  ['avi', ({ text }) => /^RIFF.{4}AVI /s.test(text)],
  ['wav', ({ text }) => /^(RIFF|RF64).{4}WAVE/s.test(text)],
  ['ogg', begins('OggS\0')],
  ['mpeg', begins('\0\0\x01\xba')],
  ['mpegvideo', begins('\0\0\x01\xb3')],
  ['asf', begins('\x30\x26\xb2\x75\x8e\x66\xcf\x11')],
  ['flv', begins('FLV\x01')],
  ['mp3', begins('ID3\x02\0', 'ID3\x03\0', 'ID3\x04\0')],
  ['flac', begins('fLaC\0\0\0\x22', 'fLaC\x80\0\0\x22')],
  ['zip', begins('PK\x03\x04', 'PK\x05\x06')],
  ['gzip', begins('\x1f\x8b\x08')],
  ['7z', begins("7z\xbc\xaf'\x1c")],
  ['rar', begins('Rar!\x1a\x07')],
  ['mpegts', isTransportStream],
]

/** The first bytes as Latin-1 text, without Node.js. */
function textOf(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}

/**
 * Detects the format of a file by its first bytes, because people and programs choose names and
 * media types.
 * @param bytes the first `START_BYTES` of the file, or the whole file
 */
export function formatOfStart(bytes: Uint8Array): FormatName | undefined {
  const some = bytes.subarray(0, START_BYTES)
  const start = { bytes: some, text: textOf(some) }
  return isoFormat(start) ?? signatures.find(([, matches]) => matches(start))?.[0]
}

/** The control characters that texts have: those of white space, and escape. */
const inTexts = [9, 10, 11, 12, 13, 27]

function isBinary(character: string): boolean {
  const code = character.charCodeAt(0)
  return code < 32 && !inTexts.includes(code)
}

/** Whether the first bytes can be the beginning of a text in UTF-8 or UTF-16. */
export function isText(bytes: Uint8Array): boolean {
  const some = bytes.subarray(0, START_BYTES)
  const [first, second] = some
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(some, { stream: true })
    return !Array.from(text).some(isBinary)
  } catch {
    return false
  }
}
