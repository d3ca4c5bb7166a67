import { expect, it } from '@jest/globals'
import { inParallel } from '../../src/cli/each.ts'

it('starts no more workers than there are items', async () => {
  const done: string[] = []
  // More workers than an array can hold.
  await inParallel(2 ** 32, ['a', 'b'], async item => void done.push(item))
  expect(done).toEqual(['a', 'b'])
})
