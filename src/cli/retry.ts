import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from './failure.ts'

/** How requests are retried and interrupted. */
export interface Patience {
  /** Aborted by Ctrl-C. */
  signal: AbortSignal
  /** How often a call is tried again. */
  retries: number
  /** Prints a line for an attending user. */
  notice(line: string): void
}

/** A request without a response may have been carried out: only repeatable ones may be sent twice. */
export type Repeatable = 'repeatable' | 'once'

const MAX_WAIT_SECONDS = 120

function worthRetrying(error: unknown, call: Repeatable): error is Failure {
  if (!(error instanceof Failure) || error.details.permanent === true) return false
  if (error.retryAfter !== undefined && error.retryAfter > MAX_WAIT_SECONDS) return false
  if (error.code === 'RATE_LIMITED') return true
  if (error.code === 'UNREACHABLE') return call === 'repeatable' || error.details.sent === false
  return error.code === 'UNAVAILABLE' && call === 'repeatable'
}

/** Retries, with exponential backoff, what failed because of the network or an unavailable service. */
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
      // Also called for the last attempt, and for errors that shouldRetry refuses.
      if (error.retriesLeft === 0 || !worthRetrying(error, call)) return
      notice(`${error.message} Trying again (${error.attemptNumber} of ${retries}).`)
      if (error.retryAfter) await sleep(error.retryAfter * 1000, undefined, { signal })
    },
  })
}
