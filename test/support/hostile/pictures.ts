import { deflateSync } from 'node:zlib'
import sharp, { type Sharp } from 'sharp'
import {
  be16,
  be32,
  box,
  chunk,
  type Hostile,
  join,
  le16,
  le32,
  riff,
  squeezed,
  text,
  zeros,
} from './hostile.ts'

const PNG = text('\x89PNG\r\n\x1a\n')
const header = (width: number, height: number, depth: number, colour: number, interlaced = 0) =>
  chunk('IHDR', join(be32(width, height), Buffer.from([depth, colour, 0, 0, interlaced])))
const end = chunk('IEND')

function png(): Hostile[] {
  const small = join(PNG, header(8, 8, 8, 2))
  const pixels = chunk('IDAT', deflateSync(zeros(8 * 25)))
  const made: [string, Buffer, boolean?][] = [
    ...[
      [50_000, 50_000, 8, 6],
      [65_535, 65_535, 16, 6],
      [2 ** 31 - 1, 2 ** 31 - 1, 8, 2],
      [2 ** 31 - 1, 1, 8, 2],
      [1, 2 ** 31 - 1, 1, 0],
      [1_000_000, 1_000_000, 1, 0],
    ].map(([width = 0, height = 0, depth = 0, colour = 0], i): [string, Buffer] => [
      `dimensions-${i}`,
      join(PNG, header(width, height, depth, colour), chunk('IDAT', squeezed(50_000_000)), end),
    ]),
    [
      'interlaced-16',
      join(PNG, header(9999, 9999, 16, 6, 1), chunk('IDAT', squeezed(100_000_000)), end),
    ],
    [
      'interlaced-8',
      join(PNG, header(9999, 9999, 8, 6, 1), chunk('IDAT', squeezed(100_000_000)), end),
    ],
    ['short', join(PNG, header(9999, 9999, 8, 6), chunk('IDAT', squeezed(1000)), end)],
    [
      'profile-bomb',
      join(small, chunk('iCCP', join('x\0\0', squeezed(400_000_000))), pixels, end),
      true,
    ],
    [
      'text-bomb',
      join(small, chunk('zTXt', join('x\0\0', squeezed(400_000_000))), pixels, end),
      true,
    ],
    [
      'words-bomb',
      join(small, chunk('iTXt', join('x\0\x01\0\0\0', squeezed(400_000_000))), pixels, end),
      true,
    ],
    [
      'many-texts',
      join(
        small,
        ...Array.from({ length: 20_000 }, () => chunk('tEXt', text('a\0b'))),
        pixels,
        end,
      ),
      true,
    ],
    ['no-width', join(PNG, header(0, 9, 8, 2), pixels, end)],
    ['no-height', join(PNG, header(9, 0, 8, 2), pixels, end)],
    ['garbage', join(small, chunk('IDAT', Buffer.alloc(4000, 0xa7)), end)],
    ['two-headers', join(PNG, header(8, 8, 8, 2), header(60_000, 60_000, 8, 2), pixels, end), true],
    ['no-pixels', join(small, end)],
    ['long-chunk', join(small, be32(0x7fffffff), 'IDAT', zeros(100))],
    ['negative-chunk', join(small, be32(0xffffffff), 'IDAT', zeros(100))],
    ['wrong-depth', join(PNG, header(8, 8, 3, 6), pixels, end)],
    ['palette-missing', join(PNG, header(8, 8, 8, 3), pixels, end)],
  ]
  return made.map(([name, bytes, mayShow = false]) => ({
    of: 'PNG',
    name: `${name}.png`,
    mediaType: 'image/png',
    bytes,
    mayShow,
  }))
}

const screen = (width: number, height: number) =>
  join('GIF89a', le16(width, height), Buffer.from([0x80, 0, 0, 0, 0, 0, 255, 255, 255]))
const frame = (width: number, height: number, left = 0, top = 0) =>
  join(',', le16(left, top, width, height), Buffer.from([0, 2, 2, 0x44, 1, 0]))

