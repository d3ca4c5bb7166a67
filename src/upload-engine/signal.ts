/** An abort signal that follows another one, and can also be aborted on its own. */
export interface LinkedSignal {
  signal: AbortSignal
  end(reason: unknown): void
  /** Stops following the other signal. */
  release(): void
}

/**
 * Replaces AbortSignal.any, whose signals Node.js may collect too early (nodejs/node#65995) or
 * never (#64476).
 */
export function linkSignal(other: AbortSignal): LinkedSignal {
  const controller = new AbortController()
  const follow = () => controller.abort(other.reason)
  if (other.aborted) follow()
  else other.addEventListener('abort', follow, { once: true })
  return {
    signal: controller.signal,
    end: reason => controller.abort(reason),
    release: () => other.removeEventListener('abort', follow),
  }
}

/** Settles like `work`, or rejects with the reason of the signal when it aborts. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let end = () => {}
  const ended = new Promise<never>((_, reject) => {
    end = () => reject(signal.reason)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
  try {
    return await Promise.race([work, ended])
  } finally {
    signal.removeEventListener('abort', end)
  }
}

/** Waits some milliseconds. Rejects with the reason of the signal when it aborts. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const elapsed = new Promise<void>(resolve => {
    timer = setTimeout(resolve, ms)
  })
  try {
    await untilAborted(elapsed, signal)
  } finally {
    clearTimeout(timer)
  }
}
