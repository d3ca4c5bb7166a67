import { type Failure, toFailure } from './failure.ts'

/** Does something with each of several paths: what fails does not keep the rest from being done, unless it is all there is. */
export async function withEach<T>(
  paths: string[],
  work: (path: string) => Promise<T>,
): Promise<{ done: T[]; failures: Failure[] }> {
  const [done, failures]: [T[], Failure[]] = [[], []]
  for (const path of paths)
    try {
      done.push(await work(path))
    } catch (error) {
      const failure = toFailure(error)
      if (paths.length === 1 || failure.code === 'INTERRUPTED') throw failure
      failures.push(failure)
    }
  return { done, failures }
}

/** Does `work` with so many at a time; the first that throws keeps the rest from beginning, and those that run are waited for. */
export async function inParallel<T>(count: number, items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values()
  let failed = false
  const workers = Array.from({ length: Math.min(count, items.length) }, async () => {
    try {
      for (const item of rest) {
        if (failed) return
        await work(item)
      }
    } catch (error) {
      failed = true
      throw error
    }
  })
  await Promise.allSettled(workers)
  await Promise.all(workers)
}
