import { describe, expect, it } from '@jest/globals'
import { icon } from '../../src/http/icon.ts'
import { rightsOf } from '../../src/pages/invite.ts'
import { previewOf } from '../../src/pages/preview.ts'
import { renderPage } from '../../src/pages/views.ts'
import { personOf, wordsOf } from '../../src/pages/words.ts'
import { deliveryOf } from '../../src/values/media.ts'
import { brand } from '../support/brand.ts'

const words = wordsOf(brand)('en')
const { fileOf, kindOf, momentOf, nameOf, sizeOf } = words

describe('A size', () => {
  it.each([
    [0, '0 B', '0 bytes'],
    [1, '1 B', '1 byte'],
    [1536, '1.5 KiB', '1,536 bytes'],
    [5 * 1024 ** 3, '5 GiB', '5,368,709,120 bytes'],
    [2 ** 53 - 1, '8 PiB', '9,007,199,254,740,991 bytes'],
  ])('of %d bytes is %s, exactly %s', (bytes, text, exact) => {
    expect(sizeOf(bytes)).toEqual({ text, exact })
  })
})

describe('A time', () => {
  it('is shown in UTC', () => {
    expect(momentOf(Date.UTC(2026, 2, 14, 9, 5))).toEqual({
      iso: '2026-03-14T09:05:00.000Z',
      text: '14 March 2026 at 09:05 UTC',
    })
  })
})

describe('German words', () => {
  const german = wordsOf(brand)('de')

  it('format sizes, times and kinds', () => {
    expect(german.sizeOf(1536)).toEqual({ text: '1,5 KiB', exact: '1.536 Bytes' })
    expect(german.momentOf(Date.UTC(2026, 2, 14, 9, 5)).text).toBe('14. März 2026 um 09:05 UTC')
    expect(german.kindOf('photo.PNG', 'image/png').label).toBe('PNG-Bild')
    expect(german.kindOf('thing', 'application/octet-stream').label).toBe('Datei')
  })
})

describe('A rich message', () => {
  it('escapes its text and keeps the HTML of its values', () => {
    const written = words.rich('found', { text: '<b>x</b>' })
    expect(written).toBe('Names with “<b>x</b>”.')
    expect(words.rich('files', { count: 1200 })).toBe('1,200 files')
    expect(words.rich('sendAs', { name: '<bdi>Carol</bdi>\n' })).toBe(
      'You send as <bdi>Carol</bdi>.',
    )
  })
})

describe('The kind of a file', () => {
  it.each([
    ['photo.PNG', 'image/png', 'image', 'PNG image'],
    ['photo.png', 'image/jpeg', 'image', 'Image'],
    ['report.pdf', 'application/pdf', 'document', 'PDF document'],
    ['invoice.pdf', 'application/x-msdownload', 'file', 'File'],
    ['song.mp3', 'audio/mpeg', 'audio', 'MP3 audio'],
    ['film.mp4', 'video/mp4', 'video', 'MP4 video'],
    ['all.zip', 'application/zip', 'archive', 'ZIP archive'],
    ['all.tar.gz', 'application/gzip', 'archive', 'GZ archive'],
    ['list.csv', 'text/csv', 'table', 'CSV table'],
    [
      'list.xlsx',
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
      'table',
      'XLSX table',
    ],
    [
      'letter.docx',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      'document',
      'DOCX document',
    ],
    ['page.html', 'text/html; charset=utf-8', 'code', 'HTML file'],
    ['notes.txt', 'text/plain', 'text', 'Text file'],
    ['thing', 'application/octet-stream', 'file', 'File'],
  ])('%s of type %s is %s, "%s"', (name, type, icon, label) => {
    expect(kindOf(name, type)).toEqual({ icon, label })
  })
})

describe('A name', () => {
  it.each([
    ['a\tb\nc', 'a b c'],
    ['invoice\u202Efdp.exe', 'invoice fdp.exe'],
    ['\u2066\u200F', 'A file without a name'],
    ['Grüße 🦊.txt', 'Grüße 🦊.txt'],
    ['<b>', '<b>'],
  ])('%j is shown as %j', (name, shown) => {
    expect(nameOf(name)).toBe(shown)
  })

  it('of a person that equals their address is shown once', () => {
    expect(personOf({ name: 'a@example.com', email: 'a@example.com', verified: true }).name).toBe(
      '',
    )
    expect(personOf({ name: 'Anna\u202E', email: 'a@example.com', verified: true })).toEqual({
      name: 'Anna',
      email: 'a@example.com',
      unverified: false,
    })
  })
})

describe('A preview', () => {
  const shownAs = (fileType: string) =>
    previewOf({ fileName: 'a', fileType, size: 1, limited: false, allowDownload: true }, words).kind
  const types = [
    'image/png',
    'image/avif',
    'application/pdf',
    'audio/mpeg',
    'audio/x-flac',
    'video/webm',
  ]

  it.each(types)('of %s is displayed, with exactly that type', type => {
    expect(shownAs(`${type}; x=y`)).toBeTruthy()
    const { disposition, contentType } = deliveryOf('a', type, 'inline')
    expect([disposition.startsWith('inline'), contentType]).toEqual([true, type])
  })

  it.each(['image/svg+xml', 'text/html', 'image/foo+xml', 'constructor', ''])(
    'of %j does not exist',
    type => {
      expect(shownAs(type)).toBeNull()
    },
  )
})

describe('The permissions of a role', () => {
  it('grow with the role', () => {
    expect(rightsOf('viewer', words)).toBe('see and download files')
    expect(rightsOf('editor', words)).toBe('see, add and change files')
    expect(rightsOf('admin', words)).toBe('see, add and change files, and invite other people')
  })
})

describe('A template', () => {
  it('escapes all values', () => {
    const evil = `"'><script>&</script>`
    const frame = {
      title: evil,
      caller: { name: evil, email: evil },
      signIn: '',
      notice: evil,
      graphiql: true,
      accounts: false,
      brand,
      og: [['og:title', evil]] as [string, string][],
    }
    const written = renderPage('share', words, frame, {
      file: fileOf(evil, 'image/png', 1),
      title: evil,
      paragraphs: [evil],
      isPublic: true,
      until: momentOf(0),
      own: evil,
      download: evil,
      back: evil,
      needs: null,
      save: { action: evil, at: { [evil]: evil }, saved: evil },
      sharedBy: { name: evil, email: evil },
      preview: { kind: 'image', layout: null, src: evil, size: 1, short: false },
      noPreview: evil,
      signIn: evil,
      problem: evil,
    })
    expect(written).toContain('&quot;&#39;&gt;&lt;script&gt;&amp;&lt;/script&gt;')
    expect(written).not.toContain(evil)
    expect(written.match(/<script/g)).toHaveLength(1)
  })

  it('shows the same satchel as the icon of the site', () => {
    const [, lines = ''] = /^<svg[^>]*>(.+)<\/svg>$/.exec(icon) ?? []
    const frame = {
      title: '',
      caller: null,
      signIn: '',
      notice: '',
      graphiql: true,
      accounts: false,
      brand,
      og: [],
    }
    expect(renderPage('welcome', words, frame, {})).toContain(lines)
  })
})
