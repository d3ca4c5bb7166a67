import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import sharp from 'sharp'
import { work } from '../../src/derive/kinds/metadata.ts'
import { momentOf } from '../../src/derive/metadata/moment.ts'
import { ascii, type Entry, exifOf, fractions, jpegWith, short, xmpOf } from '../support/exif-of.ts'
import { be16, be32, box, join as joined } from '../support/hostile/hostile.ts'

const [MAKE, MODEL, CHANGED] = [0x010f, 0x0110, 0x0132]
const [TAKEN, DIGITIZED, ZONE, FRACTION] = [0x9003, 0x9004, 0x9011, 0x9291]
const [ISO, RECOMMENDED] = [0x8827, 0x8832]

let dir: string
let jpeg: Buffer
const plain = () => sharp({ create: { width: 16, height: 8, channels: 3, background: '#3a7' } })
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'satchel-metadata-'))
  jpeg = await plain().jpeg().toBuffer()
})
afterAll(() => rmSync(dir, { recursive: true }))

async function read(bytes: Buffer) {
  const path = join(dir, 'picture')
  writeFileSync(path, bytes)
  const { value } = await work({
    kind: 'metadata',
    path,
    mediaType: 'image/jpeg',
    bounds: { ms: 1, pixels: 1, outputBytes: 1 },
    input: null,
  })
  return value as {
    takenAt?: number
    details?: Record<string, unknown>
    width?: number
    height?: number
    orientation?: number
  }
}

const inJpeg = (exif: Parameters<typeof exifOf>[0], xmp?: string) =>
  read(jpegWith(jpeg, { exif: exifOf(exif), ...(xmp ? { xmp } : {}) }))

const iso = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString())

describe('A camera date', () => {
  it.each([
    ['2014:03:05 10:20:30', '2014-03-05T10:20:30.000Z'],
    ['2014:03:05 10:20:30\0\0', '2014-03-05T10:20:30.000Z'],
    ['2014:03:05 10:20:30   ', '2014-03-05T10:20:30.000Z'],
    ['2014-03-05 10:20:30', '2014-03-05T10:20:30.000Z'],
    ['2014/03/05 10:20:30', '2014-03-05T10:20:30.000Z'],
    ['2014.03.05 10:20:30', '2014-03-05T10:20:30.000Z'],
    ['2014-03-05T10:20:30', '2014-03-05T10:20:30.000Z'],
    ['2014-03-05T10:20:30.256', '2014-03-05T10:20:30.256Z'],
    ['2014:03:05 10:20', '2014-03-05T10:20:00.000Z'],
    ['2014:3:5  9:20:30', '2014-03-05T09:20:30.000Z'],
    ['2014:03:05', '2014-03-05T00:00:00.000Z'],
    ['1826:06:01 12:00:00', '1826-06-01T12:00:00.000Z'],
  ])('%j is read', (text, clock) => {
    expect(iso(momentOf(text)?.clock)).toBe(clock)
  })

  it.each([
    ['2014-03-05T10:20:30+09:00', 540],
    ['2014:03:05 10:20:30-0330', -210],
    ['2014-03-05T10:20:30Z', 0],
    ['2014:03:05 10:20:30', undefined],
  ])('%j has the zone %j', (text, minutes) => {
    expect(momentOf(text)).toEqual({
      clock: Date.UTC(2014, 2, 5, 10, 20, 30),
      zoneMinutes: minutes,
    })
  })

  it.each([
    '0000:00:00 00:00:00',
    '0001:01:01 00:00:00',
    '2014:13:05 10:20:30',
    '2014:13:45 27:71:99',
    '2014:02:30 10:20:30',
    '2014:03:05 24:00:00',
    '2014:03:05 10:20:60',
    '    :  :     :  :  ',
    '2014:03',
    'yesterday',
    '',
    '20140305',
    '2999:01:01 00:00:00',
  ])('%j is invalid', text => {
    expect(momentOf(text)).toBeUndefined()
  })

  it('is never in the future, although clocks of other zones are ahead', () => {
    const now = Date.UTC(2014, 2, 5, 10)
    expect(momentOf('2014:03:06 00:00:00', { now })?.clock).toBe(Date.UTC(2014, 2, 6))
    expect(momentOf('2014:03:06 11:00:00', { now })).toBeUndefined()
  })
})

