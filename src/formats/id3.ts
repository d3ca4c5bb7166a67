/** What a song says about itself. */
export interface SongTags {
  title?: string
  artist?: string
  album?: string
  year?: string
}

const frames: Record<string, keyof SongTags> = {
  TIT2: 'title',
  TT2: 'title',
  TPE1: 'artist',
  TP1: 'artist',
  TALB: 'album',
  TAL: 'album',
  TDRC: 'year',
  TYER: 'year',
  TYE: 'year',
}

const encodings = ['iso-8859-1', 'utf-16le', 'utf-16be', 'utf-8'] as const

/** The text of a frame; its first byte names the encoding. */
function textOf(frame: Uint8Array): string {
  // A byte order mark, which decoders ignore, decides about UTF-16.
  const isBigEndian = frame[0] === 1 && frame[1] === 0xfe && frame[2] === 0xff
  const encoding = isBigEndian ? 'utf-16be' : (encodings[frame[0] ?? 0] ?? 'utf-8')
  const decoded = new TextDecoder(encoding).decode(frame.subarray(1))
  // Several values are separated by zeros.
  return decoded.split('\0').filter(Boolean).join(', ').trim()
}

/** Numbers of seven bits a byte, so that no tag looks like sound. */
const syncsafe = (view: DataView, at: number): number =>
  (view.getUint8(at) << 21) |
  (view.getUint8(at + 1) << 14) |
  (view.getUint8(at + 2) << 7) |
  view.getUint8(at + 3)

/**
 * Reads the ID3v2 tags at the beginning of an MP3 file. Returns an empty object if there are none.
 *
 * @param bytes the beginning of the file; what is cut off is left out
 */
export function readId3(bytes: Uint8Array): SongTags {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const tags: SongTags = {}
  if (bytes.length < 20 || String.fromCharCode(...bytes.subarray(0, 3)) !== 'ID3') return tags
  const version = view.getUint8(3)
  const flags = view.getUint8(5)
  const end = Math.min(bytes.length, 10 + syncsafe(view, 6))
  const isShort = version === 2
  let at = 10
  // An extended header contains nothing for people.
  if (flags & 0x40 && !isShort) at += version === 4 ? syncsafe(view, 10) : 4 + view.getUint32(10)
  const head = isShort ? 6 : 10
  while (at + head < end) {
    const id = String.fromCharCode(...bytes.subarray(at, at + (isShort ? 3 : 4)))
    // Padding.
    if (!/^[A-Z0-9]+$/.test(id)) break
    const size = isShort
      ? (view.getUint8(at + 3) << 16) | view.getUint16(at + 4)
      : version === 4
        ? syncsafe(view, at + 4)
        : view.getUint32(at + 4)
    const from = at + head
    const key = frames[id]
    if (size <= 0) break
    if (key && from + size <= end) tags[key] ??= textOf(bytes.subarray(from, from + size))
    at = from + size
  }
  return tags
}