function gif(): Hostile[] {
  const control = text('!\xf9\x04\x04\0\0\0\0')
  const made: [string, Buffer, boolean?][] = [
    ['65535', join(screen(65_535, 65_535), frame(65_535, 65_535), ';')],
    ['9999', join(screen(9999, 9999), frame(9999, 9999), ';')],
    ['frame-larger-than-screen', join(screen(1, 1), frame(65_535, 65_535), ';')],
    ['frame-outside', join(screen(9, 9), frame(9, 9, 65_000, 65_000), ';'), true],
    [
      'many-frames',
      join(
        screen(500, 500),
        ...Array.from({ length: 50_000 }, () => join(control, frame(500, 500))),
        ';',
      ),
      true,
    ],
    [
      'many-large-frames',
      join(
        screen(9000, 9000),
        ...Array.from({ length: 5000 }, () => join(control, frame(9000, 9000))),
        ';',
      ),
      true,
    ],
    ['no-size', join(screen(0, 0), frame(0, 0), ';'), true],
    [
      'no-end',
      join(screen(9, 9), ',', le16(0, 0, 9, 9), Buffer.from([0, 8]), Buffer.alloc(100_000, 0xff)),
    ],
    [
      'wide-codes',
      join(screen(9, 9), ',', le16(0, 0, 9, 9), Buffer.from([0, 255, 2, 0x44, 1, 0]), ';'),
    ],
    [
      'endless-comment',
      join(screen(9, 9), '!\xfe', Buffer.alloc(3_000_000, 0xff), frame(9, 9), ';'),
      true,
    ],
  ]
  return made.map(([name, bytes, mayShow = false]) => ({
    of: 'GIF',
    name: `${name}.gif`,
    mediaType: 'image/gif',
    bytes,
    mayShow,
  }))
}

const container = (...parts: Buffer[]) => riff('RIFF', 'WEBP', ...parts)
const lossless = (width: number, height: number) => {
  const bits = Buffer.alloc(64, 0)
  bits[0] = 0x2f
  bits.writeUInt32LE(((width - 1) | ((height - 1) << 14)) >>> 0, 1)
  return riff('VP8L', bits)
}
const canvas = (width: number, height: number, flags: number) =>
  riff(
    'VP8X',
    Buffer.from([flags, 0, 0, 0]),
    le32(width - 1).subarray(0, 3),
    le32(height - 1).subarray(0, 3),
  )
const moving = (width: number, height: number, picture: Buffer) =>
  riff(
    'ANMF',
    zeros(6),
    le32(width - 1).subarray(0, 3),
    le32(height - 1).subarray(0, 3),
    zeros(4),
    picture,
  )

function webp(): Hostile[] {
  const made: [string, Buffer, boolean?][] = [
    ['lossless', container(lossless(16_384, 16_384))],
    ['lossless-short', container(lossless(9999, 9999))],
    ['canvas', container(canvas(2 ** 24, 2 ** 24, 0), lossless(9, 9))],
    [
      'canvas-16383',
      container(canvas(16_383, 16_383, 2), riff('ANIM', zeros(6)), moving(9, 9, lossless(9, 9))),
    ],
    [
      'canvas-9999',
      container(canvas(9999, 9999, 2), riff('ANIM', zeros(6)), moving(9, 9, lossless(9, 9))),
    ],
    [
      'many-frames',
      container(
        canvas(99, 99, 2),
        riff('ANIM', zeros(6)),
        ...Array.from({ length: 20_000 }, () => moving(9, 9, lossless(9, 9))),
      ),
      true,
    ],
    ['long', join('RIFF', le32(0xfffffffe), 'WEBP', lossless(9, 9))],
    ['empty', container()],
    [
      'lossy',
      container(
        riff(
          'VP8 ',
          Buffer.from([0x10, 0, 0, 0x9d, 0x01, 0x2a, 0xff, 0x3f, 0xff, 0x3f]),
          zeros(60),
        ),
      ),
    ],
    [
      'profile',
      container(canvas(9, 9, 0x20), riff('ICCP', Buffer.alloc(5_000_000, 0x41)), lossless(9, 9)),
      true,
    ],
  ]
  return made.map(([name, bytes, mayShow = false]) => ({
    of: 'WebP',
    name: `${name}.webp`,
    mediaType: 'image/webp',
    bytes,
    mayShow,
  }))
}

/** A TIFF of one directory: tag, type, count, value or offset. */
const tiff = (fields: [number, number, number, number][], next = 0, more = zeros(0)) =>
  join(
    'II*\0',
    le32(8),
    le16(fields.length),
    ...fields.map(([tag, type, count, value]) => join(le16(tag, type), le32(count, value))),
    le32(next),
    more,
  )
