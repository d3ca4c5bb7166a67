import { decode } from 'bmp-ts'
import type { Raw } from 'sharp'
import { Refusal } from '../outcome.ts'

/** A decoded bitmap, or a picture in another format that an icon contains. */
type Decoded = { source: Buffer; raw?: Raw }

const FILE_HEADER = 14
/** Headers of OS/2 have sizes of 16 bits. */
const OS2_HEADER = 12
const PNG = Buffer.from('\x89PNG', 'latin1')

/**
 * Decodes a BMP file.
 * @param most the maximum number of pixels, which are in memory as a whole
 * @throws Refusal
 */
export function decodeBitmap(bytes: Buffer, most: number): Decoded {
  if (bytes.length < FILE_HEADER + OS2_HEADER) throw new Refusal('unreadable')
  if (bytes.readUInt32LE(FILE_HEADER) === OS2_HEADER) throw new Refusal('unsupported')
  const [width, height] = [bytes.readInt32LE(18), Math.abs(bytes.readInt32LE(22))]
  if (!(width > 0 && height > 0)) throw new Refusal('unreadable')
  if (width * height > most) throw new Refusal('too-large')
  const depth = bytes.readUInt16LE(28)
  const { data } = decode(bytes, { toRGBA: true })
  // The fourth byte of a pixel is transparency only where a pixel has 32 bits, and not always then.
  const isOpaque = depth !== 32 || !data.some((byte, at) => at % 4 === 3 && byte > 0)
  if (isOpaque) for (let at = 3; at < data.length; at += 4) data[at] = 255
  return { source: data, raw: { width, height, channels: 4 } }
}

/** Decodes the largest picture of an ICO file. @throws Refusal */
export function decodeIcon(bytes: Buffer, most: number): Decoded {
  const count = bytes.readUInt16LE(4)
  let largest: { area: number; bytes: Buffer } | undefined
  for (let at = 6; at < 6 + count * 16 && at + 16 <= bytes.length; at += 16) {
    const [width = 0, height = 0] = [bytes[at] || 256, bytes[at + 1] || 256]
    const start = bytes.readUInt32LE(at + 12)
    const picture = bytes.subarray(start, start + bytes.readUInt32LE(at + 8))
    const area = width * height
    if (picture.length > 40 && area > (largest?.area ?? 0)) largest = { area, bytes: picture }
  }
  if (!largest) throw new Refusal('unreadable')
  if (largest.bytes.subarray(0, 4).equals(PNG)) return { source: largest.bytes }
  return decodeBitmap(fileOf(largest.bytes), most)
}

/** A BMP file of a bitmap in an icon, whose header counts the mask below the picture, too. */
function fileOf(bitmap: Buffer): Buffer {
  const depth = bitmap.readUInt16LE(14)
  const colours = depth <= 8 ? bitmap.readUInt32LE(32) || 2 ** depth : 0
  const header = Buffer.alloc(FILE_HEADER)
  header.write('BM', 0, 'latin1')
  header.writeUInt32LE(FILE_HEADER + bitmap.length, 2)
  header.writeUInt32LE(FILE_HEADER + bitmap.readUInt32LE(0) + colours * 4, 10)
  const picture = Buffer.from(bitmap)
  picture.writeInt32LE(Math.floor(bitmap.readInt32LE(8) / 2), 8)
  return Buffer.concat([header, picture])
}
