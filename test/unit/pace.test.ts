import { expect, it } from '@jest/globals'
import { createPace } from '../../src/jobs/pace.ts'

/**
 * Batches with these delays of the event loop, in milliseconds: their sizes, and how many of them
 * were followed by a pause.
 */
async function batches(delays: number[]): Promise<{ sizes: number[]; pauses: number }> {
  const sizes: number[] = []
  let pauses = 0
  let current = 0
  const meter = { start() {}, stop: () => current }
  const pace = createPace(meter, async () => {
    pauses++
  })
  for (const delay of delays) {
    current = delay
    await pace.batch(async size => sizes.push(size))
  }
  return { sizes, pauses }
}

it('Background work runs in full batches without a pause while nothing holds up the event loop', async () => {
  expect(await batches([0, 1, 4])).toEqual({ sizes: [64, 64, 64], pauses: 0 })
})

it('Background work backs off while the event loop is held up, but goes on, and comes back', async () => {
  expect(await batches([20, 20, 20, 20, 20, 20, 1, 1, 1])).toEqual({
    sizes: [64, 32, 16, 16, 16, 16, 16, 32, 64],
    pauses: 6,
  })
})

it('A batch that blocks is noticed', async () => {
  const sizes: number[] = []
  const pace = createPace()
  const block = async (size: number) => {
    sizes.push(size)
    for (let i = 0; i < 2; i++) {
      // The meter looks from a timer.
      await new Promise(resolve => setTimeout(resolve, 5))
      for (const end = performance.now() + 50; performance.now() < end; );
      await new Promise(resolve => setTimeout(resolve, 5))
    }
  }
  await pace.batch(block)
  await pace.batch(block)
  expect(sizes).toEqual([64, 32])
})

it('The failure of a batch is thrown', async () => {
  await expect(createPace().batch(() => Promise.reject(new Error('No rows.')))).rejects.toThrow(
    'No rows.',
  )
})