const shape = (
  width: number,
  height: number,
  compression: number,
  strips: [number, number, number, number][],
) =>
  [
    [256, 4, 1, width],
    [257, 4, 1, height],
    [258, 3, 1, 8],
    [259, 3, 1, compression],
    [262, 3, 1, 1],
    ...strips,
  ] as [number, number, number, number][]

function tiffs(): Hostile[] {
  const strips = (bytes: number): [number, number, number, number][] => [
    ...([
      [273, 4, 1, 200],
      [277, 3, 1, 1],
      [278, 4, 1, 2 ** 31 - 1],
      [279, 4, 1, bytes],
    ] as [number, number, number, number][]),
  ]
  const after = (bytes: Buffer) => join(zeros(200 - 14 - 9 * 12), bytes)
  const bomb = squeezed(90_000_000)
  const made: [string, Buffer, boolean?][] = [
    ['loop', tiff(shape(9, 9, 1, strips(81)), 8, after(zeros(81))), true],
    ['loop-only', tiff([], 8)],
    ['next-outside', tiff([], 0xfffffff0)],
    ['dimensions', tiff(shape(2 ** 31 - 1, 2 ** 31 - 1, 8, strips(bomb.length)), 0, after(bomb))],
    ['dimensions-60000', tiff(shape(60_000, 60_000, 8, strips(bomb.length)), 0, after(bomb))],
    ['deflate-bomb', tiff(shape(100_000, 99_999, 8, strips(bomb.length)), 0, after(bomb))],
    ['short', tiff(shape(9999, 9999, 1, strips(99_980_001)), 0, after(zeros(100)))],
    ['lzw-garbage', tiff(shape(5000, 5000, 5, strips(4000)), 0, after(Buffer.alloc(4000, 0xaa)))],
    ['jpeg-garbage', tiff(shape(5000, 5000, 7, strips(4000)), 0, after(Buffer.alloc(4000, 0xff)))],
    ['fax-garbage', tiff(shape(5000, 5000, 4, strips(4000)), 0, after(Buffer.alloc(4000, 0x5a)))],
    [
      'strip-outside',
      tiff(
        shape(9, 9, 1, [
          [273, 4, 1, 0xfffffff0],
          [277, 3, 1, 1],
          [278, 4, 1, 9],
          [279, 4, 1, 81],
        ]),
      ),
    ],
    [
      'many-strips',
      tiff(
        shape(9, 9, 1, [
          [273, 4, 0x3fffffff, 8],
          [277, 3, 1, 1],
          [278, 4, 1, 1],
          [279, 4, 0x3fffffff, 8],
        ]),
      ),
    ],
    [
      'tiles',
      tiff(
        shape(9000, 9000, 8, [
          [277, 3, 1, 1],
          [322, 4, 1, 2 ** 30],
          [323, 4, 1, 2 ** 30],
          [324, 4, 1, 200],
          [325, 4, 1, 100],
        ]),
        0,
        after(bomb),
      ),
    ],
    [
      'samples',
      tiff(
        shape(9000, 9000, 1, [
          [277, 3, 1, 65_535],
          [273, 4, 1, 200],
          [279, 4, 1, 1000],
        ]),
        0,
        after(zeros(1000)),
      ),
    ],
    ['many-fields', join('II*\0', le32(8), le16(65_535), zeros(65_535 * 12))],
    ['no-size', tiff(shape(0, 0, 1, strips(0)))],
    ['big', join('II+\0', le16(8, 0), le32(16, 0), le32(0xffffffff, 0xffffffff), zeros(64))],
    ['other-end', join('MM\0*', be32(8), be16(1), be16(256, 4), be32(1, 0xffffffff), be32(8))],
  ]
  return made.map(([name, bytes, mayShow = false]) => ({
    of: 'TIFF',
    name: `${name}.tiff`,
    mediaType: 'image/tiff',
    bytes,
    mayShow,
  }))
}

