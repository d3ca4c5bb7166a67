import { expect, it } from '@jest/globals'
import { createPace } from '../../src/runtime/pace.ts'

/**
 * Runs batches with these delays of the event loop, in milliseconds. Returns their sizes, and how
 * many were followed by a pause.
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

it('Background work runs in full batches without a pause while the event loop is responsive', async () => {
  expect(await batches([0, 1, 4])).toEqual({ sizes: [64, 64, 64], pauses: 0 })
})

it('Background work slows down while the event loop is delayed, continues, and recovers', async () => {
  expect(await batches([20, 20, 20, 20, 20, 20, 1, 1, 1])).toEqual({
    sizes: [64, 32, 16, 16, 16, 16, 16, 32, 64],
    pauses: 6,
  })
})

it('A blocking batch is detected', async () => {
  const sizes: number[] = []
  const pace = createPace()
  const block = async (size: number) => {
    sizes.push(size)
    for (let i = 0; i < 2; i++) {
      // The meter runs on a timer.
      await new Promise(resolve => setTimeout(resolve, 5))
      for (const end = performance.now() + 50; performance.now() < end; );
      await new Promise(resolve => setTimeout(resolve, 5))
    }
  }
  await pace.batch(block)
  await pace.batch(block)
  expect(sizes).toEqual([64, 32])
})

it('The error of a batch is thrown', async () => {
  await expect(createPace().batch(() => Promise.reject(new Error('No rows.')))).rejects.toThrow(
    'No rows.',
  )
})
