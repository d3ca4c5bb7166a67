import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { decodeAs } from '../../src/documents/code-page.ts'
import { encodeText, lineBreakOf, readPlainText } from '../../src/documents/plain-text.ts'

const bytesOf = (...parts: (string | number[])[]) =>
  new Uint8Array(
    Buffer.concat(
      parts.map(part => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))),
    ),
  )

/** The bytes of a text that is saved as it was read. */
function savedOf(bytes: Uint8Array<ArrayBuffer>, declared?: string): Buffer | undefined {
  const read = readPlainText(bytes, declared)
  const encoded = read && encodeText(read.text, read.charset)
  return encoded ? Buffer.concat([read.mark, encoded]) : undefined
}

describe('A text that is read for editing', () => {
  it.each([
    ['UTF-8', bytesOf('Grüße 漢字 🎒\r\n'), 'utf-8', 0],
    ['UTF-8 with a byte order mark', bytesOf([0xef, 0xbb, 0xbf], 'a;ü\r\n'), 'utf-8', 3],
    [
      'UTF-16 with a byte order mark',
      bytesOf([0xff, 0xfe], [...Buffer.from('Grüße', 'utf16le')]),
      'utf-16le',
      2,
    ],
    ['UTF-16, big-endian', bytesOf([0xfe, 0xff, 0, 0x47, 0, 0xfc]), 'utf-16be', 2],
    [
      'Windows-1252',
      bytesOf([...Buffer.from('Gr\xfc\xdfe aus M\xfcnchen, sch\xf6ne Gr\xfc\xdfe', 'latin1')]),
      'windows-1252',
      0,
    ],
    ['nothing', new Uint8Array(), 'utf-8', 0],
  ])('keeps %s', (_name, bytes, charset, mark) => {
    const read = readPlainText(bytes)
    expect(read).toMatchObject({ charset, isKept: true })
    expect(read?.mark.length).toBe(mark)
    expect(savedOf(bytes)).toEqual(Buffer.from(bytes))
  })

  it.each(['iso-8859-2', 'iso-8859-7', 'windows-1251', 'windows-874', 'koi8-r', 'cp850'])(
    'keeps every byte of %s that means a character',
    charset => {
      const bytes = Uint8Array.from({ length: 255 }, (_, at) => at + 1).filter(
        byte => decodeAs(Uint8Array.of(byte), charset) !== '\ufffd',
      )
      expect(bytes.length).toBeGreaterThan(200)
      expect(encodeText(decodeAs(bytes, charset) ?? '', charset)).toEqual(bytes)
    },
  )

  it('is not kept in a character set with several bytes per character', () => {
    // "Japanese" in Shift_JIS.
    const bytes = bytesOf([0x93, 0xfa, 0x96, 0x7b, 0x8c, 0xea, 0x0a])
    const read = readPlainText(bytes, 'shift_jis')
    expect(read).toMatchObject({ text: '日本語\n', isKept: false })
    expect(encodeText('日本語', 'shift_jis')).toBeUndefined()
  })

  it.each([
    ['a binary file', bytesOf([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0, 0, 0, 3, 0, 0x3e, 0])],
    ['a text with zeros', bytesOf('a\nb', [0], 'c')],
    ['UTF-8 with a broken character', bytesOf('äöü'.repeat(10), [0xc3], 'x')],
    ['UTF-8 that is cut within a character', bytesOf('äöü', [0xe6, 0xbc])],
  ])('is refused as %s', (_name, bytes) => expect(readPlainText(bytes)).toBeNull())

  it('is the same after it was saved, whatever its characters', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.constantFrom('utf-8', 'utf-16le', 'utf-16be'),
        (text, charset) => {
          const bytes = encodeText(text, charset)
          expect(bytes && new TextDecoder(charset, { ignoreBOM: true }).decode(bytes)).toBe(text)
        },
      ),
    )
  })

  it('is not encoded if its character set lacks a character', () => {
    expect(encodeText('5 €', 'windows-1252')).toEqual(bytesOf([0x35, 0x20, 0x80]))
    expect(encodeText('日本', 'windows-1252')).toBeUndefined()
  })
})

it.each([
  ['a\nb\n', '\n'],
  ['a\r\nb\r\n', '\r\n'],
  ['a\rb', '\r'],
  ['a', '\n'],
  ['a\r\nb\n', '\n'],
])('finds the line break of %j', (text, expected) => expect(lineBreakOf(text)).toBe(expected))

it('keeps the line break of a file that is down to a single line', () => {
  expect(lineBreakOf('one', '\r\n')).toBe('\r\n')
  expect(lineBreakOf('one\ntwo', '\r\n')).toBe('\n')
})