/** A picture of one item in the container of AVIF and HEIC. */
function item(
  brand: string,
  codec: string,
  [width, height]: [number, number],
  data: Buffer,
  { length = data.length, extra = zeros(0) } = {},
): Buffer {
  const full = zeros(4)
  const meta = (offset: number) =>
    box(
      'meta',
      full,
      box('hdlr', full, zeros(4), 'pict', zeros(13)),
      box('pitm', full, be16(1)),
      box('iloc', full, be16(0x4400, 1, 1, 0, 1), be32(offset, length)),
      box('iinf', full, be16(1), box('infe', Buffer.from([2, 0, 0, 0]), be16(1, 0), codec, '\0')),
      box(
        'iprp',
        box(
          'ipco',
          box('ispe', full, be32(width, height)),
          box('pixi', full, Buffer.from([3, 8, 8, 8])),
          extra,
        ),
        box('ipma', full, be32(1), be16(1), Buffer.from([2, 1, 2])),
      ),
    )
  const type = box('ftyp', brand, be32(0), brand, 'mif1', 'miaf')
  return join(type, meta(type.length + meta(0).length + 8), box('mdat', data))
}

async function heif(): Promise<Hostile[]> {
  const good = await plain(64, 64).avif().toBuffer()
  const av1 = Buffer.from([
    0x12, 0, 0x0a, 0x0b, 0, 0, 0, 0x3f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
  ])
  const sizes: [number, number][] = [
    [65_535, 65_535],
    [2 ** 31 - 1, 2 ** 31 - 1],
    [0, 0],
    [9999, 9999],
  ]
  const made: [string, Buffer][] = [
    ...sizes.map((size, i): [string, Buffer] => [
      `dimensions-${i}`,
      item('avif', 'av01', size, av1),
    ]),
    [
      'grid',
      item(
        'avif',
        'grid',
        [60_000, 60_000],
        join(Buffer.from([0, 1, 255, 255]), be32(60_000, 60_000)),
      ),
    ],
    [
      'overlay',
      item(
        'avif',
        'iovl',
        [60_000, 60_000],
        join(Buffer.from([0, 1]), zeros(8), be32(60_000, 60_000)),
      ),
    ],
    ['derived-of-itself', item('avif', 'iden', [9, 9], zeros(4))],
    ['long', item('avif', 'av01', [9, 9], av1, { length: 0xfffffff0 })],
    ['type-only', box('ftyp', 'avif', be32(0), 'avif')],
    [
      'many-properties',
      item('avif', 'av01', [9, 9], av1, {
        extra: Buffer.concat(
          Array.from({ length: 50_000 }, () => box('ispe', zeros(4), be32(9, 9))),
        ),
      }),
    ],
    ['garbage', join(good.subarray(0, good.length - 60), Buffer.alloc(60, 0xee))],
  ]
  const heic: [string, Buffer][] = ['heic', 'heix', 'hevc', 'mif1', 'msf1'].map(brand => [
    brand,
    item(brand, 'hvc1', [50_000, 50_000], Buffer.alloc(200, 0x26)),
  ])
  return [
    ...made.map(([name, bytes]) => ({
      of: 'AVIF',
      name: `${name}.avif`,
      mediaType: 'image/avif',
      bytes,
    })),
    ...heic.map(([name, bytes]) => ({
      of: 'HEIC',
      name: `${name}.avif`,
      mediaType: 'image/avif',
      bytes,
    })),
  ]
}

const segment = (marker: number, content: Uint8Array) =>
  join(Buffer.from([0xff, marker]), be16(content.length + 2), content)

