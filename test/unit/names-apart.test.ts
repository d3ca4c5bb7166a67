import { expect, it } from '@jest/globals'
import { namesApart } from '../../src/upload-engine/names-apart.ts'

it('gives each of several entries a unique name', () => {
  expect(namesApart(['a.txt', 'b', 'a.txt', 'a (2).txt', 'a.txt', 'b'])).toEqual([
    ...['a.txt', 'b', 'a (3).txt', 'a (2).txt', 'a (4).txt', 'b (2)'],
  ])
})

it('takes linear time when all entries have one name', () => {
  const count = 20_000
  const since = process.cpuUsage()
  expect(new Set(namesApart(Array.from({ length: count }, () => 'report.pdf'))).size).toBe(count)
  const { user } = process.cpuUsage(since)
  // Counting from the beginning for each entry would create 200 million names.
  expect(user / 1e6).toBeLessThan(10)
})
