import { expect, it } from '@jest/globals'
import { readId3 } from '../../src/formats/id3.ts'

const syncsafe = (size: number) => [
  (size >> 21) & 127,
  (size >> 14) & 127,
  (size >> 7) & 127,
  size & 127,
]

/** A frame of version 2, 3 or 4, whose value begins with the number of its encoding. */
function frame(version: number, id: string, value: Uint8Array): Buffer {
  const { length } = value
  const bytes = [(length >> 24) & 255, (length >> 16) & 255, (length >> 8) & 255, length & 255]
  const size = version === 2 ? bytes.slice(1) : version === 3 ? bytes : syncsafe(length)
  return Buffer.from([...Buffer.from(id), ...size, ...(version === 2 ? [] : [0, 0]), ...value])
}

const tag = (version: number, frames: readonly Uint8Array[], flags = 0) => {
  const all = Buffer.concat(frames)
  return Buffer.from([...Buffer.from('ID3'), version, 0, flags, ...syncsafe(all.length), ...all])
}

const latin = (words: string) => Buffer.from(`\0${words}`, 'latin1')

it.each([
  [2, ['TT2', 'TP1', 'TAL', 'TYE']],
  [3, ['TIT2', 'TPE1', 'TALB', 'TYER']],
  [4, ['TIT2', 'TPE1', 'TALB', 'TDRC']],
] as const)('reads the tags of version 2.%i', (version, [title, artist, album, year]) => {
  const long = 'Über '.repeat(50).trim()
  const frames = [
    frame(version, title, latin(long)),
    frame(version, artist, latin('Ada\0Bob')),
    frame(version, album, latin('Sky')),
    frame(version, year, latin('1974')),
  ]
  expect(readId3(tag(version, frames))).toEqual({
    title: long,
    artist: 'Ada, Bob',
    album: 'Sky',
    year: '1974',
  })
})

it.each([
  ['ISO 8859-1', latin('Möwe')],
  ['UTF-16, little-endian', Buffer.from('01fffe4d00f60077006500', 'hex')],
  ['UTF-16, big-endian', Buffer.from('01feff004d00f600770065', 'hex')],
  ['UTF-16 without a mark', Buffer.from('02004d00f600770065', 'hex')],
  ['UTF-8', Buffer.from('\u0003Möwe\0')],
])('decodes %s', (_, value) => {
  expect(readId3(tag(4, [frame(4, 'TIT2', value)]))).toEqual({ title: 'Möwe' })
})

it('skips an extended header', () => {
  const title = frame(3, 'TIT2', latin('Sky'))
  expect(readId3(tag(3, [Buffer.from('00000006000000000000', 'hex'), title], 0x40))).toEqual({
    title: 'Sky',
  })
  const ofFour = frame(4, 'TIT2', latin('Sky'))
  expect(readId3(tag(4, [Buffer.from('000000060100', 'hex'), ofFour], 0x40))).toEqual({
    title: 'Sky',
  })
})

it('leaves out what is cut off, and never fails', () => {
  const whole = tag(3, [
    frame(3, 'TIT2', latin('Sky')),
    frame(3, 'APIC', Buffer.alloc(300)),
    frame(3, 'TPE1', latin('Ada')),
  ])
  expect(readId3(whole)).toEqual({ title: 'Sky', artist: 'Ada' })
  expect(readId3(whole.subarray(0, 200))).toEqual({ title: 'Sky' })
  for (let length = 0; length < whole.length; length++) readId3(whole.subarray(0, length))
  // Every size may be wrong.
  for (let at = 3; at < 40; at++)
    for (const byte of [0, 0x40, 0x7f, 0xff]) readId3(Buffer.from(whole).fill(byte, at, at + 4))
  expect(readId3(Buffer.from('no tags are in this text'))).toEqual({})
})
