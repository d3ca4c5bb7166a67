import { describe, expect, it } from '@jest/globals'
import { decodeAs } from '../../src/documents/code-page.ts'
import { decode, isText } from '../../src/documents/decode.ts'

/** The bytes of each character of a character set, found by decoding every byte sequence. */
function bytesByCharacter(charset: string): Map<string, number[]> {
  const found = new Map<string, number[]>()
  const note = (...bytes: number[]) => {
    const text = decodeAs(Uint8Array.from(bytes), charset, { isFatal: true })
    if (text !== undefined && [...text].length === 1 && !found.has(text)) found.set(text, bytes)
  }
  for (let byte = 0; byte < 256; byte++) note(byte)
  if (/shift|euc|gb|big5/.test(charset))
    for (let lead = 0x81; lead < 0xff; lead++)
      for (let trail = 0x40; trail < 0xff; trail++) note(lead, trail)
  return found
}

const encoders = new Map<string, Map<string, number[]>>()
function encode(text: string, charset: string): Uint8Array {
  const characters = encoders.get(charset) ?? bytesByCharacter(charset)
  encoders.set(charset, characters)
  return Uint8Array.from(
    [...text].flatMap(character => {
      const bytes = characters.get(character)
      if (!bytes) throw new Error(`${charset} has no ${character}`)
      return bytes
    }),
  )
}

/** Short texts like those in small files. */
const texts: [charsets: string[], text: string][] = [
  [['windows-1252', 'cp850', 'cp437', 'macintosh'], 'Grüße aus München, die Tür ist zu groß.'],
  [['windows-1252', 'cp850'], 'Le prélèvement a été effectué à la fin de l’été.'.replace('’', "'")],
  [['windows-1252'], 'Der Preis beträgt 12 € – „günstig“ für Überweisungen'],
  [['windows-1252'], 'La declaración de la señora está en la última página, ¿no?'],
  [['windows-1252'], 'Informações sobre a sessão e a configuração não estão disponíveis'],
  [['windows-1252'], 'Bestämmelser för försäkringar gäller från början av året'],
  [['windows-1252'], 'Betaling må være på kontoen før lørdag, også for små beløb'],
  [['windows-1250', 'iso-8859-2', 'cp852'], 'Proszę o szybką płatność za usługi łączności'],
  [['windows-1250', 'iso-8859-2', 'cp852'], 'Příliš žluťoučký kůň úpěl ďábelské ódy'],
  [['windows-1250', 'iso-8859-2'], 'A megrendelés részleteit küldjük, köszönjük az előleget'],
  [['windows-1250'], 'Račun za storitve je že plačan, hvala za naročilo'],
  [['windows-1254'], 'Sayın müşterimiz, ödeme için teşekkür ederiz, iyi günler'],
  [['windows-1257'], 'Gerbiamieji klientai, ačiū už jūsų užsakymą ir mokėjimą'],
  [['windows-1257'], 'Paldies par jūsu pasūtījumu, rēķins ir pievienots vēstulei'],
  [
    ['windows-1251', 'koi8-r', 'ibm866', 'iso-8859-5'],
    'Договор поставки оборудования подписан сторонами',
  ],
  [['windows-1251', 'koi8-u'], 'Рахунок за послуги зв’язку та їх оплата'.replace('’', ' ')],
  [['windows-1253', 'iso-8859-7'], 'Τιμολόγιο πώλησης προς τον πελάτη της Αθήνας'],
  [['windows-1255', 'iso-8859-8'], 'חשבונית מס עבור שירותי התקשורת של החברה'],
  [['windows-1256', 'iso-8859-6'], 'فاتورة الكهرباء لشهر مارس من الشركة العامة'],
  [['windows-874'], 'ใบเสร็จรับเงินค่าบริการประจำเดือนมกราคม'],
  [['shift_jis', 'euc-jp'], '見積書をお送りしますので、ご確認ください'],
  [['shift_jis'], 'ﾌﾘｶﾞﾅ,ﾔﾏﾀﾞ ﾀﾛｳ,東京都'],
  [['gb18030'], '请您在本月底之前支付发票上的金额'],
  [['big5'], '請您在本月底之前支付發票上的金額'],
  [['euc-kr'], '이번 달 말까지 세금계산서 금액을 지불해 주세요'],
]

