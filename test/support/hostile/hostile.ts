import { constants, crc32, deflateRawSync } from 'node:zlib'

/** A file that was crafted to harm the people or programs that open it. */
export interface Hostile {
  /** The class of the attack. */
  of: string
  name: string
  mediaType: string
  bytes: Buffer
  /** Set if a preview may be rendered without the hostile part. Other files have no preview. */
  mayShow?: boolean
}

export const text = (words: string): Buffer => Buffer.from(words, 'latin1')
export const zeros = (count: number): Buffer => Buffer.alloc(count)
export const be32 = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, i * 4)
  return bytes
}
export const be16 = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 2)
  for (const [i, value] of values.entries()) bytes.writeUInt16BE(value & 0xffff, i * 2)
  return bytes
}
export const le32 = (...values: number[]): Buffer =>
  Buffer.concat(values.map(value => be32(value).reverse()))
export const le16 = (...values: number[]): Buffer =>
  Buffer.concat(values.map(value => be16(value).reverse()))
export const join = (...parts: (Uint8Array | string)[]): Buffer =>
  Buffer.concat(parts.map(part => (typeof part === 'string' ? text(part) : part)))

/** A chunk of PNG. */
export const chunk = (type: string, bytes: Uint8Array = zeros(0)): Buffer =>
  join(be32(bytes.length), type, bytes, be32(crc32(join(type, bytes))))

/** A box of MP4, AVIF and HEIC. */
export const box = (type: string, ...parts: (Uint8Array | string)[]): Buffer => {
  const content = join(...parts)
  return join(be32(content.length + 8), type, content)
}

/** A chunk of RIFF: WebP and AVI. */
export const riff = (type: string, ...parts: (Uint8Array | string)[]): Buffer => {
  const content = join(...parts)
  return join(type, le32(content.length), content, zeros(content.length % 2))
}

const PIECE = 1_000_000
/** A compressed run of this many zeros, which can be extended. */
const piece = deflateRawSync(zeros(PIECE), { finishFlush: constants.Z_FULL_FLUSH })

/**
 * A compressed run of this many zero bytes, at a thousandth of the size. It repeats one piece, so
 * that the test need not compress 400 MB.
 */
export function squeezed(count: number): Buffer {
  const pieces = Array.from({ length: Math.floor(count / PIECE) }, () => piece)
  // RFC 1950: a header of two bytes, the data, and the Adler-32.
  return join('\x78\x9c', ...pieces, deflateRawSync(zeros(count % PIECE)), be16(count % 65_521, 1))
}

/** A ZIP archive of one entry with arbitrary headers. */
export function zip(
  name: string,
  content: Uint8Array,
  claimed = content.length,
  copies = 1,
): Buffer {
  const packed = deflateRawSync(content, { level: 9 })
  const facts = join(
    le16(20, 0, 8, 0, 0),
    le32(crc32(content), packed.length, claimed),
    le16(name.length, 0),
  )
  const local = join('PK\x03\x04', facts, name, packed)
  const entry = join('PK\x01\x02', le16(20), facts, le16(0, 0, 0), le32(0, 0), name)
  const directory = Buffer.concat(Array.from({ length: copies }, () => entry))
  return join(
    local,
    directory,
    'PK\x05\x06',
    le16(0, 0, copies, copies),
    le32(directory.length, local.length),
    le16(0),
  )
}