async function jpeg(): Promise<Hostile[]> {
  const good = await plain(64, 64).jpeg().toBuffer()
  const flat = sharp({ create: { width: 5000, height: 5000, channels: 3, background: '#3a7' } })
  const progressive = await flat.jpeg({ progressive: true }).toBuffer()
  const inserted = (...segments: Buffer[]) =>
    join(good.subarray(0, 2), ...segments, good.subarray(2))
  const sized = (bytes: Buffer, width: number, height: number) => {
    const copy = Buffer.from(bytes)
    const at = copy.findIndex(
      (byte, i) => byte === 0xff && (copy[i + 1] === 0xc0 || copy[i + 1] === 0xc2),
    )
    copy.writeUInt16BE(height, at + 5)
    copy.writeUInt16BE(width, at + 7)
    return copy
  }
  const scan = progressive.subarray(progressive.lastIndexOf(Buffer.from([0xff, 0xda])), -2)
  const scans = join(
    progressive.subarray(0, -2),
    ...Array.from({ length: 300 }, () => scan),
    '\xff\xd9',
  )
  const exif = (bytes: Uint8Array) => segment(0xe1, join('Exif\0\0', bytes))
  const made: [string, Buffer, boolean?][] = [
    ['65535', sized(good, 65_535, 65_535)],
    ['9999', sized(good, 9999, 9999), true],
    ['progressive-9999', sized(progressive, 9999, 9999), true],
    ['no-size', sized(good, 0, 0)],
    ['scans', scans],
    ['exif-loop', inserted(exif(tiff([[0x8769, 4, 1, 8]], 8))), true],
    ['exif-long', inserted(exif(tiff([[0x010f, 2, 0xffffffff, 8]], 0xffffffff))), true],
    ['exif-garbage', inserted(exif(Buffer.alloc(60_000, 0x49))), true],
    [
      'comments',
      inserted(...Array.from({ length: 200 }, () => segment(0xfe, Buffer.alloc(60_000, 0x20)))),
      true,
    ],
    [
      'tables',
      inserted(
        ...Array.from({ length: 5000 }, () => segment(0xdb, join('\0', Buffer.alloc(64, 1)))),
      ),
      true,
    ],
    ['huffman', inserted(segment(0xc4, join('\0', Buffer.alloc(16, 255), zeros(4080))))],
    [
      'components',
      join(
        good.subarray(0, 2),
        segment(0xc0, join('\x08', be16(9, 9), '\xff', zeros(765))),
        '\xff\xd9',
      ),
    ],
    [
      'arithmetic',
      Buffer.from(good).fill(
        0xc9,
        good.indexOf(Buffer.from([0xff, 0xc0])) + 1,
        good.indexOf(Buffer.from([0xff, 0xc0])) + 2,
      ),
      true,
    ],
    ['markers', join('\xff\xd8', Buffer.alloc(2_000_000, 0xff))],
  ]
  return made.map(([name, bytes, mayShow = false]) => ({
    of: 'JPEG',
    name: `${name}.jpg`,
    mediaType: 'image/jpeg',
    bytes,
    mayShow,
  }))
}

const plain = (width: number, height: number): Sharp =>
  sharp({
    create: {
      width,
      height,
      channels: 3,
      background: '#3a7',
      noise: { type: 'gaussian', mean: 120, sigma: 40 },
    },
  })

const formats = ['png', 'gif', 'webp', 'tiff', 'avif', 'jpeg'] as const

/** Truncated at several places. */
async function truncated(): Promise<Hostile[]> {
  const made: Hostile[] = []
  for (const format of formats) {
    const whole = await plain(300, 300).toFormat(format).toBuffer()
    for (const part of [0.02, 0.1, 0.4, 0.8])
      made.push({
        of: 'truncated',
        name: `${part}.${format}`,
        mediaType: `image/${format}`,
        bytes: whole.subarray(0, Math.ceil(whole.length * part)),
        mayShow: format === 'gif' || format === 'tiff',
      })
  }
  return made
}

/** Colour profiles that are invalid, or that declare more bytes than they have. */
async function profiles(): Promise<Hostile[]> {
  const liar = join(
    be32(0xfffffff0),
    'lcms',
    be32(0x04000000),
    'mntrRGB XYZ ',
    zeros(12),
    'acsp',
    zeros(88),
    be32(0x0fffffff),
    Buffer.alloc(300, 0x72),
  )
  const png = await plain(32, 32).png().toBuffer()
  const jpg = await plain(32, 32).jpeg().toBuffer()
  const inPng = (profile: Buffer) =>
    join(png.subarray(0, 33), chunk('iCCP', join('x\0\0', deflateSync(profile))), png.subarray(33))
  const inJpeg = (profile: Buffer) =>
    join(jpg.subarray(0, 2), segment(0xe2, join('ICC_PROFILE\0\x01\x01', profile)), jpg.subarray(2))
  const kinds = [liar, Buffer.alloc(50_000, 0xff), zeros(128)]
  return [
    ...kinds.map((profile, i) => ({
      of: 'ICC',
      name: `${i}.png`,
      mediaType: 'image/png',
      bytes: inPng(profile),
      mayShow: true,
    })),
    ...kinds.map((profile, i) => ({
      of: 'ICC',
      name: `${i}.jpg`,
      mediaType: 'image/jpeg',
      bytes: inJpeg(profile),
      mayShow: true,
    })),
    { of: 'ICC', name: 'alone.png', mediaType: 'image/png', bytes: liar },
  ]
}

export async function hostilePictures(): Promise<Hostile[]> {
  const made = await Promise.all([heif(), jpeg(), truncated(), profiles()])
  return [...png(), ...gif(), ...webp(), ...tiffs(), ...made.flat()]
}