describe('A text without a declared character set', () => {
  it.each(texts.flatMap(([charsets, text]) => charsets.map(charset => [charset, text] as const)))(
    'is decoded from %s: %s',
    (charset, text) => {
      expect(decode(encode(text, charset))).toBe(text)
    },
  )

  it('is decoded from ISO-2022-JP by its escapes', () => {
    const text = decode(Buffer.from('\x1b$B8+@Q=q\x1b(B ok\n', 'latin1'))
    expect(text).toBe('見積書 ok\n')
  })

  it('is detected by a single non-ASCII line in a long log', () => {
    const line = '2026-11-28 12:00:00 INFO all is well\n'
    const log = [
      Buffer.from(line.repeat(5000)),
      encode('Größe der Datei überschritten\n', 'windows-1252'),
      Buffer.from(line.repeat(5000)),
    ]
    expect(decode(Buffer.concat(log))).toContain('Größe der Datei überschritten')
  })

  it('is UTF-8 despite a few other bytes', () => {
    const text = 'Die Größe der Tür für Überstürzte wächst, müßig zu erwähnen. '.repeat(4)
    const bytes = Buffer.concat([Buffer.from(text), Buffer.from([0xfc]), Buffer.from(text)])
    expect(decode(bytes)).toBe(`${text}\ufffd${text}`)
  })

  it.each(['utf16le', 'utf16be'])('is decoded from %s, with and without a mark', order => {
    for (const text of ['power shell output\r\nZeile\r\n', 'Отчёт за год\r\nконец\r\n']) {
      for (const mark of ['', '\ufeff']) {
        const bytes = Buffer.from(mark + text, 'utf16le')
        expect(decode(order === 'utf16be' ? bytes.swap16() : bytes)).toBe(text)
      }
    }
  })

  it('is decoded from UTF-32', () => {
    const codes = Uint32Array.from([...'Grüße 🎉 an alle'], letter => letter.codePointAt(0) ?? 0)
    expect(decode(new Uint8Array(codes.buffer))).toBe('Grüße 🎉 an alle')
  })

  it('loses a character that is cut at the end', () => {
    expect(decode(Buffer.from('Größe ü').subarray(0, -1))).toBe('Größe ')
  })
})

describe('A declared character set', () => {
  const russian = 'Счет'
  it.each([
    ['a header', 'windows-1251', (text: string) => text],
    ['HTML', undefined, (text: string) => `<meta charset="windows-1251"><p>${text}`],
    [
      'old HTML',
      undefined,
      (text: string) =>
        `<META http-equiv=Content-Type content="text/html; charset=windows-1251">${text}`,
    ],
    [
      'XML',
      undefined,
      (text: string) => `<?xml version="1.0" encoding="windows-1251"?><a>${text}</a>`,
    ],
    ['Python', undefined, (text: string) => `# -*- coding: windows-1251 -*-\n# ${text}\n`],
    [
      'a PO file',
      undefined,
      (text: string) => `"Content-Type: text/plain; charset=windows-1251\\n"\n"${text}"\n`,
    ],
  ])('is used: of %s', (_, declared, around) => {
    expect(decode(encode(around(russian), 'windows-1251'), declared)).toBe(around(russian))
  })

  it('is ignored if the bytes are UTF-8, or if its name is unknown', () => {
    expect(decode(Buffer.from('<meta charset="iso-8859-1">Größe'))).toContain('Größe')
    expect(decode(encode('Grüße an alle', 'windows-1252'), 'no-such-set')).toBe('Grüße an alle')
    expect(decode(encode('Grüße an alle', 'windows-1252'), 'utf-8')).toBe('Grüße an alle')
  })
})

describe('Bytes', () => {
  it('are text despite NUL bytes, which become line breaks', () => {
    const log = Buffer.from(`started\n${'\0'.repeat(100)}\nstopped\n`)
    expect(isText(log, true)).toBe(true)
    expect(decode(log)).toBe('started\n\n\nstopped\n')
  })

  it('in any language are text', () => {
    for (const [charsets, text] of texts)
      for (const charset of charsets)
        expect([text, charset, isText(encode(text, charset), false)]).toEqual([text, charset, true])
  })

  it('of programs, pictures and random data are not text', () => {
    const random = Uint8Array.from({ length: 5000 }, (_, at) => ((at * 2654435761) >>> 13) & 255)
    const program = Buffer.from(
      '\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0\x01\0\0\0',
      'latin1',
    )
    for (const bytes of [random, program]) {
      expect(isText(bytes, false)).toBe(false)
      expect(isText(bytes, true)).toBe(false)
    }
  })
})
