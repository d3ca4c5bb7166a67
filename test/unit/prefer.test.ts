import { describe, expect, it } from '@jest/globals'
import { parsePrefer } from '../../src/http/prefer.ts'

describe('A Prefer header', () => {
  it.each([
    [undefined, false, undefined],
    ['', false, undefined],
    ['respond-async', true, undefined],
    ['Respond-Async; a=b, wait=0, other', true, 0],
    ['return=minimal,\trespond-async , wait = "10" ; foo', true, 10],
    ['wait=5, wait=9', false, 5],
    ['wait=soon, respond-async', true, undefined],
    ['wait=-1', false, undefined],
    ['wait=9999999999', false, undefined],
    ['no-respond-async, x="respond-async"', false, undefined],
  ])('%j is read', (header, respondAsync, wait) =>
    expect(parsePrefer(header)).toEqual({ respondAsync, wait }),
  )

  it('is read in linear time, even with as many spaces as a request can have', () => {
    const spaces = ' '.repeat(15_000)
    for (const header of [
      `a=${spaces}"x"y`,
      `${spaces}a${spaces}=${spaces};`,
      'a="'.repeat(5000),
      ','.repeat(15_000),
    ])
      expect(parsePrefer(header)).toEqual({ respondAsync: false, wait: undefined })
  })
})
