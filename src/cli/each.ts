import { type Failure, toFailure } from './failure.ts'

/**
 * Runs `work` for each path and collects failures, so that one failure does not stop the others.
 *
 * @throws the failure of a single path, and INTERRUPTED
 */
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

/**
 * Runs `work` for all items, `count` at a time. After an error, no more items start, and the error
 * is thrown when the running ones have finished.
 */
export async function inParallel<T>(
  count: number,
  items: T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
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
