import { expect, it } from '@jest/globals'
import { elementsOf, encodeXml, textOf } from '../../src/storage/xml.ts'

it('reads the elements of a response, and decodes entities', () => {
  const xml =
    '<?xml version="1.0"?>\n<A xmlns="x"><Key>a&amp;b</Key><Key>&#60;&#x3e;&quot;&nope;</Key><Keys>no</Keys><Key/></A>'
  expect(elementsOf(xml, 'Key')).toEqual(['a&amp;b', '&#60;&#x3e;&quot;&nope;'])
  expect(textOf(xml, 'Key')).toBe('a&b')
  expect(textOf(`<Key>${elementsOf(xml, 'Key')[1]}</Key>`, 'Key')).toBe('<>"&nope;')
  expect(textOf(xml, 'Missing')).toBe('')
})

it('writes a text so that it can be read back', () => {
  const text = `<a b="c" d='e'>&amp;</a>`
  expect(encodeXml(text)).not.toMatch(/[<>"']/)
  expect(textOf(`<T>${encodeXml(text)}</T>`, 'T')).toBe(text)
})
