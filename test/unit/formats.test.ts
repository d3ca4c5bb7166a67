import { beforeAll, describe, expect, it } from '@jest/globals'
import sharp from 'sharp'
import { fileClassOf } from '../../src/formats/file-class.ts'
import { correctedType, essenceOf } from '../../src/formats/media-type.ts'
import { contentTime, isDrawn } from '../../src/formats/picture.ts'
import { formatOfStart } from '../../src/formats/signature.ts'
import { kindOf } from '../../src/formats/viewer.ts'
import { FFMPEG, testVideo } from '../support/ffmpeg.ts'

const octets = 'application/octet-stream'
const latin1 = (text: string) => Buffer.from(text, 'latin1')
const plain = sharp({ create: { width: 8, height: 8, channels: 3, background: '#3a7' } })

describe('The format of a file by its first bytes', () => {
  it.each(['jpeg', 'png', 'gif', 'webp', 'tiff', 'avif'] as const)(
    'is %s as written by the library',
    async format => {
      expect(formatOfStart(await plain.clone().toFormat(format).toBuffer())).toBe(format)
    },
  )

  const withFfmpeg = FFMPEG === 'false' ? it.skip : it
  withFfmpeg.each<[string, string, string[]?]>([
    ['mp4', 'mov'],
    ['mov', 'mov'],
    ['mkv', 'matroska'],
    ['webm', 'matroska'],
    ['avi', 'avi'],
    ['ogv', 'ogg'],
    ['ts', 'mpegts'],
    ['m2ts', 'mpegts'],
    ['mpg', 'mpeg', ['-r', '25']],
    ['wmv', 'asf'],
    ['flv', 'flv'],
  ])('of a .%s video is %s as written by ffmpeg', async (ending, format, options = []) => {
    expect(formatOfStart(await testVideo(ending, '64x48', options))).toBe(format)
  })

  it.each([
    ['pdf', '%PDF-1.7\n'],
    ['zip', 'PK\x03\x04'],
    ['gzip', '\x1f\x8b\x08'],
    ['bmp', `BM${'\0'.repeat(12)}\x28\0\0\0`],
    ['ico', '\0\0\x01\0\x01\0\x10\x10\0\0'],
    ['heif', '\0\0\0\x18ftypheic\0\0\0\0mif1heic'],
    ['avif', '\0\0\0\x1cftypmif1\0\0\0\0avifmif1'],
    ['mp3', 'ID3\x03\0'],
    ['flac', 'fLaC\0\0\0\x22'],
  ])('is %s', (format, start) => {
    expect(formatOfStart(latin1(start))).toBe(format)
  })

  it.each([
    'BMW is a maker of cars.',
    'Good. Git. GIF87 is a format.',
    'import type { A } from "./a.ts"\n',
    'G',
    '',
    'ID3 tags are old.',
    'Rar! PK! FLV!',
  ])('is unknown for the text %j', text => {
    expect(formatOfStart(latin1(text))).toBeUndefined()
  })
})

