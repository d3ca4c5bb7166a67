import type { Block } from './bytes.ts'

/** A value of a directory: text, or numbers. */
type Value = string | number[]
export type Directory = Map<number, Value>

/** The directories of a block of EXIF data. Empty where one is missing or broken. */
export interface Exif {
  image: Directory
  photo: Directory
  gps: Directory
  /** An XMP packet inside of a TIFF file. */
  xmp: Buffer | undefined
}

const EXIF_POINTER = 0x8769
const GPS_POINTER = 0x8825
const XMP = 0x02bc
/** More entries or bytes than these are no metadata that is shown. */
const ENTRIES = 2000
const TEXT_BYTES = 4096
const NUMBERS = 64
const XMP_BYTES = 1024 * 1024

/** The size of a value by its type; 129 is the UTF-8 of EXIF 3. */
const sizes: Record<number, number> = {
  1: 1,
  2: 1,
  3: 2,
  4: 4,
  5: 8,
  6: 1,
  7: 1,
  8: 2,
  9: 4,
  10: 8,
  11: 4,
  12: 8,
  13: 4,
  16: 8,
  17: 8,
  129: 1,
}
const TEXTS = [2, 7, 129]

/** Decodes a text up to its NUL, as UTF-8 if it is valid, else as the Latin-1 of old cameras. */
export function textOf(bytes: Buffer): string {
  const end = bytes.indexOf(0)
  const some = end < 0 ? bytes : bytes.subarray(0, end)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(some).trim()
  } catch {
    return new TextDecoder('windows-1252').decode(some).trim()
  }
}

function numberAt(bytes: Buffer, at: number, type: number, isLittle: boolean): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, sizes[type] ?? 1)
  switch (type) {
    case 3:
      return view.getUint16(0, isLittle)
    case 8:
      return view.getInt16(0, isLittle)
    case 4:
    case 13:
      return view.getUint32(0, isLittle)
    case 9:
      return view.getInt32(0, isLittle)
    case 5:
      return view.getUint32(0, isLittle) / view.getUint32(4, isLittle)
    case 10:
      return view.getInt32(0, isLittle) / view.getInt32(4, isLittle)
    case 11:
      return view.getFloat32(0, isLittle)
    case 12:
      return view.getFloat64(0, isLittle)
    case 16:
    case 17:
      return Number(view.getBigUint64(0, isLittle))
    case 6:
      return view.getInt8(0)
    default:
      return view.getUint8(0)
  }
}

/**
 * Reads the metadata of a TIFF file or of a block of EXIF data. An entry that is broken is left
 * out, and so is what lies beyond the end: cameras and editors write both.
 */
export function readTiff(block: Block): Exif {
  const none: Exif = { image: new Map(), photo: new Map(), gps: new Map(), xmp: undefined }
  const head = block.at(0, 16)
  const mark = head.toString('latin1', 0, 2)
  if ((mark !== 'II' && mark !== 'MM') || head.length < 8) return none
  const isLittle = mark === 'II'
  const version = numberAt(head, 2, 3, isLittle)
  const isBig = version === 43 && head.length === 16
  const pointer = isBig ? 17 : 4
  const [countType, entrySize] = isBig ? [17, 20] : [3, 12]
  let xmp: Buffer | undefined

  function directory(offset: number): Directory {
    const found: Directory = new Map()
    const start = block.at(offset, sizes[countType] ?? 2)
    if (start.length < (sizes[countType] ?? 2)) return found
    const count = Math.min(ENTRIES, numberAt(start, 0, countType, isLittle))
    const entries = block.at(offset + start.length, count * entrySize)
    for (let at = 0; at + entrySize <= entries.length; at += entrySize) entry(entries, at, found)
    return found
  }

  function entry(entries: Buffer, at: number, found: Directory): void {
    const tag = numberAt(entries, at, 3, isLittle)
    const type = numberAt(entries, at + 2, 3, isLittle)
    const size = sizes[type]
    if (!size || found.has(tag)) return
    const count = numberAt(entries, at + 4, pointer, isLittle)
    const place = at + (isBig ? 12 : 8)
    const isText = TEXTS.includes(type)
    const most = tag === XMP ? XMP_BYTES : isText ? TEXT_BYTES : NUMBERS * size
    const length = Math.min(count * size, most)
    const isInside = count * size <= (isBig ? 8 : 4)
    const bytes = isInside
      ? entries.subarray(place, place + length)
      : block.at(numberAt(entries, place, pointer, isLittle), length)
    if (tag === XMP) xmp ??= bytes
    else if (isText) found.set(tag, textOf(bytes))
    else if (bytes.length >= size) {
      const values = Array.from({ length: Math.floor(bytes.length / size) }, (_, i) =>
        numberAt(bytes, i * size, type, isLittle),
      )
      found.set(tag, values)
    }
  }

  const first = numberAt(head, isBig ? 8 : 4, pointer, isLittle)
  const image = directory(first)
  const below = (tag: number): Directory => {
    const [offset] = image.get(tag) ?? []
    return typeof offset === 'number' && offset > 0 ? directory(offset) : new Map()
  }
  return { image, photo: below(EXIF_POINTER), gps: below(GPS_POINTER), xmp }
}
