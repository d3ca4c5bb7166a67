import { describe, expect, it } from '@jest/globals'
import { hashPassword, parsePassword, verifyPassword } from '../../src/auth/password.ts'

describe('share passwords', () => {
  it('verifies the right one only', async () => {
    const hashed = await hashPassword('open sesame')
    expect(await verifyPassword(hashed, 'open sesame')).toBe(true)
    for (const wrong of ['', 'open sesame ', 'Open sesame', 'x'.repeat(1e6), 'open sesame\ud800'])
      expect(await verifyPassword(hashed, wrong)).toBe(false)
  })

  it('hashes with Argon2id at 19 MiB, two passes, one lane, and a salt of its own', async () => {
    const [first, second] = await Promise.all([hashPassword('same'), hashPassword('same')])
    expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(first).not.toBe(second)
  })

  it('takes 1 to 128 characters, counted as code points', async () => {
    for (const password of ['x', ' ', '😀'.repeat(128), 'e\u0301'.repeat(128)])
      expect(await verifyPassword(await hashPassword(password), password)).toBe(true)
    for (const password of ['', 'x'.repeat(129), '😀'.repeat(129), 'x\ud800'])
      expect(() => parsePassword(password)).toThrow(
        expect.objectContaining({ code: 'INVALID_INPUT', details: { field: 'password' } }),
      )
  })

  it('reads every byte of a long password', async () => {
    const hashed = await hashPassword(`${'é'.repeat(127)}a`)
    expect(await verifyPassword(hashed, `${'é'.repeat(127)}b`)).toBe(false)
  })

  it('takes an accent in either form', async () => {
    expect(await verifyPassword(await hashPassword('caf\u00e9'), 'cafe\u0301')).toBe(true)
  })

  it('answers 503 when too many wait, and recovers', async () => {
    const hashed = await hashPassword('a')
    const settled = await Promise.allSettled(Array.from({ length: 300 }, () => verifyPassword(hashed, 'a')))
    const refused = settled.filter(result => result.status === 'rejected')
    expect(refused.length).toBeGreaterThan(0)
    expect(refused.length).toBeLessThan(100)
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'UNAVAILABLE', status: 503 })
    expect(await verifyPassword(hashed, 'a')).toBe(true)
  })
})
