import { isFailure, TransferFailure } from './failure.ts'
import { sleep } from './signal.ts'

/** How requests are retried and interrupted. */
export interface Patience {
  /** Aborts requests and waits. */
  signal: AbortSignal
  /** Number of retries. */
  retries: number
  /** How long to wait for the end of a maintenance, in seconds; 15 minutes by default. */
  maintenanceSeconds?: number
  /**
   * Called before each wait for a retry.
   *
   * @param attempt number of the retry, starting at 1
   */
  onRetry(failure: TransferFailure, attempt: number): void
}

/**
 * A request without a response may have been processed. Only repeatable requests may be sent twice.
 */
export type Repeatable = 'repeatable' | 'once'

const MIN_WAIT_MS = 500
const MAX_WAIT_MS = 10_000
const MAINTENANCE_SECONDS = 900
/** A maintenance may end earlier than announced. */
const LOOK_AGAIN_SECONDS = 30
/** A longer `Retry-After` makes the call fail. */
const MAX_RETRY_AFTER_SECONDS = 120

function worthRetrying(error: unknown, call: Repeatable): error is TransferFailure {
  if (!(error instanceof TransferFailure) || error.details.permanent === true) return false
  if (error.retryAfter !== undefined && error.retryAfter > MAX_RETRY_AFTER_SECONDS) return false
  if (error.code === 'RATE_LIMITED') return true
  if (error.code === 'UNREACHABLE') return call === 'repeatable' || error.details.sent === false
  return error.code === 'UNAVAILABLE' && call === 'repeatable'
}

/** Exponential backoff with jitter, but at least `Retry-After`. */
function waitBefore(attempt: number, { retryAfter = 0 }: TransferFailure): number {
  const backoff = MIN_WAIT_MS * 2 ** (attempt - 1) * (1 + Math.random())
  return Math.min(backoff, MAX_WAIT_MS) + retryAfter * 1000
}

/** Retries calls that failed because of the network or an unavailable service. */
export async function persist<T>(
  work: () => Promise<T>,
  call: Repeatable,
  { signal, retries, onRetry, maintenanceSeconds = MAINTENANCE_SECONDS }: Patience,
): Promise<T> {
  for (let attempt = 1; ; )
    try {
      signal.throwIfAborted()
      return await work()
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (isFailure(error, 'MAINTENANCE')) {
        // Maintenance refuses requests before anything is done, so any request may be repeated.
        const { retryAfter = LOOK_AGAIN_SECONDS } = error
        if (retries === 0 || retryAfter > maintenanceSeconds) throw error
        onRetry(error, attempt)
        await sleep(
          1000 * Math.min(retryAfter, LOOK_AGAIN_SECONDS) * (1 + Math.random() / 8),
          signal,
        )
      } else {
        if (attempt > retries || !worthRetrying(error, call)) throw error
        onRetry(error, attempt)
        await sleep(waitBefore(attempt, error), signal)
        attempt++
      }
    }
}
