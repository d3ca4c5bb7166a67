import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from './failure.ts'

/** What everything that waits for the service goes by. */
export interface Patience {
  /** Ends everything: Ctrl-C. */
  signal: AbortSignal
  /** How often a call is tried again. */
  retries: number
  /** Tells whoever watches. */
  notice(line: string): void
}

/** A call that has not been answered may have been carried out: only some may be sent twice. */
export type Repeatable = 'repeatable' | 'once'

const MAX_WAIT_SECONDS = 120

function worthRetrying(error: unknown, call: Repeatable): error is Failure {
  if (!(error instanceof Failure) || error.details.permanent === true) return false
  if (error.retryAfter !== undefined && error.retryAfter > MAX_WAIT_SECONDS) return false
  if (error.code === 'RATE_LIMITED') return true
  if (error.code === 'UNREACHABLE') return call === 'repeatable' || error.details.sent === false
  return error.code === 'UNAVAILABLE' && call === 'repeatable'
}

/** Tries again, more and more slowly, what failed because the network or the service did. */
export async function persist<T>(
  work: () => Promise<T>,
  call: Repeatable,
  { signal, retries, notice }: Patience,
): Promise<T> {
  const { default: retry } = await import('p-retry')
  return retry(work, {
    retries,
    minTimeout: 500,
    maxTimeout: 10_000,
    randomize: true,
    signal,
    shouldRetry: error => worthRetrying(error, call),
    async onFailedAttempt(error) {
      // It is called for the last one, too, and for what shouldRetry has refused.
      if (error.retriesLeft === 0 || !worthRetrying(error, call)) return
      notice(`${error.message} Trying again (${error.attemptNumber} of ${retries}).`)
      if (error.retryAfter) await sleep(error.retryAfter * 1000, undefined, { signal })
    },
  })
}
