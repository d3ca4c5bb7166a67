import { setTimeout as sleep } from 'node:timers/promises'
import { Busy } from '../runtime/errors.ts'

/**
 * The number of attempts at one part that may be on the disk at a time: one may be stalled while
 * the next one repeats it.
 */
const atOnce = 2
/** Further attempts wait this long for a running one. Then the oldest is aborted. */
const patienceMs = 3000

const running = new Map<string, Set<AbortController>>()

/**
 * Runs one of many attempts to send the same part, so that stalled attempts do not fill the disk.
 * Its signal aborts when another attempt replaces it.
 */
export async function attempt<T>(
  part: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  for (const end = performance.now() + patienceMs; ; await sleep(10)) {
    const [oldest, ...others] = running.get(part) ?? []
    if (!oldest || others.length + 1 < atOnce) break
    if (performance.now() > end)
      oldest.abort(
        new Busy(
          'This part is being sent by a newer request. Wait for that request, or send the part again.',
        ),
      )
  }
  const own = new AbortController()
  const all = running.get(part) ?? new Set()
  running.set(part, all.add(own))
  try {
    return await work(own.signal)
  } finally {
    all.delete(own)
    if (all.size === 0) running.delete(part)
  }
}
