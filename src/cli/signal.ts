/** A signal that ends with another one, or by itself. */
export interface Leash {
  signal: AbortSignal
  end(reason: unknown): void
  /** From now on it ends by itself alone. */
  release(): void
}

/** AbortSignal.any would do, but Node.js forgets some that it makes (nodejs/node#65995), and keeps others for ever (#64476). */
export function leashTo(other: AbortSignal): Leash {
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

/** Waits no longer than the signal lasts, whatever becomes of the work. */
export async function whileOpen<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
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
