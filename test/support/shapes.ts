import { expect } from '@jest/globals'

/** A UUID. */
export const anId = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)

/** RFC 3339 in UTC with milliseconds. */
export const aTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

/** A sentence with an instruction for the reader. */
export const aSentence = expect.stringMatching(/^[A-Z"].+[.?]$/)

/** Names sorted by code point, which differs from the order of UTF-16 and of every language. */
export const byCodePoint = (a: string, b: string): number =>
  Buffer.compare(Buffer.from(a), Buffer.from(b))

/**
 * Names that sort differently by code point, by UTF-16 unit, by language and case-insensitively.
 */
export const awkwardNames = [
  'B',
  'a',
  'Z',
  'z',
  'é',
  'e',
  'É',
  'ö',
  'ｚ',
  '🦊',
  '~',
  '0',
  '10',
  '9',
  'ß',
  'a b',
  'a-b',
  'a_b',
]

/** The milliseconds of a timestamp in a response. */
export const at = (time: string): number => Date.parse(time)
