import { describe, expect, it } from '@jest/globals'
import { parse } from 'content-disposition'
import { deliveryOf, mediaTypeOf, mediaTypeOfPart, parseMode } from '../../src/values/media.ts'

const octets = 'application/octet-stream'

describe('mediaTypeOf', () => {
  it.each([
    ['a.png', undefined, 'image/png'],
    ['a.PNG', '', 'image/png'],
    ['a.png', octets, 'image/png'],
    ['a.png', 'Application/Octet-Stream', 'image/png'],
    ['a.png', 'image/webp', 'image/webp'],
    ['a.png', ' Image/WebP ', 'image/webp'],
    ['a', undefined, octets],
    ['png', undefined, octets],
    ['.png', undefined, octets],
    ['a.unheard-of', undefined, octets],
    ['archive.tar.gz', undefined, 'application/gzip'],
    ['日本語.pdf', undefined, 'application/pdf'],
    ['a.png', 'image/*', 'image/png'],
    ['a.png', '*/*', 'image/png'],
    ['a.png', 'image', 'image/png'],
    ['a.png', 'image/', 'image/png'],
    ['a.png', 'image/gif/x', 'image/png'],
    ['a.png', 'text/html\r\nX-Evil: 1', 'image/png'],
    ['a.png', 'text/html, text/plain', 'image/png'],
    ['a.png', `image/${'x'.repeat(200)}`, 'image/png'],
    ['a', `image/${'x'.repeat(121)}`, `image/${'x'.repeat(121)}`],
    ['a', 'application/vnd.api+json', 'application/vnd.api+json'],
    ['a', 'text/plain; charset=UTF-8', 'text/plain; charset=utf-8'],
    ['a', 'text/plain;format=flowed;charset="ISO-8859-1"', 'text/plain; charset=iso-8859-1'],
    ['a', 'text/plain; charset=utf-7', 'text/plain'],
    ['a', 'text/plain; charset="u;tf-8"', 'text/plain'],
    ['a', 'image/png; charset=utf-8', 'image/png'],
    ['a.png', 'multipart/form-data; boundary=x', 'image/png'],
    ['a.png', 'application/x-www-form-urlencoded', 'image/png'],
    ['a.png', 'binary/octet-stream', 'image/png'],
    ['a', 'binary/octet-stream', octets],
    ['a', 'image/jpg', 'image/jpeg'],
    ['a', 'image/x-png', 'image/png'],
    ['a', 'application/x-pdf', 'application/pdf'],
    ['a.jfif', undefined, 'image/jpeg'],
    ['a.ts', undefined, 'text/typescript'],
    ['a.mts', undefined, 'text/typescript'],
    ['a.m2ts', undefined, 'video/mp2t'],
  ])('%j declared as %j is %s', (name, given, type) => {
    expect(mediaTypeOf(name, given)).toBe(type)
    expect(mediaTypeOf(name, given).length).toBeLessThanOrEqual(127)
  })
})

describe('mediaTypeOfPart', () => {
  it.each([
    ['a.png', 'text/plain', 'image/png'],
    ['a.txt', 'text/plain', 'text/plain'],
    ['LICENSE', 'text/plain', 'text/plain'],
    ['a.png', 'image/gif', 'image/gif'],
    ['a.png', octets, 'image/png'],
  ])('%j reported as %j is %s', (name, reported, type) => {
    expect(mediaTypeOfPart(name, reported)).toBe(type)
  })
})

describe('parseMode', () => {
  it('defaults to download', () => {
    expect(parseMode(undefined)).toBe('download')
    expect(parseMode('')).toBe('download')
    expect(parseMode('download')).toBe('download')
    expect(parseMode('inline')).toBe('inline')
  })

  it.each(['Inline', 'attachment', 'inline ', '1'])('refuses %j', text => {
    expect(() => parseMode(text)).toThrow(
      expect.objectContaining({ code: 'INVALID_MODE', details: { field: 'mode' } }),
    )
    expect(parseMode(text, true)).toBe('download')
  })
})

describe('deliveryOf', () => {
  it.each([
    ['image/png', 'image/png'],
    ['IMAGE/JPEG', 'image/jpeg'],
    ['application/pdf', 'application/pdf'],
    ['audio/mpeg', 'audio/mpeg'],
    ['video/mp4', 'video/mp4'],
    ['text/plain', 'text/plain; charset=utf-8'],
    ['text/plain; charset=iso-8859-1', 'text/plain; charset=utf-8'],
  ])('displays %s', (type, contentType) => {
    expect(deliveryOf('a', type, 'inline')).toEqual({
      disposition: 'inline; filename=a',
      contentType,
    })
  })

  it.each([
    'text/html',
    'text/html; charset=utf-8',
    'TEXT/HTML',
    'application/xhtml+xml',
    'image/x-thing+xml',
    'audio/x-thing+xml',
    'video/x-thing+xml',
    'text/xml',
    'application/xml',
    'application/rss+xml',
    'text/xsl',
    'text/css',
    'text/javascript',
    'application/javascript',
    'application/x-javascript',
    'application/ecmascript',
    'text/vbscript',
    'text/cache-manifest',
    'multipart/related',
    'multipart/x-mixed-replace',
    'message/rfc822',
    'application/x-shockwave-flash',
    'application/x-java-applet',
    'application/wasm',
    'application/hta',
    'text/plain\r\nX-Evil: 1',
    'nonsense',
    '',
  ])('never displays %j under a declared type', type => {
    for (const mode of ['inline', 'download'] as const)
      expect(deliveryOf('a', type, mode)).toEqual({
        disposition: 'attachment; filename=a',
        contentType: octets,
      })
  })

  it.each([
    'application/zip',
    'application/json',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    'text/csv; charset=utf-8',
    'text/markdown',
  ])('attaches %s under its own type', type => {
    for (const mode of ['inline', 'download'] as const)
      expect(deliveryOf('a', type, mode)).toEqual({
        disposition: 'attachment; filename=a',
        contentType: type,
      })
  })

  it('names SVG for pages that show it as an image, and never displays it by itself', () => {
    const disposition = 'attachment; filename=a'
    expect(deliveryOf('a', 'image/svg+xml', 'inline')).toEqual({
      disposition,
      contentType: 'image/svg+xml',
    })
    expect(deliveryOf('a', 'image/svg+xml', 'download')).toEqual({
      disposition,
      contentType: octets,
    })
  })

  it('attaches a displayable file when requested', () => {
    expect(deliveryOf('a.png', 'image/png', 'download')).toEqual({
      disposition: 'attachment; filename=a.png',
      contentType: 'image/png',
    })
  })

  it.each([
    'plain.txt',
    'two words.txt',
    'quo"te\'s.txt',
    'semi;colon,comma=.txt',
    'percent%41%.txt',
    'résumé.pdf',
    '日本語 😀.txt',
    'עברית.txt',
    '\u202egpj.exe',
    "x'y(z)*.txt",
    '€'.repeat(85),
  ])('sends %j under its own name', name => {
    const { disposition } = deliveryOf(name, octets, 'download')
    expect(disposition).toMatch(/^[\x20-\x7e]+$/)
    expect(parse(disposition)).toMatchObject({ type: 'attachment', parameters: { filename: name } })
  })

  it('sends any name', () => {
    expect(deliveryOf('a\ud800\r\nb', octets, 'download').disposition).toMatch(/^[\x20-\x7e]+$/)
  })
})
