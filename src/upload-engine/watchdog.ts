import { TransferFailure } from './failure.ts'
import { linkSignal } from './signal.ts'

/** Timeouts for a transfer without progress, and for the response after the last byte. */
const STALL_MS = 60_000
const ANSWER_MS = 600_000

/** Aborts a stalled transfer. */
export interface Watchdog {
  signal: AbortSignal
  /** Records progress. */
  touch(): void
  /** All bytes were sent. */
  waitForAnswer(): void
  stop(): void
}

export function watch(signal: AbortSignal, host: string): Watchdog {
  const own = linkSignal(signal)
  let timer: ReturnType<typeof setTimeout> | undefined
  let isOver = false
  const give = (ms: number) => {
    clearTimeout(timer)
    // An abandoned body may still reach its end.
    if (isOver) return
    const end = () =>
      own.end(
        new TransferFailure('UNREACHABLE', `${host}: no progress for ${ms / 1000} s.`, {
          sent: true,
        }),
      )
    timer = setTimeout(end, ms)
  }
  give(STALL_MS)
  return {
    signal: own.signal,
    touch() {
      give(STALL_MS)
    },
    waitForAnswer: () => give(ANSWER_MS),
    stop() {
      isOver = true
      clearTimeout(timer)
      own.release()
    },
  }
}
