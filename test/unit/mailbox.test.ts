import { describe, expect, it } from '@jest/globals'
import { openMailbox } from '../../src/services/notices/mailbox.ts'

const timed = async (work: Promise<void>) => {
  const began = performance.now()
  await work
  return performance.now() - began
}

describe('A mailbox', () => {
  it('delivers each distinct message once, in order', () => {
    const box = openMailbox()
    box.post(['b', 'a'])
    box.post(['a', 'c'])
    expect(box.take()).toEqual(['b', 'a', 'c'])
    expect(box.take()).toEqual([])
    box.post([])
    box.post([])
    expect(box.take()).toEqual([''])
  })

  it('waits for a message, for its end, or for a timeout', async () => {
    const box = openMailbox()
    expect(await timed(box.wait(30))).toBeGreaterThan(25)
    const woken = timed(box.wait(10_000))
    box.post(['a'])
    expect(await woken).toBeLessThan(5000)
    // A message is already waiting.
    expect(await timed(box.wait(10_000))).toBeLessThan(5000)
    box.take()
    const ended = timed(box.wait(10_000))
    box.close()
    expect(await ended).toBeLessThan(5000)
    expect(box.closed).toBe(true)
    expect(await timed(box.wait(10_000))).toBeLessThan(5000)
  })

  it('sleeps through messages, and wakes early only when closed', async () => {
    const box = openMailbox()
    const rest = timed(box.rest(50))
    box.post(['a'])
    expect(await rest).toBeGreaterThan(45)
    const cut = timed(box.rest(10_000))
    box.close()
    expect(await cut).toBeLessThan(5000)
    expect(await timed(box.rest(10_000))).toBeLessThan(5000)
  })

  it('holds at most 1,000 messages, and reports an overflow instead of losing some', () => {
    const box = openMailbox()
    const numbers = Array.from({ length: 1000 }, (_, i) => `${i}`)
    box.post(numbers)
    expect(box.take()).toEqual(numbers)
    box.post([...numbers, 'one more', 'and another'])
    expect(() => box.take()).toThrow(expect.objectContaining({ code: 'UNAVAILABLE' }))
  })
})
