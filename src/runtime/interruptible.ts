/**
 * An iterator whose pending step can be interrupted. Racing each step with one long-lived promise would keep the value of every step in
 * memory until that promise settles.
 * @param signal interrupts the pending step, and every later one, with its reason
 */
export function interruptible<T>(steps: AsyncIterator<T>, signal?: AbortSignal): () => Promise<IteratorResult<T>> {
  let reject: ((reason: unknown) => void) | undefined
  signal?.addEventListener('abort', () => reject?.(signal.reason), { once: true })
  return () =>
    new Promise((resolve, fail) => {
      if (signal?.aborted) return fail(signal.reason)
      reject = fail
      steps.next().then(resolve, fail)
    })
}
