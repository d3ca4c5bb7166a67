import { expect, it } from '@jest/globals'
import { plain } from '../../src/cli/text.ts'
import { shownText } from '../../src/renderers/shown-text.ts'
import { oneLine } from '../../src/values/one-line.ts'

const all = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code))
const directing = all.filter(c => /\p{Bidi_Control}/u.test(c))

it('Pages, mails and the command line neutralize all that the console does', () => {
  const inConsole = directing.filter(c => shownText(`a${c}b`) === 'a\uFFFDb')
  // The messages of the console isolate names with FSI and PDI.
  expect(directing.filter(c => !inConsole.includes(c))).toEqual(['\u2068', '\u2069'])
  expect(directing.map(c => oneLine(`a${c}b`))).toEqual(directing.map(() => 'a b'))
  expect(directing.map(c => plain(`a${c}b`))).toEqual(directing.map(() => 'a\uFFFDb'))
})

it('One line has no line breaks, halves of characters or space at its ends', () => {
  expect(oneLine(' \u202Ea\r\n\u2028b\ud800\u2069 ')).toBe('a b')
  expect(oneLine('a  b \u{1F600}')).toBe('a  b \u{1F600}')
})
