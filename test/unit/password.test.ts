import { describe, expect, it } from '@jest/globals'
import { createPasswords, parsePassword } from '../../src/access/password.ts'

const warned: unknown[] = []
const passwords = createPasswords({ warn: (...said: unknown[]) => void warned.push(said) })
const hashPassword = (password: string, key = 'alice') => passwords.hash(password, [key])
const verifyPassword = (hashed: string, password: string, key = 'bob') =>
  passwords.verify(hashed, password, [key])

describe('share passwords', () => {
  it('accepts only the right password', async () => {
    const hashed = await hashPassword('open sesame')
    expect(await verifyPassword(hashed, 'open sesame')).toBe(true)
    for (const wrong of ['', 'open sesame ', 'Open sesame', 'x'.repeat(1e6), 'open sesame\ud800'])
      expect(await verifyPassword(hashed, wrong)).toBe(false)
  })

  it('hashes with Argon2id at 19 MiB, two passes, one lane, and a unique salt', async () => {
    const [first, second] = await Promise.all([hashPassword('same'), hashPassword('same')])
    expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(first).not.toBe(second)
  })

  it('accepts 1 to 128 characters, counted as code points', async () => {
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

  it('accepts an accent in either normal form', async () => {
    expect(await verifyPassword(await hashPassword('caf\u00e9'), 'cafe\u0301')).toBe(true)
  })

  it('causes a 503 only for a caller with too many requests, without a log line for each', async () => {
    const hashed = await hashPassword('a')
    const crowd = Array.from({ length: 300 }, () => verifyPassword(hashed, 'a', 'mallory'))
    const others = Promise.all(
      Array.from({ length: 20 }, (_, i) => verifyPassword(hashed, 'a', `guest ${i}`)),
    )
    const settled = await Promise.allSettled(crowd)
    expect(await others).toEqual(Array(20).fill(true))
    const refused = settled.filter(result => result.status === 'rejected')
    expect(refused.length).toBeGreaterThan(100)
    expect(refused.length).toBeLessThan(200)
    for (const { reason } of refused)
      expect(reason).toMatchObject({ code: 'UNAVAILABLE', status: 503 })
    expect(warned).toHaveLength(1)
    expect(JSON.stringify(warned)).not.toMatch(/stack/)
    expect(await verifyPassword(hashed, 'a', 'mallory')).toBe(true)
  })

  it('serves a late caller before an early crowd', async () => {
    const hashed = await hashPassword('a')
    const order: string[] = []
    const check = (key: string) => verifyPassword(hashed, 'a', key).then(() => order.push(key))
    await Promise.all([...Array.from({ length: 60 }, () => check('mallory')), check('carol')])
    // The number of threads and their order depend on the machine. Without fair turns, carol would
    // be the last of 61.
    expect(order.indexOf('carol')).toBeLessThan(20)
  })
})
