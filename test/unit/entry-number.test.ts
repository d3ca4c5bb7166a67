import { describe, expect, it } from '@jest/globals'
import { v7 as newId } from 'uuid'
import { entryNumber, timeOfNumber } from '../../src/values/entry-number.ts'

describe('The number of an entry', () => {
  it('is a positive number of 63 bits, and different for ids of one process', () => {
    const ids = Array.from({ length: 50_000 }, () => newId())
    const numbers = new Set(ids.map(entryNumber))
    expect(numbers.size).toBe(ids.length)
    for (const number of numbers) {
      expect(BigInt(number)).toBeGreaterThan(0n)
      expect(BigInt(number)).toBeLessThan(1n << 63n)
    }
  })

  it('contains the time of its id', () => {
    const id = newId()
    expect(timeOfNumber(entryNumber(id))).toBe(
      Number.parseInt(id.replace('-', '').slice(0, 12), 16),
    )
  })

  it.each(['', '0', '-1', '1.5', 'x', '9223372036854775808', '99999999999999999999'])(
    'rejects %j as an entry number',
    text => {
      expect(timeOfNumber(text)).toBeUndefined()
    },
  )
})
