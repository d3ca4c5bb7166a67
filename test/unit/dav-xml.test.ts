import { describe, expect, it } from '@jest/globals'
import {
  childOf,
  type Element,
  elementsOf,
  escapeXml,
  parseXml,
  writeElement,
} from '../../src/dav/xml.ts'

const full = () => new Error('full')
const written = (element: Element | undefined, bytes = 64 * 1024): string =>
  writeElement(element ?? parseXml('<none/>'), { bytes, full })
const inside = (declared: string, content: string) => {
  const root = parseXml(`<D:set xmlns:D="DAV:"${declared}><D:prop>${content}</D:prop></D:set>`)
  return elementsOf(childOf(root, 'prop') ?? root)
}

describe('An XML element', () => {
  it('is written with the inherited namespaces that it uses, also in values', () => {
    const [used, value, none, apart] = inside(
      ' xmlns="urn:d" xmlns:a="urn:a" xmlns:b="urn:b" xmlns:x="urn:x"',
      '<a:one b:c="d"><e/></a:one><a:two x:type="b:name"/><a:three/><f xmlns=""><a:g xmlns:a="urn:other"/></f>',
    )
    expect(written(used)).toBe(
      '<a:one xmlns="urn:d" xmlns:a="urn:a" xmlns:b="urn:b" b:c="d"><e/></a:one>',
    )
    expect(written(value)).toContain('xmlns:b="urn:b"')
    expect(written(none)).not.toContain('urn:b')
    expect(parseXml(written(apart)).ns).toBe('')
    for (const one of [used, value, none, apart]) {
      const again = parseXml(written(one))
      expect([again.ns, again.name, again.attributes]).toEqual([
        one?.ns,
        one?.name,
        one?.attributes,
      ])
      expect(parseXml(written(again))).toEqual(again)
      expect(elementsOf(again).map(({ ns }) => ns)).toEqual(
        one ? elementsOf(one).map(({ ns }) => ns) : [],
      )
    }
  })

  it('has a bounded number of namespaces and attributes, which are not copied per element', () => {
    const prefixes = (count: number) =>
      Array.from({ length: count }, (_, i) => ` xmlns:p${i}="urn:${i}"`).join('')
    const attributes = (count: number) =>
      Array.from({ length: count }, (_, i) => ` a${i}="x"`).join('')
    expect(inside(prefixes(30), '<a/>')).toHaveLength(1)
    expect(() => inside(prefixes(33), '<a/>')).toThrow('too many namespaces')
    expect(() => inside(prefixes(20), `<a${prefixes(33).slice(prefixes(20).length)}/>`)).toThrow(
      'too many namespaces',
    )
    expect(() => inside(` xmlns:a="${'u'.repeat(1025)}"`, '<a/>')).toThrow('too many namespaces')
    expect(inside('', `<a${attributes(100)}/>`)).toHaveLength(1)
    expect(() => inside('', `<a${attributes(101)}/>`)).toThrow('too many attributes')
    const [one, two] = inside(prefixes(20), `<a xmlns:own="urn:own"/><b/>`)
    expect(Object.keys(one?.namespaces ?? {})).toEqual(['own'])
    expect(Object.keys(two?.namespaces ?? {})).toEqual([])
  })

  it('is not written beyond the limit', () => {
    const [element] = inside(' xmlns:a="urn:a"', `<a:b>${'<a:c/>'.repeat(1000)}</a:b>`)
    const whole = written(element)
    expect(written(element, whole.length)).toBe(whole)
    expect(() => written(element, whole.length - 1)).toThrow('full')
    expect(() => written(inside('', '<a>€€</a>')[0], 12)).toThrow('full')
  })
})

describe('Text', () => {
  it('is read as XML 1.0, whatever version the body declares', () => {
    expect(parseXml('<?xml version="1.1"?><a>\u0085</a>').children.join('')).toBe('\u0085')
    for (const text of ['&#1;', '\u0001', '&#xFFFE;'])
      for (const version of ['1.0', '1.1'])
        expect(() => parseXml(`<?xml version="${version}"?><a>${text}</a>`)).toThrow('not the XML')
  })

  it('is written without characters that XML 1.0 forbids', () => {
    const text = '\0\u0001\u0008\u000b\u000c\u001f\ufffe\uffff\ud800-\udc00'
    expect(escapeXml(text)).toBe(`${'\ufffd'.repeat(9)}-\ufffd`)
    expect(escapeXml('a\t\n\r😀é\u0085"&<>')).toBe('a\t\n&#13;😀é\u0085&quot;&amp;&lt;&gt;')
    expect(parseXml(`<a>${escapeXml(text)}</a>`).children.join('')).toHaveLength(11)
  })
})
