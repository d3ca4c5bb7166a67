import { expect, it } from '@jest/globals'
import { type ZipEntry, zipLayout } from '../../src/services/archives/zip-layout.ts'

/**
 * The header of a file in an archive: its MS-DOS time, and whether it has an extended timestamp.
 */
function timesOf(modifiedAt: number): { dos: string; hasTimestamp: boolean } {
  const entry: ZipEntry = {
    prefix: '',
    name: 'a',
    blobId: 'a',
    size: 0,
    crc32: 0,
    modifiedAt,
  }
  const [header] = zipLayout([entry], false).pieces()
  const bytes = header?.bytes?.() ?? Buffer.alloc(0)
  const [time, day] = [bytes.readUInt16LE(10), bytes.readUInt16LE(12)]
  const parts = [(day >> 9) + 1980, (day >> 5) & 15, day & 31, time >> 11, (time >> 5) & 63]
  return { dos: [...parts, (time & 31) * 2].join(' '), hasTimestamp: bytes.readUInt16LE(28) > 0 }
}

it('writes MS-DOS times from 1980 to 2107, in the time zone of the service', () => {
  const local = (...parts: [number, number, number, number, number, number]) =>
    new Date(...parts).getTime()
  expect(timesOf(local(2026, 6, 1, 14, 30, 8))).toEqual({
    dos: '2026 7 1 14 30 8',
    hasTimestamp: true,
  })
  expect(timesOf(0)).toEqual({ dos: '1980 1 1 0 0 0', hasTimestamp: true })
  // The extended timestamp has 31 bits, which end in 2038.
  expect(timesOf(local(2107, 10, 28, 12, 0, 0))).toEqual({
    dos: '2107 11 28 12 0 0',
    hasTimestamp: false,
  })
  expect(timesOf(local(2200, 0, 1, 0, 0, 0)).dos).toBe('2107 12 31 23 59 58')
})
