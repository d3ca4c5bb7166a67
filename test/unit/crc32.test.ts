import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { expect, it } from '@jest/globals'
import { joinCrc32 } from '../../src/upload-engine/crc32.ts'

const sumOf = (bytes: Uint8Array) => crc32(bytes).toString(16).padStart(8, '0')

it.each([[[]], [[0]], [[9]], [[1, 1, 1]], [[4096, 4096, 17]], [[0, 5, 0, 300_001, 2]]])(
  'The CRC-32 of pieces of %j bytes equals that of the whole',
  sizes => {
    const pieces = sizes.map(size => randomBytes(size))
    const joined = joinCrc32(pieces.map(piece => ({ crc32: sumOf(piece), size: piece.length })))
    expect(joined).toBe(sumOf(Buffer.concat(pieces)))
  },
)

it('The CRC-32 can be combined for sizes beyond 32 bits', () => {
  const [size, zeros] = [2 ** 20, sumOf(Buffer.alloc(2 ** 20))]
  const whole = joinCrc32(Array.from({ length: 2 ** 13 }, () => ({ crc32: zeros, size })))
  const half = joinCrc32(Array.from({ length: 2 ** 12 }, () => ({ crc32: zeros, size })))
  expect(joinCrc32([1, 2].map(() => ({ crc32: half, size: 2 ** 32 })))).toBe(whole)
})
