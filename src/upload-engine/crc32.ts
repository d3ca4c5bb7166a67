/** CRC-32 as in gzip and zip (RFC 1952, section 8), bit-reflected. */
const POLYNOMIAL = 0xedb88320
const ONE = 0x80000000

/**
 * The wire format: lower-case hex. It must not use outer variables, because its source also runs in
 * a thread of the service.
 */
export const hexOfCrc32 = (sum: number): string => (sum >>> 0).toString(16).padStart(8, '0')

/** The product of two polynomials, modulo the CRC polynomial. */
function times(a: number, b: number): number {
  let product = 0
  for (let bit = ONE, shifted = b; bit !== 0; bit >>>= 1) {
    if (a & bit) product ^= shifted
    shifted = shifted & 1 ? (shifted >>> 1) ^ POLYNOMIAL : shifted >>> 1
  }
  return product
}

/** The factor for a checksum that is followed by this many bytes: x to the power of 8 × bytes. */
function shiftBy(bytes: number): number {
  let power = ONE
  // x to the power of 8, squared for each bit of the number.
  for (let [square, left] = [ONE >>> 8, bytes]; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) power = times(square, power)
    square = times(square, square)
  }
  return power
}

/**
 * The CRC-32 of a whole file, computed from its pieces in order. Checksums in lower-case hex, sizes
 * in bytes.
 */
export function joinCrc32(pieces: Iterable<{ crc32: string; size: number }>): string {
  let whole = 0
  let known = { size: 0, shift: ONE }
  for (const { crc32, size } of pieces) {
    if (size !== known.size) known = { size, shift: shiftBy(size) }
    whole = times(known.shift, whole) ^ Number.parseInt(crc32, 16)
  }
  return hexOfCrc32(whole)
}
