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
 * Wraps a source so that it ends with the reason of `signal` when that aborts, even if the source
 * is silent. Closes the source then, and when the iteration stops.
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
