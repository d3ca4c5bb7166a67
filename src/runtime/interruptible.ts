/**
 * An iterator whose pending step can be interrupted. Racing each step with one long-lived promise
 * would keep the value of every step in memory until that promise settles.
 * @param signal interrupts the pending step, and every later one, with its reason
 */
export function interruptibleSteps<T>(
  steps: AsyncIterator<T>,
  signal?: AbortSignal,
): () => Promise<IteratorResult<T>> {
  let reject: ((reason: unknown) => void) | undefined
  signal?.addEventListener('abort', () => reject?.(signal.reason), { once: true })
  return () =>
    new Promise((resolve, fail) => {
      if (signal?.aborted) return fail(signal.reason)
      reject = fail
      steps.next().then(resolve, fail)
    })
}

/** Closes a source. Not awaited: `return` settles only after a pending `next`. */
export function leave(steps: AsyncIterator<unknown>): void {
  Promise.resolve(steps.return?.()).catch(() => {})
}

/**
 * A source that ends with the reason of `signal` when that fires, however silent the source is. It
 * is closed then, and when it is left.
 */
export async function* interruptible<T>(
  source: AsyncIterable<T>,
  signal?: AbortSignal,
): AsyncGenerator<T, void> {
  const steps = source[Symbol.asyncIterator]()
  const next = interruptibleSteps(steps, signal)
  try {
    for (;;) {
      const { done, value } = await next()
      if (done) return
      yield value
    }
  } finally {
    leave(steps)
  }
}
