import { inflateSync } from 'node:zlib'
import { type Block, type Bytes, blockOf, blockOfBuffer } from './bytes.ts'

/** What a file contains of metadata. */
export interface Parts {
  /** Blocks of EXIF data, each of which begins with its byte order. */
  exif: Block[]
  xmp: Buffer[]
  /** Dates that the container itself states. */
  dates: string[]
}

const nothing = (): Parts => ({ exif: [], xmp: [], dates: [] })

/** Segments, chunks or boxes that are looked at. */
const MOST = 2000
const XMP_BYTES = 1024 * 1024
const XMP_MARK = 'http://ns.adobe.com/xap/1.0/\0'

/** Removes the word before a block of EXIF data, which most containers have and some omit. */
export function exifBlock(block: Block): Block {
  const start = block.at(0, 10).toString('latin1')
  const at = start.startsWith('Exif\0') ? 6 : 0
  return blockOf(block, at, block.size - at)
}

/** JPEG: EXIF and XMP are in APP1 segments, at most 64 KiB each. */
export function partsOfJpeg(bytes: Bytes): Parts {
  const parts = nothing()
  let at = 2
  for (let i = 0; i < MOST; i++) {
    const head = bytes.at(at, 4)
    // Fill bytes may precede a marker, and some programs leave a few wrong ones.
    if (head.length < 4) break
    if (head[0] !== 0xff || head[1] === 0xff) {
      at += 1
      continue
    }
    const marker = head[1] ?? 0
    // The picture itself begins.
    if (marker === 0xda || marker === 0xd9) break
    if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) {
      at += 2
      continue
    }
    const length = head.readUInt16BE(2)
    if (marker === 0xe1) {
      const segment = blockOf(bytes, at + 4, Math.max(0, length - 2))
      const start = segment.at(0, XMP_MARK.length).toString('latin1')
      if (start === XMP_MARK)
        parts.xmp.push(segment.at(XMP_MARK.length, segment.size - XMP_MARK.length))
      else if (start.startsWith('Exif\0')) parts.exif.push(exifBlock(segment))
    }
    at += 2 + Math.max(2, length)
  }
  return parts
}

/** The text of an iTXt chunk of a PNG file, which may be compressed. */
function internationalText(data: Buffer): { keyword: string; text: Buffer } | undefined {
  const keywordEnd = data.indexOf(0)
  if (keywordEnd < 0) return undefined
  const languageEnd = data.indexOf(0, keywordEnd + 3)
  const translatedEnd = data.indexOf(0, languageEnd + 1)
  if (languageEnd < 0 || translatedEnd < 0) return undefined
  const text = data.subarray(translatedEnd + 1)
  const isPacked = data[keywordEnd + 1] === 1
  const keyword = data.toString('latin1', 0, keywordEnd)
  return { keyword, text: isPacked ? inflateSync(text, { maxOutputLength: XMP_BYTES }) : text }
}

/** The EXIF data that older programs write as hexadecimal text. */
function rawProfile(text: string): Buffer {
  return Buffer.from(text.replace(/^\s*\w+\s+\d+\s+/, '').replace(/\s/g, ''), 'hex')
}

function textChunk(type: string, data: Buffer, parts: Parts): void {
  const international = type === 'iTXt' ? internationalText(data) : undefined
  const end = data.indexOf(0)
  const keyword = international?.keyword ?? data.toString('latin1', 0, Math.max(0, end))
  const packed = type === 'zTXt'
  const isWanted = /^(XML:com\.adobe\.xmp|Raw profile type (exif|APP1|xmp)|Creation Time)$/.test(
    keyword,
  )
  if (!isWanted) return
  const text =
    international?.text ??
    (packed
      ? inflateSync(data.subarray(end + 2), { maxOutputLength: XMP_BYTES })
      : data.subarray(end + 1))
  if (keyword === 'XML:com.adobe.xmp') parts.xmp.push(text)
  else if (keyword === 'Creation Time') parts.dates.push(text.toString('latin1', 0, 100))
  else {
    const profile = rawProfile(text.toString('latin1'))
    if (profile.toString('latin1', 0, XMP_MARK.length) === XMP_MARK)
      parts.xmp.push(profile.subarray(XMP_MARK.length))
    else if (keyword.endsWith('xmp')) parts.xmp.push(profile)
    else parts.exif.push(exifBlock(blockOfBuffer(profile)))
  }
}

/** PNG: EXIF in eXIf chunks, XMP and dates in text chunks, before or after the picture. */
export function partsOfPng(bytes: Bytes): Parts {
  const parts = nothing()
  let at = 8
  for (let i = 0; i < MOST; i++) {
    const head = bytes.at(at, 8)
    if (head.length < 8) break
    const length = head.readUInt32BE(0)
    const type = head.toString('latin1', 4, 8)
    const block = blockOf(bytes, at + 8, length)
    if (type === 'IEND') break
    if (type === 'eXIf') parts.exif.push(exifBlock(block))
    if (/^[iz]TXt$|^tEXt$/.test(type) && length <= XMP_BYTES)
      try {
        textChunk(type, block.at(0, length), parts)
      } catch {
        // A chunk that cannot be unpacked leaves the others.
      }
    at += 12 + length
  }
  return parts
}

/** WebP: chunks of RIFF. */
export function partsOfWebp(bytes: Bytes): Parts {
  const parts = nothing()
  let at = 12
  for (let i = 0; i < MOST; i++) {
    const head = bytes.at(at, 8)
    if (head.length < 8) break
    const length = head.readUInt32LE(4)
    const type = head.toString('latin1', 0, 4)
    if (type === 'EXIF') parts.exif.push(exifBlock(blockOf(bytes, at + 8, length)))
    if (type === 'XMP ') parts.xmp.push(bytes.at(at + 8, Math.min(length, XMP_BYTES)))
    at += 8 + length + (length % 2)
  }
  return parts
}
