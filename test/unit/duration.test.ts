import { describe, expect, it } from '@jest/globals'
import { parseDuration } from '../../src/values/duration.ts'

const day = 86_400_000

describe('parseDuration', () => {
  it.each([
    ['60s', 60_000],
    ['1m', 60_000],
    ['90m', 5_400_000],
    ['24h', day],
    ['7d', 7 * day],
    ['2w', 14 * day],
    ['1mo', 30 * day],
    ['1y', 365 * day],
    ['5y', 5 * 365 * day],
    ['1825d', 5 * 365 * day],
    ['157680000s', 5 * 365 * day],
    ['60mo', 1800 * day],
  ])('reads %s', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds)
  })

  it.each([
    '',
    '7',
    'd',
    '0d',
    '59s',
    '0m',
    '6y',
    '61mo',
    '1826d',
    '157680001s',
    '-1d',
    '+1d',
    '1.5h',
    '1e3d',
    '7 d',
    ' 7d',
    '7d ',
    '7d\n',
    '7D',
    '1MO',
    '7days',
    '1d12h',
    '٧d',
    'forever',
    'Infinityd',
    '99999999999999999999s',
  ])('refuses %j', text => {
    expect(() => parseDuration(text, 'expires_in')).toThrow(
      expect.objectContaining({
        code: 'INVALID_DURATION',
        status: 400,
        details: { field: 'expires_in' },
      }),
    )
  })
})