describe('The metadata of a picture', () => {
  it('contains the time when it was taken: first DateTimeOriginal, with its zone and fraction', async () => {
    const photo = [
      ascii(TAKEN, '2014:03:05 10:20:30'),
      ascii(DIGITIZED, '2015:01:01 00:00:00'),
      ascii(ZONE, '+02:00'),
      ascii(FRACTION, '75'),
    ]
    const { takenAt, details } = await inJpeg({
      image: [ascii(CHANGED, '2020:01:01 00:00:00')],
      photo,
    })
    expect([iso(takenAt), details]).toEqual(['2014-03-05T08:20:30.750Z', { zoneMinutes: 120 }])
  })

  it('contains that time in other fields if the first is invalid', async () => {
    const zero = ascii(TAKEN, '0000:00:00 00:00:00')
    const digitized = await inJpeg({ photo: [zero, ascii(DIGITIZED, '2014:03:05 10:20:30')] })
    const changed = await inJpeg({ image: [ascii(CHANGED, '2014:03:05 10:20:30')], photo: [zero] })
    const inXmp = await inJpeg(
      { image: [ascii(CHANGED, '2020:01:01 00:00:00')], photo: [zero] },
      xmpOf('exif:DateTimeOriginal="2014-03-05T10:20:30"'),
    )
    const created = await read(
      jpegWith(jpeg, { xmp: xmpOf('photoshop:DateCreated="2014-03-05T10:20:30"') }),
    )
    for (const { takenAt } of [digitized, changed, inXmp, created])
      expect(iso(takenAt)).toBe('2014-03-05T10:20:30.000Z')
    expect(await inJpeg({ photo: [zero] })).toEqual({})
  })

  it.each(['jpeg', 'png', 'webp', 'tiff', 'avif'] as const)('is read from %s', async format => {
    const IFD2 = { DateTimeOriginal: '2014:03:05 10:20:30' }
    const bytes = await plain()
      .withExif({ IFD0: { Make: 'Acme', Model: 'One' }, IFD2 })
      .withXmp(xmpOf('exif:DateTimeOriginal="2014-03-05T10:20:30" tiff:Model="Acme One"'))
      .toFormat(format)
      .toBuffer()
    const { takenAt, details } = await read(bytes)
    expect([iso(takenAt), details]).toEqual(['2014-03-05T10:20:30.000Z', { camera: 'Acme One' }])
  })

  it('is read from the directories of a TIFF file', async () => {
    const bytes = exifOf({
      image: [short(0x0100, 16), ascii(MODEL, 'Scanner')],
      photo: [ascii(TAKEN, '2014:03:05 10:20:30')],
    })
    expect(await read(bytes)).toEqual({
      takenAt: Date.UTC(2014, 2, 5, 10, 20, 30),
      details: { camera: 'Scanner' },
    })
  })

  it.each([
    [['NIKON CORPORATION', 'NIKON D850'], 'NIKON D850'],
    [['Canon', 'Canon EOS 70D'], 'Canon EOS 70D'],
    [['EASTMAN KODAK COMPANY', 'KODAK DC210'], 'KODAK DC210'],
    [['Apple', 'iPhone X'], 'Apple iPhone X'],
    [['Açme', 'Optioµ One®'], 'Açme Optioµ One®'],
    [[Buffer.from('Acme\0', 'latin1'), Buffer.from('Caf\xe9\0', 'latin1')], 'Acme Café'],
    [['Acme   ', ' One\n'], 'Acme One'],
  ])('names the camera of %j without repetition', async ([make = '', model = ''], camera) => {
    const { details } = await inJpeg({ image: [ascii(MAKE, make), ascii(MODEL, model)] })
    expect(details).toEqual({ camera })
  })

  it('reads the UTF-8 of EXIF 3', async () => {
    const model: Entry = { tag: MODEL, type: 129, value: '写真機' }
    expect(await inJpeg({ image: [model] })).toEqual({ details: { camera: '写真機' } })
  })

  it('reads a sensitivity that is too large for its old tag', async () => {
    const { details } = await inJpeg({
      photo: [short(ISO, 65_535), { tag: RECOMMENDED, type: 4, value: [102_400] }],
    })
    expect(details).toEqual({ iso: 102_400 })
  })

  it('has no location at 0, 0, or without a number', async () => {
    const degrees = (...value: [number, number][]) => ({
      gps: [
        ascii(1, 'S'),
        fractions(2, ...value, [0, 1], [0, 1]),
        ascii(3, 'E'),
        fractions(4, ...value, [30, 1], [0, 1]),
      ],
    })
    expect((await inJpeg(degrees([35, 1]))).details).toEqual({
      place: { latitude: -35, longitude: 35.5 },
    })
    expect((await inJpeg(degrees([0, 0]))).details).toBeUndefined()
    const zero: [number, number][] = [
      [0, 1],
      [0, 1],
      [0, 1],
    ]
    const { details } = await inJpeg({ gps: [fractions(2, ...zero), fractions(4, ...zero)] })
    expect(details).toBeUndefined()
  })

  it('omits broken entries, and keeps the others', async () => {
    const broken: Entry[] = [
      { tag: 0x829a, type: 99, value: [1] },
      { ...ascii(0xa434, 'a lens beyond the end'), offset: 0x7fffffff },
      { tag: 0x829d, type: 5, value: [[1, 0]] },
    ]
    const photo = [...broken, ascii(TAKEN, '2014:03:05 10:20:30')]
    expect(await inJpeg({ photo })).toEqual({ takenAt: Date.UTC(2014, 2, 5, 10, 20, 30) })
    const whole = exifOf({ image: [ascii(MODEL, 'Acme')], photo })
    for (let length = 0; length < whole.length; length += 7)
      await expect(read(jpegWith(jpeg, { exif: whole.subarray(0, length) }))).resolves.toBeDefined()
    const pointing = Buffer.from(whole)
    pointing.writeUInt32LE(0xfffffff0, 4)
    expect(await read(jpegWith(jpeg, { exif: pointing }))).toEqual({})
  })

  it('of HEIC contains size, orientation and date, without decoding', async () => {
    const exif = joined(be32(0), exifOf({ photo: [ascii(TAKEN, '2014:03:05 10:20:30')] }))
    const full = (type: string, ...parts: (Uint8Array | string)[]) => box(type, be32(0), ...parts)
    const item = (id: number, type: string) =>
      box('infe', be32(0x02000000), be16(id), be16(0), type, '\0')
    const meta = (offset: number) =>
      full(
        'meta',
        full('pitm', be16(1)),
        full('iinf', be16(2), item(1, 'hvc1'), item(2, 'Exif')),
        full('iloc', be16(0x4400), be16(1), be16(2), be16(0), be16(1), be32(offset, exif.length)),
        box(
          'iprp',
          box('ipco', full('ispe', be32(4032, 3024)), box('irot', Buffer.from([3]))),
          full('ipma', be32(1), be16(1), Buffer.from([2, 1, 2])),
        ),
      )
    const start = box('ftyp', 'heic', be32(0), 'mif1heic')
    const offset = start.length + meta(0).length + 8
    expect(await read(joined(start, meta(offset), box('mdat', exif)))).toEqual({
      takenAt: Date.UTC(2014, 2, 5, 10, 20, 30),
      width: 3024,
      height: 4032,
      orientation: 6,
    })
  })

  it('does not exist for other files', async () => {
    expect(await read(Buffer.from('words'))).toEqual({})
  })
})
