import { isFailure, TransferFailure } from './failure.ts'
import { sleep } from './signal.ts'

/** How requests are retried and interrupted. */
export interface Patience {
  /** Interrupts requests and waits. */
  signal: AbortSignal
  /** How often a call is tried again. */
  retries: number
  /** For how many seconds a maintenance of the service is waited for; by default 15 minutes. */
  maintenanceSeconds?: number
  /** Called before each wait for another attempt. @param attempt number of the retry, from 1 on */
  onRetry(failure: TransferFailure, attempt: number): void
}

/**
 * A request without a response may have been carried out: only repeatable ones may be sent twice.
 */
export type Repeatable = 'repeatable' | 'once'

const MIN_WAIT_MS = 500
const MAX_WAIT_MS = 10_000
const MAINTENANCE_SECONDS = 900
/** A maintenance may end earlier than it says. */
const LOOK_AGAIN_SECONDS = 30
/** A longer `Retry-After` is the failure of the call. */
const MAX_RETRY_AFTER_SECONDS = 120

function worthRetrying(error: unknown, call: Repeatable): error is TransferFailure {
  if (!(error instanceof TransferFailure) || error.details.permanent === true) return false
  if (error.retryAfter !== undefined && error.retryAfter > MAX_RETRY_AFTER_SECONDS) return false
  if (error.code === 'RATE_LIMITED') return true
  if (error.code === 'UNREACHABLE') return call === 'repeatable' || error.details.sent === false
  return error.code === 'UNAVAILABLE' && call === 'repeatable'
}

/** Exponential backoff with jitter, but at least what the service asked for. */
function waitBefore(attempt: number, { retryAfter = 0 }: TransferFailure): number {
  const backoff = MIN_WAIT_MS * 2 ** (attempt - 1) * (1 + Math.random())
  return Math.min(backoff, MAX_WAIT_MS) + retryAfter * 1000
}

/** Retries what failed because of the network or an unavailable service. */
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
        // It was refused before anything was done, whatever it was.
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
