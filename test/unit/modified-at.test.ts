import { describe, expect, it } from '@jest/globals'
import { modifiedAtOf, timeOf } from '../../src/upload-engine/modified-at.ts'
import { fromDate, fromSeconds, requireModifiedAt } from '../../src/values/modified-at.ts'
import { randomFrom } from '../support/fuzz.ts'

const isTime = (time: number | undefined) =>
  time === undefined ||
  (Number.isInteger(time) && time >= Date.UTC(1900, 0) && time < Date.UTC(2200, 0))

describe('The time of a file', () => {
  it('lies within three centuries, in whole milliseconds', () => {
    expect([modifiedAtOf(-0.5), modifiedAtOf(1.9), modifiedAtOf(Date.UTC(1900, 0))]).toEqual([
      -1,
      1,
      Date.UTC(1900, 0),
    ])
    for (const none of [
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Date.UTC(1900, 0) - 1,
      Date.UTC(2200, 0),
      -1e300,
    ])
      expect([none, modifiedAtOf(none)]).toEqual([none, undefined])
    expect(() => requireModifiedAt(Number.NaN)).toThrow('RFC 3339')
    expect([requireModifiedAt(null), requireModifiedAt(undefined), requireModifiedAt(0)]).toEqual([
      null,
      null,
      0,
    ])
  })

  it('is read exactly from seconds and from dates', () => {
    for (let ms = 0; ms < 1000; ms += 7) {
      const text = `1500000000.${String(ms).padStart(3, '0')}`
      expect([text, fromSeconds(text)]).toEqual([text, 1_500_000_000_000 + ms])
    }
    expect([fromSeconds('-1.5'), fromSeconds('1.2345'), fromSeconds('0')]).toEqual([-1500, 1234, 0])
    expect(fromDate('Fri, 14 Jul 2017 02:40:00 GMT')).toBe(1_500_000_000_000)
    expect(fromDate('2017-07-14T04:40:00+02:00')).toBe(1_500_000_000_000)
    expect(fromDate('1500000000')).toBe(1_500_000_000_000)
  })

  it('is refused in any other format', () => {
    const seed = Date.now()
    const next = randomFrom(seed)
    const pieces = [
      '1',
      '9',
      '.',
      '-',
      '+',
      'e',
      ' ',
      ':',
      'T',
      'Z',
      'GMT',
      ', ',
      'Jul',
      'Fri',
      '2017',
      '0x',
      '\u0660',
      '',
    ]
    for (let i = 0; i < 20_000; i++) {
      const text = Array.from(
        { length: Math.floor(next() * 14) },
        () => pieces[Math.floor(next() * pieces.length)],
      ).join('')
      expect([seed, text, isTime(fromSeconds(text)), isTime(fromDate(text))]).toEqual([
        seed,
        text,
        true,
        true,
      ])
    }
  })

  it('is omitted from requests when it is invalid or unknown', () => {
    expect(timeOf({ size: 1, mtimeMs: 1_500_000_000_000.7 })).toEqual({
      modifiedAt: '2017-07-14T02:40:00.000Z',
    })
    for (const mtimeMs of [0, -1e15, 1e15, Number.NaN])
      expect(timeOf({ size: 1, mtimeMs })).toEqual({})
  })
})