describe('The media type of an uploaded file', () => {
  let jpeg: Buffer
  let png: Buffer
  beforeAll(async () => {
    jpeg = await plain.clone().jpeg().toBuffer()
    png = await plain.clone().png().toBuffer()
  })

  it.each([
    ['photo.heic', 'image/heic'],
    ['photo.png', 'image/png'],
    ['photo', octets],
    ['photo.jpg', 'binary/octet-stream'],
    ['photo.jpg', 'image/jpg'],
    ['photo.jfif', 'image/pjpeg'],
    ['photo.txt', 'text/plain'],
    ['page.html', 'text/html'],
  ])('is JPEG for a JPEG named %s that is declared as %s', (name, declared) => {
    expect(correctedType(declared, name, jpeg)).toBe('image/jpeg')
  })

  it.each([
    ['a.apng', 'image/apng', 'image/apng', () => png],
    ['a.docx', 'application/vnd.ms-word', 'application/vnd.ms-word', () => latin1('PK\x03\x04')],
    ['a.docx', 'image/png', 'application/zip', () => latin1('PK\x03\x04')],
    ['a.dng', 'image/x-adobe-dng', 'image/x-adobe-dng', () => latin1('II*\0\x08\0\0\0')],
    ['a.nef', octets, octets, () => latin1('MM\0*\0\0\0\x08')],
    ['a.m4a', 'audio/mp4', 'audio/mp4', () => latin1('\0\0\0\x18ftypM4A ')],
    ['a.bin', octets, 'video/quicktime', () => latin1('\0\0\0\x18ftypqt  ')],
    ['a.bin', octets, 'video/3gpp', () => latin1('\0\0\0\x18ftyp3gp5')],
    ['a.txt', 'text/plain; charset=utf-16', 'text/plain; charset=utf-16', () => latin1('words')],
    ['a.png', 'image/png', 'image/png', () => latin1('no picture')],
    ['a.ts', 'video/mp2t', 'text/typescript', () => latin1('export const a = 1\n')],
    ['a.ts', 'video/vnd.dlna.mpeg-tts', 'text/typescript', () => latin1('// Grüße\n')],
    ['a.m2ts', 'video/mp2t', 'text/plain', () => latin1('words\n')],
    ['a.ts', 'text/typescript', 'video/mp2t', () => transportStream],
    ['a.mts', 'video/mp2t', 'video/mp2t', () => transportStream],
  ])('of %s, declared as %s, is %s', (name, declared, type, bytes) => {
    const utf8 = Buffer.from(bytes().toString('latin1'))
    expect(correctedType(declared, name, declared.includes('dlna') ? utf8 : bytes())).toBe(type)
  })

  it('has only one name', () => {
    expect(['image/JPG; q=1', 'image/x-png', 'text/plain; charset=utf-8'].map(essenceOf)).toEqual([
      'image/jpeg',
      'image/png',
      'text/plain',
    ])
  })
})

/** Packets of 188 bytes, each with the sync byte. */
const transportStream = Buffer.concat(
  Array.from({ length: 6 }, () => Buffer.concat([Buffer.from([0x47, 0x40]), Buffer.alloc(186)])),
)

describe('The displayable form', () => {
  it.each([
    ['clip.ts', 'video/mp2t', undefined],
    ['code.ts', 'text/typescript', 'source'],
    ['film.mov', 'video/quicktime', 'video'],
    ['film.m4v', 'video/x-m4v', 'video'],
    ['film.mkv', 'video/x-matroska', 'video'],
    ['photo.heic', 'image/heic', 'image'],
    ['old.jpg', 'image/jpg', 'image'],
    ['old.pdf', 'application/x-pdf', 'pdf'],
    ['drawing.svg', 'image/svg+xml', 'source'],
  ])('of %s in the viewer (%s) is %s', (name, contentType, kind) => {
    expect(kindOf({ name, contentType, size: 1000 })).toBe(kind)
  })

  it.each([
    ['image/jpg', true],
    ['image/apng', true],
    ['image/bmp', true],
    ['image/heic', true],
    ['application/x-pdf', true],
    ['video/x-ms-wmv', true],
    ['text/typescript', false],
    ['image/x-canon-cr2', false],
  ])('of %s as a thumbnail is %s', (type, isShown) => {
    expect(isDrawn(type)).toBe(isShown)
  })

  it('of a video is not a thumbnail without a program that renders it', () => {
    expect(isDrawn('video/mp4', false)).toBe(false)
  })

  it('depends on the media type, which TypeScript sources share with videos', () => {
    expect(fileClassOf('a.ts', 'text/typescript')).toBe('text')
    expect(fileClassOf('a.ts', 'video/mp2t')).toBe('video')
    expect(fileClassOf('a.jfif', 'image/pjpeg')).toBe('image')
    expect(fileClassOf('a.pdf', 'application/x-pdf')).toBe('pdf')
  })
})

describe('The time of some content', () => {
  it('is the time of the client’s clock unless that is in the future', () => {
    expect(contentTime(5, 10)).toBe(5)
    expect(contentTime(null, 10)).toBe(10)
    expect(contentTime(10 + 86_400_001, 10)).toBe(10)
    // The client may be in another time zone.
    expect(contentTime(10 + 3_600_000, 10)).toBe(3_600_010)
  })
})
