import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from '@jest/globals'
import { renewed } from '../../src/storage/renewed.ts'
import { until } from '../support/until.ts'

/** A source whose values have this lifetime, and which can fail. */
function source(lifeMs: number) {
  const state = { asked: 0, fails: false, lifeMs }
  const values = renewed(async () => {
    state.asked += 1
    if (state.fails) throw new Error('The source is down.')
    return { number: state.asked, expiresAt: Date.now() + state.lifeMs }
  })
  return { state, values }
}

it('fetches a value once for all concurrent callers', async () => {
  const { state, values } = source(3600_000)
  const got = await Promise.all([values.get(), values.get(1000), values.get()])
  expect(got.map(({ number }) => number)).toEqual([1, 1, 1])
  await values.get(60_000)
  expect(state.asked).toBe(1)
})

it('renews a value before it expires, without delaying a request', async () => {
  const { values } = source(800)
  await values.get()
  await sleep(650)
  // A fifth of the lifetime remains: the old value is returned, and the next one is fetched.
  expect((await values.get()).number).toBe(1)
  await until(async () => (await values.get()).number === 2)
})

it('waits for a renewal when the value expires before the requested time', async () => {
  const { values } = source(1000)
  await values.get()
  await sleep(600)
  expect((await values.get(500)).number).toBe(2)
})

it('uses the old value until it expires while the source is down, and then fails', async () => {
  const { state, values } = source(500)
  await values.get()
  state.fails = true
  await sleep(400)
  expect((await values.get(400)).number).toBe(1)
  await sleep(150)
  await expect(values.get()).rejects.toThrow('The source is down.')
  state.fails = false
  expect((await values.get()).number).toBe(4)
})

it('does not ask a source repeatedly for a lifetime that it cannot give', async () => {
  const { state, values } = source(10_000)
  for (let i = 0; i < 20; i++) await values.get(86_400_000)
  expect(state.asked).toBe(1)
})

it('replaces a refused value, at a limited rate', async () => {
  const { values } = source(3600_000)
  const first = await values.get()
  expect((await values.replace(first))?.number).toBe(2)
  // Callers who still used the first value also get the second one.
  expect((await values.replace(first))?.number).toBe(2)
  expect(await values.replace(await values.get())).toBeUndefined()
})

it('never renews a value that never expires', async () => {
  let asked = 0
  const values = renewed<{ expiresAt?: number }>(async () => {
    asked += 1
    return {}
  })
  const value = await values.get(1e12)
  await values.get(1e15)
  expect(await values.replace(value)).toBeUndefined()
  expect(asked).toBe(1)
})
